"""The draft of a report: it writes nothing, its cache hides no change, and it refuses what is wrong."""

from __future__ import annotations

import json
import random
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml
from made_projects import PAGE, RUNS, files_below, write_file, write_report
from tries import tries

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError, SourceLocation
from reportgen.core.model import Figure, Overview, Panels, ResultTable
from reportgen.draft.accepting import make_warning_id
from reportgen.draft.report import draft
from reportgen.settings.blocks import KINDS
from reportgen.settings.loading import load_project, make_schemas
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
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


def test_a_draft_writes_nothing_but_its_cache(tmp_path: Path) -> None:
    """No site, and no file of the author's is touched."""
    root = write_report(tmp_path)
    before = files_below(root)
    drafted(root)
    assert files_below(root) == before


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


def test_progress_counts_every_block(tmp_path: Path) -> None:
    """After each, how many of how many."""
    root = write_report(tmp_path, {"content/index.md": MANY, "data/two.csv": TWO, "content/aime.md": AIME})
    project = Project(root, "content", ("index.md", "aime.md"), ProjectSettings())
    seen: list[tuple[int, int]] = []
    draft(project, Cache(root / "c"), FileHashes(root / "c"), progress=lambda *counts: seen.append(counts))
    assert seen == [(n, 6) for n in range(1, 7)]


# ---- anything that may be written ---------------------------------------------------------------

ANSWERS: Final = "series,problem,score,benchmark\n" + "".join(
    f"{name},{problem},{(len(name) + problem) % 2},{part}\n"
    for name in ("MEL", "base")
    for part in ("contest", "textbook")
    for problem in range(6)
)
# Names that are there, that are nearly there, and that are not; and values of every kind.
NAMES: Final = (
    *("runs", "answers", "rans", "accuracy", "MEL", "GRPO", "c", "p", "p-1", "o", "contest", "evals", ""),
)
VALUES: Final[tuple[object, ...]] = (
    *(*NAMES, None, True, 0, 1, -1, 0.5, 1e9, [], ["accuracy"], ["runs", "answers"], {}, {"a": "b"}),
)
STATEMENTS: Final = (
    '[0.84]{value="peak(MEL)"}',
    '[x]{value="final(A)"}',
    '[0.8]{value="final(MEL)" of="OF"}',
    '[MEL leads]{claim="final(MEL) > final(GRPO)" of="OF" name="lead"}',
    '[it]{claim="score(MEL) > score(base)" of="OF"}',
    '[x]{value="1/0"}',
    '[never]{claim="peak(MEL) < 0" fails="so it is"}',
)
SCHEMAS: Final = make_schemas()
PAGES: Final = tries(20, 400)
DRAFTS_AT_ONCE: Final = 10


def block(chance: random.Random) -> str:
    """A fence of one of our kinds, or nearly, with keys that it has and values that fit or do not."""
    kind = chance.choice(sorted(KINDS))
    keys = sorted(SCHEMAS[kind].get("properties", {"data": {}}))
    settings = {
        key: chance.choice(VALUES) for key in chance.sample(keys, min(len(keys), chance.randint(0, 3)))
    }
    if chance.random() < 0.7:
        settings["source"] = chance.choice(("runs", "answers"))
    if kind == "panels" and chance.random() < 0.8:
        settings["metrics"] = ["accuracy"]
    if chance.random() < 0.5:
        settings["id"] = chance.choice(("c", "p", "o"))
    fence = chance.choice(["```"] * 8 + ["~~~", "``"])
    name = chance.choice([kind] * 8 + [kind.title(), f"{kind}s"])
    return f"{fence}{name}\n{yaml.safe_dump(settings, allow_unicode=True) if settings else ''}{fence}\n"


