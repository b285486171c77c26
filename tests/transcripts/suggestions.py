"""What ``describe`` says and suggests: parts of its JSON, and files as somebody pastes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import yaml
from command_line import describe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def list_parts(root: Path, path: str, keys: list[str]) -> Iterator[str]:
    """List parts of what ``describe`` says of a path as JSON; a key is such as ``runs.*.seed``."""
    told = describe(root, path)
    yield from (f"{key}: {json.dumps(_pick(told, key.split('.')), ensure_ascii=False)}\n" for key in keys)


def paste_suggestions(root: Path, path: str, purpose: str) -> str:
    """Write the settings and then the block that ``describe`` suggests, each to its place.

    A purpose is such as ``for clusters``, and empty for the settings that confirm what was guessed.
    """
    key = f"source.yml {purpose}".strip()
    settings = (suggested := _suggest(root, path)).get(key)
    if settings:
        file = root / suggested["file"]
        before = yaml.safe_load(file.read_text("utf-8")) if file.is_file() else {}
        stated = yaml.safe_dump({**(before or {}), **yaml.safe_load(settings)}, sort_keys=False)
        file.write_text(stated, "utf-8")
    if (root / "content").is_dir() and (block := _suggest(root, path)["block"]):
        (root / "content/index.md").write_text(f"# Pasted\n\n{block}", "utf-8")
    return "" if settings else f"no {key} is suggested\n"


def _suggest(root: Path, path: str) -> dict[str, str]:
    suggested: dict[str, str] = describe(root, path)["suggested"]
    return suggested


def _pick(value: Any, keys: list[str]) -> Any:  # noqa: ANN401 - JSON
    if not keys:
        return value
    if isinstance(value, dict) and (whole := ".".join(keys)) in value:
        return value[whole]
    first, *more = keys
    if first == "*":
        return [_pick(one, more) for one in value]
    return _pick(value[int(first)] if isinstance(value, list) else value[first], more)
