"""Files of a report in MkDocs: page order, added files and refused links."""

from __future__ import annotations

import logging
import os
import re
import stat
import warnings
from contextlib import suppress
from copy import copy
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from markdown.extensions import Extension
from mkdocs.structure.files import File, InclusionLevel, get_files, set_exclusions
from mkdocs.structure.pages import Page
from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage, make_error
from reportgen.core.repository import Boundary, find_boundary, is_hidden, resolve_path
from reportgen.core.words import join_names, suggest_name
from reportgen.narrative.binding_syntax import has_binding_marks
from reportgen.narrative.documents import SUFFIXES, is_card
from reportgen.narrative.headings import find_headings
from reportgen.narrative.markup import strip_bindings
from reportgen.narrative.notebooks import replace_cells
from reportgen.narrative.templates import split_front_matter
from reportgen.settings.loading import load_front_matter
from reportgen.settings.report import Project
from reportgen.site.replacing.locations import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from markdown import Markdown
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.toc import AnchorLink

    from reportgen.narrative.headings import Heading
    from reportgen.settings.report import ProjectSettings


def _list_nav(nav: object) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    elif isinstance(nav, dict | list):
        for item in nav.values() if isinstance(nav, dict) else nav:
            yield from _list_nav(item)


def find_language_folder(config: MkDocsConfig) -> str:
    """Return the current language's folder in the site, with a final slash, or "" for the default one."""
    plugin = _find_i18n(config)
    return "" if plugin is None or plugin.is_default_language_build else f"{plugin.current_language}/"


def iterate_languages(config: MkDocsConfig) -> Iterator[str]:
    """Make each language the current one in turn, the default one first; iterate once if there are none."""
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


JUPYTER: Final = "mkdocs-jupyter"
# Plugins that replace names between double braces, too.
_REPLACING: Final = ("macros", "git-revision-date-localized", "git-revision-date")
# awesome-pages warns of each plugin listed before it that looks at the navigation: ours only reads it.
warnings.filterwarnings("ignore", 'The plugin "reportgen" might not work correctly when placed before')


def render_cells(
    page: Page, shown: Sequence[int], texts: Mapping[int, str], config: MkDocsConfig, files: Files
) -> str:
    """Return the content of a page that mkdocs-jupyter rendered, with some cells converted by MkDocs.

    ``texts`` has these Markdown cells by their index, ``shown`` all that the page shows. Everything else on
    the page stays as it is.
    """
    contents = {}
    links = page.links_to_anchors = {}
    for index, text in texts.items():
        # A page of its own, as each cell is to Jupyter: the notebook keeps its title and contents.
        cell = copy(page)
        cell.markdown = text
        Page.render(cell, config, files)
        contents[index] = cell.content or ""
        for file, anchors in (cell.links_to_anchors or {}).items():
            links.setdefault(file, {}).update(anchors)
    if heading := _strip_heading(page.title or ""):
        page.title = heading.words
    _strip_headings(page.toc)
    return replace_cells(page.content or "", shown, contents)


def _strip_heading(words: str) -> Heading | None:
    """Return a heading as MkDocs converts it if mkdocs-jupyter left a bound value in its words."""
    text = f"# {unescape(words)}"
    if not has_binding_marks(text) or (shown := next(find_headings(strip_bindings(text)), None)) is None:
        return None
    lasting = next(find_headings(strip_bindings(text, with_values=False)), shown)
    return replace(shown, id=lasting.id)


def _strip_headings(entries: Iterable[AnchorLink]) -> None:
    """Replace bound values in a table of contents by their words, and anchors by those of the headings."""
    for entry in entries:
        if heading := _strip_heading(entry.title):
            entry.title, entry.id = escape(heading.words), heading.id
        _strip_headings(entry.children)


