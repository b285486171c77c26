"""Finding, opening and reading sources as tables of measurements, outcomes and totals."""

from __future__ import annotations

from reportgen.formats.sql import close_database
from reportgen.read.find import find_sources
from reportgen.read.groups import find_pooled_settings
from reportgen.read.joined import (
    get_benchmark_parts,
    get_score_names,
    list_values,
    open_totals,
    read_measurements,
    read_outcomes,
    read_run_settings,
)
from reportgen.read.joining import join_sources
from reportgen.read.measurements import make_frame, read_raw_frame
from reportgen.read.queries.sample_texts import list_answers
from reportgen.read.scored.outcomes import hash_problem_set
from reportgen.read.scored.totals import TotalsTable
from reportgen.read.sources import open_path, open_source
from reportgen.read.x_axis import list_axes

__all__ = [
    "TotalsTable",
    "close_database",
    "find_pooled_settings",
    "find_sources",
    "get_benchmark_parts",
    "get_score_names",
    "hash_problem_set",
    "join_sources",
    "list_answers",
    "list_axes",
    "list_values",
    "make_frame",
    "open_path",
    "open_source",
    "open_totals",
    "read_measurements",
    "read_outcomes",
    "read_raw_frame",
    "read_run_settings",
]
