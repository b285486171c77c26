"""What a build adds to a site: files of figures, our styles and scripts as MkDocs sees them, and a review."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, Files
from msgspec import Struct

from reportgen.site.files import make_page, mark_drafts
from reportgen.site.navigation import TAGS, write_tags
from reportgen.site.reuse.manifest import link

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.core.cache import CachedText
    from reportgen.settings.inputs import Page


class Additions(Struct, frozen=True):
    """What a build adds to its report: a section at the end of pages, and a page that all of them link to.

    ``name`` is the state that the report is compared with. ``sections`` has what each page's section says, by
    path, and ``front`` what that of the front page says of all pages, in words for the template
    ``fragments/what_changed.html``. ``write_page`` makes the HTML of the page from its links, each with its
    kind, and the address of the front page, empty if there is none; ``data`` says the same as JSON.
    """

    name: str
    sections: Mapping[str, Mapping[str, Any]]
    front: Mapping[str, Any]
    data: str
    write_page: Callable[[Sequence[tuple[str, str]], str], str]


def add_files(
    files: Files,
    config: MkDocsConfig,
    outputs: Mapping[str, bytes | CachedText],
    pages: Sequence[Page],
    *,
    are_listed: bool,
) -> Files:
    """Return a site's files with those that a report adds, without compiled modules of its theme.

    Pages that their front matter calls drafts become drafts, and in our theme a page lists those with tags.

    MkDocs takes a module that another process is just writing for a picture or a font: it is gone at once.
    ``outputs`` has the content of each by its path from the site's root. They are thousands in a large
    report: they need not be listed if no other plugin lists files.
    """
    for file in [file for file in files if "__pycache__/" in file.src_uri]:
        files.remove(file)
    mark_drafts(files, config)
    tagged = any(page.front_matter.tags for page in pages) and config.theme.name == "reportgen"
    if tagged and files.get_file_from_path(TAGS) is None:
        files.append(make_page(config, TAGS, write_tags(pages)))
    if not are_listed:
        return _WithOutputs(files, config, outputs)
    for path, content in outputs.items():
        files.append(_make_file(config, path, content))
    return files


class _WithOutputs(Files):
    """Files of a site, and others that are only found by their paths."""

    def __init__(self, files: Files, config: MkDocsConfig, outputs: Mapping[str, bytes | CachedText]) -> None:
        super().__init__([file for file in files if file.src_uri not in outputs])
        self.outputs, self._config = outputs, config

    def get_file_from_path(self, path: str) -> File | None:
        """Return the file at a path, such as the target of a link."""
        content = self.outputs.get(PurePosixPath(path).as_posix())
        return (
            super().get_file_from_path(path) if content is None else _make_file(self._config, path, content)
        )

    def copy_static_files(self, dirty: bool = False, **inclusion: Any) -> None:  # noqa: ANN401, FBT001, FBT002 - MkDocs' signature
        """Copy all files, or link those of the cache."""
        super().copy_static_files(dirty, **inclusion)
        for path, content in self.outputs.items():
            target = f"{self._config.site_dir}/{path}"
            if isinstance(content, bytes) or not _link(content.path, target):
                _make_file(self._config, path, content).copy_file(dirty)


def _link(source: str, target: str) -> bool:
    """Link a file of the cache into the site; return False if the file system has no links."""
    try:
        link(source, target)
    except FileExistsError:  # from the build of another language
        Path(target).unlink()
        return _link(source, target)
    except OSError:
        return False
    return True


def _make_file(config: MkDocsConfig, path: str, content: bytes | CachedText) -> File:
    if isinstance(content, bytes):
        return File.generated(config, path, content=content)
    return _LinkedFile.generated(config, path, abs_src_path=content.path)


class _LinkedFile(File):
    """File hard-linked to one of the cache, which sees changes by its modification time."""

    def copy_file(self, dirty: bool = False) -> None:  # noqa: FBT001, FBT002 - MkDocs' signature
        if not _link(self.abs_src_path or "", self.abs_dest_path):
            super().copy_file(dirty)
