"""Whether a table holds outcomes, one answer to one problem a row, and which columns play their parts."""

from __future__ import annotations

from dataclasses import astuple, replace
from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.read.cells import NUMERIC, Kind
from reportgen.read.columns import find_column, get_mapped_columns, match_columns
from reportgen.read.layout import Layout, OutcomeRoles
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.read.layout import Roles
    from reportgen.settings.source import SourceSettings

# Names by which a part is recognised, the best first; capital letters make no difference. Where a model's
# answer is called prediction, a column called answer has the right one.
_OUTCOME_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "problem": ("problem", "problem_id", "question_id", "task_id", "doc_id", "idx", "id"),
    "sample": ("sample", "sample_id", "attempt", "epoch"),
    "score": ("score", "correct", "is_correct", "acc", "reward"),
    "answer": ("prediction", "extracted", "answer"),
    "gold": ("gold", "target", "reference", "answer"),
    # Only by source.yml: it changes every interval.
    "cluster": (),
    "tokens": ("tokens", "completion_tokens", "num_tokens"),
    "seconds": ("seconds", "time", "latency"),
    "cost": ("cost",),
    "benchmark": ("benchmark",),
}
# Numbers or nothing: a column called time may well hold a date.
_COUNTED: Final = frozenset(("tokens", "seconds", "cost"))
# Rows of anything may have one of these.
_SAYS_LITTLE: Final = frozenset(("idx", "id"))
# What a frame of outcomes has beside its free columns.
_RESERVED: Final = frozenset((*_OUTCOME_NAMES, "series", "run", "seed", "row")) - {"cluster"}


def detect_outcomes(
    kinds: Mapping[str, Kind], roles: Roles, settings: SourceSettings, place: SourceLocation, *, long: bool
) -> OutcomeRoles | None:
    """The column for each part of outcomes; None where the table holds measurements.

    A table holds outcomes if it has columns for problem and score and none for the step, or if
    ``source.yml`` says ``form: outcomes`` or names one of the two. ``epoch``, which is a step in
    training and a sample in evaluation, is the sample of a column that is called problem or the like.

    Args:
        kinds: what every column holds, in order.
        roles: the columns that play a part in measurements.
        settings: what ``source.yml`` says.
        place: where problems are told.
        long: whether a row is one value beside its metric.

    Raises:
        ReportError: ``source.yml`` wants outcomes, and the column of problem or score is not there.
    """
    mapped = get_mapped_columns(settings)
    requested = settings.form == "outcomes" or not {"problem", "score"}.isdisjoint(mapped)
    if settings.form in {"long", "wide", "totals"} or (long and not requested):
        return None
    found = match_columns(
        _OUTCOME_NAMES,
        kinds,
        mapped,
        taken=(roles.series, roles.run, roles.seed),
        fits=lambda part, name: part not in _COUNTED or kinds[name] in {*NUMERIC, Kind.EMPTY},
    )
    if not requested:
        if roles.step is not None and (
            roles.step != found.get("sample") or found.get("problem", "").strip().casefold() in _SAYS_LITTLE
        ):
            return None
        if not {"problem", "score"} <= found.keys():
            return None
    missing = [part for part in ("problem", "score") if part not in found]
    if missing:
        message = f'outcomes need a column "{missing[0]}"; there are {list_names(kinds)}'
        advice = f"Name it in source.yml, as in columns: {{{missing[0]}: NAME}}"
        if missing[0] == "problem":
            advice += "; if a row is the score of a whole benchmark, say form: totals there"
        raise ReportError(Problem(place, message, advice, Stage.DATA))
    return OutcomeRoles(**found)


def list_free_columns(layout: Layout) -> tuple[str, ...]:
    """The columns that outcomes can be sliced by: those that play no part, as written.

    A column of clusters is one of them. A column whose name a part of outcomes has, or another column but for
    its capitals, is left out.
    """
    if layout.outcomes is None:
        return ()
    roles, cluster = layout.roles, layout.outcomes.cluster
    taken = {*astuple(replace(layout.outcomes, cluster=None)), roles.series, roles.run, roles.seed}
    seen = {*_RESERVED, *(["cluster"] if cluster else [])}
    found = []
    for name in layout.kinds:
        if name not in taken and name.casefold() not in seen:
            seen.add(name.casefold())
            found.append(name)
    return tuple(found)


def resolve_column(name: str, layout: Layout) -> str | None:
    """The column of this name or, where none has it, the one that plays this part; None without either."""
    found = find_column(name, tuple(layout.kinds))
    if found is None and name in {*_RESERVED, "cluster"} - {"row"}:
        owner = layout.outcomes if name in _OUTCOME_NAMES else layout.roles
        found = getattr(owner, name, None)
    return found
