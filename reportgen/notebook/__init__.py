"""For notebooks: the same reading, statistics and drawing as a report's, one call each.

>>> import reportgen as rg
>>> table = rg.read("data/math500")
>>> frame = rg.curves(table, metric="validation score")  # a row a point
>>> chart = rg.draw(table, metric="validation score")
>>> answers = rg.read("data/model-comparison")
>>> scores = rg.scores(answers)  # a row a benchmark and series
>>> pairs = rg.compare(answers)  # a row a benchmark and pair
"""

from __future__ import annotations

from reportgen.notebook.curve_frames import Table, curves, draw, read
from reportgen.notebook.score_frames import compare, scores

__all__ = ["Table", "compare", "curves", "draw", "read", "scores"]