class BoundedSnippets(Extension):
    """Extension that resolves each included file before snippets reads it."""

    def __init__(self, config: MkDocsConfig, root: Path, page: Callable[[], str]) -> None:
        """Allow the repository and folders named in ``mkdocs.yml``; ``page`` returns the page being read."""
        super().__init__()
        self.boundary = find_boundary(root)
        named = config.mdx_configs.get("pymdownx.snippets", {}).get("base_path", [])
        for folder in [named] if isinstance(named, str) else named:
            path = Path(folder).absolute()
            inside = self.boundary.contains(os.path.normpath(path))
            if not (inside or self.boundary.contains(os.path.realpath(path))):
                self.boundary = self.boundary.add(path)
        self.page = page

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Run before the step of snippets that finds a file."""
        snippets = md.preprocessors["snippet"]
        find = snippets.get_snippet_path  # type: ignore[attr-defined]

        def find_within(path: str) -> str | None:
            file: str | None = find(path)
            target = self.boundary.resolve_outside(Path(file)) if file else None
            if target is None:
                return file
            message = f'the snippet "{path}" leads out of the repository, to {target!r}'
            step = "Put a copy of what it leads to into the repository"
            raise make_error(self.page(), message, step, stage=Stage.NARRATIVE)

        snippets.get_snippet_path = find_within  # type: ignore[attr-defined]


DEEPEST: Final = 100
MOST_ENTRIES: Final = 200_000
_KINDS: Final = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_COPY: Final = "Put a copy of what it leads to in its place; no setting allows such links here"


def find_content_name(config: MkDocsConfig, root: Path) -> str:
    """Return the content folder relative to ``mkdocs.yml``; raise a ReportError if it leads elsewhere."""
    config_folder = os.path.dirname(os.path.abspath(config.config_file_path or "mkdocs.yml"))  # noqa: PTH100, PTH120 - keeps links
    folder = Path(config.docs_dir)
    target = find_boundary(root).resolve_outside(folder)
    if folder.is_relative_to(config_folder) and target is None:
        return folder.relative_to(config_folder).as_posix()
    message = f"docs_dir leads out of the folder of mkdocs.yml, to {(target or config.docs_dir)!r}"
    step = "Name a folder below it, such as content"
    raise make_error("mkdocs.yml", message, step)


def find_output(config: MkDocsConfig, root: Path, data_dir: str) -> Output:
    """Return the site's folder, and which folders it must not concern."""
    named = (config.docs_dir, root / data_dir, config.theme.custom_dir)
    inputs = tuple(Path(folder) for folder in named if folder)
    return Output(Path(config.site_dir), root, "mkdocs.yml", inputs)


def list_content_files(config: MkDocsConfig, root: Path) -> Files:
    """List the files of the content folder as MkDocs finds them.

    Raises a ReportError if shown files include links out of the repository, to nothing or in a circle, or
    pipes, sockets or devices; also in the theme's own folder.
    """
    boundary = find_boundary(root)
    walk = _Walk(find_content_name(config, root), boundary)
    walk.look_through(config.docs_dir)
    # MkDocs would follow a circle forever, so it must not start.
    if walk.folders:
        raise ReportError(*walk.folders)
    files = get_files(config)
    set_exclusions(files, config)
    shown = (file.abs_src_path or "" for file in filter_shown(files))
    problems = [walk.files[path] for path in shown if path in walk.files]
    if config.theme.custom_dir:
        custom = Path(config.theme.custom_dir)
        theme = _Walk(custom.name, boundary.add(custom))
        theme.look_through(str(custom))
        problems += theme.files.values()
    if problems:
        raise ReportError(*problems)
    mark_drafts(files, config)  # reading a pipe would wait forever
    return files


def mark_drafts(files: Files, config: MkDocsConfig) -> None:
    """Make pages with ``draft: true`` in their front matter drafts, as ``draft_docs`` does by their paths.

    What is wrong with a page is reported when it is read.
    """
    set_exclusions(files, config)
    for file in files.documentation_pages():
        with suppress(OSError, ValueError, ReportError):
            front_matter, _, _ = split_front_matter(file.content_string, file.src_uri)
            if "draft" in front_matter and load_front_matter(front_matter, file.src_uri).draft:
                file.inclusion = InclusionLevel.DRAFT


def filter_shown(files: Files) -> Iterator[File]:
    """Iterate over the files that a site shows or copies; drafts are shown while a report is served."""
    return (file for file in files if file.inclusion.is_in_serve())  # type: ignore[no-untyped-call]


