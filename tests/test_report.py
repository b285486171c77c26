"""The spine: pages and data go in, a whole report comes out as values, and nothing is written."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest
from made_projects import PAGE, RUNS, files_below, write_file, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError, Severity
from reportgen.core.model import Figure, Overview, Panels, ResultTable
from reportgen.draft.accepting import make_warning_id
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.model import Shown
    from reportgen.draft.report import Report

AIME = "---\nbenchmark: {name: AIME, source: runs, metric: accuracy}\n---\n\n# AIME\n\n```curve\n```\n"
MANY = """# Many

```curve
source: runs
```

```panels
source: two
metrics: [reward, {metric: loss, higher_is_better: false}]
```

```table
source: runs
```

```overview
```

```vega-lite
data: {source: runs}
mark: bar
encoding: {x: {field: series, type: nominal}, y: {field: accuracy, type: quantitative}}
```
"""
TWO = "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,0.3,1.0\nbase,0,0.1,2.0\nbase,1,0.2,1.5\n"


def drafted(root: Path, *pages: str, cache: Cache | None = None, **settings: Any) -> Report:  # noqa: ANN401
    """Draft the report in a folder."""
    project = Project(root, "content", pages or ("index.md",), ProjectSettings.model_validate(settings))
    folder = cache_folder(root)
    return draft(project, cache or Cache(folder), FileHashes(folder))


def problems(root: Path, *pages: str, **settings: Any) -> list[str]:  # noqa: ANN401
    """What stops a draft."""
    with pytest.raises(ReportError) as error:
        drafted(root, *pages, **settings)
    return [str(problem) for problem in error.value.problems]


def figure(shown: Shown) -> Figure:
    """A shown block that is a figure."""
    assert isinstance(shown, Figure)
    return shown


def test_every_block_is_shown(tmp_path: Path) -> None:
    """By the page's path and the block's id, each as its own kind of value."""
    files = {"content/index.md": MANY, "content/aime.md": AIME, "data/two.csv": TWO}
    report = drafted(write_report(tmp_path, files), "index.md", "aime.md")
    assert {key: type(shown) for key, shown in report.shown.items()} == {
        ("index.md", "curve"): Figure,
        ("index.md", "panels"): Panels,
        ("index.md", "table"): ResultTable,
        ("index.md", "overview"): Overview,
        ("index.md", "vega-lite"): Figure,
        ("aime.md", "curve"): Figure,
    }
    assert set(report.sources) == {"runs", "two"}
    assert list(report.benchmarks) == ["aime.md"]


def test_a_card_calls_its_metric_what_the_figures_of_its_page_call_it(tmp_path: Path) -> None:
    """By the title of its panel or of the y axis, and by its name if no figure has a title for it."""
    front = "---\nbenchmark: {name: Two, source: two, metric: reward}\n---\n# Two\n"
    panels = "```panels\nmetrics: [loss, {metric: reward, title: Return}]\n```\n"
    curve = "```curve\ny_title: Mean return\n```\n"
    pages = {"panels.md": panels, "axis.md": curve, "plain.md": "```curve\n```\n"}
    files = {f"content/{name}": front.replace("Two", name) + text for name, text in pages.items()}
    report = drafted(write_report(tmp_path, {**files, "data/two.csv": TWO}), *pages)
    sparks = [report.benchmarks[name].spark for name in pages]
    labels = [re.findall('aria-label="([^"]*)"', spark)[0] for spark in sparks]
    assert labels == [
        "panels.md: return by step, from 0.1 to 0.3",
        "axis.md: mean return by step, from 0.1 to 0.3",
        "plain.md: reward by step, from 0.1 to 0.3",
    ]


def test_a_draft_writes_nothing_but_its_cache(tmp_path: Path) -> None:
    """No site, and no file of the author's is touched."""
    root = write_report(tmp_path)
    before = files_below(root)
    drafted(root)
    assert files_below(root) == before


