"""The one place that calls vl-convert: harmless to the process, and refusing the network."""

from __future__ import annotations

import struct

import pytest

from reportgen.figures.render import compile_to_vega, render_pdf, render_png, render_vega_lite

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>'


def words(text: str) -> dict[str, object]:
    """A chart that shows one text."""
    encoding = {"text": {"field": "a", "type": "nominal"}}
    return {"data": {"values": [{"a": text}]}, "mark": "text", "encoding": encoding}


@pytest.mark.parametrize(
    "bad", ["\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\ufffe", "\uffff", "\ud800"]
)
def test_a_character_that_xml_forbids_does_not_end_the_process(bad: str) -> None:
    """vl-convert 1.9 aborts, and all of the build with it, when it measures such a text."""
    assert "a\ufffdb" in render_vega_lite(words(f"a{bad}b"))


@pytest.mark.parametrize("text", ["\\u0007", "\\\\b", "\t\n", "C:\\bin\\fonts"])
def test_a_backslash_is_not_taken_for_an_escape(text: str) -> None:
    """Only characters are replaced, not words that look like their escapes."""
    vega = compile_to_vega(words(text))
    assert vega["data"][0]["values"] == [{"a": text}]


def test_what_vega_lite_refuses_is_a_value_error() -> None:
    """The caller can tell the author."""
    with pytest.raises(ValueError, match="Vega-Lite"):
        render_vega_lite({"mark": {"type": 7}})


def test_nothing_is_fetched() -> None:
    """A specification that names an address is refused, whatever stands there."""
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        render_vega_lite({"data": {"url": "http://127.0.0.1:9/rows.csv"}, "mark": "bar", "encoding": {}})


def test_a_picture_has_its_size() -> None:
    """Scale is pixels a unit."""
    png = render_png(SQUARE, scale=2)
    assert struct.unpack(">II", png[16:24]) == (40, 20)


def test_words_are_set_in_the_font_that_is_shipped() -> None:
    """Another font draws another picture, so the shipped one is found by its name."""
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="30">'
    text = root + '<text y="20" font-size="20" font-family="{}">MEL</text></svg>'
    assert render_png(text.format("Reportgen Sans")) != render_png(text.format("no such font"))


def test_a_pdf_has_the_same_bytes_each_time() -> None:
    """The engine itself writes fonts and their entries in another order in each call, and no date."""
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="30" font-family="Reportgen Sans">'
    words = '<text y="20">MEL</text><text y="20" font-weight="600" fill-opacity=".5">MEL</text></svg>'
    (pdf,) = {render_pdf(root + words) for _ in range(8)}
    assert pdf.startswith(b"%PDF-1.7")
    assert b"/MediaBox [0 0 200 30]" in pdf
    assert pdf.count(b"+ReportgenSans-SemiBold") == 3
    assert b"Date" not in pdf
    table = int(pdf.rsplit(b"startxref", 1)[1].split()[0])
    assert pdf[table:].startswith(b"xref\n0 ")
    for number, line in enumerate(pdf[table:].splitlines()[3:-9], start=1):
        assert pdf[int(line[:10]) :].startswith(b"%d 0 obj\n" % number)
