"""Where every figure and table of a report comes from: files, block, settings, and what computed it."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.site.reuse.manifest import Provenance

FORMAT: Final = 1
NAME: Final = "provenance.json"
_PACKAGE: Final = Path(__file__).parents[1]


class RecordedSource(Struct, frozen=True):
    """A source of a report: where it is set up, and the SHA-256 of its files, by path.

    It cannot be frozen if no table holds all that the report reads of it.
    """

    name: str
    place: str
    files: Mapping[str, str]
    can_freeze: bool


class ReportRecord(Struct, frozen=True):
    """What an archive says of a report; all paths are relative to ``mkdocs.yml``.

    ``code`` are files with functions that draw charts, ``figures`` entries of ``provenance.json`` without
    the hashes of files.
    """

    sources: tuple[RecordedSource, ...]
    code: tuple[str, ...]
    figures: Sequence[Mapping[str, Any]]
    documents: tuple[str, ...] = ()  # whose statements are checked

    def list_outputs(self) -> list[str]:
        """Return the files of all figures and tables."""
        return [path for figure in self.figures for path in figure["outputs"]]


def describe_provenance(
    record: ReportRecord,
    commit: Provenance,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    *,
    rows: Mapping[str, int],
    data: str,
    modified: bool,
    tree: str,
) -> str:
    """Format ``provenance.json`` of a report.

    ``inputs`` and ``outputs`` are the SHA-256 of its files, by path, ``rows`` the number of rows of each
    input that is a table, and ``data`` says which data the archive has. ``tree`` is git's hash of the
    commit's files, or empty. With the commit's it is part of the identifiers that Software Heritage knows
    them by (SWHID, ISO/IEC 18670).
    """
    figures = []
    for figure in record.figures:
        hashed = {
            # Of settings, only those that there are.
            "inputs": [
                one
                | {"sha256": inputs[one["path"]]}
                | ({"rows": rows[one["path"]]} if one["role"] == "data" and one["path"] in rows else {})
                for one in figure["inputs"]
                if one["path"] in inputs
            ],
            "outputs": [{"path": path, "sha256": outputs[path]} for path in figure["outputs"]],
            "statistics": [{"module": name, "sha256": _hash_code(name)} for name in figure["statistics"]],
        }
        figures.append({**figure, **hashed})
    value = {
        "format": FORMAT,
        "generator": {"name": "reportgen", "version": __version__},
        "commit": commit.commit or None,
        "date": commit.date or None,
        "modified": modified,
        "data": data,
        "swhid": f"swh:1:rev:{commit.commit}" if commit.commit else None,
        "swhid_directory": f"swh:1:dir:{tree}" if tree else None,
        "report": {path: sha256 for path, sha256 in outputs.items() if "/" not in path},
        "figures": figures,
    }
    return f"{json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)}\n"


def describe_environment() -> dict[str, Any]:
    """Describe what writes an archive: versions of Python, the system and the packages that a build imports.

    It is no part of the archive's files: the same report gives the same ones elsewhere.
    """
    # This takes long to import, and a hub needs only the names of this module.
    from importlib.metadata import PackageNotFoundError, requires, version  # noqa: PLC0415

    packages = {}
    for line in requires("mkdocs-reportgen") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", line)[0]
        with suppress(PackageNotFoundError):  # for another Python
            if "extra ==" not in line:
                packages[name] = version(name)
    system = f"{platform.system()} {platform.machine()}"
    return {"python": platform.python_version(), "system": system, "packages": packages}


@functools.cache
def _hash_code(name: str) -> str:
    """Return a SHA-256 of the program text of a module of the package, or of a folder's own modules."""
    place = _PACKAGE / name
    files = [place] if place.is_file() else sorted(place.glob("*.py"))
    whole = "".join(f"{path.relative_to(_PACKAGE).as_posix()}\0{path.read_text('utf-8')}\0" for path in files)
    return hashlib.sha256(whole.encode()).hexdigest()
