"""The files of ``reportgen init``: a small working report, workflows, and the requirement they install.

A requirement must identify one fixed content: a commit of a repository, or an archive by its hash (PEP 610).
"""

from __future__ import annotations

import json
import re
import shutil
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from reportgen.core.errors import make_error
from reportgen.core.repository import find_checkout
from reportgen.site.manifest import find_git_folders

if TYPE_CHECKING:
    from collections.abc import Iterator

DISTRIBUTION = "mkdocs-reportgen"

# No character of these is special to a shell, to YAML or to pip, and there is no room for a password.
_ADDRESS = re.compile(r"https://(?:[A-Za-z0-9-]+\.)+[A-Za-z][A-Za-z0-9-]*(?::\d+)?/[A-Za-z0-9._~/+-]+")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class UnknownSourceError(Exception):
    """Others could not install this reportgen from its source; the message says why."""


def find_requirement() -> str:
    """Return the requirement that installs this reportgen, or raise an UnknownSourceError."""
    records = (one.read_text("direct_url.json") for one in distributions(name=DISTRIBUTION))
    record = next(filter(None, records), None)
    if record is None:
        raise UnknownSourceError("its installation does not say from which repository it came")
    try:
        value = json.loads(record)
        url = value["url"]
        if "vcs_info" in value:
            if value["vcs_info"]["vcs"] != "git" or "subdirectory" in value:
                raise UnknownSourceError("it came from something else than the top of a git repository")
            source = _format_commit(url, value["vcs_info"]["commit_id"])
        elif "archive_info" in value:
            hashes = value["archive_info"].get("hashes") or {}
            sha256 = hashes.get("sha256") or value["archive_info"].get("hash", "").removeprefix("sha256=")
            if not _SHA256.fullmatch(sha256):
                raise UnknownSourceError("it came from an archive of which no SHA-256 was noted")
            source = f"{_check_public(url)}#sha256={sha256}"
        elif urlsplit(url).scheme == "file":
            source = _find_commit(Path(url2pathname(urlsplit(url).path)))
        else:
            raise UnknownSourceError("what its installation says of its origin cannot be read")
    except (ValueError, TypeError, AttributeError, KeyError):
        raise UnknownSourceError("what its installation says of its origin cannot be read") from None
    except OSError as error:
        raise UnknownSourceError(f"{error.filename} cannot be read: {error.strerror}") from None
    return f"{DISTRIBUTION} @ {source}"


def _format_commit(url: str, commit: str) -> str:
    address = _check_public(url)
    if not _COMMIT.fullmatch(commit):
        raise UnknownSourceError("the commit that it came from was not noted")
    return f"git+{address}@{commit}"


def _check_public(url: str) -> str:
    """Return a publicly reachable address; do not repeat others, which may hold a password."""
    if _ADDRESS.fullmatch(url):
        return url
    raise UnknownSourceError("it did not come from a plain https:// address without a user name")


def _find_commit(folder: Path) -> str:
    """Return a checkout's commit if its ``origin`` has it, without running git there."""
    git, common = find_git_folders(folder)
    if not (git / "HEAD").is_file():
        raise UnknownSourceError(f"it came from {folder}, which is no checkout of a git repository")
    refs = dict(_read_refs(common))
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if head.startswith("ref:"):
        head = refs.get(head.removeprefix("ref:").strip(), "")
    config = (common / "config").read_text(encoding="utf-8")
    section = re.search(r'^\s*\[remote "origin"\]([^\[]*)', config, re.MULTILINE)
    url = re.search(r"^\s*url\s*=\s*(\S+)\s*$", section[1], re.MULTILINE) if section else None
    origin = url[1] if url else ""
    if not origin:
        where = f"it came from {folder}, and the repository there"
        raise UnknownSourceError(f"{where} has no remote called origin")
    source = _format_commit(origin, head)
    published = ("refs/remotes/origin/", "refs/tags/")
    if head not in {commit for name, commit in refs.items() if name.startswith(published)}:
        raise UnknownSourceError(
            f"commit {head[:12]} of {folder} is not the last one of a branch of its origin; push it first"
        )
    return source


def _read_refs(common: Path) -> Iterator[tuple[str, str]]:
    """Read names and commits; of a duplicate name the later one counts."""
    packed = common / "packed-refs"
    name = ""
    for line in packed.read_text(encoding="utf-8").splitlines() if packed.is_file() else ():
        if line.startswith("^"):  # the commit of the tag on the line before
            yield name, line[1:]
        elif not line.startswith("#"):
            commit, _, name = line.partition(" ")
            yield name, commit
    for path in sorted((common / "refs").rglob("*")):
        if path.is_file():
            yield path.relative_to(common).as_posix(), path.read_text(encoding="utf-8").strip()


