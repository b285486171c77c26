"""Markdown extension ``reportgen.guard``: an engine that ignores our plugin cannot publish a page of ours.

Such an engine would show blocks as code and bound spans, unchecked, with their braces. Here its build fails.
"""

from __future__ import annotations

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor

from reportgen.core.errors import Diagnostics, ReportError, make_error
from reportgen.narrative.markup import find_bindings, find_fences


class _Guard(Preprocessor):
    """Looks at the Markdown of each page, before any other step."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines as they are.

        Raises:
            ReportError: the page has a block or a binding, and the plugin does not read it.
        """
        if "reportgen_bound" in self.md.inlinePatterns:  # the plugin's
            return lines
        text, problems = "\n".join(lines), Diagnostics()
        found = [
            (fence.line, f'the block "{fence.kind}"') for fence in find_fences(text, "page", 1, problems)
        ]
        bound = find_bindings(text, "page", 1, 0, problems)
        found += [(one.location.line or 1, f'"[{one.words}]{{{one.kind}=…}}"') for one in bound]
        if found:
            line, what = min(found)
            message = (
                f"{what} in line {line} of the page's text is for the plugin reportgen, which does not run"
            )
            step = "Build with mkdocs or properdocs, and list reportgen below plugins in their settings"
            raise make_error("reportgen.guard", message, step)
        if problems.found:
            raise ReportError(*problems.found)
        return lines


class GuardExtension(Extension):
    """Puts the guard before every other step."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Python-Markdown's name
        """Register it with a priority above those of Markdown's own steps (30 at most)."""
        md.preprocessors.register(_Guard(md), "reportgen_guard", 1000)


def makeExtension(**_: object) -> GuardExtension:  # noqa: N802 - as above
    """Return the extension, as Python-Markdown asks the module of an extension for it."""
    return GuardExtension()
