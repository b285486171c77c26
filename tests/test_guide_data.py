"""The files that the guide's page about data shows are read as it says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from made_archives import invoke
from made_sources import Data

from reportgen.read import TotalsTable

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "content/guide/data.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("### Lists of answers\n")[2].partition("\n### ")[0]
SHAPES = re.findall(r"^\| [^|]+ \| `([\[{].*[\]}])` \|$", SECTION, re.MULTILINE)
MAPPED = re.findall(
    r"`(\{[^`\n]+\})`[^`]*?\n\n```yaml\n(format: mapped\n.*?)^```$", PAGE, re.MULTILINE | re.DOTALL
)


def records(shown: str) -> Iterator[Any]:
    """What is shown, and where it is a record another one."""
    value = json.loads(shown)
    yield from value if isinstance(value, list) else [value]
    if isinstance(value, dict):
        key = next(iter(value))
        yield {**value, key: f"{value[key]}2"}


def test_the_page_shows_them() -> None:
    """A pattern that finds nothing would hold nothing."""
    assert (len(SHAPES), len(MAPPED)) == (4, 2)


@pytest.mark.parametrize("shown", SHAPES)
def test_lists_of_answers_are_read_as_they_are(tmp_path: Path, shown: str) -> None:
    """Two problems of each shape."""
    data = Data(tmp_path)
    data.write("s/answers.json", json.dumps([*records(shown)]))
    source = data.open("s")
    assert (source.kind, data.warnings("s")) == ("outcomes", [])


def test_methods_of_lists_of_answers_are_series(tmp_path: Path) -> None:
    """As in tables: they are not samples of one series."""
    data = Data(tmp_path)
    lines = [{"method": name, "problem": "p1", "correct": [name == "SFT", True]} for name in ("SFT", "PPO")]
    data.write("s/answers.jsonl", "\n".join(map(json.dumps, lines)))
    code, text = invoke("describe", tmp_path / "data/s")
    assert (code, "2 series" in text, "several records" in text) == (0, True, False)


@pytest.mark.parametrize(("shown", "settings"), MAPPED)
def test_what_is_mapped_is_read(tmp_path: Path, shown: str, settings: str) -> None:
    """By the lines that stand below it; those of ``$[*]`` are of a list."""
    data = Data(tmp_path)
    value = json.loads(shown)
    data.write("s/any.json", json.dumps([value] if "rows: $[*]" in settings else value))
    data.write("s/source.yml", settings)
    source = data.open("s")
    assert (source.kind, data.warnings("s")) == ("totals" if "totals" in settings else "outcomes", [])
    if source.kind == "totals":
        (one,) = TotalsTable(data.root, source).get_scores("Sums")
        assert (one.series, one.value, one.stderr) == ("Elm", 0.6, 0.02)


def test_the_totals_shown_are_those_of_the_example() -> None:
    """The beginning of its table, word for word."""
    table = (ROOT / "data/reported-scores/scores.csv").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```text\n(model,benchmark,.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    first, *others = table.splitlines()
    assert shown.splitlines()[0] == first
    assert set(shown.splitlines()[1:]) <= set(others)
