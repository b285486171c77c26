"""The files of ``reportgen init``: a small working report, workflows, what they install, and a check of them.

A requirement must identify one fixed content: a commit of a repository, or an archive by its hash (PEP 610).
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from importlib.metadata import distributions
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from reportgen.core import __version__
from reportgen.core.errors import Diagnostic, Diagnostics, SourceLocation, Stage, make_error
from reportgen.core.repository import find_checkout, find_git_folders
from reportgen.settings.text import normalise_text, read_text
from reportgen.settings.yaml_tree import Node, Origin, parse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

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


_STARTER, _WORKFLOWS = (Path(__file__).with_name(name) for name in ("starter", "starter_workflows"))
_STYLE = Path(__file__).with_name("latex") / "reportgen.sty"
_SKILL = Path(__file__).with_name("skill") / "SKILL.md"
_SEALED = re.compile(
    r'---\n(?P<head>.*?)metadata: \{version: "[^"\n]*", sha256: "(?P<hash>\w+)"\}\n---\n(?P<rest>.*)',
    re.DOTALL,
)
# Marks of tables that "make guide" renews.
_MARK = re.compile(r"^<!-- (?:rules ids|commands .*|end) -->\n\n?", re.MULTILINE)
# Names without their dot, so that the files are neither hidden in the package nor mistaken for its own.
_DOTTED = {"gitignore": ".gitignore", "github": ".github"}
_FOLDER = ".github/workflows"
REVIEWING = (f"{_FOLDER}/report-comment.yml", f"{_FOLDER}/report.yml")
"""Files that review pull requests."""
PUBLISHING = (".github/PUBLISHING.md", f"{_FOLDER}/pages.yml", f"{_FOLDER}/release.yml")
"""Files that publish on GitHub Pages, and what to do to switch them on."""
_REQUIREMENT = b'REPORTGEN: ""'
# What stands in the workflows that use actions.
_OWNER, _ZEROS = "OWNER/reportgen", 40 * "0"
_ACTION = re.compile(rf"{_OWNER}/(action/[a-z]+)@{_ZEROS}")
_CONFIG = "config-file: mkdocs.yml"
_ON_GITHUB = re.compile(
    rf"{DISTRIBUTION} @ git\+https://github\.com/([\w.-]+/[\w.-]+?)(?:\.git)?@([0-9a-f]{{40}})"
)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]*")


def write_starter(target: Path, requirement: str = "", *, with_workflow: bool = True) -> tuple[str, ...]:
    """Write a small working report into ``target``, which must not exist yet or be empty.

    ``requirement`` is installed with pip by a workflow that publishes the report without actions of ours, and
    fails if it is empty; without ``with_workflow`` it is left out. Returns the paths written, relative to
    ``target``, sorted. Raises a ReportError if ``target`` is a file, a folder with something in it, or cannot
    be written.
    """
    message = ""
    try:
        if target.is_file():
            message = "there is already a file with this name"
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
            if parts[0] == ".github" and not with_workflow:
                continue
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


def write_workflows(report: Path, names: Collection[str], requirement: str = "") -> tuple[Path, ...]:
    """Write workflows, such as ``REVIEWING``, into the repository around the folder ``report``.

    They use the actions of the commit on GitHub that ``requirement`` names; another requirement, or none,
    leaves a commit of zeros, which does not exist. Returns the paths written. Raises a ReportError, and
    writes nothing, if ``report`` has no ``mkdocs.yml``, or if a file is there or cannot be written.
    """
    if not (report / "mkdocs.yml").is_file():
        step = "Name the folder of a report, or a new one"
        raise make_error(str(report), "there is no mkdocs.yml in this folder", step)
    root = _find_repository(report)
    config = report.resolve().relative_to(root).joinpath("mkdocs.yml").as_posix()
    # A text in JSON is the same text in YAML.
    quoted = config if _PLAIN_PATH.fullmatch(config) else json.dumps(config)
    known, texts = _ON_GITHUB.fullmatch(requirement), {}
    for name, template in _read_templates(names):
        text = _ACTION.sub(rf"{known[1]}/\1@{known[2]}", template) if known else template
        texts[root / name] = text.replace(_CONFIG, f"config-file: {quoted}")
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
        step = "Compare it with what the guide shows" if exists else "Make its folder writable"
        raise make_error(str(error.filename), message, step) from error
    return tuple(written)


def write_style(folder: Path) -> Path:
    """Write ``reportgen.sty`` into an existing folder; raise a ReportError if it is there or cannot be."""
    path = folder / _STYLE.name
    try:
        with path.open("xb") as file:
            file.write(_STYLE.read_bytes())
    except OSError as error:
        exists = isinstance(error, FileExistsError)
        message = "there is such a file" if exists else f"it cannot be written ({error.strerror})"
        step = "Remove it to have it written again" if exists else "Name a folder that exists"
        raise make_error(str(path), message, step) from error
    return path


def write_skill(folder: Path) -> Path:
    """Write the skill for coding agents into a folder of skills; one that a reportgen wrote is replaced.

    Raises a ReportError if there is another file, or one that was changed since, or it cannot be written.
    """
    path = folder / "reportgen" / _SKILL.name
    text = _MARK.sub("", _SKILL.read_text(encoding="utf-8"))
    head, rest = text.removeprefix("---\n").split("---\n", 1)
    stated = f'metadata: {{version: "{__version__}", sha256: "{_hash_text(head + rest)}"}}'
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        found = _SEALED.fullmatch(path.read_text(encoding="utf-8")) if path.exists() else None
        if path.exists() and not (found and found["hash"] == _hash_text(found["head"] + found["rest"])):
            message = "there is such a file, which reportgen did not write or which was changed since"
            raise make_error(str(path), message, "Move what you need of it to AGENTS.md and remove it")
        with path.open("w" if found else "x", encoding="utf-8", newline="\n") as file:
            file.write(f"---\n{head}{stated}\n---\n{rest}")
    except (OSError, UnicodeDecodeError) as error:
        message = f"it cannot be written ({getattr(error, 'strerror', None) or type(error).__name__})"
        raise make_error(str(path), message, "Name a folder that you may write to with --to") from error
    return path


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def has_workflows(report: Path) -> bool:
    """Whether the repository around a report has one of the files already."""
    root = _find_repository(report)
    return any((root / name).exists() for name in (*REVIEWING, *PUBLISHING))


def _find_repository(report: Path) -> Path:
    return find_checkout(report.resolve()) or report.resolve()


def _read_templates(names: Collection[str]) -> Iterator[tuple[str, str]]:
    for file in filter(Path.is_file, sorted(_WORKFLOWS.rglob("*"))):
        if (name := "/".join(_name_parts(file, _WORKFLOWS))) in names:
            yield name, file.read_text(encoding="utf-8")


def can_use_actions(requirement: str) -> bool:
    """Whether a requirement names a repository on GitHub, whose actions workflows can use."""
    return _ON_GITHUB.fullmatch(requirement) is not None


_USES = re.compile(r"(?P<action>[^@]+)@(?P<commit>.*)")
_LEVELS = ("none", "read", "write")
# What a workflow may have beyond what init writes: "pictures: branch" of the comment.
_ALSO_ALLOWED = {("report-comment.yml", "contents")}


def check_workflows(report: Path) -> None:
    """Hold the workflows around a report against those that ``init`` writes; needs no network.

    Raises a ReportError with all that keeps them from working together: a missing file, trigger, permission
    or action, a name that another workflow waits for, actions that are not pinned, or not to one commit.
    """
    root, problems = _find_repository(report), Diagnostics()
    commits: dict[SourceLocation, str] = {}
    for name, template in _read_templates((*REVIEWING, *PUBLISHING)):
        if not name.endswith(".yml"):
            continue
        path = root / name
        if not path.is_file():
            option = "--review" if name in REVIEWING else "--publish"
            step = f'"reportgen init {option}" writes it'
            problems.add([Diagnostic(SourceLocation(name), "there is no such workflow", step, Stage.SITE)])
            continue
        model = parse(template, Origin(name))
        with problems.collecting():
            text = normalise_text(read_text(path, name, Stage.SITE))
            found = parse(text, Origin(name)) or Node(SourceLocation(name), "mapping")
            if model:
                problems.add(_compare_triggers(found, model))
                problems.add(_compare_permissions(found, model))
                problems.add(_check_actions(found, model, commits))
    if len(set(commits.values())) > 1:
        message = "the workflows use different commits of reportgen"
        step = "Write the same 40 digits behind each @"
        problems.add(Diagnostic(place, message, step, Stage.SITE) for place in commits)
    problems.raise_errors()


def _compare_triggers(found: Node, model: Node) -> Iterator[Diagnostic]:
    """Find events that do not start a workflow, and a name that another one does not know."""
    name, expected = (one.entries["name"].text if "name" in one.entries else "" for one in (found, model))
    if name != expected:
        step = f'Write "name: {expected}"'
        yield _make_problem(found, "name", "another workflow waits for the name of this one", step)
    events, needed = _read_events(found), _read_events(model)
    if "pull_request_target" in events:
        message = "pull_request_target gives rights to what a pull request brings"
        yield _make_problem(found, "on", message, "Remove it")
    for event, settings in needed.items():
        if event not in events:
            yield _make_problem(found, "on", f'it does not run on "{event}"', "Add it")
            continue
        for key in ("types", "workflows"):
            have, need = (_read_words(one.entries.get(key)) for one in (events[event], settings))
            # Without types, these three of a pull request count.
            have = have or ({"opened", "synchronize", "reopened"} if event == "pull_request" else set())
            if missing := ", ".join(sorted(need - have)):
                yield _make_problem(found, "on", f'{key} of "{event}" lack {missing}', "Add it there")


def _read_events(workflow: Node) -> dict[str, Node]:
    events = workflow.entries.get("on")
    if events and events.kind == "mapping":
        return events.entries
    return {word: Node(workflow.place, "mapping") for word in _read_words(events)}


def _read_words(node: Node | None) -> set[str]:
    """The words of a list, or the only one."""
    if node is None:
        return set()
    return {one.text for one in node.items} if node.kind == "list" else {node.text}


def _compare_permissions(found: Node, model: Node) -> Iterator[Diagnostic]:
    """Find jobs that are gone, and permissions of theirs that are missing or that nothing needs."""
    jobs = found.entries.get("jobs", found).entries
    file = found.place.file.rpartition("/")[2]
    for name, job in model.entries["jobs"].entries.items():
        if name not in jobs:
            yield _make_problem(found, "jobs", f'there is no job "{name}"', "Add it as init writes it")
            continue
        have, need = dict[str, str](), dict[str, str]()
        for levels, one, whole in ((have, jobs[name], found), (need, job, model)):
            given = one.entries.get("permissions") or whole.entries.get("permissions")
            if given is not None and given.kind == "mapping":
                known = {scope: level.text for scope, level in given.entries.items()}
                levels |= {scope: level if level in _LEVELS else "none" for scope, level in known.items()}
            else:  # write-all, or none at all: that is written as a scope
                levels[given.text if given else "the default of the repository"] = "write"
        for scope in sorted({*have, *need}):
            has, needs = have.get(scope, "none"), need.get(scope, "none")
            if _LEVELS.index(has) < _LEVELS.index(needs):
                message = f'the job "{name}" needs the permission "{scope}: {needs}"'
                yield _make_problem(jobs[name], "permissions", message, "Add it")
            elif _LEVELS.index(has) > _LEVELS.index(needs) and (file, scope) not in _ALSO_ALLOWED:
                message = f'the job "{name}" does not need the permission "{scope}: {has}"'
                yield _make_problem(jobs[name], "permissions", message, "Remove it")


def _check_actions(found: Node, model: Node, commits: dict[SourceLocation, str]) -> Iterator[Diagnostic]:
    """Find actions that are missing, not pinned or not filled in; adds the commits of ours."""
    used = set()
    for step in found.iterate():
        uses = step.entries.get("uses")
        if uses is None or uses.text.startswith("./"):
            continue
        parts = _USES.fullmatch(uses.text)
        action, commit = (parts["action"], parts["commit"]) if parts else (uses.text, "")
        ours = re.search(r"/(action/[a-z]+)$", action)
        if ours:
            used.add(ours[1])
            commits[uses.place] = commit
        if action.startswith(f"{_OWNER}/") or commit == _ZEROS:
            message = "nothing says which reportgen this is"
            next_step = "Write its owner and the 40 digits of a commit in place of OWNER and the zeros"
            yield Diagnostic(uses.place, message, next_step, Stage.SITE)
        elif not _COMMIT.fullmatch(commit):
            message = f'"{uses.text}" is not pinned: others can change what it runs'
            yield Diagnostic(uses.place, message, "Write the 40 digits of a commit behind the @", Stage.SITE)
    for step in model.iterate():
        needed = _ACTION.fullmatch(step.entries["uses"].text) if "uses" in step.entries else None
        if needed and needed[1] not in used:
            message = f"no step uses {needed[1]} of reportgen"
            yield _make_problem(found, "jobs", message, "Add it as init writes it")


def _make_problem(node: Node, key: str, message: str, step: str) -> Diagnostic:
    return Diagnostic(node.keys.get(key, node.place), message, step, Stage.SITE)
