"""The vega-lite block: our keys are lifted out, outside addresses are refused."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.settings.blocks import VegaLiteSettings
from reportgen.settings.loading import load_block
from reportgen.settings.vega_expressions import check_expression

FENCE = SourceLocation("content/a.md", 10)


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
        "url(\\2f\\2f example.org/x)",
        "u\\72l(/x)",
        "URL(x.png)",
        "\\75 rl(x)",
        "image-set('x.png' 1x)",
        "@import 'x.css'",
        "'\\x2f\\x2fexample.org'",
        "'\\u{68}ttps://example.org'",
        "'url(\\\\2f\\\\2f example.org)'",
        "\\/\\/example.org",
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
        ("", "10: a vega-lite block must be a Vega-Lite specification, in YAML or JSON"),
        ("bar", "a vega-lite block must be a Vega-Lite specification"),
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
        ("layer: [{data: {source: [a]}, mark: bar}]", '"source" must be text'),
        ("mark: bar\ndata: {source: a, format: {type: csv}}", "data with source: cannot have other keys"),
        ("mark: bar\nsource: b\ndata: {source: a}", "the source is named twice"),
        ("mark: bar\ndata: {source: [a]}", '"source" must be text'),
        ("mark: bar\nid: 1a", "must begin with a letter"),
    ],
)
def test_what_cannot_be_drawn_is_refused(body: str, expected: str) -> None:
    """Vega, empty bodies, infinite numbers and second sources are refused in plain words."""
    (said,) = refused(body)
    assert expected in said


REFUSED_EXPRESSIONS = (
    "event.view",
    "event['view']",
    "event . view.alert",
    "(event)['vi' + 'ew']",
    "datum.a ? event : 1",
    "{a: event}",
    "event.item.mark",
    "event.target.ownerDocument.defaultView",
    "event.path[0]",
    "event.composedPath",
    "vlSelectionTuples([{datum: datum}], {})",
    "vlSelectionTuples({map: datum.f}, {})",
    "vlSelectionTest('brush_store', datum)",
    "setdata('rows', [])",
    "modify('rows', [])",
    "encode(datum, 'x')",
    "intersect([[0, 0], [9, 9]])[0]._svg",
    "group()._svg",
    "view()",
    "item._svg",
    "item()",
    "item.mark",
    "warn('x')",
    "alert(1)",
    "eval('1')",
    "datum.constructor.constructor",
    "datum['constructor']",
    "datum['\\x63onstructor']",
    "datum['\\u0063onstructor']",
    "datum['const' + 'ructor'].constructor",
    "datum['const' + 'ructor']['const' + 'ructor']",
    "datum[datum.k][datum.k]",
    "datum.f['const' + 'ructor']",
    "''['const' + 'ructor']",
    "[]['const' + 'ructor']",
    "/x/['const' + 'ructor']",
    "(0 || datum)[datum.k]",
    "data('rows')[datum.k]",
    "peek(data('rows'))['a' + 'b']",
    "datum.f[1 ? 'a' : 'b']",
    "datum.f[1, 'constr' + 'uctor']",
    "datum.__proto__",
    "datum.__defineGetter__",
    "test(/'/, event.view, /'/)",
    "1 / event.view / 2",
    "ev\\u0065nt.view",
    "vlSelectionTuples\ufeff([])",
    "1 // event",
    "1 /* event */",
    "'open",
    "datum.a + " * 1500,
)
FINE_EXPRESSIONS = (
    "datum.a * 2 > 3 && datum['net loss'] != null",
    "datum[column]",
    "datum.values[0]",
    "datum.values[length(datum.values) - 1]",
    "split(datum.path, '/')[1]",
    "test(/^a[\"'/]b/, datum.name) ? 'yes' : \"no\"",
    "brush.x[0] < datum.x && datum.x < brush.x[1]",
    "event.shiftKey || event.key == 'Enter'",
    "{event: 1, item: 2}.event",
    "data('rows')[0].item",
    "format(datum.share, '.1%') + ' of ' + datum.constructors",
    "datum.eval / datum.event / datum.item",
    "if(isValid(datum.größe), datum.größe, 'none')",
    "datum.steps[+i]",
    "datum.label + ': it\\'s'",
)


@pytest.mark.parametrize("expression", REFUSED_EXPRESSIONS)
def test_expressions_that_lead_out_of_the_data_are_refused(expression: str) -> None:
    """Wherever Vega-Lite takes one: to an event's window, an item's element, a value's constructor."""
    written = json.dumps(expression)
    for body in (
        f"mark: bar\ntransform: [{{calculate: {written}, as: z}}]",
        f"mark: bar\ntransform: [{{filter: {{and: [{written}, {{not: {written}}}]}}}}]",
        f"mark: {{type: bar, fill: {{expr: {written}}}}}",
        f"mark: bar\nencoding: {{color: {{condition: {{test: {written}, value: red}}}}}}",
        f"mark: bar\nencoding: {{x: {{axis: {{labelExpr: {written}}}}}}}",
        f"mark: bar\nparams: [{{name: p, expr: {written}}}]",
        f"mark: bar\nparams: [{{name: p, select: {{type: point, toggle: {written}}}}}]",
        f"mark: bar\nparams: [{{name: p, select: {{type: point, on: {{filter: [{written}]}}}}}}]",
        f"layer: [{{mark: bar, height: {{signal: {written}}}}}]",
    ):
        line = 11 + body.count("\n")
        assert {said.split(": ")[0].rpartition(":")[0] for said in refused(body)} == {f"content/a.md:{line}"}


