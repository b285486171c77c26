"""Payload, CSV file, specification, data table, words and notebook give the same numbers of the same thing.

What a tooltip says of a payload is compared with the data table in ``browser/test_live.py``.
"""

from __future__ import annotations

import csv
import html
import json
import math
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from drafted_blocks import draft_blocks, write_block, write_table
from vega import unpack_payload

import reportgen as rg
from reportgen.core.model import Figure

if TYPE_CHECKING:
    from pathlib import Path

SIZES = (1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9)
AXES: dict[str, dict[str, Any]] = {
    "linear": {},
    "log": {"y_scale": "log", "x_scale": "log"},
    "percent": {"format": "percent"},
}
STEPS = (1, 2, 3, 5, 8, 100, 1000)


def make_rows(size: float) -> list[tuple[str, int, int, float]]:
    """Runs that fall by four powers of ten from ``size``, with noise that differs between seeds."""
    return [
        (series, seed, step, top * 10 ** (-4 * place / len(STEPS)) * (1 + math.sin(7 * seed + place) / 50))
        for series, top in (("a", size), ("b", size / 2))
        for seed in (1, 2, 3)
        for place, step in enumerate(STEPS)
    ]


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[float, str], tuple[Figure, Path]]:
    """A figure of each size on each axis, of one page, and its data."""
    root = tmp_path_factory.mktemp("sizes")
    names = {
        (size, axis): f"{axis}{place}"
        for axis in AXES
        for place, size in enumerate(SIZES)
        if axis != "percent" or size <= 1
    }
    blocks = [
        write_block("curve", id=f"{name}-figure", source=name, **AXES[axis])
        for (_, axis), name in names.items()
    ]
    header = ("series", "seed", "step", "value")
    data = {f"{name}.csv": write_table(header, make_rows(size)) for (size, _), name in names.items()}
    shown = draft_blocks(root, "\n".join(["# Sizes\n", *blocks]), data)
    found = {}
    for key, name in names.items():
        made = shown[f"{name}-figure"]
        assert isinstance(made, Figure)
        found[key] = made, root / f"data/{name}.csv"
    return found


def read_numbers(cell: str) -> list[tuple[float, float]]:
    """The numbers of a cell, each with half a unit of its last digit."""
    found = []
    share = 100 if "%" in cell else 1
    for written in re.sub(r"[\[\]%]|,(?= )", "", cell).split():
        number = Decimal(written.replace(",", "").replace("\u2212", "-"))
        exponent = number.as_tuple().exponent
        assert isinstance(exponent, int)
        found.append((float(number) / share, 0.5 * 10.0**exponent / share))
    return found


CHOSEN = [(size, axis) for axis in AXES for size in SIZES if axis != "percent" or size <= 1]


@pytest.mark.parametrize(("size", "axis"), CHOSEN)
def test_all_forms_of_a_figure_have_the_same_numbers(
    figures: dict[tuple[float, str], tuple[Figure, Path]], size: float, axis: str
) -> None:
    """From a billionth to a billion: no form rounds to what another one shows."""
    made, path = figures[size, axis]
    rows = list(csv.DictReader(str(made.csv).splitlines()))
    payload = unpack_payload(str(made.payload))
    frame = rg.curves(pd.read_csv(path))
    means: dict[tuple[str, int], list[float]] = {}
    for series, _, step, value in make_rows(size):
        means.setdefault((series, step), []).append(value)
    table = {row[0].replace(",", ""): row[1:] for row in made.table.rows}
    for place, (row, (key, values)) in enumerate(zip(rows, means.items(), strict=True)):
        line = payload["series"][place // len(STEPS)]
        known = [line[name][place % len(STEPS)] for name in ("y", "low", "high")]
        mean = sum(values) / len(values)
        assert known[0] == pytest.approx(mean, rel=1e-12)
        assert [float(row[name]) for name in ("value", "low", "high")] == pytest.approx(known, rel=1e-9)
        assert frame.iloc[place][["value", "low", "high"]].tolist() == pytest.approx(known, rel=1e-12)
        cell = read_numbers(table[str(key[1])][place // len(STEPS)])
        assert len(cell) == len(known)
        for (written, half), number in zip(cell, known, strict=True):
            assert abs(written - number) <= half * (1 + 1e-9)
    for one, line in zip(made.numbers["series"], payload["series"], strict=True):
        assert one["last"]["value"] == line["y"][-1]
        assert (one["last"]["low"], one["last"]["high"]) == (line["low"][-1], line["high"][-1])
    specified = [row for row in json.loads(str(made.spec))["data"]["values"] if "run" not in row]
    names = ("step", "value", "low", "high")
    assert [[row[name] for name in names] for row in specified] == [
        [float(row[name]) for name in names] for row in rows
    ]
    # The words have the last value and its interval as the table's last row has them.
    said = table[str(STEPS[-1])]
    assert all(cell in re.sub("[\u2066-\u2069]", "", made.summary) for cell in said)


PAYLOAD = re.compile(
    r'<figure[^>]*\bid="([^"]+)"(?:(?!<figure).)*?class="rg-payload"[^>]*>(.*?)</script>', re.DOTALL
)


def test_live_figures_of_the_example_have_the_numbers_of_their_files(example_site: Path) -> None:
    """Each line of each payload is the one in the CSV file, to 1e-6 where there are many values."""
    count = 0
    for page in sorted(example_site.rglob("index.html")):
        folder = example_site / "figures" / (page.parent.relative_to(example_site).as_posix() or "index")
        for name, text in PAYLOAD.findall(page.read_text("utf-8")):
            path = folder / f"{name}.csv"
            columns = path.read_text("utf-8").split("\n")[0].split(",") if path.exists() else []
            if "series" not in json.loads(html.unescape(text)) or not {"step", "value"} <= set(columns):
                continue  # a chart of the author's, or scores
            ours = [value for line in unpack_payload(html.unescape(text))["series"] for value in line["y"]]
            rows = csv.DictReader(path.read_text("utf-8").splitlines())
            theirs = [float(row["value"]) if row["value"] else None for row in rows]
            if len(ours) != len(theirs):
                continue  # a panel's file is about its own series
            assert sorted(filter(None, ours)) == pytest.approx(sorted(filter(None, theirs)), rel=1e-6), path
            count += 1
    assert count > 20
