"""The tables of a description: runs, metrics, evaluations and totals, cut where they are long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.site.describing.description_words import (
    NOTHING,
    logged_words,
    number_words,
    odd_answers,
    odd_words,
    range_words,
)
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reportgen.description import (
        DescribedEvaluation,
        DescribedMetric,
        DescribedRun,
        DescribedTotal,
        Description,
    )

_MOST_ROWS: Final = 20


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a description.

    Attributes:
        title: its heading.
        note: what is said beside the heading.
        header: the titles of columns; empty without a table.
        rows: as many texts each.
        more: what was cut, as a sentence; empty where nothing was.
    """

    title: str
    note: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: str = ""


def sections(told: Description) -> tuple[Section, ...]:
    """The tables of a description; none of what there is nothing of."""
    counts = told.counts
    found = []
    if counts.runs:
        found.append(_runs(told, counts.runs))
        settings = _settings(told, counts.runs)
        found += [settings] if settings else []
    if counts.metrics and counts.runs:
        found.append(_metrics(told, counts.metrics))
    if counts.evaluations:
        found.append(_evaluations(told, counts.evaluations))
    if counts.totals:
        found.append(_totals(told, counts.totals))
    return tuple(found)


def _runs(told: Description, runs: Sequence[DescribedRun]) -> Section:
    named = any(one.run not in {one.series, one.seed, ""} for one in runs)
    seeded = any(one.seed is not None for one in runs)
    placed = len({one.path for one in runs}) > 1
    dated = any(one.begins is not None for one in runs)
    header = ("series", "run", "seed", "metrics", "values", _steps_title(told), "logged (UTC)", "where")
    kept = (True, named, seeded, True, True, True, dated, placed)
    rows = (
        (
            one.series,
            one.run or NOTHING,
            NOTHING if one.seed is None else one.seed,
            f"{one.metrics:,}",
            f"{one.values:,}",
            range_words(one.first, one.last, told),
            logged_words(one.begins, one.ends),
            _below(one.path, told.path),
        )
        for one in runs
    )
    more = _more(len(runs), "run", "runs")
    return _section("Runs", _found_by(told), (header, kept), list(rows), more)


def _settings(told: Description, runs: Sequence[DescribedRun]) -> Section | None:
    """What was set differently in several runs, which may name series; of runs without values, everything."""
    runs = [one for one in runs if one.values or not told.kind]
    keys = dict.fromkeys(key for one in runs for key in one.config)
    values = {key: [one.config.get(key) for one in runs] for key in keys}
    if told.kind:
        texts = {key: [str(one) for one in found] for key, found in values.items()}
        seeds = [str(one.seed) for one in runs]
        values = {key: values[key] for key, found in texts.items() if len(set(found)) > 1 and found != seeds}
    if not values:
        return None
    rows = [(key, _values(found)) for key, found in values.items()]
    note = "that differ between the runs; series_from: takes any of them" if told.kind else "of the runs"
    more = _more(len(rows), "setting", "settings")
    return _section("Settings", note, (("setting", "values"), (True, True)), rows, more)


def _values(found: Iterable[object]) -> str:
    texts = [NOTHING if one is None else str(one) for one in found]
    return listing(list(dict.fromkeys(texts)), most=4)


def _metrics(told: Description, metrics: Sequence[DescribedMetric]) -> Section:
    several = len(told.counts.runs) > 1
    irregular = [odd_words(one) for one in metrics]
    header = ("metric", "runs", "values", _steps_title(told), "lowest", "highest", "irregular")
    kept = (True, several, True, True, True, True, any(irregular))
    rows = [
        (
            one.name,
            f"{one.runs:,}",
            f"{one.values:,}",
            range_words(one.first, one.last, told, one.every),
            number_words(one.low),
            number_words(one.high),
            odd,
        )
        for one, odd in zip(metrics, irregular, strict=True)
    ]
    more = _more(len(metrics), "metric", "metrics")
    hidden = sum(1 for odd in irregular[_MOST_ROWS:] if odd)
    if more and hidden:
        more += f" {counted(hidden, 'of these is', 'of these are')} irregular."
    return _section("Metrics", "", (header, kept), rows, more)


def _evaluations(told: Description, evaluations: Sequence[DescribedEvaluation]) -> Section:
    runs = {(one.series, one.benchmark, one.run) for one in evaluations}
    several = len(runs) > len({run[:2] for run in runs})
    seeded = any(one.seed is not None for one in evaluations) and several
    header = ("series", "run", "seed", "benchmark", "problems", "answers to each", "mean score", "irregular")
    irregular = [odd_answers(one) for one in evaluations]
    kept = (
        True,
        several,
        seeded,
        any(one.benchmark for one in evaluations),
        True,
        True,
        True,
        any(irregular),
    )
    rows = [
        (
            one.series,
            one.run or NOTHING,
            NOTHING if one.seed is None else one.seed,
            one.benchmark or NOTHING,
            f"{one.problems:,}",
            f"{one.fewest:,}" if one.fewest == one.most else f"{one.fewest:,} to {one.most:,}",
            number_words(one.mean),
            odd,
        )
        for one, odd in zip(evaluations, irregular, strict=True)
    ]
    more = _more(len(evaluations), "evaluation", "evaluations")
    return _section("Evaluations", _found_by(told), (header, kept), rows, more)


def _totals(told: Description, totals: Sequence[DescribedTotal]) -> Section:
    header = ("series", "run", "seed", "benchmark", "metric", "score", "standard error", "problems")
    shown = {(one.series, one.benchmark, one.metric) for one in totals}
    kept = (
        True,
        len(shown) < len(totals),
        any(one.seed is not None for one in totals) and len(shown) < len(totals),
        any(one.benchmark for one in totals),
        True,
        True,
        any(one.stderr is not None for one in totals),
        any(one.n is not None for one in totals),
    )
    rows = [
        (
            one.series,
            one.run or NOTHING,
            one.seed or NOTHING,
            one.benchmark or NOTHING,
            one.metric,
            number_words(one.value),
            number_words(one.stderr),
            NOTHING if one.n is None else f"{one.n:,}",
        )
        for one in totals
    ]
    note = "as the harness reports them"
    if told.kind == "totals":
        note = f"as they are reported, {_found_by(told)}"
    return _section("Totals", note, (header, kept), rows, _more(len(totals), "total", "totals"))


def _below(path: str, folder: str) -> str:
    """A path below what is described."""
    return path.removeprefix(f"{folder}/") if path != folder else "."


def _found_by(told: Description) -> str:
    series = f"series by {told.series_by}" if told.series_by else ""
    seeds = f"seeds by {told.seed_by}" if told.seed_by else "seeds not known"
    return f"{series}, {seeds}" if series else seeds


def _section(
    title: str,
    note: str,
    head: tuple[tuple[str, ...], tuple[bool, ...]],
    rows: Sequence[tuple[str, ...]],
    more: str,
) -> Section:
    header, kept = head
    cut = [_picked(row, kept) for row in rows[:_MOST_ROWS]]
    return Section(title, note, _picked(header, kept), tuple(cut), more)


def _picked(row: Iterable[str], kept: Iterable[bool]) -> tuple[str, ...]:
    return tuple(text for text, keep in zip(row, kept, strict=True) if keep)


def _more(count: int, one: str, many: str) -> str:
    left = count - _MOST_ROWS
    return f"{counted(left, f'more {one}', f'more {many}')}; --format json lists all." if left > 0 else ""


def _steps_title(told: Description) -> str:
    return told.step_name or "step"
