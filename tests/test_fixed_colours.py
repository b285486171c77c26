"""``colours``: series with a colour of the author's choice, in a block, a source or the report."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report
from test_report import drafted

from reportgen.core.model import Figure, Stack

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.report import Report

RUNS = "series,step,loss\n" + "".join(
    f"{name},{n},{n + i}\n" for i, name in enumerate("ABC") for n in range(3)
)
ANSWERS = "series,problem,score\n" + "".join(
    f"{s},{p},{(p + i) % 2}\n" for i, s in enumerate("ABC") for p in range(8)
)
CURVE = "```curve\nid: loss\nsource: runs\nmetric: loss\n```\n"


def slots(report: Report, block: str) -> dict[str, int | None]:
    """The palette slots of the series of a block."""
    (shown,) = [one for (_, name), one in report.shown.items() if name == block]
    figure = (
        next(one for one in shown.parts if isinstance(one, Figure)) if isinstance(shown, Stack) else shown
    )
    assert isinstance(figure, Figure)
    return dict(figure.legend)


def test_a_block_gives_a_colour_and_others_give_way(tmp_path: Path) -> None:
    """Only in this block; on the rest of the page the series keep theirs."""
    fixed = CURVE.replace("id: loss", "id: fixed\ncolours: {C: blue}")
    files = {"data/runs.csv": RUNS, "content/index.md": f"{CURVE}\n{fixed}"}
    report = drafted(write_report(tmp_path / "r", files))
    assert slots(report, "loss") == {"A": 0, "B": 1, "C": 2}
    found = slots(report, "fixed")
    assert found["C"] == 0
    assert sorted(place for place in found.values() if place is not None) == [0, 1, 2]
    assert found["B"] == 1


def test_a_source_and_the_report_give_colours_everywhere(tmp_path: Path) -> None:
    """The report goes before its sources, and a colour that is given is nobody else's."""
    files = {
        "data/runs.csv": RUNS,
        "data/runs.source.yml": "colours: {A: green, B: red}\n",
        "data/answers.csv": ANSWERS,
        "content/index.md": f"{CURVE}\n```scores\nid: s\nsource: answers\n```\n",
    }
    report = drafted(write_report(tmp_path / "r", files), colours={"B": "purple"})
    assert slots(report, "loss") == {"A": 2, "B": 3, "C": 0}
    assert report.slots == {"A": 2, "B": 3, "C": 0}


def test_scores_take_colours_too(tmp_path: Path) -> None:
    """The dots of a row have the colour of the block."""
    page = "```scores\nid: s\nsource: answers\ncolours: {A: pink}\n```\n"
    files = {"data/answers.csv": ANSWERS, "content/index.md": page}
    report = drafted(write_report(tmp_path / "r", files))
    (shown,) = report.shown.values()
    assert isinstance(shown, Stack)
    (figure,) = [part for part in shown.parts if isinstance(part, Figure)]
    row = re.search(
        r'<g class="rg-mark rg-drawn"[^>]*data-rg-series="A"[^>]*>(.*?)</g>', str(figure.inline_svg)
    )
    assert row
    assert "--rg-series-8" in row[1]


@pytest.mark.parametrize(
    ("colours", "said"),
    [
        ("{D: blue}", 'colours names "D", and this block does not show it'),
        ("{A: bleu}", '"bleu" is no colour of the palette. Did you mean "blue"?'),
        ('{A: "#ff0000"}', '"#ff0000" is no colour of the palette. The colours, which can be distinguished'),
    ],
)
def test_what_is_no_colour(tmp_path: Path, colours: str, said: str) -> None:
    """An unknown series, a misspelt colour, and one that nobody tested for contrast."""
    page = CURVE.replace("id: loss", f"colours: {colours}")
    report = write_report(tmp_path / "r", {"data/runs.csv": RUNS, "content/index.md": page})
    assert said in call(report, "check").stdout
