"""Files to tables: one module per format, and the opening of a source."""

from __future__ import annotations

from reportgen.read.answering import read_outcomes
from reportgen.read.find import find_sources
from reportgen.read.frames import make_frame, read_raw_frame
from reportgen.read.measuring import read_measurements
from reportgen.read.opening import open_path, open_source
from reportgen.read.problem_sets import hash_problem_set
from reportgen.read.score_names import get_score_names
from reportgen.read.totals import TotalsTable

__all__ = [
    "TotalsTable",
    "find_sources",
    "make_frame",
    "read_measurements",
    "open_path",
    "open_source",
    "read_outcomes",
    "hash_problem_set",
    "read_raw_frame",
    "get_score_names",
]
