"""Laws of settings: parsers, schemas and loader agree, proposed lines are accepted, nothing slips through."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from case_pages import read_page
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.settings.blocks import KINDS
from reportgen.settings.hub import HubSettings, load_hub
from reportgen.settings.loading import (
    load_block,
    load_front_matter,
    load_project,
    load_source_settings,
    make_schemas,
)
from reportgen.settings.report import FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.core.errors import Diagnostic

HERE = SourceLocation("a.md", 1)
SCHEMAS = make_schemas()
# Blocks of the pages of transcripts, by the name of their case.
WRITTEN = {
    case.name: re.findall(r"^```([\w-]+)\n(.*?)^```$", case.files[0].text, re.MULTILINE | re.DOTALL)
    for case in read_page(Path(__file__).parent / "transcripts/settings.md")
}


def find_block_problems(kind: str, body: str) -> list[str]:
    """Return what is wrong with the body of a block."""
    try:
        load_block(kind, body, HERE)
    except ReportError as error:
        return [str(problem) for problem in error.problems]
    return []


def test_both_parsers_of_yaml_refuse_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """That of C, and that of Python where the other is not installed, which may stop a line earlier."""
    bodies = [body for _, body in WRITTEN["What YAML refuses is explained"]]
    found = {}
    for loader in (yaml.CSafeLoader, yaml.SafeLoader):
        monkeypatch.setattr("reportgen.settings.yaml_tree._LOADER", loader)
        found[loader] = [find_block_problems("curve", body)[0].split(":", 2) for body in bodies]
    assert len(bodies) > 20
    for one, other in zip(*found.values(), strict=True):
        assert abs(int(one[1]) - int(other[1])) <= 1
        # Where they stop differs, and so may what they stop at.
        assert one[2][-20:] == other[2][-20:]


# ---- schemas ------------------------------------------------------------------------------------

GOOD = [
    ("curve", "source: aime\nmetric: pass@1\nband: ci\nsmooth: 0.5\nseries: [a, 1000]"),
    ("curve", "reference: [{y: 0.3, label: x}]\nannotations: [{x: 3, text: here}]"),
    ("curve", "filter: {seed: 1, split: [dev, 2, true]}\nx_domain: [0, 900]\ntitle: 5\nruns: false"),
    ("curve", "highlight: a\nreference: {y: 0.3}\nother_x: tokens"),
    ("curve", "{}"),
    ("panels", "source: a\nmetrics:\n- loss\n- {metric: reward, y_scale: log}"),
    ("table", "columns: [final, peak]\norder: best"),
    ("overview", "benchmarks: [AIME]"),
    ("vega-lite", "data: {source: a}\nmark: bar\nencoding: {x: {field: a}}\nid: b"),
    ("altair", "charts.py:draw"),
    ("altair", "function: charts.py:draw\nsource: a"),
]
BAD = [
    *(("curve", body) for body in ("smoth: 0.5", "smooth: 2", "band: cii", "x_domain: [1]")),
    ("panels", "source: a"),
    ("panels", "metrics: [{metric: a, tilte: b}]"),
    ("table", "columns: [fin]"),
    ("overview", "benchmark: a"),
    ("vega-lite", "id: 1a\nmark: bar"),
    ("altair", "charts.py"),
    ("altair", "source: a"),
]


def validator(name: str) -> jsonschema.Draft202012Validator:
    """A validator for one of the schemas."""
    return jsonschema.Draft202012Validator(SCHEMAS[name])


def describe_keys(part: object, path: str = "") -> Iterator[tuple[str, bool]]:
    """Every property of a schema and whether it has a description."""
    if isinstance(part, dict):
        for key, field in part.get("properties", {}).items():
            yield f"{path}.{key}", "description" in field or "$ref" in field
        for key, child in part.items():
            yield from describe_keys(child, f"{path}.{key}")
    elif isinstance(part, list):
        for child in part:
            yield from describe_keys(child, path)


def test_there_is_a_schema_for_everything_written_in_yaml() -> None:
    """In the order of blocks, valid, the same each time, and with words for each key, which editors show."""
    assert list(SCHEMAS) == [*KINDS, "source", "front-matter", "hub", "plugin"]
    assert json.dumps(SCHEMAS) == json.dumps(make_schemas())
    for schema in SCHEMAS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    assert [path for path, has in describe_keys(SCHEMAS) if not has] == []


def test_the_schema_of_a_block_accepts_what_the_loader_accepts() -> None:
    """An editor marks mistyped keys, wrong types and wrong choices, and no body that builds."""
    for kind, body in GOOD:
        assert find_block_problems(kind, body) == []
        validator(kind).validate(yaml.safe_load(body))
    for kind, body in BAD:
        assert find_block_problems(kind, body)
        assert not validator(kind).is_valid(yaml.safe_load(body)), (kind, body)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        (
            "source",
            {"title": "a", "columns": {"series": "m"}, "files": ["*.csv"], "rename": {"1": "one"}},
            {"colums": {}},
        ),
        (
            "front-matter",
            {"title": "a", "hide": ["toc"], "benchmark": {"name": "a", "source": "b"}},
            {"benchmark": {"name": "a"}},
        ),
        ("plugin", {"allow_code": True, "series": {"GRPO": 1}}, {"allow_cod": True}),
    ],
)
def test_other_schemas_accept_samples(name: str, good: object, bad: object) -> None:
    """source.yml, front matter and plugin options have schemas of their own."""
    validator(name).validate(good)
    assert not validator(name).is_valid(bad)


# ---- proposed lines -----------------------------------------------------------------------------


def list_models(
    annotation: object, wrap: Callable[[str], str] = str
) -> dict[str, tuple[type[BaseModel], Callable[[str], str]]]:
    """Return the models that an annotation mentions by name, and how a line stands in the whole settings."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        parts, kind = get_args(annotation), get_origin(annotation)
        mark = "- " if kind in {list, tuple} else "any: " if kind is dict else ""
        return {name: one for part in parts for name, one in list_models(part, _nest_in(mark, wrap)).items()}
    inner = [
        list_models(field.annotation, _nest_in(f"{key}: ", wrap))
        for key, field in annotation.model_fields.items()
    ]
    return {
        annotation.__name__: (annotation, wrap),
        **{name: one for models in inner for name, one in models.items()},
    }


