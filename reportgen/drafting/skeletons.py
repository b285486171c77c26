"""The specification of each shape of chart, made once and kept: Altair is slow to import and to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reportgen.cache import Cache
    from reportgen.figures.shape import ChartShape


class SpecCache:
    """Vega-Lite specifications by shape, as JSON; called with a shape."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._known: dict[ChartShape, str] = {}

    def __call__(self, shape: ChartShape) -> str:
        """The specification of a shape."""
        if shape not in self._known:
            self._known[shape] = self._fetch(shape)
        return self._known[shape]

    def _fetch(self, shape: ChartShape) -> str:
        key = self._cache.make_key("skeleton", repr(shape))
        found = self._cache.get(key)
        if found is not None:
            return found.decode()
        made = _make_spec(shape)
        self._cache.put(key, made.encode())
        return made


def _make_spec(shape: ChartShape) -> str:
    from reportgen.figures.chart import write_chart_spec  # noqa: PLC0415 - imports Altair

    return write_chart_spec(shape)
