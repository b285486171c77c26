"""The ``distribution`` block: every value of a series as a dot in its row, or their histogram."""

from __future__ import annotations

import json
import math
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.digits import choose_decimals, choose_percent_decimals
from reportgen.core.errors import ReportError
from reportgen.core.model import Table
from reportgen.core.words import find_common_half, format_count, format_number, format_percent, join_names
from reportgen.figures.axis import tick_step
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.plot import FigureText, describe_source, join_caption, make_diagnostic
from reportgen.figures.scores.dot_plot import Row, RowBin, RowDot, draw_dot_plot
from reportgen.figures.style import apply_house_style, get_colour, pick_slots, resolve_specification
from reportgen.figures.text import write_table_csv
from reportgen.figures.value_axis import list_reference_layers, make_references, make_value_axis

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.core.model import Estimate, Figure
    from reportgen.figures.axis import Axis
    from reportgen.figures.plot import Mark, SourceContext
    from reportgen.settings.score_blocks import DistributionSettings


_MOST_DOTS = 20
"""Most values of a series for which dots are the default, since more cover each other."""
_BINS, _MOST_LEVELS, _ROUNDING = 10, 21, 1e-9
_QUARTILES = (25, 50, 75)
_COLUMNS = ("series", "of", "name", "value")


class Sample(Struct, frozen=True):
    """The values of a series, at least one, by the name of their run or problem, and their mean."""

    series: str
    values: tuple[tuple[str, float], ...]
    mean: Estimate
    colour: str = ""  # what gives it its colour, if not the series

    def find_quartiles(self) -> tuple[float, float, float]:
        """Return lower quartile, median and upper quartile, linearly interpolated between values."""
        first, middle, last = np.percentile([value for _, value in self.values], _QUARTILES).tolist()
        return first, middle, last


class Distribution(Struct, frozen=True):
    """Samples of one measure; ``unit`` is run or problem, ``ends`` are the range of scores."""

    title: str
    where: str  # of the title of the figure, behind the measure
    unit: str
    samples: tuple[Sample, ...]
    level: float
    method: str  # of the interval of the mean, in words
    higher_is_better: bool | None
    percent: bool
    ends: tuple[float, float] | None = None


def draw_distribution(
    block_id: str, settings: DistributionSettings, given: Distribution, context: SourceContext
) -> Figure:
    """Draw a row for each series: a dot for each value or a histogram, and the mean with its interval."""
    if not given.samples:
        raise ReportError(make_diagnostic(context, f'"{given.title}" has no value that could be drawn'))
    samples = list(given.samples)
    if settings.order == "name":
        samples.sort(key=lambda sample: sample.series.casefold())
    elif settings.order == "best":
        sign = 1 if given.higher_is_better is False else -1
        samples.sort(key=lambda sample: sign * sample.mean.value)
    given = replace(given, samples=tuple(samples))
    most = max(len(sample.values) for sample in given.samples)
    mark = settings.mark or ("strip" if most <= _MOST_DOTS else "histogram")
    bins = _list_bins(given)
    axis = _make_axis(bins, settings, given, context, mark)
    words = _DistributionWords(settings, given, context, mark)
    text = FigureText(
        id=block_id,
        kind="distribution",
        title=words.title,
        subtitle=words.write_subtitle(),
        summary=words.write_summary(),
        caption=words.write_caption(),
        source=describe_source(context),
        numbers=words.collect_numbers(),
    )
    slots = pick_slots(tuple(dict.fromkeys(one.colour or one.series for one in given.samples)), context.slots)
    rows = _make_rows(words, slots, bins)
    records = ((one.series, given.unit, *pair) for one in given.samples for pair in one.values)
    csv = write_table_csv(_COLUMNS, records)
    references, table = make_references(settings.reference), words.build_table()
    figure = draw_dot_plot(rows, axis, text, table=table, csv=csv, references=references)
    if mark == "strip":
        return figure
    return replace(figure, spec=_write_spec(rows, axis, text, references))


def _make_axis(
    bins: list[_Bin], settings: DistributionSettings, given: Distribution, context: SourceContext, mark: str
) -> Axis:
    """Make the axis of all values and means; raise a ``ReportError`` if they do not fit it."""
    ends = [end for one in given.samples for end in (one.mean.low, one.mean.high) if end is not None]
    if mark == "strip" and (settings.y_domain or settings.y_scale == "log"):
        ends += [value for one in given.samples for _, value in one.values]
    elif settings.y_scale == "log":
        message = "y_scale: log is for dots, since all bars of a histogram are equally wide"
        raise ReportError(make_diagnostic(context, message, "Write mark: strip, or leave y_scale out"))
    else:
        ends += [bins[0].start, bins[-1].end]
    title = settings.y_title or given.title
    return make_value_axis(ends, title, settings, "y", context, pad=0.02, percent=given.percent)


