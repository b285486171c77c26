"""Reviews made by hand, for the page and the pictures that show them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from reportgen.review.model import (
    Axis,
    Counts,
    Delta,
    Estimate,
    Family,
    FigureChange,
    Generator,
    ItemCounts,
    NumberChange,
    Origin,
    PageChange,
    Place,
    ProblemChanges,
    Review,
    ReviewProblem,
    RowChange,
    RunCounts,
    SeriesChange,
    SourceChange,
    StatementChange,
    StatementSide,
    TableChange,
)

if TYPE_CHECKING:
    from reportgen.review.model import Points, Verdict

HOSTILE = "</script><img src=x onerror=alert(1)>"
TURNING = "\u202egnp.exe"
GENERATOR = Generator(name="reportgen", version="0.3.0")
BASE = Origin(kind="revision", name="main", commit="3bb89e4a" * 5, tool="0.3.0", report_sha256="ab" * 32)
HEAD = Origin(
    kind="revision", name="longer-training", commit="c0ffee12" * 5, merge="deadbeef" * 5, tool="0.3.0"
)


def make_nothing() -> Review:
    """Nothing changed."""
    return Review(generator=GENERATOR, base=BASE, head=HEAD, counts=Counts(same=24))


def make_curve(end: float, *, steps: int = 60, wobble: float = 0.012, half: float = 0.03) -> Points:
    """A curve that rises to ``end``, with its band."""
    points = []
    for index in range(steps):
        step = index * 20.0
        noise = math.sin(index * 1.7 + end * 40) + math.sin(index * 0.61 + end * 90)
        value = end * (1 - math.exp(-index / 14)) + wobble * noise / 2
        points.append((step, value, value - half, value + half))
    return tuple(points)


def make_number(
    series: str,
    before: tuple[float, float],
    after: tuple[float, float],
    half: float,
    verdict: Verdict,
    /,
    **more: object,
) -> NumberChange:
    """A number with the halves of its intervals and of its difference's."""
    difference = after[0] - before[0]
    p = math.erfc(1.96 * abs(difference) / half / math.sqrt(2)) / 1.5 if half else 1.0
    p = min(p, 0.3)
    given: dict[str, object] = {
        "page": "benchmarks/aime.md",
        "block": "accuracy",
        "title": "Accuracy by step",
        "series": series,
        "metric": "pass@1",
        "percent": True,
        "method": "welch",
        "causes": ("data",),
        "runs": RunCounts(replaced=5),
        "delta": Delta(
            value=difference, low=difference - half, high=difference + half, p=p, p_adjusted=3 * p
        ),
    }
    sides = [Estimate(value=value, low=value - own, high=value + own, n=5) for value, own in (before, after)]
    return NumberChange.model_validate(
        {**given, "verdict": verdict, "before": sides[0], "after": sides[1], **more}
    )


def make_statement() -> StatementChange:
    """A claim that became false."""
    return StatementChange(
        page="benchmarks/aime.md",
        kind="claim",
        change="broken",
        before=StatementSide(
            line=42,
            words="GRPO ends above MEL.",
            expression="final(GRPO) > final(MEL)",
            truth="holds",
            expected=True,
            found="GRPO ends at 32.4% [30.1, 34.7], MEL at 28.1% [26.2, 30.0].",
            evidence=("GRPO has 5 runs, MEL 5.", "The difference is +4.3 points [+1.2, +7.4], p = 0.012."),
        ),
        after=StatementSide(
            line=44,
            words="GRPO ends above MEL.",
            expression="final(GRPO) > final(MEL)",
            truth="fails",
            expected=False,
            found="GRPO ends at 29.0% [26.5, 31.5], MEL at 30.2% [28.3, 32.1].",
            evidence=("GRPO has 5 runs, MEL 5.", "The difference is −1.2 points [−4.3, +1.9], p = 0.44."),
        ),
        causes=("data",),
    )


