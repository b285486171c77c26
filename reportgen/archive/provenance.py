"""Where every figure and table of a report comes from: files, block, settings, and what computed it."""

from __future__ import annotations

import functools
import hashlib
import json
import re
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, to_builtins

from reportgen.core import __version__
from reportgen.core.errors import Diagnostics
from reportgen.core.model import CurveRequest, ResultTable
from reportgen.draft.drawing import plan_report
from reportgen.settings.blocks import AltairSettings
from reportgen.site.outputs import get_page_folder, list_figures, list_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.core.model import Figure, Request
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.report import Report
    from reportgen.settings.inputs import Source
    from reportgen.site.manifest import Provenance

FORMAT: Final = 1
NAME: Final = "provenance.json"
_PACKAGE: Final = Path(__file__).parents[1]
# What computes the numbers of each kind of request.
_CURVE_STATISTICS: Final = ("statistics/curves", "statistics/distributions.py")
_SCORE_STATISTICS: Final = ("statistics",)
# Numbers of a figure that say how much was observed.
_OBSERVED: Final = ("series", "runs", "problems", "dropped", "replaced", "bins")


class InputFiles(Struct, frozen=True):
    """Files of a report and their SHA-256, by path relative to ``mkdocs.yml``."""

    hashes: Mapping[str, str]

    def describe(self, role: str, paths: Sequence[str]) -> list[dict[str, str]]:
        """Describe those of some files that there are, such as a ``source.yml``."""
        known = (path for path in paths if path in self.hashes)
        return [{"path": path, "sha256": self.hashes[path], "role": role} for path in known]


def describe_provenance(
    report: Report,
    commit: Provenance,
    inputs: InputFiles,
    outputs: Mapping[str, str],
    *,
    data: str,
    modified: bool,
) -> str:
    """Format ``provenance.json`` of a report.

    ``outputs`` are the SHA-256 of its files, by path, and ``data`` says which data the archive has.

    A figure's entry changes if, and only if, something it is computed from does: a file of its sources, its
    page's front matter, its block, the settings of either, or the statistics behind it.
    """
    # A draft that has problems is never returned.
    plan = plan_report(report.pages, report.sources, Diagnostics())
    value = {
        "format": FORMAT,
        "generator": {"name": "reportgen", "version": __version__},
        "packages": _list_packages(),
        "commit": commit.commit or None,
        "date": commit.date or None,
        "modified": modified,
        "data": data,
        "swhid": f"swh:1:rev:{commit.commit}" if commit.commit else None,
        "report": {path: sha256 for path, sha256 in outputs.items() if "/" not in path},
        "figures": [
            one for planned in plan.blocks for one in _describe_block(planned, report, inputs, outputs)
        ],
    }
    return f"{json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)}\n"


def _describe_block(
    planned: PlannedBlock, report: Report, inputs: InputFiles, outputs: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    page, block = planned.page, planned.block
    shown = report.shown.get((page.path, block.id))
    if shown is None:  # of another language
        return
    settings = [report.sources[name].location.file for name in planned.sources]
    code = [block.settings.function.partition(":")[0]] if isinstance(block.settings, AltairSettings) else []
    files = [
        *inputs.describe("data", _list_data(planned, report.sources)),
        *inputs.describe("settings", [path for path in settings if path.endswith("source.yml")]),
        *inputs.describe("code", code),
    ]
    common = {
        "inputs": files,
        "block": {
            "file": page.file,
            "line": None if page.generated else block.location.line,
            "kind": block.kind,
            "sha256": hashlib.sha256(block.body.encode()).hexdigest(),
        },
        "settings": block.settings.model_dump(mode="json", exclude_none=True),
        "requests": [_describe_request(one) for one in planned.requests],
        "statistics": _list_statistics(planned.requests),
    }
    folder = get_page_folder(page.path)
    drawn: tuple[Figure | ResultTable, ...] = (*list_figures(shown), *list_tables(shown))
    for one in drawn:
        numbers = getattr(one, "numbers", {})
        yield common | {
            "id": f"{page.path}#{one.id}",
            "table": hash_table(*_read_cells(one)),
            "observed": {name: _count(numbers[name]) for name in _OBSERVED if name in numbers},
            "outputs": [
                {"path": path, "sha256": outputs[path]}
                for path in (f"{folder}/{one.id}.{end}" for end in ("csv", "svg", "vl.json"))
                if path in outputs
            ],
        }


def _read_cells(one: Figure | ResultTable) -> tuple[Sequence[str], list[Sequence[str]]]:
    """Return header and rows of a table, or of a figure's data table, as texts."""
    if isinstance(one, ResultTable):
        return one.header, [tuple(cell.text for cell in row) for row in one.rows]
    return one.table.header, [*one.table.rows]


def hash_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return the SHA-256 of a table's texts, whatever the white space between words."""
    cells = [[" ".join(cell.split()) for cell in row] for row in (header, *rows)]
    return hashlib.sha256(json.dumps(cells, ensure_ascii=False).encode()).hexdigest()


def _list_data(planned: PlannedBlock, sources: Mapping[str, Source]) -> list[str]:
    return [file.path for name in planned.sources for file in sources[name].files]


def _count(value: object) -> object:
    """Return how many there are of what is listed."""
    return len(value) if isinstance(value, list | tuple) else value


def _describe_request(request: Request) -> dict[str, Any]:
    fields: dict[str, Any] = to_builtins(request)
    return {"kind": "curve" if isinstance(request, CurveRequest) else "scores"} | fields


def _list_statistics(requests: Sequence[Request]) -> list[dict[str, str]]:
    folders = {
        name
        for one in requests
        for name in (_CURVE_STATISTICS if isinstance(one, CurveRequest) else _SCORE_STATISTICS)
    }
    return [{"module": name, "sha256": _hash_code(name)} for name in sorted(folders)]


def _list_packages() -> dict[str, str]:
    """Return the versions of the packages that a build imports.

    Not of Python and the system: the same report gives the same archive on others.
    """
    found = {}
    for line in requires("mkdocs-reportgen") or []:
        name = re.split(r"[^A-Za-z0-9_.-]", line)[0]
        with suppress(PackageNotFoundError):  # for another Python
            if "extra ==" not in line:
                found[name] = version(name)
    return found


@functools.cache
def _hash_code(name: str) -> str:
    """Return a SHA-256 of the program text below a path of the package."""
    place = _PACKAGE / name
    files = [place] if place.is_file() else sorted(place.rglob("*.py"))
    whole = "".join(f"{path.relative_to(_PACKAGE).as_posix()}\0{path.read_text('utf-8')}\0" for path in files)
    return hashlib.sha256(whole.encode()).hexdigest()