class _Bin(NamedTuple):
    """A bar from ``start`` to ``end``, of the values between two edges, or all at one ``level``."""

    start: float
    end: float
    edges: tuple[float, float]
    level: float | None = None


def _list_bins(given: Distribution) -> list[_Bin]:
    """Return the bins of all series: one for each level of scores of few samples, or ten of round width."""
    values = np.unique([value for sample in given.samples for _, value in sample.values])
    low, high = float(values[0]), float(values[-1])
    if given.ends and math.isfinite(sum(given.ends)):
        low, high = given.ends
        gap = float(np.diff(np.unique([*values, low, high])).min())
        steps = (values - low) / gap
        if (high - low) / gap < _MOST_LEVELS and np.allclose(steps, np.rint(steps), atol=_ROUNDING):
            half, count = min(gap, (high - low) / _BINS) * 0.4, round((high - low) / gap)
            levels = [low + number * gap for number in range(count + 1)]
            return [_Bin(one - half, one + half, (one - gap / 2, one + gap / 2), one) for one in levels]
    if high - low <= _ROUNDING * max(abs(low), abs(high)):  # equal but for rounding
        low, high = low - (abs(low) / 10 or 0.5), high + (abs(high) / 10 or 0.5)
    step = tick_step(low, high, _BINS)
    first, last = math.floor(low / step + _ROUNDING), math.ceil(high / step - _ROUNDING)
    edges = [float(f"{step * number:.12g}") for number in range(first, last + 1)]
    return [_Bin(*pair, pair) for pair in pairwise(edges)]


