"""Near misses in blocks and pages, each with the next step that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

RUNS = "series,seed,step,acc,lr\nA,1,0,0.1,0.1\nA,1,1,0.7,0.1\nB,1,0,0.2,0.2\nB,1,1,0.5,0.2\n"
BLOCK = "# Page\n\n```{kind}\nid: one\nsource: runs\n{lines}\n```\n"


def check(root: Path, page: str) -> str:
    """What ``check`` says of a page."""
    return call(write_report(root, {"content/index.md": page, "data/runs.csv": RUNS}), "check").stdout


@pytest.mark.parametrize(
    ("kind", "lines", "said"),
    [
        ("curve", 'metric: acc\nfilter: {lr: "=< 0.1"}', 'Did you mean "<= 0.1"? There lr is 0.1 and 0.2.'),
        (
            "curve",
            "metric: {error: max(acc, lr)}",
            "metrics, + - * / and parentheses, no commas and no functions.",
        ),
        (
            "table",
            "metric: {cost: 20 * acc}\ncolumns: [steps to 60%]",
            '"steps to 60%" of "cost" is a share of values that are no shares. Write the level',
        ),
    ],
)
def test_a_near_miss_has_its_next_step(tmp_path: Path, kind: str, lines: str, said: str) -> None:
    """Whatever the reader of YAML or of columns made of it."""
    found = check(tmp_path / "r", BLOCK.format(kind=kind, lines=lines))
    assert said in found
    assert found.endswith("1 problem; statements are counted once there is none.\n")


def test_one_pattern_of_series_needs_no_list(tmp_path: Path) -> None:
    """As one metric, and one value of a filter."""
    block = BLOCK.format(kind="curve", lines="metric: acc\nseries: A*")
    found = check(tmp_path / "a", block + '\n[0.7]{value="final(A)" of="one"}\n')
    assert found.endswith("1 statement: 1 holds\n")
    assert '"B"' in check(tmp_path / "b", block + '\n[0.5]{value="final(B)" of="one"}\n')
    for empty in ('""', "3", "{a: b}"):
        lines = f"metric: acc\nseries: {empty}"
        assert "series" in check(tmp_path / f"r{len(empty)}", BLOCK.format(kind="curve", lines=lines))


def test_a_list_of_lists_is_no_variable(tmp_path: Path) -> None:
    """It is there, so it is not said to be unknown."""
    found = check(tmp_path / "r", "---\ntitle: T\nlst: [[1], [2]]\n---\n\n# T\n\n{{ lst }} {{ lists }}\n")
    assert '"lst" has several values, and only values of one line are replaced' in found
    assert 'there is no variable "lists"' in found
