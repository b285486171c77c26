"""What both stores of MLflow share: settings that are texts, the run above a run, and what is irregular.

Source: ``mlflow/entities/lifecycle_stage.py``, ``run_status.py`` and ``utils/mlflow_tags.py`` of the
repository mlflow/mlflow.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.read.logged import Finding, UnreadableError
from reportgen.words import format_count, join_names

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.read.logged import Points, Setting

DELETED: Final = "deleted"
RUN_NAME: Final = "mlflow.runName"
PARENT: Final = "mlflow.parentRunId"
OWN_TAGS: Final = "mlflow."
"""Tags that MLflow sets itself begin so."""

_FEW: Final = 3
# A file store writes the number, a database the word.
_RUNNING: Final = ("1", "RUNNING")
_ENDED: Final = {"4": "failed", "FAILED": "failed", "5": "was killed", "KILLED": "was killed"}


def parse_setting(text: str) -> Setting:
    """A parameter, which MLflow keeps as text: the number or truth value of that text, otherwise the text."""
    if text in {"True", "False"}:
        return text == "True"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # 007 and 1.50 stay what they are; nan and inf are no settings to reckon with.
        if str(value) == text and value - value == 0:
            return value
    return text


def build_config(
    params: Mapping[str, str], tags: Mapping[str, str], runs: Mapping[str, str]
) -> dict[str, Setting]:
    """Parameters by their own names, the user's tags as ``tags.NAME``, and the run above as ``parent``.

    Args:
        params: as written.
        tags: as written, with those of MLflow's own.
        runs: the name of each run of the store by its id.
    """
    config = {name: parse_setting(text) for name, text in params.items()}
    own = {
        f"tags.{name}": parse_setting(text) for name, text in tags.items() if not name.startswith(OWN_TAGS)
    }
    parent = tags.get(PARENT, "")
    above: dict[str, Setting] = {"parent": runs.get(parent) or parent} if parent else {}
    return above | own | config


def warn_without_steps(path: Path, metrics: Mapping[str, Points]) -> tuple[Finding, ...]:
    """At most one: metrics whose values all stand at the step that MLflow takes where it is given none."""
    names = [
        f'"{name}"'
        for name, points in metrics.items()
        if len(points.steps) > 1 and not points.steps.any() and points.times is not None
    ]
    if not names:
        return ()
    message = (
        f"all values of {join_names(names, most=_FEW)} stand at step 0, as where log_metric is given no step"
    )
    return (Finding(path, f'{message}: "x: time" in a block draws them one after the other'),)


def warn_unfinished(path: Path, status: str) -> tuple[Finding, ...]:
    """At most one: that the run did not come to its end, or not yet."""
    if status in _RUNNING:
        message = (
            "MLflow says that the run is still running, as also where it was killed: values may be missing"
        )
        return (Finding(path, message),)
    how = _ENDED.get(status)
    return (Finding(path, f"MLflow says that the run {how}: its values end there"),) if how else ()


def report_deleted(path: Path, deleted: int, total: int) -> tuple[Finding, ...]:
    """At most one: runs that were deleted in MLflow, which keeps their data.

    Raises:
        UnreadableError: there is no other run.
    """
    if deleted == total:
        message = (
            f"all {format_count(total, 'run')} of this store are deleted" if total else "the store has no run"
        )
        raise UnreadableError(path, message, "Restore them with mlflow runs restore" if total else "")
    if not deleted:
        return ()
    were = "is" if deleted == 1 else "are"
    return (Finding(path, f"{format_count(deleted, 'run')} of {total:,} {were} deleted in MLflow: left out"),)
