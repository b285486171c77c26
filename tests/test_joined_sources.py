"""Several sources in one block: their series together, named apart, each number as its own file has it."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_projects import write_file, write_report
from test_report import drafted, problems

from reportgen.core.model import Figure, ResultTable, Stack
from reportgen.core.statements import Truth

if TYPE_CHECKING:
    from reportgen.draft.report import Report

CASE = Path(__file__).parent / "cases" / "several-sources"
CURVE = "# Page\n\n```curve\nsource: [runs, base]\n```\n"
BASE = "series,seed,step,accuracy\nGRPO,1,0,0.1\nGRPO,1,10,0.5\nPPO,1,0,0.1\nPPO,1,10,0.4\n"
SCORES = "# Page\n\n```scores\nsource: [mine, theirs]\n```\n"


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def make_answers(*series: str, problems: range = range(8), benchmark: str = "") -> str:
    """A table of answers: the first series solves all problems, the next every second one, and so on."""
    head = f"model,{'benchmark,' if benchmark else ''}problem,score\n"
    return head + "".join(
        f"{name},{f'{benchmark},' if benchmark else ''}q{problem},{int(problem % place == 0)}\n"
        for place, name in enumerate(series, start=1)
        for problem in problems
    )


def write_curves(root: Path, files: dict[str, str] | None = None, page: str = CURVE) -> Path:
    """A report whose page shows two sources."""
    return write_report(root, {"data/base.csv": BASE, "content/index.md": page, **(files or {})})


def write_scores(root: Path, mine: str, theirs: str, page: str = SCORES, **files: str) -> Path:
    """A report whose page shows the scores of two sources."""
    named = {f"data/{name.replace('__', '/')}.yml": text for name, text in files.items()}
    data = {"data/mine/answers.csv": mine, "data/theirs/answers.csv": theirs}
    return write_report(root, {**data, "content/index.md": page, **named})


def show(report: Report, name: str) -> Any:  # noqa: ANN401 - whatever the block shows
    """What a block of the first page shows."""
    return report.shown["index.md", name]


def list_series(report: Report) -> list[str]:
    """The series of the first page's curves, in order."""
    rows = csv.DictReader(str(show(report, "curve").csv).splitlines())
    return list(dict.fromkeys(row["series"] for row in rows))


def test_each_mean_is_that_of_its_own_file() -> None:
    """A mean over seeds at each step, from the raw files by the standard library."""
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    for source in ("ours", "baseline-2026-10"):
        for row in read_rows(CASE / "data" / f"{source}.csv"):
            name = f"{source} / GRPO" if row["algo"] == "GRPO" else row["algo"]
            values[name, row["step"]].append(float(row["reward"]))
    points = read_rows(CASE / "expected" / "figures" / "index" / "reward.csv")
    found = {(one["series"], one["step"]): float(one["value"]) for one in points}
    assert {name for name, _ in found} == {"ours / GRPO", "MEL", "baseline-2026-10 / GRPO", "PPO"}
    assert found == pytest.approx({key: fmean(each) for key, each in values.items()})


def test_each_score_and_difference_is_paired_by_problem() -> None:
    """Scores over the problems of a source; differences over those that two sources share."""
    scores: dict[tuple[str, str], list[float]] = defaultdict(list)
    for source in ("eval-ours", "eval-baseline"):
        for row in read_rows(CASE / "data" / source / "answers.csv"):
            name = f"{source} / A" if row["model"] == "A" else row["model"]
            scores[name, row["problem"]].append(float(row["score"]))
    by_series: dict[str, dict[str, float]] = defaultdict(dict)
    for (name, problem), each in scores.items():
        by_series[name][problem] = fmean(each)
    report = json.loads((CASE / "expected" / "report.json").read_text("utf-8"))
    page = next(one for one in report["pages"] if one["path"] == "contest.md")
    numbers = next(one["numbers"] for one in page["stacks"] if one["id"] == "comparison")
    estimates = {one["series"]: one["estimate"] for one in numbers["scores"]}
    assert estimates == pytest.approx({name: fmean(each.values()) for name, each in by_series.items()})
    ours, base = by_series["eval-ours / A"], by_series["eval-baseline / A"]
    shared = sorted(ours.keys() & base.keys())
    assert len(shared) < len(ours)
    (pair,) = (
        one
        for one in numbers["comparisons"]
        if {one["a"], one["b"]} == {"eval-ours / A", "eval-baseline / A"}
    )
    assert pair["shared"] == len(shared)
    difference = fmean(ours[problem] - base[problem] for problem in shared)
    assert abs(pair["difference"]) == pytest.approx(difference)


