"""What a table is called, and where it says series and seeds, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reportgen.read.layout import Layout

_TITLES: Final = {
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSON Lines",
    "json": "JSON",
    "parquet": "Parquet",
    "wandb-csv": "a chart that W&B exported as CSV",
}
_COMPRESSIONS: Final = {"gzip": "gzip", "zstd": "zstd"}


def table_title(layout: Layout) -> str:
    """The formats of a source's files: ``CSV``, ``CSV (gzip)``, ``CSV and Parquet``."""
    titles = dict.fromkeys(_title(file.format, file.compression) for file in layout.files)
    *first, last = titles
    return f"{', '.join(first)} and {last}" if first else last


def shape_of(layout: Layout) -> str:
    """What a row is."""
    if layout.outcomes:
        return "a row for each answer"
    if layout.spread:
        return "a column for each run"
    return "a row for each value" if layout.long else "a column for each metric"


def found_by(layout: Layout) -> tuple[str, str]:
    """Where a table says series and seeds, as words after "by"; empty where it does not."""
    if layout.spread:
        return "the columns", "the columns" if any(one.seed for one in layout.spread.values()) else ""
    roles = layout.roles
    series = f'the column "{roles.series}"' if roles.series else ""
    if not series and len(layout.files) > 1:
        series = "the names of files"
    return series, f'the column "{roles.seed}"' if roles.seed else ""


def _title(form: str, compression: str) -> str:
    title = _TITLES.get(form, form)
    return f"{title} ({_COMPRESSIONS[compression]})" if compression in _COMPRESSIONS else title
