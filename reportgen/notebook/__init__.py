"""Notebook functions: the reading, statistics and drawing of a report, with one call for each.

>>> import reportgen as rg
>>> table = rg.read("data/math500")
>>> frame = rg.curves(table, metric="validation score")  # one row per point
>>> chart = rg.draw(table, metric="validation score")
>>> answers = rg.read("data/model-comparison")
>>> scores = rg.scores(answers)  # one row per benchmark and series
>>> pairs = rg.compare(answers)  # one row per benchmark and pair

Instead of the result of ``read``, each takes a data frame with the columns of a data file. ``freeze`` takes
a lazy frame of Spark, DuckDB or Polars, of any size, and writes a source of a report.
"""

from __future__ import annotations

from reportgen.notebook.curve_frames import curves, draw
from reportgen.notebook.freezing import freeze
from reportgen.notebook.score_frames import compare, scores
from reportgen.notebook.tables import Table, read

__all__ = ["Table", "compare", "curves", "draw", "freeze", "read", "scores"]
