"""What the theme is told about a page: version, policy, provenance, and its link preview."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reportgen import __version__
from reportgen.narrative.topics import list_page_sources
from reportgen.site.outputs import list_figures
from reportgen.site.script_hashes import make_script_policy

if TYPE_CHECKING:
    from reportgen.model import Figure, Page, Report, Source
    from reportgen.site.provenance import Provenance

POLICY = "default-src 'self'; object-src 'none'; base-uri 'self'; form-action 'self'"


def make_site_context(
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
    policy = f"{POLICY}; {make_script_policy(scripts)}" if scripts else POLICY
    return {
        "version": __version__,
        "csp": "" if serving else policy,
        "inline_scripts": scripts,
        "commit": provenance.commit,
        "date": provenance.date,
        "all_sources": [_describe_source(source) for source in report.sources.values()],
        "sources": [],
        "og_image": "",
        "description": "",
    }


def list_sources(page: Page, report: Report) -> list[dict[str, Any]]:
    """The sources behind a page, in the order of its blocks."""
    return [_describe_source(report.sources[name]) for name in list_page_sources(page)]


def list_page_figures(page: Page, report: Report) -> tuple[Figure, ...]:
    """The figures of a page, in its order."""
    return tuple(
        figure for block in page.blocks for figure in list_figures(report.shown[page.path, block.id])
    )


def _describe_source(source: Source) -> dict[str, Any]:
    return {
        "name": source.name,
        "title": source.settings.title or source.name,
        "approximate": source.settings.approximate or "",
        "files": [{"path": f.path, "sha256": f.sha256, "size": f.size} for f in source.files],
    }