@pytest.mark.parametrize("expression", FINE_EXPRESSIONS)
def test_expressions_on_data_pass(expression: str) -> None:
    """Fields, parameters, indices, functions of numbers and texts, keys of the keyboard."""
    written = json.dumps(expression)
    load(f"mark: bar\ntransform: [{{calculate: {written}, as: z}}, {{filter: {{or: [{written}]}}}}]")


@pytest.mark.parametrize(
    ("selector", "harmless"),
    [
        ("[pointerdown, window:pointerup] > window:pointermove!", True),
        ("pointerdown[!event.shiftKey]{10,20}, dblclick", True),
        ("@bars:click[event.altKey]", True),
        ("pointerover[event.view.alert]", False),
        ("click[event['view']]", False),
        ("[click[item], click] > pointermove", False),
        ("click[datum['a' + 'b'].c]", False),
    ],
)
def test_selectors_of_events_may_ask_for_keys(selector: str, *, harmless: bool) -> None:
    """Their brackets hold expressions, which may not lead to the window either."""
    for key in ("on", "clear", "translate", "zoom"):
        body = f"mark: bar\nparams: [{{name: p, select: {{type: interval, {key}: {json.dumps(selector)}}}}}]"
        if harmless:
            load(body)
        else:
            assert len(refused(body)) == 1


@pytest.mark.parametrize(
    ("bind", "expected"),
    [
        ("{input: text, onfocus: alert(1), autofocus: 'true'}", '"onfocus" is not a key of an input'),
        ("{input: range, max: 9, style: 'x'}", '"style" is not a key of an input'),
        ("{input: text, element: '#search'}", '"element" is not a key of an input'),
        ("{element: '#search', event: input}", '"element" is no input'),
        ("{series: {input: text, formaction: x}}", '"formaction" is not a key of an input'),
        ("{input: image}", "this is no kind of input"),
        ("{input: file}", "this is no kind of input"),
        ("{input: {expr: \"'x'\"}}", "this is no kind of input"),
        ("{legend: 'click[event.view]'}", "an event leads out of the chart"),
    ],
)
def test_an_input_has_no_attributes_but_its_own(bind: str, expected: str) -> None:
    """Vega makes an attribute of every key that it does not know, handlers of events included."""
    for body in (
        f"mark: bar\nparams: [{{name: p, bind: {bind}}}]",
        f"mark: bar\nconfig: {{params: [{{name: p, bind: {bind}}}]}}",
        f"layer: [{{mark: bar, params: [{{name: p, select: point, bind: {bind}}}]}}]",
    ):
        assert any(expected in said for said in refused(body))