def make_numbers() -> tuple[NumberChange, ...]:
    """A number of each verdict."""
    paired = {"method": "paired", "problems": ItemCounts(shared=448, only_base=12), "runs": None}
    return (
        make_number("MEL", (0.281, 0.019), (0.302, 0.019), 0.027, "unclear"),
        make_number("GRPO", (0.324, 0.023), (0.290, 0.025), 0.021, "lower", good=False),
        make_number(
            "DAPO",
            (0.402, 0.02),
            (0.455, 0.02),
            0.018,
            "higher",
            good=True,
            metric="pass@8",
            benchmark="AIME 2025",
            page="benchmarks/math.md",
            block="scores",
            title="Scores",
            **paired,
        ),
        make_number(
            "GRPO",
            (1.204, 0.04),
            (1.262, 0.05),
            0.03,
            "higher",
            metric="entropy",
            percent=False,
            step=1180.0,
            block="entropy",
            title="Entropy by step",
        ),
        make_number(
            "PPO",
            (0.251, 0.05),
            (0.262, 0.03),
            0.026,
            "re-estimated",
            method="nested runs",
            runs=RunCounts(shared=3, added=2),
        ),
        make_number(
            "SFT",
            (0.211, 0.0),
            (0.224, 0.0),
            0.0,
            "too few",
            method="none",
            runs=RunCounts(added=1, removed=1),
            delta=Delta(value=0.013),
            before=Estimate(value=0.211, n=1),
            after=Estimate(value=0.224, n=1),
            why="1 run a side.",
        ),
        make_number(
            "RLOO",
            (0.31, 0.02),
            (0.36, 0.02),
            0.03,
            "measured differently",
            causes=("definition",),
            why="temperature: 0.6 → 1.0",
        ),
        make_number(
            "MEL",
            (0.281, 0.02),
            (0.52, 0.03),
            0.0,
            "not comparable",
            delta=None,
            method="none",
            causes=("definition",),
            why="metric: pass@1 → pass@4",
        ),
        make_number(
            "Dr. GRPO",
            (0.0, 0.0),
            (0.333, 0.02),
            0.0,
            "new",
            before=None,
            delta=None,
            method="none",
        ),
    )


def make_curve_figure() -> FigureChange:
    """A curve of which two of four series changed."""
    return FigureChange(
        page="benchmarks/aime.md",
        id="accuracy",
        kind="curve",
        title="Accuracy by step",
        change="data",
        causes=("data",),
        x=Axis(title="Step"),
        y=Axis(title="pass@1", percent=True),
        series=(
            SeriesChange(
                name="GRPO",
                change="data",
                at=Place(step=800.0, delta=-0.041, beyond_band=True),
                before=make_curve(0.33),
                after=make_curve(0.288, wobble=0.009),
            ),
            SeriesChange(
                name="MEL",
                change="data",
                at=Place(step=1100.0, delta=0.021, beyond_band=False),
                before=make_curve(0.278),
                after=make_curve(0.301),
            ),
            SeriesChange(name="PPO", change="same", after=make_curve(0.22)),
            SeriesChange(name="SFT", change="same", after=make_curve(0.15, wobble=0.004)),
        ),
    )


def make_score_figure() -> FigureChange:
    """Scores with intervals."""

    def score(value: float, half: float) -> Points:
        return ((None, value, value - half, value + half),)

    return FigureChange(
        page="benchmarks/math.md",
        id="scores",
        kind="scores",
        title="Scores on MATH-500",
        change="data",
        causes=("data",),
        x=Axis(scale="series"),
        y=Axis(title="pass@8", percent=True),
        series=(
            SeriesChange(
                name="DAPO",
                change="data",
                at=Place(step=None, delta=0.053, beyond_band=True),
                before=score(0.402, 0.02),
                after=score(0.455, 0.02),
            ),
            SeriesChange(name="GRPO", change="same", after=score(0.43, 0.021)),
            SeriesChange(
                name="Dr. GRPO with a rather long name of its own", change="new", after=score(0.44, 0.02)
            ),
            SeriesChange(name="PPO", change="gone", before=score(0.39, 0.024)),
        ),
    )