class _Walk(Struct):
    """A walk through a folder, ``name`` in messages, that follows links as MkDocs does."""

    name: str
    boundary: Boundary
    # problems that stop MkDocs from walking through
    folders: list[Diagnostic] = field(default_factory=list)
    # problems that stop it from copying a file, by the file's path
    files: dict[str, Diagnostic] = field(default_factory=dict)

    def look_through(self, top: str) -> None:
        """Record every problem below a folder."""
        waiting: list[tuple[str, tuple[str, ...]]] = [(top, (resolve_path(top),))]
        entries = 0
        while waiting:
            folder, above = waiting.pop()
            try:
                with os.scandir(folder) as inside:
                    ordered = sorted(inside, key=lambda entry: entry.name)
            except OSError:  # MkDocs also finds nothing in an unreadable folder
                continue
            for entry in ordered:
                entries += 1
                place = SourceLocation(f"{self.name}/{os.path.relpath(entry.path, top)}")
                real = f"{above[-1]}{os.sep}{entry.name}"
                if linked := entry.is_symlink():
                    real = resolve_path(entry.path)
                try:
                    is_folder = entry.is_dir()
                except OSError:  # a link to itself
                    is_folder = False
                if is_folder:
                    if problem := self._check_folder(place, real, above, linked=linked):
                        self.folders.append(problem)
                    else:
                        waiting.append((entry.path, (*above, real)))
                elif problem := self._check_file(place, real, entry):
                    self.files[entry.path] = problem
            if entries > MOST_ENTRIES:
                message = f"it holds more than {MOST_ENTRIES:,} files, those that links lead to included"
                step = "Keep data in the data folder"
                self.folders.append(Diagnostic(SourceLocation(self.name), message, step, Stage.SITE))
                return

    def _check_folder(
        self, place: SourceLocation, real: str, above: tuple[str, ...], *, linked: bool
    ) -> Diagnostic | None:
        if linked and not self.boundary.contains(real):
            return _refuse_outward(place, real)
        if linked and any(f"{one}{os.sep}".startswith(f"{real.rstrip(os.sep)}{os.sep}") for one in above):
            message = f"this link leads to a folder that contains it, {real!r}, so there is no end to it"
            return Diagnostic(place, message, "Remove it", Stage.SITE)
        if len(above) > DEEPEST:
            message = f"its folders are nested more than {DEEPEST} deep"
            return Diagnostic(SourceLocation(self.name), message, "Move the pages up", Stage.SITE)
        return None

    def _check_file(self, place: SourceLocation, real: str, entry: os.DirEntry[str]) -> Diagnostic | None:
        if entry.is_symlink() and not self.boundary.contains(real):
            return _refuse_outward(place, real)
        try:
            mode = os.stat(entry.path).st_mode  # noqa: PTH116 - a path as text
        except OSError:
            if not entry.is_symlink():  # gone or unreadable: MkDocs will report it
                return None
            message = f"this link leads to nothing: there is no {os.readlink(entry.path)!r}"  # noqa: PTH115 - as above
            return Diagnostic(place, message, "Mend the link or remove it", Stage.SITE)
        if stat.S_ISREG(mode):
            return None
        message = f"this is {_KINDS.get(stat.S_IFMT(mode), 'a device')}, no file"
        return Diagnostic(place, message, "Remove it", Stage.SITE)


def _refuse_outward(place: SourceLocation, target: str) -> Diagnostic:
    return Diagnostic(place, f"this link leads out of the repository, to {target!r}", _COPY, Stage.SITE)


def make_project(
    config: MkDocsConfig, root: Path, settings: ProjectSettings, *, with_drafts: bool = False
) -> Project:
    """Return the report that a ``mkdocs.yml`` in ``root`` describes.

    Raises a ReportError if something in the content folder may not be published (see ``list_content_files``),
    or with ``untrusted: true`` if something could run.
    """
    name = find_content_name(config, root)
    files = list_content_files(config, root)
    if settings.untrusted:
        from reportgen.site.security import refuse_unsafe  # noqa: PLC0415 - few reports need it

        refuse_unsafe(config, filter_shown(files), name)
    jupyter, plugin = config.plugins.get(JUPYTER), _find_i18n(config)
    if jupyter is not None:
        files = jupyter.on_files(files, config=config)  # makes pages of notebooks  # type: ignore[attr-defined]
    if plugin is not None and plugin.current_language is not None:
        files = plugin.on_files(files, config=config)
    set_exclusions(files, config)
    # A script that mkdocs-jupyter shows as a notebook has no Markdown to read.
    is_shown = InclusionLevel.is_in_serve if with_drafts else InclusionLevel.is_included
    pages = files.documentation_pages(inclusion=is_shown)
    paths = [file.src_uri for file in pages if not file.src_uri.endswith(".py")]
    # Pages in ``nav`` of ``mkdocs.yml`` come first, in its order.
    listed = (path for path in _list_nav(config.nav) if path in paths)
    settings = settings.model_copy(update={"variables": {**config.extra, **settings.variables}})
    ordered = tuple(dict.fromkeys((*listed, *paths)))
    # Documents are checked once, with the default language.
    patterns = () if find_language_folder(config) else settings.documents
    documents = list_documents(root, patterns, {f"{name}/{page}" for page in ordered})
    macros = any(name in config.plugins for name in _REPLACING)
    return Project(root, name, ordered, settings, macros=macros, documents=documents)