@pytest.mark.parametrize(
    "bind",
    [
        "scales",
        "legend",
        "{legend: pointerover}",
        "{input: range, min: 0, max: 9, step: 1, name: 'Cut ', debounce: 10}",
        "{input: select, options: [null, constructor], labels: [All, constructor]}",
        "{series: {input: radio, options: [a, b]}, year: {input: range}}",
    ],
)
def test_inputs_of_vega_lite_pass(bind: str) -> None:
    """Sliders, lists, legends and scales, for one field or several."""
    load(f"mark: bar\nparams: [{{name: p, select: point, bind: {bind}}}]")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("mark: bar\nencoding: {x: {field: constructor.constructor}}", '"constructor" leads out of the data'),
        ("mark: bar\ntransform: [{fold: [a, 'b[constructor]']}]", '"constructor" leads out of the data'),
        ("mark: bar\ntransform: [{calculate: '1', as: __proto__}]", '"__proto__" leads out of the data'),
        ("mark: bar\ntransform: [{pivot: a, value: a.constructor}]", '"constructor" leads out of the data'),
        ("mark: bar\nconfig: {__proto__: {a: 1}}", '"__proto__" leads out of the data'),
        ("mark: bar\nconfig: {signals: [{name: a, update: '1'}]}", '"signals" belongs to Vega'),
        ("mark: bar\nencoding: {x: {field: a, formatType: 'alert(1)||x'}}", "is no type of format"),
        ("mark: bar\nparams: [{name: 'a) || alert(1', value: 1}]", "cannot be the name of a parameter"),
        ("mark: bar\ndata: {values: 'a,b\n\n  1,2', format: {type: csv}}", "would be parsed as a table"),
        (
            "mark: bar\ndata: {name: d, format: {type: csv}}\ndatasets: {d: 'a,b'}",
            "would be parsed as a table",
        ),
        (
            "mark: bar\ntransform: [{lookup: a, from: {data: {values: 'a,b'}, key: a, fields: [b]}}]",
            "as a table in the browser. Put it into a file below data/ and write data: {source: NAME}, or",
        ),
    ],
)
def test_names_and_data_that_become_code_are_refused(body: str, expected: str) -> None:
    """Paths of fields, names of parameters and types of formats end up in expressions."""
    assert any(expected in said for said in refused(body))


def test_words_may_name_anything() -> None:
    """A title, a label or a row of data is no path to code."""
    body = (
        "title: constructor\nmark: {type: text, text: __proto__}\n"
        "data: {values: [{constructor: 1, a: event.view}]}\n"
        "encoding: {color: {field: a, scale: {domain: [constructor], range: [red]}}}"
    )
    assert load(body).title == "constructor"


PIECES = (
    *(
        "event",
        "item",
        "datum",
        "view",
        "constructor",
        "data",
        "length",
        "vlSelectionTuples",
        "a",
        "1",
        "1.5",
    ),
    *(".", "[", "]", "(", ")", "{", "}", ":", ",", "?", "+", "-", "/", "//", "||", "'", '"', "\\", " ", "\n"),
    *("'a'", "'constr' + 'uctor'", "/[/]'/", "\\x63", "\\u0063", "\ufeff", "😀"),
)


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30), st.booleans())
def test_no_expression_slips_through(expression: str, selector: bool) -> None:  # noqa: FBT001 - drawn
    """Whatever is put together: it is judged, and what passes names no way out but in another word."""
    if check_expression(expression, selector=selector) is None:
        bare = re.sub(r"'[^']*'|\"[^\"]*\"|/[^/]*/", "0", expression)
        assert not re.search(r"(?<![\w.$])event\s*(?:\.\s*view\b|\[)", bare)
        assert not re.search(r"\.\s*constructor\b", bare)
        assert not re.search(r"(?<![\w.$])(?:view|vlSelectionTuples)\s*\(", bare)
        assert selector or not re.search(r"\]\s*\[\s*[a-z]", bare)
