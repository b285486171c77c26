"""Blocks of small reports, drafted from the files that a test writes."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import yaml

from reportgen.core.cache import Cache, FileHashes
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.model import Shown


def write_block(kind: str, **settings: object) -> str:
    """A fenced block with these settings."""
    body = yaml.safe_dump(settings, allow_unicode=True, sort_keys=False, default_flow_style=None, width=10**6)
    return f"```{kind}\n{body}```\n"


def write_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A CSV file; an empty cell is a missing value."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows([header, *rows])
    return file.getvalue()


def draft_blocks(root: Path, page: str, data: Mapping[str, str]) -> dict[str, Shown]:
    """What the blocks of a report of one page show, by id.

    Args:
        root: a folder that stays as long as what is shown, whose longest texts stay in its cache.
        page: the text of the page.
        data: the text of each file below ``data/``.
    """
    for name, text in {
        "content/index.md": page,
        **{f"data/{name}": text for name, text in data.items()},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="")
    cache = root / "cache"
    project = Project(root, "content", ("index.md",), ProjectSettings())
    report = draft(project, Cache(cache), FileHashes(cache))
    return {block: shown for (_, block), shown in report.shown.items()}


def draft_block(root: Path, kind: str, data: Mapping[str, str], **settings: Any) -> Any:  # noqa: ANN401 - of its kind
    """What one block shows in a report of its own."""
    (shown,) = draft_blocks(root, write_block(kind, **settings), data).values()
    return shown
