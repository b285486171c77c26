"""Files to tables: one module per format, and the opening of a source."""

from __future__ import annotations

from reportgen.read.answering import outcomes
from reportgen.read.find import find_sources
from reportgen.read.frames import frame, raw_frame
from reportgen.read.measuring import measurements
from reportgen.read.opening import open_path, open_source
from reportgen.read.problem_sets import problem_set_hash
from reportgen.read.score_names import score_names
from reportgen.read.totals import TotalsTable

__all__ = [
    "TotalsTable",
    "find_sources",
    "frame",
    "measurements",
    "open_path",
    "open_source",
    "outcomes",
    "problem_set_hash",
    "raw_frame",
    "score_names",
]
