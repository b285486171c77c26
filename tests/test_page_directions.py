"""Which way is better on a page: figure, table, facts and claims say the same; at the terminal, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

import reportgen as rg
from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import Diagnostics, SourceLocation
from reportgen.core.model import Figure, Panels, ResultTable
from reportgen.core.statements import Truth
from reportgen.draft.gathering import gather_pages, gather_sources
from reportgen.draft.report import draft
from reportgen.narrative.topics import find_topics
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.report import Report

LOGGED = "series,seed,step,val/loss,reward,entropy,turns\n" + "".join(
    f"{name},{seed},{n},{2 - n / 4 - up - seed / 100},"
    f"{n / 4 + up + seed / 100},{1 - n / 9 + up},{n + up + seed / 9}\n"
    for name, up in (("A", 0.0), ("B", 0.9))
    for n in range(5)
    for seed in range(3)
)
METRICS = ("val/loss", "reward", "entropy", "turns")
TELLING = {"val/loss": False, "reward": True, "entropy": None, "turns": None}


def block(kind: str, **lines: str) -> str:
    """A fenced block with the id ``one``."""
    body = "".join(f"{key}: {value}\n" for key, value in {"id": "one", **lines}.items())
    return f"```{kind}\n{body}```\n"


def benchmark(metric: str, more: str = "") -> str:
    """Front matter of a benchmark that is ranked by a metric."""
    return f"---\nbenchmark: {{name: Runs, source: logged, metric: {metric}{more}}}\n---\n\n"


def ways(root: Path, text: str) -> list[bool | None]:
    """Whether more is better of what ``one`` shows, by what statements are about and by what is drawn."""
    write_report(root, {"content/index.md": text, "data/logged.csv": LOGGED})
    project, folder = Project(root, "content", ("index.md",), ProjectSettings()), root / "cache"
    problems = Diagnostics()
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, FileHashes(folder), Cache(folder), problems)
    stated = [
        topic.higher_is_better for topic in find_topics("one", pages[0], sources, SourceLocation("index.md"))
    ]
    shown = drafted(root).shown["index.md", "one"]
    assert isinstance(shown, Figure | Panels)
    figures = shown.figures if isinstance(shown, Panels) else (shown,)
    assert [figure.numbers["higher_is_better"] for figure in figures] == stated
    return stated


def drafted(root: Path) -> Report:
    """The report in a folder."""
    folder = root / "cache"
    project = Project(root, "content", ("index.md",), ProjectSettings())
    return draft(project, Cache(folder), FileHashes(folder))


@pytest.mark.parametrize("metric", METRICS)
def test_where_nothing_is_said_the_name_tells(tmp_path: Path, metric: str) -> None:
    """Of one curve."""
    assert ways(tmp_path, block("curve", source="logged", metric=metric)) == [TELLING[metric]]


def test_each_panel_has_a_name_of_its_own(tmp_path: Path) -> None:
    """A loss beside a reward; what a panel says of itself counts more, and what the block says for all."""
    names = ", ".join(METRICS)
    assert ways(tmp_path, block("panels", source="logged", metrics=f"[{names}]")) == list(TELLING.values())
    said = "[val/loss, {metric: reward, higher_is_better: false}, entropy]"
    assert ways(tmp_path, block("panels", source="logged", metrics=said)) == [False, False, None]
    every = block("panels", source="logged", metrics=said, higher_is_better="true")
    assert ways(tmp_path, every) == [True, False, True]


@pytest.mark.parametrize(
    ("metric", "more", "expected"),
    [
        ("turns", "", [True]),
        ("val/loss", "", [False]),
        ("entropy", "", [None]),
        ("turns", ", higher_is_better: false", [False]),
        ("entropy", ", higher_is_better: true", [True]),
        ("val/loss", ", higher_is_better: true", [True]),
    ],
)
def test_what_ranks_a_benchmark_is_a_quality(
    tmp_path: Path, metric: str, more: str, expected: list[bool | None]
) -> None:
    """A name that says nothing is taken as one of which more is better, on the benchmark's page only."""
    assert ways(tmp_path, benchmark(metric, more) + block("curve")) == expected


def test_a_benchmark_says_nothing_of_other_metrics_by_its_rank(tmp_path: Path) -> None:
    """The name of a panel's own metric tells."""
    panels = block("panels", metrics="[val/loss, turns, entropy]")
    assert ways(tmp_path, benchmark("reward") + panels) == [False, None, None]