def page(chance: random.Random) -> str:
    """Front matter, blocks and statements, with a few characters gone or put in."""
    front = ""
    if chance.random() < 0.5:
        benchmark: dict[str, object] = {
            "name": chance.choice(NAMES),
            "source": chance.choice(("runs", "answers", "rans")),
        }
        benchmark |= {chance.choice(("metric", "benchmark", "baseline", "page")): chance.choice(VALUES)}
        key = chance.choice(("benchmark", "benchmarks", "title"))
        front = yaml.safe_dump({key: [benchmark] if key == "benchmarks" else benchmark})
        front = f"---\n{front}{chance.choice(['---'] * 9 + [''])}\n\n"
    parts = [block(chance) for _ in range(chance.randint(0, 3))]
    parts += [
        chance.choice(STATEMENTS).replace("OF", chance.choice(NAMES)) for _ in range(chance.randint(0, 3))
    ]
    chance.shuffle(parts)
    text = f"{front}# A\n\n" + "\n\n".join(parts)
    for _ in range(chance.choice((0, 0, 0, 1, 3))):
        place = chance.randrange(len(text))
        instead = chance.choice(("", "\n", "`", "---\n", "<<<<<<< a\n", '"', "{", "\u2028", "\x1b", "é"))
        text = text[:place] + instead + text[place + chance.randint(0, 5) :]
    return text


def problems_of(error: ReportError) -> tuple[Diagnostic, ...]:
    """What a refusal tells; it never comes without a word."""
    assert error.problems
    return error.problems


def check_draft(root: Path, settings: ProjectSettings) -> None:
    """Draft a report and hold its problems, if it has any, to what problems are."""
    project = Project(root, "content", ("index.md",), settings)
    try:
        told = draft(project, Cache(root / "cache"), FileHashes(root / "cache")).problems
    except ReportError as error:
        told = problems_of(error)
    for problem in told:
        assert problem.location.file
        assert problem.message
        assert len(str(problem)) < 3000


@pytest.mark.random
@pytest.mark.parametrize("seed", range(DRAFTS_AT_ONCE))
def test_mutated_pages_are_drafted_or_refused(tmp_path: Path, seed: int) -> None:
    """Blocks, statements and front matter that name what is there, what is not, and nothing."""
    chance = random.Random(seed)  # noqa: S311 - the same pages every time
    write_report(tmp_path, {"data/answers.csv": ANSWERS, "data/runs.csv": RUNS})
    for _ in range(PAGES // DRAFTS_AT_ONCE):
        text = page(chance)
        (tmp_path / "content/index.md").write_text(text, encoding="utf-8")
        try:
            check_draft(tmp_path, ProjectSettings())
        except Exception as error:
            raise AssertionError(text) from error


OPTIONS: Final = sorted(SCHEMAS["plugin"]["properties"])
NAMED: Final = {"name": "A", "source": "runs"}
WRONG: Final[tuple[object, ...]] = (
    *(*VALUES, "../data", "/no/such", "no\nsuch", "x" * 1001, {"MEL": 9}, {"MEL": 1, "GRPO": 1}, {"": 1}),
    *([NAMED], [NAMED | {"source": "rans", "page": "../a.md"}], [NAMED, NAMED | {"source": "answers"}]),
    [{"name": " ", "source": "answers", "benchmark": "x"}],
    *([NAMED | {"source": "answers", "metric": "pass@0"}], [None], [[]]),
)


@pytest.mark.parametrize("option", OPTIONS)
def test_every_option_takes_any_value_or_refuses_it(tmp_path: Path, option: str) -> None:
    """A value of ``mkdocs.yml`` that fits is drafted with; any other is a problem with its line."""
    write_report(tmp_path, {"data/answers.csv": ANSWERS})
    for value in WRONG:
        options = {option: value}
        text = f"site_name: A\nplugins:\n  - reportgen: {json.dumps(options)}\n"
        try:
            settings = load_project(options, SourceLocation("mkdocs.yml"), text)
        except ReportError as error:
            refused = problems_of(error)
        else:
            check_draft(tmp_path, settings)
            continue
        assert {problem.location.line for problem in refused} == {3}, value
