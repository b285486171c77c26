"""Reviews made in a test: of everything, hostile and long ones, and any that follow the schema."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

from case_pages import read_page
from hypothesis import strategies as st
from made_projects import write_file

from reportgen.review.model import (
    Axis,
    Counts,
    Delta,
    Estimate,
    FigureChange,
    NumberChange,
    Origin,
    Place,
    Review,
    SeriesChange,
    StatementChange,
    read_review,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PAGES = Path(__file__).parent / "transcripts"
EVERYTHING = read_review(read_page(PAGES / "review_comments.md")[0].files[0].text)
NOTHING = Review(
    generator=EVERYTHING.generator, base=EVERYTHING.base, head=EVERYTHING.head, counts=Counts(same=24)
)
MOST_COUNTED = 2**53 - 1
MARKUP = "</script><img src=x onerror=alert(1)>"
TURNING = "\N{RIGHT-TO-LEFT OVERRIDE}gnp.exe"
WORDS = (
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


# Of a review, texts that are not free.
_KEPT = frozenset(
    {"kind", "change", "verdict", "method", "truth", "causes", "scale", "severity", "correction", "commit"}
    | {"merge", "report_sha256"}
)


def write_state(root: Path, changes: Mapping[str, tuple[str, str]]) -> Path:
    """Write the report of ``since.md`` with a text replaced by another in some of its files."""
    read_page(PAGES / "since.md")[0]._replace(files=()).write_files(root)
    for name, (old, new) in changes.items():
        text = (root / name).read_text("utf-8")
        assert old in text, name
        write_file(root / name, text.replace(old, new))
    return root


def rewrite(review: Review, write: Callable[[str], str]) -> Review:
    """A review whose every free text is another."""

    def change(value: object, key: str = "") -> object:
        if isinstance(value, str):
            return value if key in _KEPT else write(value)
        if isinstance(value, tuple):
            return tuple(change(part, key) for part in value)
        return {name: change(one, name) for name, one in value.items()} if isinstance(value, dict) else value

    return Review.model_validate(change(review.model_dump()))


def make_hostile() -> Review:
    """A review of everything with a hostile name or sentence in every place that takes one."""
    return rewrite(EVERYTHING, lambda text: f"{MARKUP} {TURNING} {text}")


def make_long() -> Review:
    """A review of everything with long names."""
    return rewrite(EVERYTHING, lambda text: f"{'x' * 200}{text}")


def make_many_figures(count: int = 40) -> Review:
    """Many figures that changed."""
    one = EVERYTHING.figures[0]
    figures = (one.model_copy(update={"id": f"accuracy-{n}", "title": f"Accuracy {n}"}) for n in range(count))
    return make_review(counts=Counts(figures=count), figures=tuple(figures))


def make_review(**changes: Any) -> Review:  # noqa: ANN401 - fields of a review
    """A review without changes but these."""
    return NOTHING.model_copy(update=changes)


def make_number(series: str = "GRPO", **changes: Any) -> NumberChange:  # noqa: ANN401 - fields of a number
    """A share that is higher by 2 points, which is unclear, with these fields."""
    return EVERYTHING.numbers[0].model_copy(update={"series": series, **changes})


def make_broken(kind: str = "claim") -> StatementChange:
    """A statement that held and fails now."""
    return EVERYTHING.statements[0].model_copy(update={"kind": kind})


def make_figure(page: str = "a.md", name: str = "a", title: str = "Accuracy", **changes: Any) -> FigureChange:  # noqa: ANN401 - fields of a figure
    """A figure of which two series changed."""
    return EVERYTHING.figures[0].model_copy(update={"page": page, "id": name, "title": title, **changes})


def make_curve(end: float, steps: int = 60) -> tuple[tuple[float, float, float, float], ...]:
    """The points of a line that leads to a value, with its band."""
    values = ((20.0 * n, end * n / steps) for n in range(steps))
    return tuple((step, value, value - 0.03, value + 0.03) for step, value in values)


def fill_review(words: Sequence[str] = WORDS, most: int = 3) -> Review:
    """A review of everything in which texts are these words, and lists are so many times as long."""
    endless = itertools.cycle(words)
    lists = ("statements", "numbers", "figures", "tables", "pages", "sources")
    longer = EVERYTHING.model_copy(update={name: getattr(EVERYTHING, name) * most for name in lists})
    written = rewrite(longer, lambda _text: next(endless)[:300])
    state = Origin(kind="folder", name=next(endless)[:300], tool=next(endless)[:300])
    head = state.model_copy(update={"built": False, "why": next(endless)[:300]})
    counts = Counts(flipped=most, worse=2, differences=5, stale_values=MOST_COUNTED)
    return written.model_copy(update={"base": state, "head": head, "counts": counts})


_TEXTS = st.one_of(st.sampled_from(WORDS), st.text(max_size=300))
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
    kind=st.sampled_from(["curve", "comparison", "run-scores"]),
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
    st.builds(fill_review, st.lists(_TEXTS, min_size=1, max_size=8).map(tuple), st.sampled_from([0, 1, 3])),
    st.lists(_CHANGES, max_size=12).map(tuple),
    st.lists(_FIGURES, max_size=3).map(tuple),
)
