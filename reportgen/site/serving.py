"""Serves a report while it is written: live reload on content and on data."""

from __future__ import annotations

import logging
import tempfile
from typing import TYPE_CHECKING, Any

from mkdocs.commands.serve import serve
from mkdocs.exceptions import Abort, MkDocsException

from reportgen.cache import cache_folder, make_temporary_folder
from reportgen.errors import Problem, ReportError, SourceLocation, Stage
from reportgen.site.plugin import find_problems

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def serve_site(
    config_file: Path, *, dev_addr: str | None, open_browser: bool, report: Callable[[str], None]
) -> None:
    """Serve until interrupted; ``report`` gets what MkDocs says.

    Raises:
        ReportError: the first build fails, or the address is taken.
    """
    # MkDocs serves from a temporary folder: one that goes, even if this process is killed.
    tempfile.tempdir = str(make_temporary_folder(cache_folder(config_file.resolve().parent)))
    handler = logging.Handler(logging.INFO)
    handler.emit = lambda record: report(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("mkdocs")
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)
    options: dict[str, Any] = {"dev_addr": dev_addr} if dev_addr else {}
    try:
        serve(config_file=str(config_file), open_in_browser=open_browser, **options)
    except (Abort, MkDocsException, OSError) as error:
        if problems := find_problems(error):
            raise ReportError(*problems) from error
        said = str(error) or "MkDocs stopped"
        raise ReportError(Problem(SourceLocation("mkdocs.yml"), said, "", Stage.SITE)) from error
    finally:
        logger.removeHandler(handler)
        tempfile.tempdir = None
