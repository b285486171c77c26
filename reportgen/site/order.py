"""The order of pages: that of the navigation, then that of the folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def sort_by_nav(nav: object, paths: Sequence[str]) -> list[str]:
    """Source paths with those that ``nav`` of ``mkdocs.yml`` lists first, in its order."""
    listed = [path for path in _list_nav(nav) if path in paths]
    return list(dict.fromkeys((*listed, *paths)))


def _list_nav(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict):
        for value in nav.values():
            yield from _list_nav(value)
    elif isinstance(nav, list):
        for item in nav:
            yield from _list_nav(item)
