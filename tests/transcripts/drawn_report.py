"""What drafted blocks draw and let readers download: words of pictures, CSV files, numbers, key results."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from reportgen.core.errors import ReportError
from reportgen.core.model import Figure, Panels, ResultTable, Stack
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reportgen.core.model import BenchmarkResult, Cell, Shown
    from reportgen.draft.report import Report

COMMANDS = ("picture", "legend", "csv", "cells", "numbers", "payload", "results")
_MOST_LINES = 16


def run_drawing_command(root: Path, name: str, words: list[str]) -> str:
    """Run one of the commands about drafted blocks, and return what it prints.

    ``picture PAGE#BLOCK`` prints the name, the words and the tooltips of its pictures; ``legend PAGE#BLOCK``
    the colours of their series, and those that are drawn; ``csv PAGE#BLOCK`` its files; ``cells PAGE#BLOCK``
    its tables with their order, what sorts each cell and where it leads; ``numbers PAGE#BLOCK KEY.KEY …``
    parts of its numbers, where ``*`` takes all; ``payload`` the same of what the browser gets; ``results``
    the key results of each benchmark. A page without a block stands for all of its blocks.
    """
    try:
        report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)
    except ReportError as error:
        return "".join(f"error: {problem}\n" for problem in error.problems)
    return "".join(f"{line}\n" for line in _list_lines(report, name, words))


def _list_lines(report: Report, name: str, words: list[str]) -> Iterator[str]:
    if name == "results":
        for page, result in report.benchmarks.items():
            yield from _describe_result(page, result)
        return
    page, _, block = words[0].partition("#")
    for place in report.shown if not block else ():
        if place[0] == page:
            yield from _list_block(report.shown[place], name, words[1:])
    if block:
        yield from _list_block(report.shown[page, block], name, words[1:])


def _list_block(shown: Shown, name: str, keys: list[str]) -> Iterator[str]:
    if name == "numbers":
        numbers = (
            [part.numbers for part in shown.figures]
            if isinstance(shown, Panels)
            else getattr(shown, "numbers", {})
        )
        yield from (f"{key}: {json.dumps(_pick(numbers, key.split('.')))}" for key in keys)
        return
    for part in list_parts(shown):
        if name == "payload" and isinstance(part, Figure):
            sent = json.loads(str(part.payload))
            yield from (f"{key}: {json.dumps(_pick(sent, key.split('.')))}" for key in keys)
        if name == "picture" and isinstance(part, Figure):
            yield from describe_picture(str(part.inline_svg))
        elif name == "cells" and isinstance(part, ResultTable):
            yield f"sorted by: {' '.join(part.sorted_by).strip() or 'nothing'}"
            yield from (" | ".join(map(_write_cell, row)) for row in part.rows)
        elif name == "legend" and isinstance(part, Figure):
            slots = [(series, "grey" if slot is None else slot + 1) for series, slot in part.legend]
            marks = re.findall(r'data-rg-series="([^"]+)".*?--rg-series-(\d+)', str(part.inline_svg))
            yield ", ".join(f"{series} {slot}" for series, slot in slots or dict(marks).items())
            yield f"drawn: {', '.join(sorted(set(re.findall('--rg-series-([0-9]+)', str(part.inline_svg)))))}"
        elif name == "csv" and not isinstance(part, str):
            yield from (f"[{part.id}]", *_limit(str(part.csv).splitlines()))


def list_parts(shown: Shown) -> tuple[Any, ...]:
    """Return the parts of a block."""
    if isinstance(shown, Stack):
        return shown.parts
    return shown.figures if isinstance(shown, Panels) else (shown,)


def describe_picture(svg: str) -> Iterator[str]:
    """List the name of a picture, its words, and each of its tooltips."""
    root = ET.fromstring(svg)  # noqa: S314 - our own
    if root.get("aria-label"):
        yield f"picture: {root.get('aria-label')}"
    texts = ["".join(one.itertext()) for one in root.iter() if one.tag.rpartition("}")[2] == "text"]
    yield f"texts: {' | '.join(texts)}"
    tips = [one.get("data-rg-tip") for one in root.iter() if one.get("data-rg-tip")]
    yield from _limit([f"  {' / '.join(str(tip).splitlines())}" for tip in tips])


def _describe_result(page: str, result: BenchmarkResult) -> Iterator[str]:
    yield f"[{page}] {result.name}: {', '.join(filter(None, (result.measure, result.size, result.flag)))}"
    yield from (f"{label}: {text}" for label, text in result.facts)
    yield from (f"row: {'; '.join(filter(None, line))}" for line in result.lines)
    if result.strip:
        drawn = [" ".join(filter(None, (name, value, ends))) for name, _, value, ends in result.strip.rows]
        drawn += [result.strip.rest] if result.strip.rest else []
        yield f"strip {' to '.join(result.strip.ends)}: {', '.join(drawn)}"


def _write_cell(cell: Cell) -> str:
    sort = "" if cell.sort is None else f" = {cell.sort:.10g}"
    mark = f" ({cell.mark})" if cell.mark else ""
    link = f" -> {cell.link}" if cell.link else ""
    return f"{cell.text}{sort}{mark}{link}".replace("\n", " ")


def _pick(value: Any, keys: list[str]) -> Any:  # noqa: ANN401 - JSON
    if not keys:
        return value
    first, *rest = keys
    if first == "*":
        return [_pick(one, rest) for one in (value.values() if isinstance(value, dict) else value)]
    return _pick(value[int(first)] if isinstance(value, list | tuple) else value.get(first), rest)


def _limit(lines: list[str]) -> list[str]:
    if len(lines) <= _MOST_LINES:
        return lines
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]
    return [*lines[:_MOST_LINES], f"… {len(lines)} lines, {digest}"]
