"""Settings as YAML text: plain where YAML takes a text for itself, otherwise in quotes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from reportgen.settings.tree import parse_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

# Texts that no reader of YAML takes for anything else, wherever they stand.
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./@(][A-Za-z0-9_./@()+*^ -]*")
_LONGEST_LINE: Final = 90


def write_yaml(settings: Mapping[str, object]) -> str:
    """Keys and values as a YAML document with a newline at its end; nothing for no keys.

    Values are texts, numbers, truth values, and lists and mappings of these.
    """
    return "".join(f"{line}\n" for line in _write_lines(settings, ""))


def write_yaml_scalar(value: object) -> str:
    """One value as it stands behind its key."""
    if isinstance(value, str):
        is_plain = (
            _PLAIN.fullmatch(value) and not value.endswith(" ") and isinstance(parse_scalar(value), str)
        )
        return value if is_plain else json.dumps(value, ensure_ascii=not value.isprintable())
    return json.dumps(value)


def _write_lines(settings: Mapping[str, object], indent: str) -> Iterator[str]:
    for key, value in settings.items():
        name = f"{indent}{write_yaml_scalar(key)}:"
        if isinstance(value, Mapping):
            yield f"{name}" if value else f"{name} {{}}"
            yield from _write_lines(value, f"{indent}  ")
        elif isinstance(value, Sequence) and not isinstance(value, str):
            flat = f"{name} [{', '.join(map(write_yaml_scalar, value))}]"
            if len(flat) <= _LONGEST_LINE or not value:
                yield flat
            else:
                yield name
                yield from (f"{indent}  - {write_yaml_scalar(item)}" for item in value)
        else:
            yield f"{name} {write_yaml_scalar(value)}"
