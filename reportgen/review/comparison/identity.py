"""What of one state is the same thing in the other: pages, figures, series, runs, statements."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from reportgen.review.snapshot import FigureState, RequestedNumbers, Snapshot, TableState

_Thing = TypeVar("_Thing")
_Shown = TypeVar("_Shown", "FigureState", "TableState")


class Matched(NamedTuple, Generic[_Thing]):
    """Each thing before, after, and the later of the two: in the order of after, and then what is gone."""

    sides: tuple[tuple[_Thing | None, _Thing | None, _Thing], ...]

    @property
    def pairs(self) -> list[tuple[_Thing, _Thing]]:
        """What both states have."""
        return [(was, now) for was, now, _ in self.sides if was is not None and now is not None]

    @property
    def gone(self) -> list[_Thing]:
        """What only the state before has."""
        return [one for _, now, one in self.sides if now is None]

    @property
    def new(self) -> list[_Thing]:
        """What only the state after has."""
        return [one for was, _, one in self.sides if was is None]


def match(
    before: Sequence[_Thing], after: Sequence[_Thing], *keys: Callable[[_Thing], Hashable | None]
) -> Matched[_Thing]:
    """Pair things that have an equal key, by the first key, then what is left by the next, and so on.

    Of several with one key the first is paired with the first. None is no key.
    """
    partners: dict[int, int] = {}
    left = list(range(len(before)))
    for key in keys:
        waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for index in left:
            if (value := key(before[index])) is not None:
                waiting[value].append(index)
        for index, thing in enumerate(after):
            if index not in partners and (value := key(thing)) is not None and waiting[value]:
                partners[index] = waiting[value].popleft()
        taken = set(partners.values())
        left = [index for index in left if index not in taken]
    sides = [(before[partners[i]] if i in partners else None, now, now) for i, now in enumerate(after)]
    return Matched((*sides, *((before[index], None, before[index]) for index in left)))


def match_pages(base: Snapshot, head: Snapshot) -> Matched[dict[str, Any]]:
    """Pages by path; a renamed one by its text, then by the ids that it shows, then by its title.

    First come pages of both states, then new ones.
    """
    texts = {
        id(page): one.drafted.texts.get(page["path"])
        for one in (base, head)
        if one.drafted
        for page in one.report["pages"]
    }

    def list_ids(page: dict[str, Any]) -> Hashable | None:
        return tuple(one["id"] for kind in ("figures", "tables") for one in page[kind]) or None

    found = match(
        base.report["pages"],
        head.report["pages"],
        lambda page: page["path"],
        lambda page: texts.get(id(page)),
        list_ids,
        lambda page: page["title"],
    )
    return Matched(tuple(sorted(found.sides, key=lambda side: (side[1] is None, side[0] is None))))


def match_shown(
    before: Sequence[_Shown], after: Sequence[_Shown], renamed: Mapping[str, str]
) -> Matched[_Shown]:
    """Figures or tables by page and id, then by id and definition, then by page and definition.

    Blocks of one title have numbered ids, so one that is defined as before goes first. ``renamed`` has the
    new paths of pages by their old ones.
    """
    pages = {id(one): renamed.get(one.page, one.page) for one in before}

    def define(one: _Shown) -> tuple[tuple[str, str], ...]:
        return tuple(sorted(one.definition.items())) if one.sources else ()

    return match(
        before,
        after,
        lambda one: (pages.get(id(one), one.page), one.id, define(one)),
        lambda one: (pages.get(id(one), one.page), one.title, define(one)) if define(one) else None,
        lambda one: (pages.get(id(one), one.page), one.id),
        lambda one: (one.id, one.title, define(one)),
        lambda one: (pages.get(id(one), one.page), define(one)) if define(one) else None,
    )


def match_requests(
    before: Sequence[RequestedNumbers], after: Sequence[RequestedNumbers], renamed: Mapping[str, str]
) -> Matched[RequestedNumbers]:
    """What blocks ask for: as before, then by page, block and metric, and at last by what is asked."""
    pages = {id(one): renamed.get(one.page, one.page) for one in before}

    def locate(one: RequestedNumbers) -> tuple[str, str]:
        return pages.get(id(one), one.page), one.block

    def name_part(one: RequestedNumbers) -> tuple[str, str | None]:
        return one.request.source, getattr(one.request, "benchmark", None)

    return match(
        before,
        after,
        lambda one: (*locate(one), one.request),
        lambda one: (locate(one)[0], one.title, one.request),
        lambda one: (*locate(one), *name_part(one), one.request.metric),
        lambda one: (*locate(one), *name_part(one)),
        lambda one: (*locate(one), one.request.metric),
        locate,
        lambda one: (name_part(one), one.request.metric),
    )


def match_statements(
    before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]
) -> Matched[Mapping[str, Any]]:
    """Statements of a page as they stand, then by name, by expression, and by words."""

    def take(*names: str) -> Callable[[Mapping[str, Any]], Hashable | None]:
        return lambda one: (one["kind"], *(one[name] for name in names))

    return match(
        before,
        after,
        take("words", "expression", "of"),
        lambda one: one["name"] or None,
        take("expression", "of"),
        take("words"),
    )


def match_series(
    before: Sequence[str], after: Sequence[str], names: tuple[Mapping[str, str], Mapping[str, str]]
) -> Matched[str]:
    """Series by name, a renamed one by its name in the data; ``names`` are ``rename`` of both sources."""
    in_data = [{new: old for old, new in renames.items()} for renames in names]
    sides = [
        [(one, own.get(one, one)) for one in side] for own, side in zip(in_data, (before, after), strict=True)
    ]
    found = match(sides[0], sides[1], lambda one: one[0], lambda one: one[1])
    return Matched(tuple((was and was[0], now and now[0], one[0]) for was, now, one in found.sides))
