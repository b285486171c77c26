"""Rows of data tables: escaped all at once, as if cell by cell."""

from __future__ import annotations

import re
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from reportgen.site.fragments import render_data_rows

_ROW = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=8), min_size=1, max_size=4)


@given(st.lists(_ROW, max_size=4))
def test_rows_are_those_of_a_template(rows: list[list[str]]) -> None:
    """Whatever stands in the cells, markup and separators included."""
    cells = [[re.sub("[\x1e\x1f]", " ", cell) for cell in row] for row in rows]
    expected = ""
    for first, *others in cells:
        data = "".join(f"<td>{escape(cell)}</td>" for cell in others)
        expected += f'<tr><th scope="row">{escape(first)}</th>{data}</tr>'
    assert render_data_rows(rows) == expected.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
