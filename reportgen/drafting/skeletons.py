"""The specification of each shape of chart, made once and kept: Altair is slow to import and to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.cache import Cache
    from reportgen.figures.shape import Shape


class Skeletons:
    """Vega-Lite specifications by shape, as JSON; called with a shape."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._known: dict[Shape, str] = {}

    def __call__(self, shape: Shape) -> str:
        """The specification of a shape."""
        if shape not in self._known:
            self._known[shape] = self._kept(shape)
        return self._known[shape]

    def _kept(self, shape: Shape) -> str:
        key = self._cache.key("skeleton", repr(shape))
        found = self._cache.get(key)
        if found is not None:
            return found.decode()
        made = _made(shape)
        self._cache.put(key, made.encode())
        return made


def _made(shape: Shape) -> str:
    from reportgen.figures.chart import skeleton_text  # noqa: PLC0415 - imports Altair

    return skeleton_text(shape)
