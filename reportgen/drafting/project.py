"""Where a report stands and what its settings say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.project import ProjectSettings


@dataclass(frozen=True, slots=True)
class Project:
    """A report on disk.

    Attributes:
        root: the folder of ``mkdocs.yml``.
        content_dir: the folder of its pages, relative to ``root``.
        page_paths: its Markdown files below ``content_dir``, in the order of the report.
        settings: what ``mkdocs.yml`` says to reportgen.
    """

    root: Path
    content_dir: str
    page_paths: tuple[str, ...]
    settings: ProjectSettings
