"""The tables of a description: runs, metrics, evaluations and totals, cut where they are long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.site.describing.description_words import (
    NOTHING,
    describe_odd_answers,
    describe_odd_metric,
    format_logged,
    format_range,
    format_value,
)
from reportgen.words import format_count, join_names

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


def make_sections(description: Description) -> tuple[Section, ...]:
    """The tables of a description; none of what there is nothing of."""
    counts = description.counts
    found = []
    if counts.runs:
        found.append(_list_runs(description, counts.runs))
        settings = _list_settings(description, counts.runs)
        found += [settings] if settings else []
    if counts.metrics and counts.runs:
        found.append(_list_metrics(description, counts.metrics))
    if counts.evaluations:
        found.append(_list_evaluations(description, counts.evaluations))
    if counts.totals:
        found.append(_list_totals(description, counts.totals))
    return tuple(found)


def _list_runs(description: Description, runs: Sequence[DescribedRun]) -> Section:
    named = any(one.run not in {one.series, one.seed, ""} for one in runs)
    seeded = any(one.seed is not None for one in runs)
    placed = len({one.path for one in runs}) > 1
    dated = any(one.begins is not None for one in runs)
    header = ("series", "run", "seed", "metrics", "values", _name_steps(description), "logged (UTC)", "where")
    chosen = (True, named, seeded, True, True, True, dated, placed)
    rows = (
        (
            one.series,
            one.run or NOTHING,
            NOTHING if one.seed is None else one.seed,
            f"{one.metrics:,}",
            f"{one.values:,}",
            format_range(one.first, one.last, description),
            format_logged(one.begins, one.ends),
            _strip_folder(one.path, description.path),
        )
        for one in runs
    )
    more = _describe_rest(len(runs), "run", "runs")
    return _make_section("Runs", _describe_names(description), (header, chosen), list(rows), more)


def _list_settings(description: Description, runs: Sequence[DescribedRun]) -> Section | None:
    """What was set differently in several runs, which may name series; of runs without values, everything."""
    runs = [one for one in runs if one.values or not description.kind]
    keys = dict.fromkeys(key for one in runs for key in one.config)
    values = {key: [one.config.get(key) for one in runs] for key in keys}
    if description.kind:
        texts = {key: [str(one) for one in found] for key, found in values.items()}
        seeds = [str(one.seed) for one in runs]
        values = {key: values[key] for key, found in texts.items() if len(set(found)) > 1 and found != seeds}
    if not values:
        return None
    rows = [(key, _format_values(found)) for key, found in values.items()]
    note = (
        "that differ between the runs; series_from: takes any of them" if description.kind else "of the runs"
    )
    more = _describe_rest(len(rows), "setting", "settings")
    return _make_section("Settings", note, (("setting", "values"), (True, True)), rows, more)


def _format_values(found: Iterable[object]) -> str:
    texts = [NOTHING if one is None else str(one) for one in found]
    return join_names(list(dict.fromkeys(texts)), most=4)


def _list_metrics(description: Description, metrics: Sequence[DescribedMetric]) -> Section:
    several = len(description.counts.runs) > 1
    irregular = [describe_odd_metric(one) for one in metrics]
    header = ("metric", "runs", "values", _name_steps(description), "lowest", "highest", "irregular")
    chosen = (True, several, True, True, True, True, any(irregular))
    rows = [
        (
            one.name,
            f"{one.runs:,}",
            f"{one.values:,}",
            format_range(one.first, one.last, description, one.every),
            format_value(one.low),
            format_value(one.high),
            odd,
        )
        for one, odd in zip(metrics, irregular, strict=True)
    ]
    more = _describe_rest(len(metrics), "metric", "metrics")
    hidden = sum(1 for odd in irregular[_MOST_ROWS:] if odd)
    if more and hidden:
        more += f" {format_count(hidden, 'of these is', 'of these are')} irregular."
    return _make_section("Metrics", "", (header, chosen), rows, more)


def _list_evaluations(description: Description, evaluations: Sequence[DescribedEvaluation]) -> Section:
    runs = {(one.series, one.benchmark, one.run) for one in evaluations}
    several = len(runs) > len({run[:2] for run in runs})
    seeded = any(one.seed is not None for one in evaluations) and several
    header = ("series", "run", "seed", "benchmark", "problems", "answers to each", "mean score", "irregular")
    irregular = [describe_odd_answers(one) for one in evaluations]
    chosen = (
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
            format_value(one.mean),
            odd,
        )
        for one, odd in zip(evaluations, irregular, strict=True)
    ]
    more = _describe_rest(len(evaluations), "evaluation", "evaluations")
    return _make_section("Evaluations", _describe_names(description), (header, chosen), rows, more)


def _list_totals(description: Description, totals: Sequence[DescribedTotal]) -> Section:
    header = ("series", "run", "seed", "benchmark", "metric", "score", "standard error", "problems")
    shown = {(one.series, one.benchmark, one.metric) for one in totals}
    chosen = (
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
            format_value(one.value),
            format_value(one.stderr),
            NOTHING if one.n is None else f"{one.n:,}",
        )
        for one in totals
    ]
    note = "as the harness reports them"
    if description.kind == "totals":
        note = f"as they are reported, {_describe_names(description)}"
    return _make_section(
        "Totals", note, (header, chosen), rows, _describe_rest(len(totals), "total", "totals")
    )


def _strip_folder(path: str, folder: str) -> str:
    """A path below what is described."""
    return path.removeprefix(f"{folder}/") if path != folder else "."


def _describe_names(description: Description) -> str:
    series = f"series by {description.series_by}" if description.series_by else ""
    seeds = f"seeds by {description.seed_by}" if description.seed_by else "seeds not known"
    return f"{series}, {seeds}" if series else seeds


def _make_section(
    title: str,
    note: str,
    head: tuple[tuple[str, ...], tuple[bool, ...]],
    rows: Sequence[tuple[str, ...]],
    more: str,
) -> Section:
    header, chosen = head
    cut = [_pick_columns(row, chosen) for row in rows[:_MOST_ROWS]]
    return Section(title, note, _pick_columns(header, chosen), tuple(cut), more)


def _pick_columns(row: Iterable[str], chosen: Iterable[bool]) -> tuple[str, ...]:
    return tuple(text for text, keep in zip(row, chosen, strict=True) if keep)


def _describe_rest(count: int, one: str, many: str) -> str:
    left = count - _MOST_ROWS
    return (
        f"{format_count(left, f'more {one}', f'more {many}')}; --format json lists all." if left > 0 else ""
    )


def _name_steps(description: Description) -> str:
    return description.step_name or "step"