class _DistributionWords(Struct, frozen=True, dict=True):
    """Texts and table of a distribution."""

    settings: DistributionSettings
    given: Distribution
    context: SourceContext
    mark: str

    @property
    def title(self) -> str:
        given = self.given
        return self.settings.title or f"Distribution of {given.title} {given.where}"

    @cached_property
    def half(self) -> float | None:
        """The half-width that determines the digits of all means."""
        return find_common_half(sample.mean for sample in self.given.samples)

    def write(self, value: float, half: float | None = None) -> str:
        """Write a value; ``half`` of its interval determines the digits."""
        if self.given.percent:
            return format_percent(value, decimals=choose_percent_decimals(half))
        return format_number(value, decimals=choose_decimals(half))

    def write_mean(self, mean: Estimate, *, whole: bool = True) -> str:
        """Write a mean, with its interval if ``whole``."""
        if mean.low is None or mean.high is None:
            return self.write(mean.value)
        value, low, high = (self.write(end, self.half) for end in (mean.value, mean.low, mean.high))
        return f"{value} [{low.removesuffix('%')}, {high.removesuffix('%')}]" if whole else value

    def write_subtitle(self) -> str:
        """Say what is drawn, and of how many."""
        counts = sorted({len(sample.values) for sample in self.given.samples})
        number = format_count(counts[-1], self.given.unit)
        number = number if len(counts) == 1 else f"{counts[0]:,} to {number}"
        drawn = f"a dot per {self.given.unit}" if self.mark == "strip" else "histograms"
        lower = "lower is better" if self.given.higher_is_better is False else ""
        return ", ".join(filter(None, (f"{number} per series", drawn, lower)))

    def write_summary(self) -> str:
        """Name lowest and highest centre, and the widest spread: of few values their mean and range."""
        strip, unit = self.mark == "strip", f"{self.given.unit}s"
        rows = []
        for sample in self.given.samples:
            values, (first, median, last) = [value for _, value in sample.values], sample.find_quartiles()
            ends = (min(values), max(values)) if strip else (first, last)
            rows.append((sample.mean.value if strip else median, ends, sample.series))
        low, high = min(rows), max(rows)
        _, ends, widest = max(rows, key=lambda row: row[1][1] - row[1][0])
        centre, which = ("mean", f"all {unit}") if strip else ("median", f"the middle half of {unit}")
        spread = " to ".join(map(self.write, ends))
        if len(rows) == 1:
            return f"The {centre} of {widest} is {self.write(low[0])}, with {which} at {spread}."
        said = f"{centre.capitalize()}s range from {self.write(low[0])} ({low[2]}) to {self.write(high[0])}"
        return f"{said} ({high[2]}). {widest} has the widest spread, with {which} at {spread}."

    def write_caption(self) -> str:
        """Say what dots and bars are, and what the interval of the mean is about."""
        given, level = self.given, f"{self.given.level * 100:g}%"
        alone = [sample.series for sample in given.samples if sample.mean.low is None]
        sentences = (
            f"Small dot: a {given.unit}."
            if self.mark == "strip"
            else f"Bars: share of {given.unit}s; the tallest of all rows fills its row.",
            f"Large dot and line: mean with its {level} CI." if len(alone) < len(given.samples) else "",
            f"{join_names(alone, most=6)}: no interval." if alone else "",
        )
        how = f"Interval: {given.method}." if len(alone) < len(given.samples) else ""
        return join_caption(sentences, self.context, how=[how])

    def build_table(self) -> Table:
        """Build the data table: the mean and five numbers of each series."""
        header = ("series", f"{self.given.unit}s", "mean", "lowest", "lower quartile", "median")
        rows = []
        for sample in self.given.samples:
            values = [value for _, value in sample.values]
            five = (min(values), *sample.find_quartiles(), max(values))
            numbers = map(self.write, five)
            rows.append((sample.series, f"{len(values):,}", self.write_mean(sample.mean), *numbers))
        return Table((*header, "upper quartile", "highest"), tuple(rows))

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``."""
        series = [
            {"name": one.series, "n": len(one.values), "mean": one.mean.value}
            | {"low": one.mean.low, "high": one.mean.high, "quartiles": list(one.find_quartiles())}
            for one in self.given.samples
        ]
        return {"metric": self.given.title, "of": self.given.unit, "mark": self.mark, "series": series}


def _make_rows(words: _DistributionWords, slots: Mapping[str, int | None], bins: list[_Bin]) -> list[Row]:
    samples, unit, edges = (
        words.given.samples,
        words.given.unit,
        [*(one.edges[0] for one in bins), bins[-1].edges[1]],
    )
    shares = [np.histogram([value for _, value in one.values], edges)[0] / len(one.values) for one in samples]
    tallest = max(float(share.max()) for share in shares)
    rows = []
    for sample, share in zip(samples, shares, strict=True):
        name, size = sample.series, len(sample.values)
        whole, bars, dots = format_count(size, unit), [], []
        if words.mark == "histogram":
            for one, part in zip(bins, share.tolist(), strict=True):
                ends = (
                    " to ".join(map(words.write, one.edges)) if one.level is None else words.write(one.level)
                )
                tip = (name, f"{ends}: {round(part * size)} of {whole}")
                bars += [RowBin(one.start, one.end, part / tallest, tip)] if part else []
        elif size > 1:
            dots = [RowDot(at, (f"{name}, {unit} {one}", words.write(at))) for one, at in sample.values]
        rows.append(
            Row(
                name=name,
                slot=slots[sample.colour or name],
                text=words.write_mean(sample.mean, whole=False),
                value=sample.mean.value,
                low=sample.mean.low,
                high=sample.mean.high,
                tip=(name, f"mean {words.write_mean(sample.mean)}", whole),
                dots=tuple(dots),
                bins=tuple(bars),
            )
        )
    return rows


def _write_spec(rows: list[Row], axis: Axis, text: FigureText, references: Sequence[Mark]) -> str:
    """Write the histograms as JSON with a trailing newline: a row of bars for each series."""
    data = [
        {"series": row.name, "from": one.start, "to": one.end, "height": one.height, "text": one.tip[-1]}
        for row in rows
        for one in row.bins
    ]
    inks = {"domain": [row.name for row in rows], "range": [get_colour(row.slot) for row in rows]}
    scale = {"domain": list(axis.domain), "nice": False, "zero": False}
    x: dict[str, Any] = {"field": "from", "type": "quantitative", "title": axis.title, "scale": scale}
    x["axis"] = {"format": axis.format}
    bars = {
        "mark": {"type": "bar", "opacity": 0.6},
        "encoding": {
            "x": x,
            "x2": {"field": "to"},
            "y": {"field": "height", "type": "quantitative", "title": None, "axis": None},
            "y2": {"datum": 0},
            "color": {"field": "series", "type": "nominal", "legend": None, "scale": inks},
            "tooltip": [{"field": "series"}, {"field": "text"}],
        },
    }
    layers = [*list_reference_layers(references, {"y": ("x", x)}), bars]
    spec = {
        "title": {"text": text.title, "subtitle": text.subtitle, "anchor": "start"},
        "background": "var(--rg-bg)",
        "data": {"values": data},
        "facet": {"row": {"field": "series", "type": "nominal", "title": None, "sort": inks["domain"]}},
        "spec": {"width": PIXELS_WIDE, "height": 48, "layer": layers},
    }
    whole = apply_house_style(spec)
    del whole["width"], whole["height"]  # each row has its own
    return json.dumps(resolve_specification(whole), ensure_ascii=False) + "\n"
