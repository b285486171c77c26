"""A format of a logger and one of a harness that only tests have: JSON files that say what is to be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from reportgen.formats.runs import (
    Evaluation,
    Finding,
    LoggedRun,
    Points,
    ScoredAnswer,
    Total,
    Unit,
    UnreadableError,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

NAME: Final = "made"
TITLE: Final = "Made runs"
# Every file that was read, for tests that count.
READ: list[str] = []


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each file that ends in ``.made``."""
    return tuple(Unit(NAME, file, (file,)) for file in files if file.suffix == ".made")


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[LoggedRun | Evaluation]:
    """The runs or evaluations that a file lists.

    Raises:
        UnreadableError: it says that it cannot be read, or is no JSON.
    """
    READ.append(unit.path.name)
    try:
        runs = json.loads(unit.path.read_text(encoding="utf-8"))
    except ValueError:
        raise UnreadableError(unit.path, "it is no JSON", "Write it again", 1) from None
    for run in runs if isinstance(runs, list) else [runs]:
        if "unreadable" in run:
            raise UnreadableError(unit.path, run["unreadable"], "Copy it again")
        yield _evaluated(unit, run) if "model" in run else _logged(unit, run, wanted)


def _logged(unit: Unit, run: dict[str, Any], wanted: Collection[str] | None) -> LoggedRun:
    metrics = {
        name: _points(rows)
        for name, rows in run.get("metrics", {}).items()
        if wanted is None or name in wanted
    }
    return LoggedRun(
        unit.path,
        run.get("name", ""),
        run.get("id", ""),
        run.get("group", ""),
        run.get("config", {}),
        metrics,
        run.get("step_name", "step"),
        _findings(unit, run),
    )


def _points(rows: list[list[float]]) -> Points:
    columns = np.array(rows, float).T
    return Points(columns[0], columns[1], columns[2] if len(columns) > 2 else None)


def _evaluated(unit: Unit, run: dict[str, Any]) -> Evaluation:
    return Evaluation(
        unit.path,
        run["model"],
        run.get("benchmark", "toy"),
        run.get("run", ""),
        run.get("seed"),
        run.get("protocol", {}),
        tuple(ScoredAnswer(**answer) for answer in run.get("answers", ())),
        tuple(Total(**total) for total in run.get("totals", ())),
        run.get("finished", True),
        _findings(unit, run),
    )


def _findings(unit: Unit, run: dict[str, Any]) -> tuple[Finding, ...]:
    return tuple(Finding(unit.path, message) for message in run.get("findings", ()))
