"""The small working report that ``reportgen init`` writes."""

from __future__ import annotations

import json
import shutil
from importlib.resources import files
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, SourceLocation, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.resources.abc import Traversable
    from pathlib import Path

# Names without their dot, so that the files are neither hidden in the package nor mistaken for its own.
_DOTTED = {"gitignore": ".gitignore", "github": ".github"}
_REQUIREMENT = b'REPORTGEN: ""'


def write_starter(target: Path, requirement: str = "") -> tuple[str, ...]:
    """Write a small working report into ``target``, which may not exist yet or must be empty.

    Args:
        target: the folder.
        requirement: what the workflow gives to pip to install reportgen. If it is empty, the workflow fails
            and says so.

    Returns:
        The paths written, relative to ``target``, sorted.

    Raises:
        ReportError: ``target`` is a file, a folder with something in it, or cannot be written.
    """
    _refuse_what_is_there(target)
    written = []
    try:
        for parts, file in _list_starter_files(files("reportgen.site") / "starter", ()):
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            # A text in JSON is the same text in YAML.
            line = _REQUIREMENT.replace(b'""', json.dumps(requirement).encode())
            path.write_bytes(file.read_bytes().replace(_REQUIREMENT, line))
            written.append("/".join(parts))
    except OSError as error:
        # There was nothing in the folder, so what is in it now is ours.
        shutil.rmtree(target, ignore_errors=True)
        said = f"the folder cannot be written ({error.strerror or type(error).__name__})"
        step = "Name one in a folder that you may write to"
        raise ReportError(Problem(SourceLocation(str(target)), said, step, Stage.SITE)) from error
    return tuple(sorted(written))


def _refuse_what_is_there(target: Path) -> None:
    try:
        if target.is_file():
            found = "there is a file of this name"
        elif target.is_dir() and any(target.iterdir()):
            found = "the folder is not empty"
        else:
            return
    except OSError as error:
        found = f"the folder cannot be looked at ({error.strerror or type(error).__name__})"
    advice = "Name a folder that does not exist yet or is empty"
    raise ReportError(Problem(SourceLocation(str(target)), found, advice, Stage.SITE))


def _list_starter_files(
    folder: Traversable, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Traversable]]:
    for entry in folder.iterdir():
        parts = (*above, _DOTTED.get(entry.name, entry.name))
        if entry.is_dir():
            yield from _list_starter_files(entry, parts)
        else:
            yield parts, entry
