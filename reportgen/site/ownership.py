"""A folder that a report did not make is never cleared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from reportgen.errors import Problem, ReportError, SourceLocation, Stage

if TYPE_CHECKING:
    from pathlib import Path

MARK = "report.json"


def refuse_foreign_folder(site: Path, root: Path) -> None:
    """Refuse a site folder that holds something and no ``report.json`` that an earlier build wrote.

    Raises:
        ReportError: the folder is not ours, is a file, or is the project itself or above it.
    """
    name = site.name if site.parent == root else str(site)
    place = SourceLocation("mkdocs.yml")
    if site.resolve() == root.resolve() or site.resolve() in root.resolve().parents:
        said = f'site_dir "{name}" holds the report itself'
        raise ReportError(Problem(place, said, "Choose a folder of its own, such as site", Stage.SITE))
    if site.is_file():
        said = f'site_dir "{name}" is a file'
        raise ReportError(Problem(place, said, "Choose another site_dir", Stage.SITE))
    if site.is_dir() and any(site.iterdir()) and not _is_ours(site / MARK):
        said = f'the folder "{name}" holds files that reportgen did not write'
        step = "Move them away, or choose another site_dir; a build replaces the whole folder"
        raise ReportError(Problem(place, said, step, Stage.SITE))


def _is_ours(mark: Path) -> bool:
    """Other programs write a ``report.json`` too; ours says who made it."""
    try:
        said = json.loads(mark.read_text(encoding="utf-8"))
        return bool(said["generator"]["name"] == "reportgen")
    except (OSError, ValueError, LookupError, TypeError):
        return False
