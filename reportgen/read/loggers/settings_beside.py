"""The settings of a run from files beside its log: nested JSON or YAML as names joined by dots."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from reportgen.errors import Problems
from reportgen.read.logged import Finding, UnreadableError
from reportgen.read.loggers.text_file import Decoder, read_whole
from reportgen.settings.parsing import Origin, parse
from reportgen.settings.text import normalise_text
from reportgen.settings.tree import to_values

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.read.logged import Setting

_LONGEST: Final = 2_000_000
_MOST_SETTINGS: Final = 10_000
# How Python's writer puts down a class or function: its name is in the tag, and the value is empty.
_NAMED: Final = re.compile(r"!!python/(?:name|module):([\w.]+)[ \t]+''")


def read_settings(path: Path) -> tuple[dict[str, Setting], tuple[Finding, ...]]:
    """What a ``.json``, ``.yaml`` or ``.yml`` file sets; a file that cannot be read is a finding.

    YAML tags run nothing: what stands behind one is taken as the text or tree that it is.
    """
    decoding = Decoder(path)
    try:
        text = decoding.decode(read_whole(path, _LONGEST))
    except UnreadableError as error:
        return {}, (Finding(path, f"{error.message}; the settings in it are left out", error.line),)
    problems: list[Finding] = []
    tree = _parse_json(path, text, problems) if path.suffix == ".json" else _parse_yaml(path, text, problems)
    if not isinstance(tree, dict) and not problems:
        what = "holds no names with values" if text.strip() else "is empty"
        problems.append(Finding(path, f"the file {what}: the run has no settings from it"))
    return flatten(tree), (*problems, *decoding.list_findings())


def flatten(tree: object) -> dict[str, Setting]:
    """Nested names joined by dots, lists, NaN and infinities as JSON; what is null or empty is left out."""
    found: dict[str, Setting] = {}
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting and len(found) < _MOST_SETTINGS:
        name, value = waiting.pop()
        if isinstance(value, dict):
            children = [(f"{name}.{key}" if name else str(key), child) for key, child in value.items()]
            waiting += reversed(children)
        elif isinstance(value, list):
            # A list of lists of lists may be deeper than Python recurses; nobody compares runs by one.
            if name and value and not any(isinstance(item, list | dict) for item in value):
                found[name] = json.dumps(value, ensure_ascii=False)
        elif name and isinstance(value, str | int | float) and value != "":
            found[name] = as_json_setting(value)
    return found


def as_json_setting(value: Setting) -> Setting:
    """A setting that can be a number of JSON: NaN and infinities become their names there."""
    return json.dumps(value) if isinstance(value, float) and not math.isfinite(value) else value


def _parse_json(path: Path, text: str, problems: list[Finding]) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        problems.append(Finding(path, "this is no whole JSON; the settings in it are left out"))
        return None


def _parse_yaml(path: Path, text: str, problems: list[Finding]) -> object:
    problems_found = Problems()
    with problems_found.collecting():
        tree = parse(_NAMED.sub(r"\1", normalise_text(text)), Origin(path.name), any_tag=True)
        return to_values(tree) if tree else None
    first = problems_found.found[0]
    message = f"{first.message}; the settings in this file are left out"
    problems.append(Finding(path, message, first.place.line))
    return None