def test_series_keep_their_names_unless_two_sources_have_them(tmp_path: Path) -> None:
    """A name of two sources gets its source before it; claims name it so."""
    page = (
        CURVE
        + """
[higher]{claim="final('runs / GRPO') > final('base / GRPO')" of="curve"} and
[0.4]{value="final(PPO)" of="curve"}.
"""
    )
    report = drafted(write_curves(tmp_path, page=page))
    assert list_series(report) == ["MEL", "runs / GRPO", "base / GRPO", "PPO"]
    assert [one.judgement.truth for one in report.statements["index.md"]] == [Truth.HOLDS] * 2


def test_a_name_that_both_have_picks_the_series_of_both(tmp_path: Path) -> None:
    """``series: [GRPO]`` means each GRPO, in the order of the sources."""
    page = CURVE.replace("base]", "base]\nseries: [PPO, GRPO]")
    report = drafted(write_curves(tmp_path, page=page))
    assert list_series(report) == ["PPO", "runs / GRPO", "base / GRPO"]


def test_a_list_of_one_is_that_source(tmp_path: Path) -> None:
    """Names stay as they are, and the block shares what was read with others."""
    page = "```curve\nid: one\nsource: [runs]\n```\n\n```curve\nid: two\nsource: runs\n```\n"
    report = drafted(write_curves(tmp_path, page=page))
    assert show(report, "one").csv == show(report, "two").csv
    assert set(report.sources) == {"runs"}


def test_every_block_takes_several_sources(tmp_path: Path) -> None:
    """Curves, panels, tables, and what rules find in them."""
    page = """
```panels
source: [runs, base]
metrics: [accuracy, accuracy]
```

```table
source: [runs, base]
```

```observations
of: panels-1
```
"""
    report = drafted(write_curves(tmp_path, page=page))
    table = show(report, "table")
    assert isinstance(table, ResultTable)
    assert {row[0].text for row in table.rows} == {"MEL", "runs / GRPO", "base / GRPO", "PPO"}


def test_provenance_lists_each_source_once(tmp_path: Path) -> None:
    """A report's sources are files of its own; several in one block are no further one."""
    report = drafted(write_curves(tmp_path))
    assert [one.name for one in report.list_sources()] == ["runs", "base"]


def test_a_block_is_drawn_again_when_one_of_its_sources_changes(tmp_path: Path) -> None:
    """The second source counts as much as the first."""
    root = write_curves(tmp_path)
    before = show(drafted(root), "curve")
    assert show(drafted(root), "curve") == before
    write_file(root / "data/base.csv", BASE.replace("0.4\n", "0.6\n"))
    after = show(drafted(root), "curve")
    assert isinstance(after, Figure)
    assert str(after.csv) != str(before.csv)


def test_protocols_stay_with_their_source(tmp_path: Path) -> None:
    """The page says what differs, and so does the build, at the block."""
    root = write_scores(
        tmp_path,
        make_answers("A", "B"),
        make_answers("A", "C"),
        mine__source="protocol: {temperature: 0.6, harness: one}",
        theirs__source="protocol: {temperature: 1.0, harness: one}",
    )
    report = drafted(root)
    shown = show(report, "scores")
    assert isinstance(shown, Stack)
    mixed = shown.numbers["mixed_protocol"]["temperature"]
    assert mixed == {"0.6": ["mine / A", "B"], "1": ["theirs / A", "C"]}
    (warning,) = report.problems
    assert str(warning) == (
        "content/index.md:3: the sources were not measured in the same way: temperature is 0.6 in "
        '"mine" and 1 in "theirs". Say on the page what follows from it. [source-not-measured-same-way]'
    )


def test_steps_of_other_names_are_a_warning_until_the_axis_is_named(tmp_path: Path) -> None:
    """They may count something else; ``x_title`` says that they do not."""
    files = {"data/base.csv": BASE.replace("step", "iteration")}
    report = drafted(write_curves(tmp_path / "a", files))
    (warning,) = report.problems
    assert str(warning) == (
        'content/index.md:3: x is step in "runs" and iteration in "base". Choose one that each has with x:, '
        "or name what they have in common with x_title:. [x-step-iteration]"
    )
    page = CURVE.replace("base]", "base]\nx_title: updates")
    assert not drafted(write_curves(tmp_path / "b", files, page)).problems


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("[runs, runs]", 'content/index.md:4:1: source names "runs" twice.'),
        ("[]", 'content/index.md:4:1: "source" is empty. Write at least one item'),
        ("[runs, bsae]", 'content/index.md:3: there is no source "bsae" in data/. Did you mean "base"?'),
        ("runs, base", "Write several as source: [runs, base]"),
    ],
)
def test_wrong_lists_are_errors_with_their_line(tmp_path: Path, source: str, expected: str) -> None:
    """A source named twice, none, one that is not there, and a list without brackets."""
    found = problems(write_curves(tmp_path, page=CURVE.replace("[runs, base]", source)))
    assert any(expected in one for one in found), found


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        (
            BASE.replace("accuracy", "reward"),
            'the sources have no metric in common: "runs" has "accuracy" and "base" has "reward". Give o',
        ),
        (
            make_answers("A"),
            'the sources hold different things: "runs" has measurements of a training and "base',
        ),
        (
            BASE.replace(",0,0", ",2026-01-01,0").replace(",10,0", ",2026-01-02,0"),
            'the steps of "base" are times, and those of "runs" are numbers. Name a column or m',
        ),
    ],
)
def test_sources_of_other_kinds_are_errors_at_the_block(tmp_path: Path, base: str, expected: str) -> None:
    """Whatever cannot be on one axis is said with what was found in each."""
    (found,) = problems(write_curves(tmp_path, {"data/base.csv": base}))
    assert found.startswith(f"content/index.md:3: {expected}")


