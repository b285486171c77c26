"""The ``ladder`` block: the attempts of a search in their order, and whether the best is more than luck."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from reportgen.claims.run_facts import SEARCH_FACTS, read_search
from reportgen.claims.subjects import CurveSubject
from reportgen.claims.vocabulary import make_question
from reportgen.core.errors import Diagnostic, ReportError, Stage
from reportgen.core.words import join_names
from reportgen.figures.scatter.ladder import Attempt, Ladder
from reportgen.statistics.curves.bands import measure_search

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reportgen.claims.vocabulary import Argument
    from reportgen.core.errors import SourceLocation
    from reportgen.core.model import CurveRequest, CurveSet
    from reportgen.core.statements import Fact
    from reportgen.draft.blocks.results import ResultsStore

_MOST_ATTEMPTS: Final = 5_000
_MOST_NAMES: Final = 6
_STATES: Final = ("status", "state")
_NUMBER: Final = re.compile(r"(\d+)\D*$")
_REPEATED: Final = re.compile(r"\((\d+)\)")
_NO_COMMIT: Final = frozenset(("", "-", "n/a", "na", "none"))


class SearchSubject(CurveSubject, frozen=True, eq=False, dict=True):
    """The curves of a search, with facts about the search itself."""

    read: Callable[[], Ladder]

    def fact(self, name: str, arguments: tuple[Argument, ...]) -> Fact:
        """Return a fact of the vocabulary; see ``Subject``."""
        if name not in SEARCH_FACTS:
            return super().fact(name, arguments)
        return read_search(make_question(name, arguments, self)[0], self.read().search)


def read_ladder(
    request: CurveRequest,
    curve_set: CurveSet,
    place: SourceLocation,
    answers: ResultsStore,
    better: bool | None,  # noqa: FBT001 - as in results
) -> Ladder:
    """Return the search of a request, with its settings.

    Raises ``ReportError`` if there are several searches, or their order or direction is not known.
    """
    series = list(dict.fromkeys(curve.series for curve in curve_set.curves))
    message = step = ""
    if len(series) > 1:
        names = join_names(series, most=_MOST_NAMES)
        message, step = (
            f"a ladder is of one search, and there are {len(series)}: {names}",
            "Choose one with series:",
        )
    elif better is None:
        message = f'it is not known whether a higher or a lower "{request.metric}" is better'
        step = "Say higher_is_better: true or false"
    if message:
        raise ReportError(Diagnostic(place, message, step, Stage.FIGURE))
    known = answers.get_run_settings(request.source, request.order, "commit")
    attempts = _list_attempts(curve_set, known, request.order, place)
    return _make_ladder(attempts, curve_set.curves[0].series, request, higher_is_better=better is True)


def _list_attempts(
    curve_set: CurveSet,
    known: Mapping[tuple[str, str], Mapping[str, str | None]],
    order: str,
    place: SourceLocation,
) -> list[Attempt]:
    """List the attempts of a search by number, those without a value, too.

    Raises ``ReportError`` if their numbers in the setting ``order`` are missing or repeated.
    """
    (series,) = {curve.series for curve in curve_set.curves}
    values = {
        run.run: float(run.values[-1]) for one in curve_set.curves for run in one.runs if run.values.size
    }
    runs = [run for name, run in known if name == series]
    attempts, differing = [], _list_changes([known[series, run] for run in runs], order)
    numbered = any(known[series, run].get(order) for run in runs)
    for run in runs:
        own = known[series, run]
        # A frozen table has the runs' names, which are numbered from the second on, and no ids.
        found = _NUMBER.search(own.get(order) or "") or (None if numbered else _REPEATED.search(f"{run} (1)"))
        status = next((own[name] for name in _STATES if own.get(name)), "") or ""
        change = own.get("description") or ", ".join(f"{n}={own[n]}" for n in differing if own.get(n))
        number = int(found[1]) if found else -1
        attempts.append(
            Attempt(number, run, values.get(run), status.lower(), change, _identify(own, differing))
        )
    numbers = {one.number for one in attempts}
    if len(numbers) < len(attempts) or -1 in numbers or len(numbers) < 2 or len(numbers) > _MOST_ATTEMPTS:  # noqa: PLR2004
        message = (
            f'the order of the attempts is not known: "{order}" does not number the {len(attempts)} runs'
        )
        step = "Name a setting that counts them with order:"
        if len(numbers) == len(attempts):
            message = f"a ladder shows 2 to {_MOST_ATTEMPTS:,} attempts, and there are {len(attempts):,}"
            step = "Show another source"
        raise ReportError(Diagnostic(place, message, step, Stage.FIGURE))
    return sorted(attempts, key=lambda one: one.number)


def _list_changes(settings: Sequence[Mapping[str, str | None]], order: str) -> list[str]:
    """Return the settings that attempts choose."""
    names = dict.fromkeys(name for own in settings for name in own)
    return [name for name in names if name not in {order, "commit", "description", *_STATES}]


def _identify(own: Mapping[str, str | None], differing: Sequence[str]) -> tuple[str, ...]:
    """Return what repetitions of an attempt share: the commit, else description and settings; or nothing."""
    commit = (own.get("commit") or "").strip().lower()
    if commit not in _NO_COMMIT:
        return (commit,)
    shared = tuple(own.get(name) or "" for name in ("description", *differing))
    return shared if any(shared) else ()


def _make_ladder(
    attempts: Sequence[Attempt], series: str, request: CurveRequest, *, higher_is_better: bool
) -> Ladder:
    """Find repetitions and new bests among attempts, and measure the search.

    A repetition has the commit or the settings of an earlier attempt, or the description of the first one; it
    is no new attempt. The best one is chosen among those that were not discarded.
    """
    first = next(one for one in attempts if one.value is not None)
    sign = 1 if higher_is_better else -1
    groups: dict[tuple[str, ...], list[Attempt]] = {}
    for one in attempts:
        if one.value is not None:
            again = one.identity == first.identity or (one.change and one.change == first.change)
            key = first.identity if again else one.identity
            groups.setdefault(key or (str(one.number), ""), []).append(one)
    tried = [group[0] for group in groups.values()]
    bests = [first]
    for one in tried[1:]:
        if one.status != "discarded" and sign * _get(one) > sign * _get(bests[-1]):
            bests.append(one)
    values = [[sign * _get(one) for one in group] for group in groups.values()]
    repeated = frozenset(one.number for group in groups.values() for one in group[1:])
    search = replace(
        measure_search(values, tried.index(bests[-1]), request.level),
        attempts=len(attempts) - len(repeated),
        best=bests[-1].value,
    )
    return Ladder(
        metric=request.metric,
        series=series,
        attempts=tuple(attempts),
        bests=tuple(bests),
        repeated=repeated,
        search=search,
        base=sign * sum(values[0]) / len(values[0]),
        level=request.level,
        higher_is_better=higher_is_better,
    )


def _get(attempt: Attempt) -> float:
    return attempt.value or 0.0  # those without a value are left out before
