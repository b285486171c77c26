"""Words, numbers and the table of a scatter plot."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reportgen.core.digits import choose_percent_decimals
from reportgen.core.model import Estimate, Table
from reportgen.core.words import (
    choose_common_decimals,
    find_common_half,
    format_count,
    format_estimate,
    format_percent,
    join_names,
    lower_axis_title,
)
from reportgen.figures.plot import join_caption
from reportgen.figures.scatter.fit import collect_fit, describe_fit

if TYPE_CHECKING:
    from reportgen.core.comparisons import Fit
    from reportgen.figures.plot import SourceContext
    from reportgen.settings.score_blocks import ScatterSettings, SweepSettings


_NO_BREAK = "\u00a0"
_FRONT = (
    "A series is on the Pareto front if, compared with every other one, a test shows it to be better in one "
    "of the two measures; each measure is adjusted for all pairs, at 2.5%."
)


class ScatterPoint(Struct, frozen=True):
    """A series with its estimates, and the value pairs of its runs if there are several."""

    series: str
    x: Estimate
    y: Estimate
    runs: tuple[tuple[str, float, float], ...] = ()
    colour: str = ""  # what gives it its colour, if not the series


class Scatter(Struct, frozen=True):
    """Points over two measures; ``front`` is None if no test could place a series on it.

    ``ways`` say whether larger x and y are better, ``units`` what intervals are over, ``how`` the method.
    A point is of a series or, if ``each`` says so, of a run.
    """

    x_title: str
    y_title: str
    points: tuple[ScatterPoint, ...]
    ways: tuple[bool | None, bool | None]
    front: tuple[str, ...] | None
    units: str
    level: float
    percent: bool
    how: tuple[str, ...]
    each: str = "series"
    names: bool = True  # whether points have their names beside them
    fit: Fit | None = None


class ScatterWords(Struct, frozen=True, dict=True):
    """Texts and table of a scatter plot."""

    settings: ScatterSettings | SweepSettings
    scatter: Scatter
    context: SourceContext

    @property
    def title(self) -> str:
        """The author's title, or the two measures."""
        given = self.settings
        x = lower_axis_title(given.x_title) if given.x_title else self.scatter.x_title
        return given.title or f"{given.y_title or self.scatter.y_title} by {x}"

    @property
    def subtitle(self) -> str:
        """What a point and its intervals are."""
        level = f"{self.scatter.level * 100:g}% CI"
        has_interval = any(end.low is not None for point in self.scatter.points for end in (point.x, point.y))
        interval = f", {level} over {self.scatter.units}" if has_interval else ""
        return f"one point per {self.scatter.each}{interval}"

    @cached_property
    def x_decimals(self) -> int | None:
        """The decimals of all values of x."""
        return choose_common_decimals([point.x for point in self.scatter.points])

    @cached_property
    def y_decimals(self) -> int | None:
        """The decimals of all values of y unless they are in percent."""
        return choose_common_decimals([point.y for point in self.scatter.points])

    @cached_property
    def y_percent_decimals(self) -> int:
        """The decimals of all values of y in percent."""
        return choose_percent_decimals(find_common_half(point.y for point in self.scatter.points))

    def write_y(self, estimate: Estimate) -> str:
        """Write a value of y with its interval, in percent as scores are."""
        if not self.scatter.percent:
            return format_estimate(estimate, decimals=self.y_decimals)
        numbers = (estimate.value, estimate.low, estimate.high)
        decimals = self.y_percent_decimals
        value, *ends = (format_percent(one, decimals=decimals) for one in numbers if one is not None)
        return f"{value} [{', '.join(ends).replace('%', '')}]" if ends else value

    def write_x(self, estimate: Estimate) -> str:
        """Write a value of x with its interval."""
        return format_estimate(estimate, decimals=self.x_decimals)

    def write_tip(self, point: ScatterPoint) -> list[str]:
        """Return the lines of a point's tooltip."""
        scatter = self.scatter
        y, x = f"{scatter.y_title}: {self.write_y(point.y)}", f"{scatter.x_title}: {self.write_x(point.x)}"
        return [point.series, y, x, format_count(point.y.n, scatter.units.removesuffix("s"))]

    def write_run_tip(self, point: ScatterPoint, run: tuple[str, float, float]) -> list[str]:
        """Return the lines of a run's tooltip."""
        x, y = (Estimate(value, None, None, 1) for value in run[1:])
        shown = f"{self.scatter.y_title}: {self.write_y(y)}", f"{self.scatter.x_title}: {self.write_x(x)}"
        return [f"{point.series}, run {run[0]}", *shown]

    def write_summary(self) -> str:
        """Name the best of each measure, and the series that are shown to be on the front."""
        scatter, sentences = self.scatter, []
        for axis, name, way in (
            ("y", scatter.y_title, scatter.ways[1]),
            ("x", scatter.x_title, scatter.ways[0]),
        ):
            if axis == "x" and way is None:
                continue
            choose, word = (min, "Lowest") if way is False else (max, "Highest")
            best = choose(scatter.points, key=lambda point: getattr(point, axis).value)
            value = self.write_y(best.y) if axis == "y" else self.write_x(best.x)
            # No line break inside a quantity.
            sentences.append(f"{word} {name}: {best.series} with {value.replace(' ', _NO_BREAK)}.")
        if scatter.front:
            listed = join_names(scatter.front)
            rest = len(scatter.points) - len(scatter.front)
            sentences.append(f"On the Pareto front: {listed}{'; no other is shown to be' if rest else ''}.")
        elif scatter.front is not None:
            sentences.append("No series is shown to be on the Pareto front.")
        return " ".join(sentences)

    def write_caption(self) -> str:
        """Say what points and intervals are, how the front is tested, or why it is not."""
        scatter, (x, y) = self.scatter, self.scatter.ways
        measures = ((scatter.y_title, y), (scatter.x_title, x))
        lower, unknown = ([name for name, way in measures if way is one] for one in (False, None))
        front = "Dashed: Pareto front." if len(scatter.front or ()) > 1 else ""
        if unknown:
            known = f"whether a larger value of {join_names(unknown)} is better"
            front = f"No Pareto front: it is not known {known}."
        elif scatter.front is None and len(scatter.points) > 1:
            front = f"No Pareto front: its tests need several {scatter.units} of each series."
        units = "runs" if scatter.each == "run" else "series"
        equation, method = (
            describe_fit(scatter.fit, scatter.level, units=units, percent=scatter.percent)
            if scatter.fit
            else ("", "")
        )
        sentences = (
            equation,
            "Small dots: runs." if any(point.runs for point in scatter.points) else "",
            f"Lower is better for {join_names(lower)}." if lower else "",
            front,
        )
        definition = _FRONT if scatter.front is not None else ""
        return join_caption(sentences, self.context, how=(*scatter.how, definition, method))

    def build_table(self) -> Table:
        """Build the data table, a row for each series."""
        scatter = self.scatter
        header = ("series", scatter.units, scatter.y_title, scatter.x_title)
        rows = [
            (point.series, f"{point.y.n:,}", self.write_y(point.y), self.write_x(point.x))
            for point in scatter.points
        ]
        if scatter.front is None:
            return Table(header, tuple(rows))
        marked = ((*row, "shown" if row[0] in scatter.front else "not shown") for row in rows)
        return Table((*header, "Pareto front"), tuple(marked))

    def collect_numbers(self) -> dict[str, Any]:
        """Return the entry in ``report.json``."""
        scatter = self.scatter
        points = [
            {"name": point.series, "n": point.y.n}
            | {name: [one.value, one.low, one.high] for name, one in (("x", point.x), ("y", point.y))}
            for point in scatter.points
        ]
        front = None if scatter.front is None else list(scatter.front)
        return {
            "x": scatter.x_title,
            "y": scatter.y_title,
            "level": scatter.level,
            "points": points,
            "front": front,
        } | ({"fit": collect_fit(scatter.fit)} if scatter.fit else {})
