"""Sites in several languages, as mkdocs-static-i18n builds them: one after the other, from the same settings.

The build of the default language has the root of the site; it goes around the others, with a folder each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files


def filter_language(files: Files, config: MkDocsConfig) -> Files:
    """Those of the files that belong to the current language; all of them where there is one language."""
    plugin = _find_i18n(config)
    if plugin is None or plugin.current_language is None:
        return files
    chosen: Files = plugin.on_files(files, config=config)
    return chosen


def find_language_folder(config: MkDocsConfig) -> str:
    """The folder of the current language in the site, with a slash at its end; empty for the default one."""
    plugin = _find_i18n(config)
    return "" if plugin is None or plugin.is_default_language_build else f"{plugin.current_language}/"


def iterate_languages(config: MkDocsConfig) -> Iterator[str]:
    """Make each language the current one for a step of the loop, the default one first; once without any."""
    plugin = _find_i18n(config)
    if plugin is None:
        yield ""
        return
    default = plugin.default_language
    for locale in sorted(plugin.build_languages, key=lambda one: one != default):
        plugin.current_language = locale
        yield locale


def _find_i18n(config: MkDocsConfig) -> Any:  # noqa: ANN401 - it brings no types
    return config.plugins.get("i18n")
