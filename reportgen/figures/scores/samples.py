"""Texts of the samples behind a problem map, as scripts that a page loads when a cell is opened.

A page opened from disk may load nothing but scripts. Each holds neighbouring problems as data, every text
once; ``site/assets/live-samples.js`` reads them and makes nothing but text of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.figures.scores.wording import format_score
from reportgen.figures.text import write_compact_json
from reportgen.settings.text import cut_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reportgen.core.cache import CachedText
    from reportgen.core.comparisons import ProblemGrid, Sample, SampleTexts
    from reportgen.figures.plot import ScoreContext


_LARGEST_PART: Final = 64_000
"""Characters of texts after which the next script begins."""


class SampleScripts(Struct, frozen=True):
    """Scripts of samples, and what payload and numbers of their figure say of them; empty without samples."""

    scripts: tuple[str | CachedText, ...] = ()
    payload: dict[str, Any] = field(default_factory=dict)
    numbers: dict[str, Any] = field(default_factory=dict)


class _Part(Struct):
    """A script that is being filled: problems with their samples, whose texts are indices into ``texts``."""

    texts: dict[str, int] = field(default_factory=dict)
    problems: list[Any] = field(default_factory=list)

    def add(self, problem: str, rows: Iterable[tuple[list[Any], tuple[str | None, ...]]]) -> int:
        """Add a problem, and return its index."""
        listed = []
        for row, texts in rows:
            stored = (self.texts.setdefault(cut_text(one), len(self.texts)) if one else None for one in texts)
            listed.append([*row, *stored])
        self.problems.append([problem, listed])
        return len(self.problems) - 1

    def write(self, name: str) -> str:
        """Write the script."""
        value = write_compact_json({"texts": list(self.texts), "problems": self.problems})
        return f"(window.reportgenSamples ??= {{}})[{write_compact_json(name)}]={value};\n"


class SampleSource(Struct, frozen=True):
    """The samples of a map, and where the script of a number is put as soon as it is written."""

    samples: SampleTexts
    put: Callable[[int, str], str | CachedText]


def write_samples(
    figure_id: str, grid: ProblemGrid, source: SampleSource | None, context: ScoreContext, *, shared: int
) -> SampleScripts:
    """Write the scripts of a map whose columns have ``shared`` problems each.

    ``places`` of the payload has the script and the index of each problem, by column.
    """
    if source is None or not source.samples.count:
        return SampleScripts()
    samples, problems = source.samples, list(grid.problems)
    ends = {context.lowest: "wrong", context.highest: "right"} if grid.right is not None else {}

    def list_row(one: Sample) -> tuple[list[Any], tuple[str | None, ...]]:
        run = f"run {one.run}, " if one.series in samples.several_runs else ""
        score = ends.get(one.score) or format_score(one.score, context)
        texts = (one.prompt, one.expected, one.response, one.answer, one.explanation)
        return [grid.series.index(one.series), f"{run}sample {one.sample}".strip(), score], texts

    scripts: list[str | CachedText] = []
    part, places, size = _Part(), [], 0
    for number, (problem, own) in enumerate(zip(problems, samples.read(problems), strict=True), start=1):
        places.append((len(scripts), part.add(problem, map(list_row, own))))
        if sum(map(len, part.texts)) > _LARGEST_PART or number == len(problems):
            script = part.write(f"{figure_id}.{len(scripts)}")
            size += len(script.encode())
            scripts.append(source.put(len(scripts), script))
            part = _Part()
    columns = [places[start : start + shared] for start in range(0, len(places), shared)]
    return SampleScripts(
        tuple(scripts),
        {"texts": {"places": columns, "grader": context.score_name}},
        {"texts": {"samples": samples.count, "files": len(scripts), "bytes": size}},
    )
