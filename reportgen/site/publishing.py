"""Builds a site beside the old one and swaps them: the old site stays until the new one is complete."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.commands.build import build
from mkdocs.exceptions import Abort, MkDocsException

from reportgen.cache import Cache
from reportgen.narrative.spans import Spans
from reportgen.settings.blocks import AltairSettings
from reportgen.site import manifest
from reportgen.site.configuration import configured, mkdocs_words, refusal
from reportgen.site.earlier import Earlier
from reportgen.site.outputs import figures_of
from reportgen.site.ownership import refuse_foreign_folder
from reportgen.site.plugin import CACHE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.model import Report
    from reportgen.site.plugin import ReportPlugin

NEW, OLD = Path(".reportgen", "site.new"), Path(".reportgen", "site.old")
_PACKAGE = Path(__file__).resolve().parents[1]
# What decides a site besides its folders is not known of other plugins, of extensions that read files, and
# of settings that look elsewhere: with one of these, every build is a real one.
_KNOWN_PLUGINS = {"reportgen", "search", "material/search"}
_KNOWN_EXTENSIONS = re.compile(r"[^.]+|(?:markdown\.extensions|material\.extensions|pymdownx)\..+")
_READING_EXTENSIONS = {"pymdownx.snippets", "pymdownx.b64"}
_OUTSIDE = re.compile(r"!ENV\b|^\s*INHERIT\s*:", re.MULTILINE)


def publish(
    config_file: Path, *, strict: bool, progress: Callable[[int, int], None], tell: Callable[[str], None]
) -> manifest.Summary:
    """Build the site of a ``mkdocs.yml`` and put it in place of the old one.

    Args:
        config_file: the ``mkdocs.yml``.
        strict: fail on any warning.
        progress: told after each block how many of how many are drawn.
        tell: told each warning.

    Raises:
        ReportError: problems of the report or of its settings; the old site stands as it was.
    """
    root = config_file.resolve().parent
    started = manifest.start(root)
    with mkdocs_words() as words:
        config, plugin = configured(config_file, strict=strict, words=words)
        site = Path(config.site_dir).resolve()
        refuse_foreign_folder(site, root)
        plugin.progress = progress
        _restore(root, site)
        plugin.earlier = earlier = Earlier(site, manifest.written(root) if _knows_its_inputs(config) else {})
        fresh = _fresh_folder(root)
        config.site_dir = str(fresh)
        _build(config, plugin, words)
    for word in words:
        tell(word)
    _swap(root, fresh, site)
    Cache(root / CACHE).prune_daily()
    report = plugin.report
    figures = sum(len(figures_of(shown)) for shown in report.shown.values())
    summary = manifest.Summary(len(report.pages), figures, report.cache_hits, len(words))
    if _knows_its_inputs(config):
        inputs = _inputs(root, config, plugin.data_folder, report)
        hashes = {str(root / f.path): f.sha256 for source in report.sources.values() for f in source.files}
        manifest.write(manifest.Build(config_file, site, summary, started), inputs, hashes, earlier.keys)
    else:
        manifest.forget(root)
    return summary


def _build(config: MkDocsConfig, plugin: ReportPlugin, words: list[str]) -> None:
    try:
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
    except (Abort, MkDocsException) as error:
        raise refusal(words, error, plugin.warned, Path(config.docs_dir).name) from error


def _fresh_folder(root: Path) -> Path:
    """A folder of this process, so that two builds at a time do not mix; what killed ones left is removed."""
    for left in root.glob(f"{NEW}-*"):
        if not _runs(int(left.name.rpartition("-")[2])):
            shutil.rmtree(left, ignore_errors=True)
    return root / f"{NEW}-{os.getpid()}"


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it runs, and is another user's
        return True
    return process != os.getpid()


def _restore(root: Path, site: Path) -> None:
    """Finish a swap that a kill interrupted between its two renames."""
    old = root / OLD
    if old.is_dir():
        if site.is_dir():
            shutil.rmtree(old)
        else:
            shutil.move(old, site)


def _swap(root: Path, fresh: Path, site: Path) -> None:
    old = root / OLD
    site.parent.mkdir(parents=True, exist_ok=True)
    if site.is_dir():
        shutil.move(site, old)
    shutil.move(fresh, site)
    shutil.rmtree(old, ignore_errors=True)


def _knows_its_inputs(config: MkDocsConfig) -> bool:
    """Whether everything that decides the site is known."""
    # Bound words are marked by an extension of ours, which is no name.
    listed: list[object] = [*config.markdown_extensions]
    extensions = {str(name) for name in listed if not isinstance(name, Spans)}
    text = Path(config.config_file_path or "mkdocs.yml").read_text(encoding="utf-8")
    return (
        set(config.plugins) <= _KNOWN_PLUGINS
        and all(_KNOWN_EXTENSIONS.fullmatch(name) for name in extensions)
        and not extensions & _READING_EXTENSIONS
        and not _OUTSIDE.search(text)
    )


def _inputs(root: Path, config: MkDocsConfig, data: str, report: Report) -> Iterator[Path]:
    """Everything that decides the site."""
    yield Path(config.config_file_path or root / "mkdocs.yml")
    yield Path(config.docs_dir)
    yield root / data
    if config.theme.custom_dir:
        yield Path(config.theme.custom_dir)
    yield _PACKAGE
    yield from (Path(folder) for folder in config.theme.dirs if Path(folder).name == "site_templates")
    yield from manifest.repository_files(root)
    for page in report.pages:
        for block in page.blocks:
            if isinstance(block.settings, AltairSettings):
                yield root / block.settings.function.partition(":")[0]
