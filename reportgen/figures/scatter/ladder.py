"""The picture of a ``ladder``: a dot for each attempt of a search, the best so far, and luck as a band."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from msgspec import Struct

from reportgen.core.model import Cell, Estimate, Figure, ResultTable, Stack, Table
from reportgen.core.words import (
    choose_common_decimals,
    format_count,
    format_estimate,
    format_nonzero,
    format_number,
)
from reportgen.figures.axis import make_linear_axis
from reportgen.figures.curves.plotting import compute_margins, fit_axis
from reportgen.figures.labels import place_labels
from reportgen.figures.paths import PIXELS_WIDE
from reportgen.figures.picture import Frame, draw_framed, format_position, set_into_page
from reportgen.figures.plot import Mark, Plot, SeriesLine, describe_source, join_caption
from reportgen.figures.scatter.figure import draw_name
from reportgen.figures.scatter.fit import draw_ground
from reportgen.figures.style import apply_house_style, get_colour, pick_slots, resolve_specification
from reportgen.figures.text import escape_text, write_table_csv
from reportgen.figures.value_axis import make_references, make_value_axis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.comparisons import Search
    from reportgen.figures.plot import SourceContext
    from reportgen.settings.score_blocks import LadderSettings

_PAD: Final = 0.06
_NAMED: Final = 3  # new bests that are named in the picture: the last ones
_COLUMNS: Final = ("attempt", "run", "status", "change", "value", "best_so_far", "repetition")


class Attempt(Struct, frozen=True):
    """An attempt of a search; ``value`` is None if it crashed."""

    number: int
    run: str
    value: float | None
    status: str
    change: str
    identity: tuple[str, ...] = ()  # what its repetitions share; empty if that is not known


class Ladder(Struct, frozen=True, dict=True):
    """A search: attempts in order, each new best, the numbers of repetitions, and what luck would show."""

    metric: str
    series: str
    attempts: tuple[Attempt, ...]
    bests: tuple[Attempt, ...]
    repeated: frozenset[int]
    search: Search
    base: float  # mean of the first attempt and its repetitions
    level: float
    higher_is_better: bool

    @cached_property
    def best(self) -> Attempt:
        """The best attempt."""
        return self.bests[-1]

    @cached_property
    def luck_end(self) -> float | None:
        """The best value that luck would show."""
        luck = self.search.luck
        return None if luck is None else self.base + (luck if self.higher_is_better else -luck)


def draw_ladder(
    block_id: str, settings: LadderSettings, ladder: Ladder, context: SourceContext, *, percent: bool
) -> Stack:
    """Draw the figure of a search, and the table ``<id>-table`` of its new bests."""
    words = _LadderWords(ladder, percent)
    title = settings.title or f"{ladder.metric}: best of {ladder.search.attempts:,} attempts"
    better = "higher" if ladder.higher_is_better else "lower"
    subtitle = f"{ladder.metric}, {better} is better, one dot per attempt"
    plot = _make_plot(block_id, settings, ladder, context, percent=percent)
    frame = Frame(title, subtitle, f"Source: {describe_source(context)}")
    labelled_by = f"{block_id}-title {block_id}-summary"
    figure = Figure(
        id=block_id,
        kind="ladder",
        title=title,
        subtitle=subtitle,
        caption=join_caption(words.list_sentences(), context, how=words.list_methods()),
        summary=words.write_summary(),
        inline_svg=set_into_page(_draw(plot, ladder, words, page=True), plot.height, labelled_by),
        file_svg=draw_framed(_draw(plot, ladder, words, page=False), plot.height, plot.margins, frame),
        table_data=words.build_data_table(),
        csv=write_table_csv(_COLUMNS, _list_records(ladder)),
        spec=_write_spec(plot, ladder, title, subtitle),
        view="",
        payload="",
        numbers_data=words.collect_numbers(),
        plot_class=f"rg-left-{plot.margins.left} rg-right-{plot.margins.right}",
    )
    return Stack(block_id, title, "", (figure, words.build_table(f"{block_id}-table")), "")


def _list_records(ladder: Ladder) -> Iterator[tuple[object, ...]]:
    best, numbers = None, {one.number for one in ladder.bests}
    for one in ladder.attempts:
        best = one.value if one.number in numbers else best
        again = "yes" if one.number in ladder.repeated else ""
        yield (one.number, one.run, one.status, one.change, one.value, best, again)


class _LadderWords(Struct, frozen=True, dict=True):
    """Texts and tables of a search."""

    ladder: Ladder
    percent: bool

    @cached_property
    def decimals(self) -> int | None:
        values = [one.value for one in self.ladder.attempts if one.value is not None]
        estimates = [Estimate(value, None, None, 1) for value in values]
        return choose_common_decimals(estimates, percent=self.percent)

    def write(self, value: float) -> str:
        """Write a value with the digits of all."""
        estimate = Estimate(value, None, None, 1)
        return format_estimate(estimate, percent=self.percent, decimals=self.decimals)

    def write_gain(self, gain: float, unit: str = " points") -> str:
        """Write a difference of means, in points where values are in percent, with one more digit."""
        decimals = None if self.decimals is None else self.decimals + 1
        number = format_nonzero(gain * (100 if self.percent else 1), decimals=decimals, signed=False)
        return f"{number}{unit if self.percent else ''}"

    def describe(self, attempt: Attempt) -> str:
        """Name an attempt by its number and what it changed."""
        return f"attempt {attempt.number:,}{f' ({attempt.change})' if attempt.change else ''}"

    def write_summary(self) -> str:
        """Name the best attempt of how many, and say whether luck would show as much."""
        ladder, best = self.ladder, self.ladder.best
        value = f"{self.write(best.value or 0.0)} with {self.describe(best)}"
        return f"Best of {ladder.search.attempts:,} attempts: {value}. {self.write_verdict()}"

    def write_verdict(self) -> str:
        """Say whether luck would show the gain of the best attempt."""
        search = self.ladder.search
        if len(self.ladder.bests) == 1:
            return f"None of {search.attempts:,} attempts is better than the first."
        best = f"The best of {search.attempts:,} attempts"
        gain = f"{best} is {self.write_gain(search.gain)} better than the first"
        if (again := search.repeated) is not None:
            ends = ", ".join(self.write_gain(one or 0.0, "") for one in (again.low, again.high))
            verdict = "this is beyond luck" if search.beyond_luck else "this may be luck"
            mean = f"over {format_count(again.n, 'repetition')} {self.write_gain(again.value)} [{ends}]"
            return f"{gain}, {mean}: {verdict}."
        if search.luck is None:
            return f"{gain}; the noise is not known: repeat the best attempt with three seeds."
        where, equal = (
            "beyond" if search.beyond_luck else "within",
            format_count(search.compared, "equal attempt"),
        )
        return f"{gain}, {where} luck: the best of {equal} would gain up to {self.write_gain(search.luck)}."

    def list_sentences(self) -> Iterator[str]:
        """Say whether the gain is luck, what marks are, and how many attempts have no value."""
        ladder = self.ladder
        crashed = sum(one.value is None for one in ladder.attempts)
        discarded = any(one.status == "discarded" and one.value is not None for one in ladder.attempts)
        yield self.write_verdict()
        yield f"{format_count(crashed, 'attempt')} without a value (×)." if crashed else ""
        yield "Open dots: discarded." if discarded else ""
        yield f"Small dots: {format_count(len(ladder.repeated), 'repetition')}." if ladder.repeated else ""
        yield "Band: what luck would show." if ladder.luck_end is not None else ""

    def list_methods(self) -> Iterator[str]:
        """Say how noise is estimated, and what luck is."""
        search, level = self.ladder.search, f"{self.ladder.level * 100:g}%"
        yield "Line: the best so far. The best of many attempts has no plain interval."
        if search.noise is not None:
            noise = format_number(search.noise * (100 if self.percent else 1), significant=2)
            noise += " points" if self.percent else ""
            degrees = format_count(search.df, "degree")
            how = "the standard deviation between attempts of one commit or of equal settings"
            yield f"Noise: {noise}, {how}, {degrees} of freedom."
            of_equal = f"the most that the best gains in {level} of searches whose attempts are equal"
            yield f"Luck: {of_equal} (Dunnett's test against the first, noise normal)."
        if search.repeated is not None:
            yield f"Interval: {level} CI (Student t) of later repetitions, without the value that was picked."

    def build_table(self, table_id: str) -> ResultTable:
        """Build the table of new bests: attempt, change, value, gain, and gain in units of noise."""
        noise = self.ladder.search.noise
        header = ("attempt", "change", self.ladder.metric, "gain", *(["gain / noise"] if noise else []))
        rows, records = [], []
        for before, one in pairwise((None, *self.ladder.bests)):
            value = (one.value if one else None) or 0.0
            number, change = (one.number, one.change) if one else (0, "")
            cells = [Cell(str(number), number), Cell(change), Cell(self.write(value), value)]
            gain = None if before is None else abs(value - (before.value or 0.0))
            ratio = gain / noise if gain is not None and noise else None
            cells.append(Cell("", None) if gain is None else Cell(self.write_gain(gain), gain))
            if noise:
                cells.append(Cell("" if ratio is None else f"{ratio:.1f}", ratio))
            rows.append(tuple(cells))
            records.append((number, change, value, gain, *([ratio] if noise else [])))
        return ResultTable(
            id=table_id,
            title="New bests",
            header=header,
            rows=tuple(rows),
            caption="",
            csv=write_table_csv(header, records),
            folded=f"The {format_count(len(rows), 'best value', 'best values')} in turn",
        )

    def build_data_table(self) -> Table:
        """Build the table of all attempts."""
        rows = (
            (str(one.number), one.status, one.change, "–" if one.value is None else self.write(one.value))
            for one in self.ladder.attempts
        )
        return Table(("attempt", "status", "change", self.ladder.metric), tuple(rows))

    def write_tip(self, attempt: Attempt) -> list[str]:
        """Return the lines of an attempt's tooltip."""
        value = "no value" if attempt.value is None else f"{self.ladder.metric}: {self.write(attempt.value)}"
        kind = "a repetition" if attempt.number in self.ladder.repeated else attempt.status
        return [f"attempt {attempt.number:,}", *filter(None, (attempt.change, value, kind))]

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``."""
        search, best = self.ladder.search, self.ladder.best
        again = search.repeated
        return {
            "metric": self.ladder.metric,
            "attempts": search.attempts,
            "crashed": sum(one.value is None for one in self.ladder.attempts),
            "best": {"attempt": best.number, "change": best.change, "value": best.value},
            "gain": search.gain,
            "noise": search.noise,
            "luck": search.luck,
            "beyond_luck": search.beyond_luck,
            "repeated": [again.value, again.low, again.high] if again else None,
        }


def _make_plot(
    block_id: str, settings: LadderSettings, ladder: Ladder, context: SourceContext, *, percent: bool
) -> Plot:
    """Make the axes, and place the names of the last new bests."""
    numbers = [one.number for one in ladder.attempts]
    values = [one.value for one in ladder.attempts if one.value is not None]
    if ladder.luck_end is not None:
        values += [ladder.base, ladder.luck_end]
    title = settings.y_title or ladder.metric
    y_axis = make_value_axis(values, title, settings, "y", context, pad=_PAD, percent=percent)
    ends = min(numbers), max(numbers)
    x_axis = fit_axis(lambda count: make_linear_axis("attempt", *ends, count=count, pad=0.03, whole=True))
    slot = next(iter(pick_slots((ladder.series,), context.slots).values()))
    steps = np.array([one.number for one in ladder.bests], float)
    line = np.array([one.value for one in ladder.bests], float)
    blank = np.full(line.size, np.nan)
    marks = (
        Mark(
            one.change if one in ladder.bests[1:][-_NAMED:] else "",
            one.number,
            one.value,
            slot,
            ladder.metric,
        )
        for one in ladder.bests
    )
    plot = Plot(
        id=block_id,
        x=x_axis,
        y=y_axis,
        lines=(SeriesLine(ladder.metric, slot, steps, line, blank, blank, np.ones(line.size, np.int64)),),
        margins=compute_margins(y_axis, ()),
        height=settings.height,
        symbols=False,
        clip=False,
        band="none",
        references=make_references(settings.reference),
        annotations=tuple(marks),
    )
    return place_labels(plot)


def _draw(plot: Plot, ladder: Ladder, words: _LadderWords, *, page: bool) -> str:
    """Draw axes, band, line, attempts and names; tooltips only in a page."""
    parts = []
    if ladder.luck_end is not None:
        low, high = sorted((plot.find_pixel(ladder.base), plot.find_pixel(ladder.luck_end)))
        look = 'width="100%" fill="var(--rg-muted)" fill-opacity=".14"'
        parts.append(f'<rect {look} y="{low:.4g}" height="{high - low:.4g}"/>')
    parts.append(draw_ground(plot, None))
    slot, last = plot.lines[0].slot, float(ladder.attempts[-1].number)
    ink = get_colour(slot)
    corners = [(float(one.number), plot.find_pixel(one.value or 0.0)) for one in ladder.bests]
    for (x, y), (end, following) in pairwise((*corners, (last, corners[-1][1]))):
        start, stop = (format_position(plot.x, place) for place in (x, end))
        across = f'<line x1="{start}" x2="{stop}" y1="{y:.4g}" y2="{y:.4g}"/>'
        parts.append(
            f'<g stroke="{ink}" stroke-width="2">{across}'
            f'<line x1="{stop}" x2="{stop}" y1="{y:.4g}" y2="{following:.4g}"/></g>'
        )
    for one in ladder.attempts:
        drawn = _draw_attempt(plot, ladder, one, ink)
        tip = "&#10;".join(escape_text(" ".join(line.split())) for line in words.write_tip(one))
        parts.append(f'<g class="rg-mark" data-rg-tip="{tip}">{drawn}</g>' if page else drawn)
    return "".join((*parts, *(draw_name(plot, mark) for mark in plot.annotations)))


def _draw_attempt(plot: Plot, ladder: Ladder, attempt: Attempt, ink: str) -> str:
    x = format_position(plot.x, float(attempt.number))
    if attempt.value is None:
        y = plot.height - 5
        text = f'x="{x}" y="{y}" text-anchor="middle" fill="var(--rg-muted)" font-weight="600"'
        return f"<text {text}>×</text>"
    place = f'cx="{x}" cy="{plot.find_pixel(attempt.value):.4g}"'
    if attempt.number in ladder.repeated:
        return f'<circle {place} r="2.5" fill="{ink}" fill-opacity=".6"/>'
    if attempt.status == "discarded":
        return f'<circle {place} r="3.5" fill="var(--rg-bg)" stroke="{ink}" stroke-width="1.5"/>'
    return f'<circle {place} r="{5 if attempt in ladder.bests else 4}" fill="{ink}" stroke="var(--rg-bg)"/>'


def _write_spec(plot: Plot, ladder: Ladder, title: str, subtitle: str) -> str:
    """Write the specification as JSON with a trailing newline, with data and colours of the light theme."""
    rows = [dict(zip(_COLUMNS, record, strict=True)) for record in _list_records(ladder)]
    y: dict[str, Any] = {"type": "quantitative", "title": plot.y.title}
    y["scale"] = {"domain": list(plot.y.domain), "type": plot.y.scale, "nice": False, "zero": False}
    y["axis"] = {"values": list(plot.y.ticks), "format": plot.y.format}
    x = {"field": "attempt", "type": "quantitative", "title": "attempt"}
    ink, tip = {"color": {"value": get_colour(plot.lines[0].slot)}}, [{"field": name} for name in _COLUMNS]
    dots = {"x": x, "y": y | {"field": "value"}, "shape": {"field": "status"}, "tooltip": tip}
    layers: list[dict[str, Any]] = [
        {
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {"x": x, "y": y | {"field": "best_so_far"}, **ink},
        },
        {"mark": {"type": "point", "filled": True}, "encoding": dots | ink},
    ]
    if ladder.luck_end is not None:
        band = {"y": y | {"datum": ladder.base}, "y2": {"datum": ladder.luck_end}, "opacity": {"value": 0.14}}
        layers.insert(0, {"mark": {"type": "rect", "color": "var(--rg-muted)"}, "encoding": band})
    spec = {
        "title": {"text": title, "subtitle": subtitle, "anchor": "start"},
        "width": PIXELS_WIDE,
        "height": plot.height,
        "background": "var(--rg-bg)",
        "data": {"values": rows},
        "layer": layers,
    }
    return json.dumps(resolve_specification(apply_house_style(spec)), ensure_ascii=False) + "\n"
