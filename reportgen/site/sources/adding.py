"""The command `add`: data into the data folder, their ``source.yml``, a page and its line in ``nav:``.

Everything is written under its final name only once it is whole, and taken back if a later step fails.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
from contextlib import ExitStack, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.cache import replace_file
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage, make_error
from reportgen.core.repository import find_checkout, find_data_boundary
from reportgen.core.words import join_names
from reportgen.draft.describing import freeze_source, suggest_settings
from reportgen.draft.first_page import write_first_page
from reportgen.settings.loading import read_project_settings
from reportgen.settings.text import make_settings_problem, normalise_text, read_text
from reportgen.settings.yaml_tree import Origin, parse, to_values, write_yaml
from reportgen.site.checking import open_report
from reportgen.site.describe import describe_located, locate_data
from reportgen.site.sources.freezing import SETTINGS, TOOL, write_frozen

if TYPE_CHECKING:
    from reportgen.core.statements import Description
    from reportgen.settings.yaml_tree import Node
    from reportgen.site.describe import DataPath


How = Literal["copy", "link", "freeze", "stay"]
LARGEST_COPY: Final = 50_000_000
"""Bytes of the largest source that is copied by itself; a larger one is frozen."""
_UNSAFE: Final = re.compile(r"[^\w.@+=-]+")


class Addition(Struct, frozen=True):
    """What was written: paths relative to the report, how the data came there, and what was found in them."""

    name: str
    how: How
    files: tuple[str, ...]
    description: Description


class _Target(Struct, frozen=True):
    """A source to be: its name in blocks, its title, its file or folder, and its ``source.yml``."""

    name: str
    title: str
    data: Path
    settings: Path

    @property
    def is_single(self) -> bool:
        """Whether it is one file rather than a folder."""
        return self.settings.parent == self.data.parent


def add_data(
    path: Path, config_file: Path, name: str | None, how: How | None, *, with_page: bool
) -> Addition:
    """Add a file or folder to a report as a source.

    ``how`` is what to do with the data; None copies up to 50 MB and freezes what is larger. Data that are in
    the data folder already stay there. Raises ``ReportError`` if the data cannot be read, or if anything
    would be overwritten, and then leaves the report as it was.
    """
    root = config_file.absolute().parent
    content, settings = read_project_settings(config_file, config_file.name)
    place = locate_data(path)
    description = describe_located(place, place.name, place.hashes)
    # What is suggested for source.yml may be all that is missing.
    if not description.kind or not description.settings:
        _raise_errors(description)
    if not description.kind:
        advice = "Name one of them, or a folder with runs or tables"
        raise make_error(str(path), "it holds no data of its own", advice, Stage.DATA)
    left = _find_others(path, description)
    data_dir = root / settings.data_dir
    how = _choose_how(place, description, data_dir, how)
    target = _make_target(place, description, name or "", how, data_dir)
    page = root / content / f"{target.name}.md" if with_page else None
    _refuse_existing(root, target, page, how)
    if how == "link" and not settings.follow_links:
        boundary = find_data_boundary(root, settings.data_dir)
        if boundary.resolve_outside(place.path):
            message = "a link to it would lead out of the repository, and such links are not followed"
            advice = "Leave --link out, or set follow_links: true for the reportgen plugin in mkdocs.yml"
            raise make_error(str(place.path), message, advice)
    with ExitStack() as undo:
        written = _put_data(place, description, target, how, undo)
        written_place = locate_data(target.data)
        description = describe_located(written_place, target.name, written_place.hashes)
        _raise_errors(description)
        if page:
            written += _put_page(config_file, page, target, description, undo)
        undo.pop_all()
    description = replace(description, problems=(*description.problems, *left))
    return Addition(target.name, how, tuple(_show(one, root) for one in written), description)


def _choose_how(place: DataPath, description: Description, data_dir: Path, how: How | None) -> How:
    """Return what is done with the data where nobody says it; raise if they are there and somebody does."""
    if not place.path.is_relative_to(data_dir):
        return how or ("copy" if description.size <= LARGEST_COPY else "freeze")
    if how:
        message = "it is already in the data folder"
        raise make_error(str(place.path), message, f"Leave --{how} out", Stage.DATA)
    return "stay"


def _find_others(path: Path, description: Description) -> list[Diagnostic]:
    """Warn of what a folder holds besides the source that is added."""
    others = [one.name for one in description.sources if one.title not in {"", description.title}]
    if not others:
        return []
    message = f"only {description.title} was added, not {join_names(others, most=8)}"
    advice = f"Add each of them by itself, as in reportgen add {path / others[0]}"
    return [Diagnostic(SourceLocation(str(path)), message, advice, Stage.DATA, Severity.WARNING)]


def _raise_errors(description: Description) -> None:
    if errors := [one for one in description.problems if one.severity is Severity.ERROR]:
        raise ReportError(*errors)


def _make_target(place: DataPath, description: Description, name: str, how: How, data_dir: Path) -> _Target:
    """Return where a source goes, under its own name unless one is given."""
    if how == "stay":
        if name or (place.path.is_file() and place.path.parent != data_dir):
            message = "it is already in the data folder"
            advice = "Leave --as out, and name a file or folder that is a source of its own"
            raise make_error(str(place.path), message, advice, Stage.DATA)
        return _Target(
            description.name,
            _make_title(description.name),
            place.path,
            place.root / description.settings_file,
        )
    own = PurePosixPath(name or _UNSAFE.sub("-", description.name).strip("-.") or "data")
    if own.is_absolute() or any(part.startswith(".") or _UNSAFE.search(part) for part in own.parts):
        message = f'"{name}" is not a valid name for a source'
        raise make_error("--as", message, "Use letters, digits, - and _, with / between folders", Stage.DATA)
    data = data_dir.joinpath(own)
    settings = data / SETTINGS
    is_single = (
        len(description.read) == 1 and place.path.is_file() and how != "freeze" and len(own.parts) == 1
    )
    # The format of a logger's file may show in its name alone, which it has in a folder of its own.
    by_name = how == "copy" and not description.shape and own.name != description.name
    if is_single and not by_name:
        ending = place.path.name.removeprefix(description.name)
        data = data.with_name(f"{own.name}{ending}")
        settings = data.with_name(f"{own.name}.{SETTINGS}")
    elif how == "link" and place.path.is_dir():
        # Next to the link, since the folder may be others'.
        settings = data.with_name(f"{own.name}.{SETTINGS}")
    return _Target(own.as_posix(), _make_title(own.name), data, settings)


def _make_title(name: str) -> str:
    words = re.sub(r"[-_/]+", " ", name).strip()
    # A name such as math500 is written as it is.
    return words[:1].upper() + words[1:] if words.partition(" ")[0].isalpha() else words


def _refuse_existing(root: Path, target: _Target, page: Path | None, how: How) -> None:
    """Raise a ``ReportError`` for everything that would be overwritten."""
    taken = [page] if page else []
    if how != "stay":
        taken += [target.data, target.settings]
        near = target.data.parent.glob(f"{glob.escape(PurePosixPath(target.name).name)}.*")
        taken += [path for path in near if path.name != SETTINGS]
    problems = [
        make_error(_show(path, root), "it exists already", "Give the source another name with --as").problems[
            0
        ]
        for path in dict.fromkeys(taken)
        if os.path.lexists(path)
    ]
    if problems:
        raise ReportError(*problems)


def _put_data(
    place: DataPath, description: Description, target: _Target, how: How, undo: ExitStack
) -> list[Path]:
    """Put the data and their ``source.yml`` in place, and return what is new."""
    if how != "stay":
        _make_folder(target.data.parent, undo)
        undo.callback(_remove, target.data)
    if how == "freeze":
        frozen = freeze_source(
            place.path, place.root, TOOL, place.hashes, place.cache, boundary=place.boundary
        )
        return list(write_frozen(frozen, target.data).files)
    if how == "link":
        # A link within the repository leads there in every clone of it.
        inside = find_checkout(target.data.parent) if find_checkout(place.path.parent) else None
        near = inside and place.path.resolve().is_relative_to(inside)
        leads = os.path.relpath(place.path, target.data.parent) if near else place.path
        target.data.symlink_to(leads, target_is_directory=place.path.is_dir())
    elif how == "copy":
        _copy(place, description, target)
    settled = suggest_settings(description)["settled"]
    old = place.root / description.settings_file
    is_theirs = how == "link" and place.path.is_dir() and (description.has_settings or not target.is_single)
    if is_theirs or (how == "stay" and old.is_file()):
        return [target.data] if how == "link" else []
    text = write_yaml({"title": target.title}) + settled
    if description.has_settings:
        text = read_text(old, description.settings_file, Stage.SETTINGS)
    undo.callback(_remove, target.settings)
    replace_file(str(target.settings), text.encode())
    return [target.settings] if how == "stay" else [target.data, target.settings]


def _copy(place: DataPath, description: Description, target: _Target) -> None:
    """Copy every file that is read, first under another name, so that a half copy is never a source."""
    fresh = target.data.with_name(f".{target.data.name}.{os.getpid()}")
    try:
        for file in (place.root / name for name in description.read):
            inner = Path(file.name) if place.path.is_file() else file.relative_to(place.path)
            whole = fresh if target.is_single else fresh / inner
            whole.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, whole)
        fresh.replace(target.data)
    finally:
        _remove(fresh)


def _put_page(
    config_file: Path, page: Path, target: _Target, description: Description, undo: ExitStack
) -> list[Path]:
    """Write the page and its line in ``nav:``, and return what is new."""
    report = open_report(config_file)
    text = write_first_page(report.project, description, target.title, report.cache, report.hashes)
    _make_folder(page.parent, undo)
    undo.callback(_remove, page)
    replace_file(str(page), text.encode())
    config = config_file.read_bytes()
    content = Path(report.project.root, report.project.content_dir)
    inner = page.relative_to(content.resolve() if not page.is_relative_to(content) else content).as_posix()
    before = config.decode("utf-8")
    after = add_to_navigation(before, config_file.name, target.title, inner)
    if after == before:
        return [page]
    undo.callback(replace_file, str(config_file.resolve()), config)
    replace_file(str(config_file.resolve()), after.encode())
    return [page, config_file.absolute()]


def _make_folder(folder: Path, undo: ExitStack) -> None:
    """Make a folder, and those around it; empty ones are removed again on failure."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        undo.callback(_remove_empty, one)
        one.mkdir()


