"""What the user wrote, as typed settings; every problem at once, each with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ValidationError

from reportgen.errors import Place, Problem, Problems, ReportError, Stage
from reportgen.naming import did_you_mean
from reportgen.settings.faults import faults_of, misread_names
from reportgen.settings.front_matter import Benchmark, FrontMatter
from reportgen.settings.kinds import BLOCKS
from reportgen.settings.parsing import Origin, parse
from reportgen.settings.project import ProjectSettings
from reportgen.settings.source import SourceSettings
from reportgen.settings.text import normalised, read_text
from reportgen.settings.tree import Mapping, Scalar, Sequence, from_value, plain
from reportgen.settings.vega_lite import lifted
from reportgen.settings.wording import problems_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as AnyMapping
    from pathlib import Path

    from reportgen.settings.blocks import BlockSettings
    from reportgen.settings.faults import Path as KeyPath
    from reportgen.settings.tree import Node

_Model = TypeVar("_Model", bound=BaseModel)
_Declaring = TypeVar("_Declaring", FrontMatter, ProjectSettings)

PLUGIN: Final = "reportgen"
# A key this close to one of ours is a mistyped one; all others belong to MkDocs and its themes.
_OWN_PAGE_KEYS: Final = ("benchmark", "benchmarks")


def load_block(kind: str, body: str, place: Place) -> BlockSettings:
    """The settings of a fenced block.

    Args:
        kind: the fence's language, a key of ``BLOCKS``.
        body: the text between the fences, without their indentation.
        place: the opening fence; its column is the indentation of the block.

    Raises:
        ReportError: everything that is wrong with the body.
    """
    owner = f"{'an' if kind[0] in 'aeiou' else 'a'} {kind} block"
    node = parse(normalised(body), Origin(place.file, (place.line or 0) + 1, (place.column or 1) - 1))
    if node is None:
        node = Mapping(place)
    if kind == "vega-lite":
        node = lifted(node)
    elif kind == "altair" and isinstance(node, Scalar):
        node = Mapping(node.place, {"function": node}, {"function": node.place})
    return validated(BLOCKS[kind], node, owner)


def load_source_settings(path: Path, name: str) -> SourceSettings:
    """The settings in a ``source.yml``.

    Args:
        path: the file.
        name: its path relative to the project, for messages.

    Raises:
        ReportError: the file cannot be read, or everything that is wrong with it.
    """
    node = parse(read_text(path, name, Stage.SETTINGS), Origin(name))
    return validated(SourceSettings, node or Mapping(Place(name, 1)), path.name)


def load_front_matter(text: str, file: str) -> FrontMatter:
    """What a page's front matter says to reportgen.

    Args:
        text: the YAML between the ``---`` lines; the first of these is line 1 of the file.
        file: the page relative to the project, for messages.

    Raises:
        ReportError: everything that is wrong with the keys that reportgen reads.
    """
    node = parse(normalised(text), Origin(file, first_line=2)) or Mapping(Place(file, 1))
    problems = Problems()
    if isinstance(node, Mapping):
        problems.add(_mistyped(node))
    front_matter = FrontMatter()
    with problems.collecting():
        front_matter = validated(FrontMatter, node, "the front matter")
    problems.raise_errors()
    return _with_lines(front_matter, node)


def load_project(options: AnyMapping[str, object], place: Place, text: str | None = None) -> ProjectSettings:
    """The settings of the whole report.

    Args:
        options: the plugin's options as MkDocs read them.
        place: ``mkdocs.yml``.
        text: its text, to find the lines; what does not stand there has no line.

    Raises:
        ReportError: everything that is wrong with the options.
    """
    node = from_value(dict(options), place, _plugin_options(text, place.file) if text else None)
    return _with_lines(validated(ProjectSettings, node, f"the {PLUGIN} plugin"), node)


def data_settings_of(path: Path, name: str) -> tuple[str, bool]:
    """The data folder that a ``mkdocs.yml`` names, and whether links in it may lead anywhere.

    The rest of the file is not judged.

    Args:
        path: the file.
        name: its path for messages.

    Raises:
        ReportError: the file cannot be read.
    """
    options = _plugin_options(read_text(path, name, Stage.SETTINGS), name)
    entries = options.entries if isinstance(options, Mapping) else {}
    folder, follow = entries.get("data_dir"), entries.get("follow_links")
    data_dir = folder.text if isinstance(folder, Scalar) else ProjectSettings().data_dir
    return data_dir, isinstance(follow, Scalar) and follow.value is True


def validated(model: type[_Model], node: Node, owner: str) -> _Model:
    """A tree as a value of a model.

    Raises:
        ReportError: everything that does not fit, in plain words.
    """
    if not isinstance(node, Mapping):
        problem = Problem(node.place, f"{owner} takes keys and values", "Write key: value", Stage.SETTINGS)
        raise ReportError(problem)
    values = plain(node)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        for path, text in misread_names(error, node):
            _put(values, path, text)
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ReportError(*problems_of(faults_of(error, node), model, owner)) from None


def _with_lines(settings: _Declaring, node: Node) -> _Declaring:
    """Settings whose benchmarks know the lines of their names; ``node`` is what the settings were made of."""
    found: dict[str, object] = {}
    for key in ("benchmark", "benchmarks"):
        declared = getattr(settings, key, None)
        written = node.entries.get(key) if isinstance(node, Mapping) else None
        if isinstance(declared, Benchmark):
            found[key] = declared.at_line(_line_of_name(written))
        elif declared and isinstance(written, Sequence):
            pairs = zip(declared, written.items, strict=True)
            found[key] = tuple(benchmark.at_line(_line_of_name(item)) for benchmark, item in pairs)
    return settings.model_copy(update=found) if found else settings


def _line_of_name(node: Node | None) -> int | None:
    return node.keys.get("name", node.place).line if isinstance(node, Mapping) else None


def _put(values: Any, path: KeyPath, text: str) -> None:  # noqa: ANN401  # dicts and lists of anything
    for step in path[:-1]:
        values = values[step]
    values[path[-1]] = text


def _mistyped(front_matter: Mapping) -> Iterator[Problem]:
    for key, place in front_matter.keys.items():
        guess = did_you_mean(key, _OWN_PAGE_KEYS, cutoff=0.88).rstrip()
        if guess and key not in _OWN_PAGE_KEYS:
            message = f'"{key}" is not a key that reportgen or MkDocs reads'
            yield Problem(place, message, guess, Stage.SETTINGS)


def _plugin_options(text: str, file: str) -> Node | None:
    """Our options in the text of ``mkdocs.yml``, if they can be found; MkDocs judges the rest of the file."""
    try:
        root = parse(normalised(text), Origin(file), any_tag=True)
    except ReportError:
        return None
    plugins = root.entries.get("plugins") if isinstance(root, Mapping) else None
    named = plugins.items if isinstance(plugins, Sequence) else (plugins,)
    found = (item.entries[PLUGIN] for item in named if isinstance(item, Mapping) and PLUGIN in item.entries)
    return next(found, None)
