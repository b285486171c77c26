"""Plug-ins of installed packages, by the entry points that these declare; their code is not imported.

Only what is on Python's path counts, and never the working folder, which may be anybody's checkout.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core import __version__
from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

READERS: Final = "reportgen.readers"
"""Group of entry points: readers of log and results formats."""
BLOCKS: Final = "reportgen.blocks"
"""Group of entry points: kinds of blocks."""
_OWN: Final = "reportgen"
_PACKAGE: Final = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - pathlib takes three times as long
_PROJECT: Final = os.path.join(os.path.dirname(_PACKAGE), "pyproject.toml")  # noqa: PTH118, PTH120 - of a checkout


class Plugin(Struct, frozen=True):
    """Entry point of a package."""

    name: str
    value: str  # ``module:attribute``
    package: str  # name and version of the package that declares it
    changed: int = 0  # when its code changed last, in ns since 1970; 0 for reportgen's own

    @property
    def own(self) -> bool:
        """Whether it is reportgen's own."""
        return self.value.startswith((f"{_OWN}.", f"{_OWN}:"))


def list_plugins(group: str) -> Mapping[str, Plugin]:
    """Return the plug-ins of a group by name; two packages with one name are an error."""
    return _list_plugins(group, _list_installed())


def import_object(path: str) -> Any:  # noqa: ANN401 - a module, or anything in it
    """Import what an entry point names: ``module`` or ``module:attribute``."""
    module, _, attribute = path.replace(" ", "").partition(":")
    return functools.reduce(getattr, filter(None, attribute.split(".")), importlib.import_module(module))


def locate_failure(error: BaseException, module: str) -> str:
    """Return the last line of a traceback in a plug-in's package, in parentheses; empty without one."""
    package = module.partition(":")[0].partition(".")[0].strip()
    lines = [
        f" ({os.path.basename(frame.f_code.co_filename)}, line {line})"  # noqa: PTH119 - as above
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals.get("__name__", "").partition(".")[0] == package
    ]
    return lines[-1] if lines else ""


def identify_code() -> str:
    """Return what identifies the code of reportgen and of plug-ins of other packages, for keys of the cache.

    In a checkout that is the time of the last change, so that edits take effect.
    """
    return _identify_code(_list_installed())


def _list_installed() -> tuple[str, ...]:
    """Return the folders on Python's path without the working folder."""
    folder = ""
    with suppress(FileNotFoundError):
        folder = os.getcwd()  # noqa: PTH109 - this runs for each key of the cache
    return tuple(one for one in sys.path if one != folder and os.path.isabs(one))  # noqa: PTH117 - as above


@functools.cache
def _identify_code(installed: tuple[str, ...]) -> str:
    plugins = (plugin for group in (READERS, BLOCKS) for plugin in _list_plugins(group, installed).values())
    others = (plugin for plugin in plugins if not plugin.own)
    own = f"{__version__} {_find_newest([_PACKAGE])}" if os.path.isfile(_PROJECT) else __version__  # noqa: PTH113
    return "\n".join((own, *(f"{one.name} {one.value} {one.package} {one.changed}" for one in others)))


@functools.cache
def _list_plugins(group: str, installed: tuple[str, ...]) -> Mapping[str, Plugin]:
    points = [point for folder in installed for point in _list_points(folder, group)]
    declared = _read_points(_PROJECT, f'project.entry-points."{group}"', f"{_OWN} {__version__}")
    if own := [point for point in declared if point.own]:
        # What is installed from a checkout, as to edit it, may be of an older state of it.
        points = [*own, *(point for point in points if not point.own)]
    plugins: dict[str, Plugin] = {}
    for point in points:
        # The same package may be on the path twice, as by an editable installation.
        if (known := plugins.setdefault(point.name, point)).value != point.value:
            message = f'"{point.name}" is provided by two packages, {known.package} and {point.package}'
            advice = f"Uninstall one of the two: {group} has one entry point of a name"
            raise ReportError(Diagnostic(SourceLocation(point.package), message, advice, Stage.SETTINGS))
    return {
        name: plugin if plugin.own else replace(plugin, changed=_find_change(plugin))
        for name, plugin in sorted(plugins.items())
    }


def _list_points(folder: str, group: str) -> Iterator[Plugin]:
    """Yield the entry points of the packages in a folder of Python's path.

    ``importlib.metadata`` takes 15 ms for that, most of it to import a parser of mails; this takes 2 ms.
    """
    names = os.listdir(folder) if os.path.isdir(folder) else ()  # noqa: PTH112, PTH208 - as fast as possible
    for name in sorted(one for one in names if one.endswith((".dist-info", ".egg-info"))):
        package = " ".join(name.rpartition(".")[0].split("-")[:2]).replace("_", "-")
        yield from _read_points(f"{folder}/{name}/entry_points.txt", group, package)


def _read_points(file: str, section: str, package: str) -> Iterator[Plugin]:
    """Yield the entry points in a section of a file; none if it cannot be read."""
    text = ""
    with suppress(OSError, UnicodeDecodeError), open(file, encoding="utf-8") as opened:  # noqa: PTH123 - as above
        text = opened.read()
    _, _, rest = f"\n{text}".partition(f"\n[{section}]\n")
    for line in rest.partition("\n[")[0].splitlines():
        name, sign, value = line.partition("=")
        if sign and not line.startswith(("#", ";")):
            yield Plugin(name.strip(), value.strip(' "'), package)


def _find_change(plugin: Plugin) -> int:
    """Return when the code of a plug-in changed last; 0 if it is not found."""
    from importlib.util import find_spec  # noqa: PLC0415 - nobody needs it but other packages

    try:
        spec = find_spec(plugin.value.partition(":")[0].partition(".")[0])
    except (ImportError, ValueError):
        return 0
    return _find_newest([*(spec.submodule_search_locations or ()), spec.origin or ""] if spec else [])


def _find_newest(paths: Sequence[str]) -> int:
    """Return when the newest Python file was changed, of files and of those in folders."""
    files = [f"{folder}/{name}" for path in paths for folder, _, names in os.walk(path) for name in names]
    times = (os.stat(file).st_mtime_ns for file in (*paths, *files) if file.endswith(".py"))  # noqa: PTH116
    return max(times, default=0)
