"""Loads settings from YAML and validates them, all problems at once; JSON Schema of them for editors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from reportgen.core.errors import Diagnostics, ReportError, SourceLocation, Stage
from reportgen.core.words import suggest_name
from reportgen.settings.report import Benchmark, FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings
from reportgen.settings.text import make_settings_problem, normalise_text, read_text
from reportgen.settings.validation_errors import validate_tree
from reportgen.settings.yaml_tree import Node, Origin, from_value, parse, to_values

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import BaseModel
    from pydantic_core import CoreSchema

    from reportgen.settings.block_parts import BlockSettings


_Declaring = TypeVar("_Declaring", FrontMatter, ProjectSettings)

PLUGIN: Final = "reportgen"
# A key this similar to one of ours is a typing error; all others belong to MkDocs and its themes.
_OWN_PAGE_KEYS: Final = ("benchmark", "benchmarks")


def load_block(kind: str, body: str, place: SourceLocation) -> BlockSettings:
    """The settings of a fenced block, of which ``kind`` is one of ``list_kinds``.

    ``place`` is the opening fence; its column is the indentation of the block, which ``body`` does not have.

    Raises:
        ReportError: everything that is wrong with the body.
    """
    from reportgen.settings.blocks import get_kind  # noqa: PLC0415 - describe reads no block, and has to be quick

    origin = Origin(place.file, (place.line or 0) + 1, (place.column or 1) - 1)
    node = parse(normalise_text(body), origin) or Node(place, "mapping")
    if kind == "vega-lite":
        from reportgen.settings.vega_lite import split_specification  # noqa: PLC0415 - as above

        node = split_specification(node)
    elif kind == "altair" and node.kind == "scalar":
        node = Node(node.place, "mapping", entries={"function": node}, keys={"function": node.place})
    return validate_tree(get_kind(kind).settings, node, f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} block")


def load_source_settings(path: Path, name: str) -> SourceSettings:
    """The settings in a ``source.yml``; ``name`` is its path relative to the project.

    Raises:
        ReportError: the file cannot be read, or everything that is wrong with it.
    """
    node = parse(read_text(path, name, Stage.SETTINGS), Origin(name))
    settings = validate_tree(SourceSettings, node or Node(SourceLocation(name, 1), "mapping"), path.name)
    return settings.add_labels(settings.labels) if settings.labels else settings


def load_front_matter(text: str, file: str) -> FrontMatter:
    """The keys of a page's front matter that reportgen reads; line 1 of the file is the ``---`` above it.

    Raises:
        ReportError: everything that is wrong with these keys.
    """
    if not text:
        return FrontMatter()
    empty = Node(SourceLocation(file, 1), "mapping")
    node = parse(normalise_text(text), Origin(file, first_line=2)) or empty
    problems = Diagnostics()
    for key, place in node.keys.items():
        guess = suggest_name(key, _OWN_PAGE_KEYS, cutoff=0.88).rstrip()
        if guess and key not in _OWN_PAGE_KEYS:
            message = f'"{key}" is not a key that reportgen or MkDocs reads'
            problems.add([make_settings_problem(place, message, guess)])
    front_matter = FrontMatter()
    with problems.collecting():
        front_matter = validate_tree(FrontMatter, node, "the front matter")
    problems.raise_errors()
    return _add_lines(front_matter, node)


def load_project(
    options: Mapping[str, object], place: SourceLocation, text: str | None = None
) -> ProjectSettings:
    """The settings of the whole report from the plugin's options as MkDocs read them.

    ``text`` is that of ``mkdocs.yml``, at ``place``; what does not stand there has no line.

    Raises:
        ReportError: everything that is wrong with the options.
    """
    node = from_value(dict(options), place, _find_plugin_options(text, place.file) if text else None)
    return _add_lines(validate_tree(ProjectSettings, node, f"the {PLUGIN} plugin"), node)


def read_data_settings(path: Path, name: str) -> tuple[str, bool]:
    """The data folder that a ``mkdocs.yml`` names, and whether links in it may lead anywhere.

    The rest of the file is not checked.

    Raises:
        ReportError: the file cannot be read.
    """
    options = _find_plugin_options(read_text(path, name, Stage.SETTINGS), name)
    entries = options.entries if options else {}
    folder, follow = entries.get("data_dir"), entries.get("follow_links")
    # An instance would build the validators of all settings.
    usual: str = ProjectSettings.model_fields["data_dir"].default
    data_dir = folder.text if folder and folder.kind == "scalar" else usual
    return data_dir, follow is not None and follow.value is True


def find_input_folders(config_file: Path) -> tuple[Path, ...]:
    """The content folder and the data folder that a ``mkdocs.yml`` names, of which nothing is run.

    Empty if it cannot be read.
    """
    try:
        text = read_text(config_file, config_file.name, Stage.SETTINGS)
        root = parse(normalise_text(text), Origin(config_file.name), any_tag=True)
        data_dir, _ = read_data_settings(config_file, config_file.name)
    except ReportError:
        return ()
    content = root.entries.get("docs_dir") if root else None
    folder = config_file.resolve().parent
    return folder / (content.text if content else "docs"), folder / data_dir


def read_project_settings(path: Path, name: str) -> tuple[str, ProjectSettings]:
    """The content folder and our settings of a ``mkdocs.yml``, of which nothing is run.

    Raises:
        ReportError: the file cannot be read, or everything that is wrong with our settings.
    """
    text = read_text(path, name, Stage.SETTINGS)
    root = parse(normalise_text(text), Origin(name), any_tag=True)
    folder, options = root.entries.get("docs_dir") if root else None, _find_plugin_options(text, name)
    empty = Node(SourceLocation(name, 1), "mapping")
    settings = validate_tree(ProjectSettings, options or empty, f"the {PLUGIN} plugin")
    extra = root.entries.get("extra") if root else None
    if extra is not None and extra.kind == "mapping":
        settings = settings.model_copy(update={"variables": to_values(extra) | settings.variables})
    return folder.text if folder and folder.kind == "scalar" else "docs", settings


def _find_plugin_options(text: str, file: str) -> Node | None:
    """Our options in the text of ``mkdocs.yml``, if they can be found; MkDocs checks the rest of the file."""
    try:
        root = parse(normalise_text(text), Origin(file), any_tag=True)
    except ReportError:
        return None
    plugins = root.entries.get("plugins") if root else None
    listed = (plugins, *plugins.items) if plugins else ()
    return next((item.entries[PLUGIN] for item in listed if PLUGIN in item.entries), None)


def _add_lines(settings: _Declaring, node: Node) -> _Declaring:
    """The settings made of ``node``, in which benchmarks know the lines of their names."""
    placed: dict[str, object] = {}
    for key in ("benchmark", "benchmarks"):
        declared, written = getattr(settings, key, None), node.entries.get(key)
        if isinstance(declared, Benchmark):
            placed[key] = declared.place_at_line(_find_line(written))
        elif declared and written and written.kind == "list":
            pairs = zip(declared, written.items, strict=True)
            placed[key] = tuple(benchmark.place_at_line(_find_line(item)) for benchmark, item in pairs)
    return settings.model_copy(update=placed) if placed else settings


def _find_line(node: Node | None) -> int | None:
    return node.keys.get("name", node.place).line if node and node.kind == "mapping" else None


_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def make_schemas() -> dict[str, dict[str, Any]]:
    """The JSON Schemas of block bodies by the block's name, then of other settings."""
    from pydantic.json_schema import GenerateJsonSchema  # noqa: PLC0415 - one command needs it

    from reportgen.settings.blocks import get_kind, list_kinds  # noqa: PLC0415 - as in load_block
    from reportgen.settings.hub import HubSettings  # noqa: PLC0415 - one command needs it

    class SchemaWithoutTitles(GenerateJsonSchema):
        """Without a title on each field, which only repeats its key."""

        def field_title_should_be_set(self, _: CoreSchema | Any) -> bool:  # noqa: ANN401  # pydantic's own signature
            return False

    models: dict[str, type[BaseModel]] = {kind: get_kind(kind).settings for kind in list_kinds()}
    models |= {
        "source": SourceSettings,
        "front-matter": FrontMatter,
        "hub": HubSettings,
        "plugin": ProjectSettings,
    }
    schemas: dict[str, dict[str, Any]] = {}
    for name, model in models.items():
        schema = model.model_json_schema(schema_generator=SchemaWithoutTitles)
        schema.pop("title", None)
        schemas[name] = {"$schema": _DIALECT, **_accept_shorthands(schema)}
    return schemas | _describe_bodies(schemas)