def test_a_metric_that_one_source_does_not_have_is_an_error(tmp_path: Path) -> None:
    """With the metrics of that source."""
    runs = "series,seed,step,accuracy,loss\nMEL,1,0,0.2,2\nMEL,1,10,0.4,1\n"
    page = CURVE.replace("base]", "base]\nmetric: loss")
    (found,) = problems(write_curves(tmp_path, {"data/runs.csv": runs}, page))
    said = '"loss" is not a metric of source "base". Its metrics are "accuracy".'
    assert found == f"content/index.md:3: {said}"


def test_a_fault_is_reported_in_the_file_that_has_it(tmp_path: Path) -> None:
    """Of both sources at once, each with its line."""
    base, runs = (
        "series,seed,step,accuracy\nGRPO,1,0,0.1\nGRPO,1,10,half\n",
        "series,seed,step,accuracy\nMEL,1,0,x\nMEL,1,10,0.5\n",
    )
    found = problems(write_curves(tmp_path, {"data/base.csv": base, "data/runs.csv": runs}))
    assert [one.partition(": ")[0] for one in found] == ["data/base.csv:3", "data/runs.csv:2"]


def test_an_unknown_series_is_an_error_with_those_of_all(tmp_path: Path) -> None:
    """The names are those that the figure would have."""
    page = CURVE.replace("base]", "base]\nseries: [GRP0]")
    (found,) = problems(write_curves(tmp_path, page=page))
    assert found.startswith('content/index.md:3: the source "runs + base" has no series "GRP0".')
    assert "runs / GRPO" in found


def test_problems_of_other_names_are_not_compared(tmp_path: Path) -> None:
    """The comparison is refused with an example of each; scores are shown, and say so."""
    theirs = make_answers("A").replace("q", "item-")
    said = (
        'no problem is in both "mine" and "theirs", so nothing is paired between them: "q0" is in the first '
        'and "item-0" in the second'
    )
    page = SCORES.replace("scores", "comparison")
    (found,) = problems(write_scores(tmp_path / "a", make_answers("A"), theirs, page))
    step = "Name problems in the same way in each, or show the sources in blocks of their own"
    assert found == f"content/index.md:3: {said}. {step}."
    report = drafted(write_scores(tmp_path / "b", make_answers("A"), theirs))
    figure = show(report, "scores").parts[0]
    assert isinstance(figure, Figure)
    assert f"{said}." in " ".join(part.caption for part in (figure, show(report, "scores")))


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (
            make_answers("A", benchmark="AIME"),
            make_answers("A", benchmark="aime24"),
            'the sources have no benchmark in common: "mine" has "AIME" and "theirs" has "aime24". Use',
        ),
        (
            make_answers("A", benchmark="AIME"),
            make_answers("A"),
            'no column names the benchmark in "theirs", and one does in the others. Name it in',
        ),
    ],
)
def test_benchmarks_have_to_be_the_same(tmp_path: Path, mine: str, theirs: str, expected: str) -> None:
    """Otherwise scores of two benchmarks would be in one figure."""
    (found,) = problems(write_scores(tmp_path, mine, theirs))
    assert found.startswith(f"content/index.md:3: {expected}")


def test_clusters_of_one_source_alone_are_an_error(tmp_path: Path) -> None:
    """They decide every interval."""
    theirs = make_answers("A").replace("problem,", "problem,passage,").replace(",q", ",q0,p")
    root = write_scores(tmp_path, make_answers("A"), theirs, theirs__source="columns: {cluster: passage}")
    (found,) = problems(root)
    assert 'only "theirs" says which problems belong together (cluster)' in found