@pytest.mark.parametrize("metric", METRICS[1:])
def test_what_a_benchmark_says_is_of_its_own_metric(tmp_path: Path, metric: str) -> None:
    """A page about a loss may show a reward, too."""
    page, way = benchmark("val/loss", ", higher_is_better: false"), TELLING[metric]
    assert ways(tmp_path, page + block("curve", metric=metric)) == [way]
    assert ways(tmp_path, page + block("panels", metrics=f"[val/loss, {metric}]")) == [False, way]
    said = call(tmp_path, "facts", "logged", "--metric", metric).stdout
    assert said.startswith(f"logged: {metric} of 2 series, {'higher' if way else 'no better way'}")
    write_report(tmp_path, {"content/index.md": page + block("table", metrics=f"[val/loss, {metric}]")})
    table = drafted(tmp_path).shown["index.md", "one"]
    assert isinstance(table, ResultTable)
    assert "Lower is better for val/loss." in table.caption


@pytest.mark.parametrize(
    ("metric", "claim", "truth"),
    [
        ("val/loss", "better(B, A)", Truth.HOLDS),
        ("val/loss", "peak(B) < peak(A)", Truth.HOLDS),
        ("reward", "better(B, A)", Truth.HOLDS),
        ("turns", "better(B, A)", Truth.UNDECIDED),
        ("turns", "peak(B) > peak(A)", Truth.HOLDS),
    ],
)
def test_claims_follow_the_name(tmp_path: Path, metric: str, claim: str, truth: Truth) -> None:
    """Lower losses are better without a word; nobody has more turns to advantage."""
    text = block("curve", source="logged", metric=metric) + f'\n[B is ahead]{{claim="{claim}" of="one"}}\n'
    write_report(tmp_path, {"content/index.md": text, "data/logged.csv": LOGGED})
    (statement,) = drafted(tmp_path).statements["index.md"]
    assert statement.judgement.truth is truth
    if truth is Truth.UNDECIDED:
        assert (
            "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
            in statement.judgement.found
        )


def test_a_table_takes_each_metric_by_its_name(tmp_path: Path) -> None:
    """The peak of a loss is its lowest value beside the highest reward, and the caption says so."""
    text = block("table", source="logged", metrics="[reward, val/loss, turns]", columns="[peak]")
    write_report(tmp_path, {"content/index.md": text, "data/logged.csv": LOGGED})
    table = drafted(tmp_path).shown["index.md", "one"]
    assert isinstance(table, ResultTable)
    (row,) = [row for row in table.rows if row[0].text == "A"]
    reward, loss, turns = (cell.sort or 0.0 for cell in row[2:])
    assert (round(reward, 2), round(loss, 2), round(turns, 2)) == (1.01, 0.99, 4.11)
    assert "(of turns the highest)" in table.caption
    assert "Lower is better for val/loss." in table.caption


# ---- at the terminal and in a notebook ----------------------------------------------------------

PLAIN = "series,step,val/loss,entropy,accuracy,turns\n" + "".join(
    f"{name},{n},{2 - n / 10 - shift},{n / 10 + shift},{n / 10},{n + shift}\n"
    for name, shift in (("A", 0.0), ("B", 0.5))
    for n in range(5)
)


@pytest.mark.parametrize(
    ("metric", "way", "peak"),
    [
        ("val/loss", "lower is better", "1.6"),
        ("accuracy", "higher is better", "0.4"),
        (
            "entropy",
            "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
            "0.4",
        ),
        (
            "turns",
            "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
            "4",
        ),
    ],
)
def test_the_list_of_facts_says_which_way_is_better(tmp_path: Path, metric: str, way: str, peak: str) -> None:
    """Without a word of the author's; the peak of a loss is its lowest value."""
    write_report(tmp_path, {"data/logged.csv": PLAIN})
    said = call(tmp_path, "facts", "logged", "--metric", metric)
    assert said.stdout.startswith(f"logged: {metric} of 2 series, {way}\n"), said.stderr
    assert "peak(A)" in said.stdout
    (line,) = [one for one in said.stdout.splitlines() if one.startswith("  peak(A) ")]
    assert line.split()[1] == peak


@pytest.mark.parametrize(("word", "way"), [("true", "higher is better"), ("false", "lower is better")])
def test_what_a_page_says_counts_at_the_terminal(tmp_path: Path, word: str, way: str) -> None:
    """Of a metric whose name says nothing, and of one whose name says something else."""
    for metric in ("entropy", "val/loss", "accuracy"):
        page = f"```curve\nsource: logged\nmetric: {metric}\nhigher_is_better: {word}\n```\n"
        write_report(tmp_path, {"content/index.md": page, "data/logged.csv": PLAIN})
        said = call(tmp_path, "facts", "logged", "--metric", metric).stdout
        assert said.startswith(f"logged: {metric} of 2 series, {way}\n")


def test_a_chart_of_a_notebook_tells_it_by_the_name(tmp_path: Path) -> None:
    """As a block does that says nothing."""
    (tmp_path / "logged.csv").write_text(PLAIN, encoding="utf-8")
    table = rg.read(tmp_path / "logged.csv")
    lines = {one: rg.draw(table, one).to_dict()["title"]["subtitle"] for one in ("val/loss", "entropy")}
    assert "lower is better" in str(lines["val/loss"])
    assert "better" not in str(lines["entropy"])
