"""A review as one document, which a terminal, a comment, a page and the pages of a site show.

It has sections of what changed, in groups of entries or as rows of a table. A text is our own words and, as
``Quoted``, those that may be a stranger's, which whoever shows them escapes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

from reportgen.core.words import format_equation, format_moment, format_number, format_p, lower_axis_title
from reportgen.review import words
from reportgen.review.quoting import LONGEST_NAME, LONGEST_QUOTED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reportgen.review.model import (
        Axis,
        Estimate,
        FigureChange,
        NumberChange,
        Origin,
        PageChange,
        Review,
        ReviewProblem,
        SeriesChange,
        SourceChange,
        StatementChange,
        TableChange,
        Verdict,
    )

    _Thing = TypeVar("_Thing")

MOST_ENTRIES: Final = 60
"""Entries of one group, and rows of the table; the rest are in ``review.json``."""

_MOST_NAMES = 4


class Quoted(Struct, frozen=True):
    """Words that may be a stranger's: a name, or a sentence, of which a comment shows so many characters."""

    words: str
    look: Literal["", "code", "strong", "said"] = ""
    most: int = LONGEST_NAME


Text: TypeAlias = tuple[str | Quoted, ...]
Tone: TypeAlias = Literal["", "good", "bad"]


class Entry(Struct, frozen=True):
    """What became of something; ``lines`` below it have a label each, and ``reasons`` are behind it.

    ``shown`` is a figure or table that a page draws, at ``anchor``.
    """

    what: Text
    title: Text = ()
    place: str = ""
    lines: tuple[tuple[Text, Text], ...] = ()
    reasons: tuple[Text, ...] = ()
    tone: Tone = ""
    shown: FigureChange | TableChange | None = None
    anchor: str = ""


class Row(Struct, frozen=True):
    """A number that changed: of each cell its lines."""

    kind: str
    number: NumberChange
    cells: tuple[tuple[Text, ...], ...]


class Group(Struct, frozen=True):
    """The first of ``count`` entries; what is ``serious`` has to be read, what is ``folded`` has not."""

    title: str
    entries: tuple[Entry, ...]
    count: int
    serious: bool = False
    folded: bool = False