def list_documents(root: Path, patterns: Iterable[str], pages: Collection[str]) -> tuple[str, ...]:
    """List the files of ``documents:``, relative to ``root``, in the order of the patterns.

    ``pages`` are the files of the report's pages. Raises a ReportError for a pattern that finds nothing, and
    for each file that is a page, lies outside the repository, or is neither Markdown nor LaTeX.
    """
    boundary, found, problems = find_boundary(root), dict[str, None](), list[Diagnostic]()

    def refuse(said: str, step: str) -> None:
        place = SourceLocation("mkdocs.yml")
        problems.append(Diagnostic(place, f"documents: {said}", step, Stage.SETTINGS))

    for pattern in patterns:
        files = sorted(_glob_files(root, pattern, boundary))
        if not files:
            refuse(f'"{pattern}" finds no file in the repository', "Write a path relative to mkdocs.yml")
        for file in files:
            if not (file.endswith(SUFFIXES) or is_card(file)):
                step = "Name files that end with .md, .markdown or .tex, or results in .eval_results"
                refuse(f"{file} is neither Markdown nor LaTeX", step)
            elif file in pages:
                step = 'Take it out, and bind its numbers as [0.84]{value="..."}'
                refuse(f"{file} is a page of the report, which is checked anyway", step)
            elif not boundary.contains(resolve_path(root / file)):
                refuse(f"{file} leads out of the repository", _COPY)
            found[file] = None
    if problems:
        raise ReportError(*problems)
    return tuple(found)


def _glob_files(root: Path, pattern: str, boundary: Boundary) -> Iterator[str]:
    """Yield the files that a pattern within the repository finds; few hidden folders are searched."""
    fixed = os.path.normpath(os.path.join(os.path.realpath(root), pattern.partition("*")[0]))  # noqa: PTH118 - keeps links
    if os.path.isabs(pattern) or not boundary.contains(fixed):  # noqa: PTH117 - as above
        return
    for path in root.glob(pattern):
        file = os.path.relpath(path, root).replace(os.sep, "/")
        hidden = any(is_hidden(part) and part != ".." for part in file.split("/"))
        if not hidden and (path.is_file() or path.is_symlink()):
            yield file


def warn_of_omitted_pages(config: MkDocsConfig) -> None:
    """Make MkDocs warn of pages that ``nav`` omits, which it would only mention: nobody finds them.

    Only with our navigation, and unless ``validation`` is set; ``not_in_nav`` names pages to leave out.
    """
    if config.theme.name == "reportgen" and config.validation.nav.omitted_files == logging.INFO:
        config.validation.nav.omitted_files = logging.WARNING


def find_missing_anchors(
    files: Files, content: str, list_ids: Callable[[str], Iterable[str]]
) -> Iterator[Diagnostic]:
    """Find links to ids that no page has, and take them from what MkDocs would warn of without a line.

    ``content`` is the folder of the pages in the project; ``list_ids`` lists the ids of figures and tables of
    a page's source path.
    """
    for page in (file.page for file in files.documentation_pages() if file.page):
        for target, links in (page.links_to_anchors or {}).items():
            there = target.page.present_anchor_ids if target.page else None
            for anchor in [one for one in links if there is not None and one not in there]:
                written = links.pop(anchor)
                lines = enumerate(page.file.content_string.splitlines(), 1)
                line = next((number for number, text in lines if written in text), None)
                known = dict.fromkeys((*list_ids(target.src_uri), *sorted(there or ())))
                own = [one for one in known if not re.match(r"statement-|checked-|.*~", one)]
                message = f'"{written}" leads to no figure or heading: {target.src_uri} has no id "{anchor}"'
                place = SourceLocation(f"{content}/{page.file.src_uri}", line)
                step = f"{suggest_name(anchor, own)}It has {join_names(own, most=12)}"
                yield Diagnostic(place, message, step, Stage.SITE, Severity.WARNING)


def make_page(config: MkDocsConfig, path: str, text: str, template: str = "") -> File:
    """Make a generated page a file for MkDocs, in the folder of its language.

    Cards and links lead to it: a navigation written by an author need not include it. Its commits, and what
    is edited, are those of its ``template``, the path of the file that several pages are made of.
    """
    where = InclusionLevel.UNDEFINED if config.nav is None else InclusionLevel.NOT_IN_NAV
    file = File.generated(config, path, content=text, inclusion=where)
    plain = File.generated(config, _leave_language_out(config, path), content=text)
    file.dest_uri = find_language_folder(config) + plain.dest_uri
    if template:
        file.generated_by, file.edit_uri = None, template
        file.abs_src_path = str(Path(config.docs_dir) / template)
    if plugin := _find_i18n(config):
        # What it sets of its own pages: otherwise the language switch of the page before would be shown.
        language = plugin.current_language
        vars(file).update(locale=language, locale_alternate_of=language, alternates={language: file})
    return file


def _leave_language_out(config: MkDocsConfig, path: str) -> str:
    """Return the path that a page has without the folder or the ending of its language."""
    plugin = _find_i18n(config)
    if plugin is None:
        return path
    if plugin.config.docs_structure == "folder":
        folder, _, inner = path.partition("/")
        return inner if folder in plugin.all_languages else path
    stem, _, language = path.removesuffix(".md").rpartition(".")
    return f"{stem}.md" if language in plugin.all_languages else path