def _nest_in(mark: str, wrap: Callable[[str], str]) -> Callable[[str], str]:
    """Return what puts a line behind a key or into a list, and that where it belongs."""
    if not mark:
        return wrap
    return lambda text: wrap(f"{mark.rstrip()}\n" + "".join(f"  {line}\n" for line in text.splitlines()))


TOP = {
    **{name: kind.settings for name, kind in KINDS.items()},
    "source": SourceSettings,
    "page": FrontMatter,
    "plugin": ProjectSettings,
    "hub": HubSettings,
}
# Each model with the kind of settings in which it stands.
MODELS = {
    name: (kind, *one) for kind, model in reversed(TOP.items()) for name, one in list_models(model).items()
}
VALUES = ("Ada", "0.8", "100", "true", "a, b", "50%", "percentt", "fals", "[0.8]", "[Ada]", "{Ada: Bob}")


def find_problems(kind: str, text: str, folder: Path) -> list[Diagnostic]:
    """Return what is wrong with settings of a kind."""
    path = folder / "settings.yml"
    path.write_text(text, "utf-8")
    try:
        if kind == "source":
            load_source_settings(path, "source.yml")
        elif kind == "hub":
            load_hub(path)
        elif kind == "page":
            load_front_matter(text, "a.md")
        elif kind == "plugin":
            whole = "plugins:\n- reportgen:\n" + "".join(f"    {line}\n" for line in text.splitlines())
            load_project(yaml.safe_load(text), SourceLocation("mkdocs.yml"), whole)
        else:
            load_block(kind, text, HERE)
    except ReportError as error:
        return list(error.problems)
    return []


def follow(text: str, problem: Diagnostic) -> list[str]:
    """Return the settings that the next step proposes, each as a whole."""
    key, _, value = text.partition(": ")
    if near := re.match(r'Did you mean "(.+?)"\?', problem.next_step):
        wrong = re.search(r'"(.+?)"|: (.+?)"', problem.message)
        assert wrong
        is_key = "is not a key" in problem.message
        return [] if is_key else [f"{key}: {near[1]}" if value == wrong[1] or key in wrong[1] else ""]
    proposed = re.fullmatch(r"Write ((?:\w+: |\{\w+: ).+)", problem.next_step)
    lines = proposed[1].split(" or ") if proposed else []
    # Braces stand for an item of the list, and another key for one inside this.
    return [
        f"{key}: [{line}]" if line.startswith("{") else line if line.startswith(key) else f"{key}: {{{line}}}"
        for line in lines
    ]


