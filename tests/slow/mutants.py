"""Places of the package where a small change alters what it does, and the changes as edits of the source."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_Change = tuple[str, tuple[int, int], bytes, ast.expr]  # kind, bytes of the source, what they become, where

_SWAPPED = {
    ast.Add: "+ -", ast.Sub: "- +", ast.Mult: "* /", ast.Div: "/ *", ast.FloorDiv: "// /", ast.Mod: "% *",
    ast.Pow: "** *", ast.BitOr: "| &", ast.BitAnd: "& |", ast.Lt: "< <=", ast.LtE: "<= <", ast.Gt: "> >=",
    ast.GtE: ">= >", ast.Eq: "== !=", ast.NotEq: "!= ==", ast.Is: "is is_not", ast.IsNot: "is_not is",
    ast.In: "in not_in", ast.NotIn: "not_in in", ast.And: "and or", ast.Or: "or and",
}  # fmt: skip
_EMPTY = {"str": b'""', "int": b"0", "float": b"0.0", "tuple": b"()", "list": b"[]", "dict": b"{}"}
_QUOTES = re.compile(r"(?:^|_)(?:escape|quote|Markup)(?:$|_)")
# What changes no result: help is text, and the others only check or forbid more.
_NO_RESULT = {"help", "strict", "frozen", "slots", "kw_only", "stacklevel"}
_NO_NAMES = {"__all__", "__version__", "__slots__"}
_TYPES = {"annotation", "returns", "decorator_list", "type_params", "bases"}


class Place(NamedTuple):
    """A change of one expression: bytes ``start`` to ``end`` of the file become ``new``."""

    file: str
    line: int
    kind: str
    start: int
    end: int
    new: bytes
    old: bytes
    expression: tuple[int, int]  # bytes of the whole expression, which tests run
    imported: bool  # it runs when the module is imported
    key: str  # the same in another version of the package if the function has not changed there

    @property
    def room(self) -> str:
        """Folder of the package."""
        return self.file.split("/")[1]

    @property
    def words(self) -> str:
        """Words for the change."""
        old, new = (" ".join(text.decode().split()) for text in (self.old, self.new))
        return f"{old[:60]} → {new[:60]}"


def sample_places(checkout: Path, *, seed: int, number: int, rooms: Iterable[str] = ()) -> list[Place]:
    """Draw a seeded sample: each room by its lines, but eight at least, and in each all kinds in turn."""
    files: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((checkout / "reportgen").glob("*/**/*.py")):
        files[path.relative_to(checkout).parts[1]].append(path)
    lines = {room: sum(path.read_bytes().count(b"\n") for path in paths) for room, paths in files.items()}
    shares = _share_out(number, lines)
    chosen: list[tuple[int, Place]] = []
    for room in rooms or files:
        kinds: dict[str, list[Place]] = defaultdict(list)
        for path in files[room]:
            for place in find_places(path.relative_to(checkout).as_posix(), path.read_bytes()):
                kinds[place.kind].append(place)
        for places in kinds.values():
            # By hashes, so that a change of the package elsewhere leaves the sample as it is.
            places.sort(key=lambda place: sha256(f"{seed} {place.key}".encode()).digest(), reverse=True)
        order = sorted(kinds, key=lambda kind: sha256(f"{seed} {room} {kind}".encode()).digest())
        found: list[Place] = []
        while len(found) < shares[room] and any(kinds.values()):
            drawn = [kinds[kind].pop() for kind in order if kinds[kind]]
            found += [place for place in drawn if _is_possible((checkout / place.file).read_bytes(), place)]
        chosen += list(enumerate(found[: shares[room]]))
    # One of each room first: what is measured until it is stopped says something about every room.
    return [place for _, place in sorted(chosen, key=lambda pair: pair[0])]


def _share_out(number: int, lines: dict[str, int], least: int = 8) -> dict[str, int]:
    shares = dict.fromkeys(lines, min(least, number // len(lines)))
    while sum(shares.values()) < number:
        shares[max(lines, key=lambda room: lines[room] / (shares[room] + 0.5))] += 1
    return shares


def find_places(file: str, source: bytes) -> Iterator[Place]:
    """Find all changes of a file; a few are impossible, as in a part of an f-string."""
    seen: dict[str, int] = defaultdict(int)
    spans = _Spans(source)
    for node, function, returns in _walk(ast.parse(source), "", ""):
        for kind, (start, end), new, whole in _list_changes(node, spans, returns):
            if (old := source[start:end]) != new:
                about = f"{file} {function} {kind} {old.decode()} {new.decode()}"
                seen[about] += 1
                line = source.count(b"\n", 0, start) + 1
                key = f"{about} {seen[about]}"
                yield Place(file, line, kind, start, end, new, old, spans.find(whole), not function, key)


class _Spans:
    def __init__(self, source: bytes) -> None:
        self.source = source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def find(self, node: ast.expr) -> tuple[int, int]:
        begin = self.starts[node.lineno - 1] + node.col_offset
        return begin, self.starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)

    def get(self, node: ast.expr) -> bytes:
        return self.source[slice(*self.find(node))]


def _walk(node: ast.AST, function: str, returns: str) -> Iterator[tuple[ast.AST, str, str]]:
    """Each node that may be changed, with the names of its functions and the type that they return."""
    if _is_skipped(node):
        return
    yield node, function, returns
    for name, value in ast.iter_fields(node):
        if name in _TYPES or (name == "keywords" and isinstance(node, ast.ClassDef)):
            continue
        inner, inner_returns = function, returns
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and name == "body":
            inner = f"{function}.{node.name}"
            inner_returns = ast.unparse(node.returns) if node.returns else ""
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _walk(child, inner, inner_returns)


def _is_skipped(node: ast.AST) -> bool:
    match node:
        case ast.If(test=ast.Name("TYPE_CHECKING") | ast.Constant()):
            return True
        case ast.pattern() | ast.FormattedValue(format_spec=ast.JoinedStr()):
            return True
        case ast.Expr(value=ast.Constant()):  # a docstring
            return True
        case ast.Assign(targets=[ast.Name(name)]):
            return name in _NO_NAMES
        case ast.keyword(arg=str(name)):
            return name in _NO_RESULT
    return False


def _list_changes(node: ast.AST, spans: _Spans, returns: str) -> Iterator[_Change]:
    yield from _change_operators(node, spans)
    yield from _change_values(node, spans, returns)
    tests = [node.test] if isinstance(node, ast.If | ast.IfExp | ast.While) else getattr(node, "ifs", [])
    for test in tests:
        for new in (b"not (" + spans.get(test) + b")", b"True", b"False"):
            yield "condition", spans.find(test), new, test


def _change_operators(node: ast.AST, spans: _Spans) -> Iterator[_Change]:
    match node:
        case ast.BinOp(left=left, op=operator, right=right):
            yield from _swap("operator", operator, (node, left, right), spans)
        case ast.Compare(left=left, ops=[operator], comparators=[right]):
            yield from _swap("comparison", operator, (node, left, right), spans)
        case ast.BoolOp(op=operator, values=[left, right, *_]):
            yield from _swap("boolean", operator, (node, left, right), spans)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "boolean", spans.find(node), spans.get(operand), node


def _change_values(node: ast.AST, spans: _Spans, returns: str) -> Iterator[_Change]:
    match node:
        case ast.Constant(value=bool(value)):
            yield "constant", spans.find(node), str(not value).encode(), node
        case ast.Constant(value=int(number) | float(number)):
            new = number + 1 if number in {0, 1} else number * 2
            yield "constant", spans.find(node), repr(new).encode(), node
        case ast.Return(value=ast.expr() as value):
            empty = _EMPTY.get(returns.partition("[")[0], b"None")
            negated = b"not (" + spans.get(value) + b")"
            yield "return", spans.find(value), negated if returns == "bool" else empty, value
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name), args=[first, *_]):
            if _QUOTES.search(name):
                yield "quoting", spans.find(node), b"(" + spans.get(first) + b")", node


def _swap(
    kind: str, operator: ast.AST, nodes: tuple[ast.expr, ast.expr, ast.expr], spans: _Spans
) -> Iterator[_Change]:
    node, left, right = nodes
    if words := _SWAPPED.get(type(operator)):
        old, new = (word.replace("_", " ").encode() for word in words.split())
        start, end = spans.find(left)[1], spans.find(right)[0]
        if found := re.search(rb"\s+".join(map(re.escape, old.split())), spans.source[start:end]):
            yield kind, (start + found.start(), start + found.end()), new, node


def _is_possible(source: bytes, place: Place) -> bool:
    """Whether it is an expression, which Python 3.11 misplaces in some f-strings, and valid when changed."""
    try:
        ast.parse(b"(" + source[slice(*place.expression)] + b"\n)", mode="eval")
        compile(add_switches(source, {0: place}), place.file, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def add_switches(source: bytes, places: dict[int, Place]) -> bytes:
    """Replace each place by ``(as it is if mutation_probe(number) else changed)``.

    A place that runs at import gets probes in all functions of its file, too, which may use its value.
    """
    inserted: list[tuple[int, int, int, bytes]] = []
    for number, place in places.items():
        start, end = place.expression
        changed = source[start : place.start] + place.new + source[place.end : end]
        inserted += [
            (start, 2, -end, b"(("),
            (end, 0, -start, b") if mutation_probe(%d) else (%s))" % (number, changed)),
        ]
    if imported := [b"%d" % number for number, place in places.items() if place.imported]:
        for position, indent in _find_heads(source):
            text = b"mutation_probe(%s)\n" % b", ".join(imported) + b" " * indent
            inserted.append((position, 1, 0, text))
    for position, _, _, text in sorted(inserted, reverse=True):
        source = source[:position] + text + source[position:]
    return source


def _find_heads(source: bytes) -> list[tuple[int, int]]:
    """Offsets where functions begin, after their docstrings, with the columns."""
    lines = source.splitlines(keepends=True)
    heads = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if body and body[0].lineno > node.lineno and not getattr(body[0], "decorator_list", None):
                offset = sum(map(len, lines[: body[0].lineno - 1]))
                heads.append((offset + body[0].col_offset, body[0].col_offset))
    return heads
