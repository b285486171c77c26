"""Blocks of several parts: kept and read back, written as files, told in report.json, found by the search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from made_figures import curve, curve_set, figure
from msgspec.structs import replace

from reportgen.core.cache import Cache, CachedText
from reportgen.core.errors import SourceLocation
from reportgen.core.model import Cell, Figure, Observed, ResultTable, Stack
from reportgen.draft.report import Report
from reportgen.draft.stored_blocks import restore_block, store_block
from reportgen.settings.inputs import Block, Page
from reportgen.settings.report import FrontMatter
from reportgen.settings.score_blocks import ScoresSettings
from reportgen.site.fragments import collect_search_text
from reportgen.site.outputs import (
    find_outputs,
    format_report_json,
    list_figure_files,
    list_figures,
    list_tables,
)
from reportgen.site.reuse.manifest import Provenance

if TYPE_CHECKING:
    from pathlib import Path

DOTS = replace(figure(curve_set(curve("MEL", [0.2, 0.84]))), id="contest", kind="scores", view="", payload="")
SECOND = replace(DOTS, id="contest-differences", kind="comparison", title="Differences")
ROWS = ResultTable(
    id="contest-table",
    title="",
    header=("series", "score"),
    rows=((Cell("MEL"), Cell("84.0 %", 0.84, "better")),),
    caption="Tiers are those of Holm.",
    csv="series,score\nMEL,0.84\n",
)
STACK = Stack(
    id="contest",
    title="Contest",
    subtitle="30 problems × 16 samples",
    parts=(DOTS, "A true difference of 6.1 points is found.", ROWS, SECOND),
    caption="One sentence.",
    numbers={"scores": [{"series": "MEL", "estimate": 0.84}], "mixed_protocol": {}},
)
OBSERVED = (Observed(series=2, runs=6, problems=40),)


def report() -> Report:
    """A report of one page with the stack."""
    block = Block("scores", "contest", ScoresSettings(source="a"), SourceLocation("content/p.md", 5), "")
    page = Page("p.md", "content/p.md", "P", FrontMatter(), (block,), "")
    return Report((page,), {("p.md", "contest"): STACK}, {}, {}, {})


def test_what_was_kept_is_what_was_drawn(tmp_path: Path) -> None:
    """Every part in its place, each figure with its own long texts, the numbers to the last digit."""
    data = Cache(tmp_path / "cache")
    light, _ = store_block(data, data.make_key("one"), STACK, OBSERVED)
    stored = restore_block(data, data.make_key("one"), Stack)
    assert stored is not None
    again, observed = stored
    assert (again, observed) == (light, OBSERVED)
    assert (again.parts[1:3], again.numbers) == (STACK.parts[1:3], STACK.numbers)
    for part, drawn in zip(list_figures(again), (DOTS, SECOND), strict=True):
        assert isinstance(part.csv, CachedText)
        assert [str(getattr(part, name)) for name in ("csv", "spec", "inline_svg")] == [
            *(drawn.csv, drawn.spec, drawn.inline_svg)
        ]
        assert part.id == drawn.id


def test_a_stack_whose_text_is_gone_is_drawn_again(tmp_path: Path) -> None:
    """As a figure alone would be; the last part's texts count as much as the first's."""
    data = Cache(tmp_path / "cache")
    store_block(data, data.make_key("one"), STACK, OBSERVED)
    stored = restore_block(data, data.make_key("one"), Stack)
    assert stored is not None
    last = list_figures(stored[0])[-1].file_svg
    assert isinstance(last, CachedText)
    (tmp_path / last.path).unlink()
    assert restore_block(data, data.make_key("one"), Stack) is None


def test_every_part_has_its_files(tmp_path: Path) -> None:
    """Figures as pictures, points and specifications, tables as CSV."""
    outputs = {"p.md": find_outputs(report().pages[0], report(), Cache(tmp_path))}
    assert [name for name, _ in list_figure_files(outputs)] == [
        "figures/p/contest-table.csv",
        "figures/p/contest.svg",
        "figures/p/contest.csv",
        "figures/p/contest.vl.json",
        "figures/p/contest-differences.svg",
        "figures/p/contest-differences.csv",
        "figures/p/contest-differences.vl.json",
    ]
    assert (list_figures(STACK), list_tables(STACK)) == ((DOTS, SECOND), (ROWS,))
    assert (list_tables(ROWS), list_tables(DOTS)) == ((ROWS,), ())


def told(folder: Path) -> dict[str, Any]:
    """What report.json says of the page."""
    outputs = {"p.md": find_outputs(report().pages[0], report(), Cache(folder))}
    (page,) = json.loads(b"".join(format_report_json(report(), outputs, Provenance("", ""))))["pages"]
    assert isinstance(page, dict)
    return page


def test_report_json_has_the_numbers_and_the_order_of_parts(tmp_path: Path) -> None:
    """Figures and tables stand where all stand; the block says what belongs together."""
    page = told(tmp_path)
    assert [one["id"] for one in page["figures"]] == ["contest", "contest-differences"]
    assert [one["id"] for one in page["tables"]] == ["contest-table"]
    (stack,) = page["stacks"]
    assert stack == {
        "id": "contest",
        "kind": "scores",
        "line": 5,
        "title": "Contest",
        "subtitle": "30 problems × 16 samples",
        "caption": "One sentence.",
        "parts": [
            {"id": "contest"},
            "A true difference of 6.1 points is found.",
            {"id": "contest-table"},
            {"id": "contest-differences"},
        ],
        "numbers": STACK.numbers,
    }


def test_the_search_finds_every_part() -> None:
    """Title, how, sentences, names of series, and what the figures say."""
    said = collect_search_text(STACK)
    for word in ("Contest", "30 problems", "6.1 points", "MEL", "Holm", "One sentence", "Differences."):
        assert word in said
    assert isinstance(DOTS, Figure)
    assert DOTS.summary in said
