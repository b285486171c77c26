"""JSON Schema of everything a user writes in YAML, for editors.

The models are stricter than a schema can say in one place only: an editor checks keys, types and choices,
reportgen checks the rest when it builds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pydantic.json_schema import GenerateJsonSchema

from reportgen.settings.front_matter import FrontMatter
from reportgen.settings.kinds import BLOCKS
from reportgen.settings.project import ProjectSettings
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import CoreSchema

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def make_schemas() -> dict[str, dict[str, Any]]:
    """The schemas of block bodies, by the block's name, of ``source.yml``, front matter and plugin options.

    Returns:
        ``curve``, ``panels``, …, ``source``, ``front-matter``, ``plugin``, in this order, each a complete
        JSON Schema. The same models give the same bytes.
    """
    models: dict[str, type[BaseModel]] = {
        **BLOCKS,
        "source": SourceSettings,
        "front-matter": FrontMatter,
        "plugin": ProjectSettings,
    }
    schemas = {name: _make_schema(model) for name, model in models.items()}
    schemas["vega-lite"] = _make_spec_schema(schemas["vega-lite"])
    schemas["altair"] = _add_short_form(schemas["altair"])
    return schemas


class _Quiet(GenerateJsonSchema):
    """Without a title on each field, which only repeats its key."""

    def field_title_should_be_set(self, _: CoreSchema | Any) -> bool:  # noqa: ANN401  # pydantic's own signature
        return False


def _make_schema(model: type[BaseModel]) -> dict[str, Any]:
    made = model.model_json_schema(schema_generator=_Quiet)
    made.pop("title", None)
    accepted: dict[str, Any] = _add_number_names(made)
    return {"$schema": _DIALECT, **accepted}


def _add_number_names(part: Any) -> Any:  # noqa: ANN401  # any part of a schema
    """A name may be written as a number: it is read as the text that was written."""
    if isinstance(part, list):
        return [_add_number_names(item) for item in part]
    if not isinstance(part, dict):
        return part
    same = {key: _add_number_names(item) for key, item in part.items()}
    if same.get("type") == "string" and "enum" not in same and "pattern" not in same:
        same["type"] = ["string", "number"]
    return same


def _make_spec_schema(made: dict[str, Any]) -> dict[str, Any]:
    """The body of a ``vega-lite`` block is the specification itself, with our keys beside Vega-Lite's own."""
    ours = {key: made["properties"][key] for key in ("id", "caption", "summary", "source")}
    source = {
        "type": "object",
        "properties": {"source": ours["source"]},
        "description": "source: a file or folder of data/; or values written here.",
    }
    return {
        "$schema": _DIALECT,
        "description": "A Vega-Lite specification. It names no outside address.",
        "type": "object",
        "minProperties": 1,
        "properties": {**ours, "data": source},
    }


def _add_short_form(made: dict[str, Any]) -> dict[str, Any]:
    """The body of an ``altair`` block may be ``file.py:function`` and nothing else."""
    dialect, definitions = made.pop("$schema"), made.pop("$defs", None)
    whole: dict[str, Any] = {"$schema": dialect, "anyOf": [made["properties"]["function"], made]}
    if definitions:
        whole["$defs"] = definitions
    return whole