def test_all_problems_come_together(tmp_path: Path) -> None:
    """Of pages, settings, data and figures, each once, by file and line: forty faults take one round."""
    wrong = """# Wrong

```curve
source: runs
smoth: 0.5
```

```curve
source: nosuch
```

```table
source: runs
metric: accuracies
```

```curve
source: runs
series: [MEL, GPRO]
```

```curve
source: runs
highlight: [MELL]
y_scale: log
reference: [{y: 0, label: zero}]
```

```overview
benchmarks: [AIMEE]
```

```vega-lite
data: {source: runs}
mark: barr
```

```altair
source: runs
function: charts.py:bars
```
"""
    broken = "---\nbenchmark: {name: Broken, source: broken}\n---\n\n# Broken\n\n```curve\n```\n"
    files = {
        "content/index.md": wrong,
        "content/broken.md": broken,
        "data/broken.csv": RUNS.replace("0.84", "O.84"),
        "data/torn.csv": RUNS + "MEL,2,20",
        "content/torn.md": PAGE.replace("runs", "torn"),
    }
    root = write_report(tmp_path, files)
    found = problems(root, "index.md", "broken.md", "torn.md", series={"MEL": 9})
    expected = [
        'content/index.md:5:1: "smoth" is not a key of a curve block. Did you mean "smooth"?',
        'content/index.md:8: there is no source "nosuch" in data/.',
        'content/index.md:12: "accuracies" is not a metric of source "runs". Did you mean "accuracy"?',
        'content/index.md:17: the source "runs" has no series "GPRO".',
        'content/index.md:22: "MELL" is not a series of this figure.',
        'content/index.md:29: "AIMEE" is not a benchmark of this report.',
        "content/index.md:33: Vega-Lite refuses this specification: mark: 'barr' is not known.",
        'content/index.md:38: "charts.py:bars" is not run: this report does not allow code.',
        'data/broken.csv:3: "O.84" in column "accuracy" is not a number.',
        "data/torn.csv:10: the last line is torn off and was left out.",
        'mkdocs.yml: the palette has places 1 to 8, and "MEL" asks for 9.',
    ]
    assert len(found) == len(expected), "\n".join(found)
    for said, start in zip(found, expected, strict=True):
        assert said.startswith(start)


def test_a_warning_stops_nothing(tmp_path: Path) -> None:
    """What was handled is told, on the page too."""
    root = write_report(tmp_path, {"data/runs.csv": RUNS + "MEL,2,20"})
    report = drafted(root)
    assert [(p.location.file, p.location.line, p.severity) for p in report.problems] == [
        ("data/runs.csv", 10, Severity.WARNING)
    ]
    assert (
        "the last line is torn off and was left out." in figure(report.shown["index.md", "accuracy"]).caption
    )


def test_the_same_draft_twice_is_the_same(tmp_path: Path) -> None:
    """From an empty cache, from a full one, and with another folder's."""
    files = {"content/index.md": MANY, "content/aime.md": AIME, "data/two.csv": TWO}
    root = write_report(tmp_path / "one", files)
    cold = drafted(root, "index.md", "aime.md")
    warm = drafted(root, "index.md", "aime.md")
    elsewhere = drafted(write_report(tmp_path / "two", files), "index.md", "aime.md")
    assert cold.shown == warm.shown == elsewhere.shown
    assert cold.benchmarks == warm.benchmarks == elsewhere.benchmarks
    assert cold.cache_hits < warm.cache_hits


def test_what_did_not_change_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A warm draft opens the sources to know them, and reads no row of those that stayed."""
    pages = {
        "content/index.md": PAGE,
        "content/other.md": PAGE.replace("runs", "other"),
        "data/other.csv": RUNS,
    }
    root = write_report(tmp_path, pages)
    first = drafted(root, "index.md", "other.md")
    read: list[str] = []
    package = import_module("reportgen.read")
    real = package.read_measurements

    def noted(root: Path, source: Any, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        read.append(source.name)
        return real(root, source, *rest, **options)

    monkeypatch.setattr(package, "read_measurements", noted)
    assert drafted(root, "index.md", "other.md").shown == first.shown
    assert read == []
    write_file(root / "data" / "other.csv", RUNS.replace("0.84", "0.94"))
    changed = drafted(root, "index.md", "other.md")
    assert read == ["other"]
    assert changed.shown["index.md", "accuracy"] == first.shown["index.md", "accuracy"]
    assert changed.shown["other.md", "accuracy"] != first.shown["other.md", "accuracy"]


def test_what_is_too_much_for_memory_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the report is the same, with statements and observations of the same data."""
    page = f'{MANY}[0.82]{{value="final(MEL)" of="runs"}}\n\n```observations\nof: panels-1\n```\n'
    files = {"content/index.md": page, "content/aime.md": AIME, "data/two.csv": TWO}
    expected = drafted(write_report(tmp_path / "one", files), "index.md", "aime.md")
    monkeypatch.setattr("reportgen.draft.blocks.draw_inputs._MOST_HELD", 0)
    found = drafted(write_report(tmp_path / "two", files), "index.md", "aime.md")
    assert found.shown == expected.shown
    assert found.statements == expected.statements
    assert found.benchmarks == expected.benchmarks


