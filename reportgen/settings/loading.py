"""Loads settings from YAML and validates them, all problems at once; JSON Schema of them for editors."""

from __future__ import annotations

from functools import reduce
from operator import getitem
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import GenerateJsonSchema

from reportgen.core.errors import Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.words import suggest_name
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.report import Benchmark, FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings
from reportgen.settings.text import make_settings_problem, normalise_text, read_text
from reportgen.settings.validation_errors import describe_faults, find_misread_names, locate_faults
from reportgen.settings.vega_lite import split_specification
from reportgen.settings.yaml_tree import (
    MappingNode,
    Origin,
    ScalarNode,
    SequenceNode,
    from_value,
    parse,
    to_values,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as AnyMapping
    from pathlib import Path

    from pydantic_core import CoreSchema

    from reportgen.core.errors import Diagnostic
    from reportgen.settings.blocks import BlockSettings
    from reportgen.settings.yaml_tree import Node


_Model = TypeVar("_Model", bound=BaseModel)
_Declaring = TypeVar("_Declaring", FrontMatter, ProjectSettings)

PLUGIN: Final = "reportgen"
# A key this close to one of ours is a mistyped one; all others belong to MkDocs and its themes.
_OWN_PAGE_KEYS: Final = ("benchmark", "benchmarks")


def load_block(kind: str, body: str, place: SourceLocation) -> BlockSettings:
    """The settings of a fenced block.

    Args:
        kind: the fence's language, a key of ``BLOCKS``.
        body: the text between the fences, without their indentation.
        place: the opening fence; its column is the indentation of the block.

    Raises:
        ReportError: everything that is wrong with the body.
    """
    owner = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} block"
    node = parse(normalise_text(body), Origin(place.file, (place.line or 0) + 1, (place.column or 1) - 1))
    if node is None:
        node = MappingNode(place)
    if kind == "vega-lite":
        node = split_specification(node)
    elif kind == "altair" and isinstance(node, ScalarNode):
        node = MappingNode(node.place, {"function": node}, {"function": node.place})
    return validate_tree(BLOCKS[kind], node, owner)


def load_source_settings(path: Path, name: str) -> SourceSettings:
    """The settings in a ``source.yml``; ``name`` is its path relative to the project.

    Raises:
        ReportError: the file cannot be read, or everything that is wrong with it.
    """
    node = parse(read_text(path, name, Stage.SETTINGS), Origin(name))
    return validate_tree(SourceSettings, node or MappingNode(SourceLocation(name, 1)), path.name)


def load_front_matter(text: str, file: str) -> FrontMatter:
    """What a page's front matter says to reportgen.

    Args:
        text: the YAML between the ``---`` lines; the first of these is line 1 of the file.
        file: the page relative to the project, for messages.

    Raises:
        ReportError: everything that is wrong with the keys that reportgen reads.
    """
    node = parse(normalise_text(text), Origin(file, first_line=2)) or MappingNode(SourceLocation(file, 1))
    problems = Diagnostics()
    if isinstance(node, MappingNode):
        problems.add(_find_mistyped(node))
    front_matter = FrontMatter()
    with problems.collecting():
        front_matter = validate_tree(FrontMatter, node, "the front matter")
    problems.raise_errors()
    return _add_lines(front_matter, node)


def load_project(
    options: AnyMapping[str, object], place: SourceLocation, text: str | None = None
) -> ProjectSettings:
    """The settings of the whole report.

    Args:
        options: the plugin's options as MkDocs read them.
        place: ``mkdocs.yml``.
        text: its text, to find the lines; what does not stand there has no line.

    Raises:
        ReportError: everything that is wrong with the options.
    """
    node = from_value(dict(options), place, _find_plugin_options(text, place.file) if text else None)
    return _add_lines(validate_tree(ProjectSettings, node, f"the {PLUGIN} plugin"), node)


def read_data_settings(path: Path, name: str) -> tuple[str, bool]:
    """The data folder that a ``mkdocs.yml`` names, and whether links in it may lead anywhere.

    The rest of the file is not judged.

    Raises:
        ReportError: the file cannot be read.
    """
    options = _find_plugin_options(read_text(path, name, Stage.SETTINGS), name)
    entries = options.entries if isinstance(options, MappingNode) else {}
    folder, follow = entries.get("data_dir"), entries.get("follow_links")
    data_dir = folder.text if isinstance(folder, ScalarNode) else ProjectSettings().data_dir
    return data_dir, isinstance(follow, ScalarNode) and follow.value is True


def validate_tree(model: type[_Model], node: Node, owner: str) -> _Model:
    """A tree as a value of a model.

    Raises:
        ReportError: everything that does not fit, in plain words.
    """
    if not isinstance(node, MappingNode):
        said = f"{owner} takes keys and values"
        raise ReportError(make_settings_problem(node.place, said, "Write key: value"))
    values = to_values(node)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        for (*path, last), text in find_misread_names(error, node):
            reduce(getitem, path, values)[last] = text
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ReportError(*describe_faults(locate_faults(error, node), model, owner)) from None


def _add_lines(settings: _Declaring, node: Node) -> _Declaring:
    """Settings whose benchmarks know the lines of their names; ``node`` is what the settings were made of."""
    found: dict[str, object] = {}
    for key in ("benchmark", "benchmarks"):
        declared = getattr(settings, key, None)
        written = node.entries.get(key) if isinstance(node, MappingNode) else None
        if isinstance(declared, Benchmark):
            found[key] = declared.place_at_line(_find_line(written))
        elif declared and isinstance(written, SequenceNode):
            pairs = zip(declared, written.items, strict=True)
            found[key] = tuple(benchmark.place_at_line(_find_line(item)) for benchmark, item in pairs)
    return settings.model_copy(update=found) if found else settings


def _find_line(node: Node | None) -> int | None:
    return node.keys.get("name", node.place).line if isinstance(node, MappingNode) else None


def _find_mistyped(front_matter: MappingNode) -> Iterator[Diagnostic]:
    for key, place in front_matter.keys.items():
        guess = suggest_name(key, _OWN_PAGE_KEYS, cutoff=0.88).rstrip()
        if guess and key not in _OWN_PAGE_KEYS:
            message = f'"{key}" is not a key that reportgen or MkDocs reads'
            yield make_settings_problem(place, message, guess)


def _find_plugin_options(text: str, file: str) -> Node | None:
    """Our options in the text of ``mkdocs.yml``, if they can be found; MkDocs judges the rest of the file."""
    try:
        root = parse(normalise_text(text), Origin(file), any_tag=True)
    except ReportError:
        return None
    plugins = root.entries.get("plugins") if isinstance(root, MappingNode) else None
    named = plugins.items if isinstance(plugins, SequenceNode) else (plugins,)
    found = (
        item.entries[PLUGIN] for item in named if isinstance(item, MappingNode) and PLUGIN in item.entries
    )
    return next(found, None)


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
