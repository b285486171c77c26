"""What a table is called, and where it says series and seeds, in words."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from reportgen.read.tabular.file_names import is_named_by_files

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reportgen.read.layout import Layout
    from reportgen.settings.source import SourceSettings

_TITLES: Final = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON Lines",
    "json": "JSON",
    "parquet": "Parquet",
    "wandb-csv": "a chart that W&B exported as CSV",
}
_ENDINGS: Final = {".jsonl": "JSON Lines", ".ndjson": "JSON Lines"}
_COMPRESSIONS: Final = {"gzip": "gzip", "zstd": "zstd"}


def make_mapped_title(paths: Iterable[str]) -> str:
    """What settings map to a table: ``JSON mapped by source.yml``."""
    endings = (_ENDINGS.get(PurePosixPath(path).suffix.lower(), "JSON") for path in paths)
    return f"{' and '.join(dict.fromkeys(endings))} mapped by source.yml"


def make_table_title(layout: Layout) -> str:
    """The formats of a source's files: ``CSV``, ``CSV (gzip)``, ``CSV and Parquet``."""
    titles = dict.fromkeys(_title(file.format, file.compression) for file in layout.files)
    *first, last = titles
    return f"{', '.join(first)} and {last}" if first else last


def describe_shape(layout: Layout) -> str:
    """What a row is."""
    if layout.outcomes:
        return "a row for each answer"
    if layout.totals:
        return "a row for each score of a benchmark"
    if layout.spread:
        return "a column for each run"
    return "a row for each value" if layout.long else "a column for each metric"


def explain_names(layout: Layout, settings: SourceSettings) -> tuple[str, str]:
    """Where a table says series and seeds, as words after "by"; empty where it does not."""
    if layout.spread:
        return "the columns", "the columns" if any(one.seed for one in layout.spread.values()) else ""
    roles = layout.roles
    groups = {name for file in layout.files for name, _ in file.given}
    by_files = "the names of files" if is_named_by_files(layout, settings) else "the pattern of files:"
    series, seed = (
        by_files if name in groups else f'the column "{name}"' if name else ""
        for name in (roles.series, roles.seed)
    )
    if not series and len(layout.files) > 1:
        series = "the names of files"
    return series, seed


def _title(form: str, compression: str) -> str:
    title = _TITLES.get(form, form)
    return f"{title} ({_COMPRESSIONS[compression]})" if compression in _COMPRESSIONS else title