CHANGES = {
    "data": ("data/runs.csv", RUNS.replace("0.84", "0.85")),
    "the source's title": ("data/runs.source.yml", "title: The runs\n"),
    "the block": ("content/index.md", PAGE.replace("title: Accuracy", "title: Accuracy\nsmooth: 0.5")),
    "its direction": (
        "content/index.md",
        PAGE.replace("title: Accuracy", "title: Accuracy\nhigher_is_better: false"),
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_changed_is_drawn_again(tmp_path: Path, change: str) -> None:
    """The cache never hides a change."""
    root = write_report(tmp_path)
    before = drafted(root).shown["index.md", "accuracy"]
    write_file(root / CHANGES[change][0], CHANGES[change][1])
    assert drafted(root).shown["index.md", "accuracy"] != before


def test_a_damaged_cache_changes_nothing(tmp_path: Path) -> None:
    """It is drawn again."""
    root = write_report(tmp_path)
    before = drafted(root)
    for path in cache_folder(root).rglob("*"):
        if path.is_file():
            path.write_bytes(b"rubbish")
    assert drafted(root).shown == before.shown


def test_adding_a_benchmark_moves_nothing_else(tmp_path: Path) -> None:
    """Numbers, words, colours and pictures of the pages before it stay as they were."""
    root = write_report(tmp_path, {"content/aime.md": AIME})
    before = drafted(root, "index.md", "aime.md")
    write_file(root / "data" / "new.csv", RUNS.replace("MEL", "newcomer"))
    write_file(root / "content" / "new.md", AIME.replace("AIME", "New").replace("runs", "new"))
    after = drafted(root, "index.md", "aime.md", "new.md")
    assert {key: after.shown[key] for key in before.shown} == before.shown
    assert after.benchmarks["aime.md"] == before.benchmarks["aime.md"]
    colours = dict(figure(after.shown["new.md", "curve"]).legend)
    assert colours["GRPO"] == dict(figure(before.shown["index.md", "accuracy"]).legend)["GRPO"]


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("the last line is torn off and was left out", "last-line-torn-off-left-out"),
        ('3 rows of "loss" have no number', "row-no-number"),
        ('1 row of "acc" has no number', "row-no-number"),
        ("each file is a series of its own", "each-file-series-own"),
        ("steps in data/x.csv:12 repeat 1,200 times", "step-repeat-time"),
        ('"x"', "warning"),
    ],
)
def test_ids_of_warnings_do_not_depend_on_names_and_numbers(message: str, name: str) -> None:
    """One more row, or another name, is the same warning, which an author accepts by its id."""
    assert make_warning_id(message) == name


def test_a_series_has_one_colour_on_every_page(tmp_path: Path) -> None:
    """Whatever it is drawn with, and in whatever order its files have it."""
    swapped = "\n".join([RUNS.splitlines()[0], *reversed(RUNS.splitlines()[1:])]) + "\n"
    files = {"data/swapped.csv": swapped, "content/swapped.md": PAGE.replace("runs", "swapped")}
    report = drafted(write_report(tmp_path, files), "index.md", "swapped.md")
    one, other = (dict(figure(report.shown[page, "accuracy"]).legend) for page in ("index.md", "swapped.md"))
    assert one == other
    assert list(one) != list(other)


def test_a_pinned_colour_is_used(tmp_path: Path) -> None:
    """Places count from 1 for people."""
    report = drafted(write_report(tmp_path), series={"GRPO": 1})
    assert dict(figure(report.shown["index.md", "accuracy"]).legend) == {"MEL": 1, "GRPO": 0}


def test_short_names_hold_in_the_whole_report(tmp_path: Path) -> None:
    """Figures and claims of other pages use them; a name that no source has is a warning with its page."""
    label = "---\nlabels: {GRPO: g, PPO: p}\n---\n"
    claim = '\n[MEL leads]{claim="final(MEL) > final(g)"}\n'
    files = {"content/index.md": label + PAGE, "content/other.md": PAGE + claim}
    report = drafted(write_report(tmp_path, files), "index.md", "other.md")
    for page in ("index.md", "other.md"):
        assert {name for name, _ in figure(report.shown[page, "accuracy"]).legend} == {"MEL", "g"}
    assert report.sources["runs"].settings.labels == {"GRPO": "g"}
    assert [str(problem.location.file) for problem in report.problems] == ["content/index.md"]
    assert 'no source of this page has a series "PPO"' in report.problems[0].message


