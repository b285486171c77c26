"""From MkDocs' settings to our project: where the report stands, its pages in order, what it says to us."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from mkdocs.structure.files import set_exclusions

from reportgen.drafting.project import Project
from reportgen.site.content_folder import filter_shown, find_content_name, list_content_files
from reportgen.site.languages import filter_language
from reportgen.site.order import sort_by_nav

if TYPE_CHECKING:
    from pathlib import Path

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.settings.project import ProjectSettings


def make_project(config: MkDocsConfig, root: Path, settings: ProjectSettings) -> Project:
    """The report that a ``mkdocs.yml`` describes.

    Args:
        config: the file as MkDocs read it.
        root: its folder.
        settings: what it says to reportgen.

    Raises:
        ReportError: something in the content folder is not to be published (see ``list_content_files``), or with
            ``untrusted: true`` something could run.
    """
    name = find_content_name(config, root)
    files = list_content_files(config, root)
    if settings.untrusted:
        from reportgen.site.untrusted import refuse_unsafe  # noqa: PLC0415 - few reports need it

        refuse_unsafe(config, filter_shown(files), name)
    files = filter_language(files, config)
    set_exclusions(files, config)
    paths = sort_by_nav(config.nav, [file.src_uri for file in files.documentation_pages()])
    return Project(root, name, tuple(paths), settings)


def warn_of_omitted_pages(config: MkDocsConfig) -> None:
    """Let MkDocs warn of pages that ``nav`` leaves out, which it would only mention: nobody finds them.

    Only where our theme has the navigation, and ``validation`` says nothing else; ``not_in_nav`` names pages
    that are left out on purpose.
    """
    if config.theme.name == "reportgen" and config.validation.nav.omitted_files == logging.INFO:
        config.validation.nav.omitted_files = logging.WARNING
