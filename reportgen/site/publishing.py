"""Running MkDocs: reading ``mkdocs.yml``, building a site and swapping it with the old one, or serving it."""

from __future__ import annotations

import io
import logging
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, MkDocsException

from reportgen.core.cache import Cache, cache_folder, make_temporary_folder
from reportgen.core.errors import (
    Diagnostic,
    ReportError,
    Severity,
    SourceLocation,
    Stage,
    make_error,
)
from reportgen.core.terminal import clean_text
from reportgen.core.words import format_count
from reportgen.settings.block_parts import AltairSettings
from reportgen.settings.text import CONFLICT, LARGEST, find_conflict_marks, make_size_problem, read_text
from reportgen.settings.yaml_tree import find_invalid_value
from reportgen.site.files import find_output
from reportgen.site.plugin import ReportPlugin
from reportgen.site.replacing.stage import open_stage, recover_killed
from reportgen.site.reuse import manifest
from reportgen.site.reuse.manifest import LastBuild
from reportgen.site.reuse.pages import has_known_inputs
from reportgen.site.security import write_foreign_settings
from reportgen.site.serving import find_problems, hide_printed_problems, listen, restore_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.draft.report import Report
    from reportgen.site.outputs import PageOutputs
    from reportgen.site.reuse.added_files import Additions

_PAGE_NAMED = re.compile(r"Doc file '([^']+)'")


def load_configuration(
    config_file: Path, *, strict: bool, words: list[str], foreign: bool = False
) -> tuple[MkDocsConfig, ReportPlugin]:
    """Load a ``mkdocs.yml`` as MkDocs does, and return it with our plugin; of a foreign one, nothing runs.

    ``words`` are MkDocs' warnings, see ``collect_warnings``. Raises a ReportError if the file is too large,
    MkDocs refuses it, or our plugin is not enabled.
    """
    if config_file.stat().st_size > LARGEST:
        raise ReportError(make_size_problem(config_file.name, Stage.SETTINGS))
    path, opened = str(config_file), None
    if foreign:
        opened = io.BytesIO(write_foreign_settings(config_file).encode("utf-8", "surrogatepass"))
    try:
        config = load_config(opened or path, config_file_path=path, strict=strict or None)
    except RecursionError as error:
        message = "this file is nested too deep"
        raise make_error(config_file.name, message, "Write it flatter", Stage.SETTINGS) from error
    except ValueError as error:  # an integer of thousands of digits, or a day such as 2026-02-30
        text = read_text(config_file, config_file.name, Stage.SETTINGS)
        place = SourceLocation(config_file.name, find_invalid_value(text))
        message = f"MkDocs cannot read this value: {error}"
        raise make_error(place, message, "Put quotes around it", Stage.SETTINGS) from error
    except (Abort, MkDocsException) as error:
        if marks := find_conflict_marks(read_text(config_file, config_file.name, Stage.SETTINGS)):
            place = SourceLocation(config_file.name, marks[0])
            raise ReportError(Diagnostic(place, *CONFLICT, Stage.SETTINGS)) from error
        raise explain_refusal(words, error) from error
    plugin = config.plugins.get("reportgen")
    if isinstance(plugin, ReportPlugin):
        return config, plugin
    step = "Add a line with - reportgen under plugins:"
    raise make_error("mkdocs.yml", "the reportgen plugin is not switched on", step, Stage.SETTINGS)


def explain_refusal(
    words: list[str], error: Exception, warned: Iterable[Diagnostic] = (), content: str = ""
) -> ReportError:
    """Make an error of the report's own problems, or MkDocs' complaints, with their location if known."""
    problems = find_problems(error)
    if problems:
        return ReportError(*problems)
    ours = {clean_text(str(problem)): problem for problem in warned}
    for said in words or [str(error)]:
        own, word = restore_problems(said)
        problems += own
        if own and not word:
            continue
        page = _PAGE_NAMED.search(word)
        file = f"{content}/{page[1]}" if page and content else "mkdocs.yml"
        problems += (ours.get(word) or make_mkdocs_problem(word, file=file),)
    return ReportError(*problems)


def make_mkdocs_problem(
    word: str, severity: Severity = Severity.ERROR, file: str = "mkdocs.yml"
) -> Diagnostic:
    """Make a diagnostic of a message from MkDocs."""
    return Diagnostic(SourceLocation(file), " ".join(word.split()).rstrip("."), "", Stage.SITE, severity)


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """Collect MkDocs' warnings instead of printing them."""
    words: list[str] = []
    logger = logging.getLogger("mkdocs")
    before = logger.propagate
    logger.propagate = False
    try:
        with listen(logging.WARNING, words.append):
            yield words
    finally:
        logger.propagate = before


_PACKAGE = Path(__file__).resolve().parents[1]


