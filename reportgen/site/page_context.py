"""What the theme is told about a page: version, policy, provenance, and its link preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen import __version__
from reportgen.narrative.topics import sources_on
from reportgen.site.outputs import figures_of
from reportgen.site.script_hashes import script_policy

if TYPE_CHECKING:
    from reportgen.model import Figure, Page, Report, Source
    from reportgen.site.provenance import Provenance

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"


def site_context(
    report: Report, provenance: Provenance, *, serving: bool, scripts: dict[str, str] | None = None
) -> dict[str, Any]:
    """What is the same on every page.

    Args:
        report: the draft.
        provenance: of the build.
        serving: ``serve`` sends the policy itself, since it knows the script of the live reload.
        scripts: those that stand in the page, where all scripts are named by their hashes.
    """
    scripts = {} if serving else scripts or {}
    policy = f"{POLICY}; {script_policy(scripts)}" if scripts else POLICY
    return {
        "version": __version__,
        "csp": "" if serving else policy,
        "inline_scripts": scripts,
        "commit": provenance.commit,
        "date": provenance.date,
        "all_sources": [_row(source) for source in report.sources.values()],
        "sources": [],
        "og_image": "",
        "description": "",
    }


def page_sources(page: Page, report: Report) -> list[dict[str, Any]]:
    """The sources behind a page, in the order of its blocks."""
    return [_row(report.sources[name]) for name in sources_on(page)]


def figures_on(page: Page, report: Report) -> tuple[Figure, ...]:
    """The figures of a page, in its order."""
    return tuple(figure for block in page.blocks for figure in figures_of(report.shown[page.path, block.id]))


def _row(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "title": source.settings.title or source.name,
        "approximate": source.settings.approximate or "",
        "files": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in source.files],
    }
