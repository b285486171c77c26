"""Facts about the runs of a curve: means over their readings, checkpoints that another metric picks, spread.

They are computed from one number of each run, with Student's t interval across runs. Facts about the answers
behind a score are counted from their statuses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from reportgen.claims.fact_words import describe_position, format_quantity
from reportgen.claims.vocabulary import FactError
from reportgen.core.digits import choose_decimals
from reportgen.core.directions import find_direction
from reportgen.core.statements import Quantity
from reportgen.core.words import format_count
from reportgen.settings.score_blocks import split_metric
from reportgen.statistics.curves.bands import average_runs, measure_runs
from reportgen.statistics.curves.readings import (
    get_points,
    measure_last,
    measure_spread,
    pick_checkpoints,
)
from reportgen.statistics.scores import bound_scores

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.comparisons import ProblemScores, Search
    from reportgen.core.model import Curve, CurveSet
    from reportgen.core.statements import Fact, Scale
    from reportgen.statistics.curves.readings import Checkpoint


RUN_FACTS = frozenset({"last", "sd", "n"})
"""Facts answered by ``read_runs``, which also answers ``mean`` without steps."""

STATUS_FACTS = frozenset({"missing", "infrastructure", "lower_bound", "upper_bound"})
"""Facts answered by ``read_statuses``."""


def read_statuses(question: Fact, scores: ProblemScores | None, metric: str) -> Fact:
    """Answer what became of the answers of a series; raise ``FactError`` where no status is known."""
    (series,) = question.series
    counts = next((one for one in scores.notes.statuses if one.series == series), None) if scores else None
    if scores is None or counts is None:
        step = "Name their column in source.yml, as in columns: {status: NAME}"
        raise FactError("The statuses of these answers are not known", step)
    if question.name == "missing":
        return replace(question, value=float(sum(counts.left_out.values())), n=counts.problems)
    if question.name == "infrastructure":
        return replace(question, value=float(counts.left_out.get(question.name, 0)), n=counts.problems)
    ends = bound_scores(scores, *split_metric(metric)).get(series)
    if ends is None:
        return replace(question, reason=f"{metric} has no bounds, since a right answer may lower it")
    return replace(question, value=ends[question.name == "upper_bound"], n=counts.problems)


def read_runs(question: Fact, curve: Curve, numbers: tuple[float, ...], scale: Scale, level: float) -> Fact:
    """Answer ``mean``, ``last``, ``sd`` or ``n`` of a curve.

    Raises ``FactError`` if ``last`` is given something else than a number of readings.
    """
    if question.name in {"sd", "n"}:
        spread, n = measure_spread(curve)
        last = float(get_points(curve).steps[-1])
        question = replace(question, step=last, n=n)
        if question.name == "n":
            return replace(question, value=float(n))
        few = f"{format_count(n, 'run')} of {curve.series} {describe_position(last, scale)}"
        return replace(question, value=spread, reason="" if spread is not None else few)
    values, note = measure_runs(curve, "mean"), ""
    if numbers:
        count = numbers[0]
        if count < 1 or count != round(count):
            raise FactError(f"last takes a number of readings, and {count:g} is none", "Write 5, for example")
        values = measure_last(curve, int(count))
        sizes = sorted(run.values.size for run in curve.runs)
        if sizes[0] < count:
            least = f"{sizes[0]:,} to " if sizes[0] < sizes[-1] else ""
            note = f"each run has {least}{format_count(sizes[-1], 'reading')}"
    found = average_runs(values, level, curve.ends)
    return replace(question, value=found.value, low=found.low, high=found.high, n=found.n, note=note)


SEARCH_FACTS = frozenset({"attempts", "best_of", "noise", "gain", "beyond_luck"})
"""Facts answered by ``read_search``."""


def read_search(question: Fact, search: Search) -> Fact:
    """Answer a fact about a search."""
    again, name = search.repeated, question.name
    question = replace(
        question, n=search.attempts, note=f"best of {format_count(search.attempts, 'attempt')}"
    )
    if name == "gain" and again is not None:
        note = f"{question.note}, {format_count(again.n, 'repetition')}"
        return replace(question, value=again.value, low=again.low, high=again.high, n=again.n, note=note)
    value = {"attempts": float(search.attempts), "best_of": search.best}.get(name)
    value = getattr(search, name) if value is None else value
    if value is None:
        return replace(question, note="", reason="the noise is not known, since no attempt was repeated")
    return replace(question, value=value, note="" if name in {"attempts", "noise"} else question.note)


def hide_interval(fact: Fact, of_tests: frozenset[str]) -> Fact:
    """Return a fact of illustrative runs without its interval; one about intervals or tests has no value."""
    fact = replace(fact, low=None, high=None)
    if fact.name not in {"band_width", "sd", *of_tests}:
        return fact
    reason = "the runs are illustrative, that is invented, so nothing can be tested or said of their spread"
    return replace(fact, value=None, note="", reason=reason)


def read_at_best(
    question: Fact,
    curve: Curve,
    picking: str,
    curve_set: CurveSet,
    scale: Scale,
    *,
    get_metric: Callable[[str], CurveSet],
) -> Fact:
    """Answer ``best_by``: the mean of the runs' values where another metric is best, and what that costs.

    ``picking`` names that metric, if need be behind ``lowest`` or ``highest``. The cost is how far each run
    stays behind the best value among the same checkpoints, on average. Raises ``FactError`` if there is no
    such metric or its direction is not known.
    """
    way, _, name = picking.partition(" ")
    stated: bool | None = way == "highest"
    if way not in {"lowest", "highest"} or not name:
        stated, name = scale.higher_is_better if picking == curve_set.metric else None, picking
    other = next((one for one in get_metric(name).curves if one.series == curve.series), None)
    higher = find_direction(name, stated)
    if higher is None:
        step = f"Write 'lowest {name}' or 'highest {name}'"
        raise FactError(f'It is not known whether a higher or a lower "{name}" is better', step)
    ways = {"lowest": not higher, "higher_is_better": scale.higher_is_better is not False}
    found = pick_checkpoints(curve, other, **ways) if other else None
    if not found:
        reason = f'a run of {curve.series} has no step with both "{curve_set.metric}" and "{name}"'
        return replace(question, reason=reason)
    average = average_runs([one.value for one in found], curve_set.level, curve.ends)
    steps = [one.step for one in found]
    first, last = min(steps), max(steps)
    return replace(
        question,
        value=average.value,
        low=average.low,
        high=average.high,
        n=average.n,
        step=first if first == last else None,
        from_step=None if first == last else first,
        to_step=None if first == last else last,
        note=f"{'highest' if higher else 'lowest'} {name} of {_describe_choice(found, scale)}",
    )


def _describe_choice(found: Sequence[Checkpoint], scale: Scale) -> str:
    """Describe how many checkpoints there were to pick from, and what the choice costs."""
    counts = sorted(one.steps for one in found)
    of = " to ".join(dict.fromkeys(f"{end:,}" for end in (counts[0], counts[-1])))
    cost = sum(one.regret for one in found) / len(found)
    digits = choose_decimals(cost)
    behind = format_quantity(cost, Quantity.DIFFERENCE, scale, decimals=digits, signed=False)
    whose = "them" if len(found) == 1 else "each run"
    return f"{of} checkpoint{'s' if counts[-1] > 1 else ''}, {behind} behind the best of {whose}"
