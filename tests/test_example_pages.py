"""What pages of the example site hold before any script runs: cards, and numbers in data tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from html_tree import classed, read_html, table_rows, words

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

BENCHMARKS = ("math500", "aime", "model-comparison", "training-accuracy", "training-diagnostics")


def read_page(site: Path, name: str) -> ET.Element:
    """A page by its folder; the front page has none."""
    return read_html((site / name / "index.html").read_text("utf-8"))


def list_words(element: ET.Element, name: str) -> list[str]:
    """The words of each element inside that carries a class."""
    return [words(found) for found in classed(element, name)]


def test_a_card_says_what_its_page_says(example_site: Path) -> None:
    """The page's name, its verdict in words, the same values, and the date."""
    cards = classed(read_page(example_site, ""), "rg-card")
    compared = cards[2]
    assert "two benchmarks" in words(compared)
    assert [words(one) for one in compared.iter() if one.tag in {"dt", "dd"}][:2] == ["Benchmark", "Contest"]
    assert list_words(compared, "rg-card-verdict") == [
        "Contest: Aspen is better than all others",
        "Textbook: Aspen is better than all others",
    ]
    for name, card in zip(BENCHMARKS, cards, strict=True):
        page, (link,) = read_page(example_site, name), classed(card, "rg-card-name")
        assert link.get("href") == f"{name}/"
        (heading,) = page.iter("h1")
        assert words(heading).rstrip("¶") == words(link)
        (results,) = classed(page, "rg-key-results")
        verdict = list_words(card, "rg-card-verdict")[0]
        assert words(next(results.iter("strong"))) == verdict.removeprefix("Contest: ")
        assert list_words(next(results.iter("div")), "rg-quantity") == list_words(card, "rg-card-score")
        (evidence,) = classed(page, "rg-evidence")
        assert words(next(evidence.iter("time"))) in words(card)


@pytest.mark.parametrize(
    ("page", "figure", "step", "cells"),
    [
        ("math500", "scores", "120", {"MEL": "0.840", "GRPO": "0.820"}),
        ("math500", "scores", "140", {"GRPO": "0.820"}),
        ("aime", "pass-at-1", "900", {"v10": "32.1%", "v1": "28.0%"}),
    ],
)
def test_facts_can_be_read_from_the_data_table(
    example_site: Path, page: str, figure: str, step: str, cells: dict[str, str]
) -> None:
    """A reader without scripts opens the table under the figure and reads the number."""
    (drawn,) = [one for one in read_page(example_site, page).iter("figure") if one.get("id") == figure]
    (data,) = classed(drawn, "rg-data")
    assert data.tag == "details"
    head, *rows = table_rows(next(data.iter("table")))
    (row,) = [row for row in rows if row[0] == step]
    shown = dict(zip(head, row, strict=True))
    for series, value in cells.items():
        assert shown[series].startswith(value), shown