def _remove_empty(folder: Path) -> None:
    with suppress(OSError):
        folder.rmdir()


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _show(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def add_to_navigation(text: str, file: str, title: str, page: str) -> str:
    """Return the text of a ``mkdocs.yml`` with a page at the end of its ``nav:``, or of its folder's section.

    ``file`` is the name of the ``mkdocs.yml`` for messages, ``page`` the path of the page below the content
    folder. Line ends, comments and indentation stay. The text is returned as it is without ``nav:``, where
    MkDocs lists all pages by itself, or if the page is there.

    Raises:
        ReportError: the file is no valid YAML, or its ``nav:`` is written in a way that cannot be added to.
    """
    before = _parse_navigation(text, file)
    if before is None or any(node.text == page for node in before.iterate()):
        return text
    entry = write_yaml({title: page}).strip()
    added = _insert_entry(text, _find_list(before, page), entry)
    after = _parse_navigation(added, file) if added else None
    if after is None or _leave_out({title: page}, to_values(after)) != to_values(before):
        message = "nav: is written in a way that reportgen cannot add a page to"
        raise ReportError(make_settings_problem(before.place, message, f"Add the page yourself: - {entry}"))
    return added


def _parse_navigation(text: str, file: str) -> Node | None:
    root = parse(normalise_text(text), Origin(file), any_tag=True)
    found = root.entries.get("nav") if root else None
    return found if found and found.kind == "list" and found.items else None


def _find_list(navigation: Node, page: str) -> Node:
    """Return the list with the other pages of a page's folder, and all of ``nav:`` if there is none."""
    folder = PurePosixPath(page).parent
    for node in navigation.iterate() if folder.name else ():
        pages = (one.text for item in node.items for one in (item, *item.entries.values()))
        if any(PurePosixPath(text).parent == folder for text in pages):
            return node
    return navigation


def _leave_out(entry: object, value: object) -> object:
    if isinstance(value, dict):
        return {key: _leave_out(entry, inner) for key, inner in value.items()}
    return [_leave_out(entry, one) for one in value if one != entry] if isinstance(value, list) else value


def _insert_entry(text: str, navigation: Node, entry: str) -> str:
    """Return the text with an entry at the end of a list, in dashes or brackets; empty if it has no place."""
    item = navigation.items[-1]
    lines = text.splitlines(keepends=True)
    first = (item.place.line or 1) - 1
    last = max((node.place.line or 1) - 1 for node in item.iterate())
    dash = re.match(r"\s*-\s+", lines[first])
    if dash:
        end = re.search(r"[\r\n]*$", lines[last])
        newline = (end[0] if end else "") or "\n"
        if not lines[last].endswith(("\n", "\r")):
            lines[last] += newline
        lines.insert(last + 1, f"{dash[0]}{entry}{newline}")
        return "".join(lines)
    # A list in brackets, on one line.
    begin = lines[first].find("nav:")
    close = lines[first].rfind("]")
    if begin < 0 or close < 0 or "#" in lines[first]:
        return ""
    lines[first] = f"{lines[first][:close].rstrip()}, {{{entry}}}{lines[first][close:]}"
    return "".join(lines)
