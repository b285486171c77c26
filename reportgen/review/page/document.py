"""``review.html``: one file that shows a review to people, without a script and without a network.

What stands in it comes from ``review.json`` and may be a stranger's. The template escapes every word and puts
it into an element of its own direction; here, characters that would turn or hide words are made visible.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from reportgen.core.words import format_count, format_equation, format_p
from reportgen.figures.text import clean_text
from reportgen.review.model import Review
from reportgen.review.page import wording
from reportgen.review.page.pictures import assign_review_slots, draw_strip, draw_view, list_states
from reportgen.site.security import write_single_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from reportgen.review.model import (
        Causes,
        FigureChange,
        NumberChange,
        PageChange,
        ReviewProblem,
        SourceChange,
        StatementChange,
        StatementSide,
        TableChange,
        Verdict,
    )
    from reportgen.review.page.pictures import State

    Kinds: TypeAlias = tuple[tuple[str, frozenset[Verdict]], ...]

MOST_ROWS: Final = 100
"""Numbers of one kind in the table; the rest are in ``review.json``."""
MOST_FIGURES: Final = 60
MOST_LISTED: Final = 200
"""Statements, tables, pages, sources or problems of one kind."""

_SHEETS: Final = ("tokens.css", "figure.css", "review/review.css")
# Characters that turn the words around them, or that nobody sees.
_TURNING: Final = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200B, 0x2060, 0xFEFF, *range(0x7F, 0xA0)),
    "\N{REPLACEMENT CHARACTER}",
)
_GROUPS: Final[Kinds] = (
    ("More than noise", frozenset({"higher", "lower"})),
    ("Within noise", frozenset({"unclear"})),
    ("Too few runs to tell", frozenset({"too few"})),
    ("Estimated anew", frozenset({"re-estimated"})),
    ("Measured differently", frozenset({"measured differently"})),
)
_OTHERS: Final[Kinds] = (
    ("Not comparable", frozenset({"not comparable"})),
    ("New numbers", frozenset({"new"})),
    ("Numbers that are gone", frozenset({"gone"})),
)
_ARROWS: Final[dict[Verdict, str]] = {"higher": "▲", "lower": "▼"}
_BADGES: Final = {
    ("broken", "claim"): "became false",
    ("broken", "value"): "no longer matches",
    ("mended", "claim"): "put right",
    ("mended", "value"): "matches again",
    ("changed", "claim"): "reworded",
    ("changed", "value"): "reworded",
    ("new", "claim"): "new",
    ("new", "value"): "new",
    ("gone", "claim"): "gone",
    ("gone", "value"): "gone",
}
_STATEMENTS: Final = (
    ("broken", "No longer true"),
    ("stale", "Numbers in the text that no longer match"),
    ("mended", "Put right"),
    ("others", "Written, reworded or removed"),
)
_STATES: Final[dict[State, str]] = {"before": "Before", "after": "After"}
_OBVIOUS: Final[dict[str, Causes]] = {"data": ("data",), "definition": ("definition",)}
_VIEWS: Final = (("both", "Overlay"), ("side", "Side by side"), ("after", "After alone"))
_FIRST: Final = ("data", "definition", "new", "gone", "looks")

_Thing = TypeVar("_Thing")


def write_page(review: Review) -> str:
    """The HTML of ``review.html``; equal reviews give equal bytes."""
    review = _make_visible(review)
    sections = {
        "statements": _list_statements(review),
        "numbers": _list_numbers(review),
        "figures": _list_figures(review),
        "tables": _list_tables(review.tables),
        "pages": _cut(map(_describe_page, review.pages)),
        "sources": _list_sources(review.sources),
        "problems": _list_problems(review),
    }
    return write_single_file(
        "review/page.html",
        _SHEETS,
        title=f"Review of {review.head.name} against {review.base.name}",
        verdict=wording.describe_verdict(review),
        rest=wording.describe_rest(review),
        sides=[
            {"label": label, "why": "" if origin.built else origin.why or "There is no report."}
            | wording.describe_origin(origin)
            for label, origin in (("Before", review.base), ("After", review.head))
        ],
        truncated=review.truncated,
        empty=review.is_empty,
        generator=review.generator,
        level=f"{review.family.level * 100:.10g} %",
        **sections,
    )


def _make_visible(review: Review) -> Review:
    """The review with U+FFFD for characters that turn words, that nobody sees, or that XML forbids."""

    def clean(value: Any) -> Any:  # noqa: ANN401 - any part of a review
        if isinstance(value, str):
            return clean_text(value).translate(_TURNING)
        if isinstance(value, tuple):
            return tuple(map(clean, value))
        return {name: clean(part) for name, part in value.items()} if isinstance(value, dict) else value

    return Review.model_validate(clean(review.model_dump()))


@dataclass(frozen=True, slots=True)
class _Listed:
    """The first of several things, and a sentence about the rest."""

    shown: tuple[Any, ...]
    count: int
    rest: str = ""


def _cut(things: Iterable[_Thing], most: int = MOST_LISTED) -> _Listed:
    every = tuple(things)
    rest = len(every) - most
    return _Listed(every[:most], len(every), f"{rest:,} more are in review.json." if rest > 0 else "")


# ---- statements


def _list_statements(review: Review) -> dict[str, Any]:
    groups: dict[str, list[StatementChange]] = {key: [] for key, _ in _STATEMENTS}
    for change in review.statements:
        stale = change.is_broken and change.kind == "value" and change.before is not None
        key = "stale" if stale else "broken" if change.is_broken else change.change
        groups[key if key in groups else "others"].append(change)
    return {
        "count": len(review.statements),
        "groups": [
            {"title": title, "key": key, "listed": _cut(map(_describe_statement, groups[key]))}
            for key, title in _STATEMENTS
            if groups[key]
        ],
    }


def _describe_statement(change: StatementChange) -> dict[str, Any]:
    sides = [
        _describe_side(side, change, label)
        for label, side in (("Before", change.before), ("After", change.after))
        if side
    ]
    line = next((one.line for one in (change.after, change.before) if one and one.line is not None), None)
    badge = _BADGES[change.change, change.kind]
    return {
        "badge": "new, and not so" if change.is_broken and change.before is None else badge,
        "place": change.page if line is None else f"{change.page}:{line}",
        "causes": wording.describe_causes(change.causes),
        "other_causes": wording.describe_causes(change.causes, ("data",)),
        "words": sides[0]["words"] if len({side["words"] for side in sides}) == 1 else "",
        "facts": list(_list_moved_facts(change)),
        "expressions": list(dict.fromkeys(side["expression"] for side in sides)),
        "sides": sides,
    }


def _list_moved_facts(change: StatementChange) -> Iterator[dict[str, str]]:
    """What a statement is decided by, where it is another value than before."""
    if change.before is None or change.after is None:
        return
    facts = [
        {name: value for name, found, value in (line.partition(" = ") for line in side.evidence) if found}
        for side in (change.before, change.after)
    ]
    for name, now in facts[1].items():
        if (was := facts[0].get(name, now)) != now:
            yield {"name": name, "was": was, "now": now}


def _describe_side(side: StatementSide, change: StatementChange, label: str) -> dict[str, Any]:
    words = {"holds": "matches", "fails": "does not match"} if change.kind == "value" else {}
    # What is found repeats the expression, which stands below the reasons.
    found = side.found.removeprefix(f"{side.expression} {side.truth}").removeprefix(": ")
    return {
        "label": label,
        "words": side.words,
        "expression": side.expression,
        "truth": words.get(side.truth, side.truth),
        "expected": side.expected,
        "found": found,
        # A value is found as its expression, an equals sign and the value.
        "value": side.found.removeprefix(f"{side.expression} = "),
        "evidence": side.evidence,
    }


# ---- numbers


def _list_numbers(review: Review) -> dict[str, Any]:
    groups, others = (list(_group_numbers(review, kinds)) for kinds in (_GROUPS, _OTHERS))
    methods = {one.method for one in review.numbers if any(one.verdict in words for _, words in _GROUPS)}
    return {
        "count": sum(group.listed.count for group in (*groups, *others)),
        "groups": groups,
        "others": others,
        "tests": wording.describe_tests(review),
        "methods": [
            {"key": _name_method(name), "name": short, "words": words}
            for name, (short, words) in wording.METHODS.items()
            if name in methods
        ],
    }


@dataclass(frozen=True, slots=True)
class _Group:
    title: str
    listed: _Listed

    @property
    def rows(self) -> list[dict[str, Any]]:
        return list(map(_describe_number, self.listed.shown))


def _group_numbers(review: Review, kinds: Kinds) -> Iterator[_Group]:
    """The numbers of each kind that there is, the clearest difference first."""
    for title, verdicts in kinds:
        rows = sorted((one for one in review.numbers if one.verdict in verdicts), key=_rank)
        if rows:
            yield _Group(title, _cut(rows, MOST_ROWS))


def _rank(number: NumberChange) -> tuple[bool, float, str, str, str, str]:
    """How far a number moved, in half widths of its interval, farthest first; then those without one."""
    names = (number.page, number.block, number.series, number.metric)
    if number.delta is None:
        return (True, 0.0, *names)
    half = wording.get_half(number.delta)
    size = abs(number.delta.value)
    return (False, -size / half, *names) if half else (True, -size, *names)


def _name_method(name: str) -> str:
    return f"method-{name.replace(' ', '-')}"


def _describe_number(number: NumberChange) -> dict[str, Any]:
    percent, delta = number.percent, number.delta
    short, explained = wording.METHODS[number.method]
    verdict, meaning = wording.VERDICTS[number.verdict]
    good = {None: "", True: "better", False: "worse"}[number.good]
    p = None if delta is None else delta.p if delta.p_adjusted is None else delta.p_adjusted
    adjusted = "" if delta is None or delta.p_adjusted is None else " adjusted"
    return {
        "series": number.series,
        "was_series": number.was_series,
        "what": [word for word in (number.metric, number.benchmark) if word],
        "at": "" if number.step is None else wording.format_value(number.step, percent=False),
        "page": number.page,
        "title": number.title or number.block,
        "before": wording.format_side(number.before, percent=percent),
        "after": wording.format_side(number.after, percent=percent),
        "strip": draw_strip(delta) if delta else "",
        "delta": ""
        if delta is None
        else wording.format_delta(delta.value, percent=percent, half=wording.get_half(delta)),
        "interval": wording.format_delta_ends(delta, percent=percent) if delta else "",
        "p": "" if p is None else format_equation("p", format_p(p)) + adjusted,
        "verdict": verdict,
        "meaning": meaning,
        "arrow": _ARROWS.get(number.verdict, ""),
        "good": good,
        "method": short,
        "method_key": _name_method(number.method),
        "explained": explained,
        "units": wording.describe_units(number),
        "causes": wording.describe_causes(number.causes, ("data",)),
        "why": number.why,
    }


# ---- figures and tables


def _list_figures(review: Review) -> dict[str, Any]:
    slots = assign_review_slots(review)
    ordered = sorted(review.figures, key=lambda figure: _FIRST.index(figure.change))
    listed = _cut(ordered, MOST_FIGURES)
    return {
        "count": listed.count,
        "rest": listed.rest,
        "shown": [
            _describe_figure(figure, f"figure-{number}", slots)
            for number, figure in enumerate(listed.shown, start=1)
        ],
    }


def _describe_figure(figure: FigureChange, name: str, slots: Mapping[str, int]) -> dict[str, Any]:
    states = list_states(figure)
    pictures = [
        {
            "state": state,
            "words": _STATES.get(state)
            if len(states) > 1 and state != "both"
            else wording.describe_both(figure),
            "view": draw_view(
                figure, state, slots, name=f"{name}-{state}", labelled_by=f"{name}-title {name}-{state}-words"
            ),
        }
        for state in states
    ]
    moved_from = (figure.was_page not in {"", figure.page}) or (figure.was_id not in {"", figure.id})
    return {
        "name": name,
        "title": figure.title,
        "place": f"{figure.page} · {figure.id}",
        "was": f"{figure.was_page or figure.page} · {figure.was_id or figure.id}" if moved_from else "",
        "change": wording.describe_figure(figure),
        "causes": wording.describe_causes(figure.causes, _OBVIOUS.get(figure.change, ())),
        "rows": figure.x.scale == "series",
        "definitions": figure.definitions,
        "views": _VIEWS if len(states) > 1 else (),
        "pictures": pictures,
        "series": [
            {"name": one.name, "was": one.was_name, "words": words}
            for one in figure.series
            if (words := wording.describe_series(one, figure))
        ],
        "unchanged": wording.describe_unchanged(figure),
    }


def _list_tables(tables: Sequence[TableChange]) -> dict[str, Any]:
    listed = _cut(tables, MOST_FIGURES)
    return {"count": listed.count, "rest": listed.rest, "shown": list(map(_describe_table, listed.shown))}


def _describe_table(table: TableChange) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        before, after = row.before or (), row.after or ()
        kind = "changed" if before and after else "new" if after else "gone"
        rows.append({"kind": kind, "cells": list(_compare_cells(before, after))})
    words = {
        "data": "",
        "definition": "defined differently",
        "new": "new table",
        "gone": "this table is gone",
    }
    return {
        "title": table.title or table.id,
        "place": f"{table.page} · {table.id}",
        "change": words[table.change],
        "causes": wording.describe_causes(table.causes, _OBVIOUS.get(table.change, ())),
        "header": table.header,
        "rows": rows,
    }


def _compare_cells(before: Sequence[str], after: Sequence[str]) -> Iterator[dict[str, str]]:
    """What each cell was and is; ``same`` where that is one thing."""
    for was, now in zip_longest(before, after, fillvalue=""):
        if was == now:
            yield {"same": now, "was": "", "now": ""}
        else:
            yield {"same": "", "was": was, "now": now}


# ---- pages, sources and problems


def _describe_page(page: PageChange) -> dict[str, str]:
    lines = [(page.lines_added, "added"), (page.lines_removed, "removed")]
    said = [f"{format_count(count, 'line')} {word}" for count, word in lines if count]
    return {
        "title": page.title or page.path,
        "path": page.path,
        "was_path": page.was_path,
        "change": page.change,
        "lines": ", ".join(said),
    }


def _list_sources(sources: Sequence[SourceChange]) -> _Listed:
    listed = _cut(sources)
    shown = tuple(
        {
            "name": source.name,
            "change": source.change,
            "lists": [
                {"words": format_count(len(names), one, many), "names": _cut(names)}
                for names, one, many in (
                    (source.files_added, "file added", "files added"),
                    (source.files_removed, "file removed", "files removed"),
                    (source.files_changed, "file changed", "files changed"),
                    (source.settings_changed, "setting changed", "settings changed"),
                )
                if names
            ],
        }
        for source in listed.shown
    )
    return _Listed(shown, listed.count, listed.rest)


def _list_problems(review: Review) -> dict[str, Any]:
    # What is wrong with a statement stands above already.
    broken = [one for one in review.statements if one.is_broken and one.after]
    known = {(one.page, f'"{one.after.words}"') for one in broken if one.after}
    pages = {page for page, _ in known}

    def is_known(problem: ReviewProblem) -> bool:
        page = next((page for page in pages if problem.file.endswith(page)), None)
        return any(words in problem.message for one, words in known if one == page)

    new = [problem for problem in review.problems.new if not is_known(problem)]
    gone = review.problems.gone
    repeated = len(review.problems.new) - len(new)
    return {
        "count": len(review.problems.new) + len(gone),
        "repeated": f"{format_count(repeated, 'new warning')} about the statements above."
        if repeated
        else "",
        "groups": [
            {"title": title, "listed": _cut(map(_describe_problem, problems))}
            for title, problems in (("New", new), ("Gone", gone))
            if problems
        ],
    }


def _describe_problem(problem: ReviewProblem) -> dict[str, str]:
    place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
    return {"place": place, "severity": problem.severity, "message": problem.message}
