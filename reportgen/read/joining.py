"""Several sources as one: what they hold together, with series named apart where names collide."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.errors import Diagnostic, ReportError, Severity, Stage
from reportgen.core.words import join_names, quote_names
from reportgen.read.tables.layout import get_layout
from reportgen.read.tables.survey import complete_layout
from reportgen.settings.base import name_joined
from reportgen.settings.inputs import Source, SourcePart
from reportgen.settings.source import Protocol, SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.errors import SourceLocation


_MOST_SOURCES: Final = 32
_HOLDS: Final = {
    "measurements": "measurements of a training",
    "outcomes": "answers to problems",
    "totals": "totals only",
}


def join_sources(root: Path, sources: Sequence[Source], place: SourceLocation, cache: Cache) -> Source:
    """Join sources into one that a block at ``place`` can show.

    A series keeps its name if only one source has it; otherwise its source goes before it, as in
    ``ours / GRPO``. Metrics and benchmarks are those that each source has.
    A warning says what was measured otherwise in one than in another.

    Raises:
        ReportError: the sources hold different kinds of data, or share no metric or benchmark.
    """
    problems = list(_find_obstacles(sources, place))
    if problems:
        raise ReportError(*problems)
    parts = _name_series(root, sources, place, cache)
    name = name_joined([one.name for one in sources])
    identity = " ".join((name, *(one.digest for one in sources)))
    return Source(
        name=name,
        location=place,
        settings=_join_settings(parts),
        files=tuple(dict.fromkeys(file for one in sources for file in one.files)),
        metrics=_list_common([one.metrics for one in sources]),
        columns=_list_all(one.columns for one in sources),
        digest=hashlib.sha256(identity.encode()).hexdigest(),
        kind=sources[0].kind,
        benchmarks=_list_common([one.benchmarks for one in sources]),
        lower_is_better=_list_all(one.lower_is_better for one in sources),
        higher_is_better=_join_directions(sources),
        slices=_list_common([one.slices for one in sources]),
        score_range=_join_ranges(sources) or sources[0].score_range,
        parts=parts,
        warnings=tuple(_compare_protocols(sources, place)),
    )


def _compare_protocols(sources: Sequence[Source], place: SourceLocation) -> Iterator[Diagnostic]:
    """Yield a warning of what was measured otherwise in one source than in another, but for dates."""
    # The texts of each setting, by source.
    stated: dict[str, dict[str, dict[str, None]]] = {}
    for one in sources:
        found = stated.setdefault(one.name, {})
        for protocol in (one.settings.protocol, *map(one.settings.get_protocol, one.settings.protocols)):
            for label, text in protocol.list_stated():
                if label != "date":
                    found.setdefault(label, {})[text] = None
    differing = []
    for label in _list_all(tuple(one) for one in stated.values()):
        texts = {name: " or ".join(one.get(label, ("not stated",))) for name, one in stated.items()}
        if len(set(texts.values())) > 1:
            said = join_names([f'{text} in "{name}"' for name, text in texts.items()])
            differing.append(f"{label} is {said}")
    if differing:
        message = f"the sources were not measured in the same way: {'; '.join(differing)}"
        step = "Say on the page what follows from it"
        if "not stated" in message:
            step = f"{step}, or state protocol: in each source.yml"
        yield Diagnostic(place, message, step, Stage.DATA, Severity.WARNING)


def _join_directions(sources: Sequence[Source]) -> dict[str, bool]:
    """Return the logged directions of metrics, without those that differ between sources."""
    stated = {item for one in sources for item in one.higher_is_better.items()}
    return {metric: way for metric, way in sorted(stated) if (metric, not way) not in stated}


def _list_all(names: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(names)))


def _list_common(names: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(name for name in names[0] if all(name in other for other in names[1:]))


def _find_obstacles(sources: Sequence[Source], place: SourceLocation) -> Iterator[Diagnostic]:
    """Yield why the sources cannot be shown together."""
    if len(sources) > _MOST_SOURCES:
        message, step = f"these are {len(sources)} sources", f"Name {_MOST_SOURCES} at most"
        yield Diagnostic(place, message, step, Stage.DATA)
    if len({one.kind for one in sources}) > 1:
        said = _list_each(sources, lambda one: _HOLDS[one.kind])
        step = "Show each kind in a block of its own"
        if not any(one.kind == "measurements" for one in sources):
            step = "Let the harness write the answers of each, too, or show them in blocks of their own"
        yield Diagnostic(place, f"the sources hold different things: {said}", step, Stage.DATA)
    elif sources[0].kind != "measurements":
        found = _compare_benchmarks(sources)
        yield from (Diagnostic(place, message, step, Stage.DATA) for message, step in found)
    elif not _list_common([one.metrics for one in sources]):
        said = _list_each(sources, lambda one: quote_names(one.metrics) or "none")
        step = "Give one metric the same name with rename_metrics: in a source.yml"
        yield Diagnostic(place, f"the sources have no metric in common: {said}", step, Stage.DATA)


def _list_each(sources: Sequence[Source], get: Callable[[Source], str]) -> str:
    return join_names([f'"{one.name}" has {get(one)}' for one in sources])


def _compare_benchmarks(sources: Sequence[Source]) -> Iterator[tuple[str, str]]:
    """Yield why the sources have no scale or no benchmark in common, with the next step."""
    if _join_ranges(sources) is None:
        said = _list_each(
            sources, lambda one: f"scores from {one.score_range[0]:g} to {one.score_range[1]:g}"
        )
        yield f"the sources use different scales: {said}", "Write the scores on one scale"
    for benchmark in _list_common([one.benchmarks for one in sources]) or ("",):
        if len({benchmark in one.lower_is_better for one in sources}) > 1:
            where = f" on {benchmark}" if benchmark else ""
            step = "Say lower_is_better: in the source.yml of those where it is"
            yield f"lower is better in some of the sources and higher in others{where}", step
    without = [one.name for one in sources if not one.benchmarks]
    if 0 < len(without) < len(sources):
        message = f"no column names the benchmark in {quote_names(without)}, and one does in the others"
        step = "Name it in its source.yml, as in columns: {benchmark: NAME}, or add one to its rows"
        yield message, step
    elif not without and not _list_common([one.benchmarks for one in sources]):
        said = _list_each(sources, lambda one: quote_names(one.benchmarks))
        yield (
            f"the sources have no benchmark in common: {said}",
            "Give one benchmark the same name with rename_benchmarks: in a source.yml",
        )


def _join_ranges(sources: Sequence[Source]) -> tuple[float, float] | None:
    """Return the range of the scores of all sources, or None if they have several.

    Totals become shares, with a range of 0 to 1, if all ranges begin at 0.
    """
    ranges = {one.score_range for one in sources}
    if len(ranges) == 1:
        return ranges.pop()
    become_shares = sources[0].kind == "totals" and not any(low for low, _ in ranges)
    return (0.0, 1.0) if become_shares else None


def _name_series(
    root: Path, sources: Sequence[Source], place: SourceLocation, cache: Cache
) -> tuple[SourcePart, ...]:
    """Name the series of each source, those of one name apart by their source."""

    def list_series(source: Source) -> tuple[str, ...]:
        key = cache.make_key("every-series", source.digest)
        return cache.memo(key, tuple[str, ...], lambda: complete_layout(root, source).series)

    series = [list_series(one) for one in sources]
    counts = Counter(chain.from_iterable(series))
    parts = []
    for one, own in zip(sources, series, strict=True):
        names = {name: name if counts[name] == 1 else f"{one.name} / {name}" for name in own}
        layout = get_layout(one)
        parts.append(SourcePart(one, names, layout.step_name or layout.roles.step or ""))
    every = Counter(name for part in parts for name in part.names.values())
    if twice := [name for name, count in every.items() if count > 1]:
        message = f'two series would be called "{twice[0]}"'
        raise ReportError(Diagnostic(place, message, "Rename one with rename: in its source.yml", Stage.DATA))
    return tuple(parts)


def _join_settings(parts: Sequence[SourcePart]) -> SourceSettings:
    """Return the settings of joined sources: titles, cautions, and the protocol of each series."""
    sources = [part.source for part in parts]
    known = {one.settings.title or one.name: one.settings.caution for one in sources}
    cautions = [f"{title}: {words}" for title, words in known.items() if words]
    given: dict[str, Any] = {
        "title": join_names([one.settings.title or one.name for one in sources]),
        "approximate": "; ".join(cautions) or None,
        "illustrative": any(one.settings.illustrative for one in sources),
        "precision": max((one.settings.precision or 0.0 for one in sources), default=0.0) or None,
        "protocols": {
            name: part.source.settings.get_protocol(own)
            for part in parts
            for own, name in part.names.items()
            if part.source.settings.get_protocol(own) != Protocol()
        },
    }
    given |= _join_ends(sources)
    if any("score_range" in one.settings.model_fields_set for one in sources):
        given["score_range"] = _join_ranges(sources)
    return SourceSettings(**given)


def _join_ends(sources: Sequence[Source]) -> dict[str, dict[str, float]]:
    """Return ``at_least`` and ``at_most`` of the metrics for which every source states them."""
    found: dict[str, dict[str, float]] = {"at_least": {}, "at_most": {}}
    for metric in _list_common([one.metrics for one in sources]):
        lows, highs = zip(
            *(one.settings.find_ends(metric) or (-math.inf, math.inf) for one in sources), strict=True
        )
        found["at_least"] |= {metric: min(lows)} if min(lows) > -math.inf else {}
        found["at_most"] |= {metric: max(highs)} if max(highs) < math.inf else {}
    return {key: ends for key, ends in found.items() if ends}
