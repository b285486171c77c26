"""Logs of automated searches: ``results.tsv`` with an attempt a row, as agents keep one.

SCHEMA: karpathy/autoresearch, program.md: ``commit``, one or more columns of numbers such as ``val_bpb`` and
``memory_gb``, ``status`` (``keep``, ``discard`` or ``crash``) and ``description``. A crash has 0 for a value
that it does not have. Others write ``kept`` and ``discarded``. Each attempt is a run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.formats.decode import Count, Decoder
from reportgen.formats.run_data import MetricsBuilder
from reportgen.formats.runs import LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import Unit


_WORDS: Final = ("commit", "status", "description")
_STATUSES: Final = {
    "keep": "kept",
    "kept": "kept",
    "discard": "discarded",
    "discarded": "discarded",
    "crash": "crashed",
    "crashed": "crashed",
}


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield a run for each attempt, whose step is its number; the value of a crash is NaN."""
    (path,) = unit.files
    text, strange, runs = Decoder(path), Count(), list[LoggedRun]()
    lines = text.read_lines()
    columns = next(lines, (1, ""))[1].split("\t")
    for attempt, (number, line) in enumerate(((number, line) for number, line in lines if line.strip()), 1):
        cells = dict(zip(columns, (cell.strip() for cell in line.split("\t")), strict=False))
        status = _STATUSES.get(cells.get("status", "").lower())
        if status is None:
            strange.add(number)
            continue
        builder, crashed = MetricsBuilder(path, unit.selected), status == "crashed"
        for name in columns:
            if name not in _WORDS:
                builder.add_cell(name, attempt, math.nan if crashed else cells.get(name))
        config = {name: cells.get(name, "") for name in _WORDS} | {"status": status}
        runs.append(
            LoggedRun(
                path,
                path.name.partition(".")[0],
                str(attempt),
                config=config,
                metrics=builder.build(),
                step_name="attempt",
                findings=tuple(builder.list_findings()),
            )
        )
    if not any(run.config["status"] != "crashed" and run.metrics for run in runs):
        raise UnreadableError(path, "no attempt in it has ended with a value")
    one, many = "attempt whose status is", "attempts whose status is"
    findings = (
        *text.list_findings(),
        *strange.describe(path, one, many, " neither keep, discard nor crash: left out"),
    )
    for run in runs:
        yield replace(run, findings=(*findings, *run.findings))
        findings = ()
