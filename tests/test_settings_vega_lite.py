"""The vega-lite block: our keys are lifted out, outside addresses are refused."""

from __future__ import annotations

import json

import pytest

from reportgen.errors import Place, ReportError
from reportgen.settings.blocks import VegaLiteSettings
from reportgen.settings.loading import load_block

FENCE = Place("content/a.md", 10)


def load(body: str) -> VegaLiteSettings:
    """The settings of a vega-lite block."""
    settings = load_block("vega-lite", body, FENCE)
    assert isinstance(settings, VegaLiteSettings)
    return settings


def refused(body: str) -> list[str]:
    """Why a vega-lite block is refused."""
    with pytest.raises(ReportError) as caught:
        load_block("vega-lite", body, FENCE)
    return [str(problem) for problem in caught.value.problems]


def test_our_keys_are_lifted_out() -> None:
    """The specification is what remains; its title is the figure's as well."""
    settings = load(
        "id: rain\ncaption: Mind the axis.\nsummary: It rains.\ntitle: Rain\n"
        "data: {source: weather}\nmark: bar\nencoding: {x: {field: month}}"
    )
    assert (settings.id, settings.caption, settings.summary) == ("rain", "Mind the axis.", "It rains.")
    assert (settings.source, settings.title) == ("weather", "Rain")
    assert settings.spec == {"title": "Rain", "mark": "bar", "encoding": {"x": {"field": "month"}}}


def test_a_title_with_parts_stays_in_the_specification() -> None:
    """Only a text can be the figure's title."""
    settings = load("title: {text: Rain}\nmark: bar\nsource: weather")
    assert (settings.title, settings.source) == (None, "weather")
    assert settings.spec["title"] == {"text": "Rain"}


def test_layers_may_have_sources_of_their_own() -> None:
    """A source named inside the specification stays there, by the text that was written."""
    settings = load(
        "layer:\n- {data: {source: 2024}, mark: bar}\n- {data: {values: [{source: 1}]}, mark: rule}"
    )
    assert settings.source is None
    assert [layer["data"] for layer in settings.spec["layer"]] == [
        {"source": "2024"},
        {"values": [{"source": 1}]},
    ]


def test_a_specification_may_be_json() -> None:
    """What other tools export can be pasted, escapes and schema included."""
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.1.json",
        "data": {"values": [{"url": "a", "n": 1}]},
        "mark": "bar",
        "title": "smile \U0001f600 / caf\xe9",
    }
    for text in (json.dumps(spec), json.dumps(spec, indent=2, ensure_ascii=False)):
        assert load(text).spec == spec


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org/x",
        "HTTP://example.org",
        "http:example.org",
        "//example.org/x",
        "\\\\example.org\\x",
        "/\\example.org",
        " //example.org",
        "data:text/html,x",
        "data:;base64,x",
        "file:///etc/passwd",
        "file:x",
        "ftp://example.org",
        "javascript:alert(1)",
        "java\tscript:alert(1)",
        "java\u200bscript:alert(1)",
        "blob:x",
        "ws://example.org",
        "'https://example.org'",
        "datum.a + '//example.org/' + datum.b",
        "'ht' + 'tps://example.org'",
        "see https://example.org for more",
    ],
)
def test_outside_addresses_are_refused_anywhere(text: str) -> None:
    """Whatever names another site is refused with its line, in texts, keys and expressions."""
    written = json.dumps(text)
    for body in (
        f"mark: bar\ntitle: {written}",
        f"mark: bar\ntransform: [{{calculate: {written}, as: y}}]",
        f"mark: bar\nencoding: {{tooltip: {{condition: {{test: x, value: {written}}}}}}}",
        f"mark: bar\ndata: {{values: [{{a: {written}}}]}}",
        f"mark: bar\nconfig: {{{written}: 1}}",
    ):
        (said,) = refused(body)
        assert "holds an outside address" in said
        assert said.startswith("content/a.md:12:")


@pytest.mark.parametrize(
    "body",
    [
        "mark: bar\ndata: {url: weather.csv}",
        "mark: bar\ndata: {url: 'https://example.org/a.csv'}",
        "mark: image\nencoding: {url: {field: picture}}",
        "mark: point\nencoding: {href: {value: 'javascript:alert(1)'}}",
        "mark: {type: image, url: a.png}",
        "mark: {type: point, href: {expr: \"'a' + 'b'\"}}",
        "mark: bar\nusermeta: {embedOptions: {loader: {baseURL: 'https://example.org'}}}",
        "mark: bar\ntransform: [{lookup: a, from: {data: {URL: b.csv}, key: a}}]",
    ],
)
def test_keys_that_load_are_refused(body: str) -> None:
    """Even a relative file is refused: data come by source."""
    said = refused(body)
    assert any("would load something from outside the report" in line for line in said)
    assert not any("holds an outside address" in line for line in said)


@pytest.mark.parametrize(
    "text",
    [
        "Data: validation",
        "loss: train and dev",
        "datum.a / datum.b",
        "a // b",
        "training data:x",
        "metadata:text/a",
        "format('.2f')",
        "12:30",
        "and/or",
        "time = 3 // fast",
    ],
)
def test_plain_texts_pass(text: str) -> None:
    """A colon or a slash is no address."""
    assert load(f"mark: bar\ntitle: {json.dumps(text)}").title == text


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", "10: a vega-lite block takes a Vega-Lite specification, in YAML or JSON"),
        ("bar", "a vega-lite block takes a Vega-Lite specification"),
        (
            "$schema: https://vega.github.io/schema/vega/v6.json\nmark: bar",
            "$schema does not name a schema of Vega-Lite",
        ),
        (
            "$schema: https://example.org/schema/vega-lite/v6.json\nmark: bar",
            "$schema does not name a schema",
        ),
        ("mark: bar\nheight: .nan", ".nan is not a finite number. Write null."),
        ("mark: bar\nheight: 1e999", "1e999 is not a finite number"),
        ("layer: [{data: {source: [a]}, mark: bar}]", '"source" takes text'),
        ("mark: bar\ndata: {source: a, format: {type: csv}}", "beside source, data takes nothing else"),
        ("mark: bar\nsource: b\ndata: {source: a}", "the source is named twice"),
        ("mark: bar\ndata: {source: [a]}", '"source" takes text'),
        ("mark: bar\nid: 1a", "begins with a letter"),
    ],
)
def test_what_cannot_be_drawn_is_refused(body: str, expected: str) -> None:
    """Vega, empty bodies, infinite numbers and second sources are refused in plain words."""
    (said,) = refused(body)
    assert expected in said
