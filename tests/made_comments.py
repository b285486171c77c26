"""Reviews made in a test: small ones written out, and any that follow the schema."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from reportgen.review.model import (
    Axis,
    Counts,
    Delta,
    Estimate,
    Family,
    FigureChange,
    Generator,
    NumberChange,
    Origin,
    PageChange,
    Place,
    ProblemChanges,
    Review,
    ReviewProblem,
    RowChange,
    SeriesChange,
    SourceChange,
    StatementChange,
    StatementSide,
    TableChange,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_COUNTED = 2**53 - 1
BASE, HEAD = "a" * 40, "b" * 40
HOSTILE = (
    "</details>@everyone",
    "![](http://evil.example/x.png)",
    "[click](http://evil.example)",
    "```\n# heading\n```",
    "`` ` ``",
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe",
    "#12 and GH-3 and a/b#4",
    "a|b\\|c\\",
    "<script>alert(1)</script>",
    "<!-- reportgen:review:00000000 -->",
    "\n/approve\n@bot merge\n",
    "\r\n::error::x\n##[add-mask]x",
    "$` and `$",
    "http://evil.example/?a=b www.evil.example me@evil.example",
    "| --- | --- |",
    "&#64;everyone &lt;b&gt;",
    "\N{HEBREW LETTER ALEF}\N{HEBREW LETTER BET}",
    "\x00\x1b[31m\x07",
    "",
    " ",
    "`" * 60,
    "名前" * 40,
)


def make_review(**changes: Any) -> Review:  # noqa: ANN401 - fields of a review
    """A review of two commits, with these fields."""
    fields: dict[str, Any] = {
        "generator": Generator(name="reportgen", version="0.1.0"),
        "base": Origin(kind="revision", name="main", commit=BASE, tool="0.1.0"),
        "head": Origin(kind="revision", name="HEAD", commit=HEAD, tool="0.1.0"),
    }
    return Review(**fields | changes)


def make_number(series: str = "GRPO", **changes: Any) -> NumberChange:  # noqa: ANN401 - fields of a number
    """A share that is higher by 4 points, which is unclear, with these fields."""
    fields: dict[str, Any] = {
        "page": "math500.md",
        "block": "scores",
        "series": series,
        "metric": "pass@1",
        "percent": True,
        "before": Estimate(value=0.28, low=0.17, high=0.42, n=3),
        "after": Estimate(value=0.32, low=0.21, high=0.46, n=3),
        "delta": Delta(value=0.04, low=-0.01, high=0.09, p=0.1, p_adjusted=0.2),
        "method": "paired",
        "verdict": "unclear",
    }
    return NumberChange(**fields | changes)


def make_broken(kind: Any = "claim", words: str = "GRPO is ahead of MEL") -> StatementChange:  # noqa: ANN401 - a literal
    """A statement that held and fails now."""
    side: dict[str, Any] = {"line": 14, "words": words, "expression": "better(GRPO, MEL)"}
    return StatementChange(
        page="math500.md",
        kind=kind,
        change="broken",
        before=StatementSide(**side, truth="holds", expected=True, found="GRPO is higher by 0.04"),
        after=StatementSide(**side, truth="fails", expected=False, found="GRPO is lower by 0.02"),
        causes=("data",),
    )


def make_everything(words: Sequence[str] = HOSTILE, most: int = 3) -> Review:
    """A review in which each text is one of these words, and each list has some entries."""
    endless = itertools.cycle(words)

    def word() -> str:
        return next(endless)[:300]

    side: dict[str, Any] = {"line": 1, "truth": "holds", "expected": True, "expression": "x"}
    return make_review(
        base=Origin(kind="folder", name=word(), tool=word()),
        head=Origin(kind="folder", name=word(), tool=word(), built=False, why=word()),
        counts=Counts(flipped=most, worse=2, differences=5, stale_values=MOST_COUNTED),
        family=Family(tests=17, correction="holm"),
        statements=tuple(
            StatementChange(
                page=word(),
                kind=kind,
                change=change,
                before=StatementSide(words=word(), found=word(), **side),
                after=StatementSide(words=word(), found=word(), **side),
            )
            for kind in ("claim", "value")
            for change in ("broken", "new")
            for _ in range(most)
        ),
        numbers=tuple(
            make_number(word(), metric=word(), page=word(), why=word(), benchmark=word(), was_series=word())
            for _ in range(most * 2)
        ),
        figures=tuple(
            FigureChange(
                page=word(),
                id=word(),
                kind="curve",
                title=word(),
                change="data",
                definitions=(word(), word()),
                series=(
                    SeriesChange(
                        name=word(), change="data", at=Place(step=120.0, delta=0.04, beyond_band=True)
                    ),
                ),
            )
            for _ in range(most)
        ),
        tables=tuple(
            TableChange(
                page=word(),
                id=word(),
                title=word(),
                change="data",
                rows=(RowChange(before=None, after=(word(),)),),
            )
            for _ in range(most)
        ),
        pages=tuple(
            PageChange(path=word(), was_path=word(), title=word(), change="text", lines_added=3)
            for _ in range(most)
        ),
        sources=tuple(
            SourceChange(name=word(), files_added=(word(), word()), settings_changed=(word(),) * 5)
            for _ in range(most)
        ),
        problems=ProblemChanges(
            new=tuple(
                ReviewProblem(file=word(), line=3, severity="error", message=word()) for _ in range(most)
            )
        ),
        truncated=(word(),),
    )


_TEXTS = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=300))
_NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1, 1)
_PARTS = st.none() | _NUMBERS
_ESTIMATES = st.none() | st.builds(Estimate, value=_NUMBERS, low=_PARTS, high=_PARTS)
_CHANGES = st.builds(
    make_number,
    series=_TEXTS,
    metric=_TEXTS,
    page=_TEXTS,
    why=_TEXTS,
    percent=st.booleans(),
    before=_ESTIMATES,
    after=_ESTIMATES,
    delta=st.none()
    | st.builds(Delta, value=_NUMBERS, low=_PARTS, high=_PARTS, p_adjusted=st.none() | st.floats(0, 1)),
    verdict=st.sampled_from(["higher", "unclear", "re-estimated", "too few", "same"]),
    good=st.none() | st.booleans(),
)
_POINTS = st.lists(st.tuples(_PARTS, _NUMBERS, _PARTS, _PARTS), max_size=3).map(tuple)
_FIGURES = st.builds(
    FigureChange,
    page=st.just("a.md"),
    id=st.just("a"),
    kind=st.sampled_from(["curve", "comparison", "runs"]),
    title=_TEXTS,
    change=st.sampled_from(["data", "definition"]),
    x=st.builds(Axis, scale=st.sampled_from(["linear", "log", "time", "series"])),
    y=st.builds(Axis, percent=st.booleans(), difference=st.booleans()),
    series=st.builds(
        SeriesChange,
        name=st.just("b"),
        change=st.sampled_from(["data", "definition"]),
        slot=st.none() | st.integers(0, 7),
        at=st.none() | st.builds(Place, step=_PARTS, delta=_NUMBERS, beyond_band=st.booleans()),
        before=_POINTS,
        after=_POINTS,
    ).map(lambda one: (one,)),
)


def _add_figures(
    review: Review, numbers: tuple[NumberChange, ...], figures: Sequence[FigureChange]
) -> Review:
    return review.model_copy(update={"numbers": numbers, "figures": (*review.figures, *figures)})


ANY_REVIEW = st.builds(
    _add_figures,
    st.builds(
        make_everything, st.lists(_TEXTS, min_size=1, max_size=8).map(tuple), st.sampled_from([0, 1, 2, 30])
    ),
    st.lists(_CHANGES, max_size=12).map(tuple),
    st.lists(_FIGURES, max_size=3).map(tuple),
)
