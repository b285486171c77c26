"""Curves, figures and statements made in a test, without files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping  # noqa: TC003 - a field of a dataclass
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reportgen.claims.judge import judge
from reportgen.core.cache import Cache
from reportgen.core.errors import SourceLocation
from reportgen.core.facts import FACTS
from reportgen.core.model import Curve, CurveSet, Figure, Run
from reportgen.core.statements import Binding, Fact, Scale, Truth
from reportgen.figures.curves.plotting import make_plot
from reportgen.figures.live import draw_plot_figure, load_chart
from reportgen.figures.plot import (
    DrawContext,
    FigureText,
    PlotSpec,
    describe_source,
    make_curve_spec,
)
from reportgen.figures.style import assign_slots
from reportgen.settings.blocks import CurveSettings
from reportgen.statistics.verdicts import find_leads_at_end

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.statements import Judgement
    from reportgen.figures.plot import ChartShape, Plot

HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "__proto__",
    "constructor",
    "\u202eevitsoh\u202c \u05e9\u05dc\u05d5\u05dd",
    "zero\u200bwidth\ufeff\u2060",
    "x" * 500,
    "bell\x07 null\x00 escape\x1b",
    "two\nlines\r\nand, \"quotes\" and 'more'",
    "=cmd|' /C calc'!A0",
    "&amp; &lt; <!-- ]]> {{ 7*7 }} {% raw %}",
    "\ufffe not a character",
    "var(--rg-none) var(--rg-bg)",
    'fill="var(--rg-bg)"',
)
"""Names that a run file may hold and a page must survive."""


def curve(
    series: str,
    values: Sequence[float],
    *,
    steps: Sequence[float] | None = None,
    half: float | None = None,
    runs: int = 1,
    n: Sequence[int] | None = None,
    raw: Sequence[float] | None = None,
) -> Curve:
    """A curve whose runs lie evenly within ``half`` of its mean; steps count from 0 if left out."""
    x = np.arange(float(len(values))) if steps is None else np.array(steps, dtype=np.float64)
    y = np.array(values, dtype=np.float64)
    shifts = np.linspace(-(half or 0.0), half or 0.0, runs) if runs > 1 else np.zeros(1)
    unknown = np.full(y.size, np.nan)
    return Curve(
        series=series,
        steps=x,
        values=y,
        low=unknown if half is None else y - half,
        high=unknown if half is None else y + half,
        n=np.array(n if n is not None else [runs] * y.size, dtype=np.int64),
        runs=tuple(Run(series, f"run {i}", str(i), x, y + shift) for i, shift in enumerate(shifts)),
        raw=None if raw is None else np.array(raw, dtype=np.float64),
    )


def curve_set(*curves: Curve, **fields: Any) -> CurveSet:  # noqa: ANN401 - fields of a CurveSet
    """Aligned curves of one metric, ``accuracy`` with a 95 % interval unless ``fields`` say otherwise."""
    plain: dict[str, Any] = {
        "metric": "accuracy",
        "curves": curves,
        "band": "ci",
        "level": 0.95,
        "smooth": 0.0,
        "exact": True,
        "replaced": 0,
        "dropped": 0,
        "bins": None,
        "given_interval": None,
        "leads": find_leads_at_end(curves, 0.95),
    }
    return CurveSet(**{**plain, **fields})


@cache
def charts(shape: ChartShape) -> str:
    """The charts of a shape, written once."""
    with TemporaryDirectory() as folder:
        return load_chart(Cache(Path(folder)), shape)


def context(curves: CurveSet, **fields: Any) -> DrawContext:  # noqa: ANN401 - fields of a Context
    """What a figure of these curves knows beyond its numbers, on the page of a benchmark ranked by them."""
    said = fields.get("higher_is_better", True)
    plain: dict[str, Any] = {
        "place": SourceLocation("content/page.md", 7),
        "slots": assign_slots([tuple(curve.series for curve in curves.curves)]),
        "higher_is_better": True,
        "step_title": "step",
        "step_is_time": False,
        "source": "a source",
        "approximate": None,
        "get_chart": charts,
        "ranked_by": None if said is None else curves.metric,
    }
    return DrawContext(**{**plain, **fields})


def wanted(curves: CurveSet, around: DrawContext | None = None, **settings: Any) -> PlotSpec:  # noqa: ANN401
    """The plot that a ``curve`` block with these settings asks for."""
    block = CurveSettings.model_validate({"title": "Accuracy", **settings})
    return make_curve_spec("one", block, curves.metric, around or context(curves))


def plot(curves: CurveSet, around: DrawContext | None = None, **settings: Any) -> Plot:  # noqa: ANN401
    """The plot of these curves in a ``curve`` block with these settings."""
    around = around or context(curves)
    return make_plot(curves, wanted(curves, around, **settings), around)


def figure(curves: CurveSet, around: DrawContext | None = None, **settings: Any) -> Figure:  # noqa: ANN401
    """The finished figure of these curves in a ``curve`` block with these settings, in a few words."""
    around = around or context(curves)
    one = wanted(curves, around, **settings)
    return finish(make_plot(curves, one, around), curves, one, around)


def finish(made: Plot, curves: CurveSet, one: PlotSpec, around: DrawContext) -> Figure:
    """The figure of a plot."""
    names = ", ".join(curve.series for curve in curves.curves)
    text = FigureText(
        id=one.id,
        kind=one.kind,
        title=one.title,
        subtitle=one.measured,
        caption=one.note,
        summary=f"The series are {names}.",
        source=describe_source(around),
        numbers={},
        band="95% CI",
    )
    return draw_plot_figure(made, curves, text, around)


def share_of(axis: Any, value: float) -> float:  # noqa: ANN401 - an axis of a plot
    """Where a value stands on an axis: 0 at the start of its domain, 1 at the end."""
    log = axis.scale in {"log", "log2"}
    low, at, high = (math.log(one) if log else one for one in (axis.domain[0], value, axis.domain[1]))
    return (at - low) / (high - low)


def spec(curves: CurveSet, around: DrawContext | None = None, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    """The Vega-Lite specification of these curves in a ``curve`` block with these settings."""
    made: dict[str, Any] = json.loads(str(figure(curves, around, **settings).spec))
    return made


def wave(count: int = 60, *, shift: float = 0.0) -> list[float]:
    """Values of a smooth curve above 0, different at every step."""
    return [float(value) for value in 2 + np.sin(np.arange(count) / 9 + shift) + np.arange(count) / count]


# ---- statements about data whose facts are written down in the test, judged as a report judges them --------

ACCURACY = Scale("accuracy")
TRUTHS = {Truth.HOLDS: True, Truth.FAILS: False, Truth.UNDECIDED: None}


@dataclass(frozen=True)
class MadeSubject:
    """A subject that knows some answers (a value, or the reason why there is none) and nothing else.

    ``asked`` lists its calls in order.
    """

    known: Mapping[str, float | str]
    holds: Literal["curves", "scores"] = "curves"
    scale: Scale = ACCURACY
    series: tuple[str, ...] = ("A", "B")
    asked: list[str] = field(default_factory=list)

    def fact(self, name: str, arguments: tuple[str | float, ...]) -> Fact:
        """The fact that is known; a call that is not known is a fault of the test."""
        call = f"{name}({', '.join(map(_write_argument, arguments))})"
        self.asked.append(call)
        answer = self.known[call]
        value, reason = (None, answer) if isinstance(answer, str) else (answer, "")
        series = tuple(one for one in arguments if isinstance(one, str))
        return Fact(call, FACTS[name].quantity, value, reason, series)


def _write_argument(argument: str | float) -> str:
    if isinstance(argument, str):
        return argument if argument.isalpha() else "'{}'".format(argument.replace("'", "''"))
    return f"{argument:g}"


def judge_value(words: str, expression: str, subject: Any) -> Judgement:  # noqa: ANN401 - whatever knows facts
    """What the data say to a bound value."""
    return _judge("value", words, expression, subject)


def judge_claim(expression: str, subject: Any) -> Judgement:  # noqa: ANN401 - whatever knows facts
    """What the data say to a claim."""
    return _judge("claim", "some words", expression, subject)


def find_truth(expression: str, subject: Any) -> bool | None:  # noqa: ANN401 - whatever knows facts
    """Whether a claim holds, if the data decide it."""
    return TRUTHS[judge_claim(expression, subject).truth]


def compare(expression: str, left: float, right: float) -> bool | None:
    """Whether a claim about ``final(A)`` and ``final(B)`` holds."""
    return find_truth(expression, MadeSubject({"final(A)": left, "final(B)": right}))


def _judge(kind: Literal["value", "claim"], words: str, expression: str, subject: Any) -> Judgement:  # noqa: ANN401 - whatever knows facts
    place = SourceLocation("content/page.md", 1, 1)
    return judge(Binding(kind, words, expression, None, "", "", place, place, 1, 1 + len(words)), subject)
