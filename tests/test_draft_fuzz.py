"""Whatever pages and settings say, a draft of them gives a report or placed problems, and soon."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Final

import pytest
import yaml
from made_projects import RUNS, write_report
from tries import tries

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import ReportError, SourceLocation
from reportgen.draft.report import draft
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.loading import load_project, make_schemas
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.errors import Diagnostic

ANSWERS: Final = "series,problem,score,benchmark\n" + "".join(
    f"{name},{problem},{(len(name) + problem) % 2},{part}\n"
    for name in ("MEL", "base")
    for part in ("contest", "textbook")
    for problem in range(6)
)
# Names that are there, that are nearly there, and that are not; and values of every kind.
NAMES: Final = (
    "runs",
    "answers",
    "rans",
    "accuracy",
    "MEL",
    "GRPO",
    "c",
    "p",
    "p-1",
    "o",
    "contest",
    "evals",
    "",
)
VALUES: Final[tuple[object, ...]] = (
    *NAMES,
    None,
    True,
    0,
    1,
    -1,
    0.5,
    1e9,
    [],
    ["accuracy"],
    ["runs", "answers"],
    {},
    {"a": "b"},
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
PAGES: Final = tries(30, 400)
DRAFTS_AT_ONCE: Final = 10


def block(chance: random.Random) -> str:
    """A fence of one of our kinds, or nearly, with keys that it has and values that fit or do not."""
    kind = chance.choice(sorted(BLOCKS))
    keys = sorted(make_schemas()[kind].get("properties", {"data": {}}))
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


def drafted(root: Path, settings: ProjectSettings) -> None:
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
            drafted(tmp_path, ProjectSettings())
        except Exception as error:
            raise AssertionError(text) from error


OPTIONS: Final = sorted(make_schemas()["plugin"]["properties"])
WRONG: Final[tuple[object, ...]] = (
    *VALUES,
    "../data",
    "/no/such",
    "no\nsuch",
    "x" * 1001,
    {"MEL": 9},
    {"MEL": 1, "GRPO": 1},
    {"": 1},
    [{"name": "A", "source": "runs"}],
    [{"name": "A", "source": "rans", "page": "../a.md"}],
    [{"name": "A", "source": "runs"}, {"name": "A", "source": "answers"}],
    [{"name": " ", "source": "answers", "benchmark": "x"}],
    [{"name": "A", "source": "answers", "metric": "pass@0"}],
    [None],
    [[]],
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
            drafted(tmp_path, settings)
            continue
        assert {problem.location.line for problem in refused} == {3}, value
