"""What an archive needs of a report: its sources, and what each figure was made of."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import to_builtins

from reportgen.archive.provenance import RecordedSource, ReportRecord
from reportgen.core.model import CurveRequest, ResultTable
from reportgen.draft.origin import find_origin, hash_table
from reportgen.settings.block_parts import AltairSettings
from reportgen.site.outputs import get_page_folder, list_figures, list_file_names, list_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.core.model import Figure
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.report import Report

# What computes the numbers of each kind of request: modules, or folders without those below them.
_CURVE_STATISTICS: Final = (
    "read/queries",
    "statistics/curves",
    "statistics/distributions.py",
    "statistics/verdicts.py",
)
_SCORE_STATISTICS: Final = ("read/queries", "statistics", "statistics/curves")


def record_report(report: Report) -> ReportRecord:
    """Return the record of a drafted report.

    A figure's entry changes if, and only if, something it is computed from does: a file of its sources, its
    page's front matter, its block, the settings of either, or the statistics behind it.
    """
    blocks = (block.settings for page in report.pages for block in page.blocks)
    checkpoints = {one.checkpoints.name for one in report.sources.values() if one.checkpoints}
    sources = tuple(
        RecordedSource(
            source.name,
            source.location.file,
            {file.path: file.sha256 for file in source.files},
            source.can_freeze and source.checkpoints is None,
        )
        for source in report.list_sources()
        if source.name not in checkpoints
    )
    code = dict.fromkeys(_get_code(settings) for settings in blocks if isinstance(settings, AltairSettings))
    figures = [one for planned in report.plan.blocks for one in _record_block(planned, report)]
    # Values as JSON has them: provenance.json cannot say NaN.
    documents = tuple(document.file for document in report.documents)
    return ReportRecord(sources, tuple(code), msgspec.json.decode(msgspec.json.encode(figures)), documents)


def _get_code(settings: AltairSettings) -> str:
    return settings.function.partition(":")[0]


def _record_block(planned: PlannedBlock, report: Report) -> Iterator[dict[str, Any]]:
    page, block = planned.page, planned.block
    if (shown := report.shown.get((page.path, block.id))) is None:  # of another language
        return
    sources = [report.sources[name] for name in planned.sources]
    inputs = {
        "data": [file.path for one in sources for file in one.files],
        "settings": [one.location.file for one in sources if one.location.file.endswith("source.yml")],
        "code": [_get_code(block.settings)] if isinstance(block.settings, AltairSettings) else [],
    }
    common = {
        "inputs": [{"path": path, "role": role} for role, paths in inputs.items() for path in paths],
        "block": {
            "file": page.file,
            "line": None if page.generated else block.location.line,
            "kind": block.kind,
            "sha256": hashlib.sha256(block.body.encode()).hexdigest(),
        },
        "settings": block.settings.model_dump(mode="json", exclude_none=True),
        "requests": [
            {"kind": "curve" if isinstance(one, CurveRequest) else "scores"} | to_builtins(one)
            for one in planned.list_all_requests()
        ],
        "statistics": _list_statistics(planned),
    }
    drawn: tuple[Figure | ResultTable, ...] = (*list_figures(shown), *list_tables(shown))
    observed = report.observed.get((page.path, block.id), ())
    for number, one in enumerate(drawn):
        if isinstance(one, ResultTable):
            origin = find_origin(planned, report.sources, one)
            table = hash_table(one.header, [[cell.text for cell in row] for row in one.rows])
        else:
            origin, table = one.origin, one.table_sha256
        yield common | {
            "id": f"{page.path}#{one.id}",
            "origin": origin,
            "table": table,
            "observed": observed[number if len(observed) > 1 else 0] if observed else {},
            "outputs": sorted(list_file_names(get_page_folder(page.path), one)),
        }


def _list_statistics(planned: PlannedBlock) -> list[str]:
    """List what computes the numbers of a block, also in the columns of a table and in what it marks."""
    names = {
        name
        for one in planned.requests
        for name in (_CURVE_STATISTICS if isinstance(one, CurveRequest) else _SCORE_STATISTICS)
    }
    if getattr(planned.block.settings, "columns", ()) or any(one.formula for one in planned.curves):
        names.add("claims")
    if getattr(planned.block.settings, "annotate", ()):
        names |= {"claims", "claims/observations"}
    return sorted(names)