def publish(
    config_file: Path,
    *,
    strict: bool,
    progress: Callable[[int, int], None],
    warn: Callable[[str | Diagnostic], None],
    compare: Callable[[Report | None], Additions] | None = None,
) -> manifest.Summary:
    """Build the site of a ``mkdocs.yml`` and replace the old one with it.

    ``progress`` is called after each block with the numbers of drawn blocks and of all, ``warn`` with each
    warning, ``compare`` as by the plugin. Raises a ReportError of the report, its settings or the disk;
    the old site is unchanged then.
    """
    root = config_file.resolve().parent
    recover_killed(cache_folder(root))
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=strict, words=words)
        output = find_output(config, root, plugin.settings.data_dir)
        site = output.absolute
        last_build = LastBuild(site, manifest.read_outputs(root) if has_known_inputs(config) else {})
        with open_stage(output, cache_folder(root)) as stage:
            plugin.progress, plugin.compare, plugin.last_build = progress, compare, last_build
            started = stage.new.stat().st_mtime_ns
            config.site_dir = str(stage.new)
            try:
                config.plugins.on_startup(command="build", dirty=False)
                build(config)
                config.plugins.on_shutdown()
            except (Abort, MkDocsException) as error:
                raise explain_refusal(words, error, plugin.warned, Path(config.docs_dir).name) from error
            finally:
                plugin.last_build = None  # MkDocs uses a plugin again in the next build of this process
            remaining = stage.swap()
    left = (f"{stage.old} stays, as it cannot be removed: {why}" for why in remaining)
    _pass_on((*words, *left), plugin.warned, warn)
    Cache(cache_folder(root)).prune_daily()
    summary = _summarize(plugin.report, plugin.outputs.values(), warnings=len(words))
    made = manifest.Build(config_file, site, summary, started, is_plain=compare is None)
    if has_known_inputs(config):
        files = (file for source in plugin.report.list_sources() for file in source.files)
        hashes = {str(root / file.path): file.sha256 for file in files}
        manifest.write(made, _list_inputs(root, config, plugin), hashes, last_build.keys)
    else:
        manifest.remove(root)
    return summary


def _pass_on(
    words: Iterable[str], warned: Iterable[Diagnostic], warn: Callable[[str | Diagnostic], None]
) -> None:
    """Warn of what was logged, with a diagnostic where it is one of the report's."""
    ours = {clean_text(str(problem)): problem for problem in warned}
    for word in words:
        warn(ours.get(word, word))


def _summarize(report: Report, outputs: Collection[PageOutputs], *, warnings: int) -> manifest.Summary:
    figures = sum(len(output.figures) for output in outputs)
    samples, size = (sum(output.texts[part] for output in outputs) for part in (0, 1))
    texts = ""
    if samples:
        from reportgen.site.describe import format_bytes  # noqa: PLC0415 - few reports have texts

        texts = f"texts of {format_count(samples, 'sample')} ({format_bytes(size)})"
    return manifest.Summary(len(report.pages), figures, report.cache_hits, warnings, texts)


def _list_inputs(root: Path, config: MkDocsConfig, plugin: ReportPlugin) -> Iterator[Path]:
    """List everything that determines the site."""
    yield Path(config.config_file_path or root / "mkdocs.yml")
    yield Path(config.docs_dir)
    yield root / plugin.settings.data_dir
    if config.theme.custom_dir:
        yield Path(config.theme.custom_dir)
    yield _PACKAGE
    yield from (Path(folder) for folder in config.theme.dirs if Path(folder).name == "site_templates")
    yield from manifest.list_repository_files(root)
    yield from (root / document.file for document in plugin.report.documents)
    for block in (block for page in plugin.report.pages for block in page.blocks):
        if isinstance(block.settings, AltairSettings):
            yield root / block.settings.function.partition(":")[0]


def serve_site(
    config_file: Path, *, dev_addr: str | None, open_browser: bool, report: Callable[[str], None]
) -> None:
    """Serve until interrupted; ``report`` gets MkDocs' messages. Raise a ReportError if it fails."""

    def report_others(words: str) -> None:
        """Leave out our own problems, which are printed with their lines."""
        own, others = restore_problems(words)
        if others or not own:
            report(others)

    # MkDocs prints what is wrong with the settings in words of its own.
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words)
    root = config_file.resolve().parent
    find_output(config, root, plugin.settings.data_dir).check_location()
    # It imports a server and a watcher, which a build does not need.
    from mkdocs.commands.serve import serve  # noqa: PLC0415

    # MkDocs serves from a temporary folder: one that is removed, even if this process is killed.
    tempfile.tempdir = str(make_temporary_folder(cache_folder(root)))
    logging.getLogger("mkdocs").setLevel(logging.INFO)
    hide_printed_problems()
    options: dict[str, Any] = {"dev_addr": dev_addr} if dev_addr else {}
    try:
        with listen(logging.INFO, report_others):
            serve(config_file=str(config_file), open_in_browser=open_browser, **options)
    except (Abort, MkDocsException, OSError) as error:
        if problems := find_problems(error):
            raise ReportError(*problems) from error
        message = str(error) or "MkDocs stopped"
        raise make_error("mkdocs.yml", message, "") from error
    finally:
        tempfile.tempdir = None