def test_two_short_names_for_one_series_are_an_error(tmp_path: Path) -> None:
    """A series has one name in a report, and a name is that of one series."""
    files = {
        "content/index.md": "---\nlabels: {GRPO: g}\n---\n" + PAGE,
        "content/other.md": "---\nlabels: {GRPO: h}\n---\n" + PAGE,
        "content/third.md": "---\nlabels: {GRPO: g, MEL: g}\n---\n" + PAGE,
    }
    found = problems(write_report(tmp_path, files), "index.md", "other.md", "third.md")
    assert any(
        said.startswith('content/other.md: "GRPO" of "runs" is "g" on another page, and "h" here')
        for said in found
    ), found
    assert any('labels gives two series the name "g"' in said for said in found), found


def test_a_benchmark_without_a_page_gets_one(tmp_path: Path) -> None:
    """With a figure, a table and its key results."""
    settings = {"name": "AIME", "source": "runs", "description": "Thirty problems."}
    report = drafted(write_report(tmp_path), benchmarks=[settings])
    page = report.pages[1]
    assert (page.path, page.title, page.generated) == ("aime.md", "AIME", True)
    assert [block.kind for block in page.blocks] == ["curve", "table"]
    assert report.benchmarks["aime.md"].score == (
        "No clear winner; highest mean 0.82 [0.57, 1.07] accuracy at the end (MEL)"
    )


def test_lower_is_better_reaches_every_word(tmp_path: Path) -> None:
    """Said once for the benchmark, it holds for its figures, tables and results."""
    page = AIME.replace("metric: accuracy", "metric: accuracy, higher_is_better: false") + "\n```table\n```\n"
    report = drafted(write_report(tmp_path, {"content/index.md": page}))
    first, second = (report.shown["index.md", block.id] for block in report.pages[0].blocks)
    assert "lower is better" in figure(first).subtitle
    assert isinstance(second, ResultTable)
    assert "Lower is better." in second.caption
    assert report.benchmarks["index.md"].score == (
        "No clear winner; lowest mean 0.72 [0.47, 0.97] accuracy at the end (GRPO)"
    )


def test_an_author_s_function_is_run_where_that_is_allowed(tmp_path: Path) -> None:
    """And never otherwise, whatever the page says."""
    code = "import altair as alt\n\ndef bars(frame):\n    return alt.Chart(frame).mark_bar()\n"
    page = "# Own\n\n```altair\nsource: runs\nfunction: charts.py:bars\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "charts.py": code})
    (shown,) = drafted(root, allow_code=True).shown.values()
    assert figure(shown).kind == "altair"
    (said,) = problems(root)
    assert said == (
        'content/index.md:3: "charts.py:bars" is not run: this report does not allow code. '
        "Set allow_code: true for the reportgen plugin in mkdocs.yml if you trust every author."
    )


def test_a_chart_from_elsewhere_is_refused(tmp_path: Path) -> None:
    """An author's function may not bring an outside address any more than a block may."""
    code = "import altair as alt\n\ndef far(frame):\n    return alt.Chart('https://example.org/a.csv').mark_bar()\n"
    page = "# Own\n\n```altair\nsource: runs\nfunction: charts.py:far\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "charts.py": code})
    assert any("outside" in said for said in problems(root, allow_code=True))


def test_progress_counts_every_block(tmp_path: Path) -> None:
    """After each, how many of how many."""
    root = write_report(tmp_path, {"content/index.md": MANY, "data/two.csv": TWO, "content/aime.md": AIME})
    project = Project(root, "content", ("index.md", "aime.md"), ProjectSettings())
    seen: list[tuple[int, int]] = []
    draft(project, Cache(root / "c"), FileHashes(root / "c"), progress=lambda *counts: seen.append(counts))
    assert seen == [(n, 6) for n in range(1, 7)]


def test_an_empty_report_is_a_report(tmp_path: Path) -> None:
    """Words alone are fine."""
    report = drafted(write_report(tmp_path, {"content/index.md": "# Words\n"}))
    assert report.shown == {}
    assert report.problems == ()