def _describe_bodies(schemas: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The schemas of blocks whose body is not just a mapping of their settings."""
    # The body of a vega-lite block is the specification itself, in which our keys are among Vega-Lite's own.
    ours = {key: schemas["vega-lite"]["properties"][key] for key in ("id", "caption", "summary", "source")}
    source = {
        "type": "object",
        "properties": {"source": ours["source"]},
        "description": "source: a file or folder of data/; or values written here.",
    }
    vega_lite = {
        "$schema": _DIALECT,
        "description": "A Vega-Lite specification. It names no outside address.",
        "type": "object",
        "minProperties": 1,
        "properties": {**ours, "data": source},
    }
    # The body of an altair block may be only file.py:function.
    altair = {key: part for key, part in schemas["altair"].items() if key not in {"$schema", "$defs"}}
    definitions = {key: part for key, part in schemas["altair"].items() if key == "$defs"}
    either = [altair["properties"]["function"], altair]
    return {"vega-lite": vega_lite, "altair": {"$schema": _DIALECT, "anyOf": either, **definitions}}


def _accept_shorthands(part: Any) -> Any:  # noqa: ANN401  # any part of a schema
    """Let a number be written for a name, which is read as its text, and a single item for a list of one."""
    if isinstance(part, list):
        return [_accept_shorthands(item) for item in part]
    if not isinstance(part, dict):
        return part
    same = {key: _accept_shorthands(item) for key, item in part.items()}
    if same.get("type") == "string" and "enum" not in same and "pattern" not in same:
        same["type"] = ["string", "number"]
    if same.get("type") == "array" and "items" in same:
        of_both = {key: same.pop(key) for key in ("description", "default") if key in same}
        same = {"anyOf": [same, same["items"]], **of_both}
    return same