class Section(Struct, frozen=True):
    """What changed of one kind: ``count`` things, in groups, or the first of them as rows of a table."""

    key: str
    title: str
    count: int
    groups: tuple[Group, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()


class Document(Struct, frozen=True):
    """A review: both states, what has to be known of them, the verdict, and sections."""

    states: tuple[tuple[str, Text], ...]
    warnings: tuple[Text, ...]
    verdict: str
    rest: str
    sections: tuple[Section, ...]


def make_document(review: Review, anchors: Mapping[tuple[str, str], str] | None = None) -> Document:
    """The document of a review, or of a part of one, with the ``anchors`` of figures by page and id."""
    figures = order_figures(review)
    if anchors is not None:
        figures = [(anchors.get((one.page, one.id), ""), one) for _, one in figures]
    sections = [
        _make_section("statements", "Statements", _list_statements(review)),
        _list_numbers(review),
        _make_section("figures", "Figures", [_group("", figures, _describe_shown)]),
        _make_section("tables", "Tables", [_group("", review.tables, _describe_table)]),
        _make_section("pages", "Pages", [_group("", review.pages, _describe_page)]),
        _make_section("sources", "Sources", [_group("", review.sources, _describe_source)]),
        _make_section(
            "problems",
            "Problems",
            [
                _group("New problems", review.problems.new, _describe_problem),
                _group("Problems that are gone", review.problems.gone, _describe_problem),
            ],
        ),
        _make_section("left-out", "Left out for size", [_group("", review.truncated, _describe_left_out)]),
    ]
    return Document(
        states=(("Before", describe_state(review.base)), ("After", describe_state(review.head))),
        warnings=tuple(
            (f"{sentence}: ", Quoted(origin.why or "no report", most=2 * LONGEST_NAME))
            for origin, sentence in (
                (review.head, "The report could not be built"),
                (review.base, "There is nothing to compare with"),
            )
            if not origin.built
        ),
        verdict=words.describe_findings(review),
        rest=words.describe_rest(review),
        sections=tuple(one for one in sections if one.count),
    )


def order_figures(review: Review) -> list[tuple[str, FigureChange]]:
    """The changed figures with their anchors, ``figure-1``; clear differences of their numbers come first."""
    ranks: dict[tuple[str, str], int] = {}
    for number in words.rank_numbers(review.numbers):
        ranks.setdefault((number.page, number.block), len(ranks))
    ordered = sorted(
        review.figures,
        key=lambda one: (_FIGURES.index(one.change), ranks.get((one.page, one.id), len(ranks))),
    )
    return [(f"figure-{place}", figure) for place, figure in enumerate(ordered, start=1)]


_FIGURES: Final = ("data", "definition", "new", "gone", "looks")


def describe_state(origin: Origin) -> Text:
    """``main, 3bb89e4a, reportgen 0.1.0``."""
    found = words.describe_origin(origin)
    parts: list[Text] = [(Quoted(found.name, "strong"),)]
    parts += [(Quoted(found.commit, "code"),)] if found.commit else []
    parts += [*_list_lines(*found.notes), *([("reportgen ", Quoted(origin.tool))] if origin.tool else [])]
    return join_texts(parts)


def list_names(names: Sequence[str], most: int = _MOST_NAMES) -> Text:
    """Some names, and how many more there are."""
    parts = [(Quoted(name, "code"),) for name in names[:most]]
    rest: list[Text] = [(f"{len(names) - most:,} more",)] if len(names) > most else []
    return join_texts([*parts, *rest])


def join_texts(texts: Sequence[Text], by: str = ", ") -> Text:
    """Texts with something between them."""
    return tuple(part for text in texts for part in (by, *text))[1:]


def _make_section(key: str, title: str, groups: Iterable[Group]) -> Section:
    known = tuple(group for group in groups if group.count)
    return Section(key, title, sum(group.count for group in known), known)


def _group(
    title: str,
    things: Sequence[_Thing],
    describe: Callable[[_Thing], Entry],
    *,
    serious: bool = False,
    folded: bool = False,
) -> Group:
    entries = tuple(map(describe, things[:MOST_ENTRIES]))
    return Group(title, entries, len(things), serious, folded)


# ---- statements


def _list_statements(review: Review) -> Iterator[Group]:
    broken = [one for one in review.statements if one.is_broken]
    claims = [one for one in broken if one.kind == "claim"]
    values = [one for one in broken if one.kind == "value"]
    mended = [one for one in review.statements if one.change == "mended"]
    others = [one for one in review.statements if not one.is_broken and one.change != "mended"]
    yield _group("Claims that became false", claims, _describe_statement, serious=True)
    yield _group("Values that no longer match", values, _describe_statement, serious=True)
    yield _group("Put right", mended, _describe_statement)
    yield _group("Written, reworded or removed", others, _describe_statement, folded=True)


def _describe_statement(change: StatementChange) -> Entry:
    sides = [(name, one) for name, one in (("before", change.before), ("after", change.after)) if one]
    reworded = len({one.words for _, one in sides}) > 1
    lines, reasons = [], list[Text]()
    for name, one in sides:
        said: Text = (Quoted(one.words, "said", 2 * LONGEST_NAME), ": ") if reworded else ()
        found = words.shorten_found(one)
        truth = words.name_truth(change, one)
        why: Text = (f"{truth}: ", Quoted(found, most=LONGEST_QUOTED)) if found else (truth,)
        lines.append(((name,), (*said, *why)))
        reasons += [(f"{name}: ", Quoted(fact)) for fact in one.evidence]
    expressions = dict.fromkeys(one.expression for _, one in sides)
    reasons.append(("checked as ", *join_texts([(Quoted(one, "code"),) for one in expressions], ", now ")))
    tone: Tone = "bad" if change.is_broken else "good" if change.change == "mended" else ""
    return Entry(
        what=(words.describe_statement(change),),
        title=(Quoted(change.latest.words, "said", 2 * LONGEST_NAME),),
        place=words.format_place(change.page, change.latest.line),
        lines=tuple(lines),
        reasons=tuple(reasons) if tone else (),  # who has written another sentence knows them
        tone=tone,
    )


# ---- numbers

_KINDS: Final[dict[Verdict, str]] = {
    "reported value changed": "Reported values that changed",
    "higher": "More than noise",
    "lower": "More than noise",
    "unclear": "May be noise",
    "too few": "Not tested",
    "re-estimated": "Estimated anew",
    "measured differently": "Measured differently",
    "not comparable": "Not comparable",
    "new": "New numbers",
    "gone": "Numbers that are gone",
}
_METHODS: Final = {
    "paired": "before and after answered the same problems, and the difference is taken problem by problem",
    "welch": "before and after have different runs; Student's t for unequal variances, a shared run once",
    "nested runs": "runs were only added, or only removed; the interval is about these",
    "given": "from the standard errors of the input, as if before and after shared nothing",
}
_NAMES: Final = {"welch": "Welch's t", "given": "given errors"}


def _list_numbers(review: Review) -> Section:
    order = list(dict.fromkeys(_KINDS.values()))
    ranked = [one for one in words.rank_numbers(review.numbers) if one.verdict in _KINDS]
    ranked.sort(key=lambda one: order.index(_KINDS[one.verdict]))
    level = f"{review.family.level * 100:.10g}%"
    header = ("Series", "Before", "After", f"Difference, {level} CI", "Verdict", "Why")
    rows = tuple(map(_describe_number, ranked[:MOST_ENTRIES]))
    tests = words.describe_tests(review)
    methods = {one.method for one in ranked}
    judged = [Entry((tests,))] if tests else []
    judged += [
        Entry((explained,), (_NAMES.get(name, name),))
        for name, explained in _METHODS.items()
        if name in methods
    ]
    group = _group("How differences were judged", judged, lambda one: one)
    return Section("numbers", "Numbers", len(ranked), (group,) if judged else (), header, rows)


def _describe_number(number: NumberChange) -> Row:
    digits, delta = words.choose_number_digits(number), number.delta
    signed = digits._replace(signed=True)
    metric: Text = (Quoted(number.metric),)
    metric += (" on ", Quoted(number.benchmark)) if number.benchmark else ()
    metric += (f" at {words.describe_step(number.step)}",) if number.step is not None else ()
    was: Text = (", was ", Quoted(number.was_series)) if number.was_series else ()
    p = None if delta is None else delta.p if delta.p_adjusted is None else delta.p_adjusted
    adjusted = " adjusted" if delta and delta.p_adjusted is not None else ""
    method = _NAMES.get(number.method, number.method) if number.method in _METHODS else ""
    units = ": ".join(filter(None, (method, words.describe_units(number))))
    return Row(
        _KINDS[number.verdict],
        number,
        (
            ((Quoted(number.series, "strong"), *was), metric, (Quoted(number.page, "code"),)),
            _describe_side(number.before, digits),
            _describe_side(number.after, digits),
            _list_lines(signed.format_value(delta.value), signed.format_ends(delta.low, delta.high))
            if delta
            else (),
            _list_lines(
                words.format_verdict(number),
                "" if p is None else format_equation("p", format_p(p)) + adjusted,
            ),
            (
                *([(Quoted(number.why, most=2 * LONGEST_NAME),)] if number.why else []),
                *_list_lines(words.describe_reason(number), units),
                *_describe_flips(number),
            ),
        ),
    )


def _list_lines(*lines: str) -> tuple[Text, ...]:
    return tuple((line,) for line in lines if line)


def _describe_side(side: Estimate | None, digits: words.Digits) -> tuple[Text, ...]:
    if side is None:
        return (("none",),)
    n = "" if side.n is None else f"n = {side.n:,}"
    return _list_lines(digits.format_value(side.value), digits.format_ends(side.low, side.high), n)


# Flipped problems of a number that are named.
_MOST_FLIPS: Final = 3


def _describe_flips(number: NumberChange) -> Iterator[Text]:
    """Which problems flipped: ``1 problem turned mostly right: q1 (0 of 4 → 4 of 4)``."""
    flips = number.flips
    if flips is None or not flips.problems:
        return
    named: list[Text] = [
        (Quoted(name), f" ({was} of {all_before} → {now} of {all_after})")
        for name, was, all_before, now, all_after in flips.problems[:_MOST_FLIPS]
    ]
    rest = flips.gained + flips.lost - len(named)
    named += [(f"{rest:,} more",)] if rest else []
    said = words.join_counts(
        "problem", (flips.gained, "turned mostly right"), (flips.lost, "turned mostly wrong")
    )
    yield (f"{said}: ", *join_texts(named))


# ---- figures, tables, pages, sources, problems


def _describe_shown(named: tuple[str, FigureChange]) -> Entry:
    anchor, figure = named
    lines: list[tuple[Text, Text]] = []
    if figure.was_page not in {"", figure.page} or figure.was_id not in {"", figure.id}:
        was = f"{figure.was_page or figure.page} · {figure.was_id or figure.id}"
        lines.append((("was",), (Quoted(was, "code"),)))
    for one in figure.series:
        if move := _describe_move(one, figure):
            before: Text = (" (was ", Quoted(one.was_name), ")") if one.was_name else ()
            lines.append(((Quoted(one.name), *before), move))
    return _describe_block(figure, lines, anchor)


def _describe_move(one: SeriesChange, figure: FigureChange) -> Text:
    """Where a series of a figure moved most, or what else became of it; empty where nothing did."""
    if one.change in {"new", "gone"}:
        return (one.change,) if figure.change != one.change else ()
    if one.change == "definition":
        values = [points[0][1] for points in (one.before, one.after) if len(points) == 1]
        digits = words.choose_digits(values, None, percent=figure.y.percent, signed=figure.y.difference)
        both = " → ".join(map(digits.format_value, values)) if len({*values}) > 1 else ""
        return join_texts(_list_lines("not comparable" if one.was_name else "", both), ": ")
    said = list(_list_lines("renamed" if one.change == "renamed" else ""))
    if one.at is None:
        said += [("changed",)] if one.change == "data" else []
        return join_texts(said, "; ")
    size, what = abs(one.at.delta), "interval"
    where: Text = ()
    if one.at.step is not None:
        what, where = "band", (" at ", *_describe_position(one.at.step, figure.x))
    digits = words.choose_digits([size], size / 2, percent=figure.y.percent, signed=True)
    known = one.at.beyond_band or any(low is not None for _, _, low, _ in one.before)
    side = f", {'outside' if one.at.beyond_band else 'inside'} the old {what}" if known else ""
    moved: Text = (digits.format_value(one.at.delta), *where, side)
    return join_texts([*said, moved if size else (f"another {what}, the same values",)], "; ")


def _describe_position(x: float, axis: Axis) -> Text:
    moment = format_moment(x) if axis.scale == "time" else None
    name, number = lower_axis_title(axis.title) or "step", format_number(x, significant=6)
    return (moment,) if moment else (f"step {number}",) if name == "step" else (Quoted(name), f" {number}")


def _describe_table(table: TableChange) -> Entry:
    return _describe_block(table, [])


def _describe_block(
    shown: FigureChange | TableChange, lines: Sequence[tuple[Text, Text]], anchor: str = ""
) -> Entry:
    definitions = [(("definition",), (Quoted(one, most=LONGEST_QUOTED),)) for one in shown.definitions]
    return Entry(
        what=(words.describe_shown(shown),),
        title=(Quoted(shown.title or shown.id),),
        place=shown.page,
        lines=(*definitions, *lines),
        shown=shown,
        anchor=anchor,
    )


def _describe_page(page: PageChange) -> Entry:
    what: list[Text] = []
    if page.change != "text":
        what = [("renamed from ", Quoted(page.was_path, "code"))] if page.was_path else [(page.change,)]
    what += _list_lines(words.describe_page(page))
    dead = "links to its old address are dead unless mkdocs-redirects maps "
    redirect = (("redirect",), (dead, Quoted(f"{page.was_path}: {page.path}", "code", LONGEST_QUOTED)))
    return Entry(
        what=join_texts(what) or ("another title",),
        title=(Quoted(page.title),) if page.title and page.title != page.path else (),
        place=page.path,
        lines=(redirect,) if page.change == "renamed" else (),
    )


def _describe_source(source: SourceChange) -> Entry:
    lines = tuple(((said,), list_names(names)) for said, names in words.list_source_changes(source))
    return Entry((source.change,), (Quoted(source.name),), lines=lines)


def _describe_problem(problem: ReviewProblem) -> Entry:
    message = Quoted(problem.message, most=2 * LONGEST_NAME)
    return Entry((f"{problem.severity}: ", message), place=words.format_place(problem.file, problem.line))


def _describe_left_out(sentence: str) -> Entry:
    return Entry((Quoted(sentence, most=LONGEST_QUOTED),))
