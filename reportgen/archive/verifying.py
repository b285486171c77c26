"""Checking an archive, in levels: hashes, numbers that agree, statements that still hold, a rebuild."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import asdict

from reportgen.archive import provenance
from reportgen.archive.consistency import find_inconsistencies
from reportgen.archive.unpacking import open_archive
from reportgen.core import __version__, intact
from reportgen.core.cache import Cache, FileHashes, make_temporary_folder
from reportgen.core.errors import make_error
from reportgen.core.intact import is_safe
from reportgen.core.words import format_count
from reportgen.draft.origin import name_figure, read_metadata, remove_metadata
from reportgen.settings.loading import read_project_settings
from reportgen.settings.report import Project
from reportgen.site.outputs import describe_statement
from reportgen.site.security import write_foreign_settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reportgen.archive.unpacking import OpenedArchive
    from reportgen.core.model import Origin

_LEVELS: Final = ("intact", "consistent", "statements", "rebuild")
_CONFIG: Final = "mkdocs.yml"
_ALTAIR: Final = "```altair"
_LONGEST_REBUILD: Final = 3600
_LARGEST_PICTURE: Final = 50_000_000


class Verified(Struct, frozen=True):
    """What a check found: what is wrong, worst first, and its results in lines."""

    problems: tuple[str, ...]
    lines: tuple[str, ...]


def verify_archive(path: Path, level: str, python: Path | None) -> Verified:
    """Verify an archive up to a level; raise a ReportError if it is none, or cannot be checked so far.

    What a lower level finds does not keep the next ones from being checked, where the archive can be read.
    """
    identity, problems = intact.check_folder(path) if path.is_dir() else intact.check_zip(path)
    lines = [f"Intact: every file is as it was written. Identity: {identity}"]
    if problems:
        lines = [f"Not intact: {format_count(len(problems), 'problem')}."]
    # Without an identity, the archive cannot be read.
    if identity:
        with open_archive(path) as archive:
            comment = archive.comment
        # An archive need not say what it was written with.
        with suppress(ValueError, KeyError, TypeError, AttributeError, RecursionError):
            written = json.loads(comment)
            packages = ", ".join(f"{name} {version}" for name, version in sorted(written["packages"].items()))
            lines.append(f"Written with: Python {written['python']}, {written['system']}, {packages}")
    for name in _LEVELS[1 : _LEVELS.index(level) + 1] if identity else ():
        found = _CHECKS[name](path, python)
        problems = [*found.problems, *problems]
        lines.append(found.result)
    return Verified(tuple(problems), tuple(lines))


class _Finding(Struct, frozen=True):
    """What one level found: its problems, and its result in a line."""

    problems: list[str]
    result: str


def _check_consistency(path: Path, _python: Path | None) -> _Finding:
    with open_archive(path) as archive:
        report, sources = _read_json(archive, "report.json"), _read_json(archive, provenance.NAME)
        try:
            problems = find_inconsistencies(archive, report, sources)
            figures = format_count(len(sources["figures"]), "figure and table", "figures and tables")
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            problems = [f"report.json or {provenance.NAME}: not as reportgen writes it ({error!r})"]
    if problems:
        return _Finding(problems, f"Not consistent: {format_count(len(problems), 'difference')}.")
    return _Finding([], f"Consistent: {figures} agree in report.json, their files and report.html.")


class _Written(Struct, frozen=True):
    """What the ``report.json`` of an archive says, as far as it is needed to compute it again.

    Pages are of the folder ``content``, statements those of each page by their numbers.
    """

    content: str
    pages: tuple[str, ...]
    statements: dict[tuple[str, int], Mapping[str, Any]]
    figures: tuple[str, ...]  # files of those that no function draws
    drawn: int  # figures that a function draws
    date: str
    tool: str


def _unpack(path: Path) -> tuple[Path, _Written]:
    """Unpack an archive into a folder that is removed at exit; returns it and what the archive's report says.

    Its ``mkdocs.yml`` is replaced by what of it is believed. Raises a ReportError if the archive has no data,
    so that nothing can be computed again, or names a file that is not in it.
    """
    folder = make_temporary_folder(Path(tempfile.gettempdir()))
    with open_archive(path) as archive:
        if _read_json(archive, provenance.NAME)["data"] == "none":
            step = "Only the levels intact and consistent can be checked"
            raise make_error(archive.name, "it was archived without its data", step)
        archive.unpack(folder)
        report = _read_json(archive, "report.json")
    settings = write_foreign_settings(folder / _CONFIG)
    (folder / _CONFIG).write_text(settings, "utf-8")
    try:
        written = _describe(report, normpath(json.loads(settings).get("docs_dir", "docs")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        step = "Is this an archive of a report?"
        raise make_error(f"{path.name}/report.json", f"it cannot be read ({error!r})", step) from error
    for name in (*(f"{written.content}/{page}" for page in written.pages), *written.figures):
        # Of a name that leads elsewhere, nothing is read or written.
        if not (is_safe(name) and (folder / name).is_file()):
            raise make_error(f"{path.name}/report.json", f"it names {name!a}, which is not in the archive")
    return folder, written


def _describe(report: Mapping[str, Any], content: str) -> _Written:
    pages = [page for page in report["pages"] if not page["generated"]]
    figures = [one for page in report["pages"] for one in page["figures"]]
    drawn = [one for one in figures if one["kind"] == "altair"]
    if date := report["date"]:
        datetime.fromisoformat(f"{date}T00:00:00+00:00")
    return _Written(
        content,
        tuple(dict.fromkeys(page.get("template", page["path"]) for page in pages)),
        {
            (page["path"], one["number"]): {key: one[key] for key in ("line", "words", "truth")}
            for page in report["pages"]
            for one in page["statements"]
        },
        tuple(name for one in figures if one not in drawn for name in one["files"]),
        len(drawn),
        date or "",
        report["generator"]["version"],
    )


def _read_json(archive: OpenedArchive, name: str) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(archive.read(name))
        known = value["format"] == provenance.FORMAT
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise make_error(f"{archive.name}/{name}", f"it cannot be read ({error})") from error
    if not known:
        step = "Verify it with the version of reportgen that wrote it"
        raise make_error(f"{archive.name}/{name}", f"format {value['format']} is not known", step)
    return value


def _check_statements(path: Path, _python: Path | None) -> _Finding:
    """Judge the statements of an archive again; nothing that it holds is run."""
    from reportgen.draft.report import draft  # noqa: PLC0415 - imports the statistics

    folder, written = _unpack(path)
    content, settings = read_project_settings(folder / _CONFIG, _CONFIG)
    scratch = make_temporary_folder(folder)
    project = Project(folder, content, written.pages, settings, macros=True, skips_code=True)
    drafted = draft(project, Cache(scratch), FileHashes(scratch))
    now = {
        (path, one.number): describe_statement(one)
        for path, statements in drafted.statements.items()
        for one in statements
    }
    gone, moved = [], []
    for place, was in written.statements.items():
        one = now.get(place)
        where = f'{place[0]}:{was["line"]}: "{was["words"]}"'
        if one is None:
            gone.append(f"{where}: {was['truth']}, and cannot be judged any more")
        elif one["truth"] != was["truth"]:
            moved.append(f"{where}: {was['truth']} then, {one['truth']} now. {one['found']}")
    changed, count = [*sorted(moved), *sorted(gone)], len(written.statements)
    by = f"as reportgen {__version__} reads the data"
    by += "" if written.tool == __version__ else f", not {written.tool}"
    same = f"{count - len(changed)} of {format_count(count, 'statement')}"
    return _Finding(changed, f"Statements: {f'{same} are as they were, {by}' if count else 'none'}.")


def _leave_out_code(page: Path) -> None:
    """Blank out the blocks of a page that run code; its other lines keep their numbers."""
    lines, end = page.read_text("utf-8", "surrogateescape").split("\n"), ""
    for number, line in enumerate(lines):
        start = line.lstrip().startswith(_ALTAIR) and not end
        if start or end:
            lines[number] = ""
        if start:
            end = line.lstrip()[: line.lstrip().index("altair")]
        elif end and line.strip().startswith(end) and not line.strip().strip(end[0]):
            end = ""
    page.write_text("\n".join(lines), "utf-8", "surrogateescape")


def _check_rebuild(path: Path, python: Path | None) -> _Finding:
    """Build the site of an archive with the Python of the user's choice, and compare its figures.

    Its own reportgen, its hooks and its functions are not run.
    """
    if python is None:
        step = "Make a virtual environment with the archive's requirements.txt, and name it with --python"
        raise make_error("--python", "it is not known which Python has the packages of the archive", step)
    folder, written = _unpack(path)
    for page in written.pages if written.drawn else ():
        _leave_out_code(folder / written.content / page)
    before = {name: (folder / name).read_bytes() for name in written.figures}
    shutil.rmtree(folder / "site", ignore_errors=True)  # a build would not replace it
    _build(folder, written.date, python)
    differing = []
    for name, content in before.items():
        built = folder / "site" / name
        if not built.is_file() or _read_drawing(built.read_bytes()) != _read_drawing(content):
            differing.append(f"{name}: {'other bytes' if built.is_file() else 'not built'}")
    charts = format_count(written.drawn, "chart")
    rest = f" Not built: {charts} of functions, which are not run." if written.drawn else ""
    if not differing:
        return _Finding([], f"Built again: every figure is the same.{rest}")
    numbers = any(".csv: " in one for one in differing)
    which = "also files with numbers" if numbers else "only pictures and specifications, no number"
    return _Finding(differing, f"Not the same when built again: {which}.{rest}")


def _build(folder: Path, date: str, python: Path) -> None:
    """Build the report that was unpacked in a folder; raise a ReportError if that fails."""
    moment = str(int(datetime.fromisoformat(f"{date}T00:00:00+00:00").timestamp())) if date else "0"
    # Its links are not followed: that of a virtual environment leads to the Python without its packages.
    command = [str(python.absolute()), "-P", "-m", "reportgen", "build", "--force"]
    command += ["-f", str(folder / _CONFIG)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": moment, "REPORTGEN_CACHE_DIR": str(folder / ".cache")}
    try:
        done = subprocess.run(  # noqa: S603 - the user's own Python
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False,
            timeout=_LONGEST_REBUILD,
        )  # fmt: skip
    except OSError as error:
        step = "Name the Python of a virtual environment, such as .venv/bin/python"
        raise make_error("--python", f"{python} cannot be run ({error.strerror})", step) from error
    if done.returncode:
        raise make_error(_CONFIG, f"it cannot be built: {done.stderr.strip()[-2000:]}")


_CHECKS: Final = {
    "consistent": _check_consistency,
    "statements": _check_statements,
    "rebuild": _check_rebuild,
}


def _read_drawing(content: bytes) -> str:
    """Return a file without its origin, since frozen data have other hashes than what they came from."""
    return remove_metadata(content.decode("utf-8", "surrogateescape"))


def find_figure(file: Path, container: Path) -> Verified:
    """Find which figure of an archive a file is, such as a downloaded picture: by its bytes.

    If no figure has these, the metadata of an SVG file say which figure it is, and from which inputs with
    which definition it was drawn. They are compared, but are no proof: anybody can write them into a file.
    """
    with open_archive(container) as archive:
        sources = _read_json(archive, provenance.NAME)
    with file.open("rb") as stream:
        digest = intact.hash_file(stream)
        stream.seek(0)
        named = read_metadata(stream.read(_LARGEST_PICTURE).decode("utf-8", "replace"))
    for figure in sources["figures"]:
        for one in figure["outputs"]:
            if one["sha256"] == digest:
                inputs = ", ".join(each["path"] for each in figure["inputs"])
                return Verified((), (f"{figure['id']}: this is {one['path']}, drawn from {inputs}",))
    unknown = f"{file.name}: no figure of {container.name} has these bytes"
    origin = [_compare_origin(*named, sources["figures"])] if named else []
    return Verified((unknown,), tuple(origin))


def _compare_origin(name: str, origin: Origin, figures: Sequence[Mapping[str, Any]]) -> str:
    """Say whether a figure of an archive, best the one of this name, has the origin that a file names."""
    own = asdict(origin)
    of_name = [one for one in figures if name_figure(*one["id"].split("#", 1)) == name]
    equal = [one["id"] for one in (*of_name, *figures) if one.get("origin") == own]
    says = f"According to its metadata, it is {name}"
    if equal:
        return f"{says}, drawn from the same inputs with the same definition as {equal[0]}"
    if not of_name:
        return f"{says}, which the archive does not have, and no figure there has its inputs and definition"
    there = of_name[0].get("origin")
    if there is None:
        return f"{says}, whose origin the archive does not name"
    words = {"inputs": "from other inputs", "definition": "with another definition"}
    other = " ".join(said for what, said in words.items() if there[what] != own[what])
    return f"{says}, and was drawn {other} than {of_name[0]['id']}"
