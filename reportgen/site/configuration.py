"""Reads ``mkdocs.yml`` as a build does, and turns what MkDocs complains of into problems with places."""

from __future__ import annotations

import logging
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mkdocs.config import load_config
from mkdocs.exceptions import Abort, MkDocsException

from reportgen.errors import Problem, ReportError, Severity, SourceLocation, Stage
from reportgen.settings.text import LARGEST, make_size_problem
from reportgen.site.checking.excerpts import clean_text
from reportgen.site.plugin import ReportPlugin, find_problems

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from mkdocs.config.defaults import MkDocsConfig

_PAGE_NAMED = re.compile(r"Doc file '([^']+)'")


def load_configuration(
    config_file: Path, *, strict: bool, words: list[str]
) -> tuple[MkDocsConfig, ReportPlugin]:
    """A ``mkdocs.yml`` as MkDocs reads it, and our plugin in it.

    Args:
        config_file: the ``mkdocs.yml``.
        strict: whether the build will fail on any warning.
        words: what MkDocs warned of, see ``collect_warnings``.

    Raises:
        ReportError: the file is too large, MkDocs refuses it, or our plugin is not switched on.
    """
    if config_file.stat().st_size > LARGEST:
        raise ReportError(make_size_problem(config_file.name, Stage.SETTINGS))
    try:
        config = load_config(config_file=str(config_file), strict=strict or None)
    except RecursionError as error:
        problem = Problem(
            SourceLocation(config_file.name),
            "this file is nested too deep",
            "Write it flatter",
            Stage.SETTINGS,
        )
        raise ReportError(problem) from error
    except (Abort, MkDocsException) as error:
        raise explain_refusal(words, error) from error
    return config, _find_plugin(config)


def _find_plugin(config: MkDocsConfig) -> ReportPlugin:
    plugin = config.plugins.get("reportgen")
    if isinstance(plugin, ReportPlugin):
        return plugin
    step = "Add a line with - reportgen under plugins:"
    said = "the reportgen plugin is not switched on"
    raise ReportError(Problem(SourceLocation("mkdocs.yml"), said, step, Stage.SETTINGS))


def explain_refusal(
    words: list[str], error: Exception, warned: Iterable[Problem] = (), content: str = ""
) -> ReportError:
    """The report's own problems, or what MkDocs complained of, each at its place if that is known."""
    problems = find_problems(error)
    if problems:
        return ReportError(*problems)
    ours = {clean_text(str(problem)): problem for problem in warned}
    reported = (ours.get(word) or _locate_problem(word, content) for word in words or [str(error)])
    return ReportError(*reported)


def make_mkdocs_problem(word: str, severity: Severity = Severity.ERROR, file: str = "mkdocs.yml") -> Problem:
    """What MkDocs complained of."""
    return Problem(SourceLocation(file), " ".join(word.split()).rstrip("."), "", Stage.SITE, severity)


def _locate_problem(word: str, content: str) -> Problem:
    page = _PAGE_NAMED.search(word)
    return (
        make_mkdocs_problem(word, file=f"{content}/{page[1]}")
        if page and content
        else make_mkdocs_problem(word)
    )


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect what MkDocs warns of, instead of having it printed."""
    words: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: words.append(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("mkdocs")
    before = logger.propagate
    logger.propagate = False
    logger.addHandler(handler)
    try:
        yield words
    finally:
        logger.removeHandler(handler)
        logger.propagate = before
