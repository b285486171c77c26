"""Formulas of derived metrics, in the arithmetic of claims: ``1 - accuracy``, ``exp(eval/loss)``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reportgen.claims.language import Call, Chain, Name, Number, Prefix, get_text, make_fault, parse
from reportgen.core.model import Formula
from reportgen.core.statements import ExpressionError, Fault
from reportgen.core.words import quote_names, suggest_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.claims.language import Tree


_UNIT = re.compile(r"[(\[]([^()\[\]]+)[)\]]\s*$")
_WORD = re.compile(r"\w")
_SIGNS = frozenset("+-*/")
_FUNCTIONS = ("exp", "log")
_COMPUTES = re.compile(rf"[-+*/−×]|\b({'|'.join(_FUNCTIONS)}) ?\(")
_ARITHMETIC = "A formula has numbers, names, + - * /, parentheses, exp( ) and log( )"


def parse_formula(text: str, known: Sequence[str]) -> Formula:
    """Parse a formula over known names, which need no quotes whatever characters they have.

    Where a text may be read in two ways, the longest known name counts: ``loss/tokens`` is a metric of that
    name if there is one, otherwise a quotient. Raises ``ExpressionError`` for what is no arithmetic, for
    names that are not known, and for sums of different units.
    """
    quoted = _quote_known(text, known)
    tree = parse(quoted)
    parts: list[float | str] = []
    faults: list[Fault] = []
    unit = _convert(tree, quoted, known, parts, faults)
    if faults:
        raise ExpressionError(faults)
    names = dict.fromkeys(part[1:] for part in parts if isinstance(part, str) and part.startswith("$"))
    return Formula(text, tuple(parts), tuple(names), unit or "")


def is_formula(text: str, known: Sequence[str]) -> bool:
    """Return whether a text computes something, rather than being a name."""
    return text not in known and bool(_COMPUTES.search(text)) and bool(re.search(r"[\w)]", text))


def _quote_known(text: str, known: Sequence[str]) -> str:
    """Put known names in quotes, the longest first; what the author quoted stays."""
    ordered = sorted((name for name in known if name), key=len, reverse=True)
    found, at = [], 0
    while at < len(text):
        if text[at] in "'\"":
            end = text.find(text[at], at + 1)
            end = len(text) if end < 0 else end + 1
            found.append(text[at:end])
            at = end
            continue
        inside_word = at > 0 and _WORD.match(text[at - 1]) and _WORD.match(text[at])
        name = None if inside_word else next((one for one in ordered if _stands_at(one, text, at)), None)
        found.append("'" + name.replace("'", "''") + "'" if name else text[at])
        at += len(name) if name else 1
    return "".join(found)


def _stands_at(name: str, text: str, at: int) -> bool:
    """Return whether a whole name stands at a position."""
    end = at + len(name)
    cut = end < len(text) and _WORD.match(name[-1]) and _WORD.match(text[end])
    is_called = name in _FUNCTIONS and text[end:].lstrip().startswith("(")
    # A number is no name, even if a column has such a name.
    return text.startswith(name, at) and not (cut or is_called or name[0].isdigit())


def _convert(
    tree: Tree, text: str, known: Sequence[str], parts: list[float | str], faults: list[Fault]
) -> str | None:
    """Append a tree in postfix order, and return its unit: None for a number, which fits any unit."""
    match tree:
        case Number():
            parts.append(tree.value)
            return None
        case Name():
            if tree.name not in known:
                near = suggest_name(tree.name, known)
                message = f'"{tree.name}" is not a metric here'
                faults.append(make_fault(tree, message, f"{near}There are {quote_names(known)}"))
            parts.append(f"${tree.name}")
            match = _UNIT.search(tree.name)
            return match[1] if match else ""
        case Prefix(operator="-"):
            unit = _convert(tree.of, text, known, parts, faults)
            parts.append("neg")
            return unit
        case Chain() if _SIGNS.issuperset(tree.operators):
            unit = _convert(tree.parts[0], text, known, parts, faults)
            for sign, part in zip(tree.operators, tree.parts[1:], strict=True):
                other = _convert(part, text, known, parts, faults)
                parts.append(sign)
                unit = _join_units(sign, unit, other, tree, faults)
            return unit
        case Call(name="exp" | "log", arguments=(argument,)):
            _convert(argument, text, known, parts, faults)
            parts.append(tree.name)
            return ""
        case Call():
            faults.append(
                make_fault(tree, f'"{get_text(text, tree)}" is a fact of a whole series', _ARITHMETIC)
            )
        case _:
            faults.append(make_fault(tree, f'"{get_text(text, tree)}" is no number', _ARITHMETIC))
    return None


def _join_units(sign: str, a: str | None, b: str | None, tree: Tree, faults: list[Fault]) -> str | None:
    if a is None or b is None:
        return (f"1/{b}" if b else b) if sign == "/" and a is None else a if b is None else b
    if sign in {"+", "-"}:
        if a != b:
            units = " and ".join(unit or "no unit" for unit in (a, b))
            message = f"what is added or subtracted has different units: {units}"
            step = "Bring them to one unit, as in 'temperature (K)' - 273.15 for degrees"
            faults.append(make_fault(tree, message, step))
        return a
    if sign == "*":
        return "·".join(filter(None, (a, b)))
    return "" if a == b else f"{a or '1'}/{b}" if b else a
