"""Files that pages include with ``pymdownx.snippets``: none from outside the repository, none of git's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from markdown.extensions import Extension

from reportgen.errors import Problem, ReportError, SourceLocation

if TYPE_CHECKING:
    from collections.abc import Callable

    from markdown import Markdown

    from reportgen.repository import Boundary


class BoundedSnippets(Extension):
    """Looks where each included file really is, before snippets reads it."""

    def __init__(self, boundary: Boundary, page: Callable[[], str]) -> None:
        """Take where files may be, and what tells the page that is being read."""
        super().__init__()
        self.boundary = boundary
        self.page = page

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Stand before the step of snippets that finds a file."""
        snippets = md.preprocessors["snippet"]
        find = snippets.get_snippet_path  # type: ignore[attr-defined]

        def find_within(path: str) -> str | None:
            found: str | None = find(path)
            target = self.boundary.resolve_outside(Path(found)) if found else None
            if target is None:
                return found
            said = f'the snippet "{path}" leads out of the repository, to {target!r}'
            step = "Put a copy of what it leads to into the repository"
            raise ReportError(Problem(SourceLocation(self.page()), said, step))

        snippets.get_snippet_path = find_within  # type: ignore[attr-defined]
