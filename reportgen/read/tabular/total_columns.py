"""The columns of totals: tables with a row for each score of a whole benchmark, as papers give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.read.columns import get_mapped_columns, match_columns
from reportgen.read.layout import TotalRoles
from reportgen.read.wording import list_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.read.cells import Kind
    from reportgen.read.layout import Roles
    from reportgen.settings.source import SourceSettings

# Names by which a part is recognised, the best first; capital letters make no difference.
_TOTAL_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "score": ("score", "value", "accuracy", "acc"),
    "stderr": ("stderr", "se", "standard_error"),
    "n": ("n", "problems", "num_problems"),
    "benchmark": ("benchmark", "task", "dataset"),
    "metric": ("metric",),
}


def detect_totals(
    kinds: Mapping[str, Kind], roles: Roles, settings: SourceSettings, place: SourceLocation
) -> TotalRoles | None:
    """The column for each part of totals; None unless ``source.yml`` says ``form: totals``.

    Args:
        kinds: what every column holds, in order.
        roles: the columns that play a part in measurements; of these the names of series, run and seed count.
        settings: what ``source.yml`` says.
        place: where problems are told.

    Raises:
        ReportError: no column can be the score.
    """
    if settings.form != "totals":
        return None
    taken = (roles.series, roles.run, roles.seed)
    found = match_columns(_TOTAL_NAMES, kinds, get_mapped_columns(settings), taken=taken)
    if "score" not in found:
        message = f'totals need a column "score"; there are {list_names(kinds)}'
        advice = "Name it in source.yml, as in columns: {score: NAME}"
        raise ReportError(Problem(place, message, advice, Stage.DATA))
    return TotalRoles(**found)
