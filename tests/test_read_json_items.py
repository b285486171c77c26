"""Lists in JSON files, item by item: the same as all at once, and refused where they are no JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from made_evaluations import messages, only, write

from reportgen.formats.evaluations import helm
from reportgen.formats.evaluations.scores import name_groups
from reportgen.formats.json_files import read_json_items
from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.formats.runs import Finding


def items(path: Path, text: str) -> list[object]:
    """The items of a file with this text, which has nothing irregular."""
    path.write_text(text, encoding="utf-8")
    findings: list[Finding] = []
    found = list(read_json_items(path, findings))
    assert findings == []
    return found


@pytest.mark.parametrize(
    "text", ["[]", " [ ] \n", "[1]", '[1, "],[", {"a": [null]}]', "[\n  [1,2],\n\t{}\r\n]\n", "[NaN, -1.5e3]"]
)
def test_items_are_those_of_the_whole(tmp_path: Path, text: str) -> None:
    """Spaces, signs inside texts, and lists within make no difference."""
    assert repr(items(tmp_path / "a.json", text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["[1,]", "[1 2]", "[1] x", "[,1]", "[1", "[", "[1,", "[1]]", '["a'])
def test_what_is_no_list_of_json_is_refused(tmp_path: Path, text: str) -> None:
    """With the place where it ends to be JSON."""
    with pytest.raises(UnreadableError, match=r"not whole JSON: .* at line 1, column") as caught:
        items(tmp_path / "a.json", text)
    assert caught.value.line == 1


@pytest.mark.parametrize("text", ["{}", "", "3", "null"])
def test_what_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    """An object, nothing, and single values."""
    with pytest.raises(UnreadableError, match="a list is expected"):
        items(tmp_path / "a.json", text)


def test_items_come_before_a_later_fault(tmp_path: Path) -> None:
    """Nothing waits for the end of the file."""
    path = tmp_path / "a.json"
    path.write_text("[1, 2, x", encoding="utf-8")
    found = read_json_items(path, [])
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(UnreadableError):
        next(found)


def test_an_entry_that_is_no_object_is_counted(tmp_path: Path) -> None:
    """Nothing is left out in silence."""
    stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 0.5}
    path = write(tmp_path / "model=m" / "stats.json", [stat, None, 3])
    (unit,) = helm.find_units([path])
    assert messages(only(helm.read(unit)))[1:] == ["2 entries are no object: left out"]


def test_long_texts_and_lists_are_not_kept_for_grouping() -> None:
    """Responses are long, and there are many of them."""
    said = {"level": 3, "subject": "algebra", "responses": ["x" * 1000], "text": "x" * 61, "none": None}
    assert name_groups(said) == {
        "level": "3",
        "subject": "algebra",
        "responses": None,
        "text": None,
        "none": "",
    }