_STARTER, _REVIEW = (Path(__file__).with_name(name) for name in ("starter", "starter_review"))
# Names without their dot, so that the files are neither hidden in the package nor mistaken for its own.
_DOTTED = {"gitignore": ".gitignore", "github": ".github"}
_REQUIREMENT = b'REPORTGEN: ""'
# What stands in the workflows for reviews.
_ACTION = "OWNER/reportgen/action/{name}@" + 40 * "0"
_CONFIG = "config-file: mkdocs.yml"
_ON_GITHUB = re.compile(
    rf"{DISTRIBUTION} @ git\+https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?@([0-9a-f]{{40}})"
)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")


def write_starter(target: Path, requirement: str = "") -> tuple[str, ...]:
    """Write a small working report into ``target``, which must not exist yet or be empty.

    ``requirement`` is installed by the workflow with pip; if empty, the workflow fails and says so. Returns
    the paths written, relative to ``target``, sorted. Raises a ReportError if ``target`` is a file, a folder
    with something in it, or cannot be written.
    """
    message = ""
    try:
        if target.is_file():
            message = "there is a file of this name"
        elif target.is_dir() and any(target.iterdir()):
            message = "the folder is not empty"
    except OSError as error:
        message = f"the folder cannot be looked at ({error.strerror or type(error).__name__})"
    if message:
        raise make_error(str(target), message, "Name a folder that does not exist yet or is empty")
    written = []
    try:
        for file in filter(Path.is_file, _STARTER.rglob("*")):
            parts = _name_parts(file, _STARTER)
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            # A string in JSON is the same string in YAML.
            line = _REQUIREMENT.replace(b'""', json.dumps(requirement).encode())
            path.write_bytes(file.read_bytes().replace(_REQUIREMENT, line))
            written.append("/".join(parts))
    except OSError as error:
        # The folder was empty, so its content is ours.
        shutil.rmtree(target, ignore_errors=True)
        message = f"the folder cannot be written ({error.strerror or type(error).__name__})"
        step = "Name one in a folder that you may write to"
        raise make_error(str(target), message, step) from error
    return tuple(sorted(written))


def _name_parts(file: Path, folder: Path) -> list[str]:
    return [_DOTTED.get(part, part) for part in file.relative_to(folder).parts]


def write_review_workflows(report: Path, requirement: str = "") -> tuple[Path, ...]:
    """Write the workflows that review pull requests into the repository around the folder ``report``.

    They use the actions of the commit on GitHub that ``requirement`` names; another requirement, or none,
    leaves a commit of zeros, which does not exist. Returns the paths written. Raises a ReportError, and
    writes nothing, if ``report`` has no ``mkdocs.yml``, or if a workflow is there or cannot be written.
    """
    if not (report / "mkdocs.yml").is_file():
        step = "Name the folder of a report, or a new one"
        raise make_error(str(report), "there is no mkdocs.yml in this folder", step)
    root = find_checkout(report.resolve()) or report.resolve()
    config = report.resolve().relative_to(root).joinpath("mkdocs.yml").as_posix()
    texts = {
        root.joinpath(*_name_parts(file, _REVIEW)): _fill_in(file.read_text("utf-8"), requirement, config)
        for file in filter(Path.is_file, _REVIEW.rglob("*"))
    }
    written: list[Path] = []
    try:
        for path, text in sorted(texts.items()):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                written.append(path)
                file.write(text)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        exists = isinstance(error, FileExistsError)
        message = "there is such a file" if exists else f"it cannot be written ({error.strerror})"
        step = "Compare it with what the guide's page Review shows" if exists else "Make its folder writable"
        raise make_error(str(error.filename), message, step) from error
    return tuple(written)


def can_use_actions(requirement: str) -> bool:
    """Whether a requirement names a repository on GitHub, whose actions workflows can use."""
    return _ON_GITHUB.fullmatch(requirement) is not None


def _fill_in(text: str, requirement: str, config: str) -> str:
    """A workflow with its action and its report."""
    if known := _ON_GITHUB.fullmatch(requirement):
        for name in ("review", "comment"):
            text = text.replace(_ACTION.format(name=name), f"{known[1]}/action/{name}@{known[2]}")
    # A text in JSON is the same text in YAML.
    path = config if _PLAIN_PATH.fullmatch(config) else json.dumps(config)
    return text.replace(_CONFIG, f"config-file: {path}")
