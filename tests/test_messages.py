"""What users read and write: each message is in one list, and each name in a test.

A message is every sentence of the package that may become a diagnostic, with its next steps: what is passed
as ``message`` to whatever takes one. An f-string keeps its expressions in braces; for a name, all that the
function or a constant of the package assigns to it is listed.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from pydantic import BaseModel

import reportgen
from reportgen.cli.main import cli
from reportgen.core.facts import FACTS
from reportgen.draft.accepting import make_warning_id
from reportgen.settings.blocks import KINDS, TableSettings
from reportgen.settings.hub import HubSettings
from reportgen.settings.report import FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pytest

    Names = Mapping[str, Sequence[ast.expr]]
    Parameters = Mapping[str, Sequence[Sequence[str]]]

_T = TypeVar("_T")

_MESSAGE = "message"
_STEPS = {"next_step", "step", "advice"}
_FEWEST_WORDS = 3
_DEEPEST = 4  # names that stand for names
HERE = Path(__file__).parent
LIST = HERE / "messages.json"
LONGEST = 4  # words that tell a sentence from others; a test may quote no more of it
SETTINGS = (
    *(kind.settings for kind in KINDS.values()),
    FrontMatter,
    HubSettings,
    ProjectSettings,
    SourceSettings,
)


@cache
def read_tests() -> str:
    """All pages and modules of the tests as one line, without the marks by which Python continues a text."""
    files = [path for path in HERE.rglob("*") if path.suffix in {".md", ".py"} and path != Path(__file__)]
    text = "\n".join(path.read_text("utf-8", "replace") for path in sorted(files))
    lines = re.sub(r"""(["'])\s*\n\s*[fr]{0,2}\1""", "", text).splitlines()
    return " ".join(" ".join(dict.fromkeys(lines)).split())


def list_spans(message: str) -> list[tuple[str, ...]]:
    """The words of a message between its expressions, or some that follow each other where it has more."""
    words = re.findall(r"\w+", max(split_template(message), key=len))
    return [tuple(words[at : at + LONGEST]) for at in range(max(1, len(words) - LONGEST + 1))]


def find_shown(messages: Iterable[str]) -> set[str]:
    """Return the messages of whose words a test has some, whatever the signs between them."""
    spans = {message: list_spans(message) for message in messages}
    wanted, words = {span for each in spans.values() for span in each}, re.findall(r"\w+", read_tests())
    found = {
        span
        for length in {len(span) for span in wanted}
        for span in wanted.intersection(zip(*(words[at:] for at in range(length)), strict=False))
    }
    return {message for message, each in spans.items() if not found.isdisjoint(each)}


def test_the_messages_are_as_accepted(request: pytest.FixtureRequest) -> None:
    """Every sentence that may become a diagnostic by its id, with next steps; a test shows each."""
    messages = list_messages()
    by_id: dict[str, dict[str, list[str]]] = {}
    for message, steps in messages.items():
        by_id.setdefault(make_warning_id(" ".join(split_template(message))), {})[message] = steps
    not_shown = sorted(messages.keys() - find_shown(messages))
    assert not not_shown, (
        "No test shows these messages. Write a case for each, or remove the code that has it"
    )
    found = dict(sorted(by_id.items()))
    if request.config.getoption("--accept"):
        LIST.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    how = "If the change is right: python -m pytest tests/test_messages.py --accept"
    assert found == json.loads(LIST.read_text("utf-8")), how


def list_types(annotation: object, kind: type) -> Iterator[Any]:
    """Yield the models or choices that a type, or a model's fields, mention."""
    if isinstance(annotation, type) and issubclass(annotation, kind):
        yield annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for field in annotation.model_fields.values():
            yield from list_types(field.annotation, kind)
    for argument in get_args(annotation):
        yield from list_types(argument, kind)


def list_words() -> set[str]:
    """Bands, rules and other choices of keys, and columns of tables, without what is behind them."""
    columns = str(TableSettings.model_fields["columns"].description).removeprefix("Which of ").rstrip(".")
    choices = {one.value for root in SETTINGS for kind in list_types(root, StrEnum) for one in kind}
    return choices | {re.sub(" [A-Z]+$", "", column) for column in columns.split(", ")}


def test_every_name_that_users_write_is_in_a_test() -> None:
    """Blocks as fences, keys before a colon, commands, options, facts as calls, and words of statistics."""
    keys = {key for root in SETTINGS for model in list_types(root, BaseModel) for key in model.model_fields}
    options = {word for command in cli.commands.values() for one in command.params for word in one.opts}
    words = list_words()
    named = {
        "blocks": ({*KINDS}, r"```([\w-]+) "),
        "keys": (keys, r"\b(\w+)[\"']?[:=]"),
        "commands": ({*cli.commands}, r"(?:\breportgen |\bcall\([^)\"]*\"|\brun\([^)\"]*\")([\w-]+)\b"),
        "options": ({one for one in options if one.startswith("--")}, r"(?<![\w-])(--[\w-]+)"),
        "facts": ({*FACTS}, r"\b(\w+)\("),
        "words": (words, r"\b(" + "|".join(sorted(words, key=len, reverse=True)) + r")\b"),
    }
    unnamed = {kind: names - {*re.findall(form, read_tests())} for kind, (names, form) in named.items()}
    assert not any(unnamed.values()), unnamed


# ---- the messages of the package --------------------------------------------------------------------------


def list_messages() -> dict[str, list[str]]:
    """Return the next steps of each message, all as templates."""
    folder = Path(reportgen.__file__).parent
    trees = [ast.parse(path.read_text("utf-8")) for path in sorted(folder.rglob("*.py"))]
    constants = _collect(pair for tree in trees for pair in _list_assigned(tree.body))
    nodes = [list(ast.walk(tree)) for tree in trees]
    takers = [[one for one in _list_functions(each) if _MESSAGE in one[1]] for each in nodes]
    public = [one for each in takers for one in each if not one[0].strip(".").startswith("_")]
    found: dict[str, set[str]] = defaultdict(set)
    for each, own in zip(nodes, takers, strict=True):
        known = _collect((*public, *(one for one in own if one[0].strip(".").startswith("_"))))
        for function in (node for node in each if isinstance(node, ast.FunctionDef)):
            _add_function(function, known, constants, found)
    return {message: sorted(steps - {""}) for message, steps in sorted(found.items())}


def _add_function(
    function: ast.FunctionDef, takers: Parameters, constants: Names, found: dict[str, set[str]]
) -> None:
    nodes = list(ast.walk(function))
    calls = [node for node in nodes if isinstance(node, ast.Call) and _name_called(node.func) in takers]
    if not calls:
        return
    parameters = {argument.arg for argument in function.args.args}
    names = {name: values for name, values in constants.items() if name not in parameters}
    names |= _collect(_list_assigned(nodes))
    for given in (_bind(call, taken, names) for call in calls for taken in takers[_name_called(call.func)]):
        steps = {text for step in _STEPS for value in given.get(step, ()) for text in _format(value, names)}
        for message in (text for value in given.get(_MESSAGE, ()) for text in _format(value, names)):
            if len(" ".join(split_template(message)).split()) >= _FEWEST_WORDS:
                found[message] |= steps


def split_template(template: str) -> list[str]:
    """Return the words of a template between its expressions."""
    return [part for part in re.split(r"\{(?:[^{}]|\{[^{}]*\})*\}", template) if part.strip()]


def _bind(call: ast.Call, parameters: Sequence[str], names: Names) -> dict[str, list[ast.expr]]:
    """Return what a call may pass for each parameter; what is unpacked is looked up among the constants."""
    given = defaultdict(list, {word.arg: [word.value] for word in call.keywords if word.arg})
    for place, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            tuples = names.get(_name_called(value.value), ())
            for parts in (one.elts for one in tuples if isinstance(one, ast.Tuple)):
                for name, part in zip(parameters[place:], parts, strict=False):
                    given[name].append(part)
            break
        if place < len(parameters):
            given[parameters[place]].append(value)
    return given


def _list_functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, list[str]]]:
    """Yield functions, methods and classes as they are called, with their parameters."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            fields = [part for part in node.body if isinstance(part, ast.AnnAssign)]
            yield node.name, [field.target.id for field in fields if isinstance(field.target, ast.Name)]
            for made in (part for part in node.body if isinstance(part, ast.FunctionDef)):
                if made.name == "__init__":
                    yield node.name, [argument.arg for argument in made.args.args[1:]]
        elif isinstance(node, ast.FunctionDef):
            parameters = [argument.arg for argument in node.args.args]
            own = parameters[:1] == ["self"]
            yield f".{node.name}" if own else node.name, parameters[own:]


def _list_assigned(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    """Yield the names that are assigned, each with a value that it may have."""
    for node in nodes:
        match node:
            case ast.Assign(targets=[target], value=value):
                yield from _split_assigned(target, value)
            case (
                ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                | ast.AugAssign(target=ast.Name(id=name), value=value)
                | ast.NamedExpr(target=ast.Name(id=name), value=value)
            ):
                yield name, value


def _split_assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple(), ast.IfExp(body=body, orelse=orelse):
            yield from _split_assigned(target, body)
            yield from _split_assigned(target, orelse)
        case ast.Tuple(elts=targets), ast.Tuple(elts=values):
            for pair in zip(targets, values, strict=False):
                yield from _split_assigned(*pair)


def _format(value: ast.expr, names: Names, depth: int = 0) -> Iterator[str]:
    """Yield the templates that an expression of text may be."""
    match value:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else _brace(p) for p in parts)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _format(body, names, depth)
            yield from _format(orelse, names, depth)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            ends = list(_format(right, names, depth))
            yield from (start + end for start in _format(left, names, depth) for end in ends)
        case ast.BoolOp(values=values):
            for one in values:
                yield from _format(one, names, depth)
        case ast.Call(func=ast.Attribute(value=text, attr="format")):
            yield from _format(text, names, depth)
        case ast.Name(id=name) if name in names and depth < _DEEPEST:
            for one in names[name]:
                yield from _format(one, names, depth + 1)
        case _:
            yield _brace(value)


def _brace(value: ast.expr) -> str:
    return f"{{{ast.unparse(value.value if isinstance(value, ast.FormattedValue) else value)}}}"


def _name_called(function: ast.expr) -> str:
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Call(func=ast.Name(id="super")), attr="__init__"):
            return ""
        case ast.Attribute(attr=name):
            return f".{name}"
    return ""


def _collect(pairs: Iterable[tuple[str, _T]]) -> dict[str, list[_T]]:
    found: dict[str, list[_T]] = defaultdict(list)
    for name, value in pairs:
        found[name].append(value)
    return dict(found)