@pytest.mark.parametrize("name", MODELS)
def test_proposed_lines_are_accepted(name: str, tmp_path: Path) -> None:
    """Nothing is wrong any more, but for what was wrong elsewhere; whatever the key and what was written."""
    kind, model, wrap = MODELS[name]
    followed = 0
    for key in model.model_fields:
        for written in VALUES:
            problems = find_problems(kind, wrap(text := f"{key}: {written}"), tmp_path)
            others = {one.message for one in problems if f'"{key}' not in one.message}
            for line in (line for problem in problems for line in follow(text, problem)):
                left = {one.message for one in find_problems(kind, wrap(line), tmp_path)}
                assert left <= others, (text, line, left)
                followed += 1
    assert followed or name not in {"CurveSettings", "SourceSettings", "Citation"}


# ---- anything that may be written ---------------------------------------------------------------

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
    param = {"name": "p", "select": {"type": "point", "on": expression}}
    body = {"mark": "bar", **({"params": [param]} if selector else {"width": {"expr": expression}})}
    if not find_block_problems("vega-lite", json.dumps(body)):
        bare = re.sub(r"'[^']*'|\"[^\"]*\"|/[^/]*/", "0", expression)
        assert not re.search(r"(?<![\w.$])event\s*(?:\.\s*view\b|\[)", bare)
        assert not re.search(r"\.\s*constructor\b", bare)
        assert not re.search(r"(?<![\w.$])(?:view|vlSelectionTuples)\s*\(", bare)
        assert selector or not re.search(r"\]\s*\[\s*[a-z]", bare)


KEYS = sorted({key for part in SCHEMAS.values() for key in part.get("properties", {})})
SCALARS = (
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    st.sampled_from(["ci", "log", "1e3", "no", "a.py:f", "x" * 1200, "https://x", "*.csv"]),
)


def _nest(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    keys = st.sampled_from(KEYS) | st.text(max_size=4)
    return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)


ANY = st.recursive(st.one_of(*SCALARS), _nest, max_leaves=12)
BODIES = st.dictionaries(st.sampled_from(KEYS), ANY, max_size=6)
YAML_NOISE = st.text(st.sampled_from("abc:-[]{}#&*!|>'\"%@`,? \n\t1.\u2028\ud800\x00😀"), max_size=60)


def only_problems(error: ReportError) -> None:
    """Problems are bounded, placed and in plain words."""
    assert 0 < len(error.problems) <= 200
    for problem in error.problems:
        assert problem.message
        assert len(str(problem)) < 2000
        assert "Input should" not in str(problem)
        assert "is not accepted (" not in str(problem)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(KINDS)), st.one_of(BODIES.map(json.dumps), YAML_NOISE, ANY.map(json.dumps)))
@example("curve", "[" * 5000)
@example("curve", "{a: " * 5000)
@example("curve", "- " * 5000)
@example("curve", "? " * 5000)
@example("curve", "a: &a [*a, *a]")
@example("curve", "smooth: " + "9" * 5000)
@example("curve", "%YAML 9.9\n---\na")
@example("vega-lite", "a: !!binary x")
def test_any_body_gives_settings_or_problems(kind: str, body: str) -> None:
    """Random keys with random values, and random characters, never make the loader fail."""
    try:
        load_block(kind, body, HERE)
    except ReportError as error:
        only_problems(error)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(BODIES, st.binary(max_size=80))
def test_any_options_and_files_give_settings_or_problems(
    tmp_path: Path, options: dict[str, object], noise: bytes
) -> None:
    """MkDocs may hand over anything, and a source.yml or a page hold any bytes."""
    for text in (None, json.dumps({"plugins": [{"reportgen": options}]})):
        try:
            load_project(options, SourceLocation("mkdocs.yml"), text)
        except ReportError as error:
            only_problems(error)
    path = tmp_path / "source.yml"
    for content in (json.dumps(options).encode(), noise):
        path.write_bytes(content)
        for load in (
            load_source_settings,
            lambda file, name: load_front_matter(file.read_text("latin-1"), name),
        ):
            try:
                load(path, "data/a/source.yml")
            except ReportError as error:
                only_problems(error)
