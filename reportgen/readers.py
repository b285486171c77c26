"""What a reader of a format of your own is written with; the guide's page "Your own format" shows one.

A package declares it as an entry point in the group ``reportgen.readers``, whose name is the word of
``format:`` and whose object is a ``Reader``.
"""

from reportgen.formats.decode import Decoder
from reportgen.formats.json_files import JsonLines, read_json
from reportgen.formats.run_data import MetricsBuilder, flatten
from reportgen.formats.runs import (
    Evaluation,
    LoggedRun,
    Points,
    Reader,
    ScoredAnswer,
    Total,
    Unit,
    UnreadableError,
    warn,
)

__all__ = [
    "Decoder",
    "Evaluation",
    "JsonLines",
    "LoggedRun",
    "MetricsBuilder",
    "Points",
    "Reader",
    "ScoredAnswer",
    "Total",
    "Unit",
    "UnreadableError",
    "flatten",
    "read_json",
    "warn",
]
