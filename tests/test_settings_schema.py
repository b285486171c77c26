"""The JSON Schema agrees with what the loader accepts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.loading import load_block, make_schemas

if TYPE_CHECKING:
    from collections.abc import Iterator

GOOD = [
    ("curve", "source: aime\nmetric: pass@1\nband: ci\nsmooth: 0.5\nseries: [a, 1000]"),
    ("curve", "reference: [{y: 0.3, label: x}]\nannotations: [{x: 3, text: here}]"),
    ("curve", "filter: {seed: 1, split: [dev, 2, true]}\nx_domain: [0, 900]\ntitle: 5\nruns: false"),
    ("curve", "{}"),
    ("panels", "source: a\nmetrics:\n- loss\n- {metric: reward, y_scale: log}"),
    ("table", "columns: [final, peak]\norder: best"),
    ("overview", "benchmarks: [AIME]"),
    ("vega-lite", "data: {source: a}\nmark: bar\nencoding: {x: {field: a}}\nid: b"),
    ("altair", "charts.py:draw"),
    ("altair", "function: charts.py:draw\nsource: a"),
]
BAD = [
    ("curve", "smoth: 0.5"),
    ("curve", "smooth: 2"),
    ("curve", "band: cii"),
    ("curve", "highlight: a"),
    ("curve", "x_domain: [1]"),
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
    return jsonschema.Draft202012Validator(make_schemas()[name])


@pytest.mark.parametrize("name", list(make_schemas()))
def test_each_schema_is_a_schema(name: str) -> None:
    """Every part is valid JSON Schema 2020-12."""
    jsonschema.Draft202012Validator.check_schema(make_schemas()[name])


def test_there_is_a_schema_for_everything_written_in_yaml() -> None:
    """Blocks in their order, then source.yml, front matter and plugin options."""
    assert list(make_schemas()) == [*BLOCKS, "source", "front-matter", "hub", "plugin"]


def test_the_schema_is_stable() -> None:
    """Two calls give the same bytes."""
    assert json.dumps(make_schemas()) == json.dumps(make_schemas())


@pytest.mark.parametrize(("kind", "body"), GOOD)
def test_what_the_loader_accepts_the_schema_accepts(kind: str, body: str) -> None:
    """An editor does not mark a body that builds."""
    load_block(kind, body, SourceLocation("a.md", 1))
    validator(kind).validate(yaml.safe_load(body))


@pytest.mark.parametrize(("kind", "body"), BAD)
def test_what_the_loader_refuses_the_schema_refuses(kind: str, body: str) -> None:
    """An editor marks mistyped keys, wrong types and wrong choices."""
    with pytest.raises(ReportError):
        load_block(kind, body, SourceLocation("a.md", 1))
    assert not validator(kind).is_valid(yaml.safe_load(body))


def test_source_and_page_schemas_accept_samples() -> None:
    """source.yml, front matter and plugin options have schemas of their own."""
    validator("source").validate(
        {"title": "a", "columns": {"series": "m"}, "files": ["*.csv"], "rename": {"1": "one"}}
    )
    assert not validator("source").is_valid({"colums": {}})
    validator("front-matter").validate(
        {"title": "a", "hide": ["toc"], "benchmark": {"name": "a", "source": "b"}}
    )
    assert not validator("front-matter").is_valid({"benchmark": {"name": "a"}})
    validator("plugin").validate({"allow_code": True, "series": {"GRPO": 1}})
    assert not validator("plugin").is_valid({"allow_cod": True})


def described(part: Any, path: str = "") -> Iterator[tuple[str, bool]]:  # noqa: ANN401
    """Every property of a schema and whether it has a description."""
    if isinstance(part, dict):
        for key, field in part.get("properties", {}).items():
            yield f"{path}.{key}", "description" in field or "$ref" in field
        for key, child in part.items():
            yield from described(child, f"{path}.{key}")
    elif isinstance(part, list):
        for child in part:
            yield from described(child, path)


def test_every_key_is_described() -> None:
    """Editors show what each key is for."""
    assert [path for path, has in described(make_schemas()) if not has] == []