def test_totals_of_another_scale_are_an_error(tmp_path: Path) -> None:
    """A share next to a percentage."""
    total = "model,score\nA,{}\nB,{}\n"
    settings = {"mine__source": "form: totals", "theirs__source": "form: totals"}
    root = write_scores(tmp_path / "a", total.format(0.5, 0.6), total.format(51.2, 60), **settings)
    (found,) = problems(root)
    assert found.startswith(
        'content/index.md:3: the scores of "mine" are from 0 to 1, and those of "theirs" are not.'
    )
    report = drafted(write_scores(tmp_path / "b", total.format(0.5, 0.6), total.format(0.4, 0.3), **settings))
    scores = {one["series"]: one["estimate"] for one in show(report, "scores").numbers["scores"]}
    assert scores == {"mine / A": 0.5, "mine / B": 0.6, "theirs / A": 0.4, "theirs / B": 0.3}


def test_percentages_of_a_paper_are_shares_beside_those_of_a_harness(tmp_path: Path) -> None:
    """By the key that the error names, with their standard errors; those of one scale stay as they are."""
    total = "model,score,stderr\nA,{},{}\nB,{},\n"
    settings = {"mine__source": "form: totals", "theirs__source": "form: totals"}
    texts = total.format(0.5, 0.02, 0.6), total.format(51.2, 2, 60)
    (found,) = problems(write_scores(tmp_path / "a", *texts, **settings))
    line = "score_range: [0, 100]"
    assert f'say {line} in the source.yml of "theirs"' in found
    stated = settings | {"theirs__source": f"form: totals\n{line}\n"}
    shown = show(drafted(write_scores(tmp_path / "b", *texts, **stated)), "scores").numbers["scores"]
    assert {one["series"]: one["estimate"] for one in shown} == pytest.approx(
        {"mine / A": 0.5, "mine / B": 0.6, "theirs / A": 0.512, "theirs / B": 0.6}
    )
    widths = {one["series"]: one["high"] - one["estimate"] for one in shown if one["high"] is not None}
    assert widths == pytest.approx({"mine / A": 1.96 * 0.02, "theirs / A": 1.96 * 0.02}, rel=1e-3)
    both = dict.fromkeys(settings, f"form: totals\n{line}\n")
    shown = show(drafted(write_scores(tmp_path / "c", texts[1], texts[1], **both)), "scores").numbers[
        "scores"
    ]
    assert {one["estimate"] for one in shown} == {51.2, 60}


def test_commands_take_several_sources(tmp_path: Path) -> None:
    """``facts``, ``observations`` and ``plan``, with the names that a page uses."""
    root = write_curves(tmp_path)
    shown = call(root, "facts", "runs", "base").stdout
    assert "runs + base: accuracy of 4 series" in shown
    assert "final('base / GRPO')" in shown


def test_a_benchmark_of_a_page_can_have_several_sources(tmp_path: Path) -> None:
    """Its blocks, its ranking and its claims are about all of them."""
    page = """---
benchmark: {name: Arithmetic, source: [runs, base]}
---

# Arithmetic

```curve
```

[better]{claim="final('runs / GRPO') > final(PPO)"}
"""
    report = drafted(write_curves(tmp_path, page=page))
    assert list_series(report) == ["MEL", "runs / GRPO", "base / GRPO", "PPO"]
    assert report.statements["index.md"][0].as_expected
    assert {name for name, _ in report.benchmarks["index.md"].legend} == {*list_series(report)}


def test_an_author_function_gets_the_rows_of_all_with_their_source(tmp_path: Path) -> None:
    """A column ``source`` names it, and series have the names of the page."""
    page = "```altair\nsource: [runs, base]\nfunction: chart.py:draw\ntitle: Rows\n```\n"
    code = """import altair as alt


def draw(rows):
    data = rows.groupby(["source", "series"], as_index=False)["accuracy"].max()
    return alt.Chart(data).mark_bar().encode(x="series:N", y="accuracy:Q", color="source:N")
"""
    root = write_curves(tmp_path, {"chart.py": code}, page)
    figure = show(drafted(root, allow_code=True), "rows")
    assert "runs / GRPO" in str(figure.csv)
    assert "base,PPO,1,10,0.4" in str(figure.csv)


def test_a_benchmark_of_one_source_alone_is_left_out_and_named(tmp_path: Path) -> None:
    """The figure shows what each source has, and its caption names the rest."""
    mine = make_answers("A", benchmark="AIME") + make_answers("A", benchmark="MATH").partition("\n")[2]
    report = drafted(write_scores(tmp_path, mine, make_answers("A", benchmark="AIME")))
    shown = show(report, "scores")
    assert shown.numbers["benchmark"] == "AIME"
    captions = " ".join([shown.caption, *(getattr(part, "caption", "") for part in shown.parts)])
    assert "Not in every source, and left out: MATH." in captions