def make_everything() -> Review:
    """Something of each kind."""
    fixed = make_statement()
    assert fixed.before is not None
    assert fixed.after is not None
    value = StatementChange(
        page="benchmarks/math.md",
        kind="value",
        change="broken",
        before=StatementSide(
            line=12,
            words="40.2%",
            expression="score(DAPO)",
            truth="holds",
            expected=True,
            found="score(DAPO) = 40.2% [38.2, 42.2]",
        ),
        after=StatementSide(
            line=12,
            words="40.2%",
            expression="score(DAPO)",
            truth="fails",
            expected=False,
            found="score(DAPO) = 45.5% [43.5, 47.5]",
        ),
        causes=("data",),
    )
    mended = StatementChange(
        page="index.md",
        kind="claim",
        change="mended",
        before=fixed.after,
        after=fixed.before,
        causes=("text",),
    )
    return Review(
        generator=GENERATOR,
        base=BASE,
        head=HEAD,
        counts=Counts(
            flipped=1,
            stale_values=1,
            mended=1,
            differences=3,
            worse=1,
            unclear=2,
            re_estimated=1,
            measured_differently=1,
            not_comparable=1,
            new=1,
            same=14,
            figures=4,
            tables=1,
            pages=2,
        ),
        family=Family(tests=5, correction="step-down and holm"),
        statements=(fixed, value, mended),
        numbers=make_numbers(),
        figures=(
            make_curve_figure(),
            make_score_figure(),
            FigureChange(
                page="benchmarks/aime.md",
                id="entropy",
                kind="curve",
                title="Entropy by step",
                change="definition",
                causes=("definition",),
                definitions=("smooth: 0 → 0.6",),
                x=Axis(title="Step", scale="log"),
                y=Axis(title="entropy"),
                series=(
                    SeriesChange(
                        name="GRPO",
                        change="data",
                        at=Place(step=300.0, delta=-0.1, beyond_band=False),
                        before=make_curve(1.3)[1:],
                        after=make_curve(1.2, wobble=0)[1:],
                    ),
                ),
            ),
            FigureChange(
                page="benchmarks/new.md",
                id="reward",
                kind="curve",
                title="Reward by step",
                change="new",
                x=Axis(title="Step"),
                y=Axis(title="reward"),
                series=(SeriesChange(name="GRPO", change="new", after=make_curve(3.1, steps=12)),),
            ),
        ),
        tables=(
            TableChange(
                page="benchmarks/math.md",
                id="scores-table",
                title="Scores on MATH-500",
                change="data",
                causes=("data",),
                header=("Series", "pass@8", "Runs"),
                rows=(
                    RowChange(
                        before=("DAPO", "40.2% [38.2, 42.2]", "5"),
                        after=("DAPO", "45.5% [43.5, 47.5]", "5"),
                    ),
                    RowChange(before=None, after=("Dr. GRPO", "44.0% [42.0, 46.0]", "3")),
                    RowChange(before=("PPO", "39.0% [36.6, 41.4]", "5"), after=None),
                ),
            ),
        ),
        pages=(
            PageChange(path="benchmarks/new.md", title="Rewards", change="new", lines_added=48),
            PageChange(path="index.md", title="Start", change="text", lines_added=2, lines_removed=3),
        ),
        sources=(
            SourceChange(
                name="aime",
                files_changed=tuple(f"GRPO/seed-{n}.jsonl" for n in range(5)),
                files_added=("Dr. GRPO/seed-0.jsonl",),
                settings_changed=("filter",),
            ),
        ),
        problems=ProblemChanges(
            new=(
                ReviewProblem(
                    file="benchmarks/new.md", line=7, severity="warning", message="PPO has no runs."
                ),
            ),
        ),
        truncated=("Points of 2 figures that look the same.",),
    )


def make_many_figures(count: int = 40) -> Review:
    """Many figures that changed."""
    one = make_curve_figure()
    figures = tuple(
        one.model_copy(update={"id": f"accuracy-{n}", "title": f"Accuracy {n}"}) for n in range(count)
    )
    return Review(generator=GENERATOR, base=BASE, head=HEAD, counts=Counts(figures=count), figures=figures)


def make_hostile() -> Review:
    """``make_everything`` with a hostile name or sentence in every place that takes one."""
    return Review.model_validate(_spoil(make_everything().model_dump(), f"{HOSTILE} {TURNING} "))


def make_long() -> Review:
    """``make_everything`` with names as long as they may be."""
    return Review.model_validate(_spoil(make_everything().model_dump(), "x" * 200))


_KEPT = frozenset(
    {"kind", "change", "verdict", "method", "truth", "causes", "scale", "severity", "correction", "commit"}
    | {"merge", "report_sha256"}
)


def _spoil(value: object, with_what: str, key: str = "") -> object:
    if key in _KEPT:
        return value
    if isinstance(value, str):
        return f"{with_what}{value}"
    if isinstance(value, tuple):
        return tuple(_spoil(part, with_what) for part in value)
    if isinstance(value, dict):
        return {name: _spoil(part, with_what, name) for name, part in value.items()}
    return value
