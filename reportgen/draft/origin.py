"""Hashes by which figures and tables are recognised: what a figure is drawn from, and what a table says.

The SVG file of a figure names two short hashes, of its inputs and of its definition. They hold neither commit
nor version: a figure keeps its bytes, and where another version of reportgen draws other bytes, the two still
have one origin. The hash of a table is that of its texts, which a page, ``report.json`` and an archive share.
"""

from __future__ import annotations

import hashlib
import json
import re
from html import unescape
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.core.cache import get_digest
from reportgen.core.model import CurveRequest, Observed, Origin
from reportgen.figures.text import escape_text
from reportgen.settings.block_parts import ChartSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from reportgen.core.model import Figure, Request, ResultTable
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.blocks.results import ResultsStore
    from reportgen.settings.inputs import Source

_DIGITS: Final = 16
_END: Final = "</svg>"
# Fields of topics that were added later, with their defaults, which change no definition;
# ``value``, ``order`` and ``log`` are those of the block's settings.
_ADDED_LATER: Final = re.compile(
    r", (?:formula=''|x_formula=''|by=\(\)|colour=None|value='\w*'|part=''|order='[^']*'|log=\w+)(?=[,)])"
)
_METADATA: Final = re.compile(
    r"<metadata>reportgen figure=([^<]*) inputs=([0-9a-f]{16}) definition=([0-9a-f]{16})</metadata>"
)


def find_origin(planned: PlannedBlock, sources: Mapping[str, Source], shown: Figure | ResultTable) -> Origin:
    """Find what a figure or table of a block is drawn from.

    Its definition is made of the settings of its block, its sources and its page's benchmark that are not the
    default ones, so that a setting of a later version changes none, of what the page lets it mark and, where
    an author's function draws it, of the specification it returns. ``pdf`` changes no picture.
    """
    files = sorted((file.path, file.sha256) for name in planned.sources for file in sources[name].files)
    block, benchmark = planned.block, planned.page.front_matter.benchmark
    settings = [block.settings, *(sources[name].settings for name in planned.sources)]
    settings += [benchmark] if benchmark else []
    parts = [block.kind, *(one.model_dump_json(exclude_defaults=True, exclude={"pdf"}) for one in settings)]
    parts += [_ADDED_LATER.sub("", repr(topic)) for topic in planned.topics]
    parts += [claim.expression for claim in planned.claims]
    if isinstance(block.settings, ChartSettings):
        parts.append(get_digest(getattr(shown, "spec", "")))
    return Origin(_hash(files), _hash(parts))


def _hash(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:_DIGITS]


def count_observed(requests: Iterable[Request], answers: ResultsStore) -> Observed:
    """Count the series, runs and problems of requests, each once, and the values that were left out."""
    runs: set[tuple[str, str, str]] = set()  # source, series and run
    problems: set[tuple[str, str | None, str]] = set()  # source, benchmark and problem
    left_out: dict[str, tuple[int, int]] = {}  # dropped and replaced, by what was read
    for request in requests:
        source = request.source
        if isinstance(request, CurveRequest):
            found = answers.get_curves(request).curve_set
            runs |= {(source, curve.series, run.run) for curve in found.curves for run in curve.runs}
            left_out[f"{source} {request.metric}"] = found.dropped, found.replaced
        elif (scores := answers.get_problem_scores(request)).problems:
            runs |= {(source, scores.series[one.series], one.run) for one in scores.runs}
            problems |= {(source, request.benchmark, name) for name in scores.problems}
            left_out[f"{source} {request.benchmark}"] = scores.notes.missing, scores.notes.replaced
        else:  # totals, whose problems are not listed
            counts = (
                (one.series, number) for one in answers.get_scores(request) for number in range(one.runs)
            )
            runs |= {(source, series, str(number)) for series, number in counts}
    dropped, replaced = (
        (sum(counts) for counts in zip(*left_out.values(), strict=True)) if left_out else (None, None)
    )
    series = {name for _, name, _ in runs}
    return Observed(len(series), len(runs), len(problems) or None, dropped, replaced)


def name_figure(page: str, figure_id: str) -> str:
    """Return the name of a figure in its SVG file, such as ``math500/scores``, from its page's path."""
    return f"{PurePosixPath(page).with_suffix('')}/{figure_id}"


_BETWEEN: Final = "\0"
_UNEVEN: Final = re.compile(r"(?:\A|\0) | (?:\0|\Z)|  |[^\S ]")
"""White space that is not one space between two words."""


def hash_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the SHA-256 of a table's texts, whatever the white space between words."""
    cells = [header, *rows]
    # Nearly all tables are even, and one look at all cells takes a quarter of the time of splitting each.
    if _UNEVEN.search(_BETWEEN.join(_BETWEEN.join(row) for row in cells)):
        cells = [[" ".join(cell.split()) for cell in row] for row in cells]
    return hashlib.sha256(json.dumps(cells, ensure_ascii=False).encode()).hexdigest()


def add_metadata(svg: str, name: str, origin: Origin) -> str:
    """Add to an SVG file what it is drawn from, as its last element."""
    drawing, end, after = svg.rpartition(_END)
    words = f"reportgen figure={escape_text(name)} inputs={origin.inputs} definition={origin.definition}"
    return f"{drawing}<metadata>{words}</metadata>{end}{after}"


def read_metadata(svg: str) -> tuple[str, Origin] | None:
    """Read the name of a figure and its origin from an SVG file; None if it does not say them."""
    found = _METADATA.search(svg)
    return (unescape(found[1]), Origin(found[2], found[3])) if found else None


def remove_metadata(svg: str) -> str:
    """Return an SVG file as it was drawn."""
    return _METADATA.sub("", svg)
