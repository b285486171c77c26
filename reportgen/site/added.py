"""Files that reportgen adds to a site: written by MkDocs, or linked from the cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, InclusionLevel

from reportgen.site.languages import find_language_folder
from reportgen.site.links import link

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.cache import CachedText


def make_file(config: MkDocsConfig, path: str, content: bytes | CachedText) -> File:
    """A file for MkDocs.

    Args:
        config: that of MkDocs.
        path: where it stands, from the root of the site.
        content: what it holds; a text that is kept is linked, not copied, wherever that can be done.
    """
    if isinstance(content, bytes):
        return File.generated(config, path, content=content)
    return _LinkedFile.generated(config, path, abs_src_path=content.path)


def make_page(config: MkDocsConfig, path: str, text: str) -> File:
    """A page that nobody wrote, as a file for MkDocs, in the folder of its language.

    Cards and links lead to it: a navigation that somebody wrote need not have it.
    """
    where = InclusionLevel.UNDEFINED if config.nav is None else InclusionLevel.NOT_IN_NAV
    file = File.generated(config, path, content=text, inclusion=where)
    file.dest_uri = find_language_folder(config) + file.dest_uri
    return file


class _LinkedFile(File):
    """A file that shares its bytes with one of the cache; the cache sees by its time when they change."""

    def copy_file(self, dirty: bool = False) -> None:  # noqa: FBT001, FBT002 - MkDocs' signature
        source, target = self.abs_src_path or "", self.abs_dest_path
        try:
            link(source, target)
        except FileExistsError:  # from the build of another language
            Path(target).unlink()
            self.copy_file(dirty)
        except OSError:  # another file system, or one without links
            super().copy_file(dirty)
