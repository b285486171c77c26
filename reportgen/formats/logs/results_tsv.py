"""Logs of automated searches: ``results.tsv`` with an attempt a row, as agents keep one.

SCHEMA: karpathy/autoresearch, program.md: ``commit``, one or more columns of numbers such as ``val_bpb`` and
``memory_gb``, ``status`` (``keep``, ``discard`` or ``crash``) and ``description``. A crash has 0 for a value
that it does not have. Others write ``kept`` and ``discarded``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.formats.decode import Count, Decoder
from reportgen.formats.run_data import MetricsBuilder
from reportgen.formats.runs import LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.formats.runs import Unit


_WORDS: Final = ("commit", "status", "description")
_KEPT: Final = frozenset(("keep", "kept"))
_ENDED: Final = _KEPT | {"discard", "discarded"}
_FAILED: Final = frozenset(("crash", "crashed"))


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the search as a run whose steps are attempts; a crash has no value, ``kept/NAME`` those kept."""
    (path,) = unit.files
    text, builder, strange = Decoder(path), MetricsBuilder(path, unit.selected), Count()
    lines = text.read_lines()
    columns = next(lines, (1, ""))[1].split("\t")
    for attempt, (number, line) in enumerate(((number, line) for number, line in lines if line.strip()), 1):
        cells = dict(zip(columns, line.split("\t"), strict=False))
        status = cells.get("status", "").strip().lower()
        if status not in _ENDED | _FAILED:
            strange.add(number)
        for name in columns if status in _ENDED else ():
            if name not in _WORDS:
                builder.add_cell(name, attempt, cells.get(name))
                if status in _KEPT:
                    builder.add_cell(f"kept/{name}", attempt, cells.get(name))
    if not len(builder):
        raise UnreadableError(path, "no attempt in it has ended with a value")
    findings = [*builder.list_findings(), *text.list_findings()]
    one, many = "attempt whose status is", "attempts whose status is"
    findings += strange.describe(path, one, many, " neither keep, discard nor crash: left out")
    yield LoggedRun(path, metrics=builder.build(), step_name="attempt", findings=tuple(findings))
