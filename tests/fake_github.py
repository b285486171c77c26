"""A stand-in for the API of GitHub on the loopback: pull requests, runs with artifacts, and comments.

``Repository`` has what a site is assembled from, too: releases, pushes, runs, labels, and Pages.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import threading
import zipfile
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

TOKEN = "the-token"  # noqa: S105 - of nobody
BOT = "github-actions[bot]"
HEAD_SHA = "b" * 40
BASE_ID, FORK_ID = 1, 2
PAGE = 100


def make_zip(*members: tuple[str | zipfile.ZipInfo, bytes | str], packed: bool = True) -> bytes:
    """An artifact as GitHub keeps it."""
    file = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, content in members:
            archive.writestr(name, content, kind)
    return file.getvalue()


def make_pull(number: int = 7, *, sha: str = HEAD_SHA, repository: int | None = FORK_ID) -> dict[str, Any]:
    """An open pull request of a fork; without a repository the fork was deleted."""
    head = {"sha": sha, "repo": None if repository is None else {"id": repository}}
    return {"number": number, "state": "open", "head": head, "base": {"repo": {"id": BASE_ID}}}


def make_comment(number: int, body: str, login: str = BOT) -> dict[str, Any]:
    """A comment."""
    return {"id": number, "body": body, "user": {"login": login}}


Json: TypeAlias = Any
Answer: TypeAlias = tuple[int, dict[str, str], Json]

MISSING: Answer = (404, {}, {"message": "Not Found"})
FOLDER = "040000"


@dataclass
class GitData:
    """The objects of a repository by their hashes, and its branches.

    A tree is a mapping of names to entries; ``writable`` says whether the token may write contents.
    """

    objects: dict[str, Json] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    writable: bool = True

    def answer(self, method: str, parts: list[str], body: Json) -> Answer:
        """Status, headers and JSON."""
        if method == "GET":
            return self._read(parts)
        if not self.writable:
            return 403, {}, {"message": "Resource not accessible by integration"}
        sha = ""
        match [method, *parts]:
            case ["POST", "blobs"]:
                sha = self._add(base64.b64decode(body["content"], validate=True))
            case ["POST", "trees"]:
                sha = self._make_tree(body)
            case ["POST", "commits"] if {body["tree"], *body["parents"]} <= self.objects.keys():
                sha = self._add({"commit": body})
            case ["POST", "refs"] if body["ref"] not in self.refs:
                self.refs[body["ref"]] = sha = body["sha"]
            case ["PATCH", "refs", *name] if not body["force"]:
                ref = "refs/" + "/".join(name)
                if ref in self.refs and self.is_after(body["sha"], self.refs[ref]):
                    self.refs[ref] = sha = body["sha"]
        return (201, {}, {"sha": sha}) if sha else (422, {}, {"message": "Validation Failed"})

    def is_after(self, sha: str, earlier: str) -> bool:
        """Whether a commit is an earlier one or follows it."""
        parents = self.objects[sha]["commit"]["parents"]
        return sha == earlier or any(self.is_after(one, earlier) for one in parents)

    def list_files(self, commit: str) -> dict[str, bytes]:
        """Every file of a commit by its path."""
        found: dict[str, bytes] = {}

        def walk(sha: str, path: str) -> None:
            for name, entry in self.objects[sha].items():
                if entry["mode"] == FOLDER:
                    walk(entry["sha"], f"{path}{name}/")
                else:
                    found[f"{path}{name}"] = self.objects[entry["sha"]]

        walk(self.objects[commit]["commit"]["tree"], "")
        return found

    def _add(self, value: Json) -> str:
        content = value if isinstance(value, bytes) else json.dumps(value, sort_keys=True).encode()
        sha = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.objects[sha] = value
        return sha

    def _read(self, parts: list[str]) -> Answer:
        match parts:
            case ["ref", *name] if "refs/" + "/".join(name) in self.refs:
                return 200, {}, {"object": {"sha": self.refs["refs/" + "/".join(name)]}}
            case ["commits", sha] if sha in self.objects:
                return 200, {}, {"tree": {"sha": self.objects[sha]["commit"]["tree"]}}
            case ["trees", sha] if sha in self.objects:
                listed = [{"path": name, "size": 1, **entry} for name, entry in self.objects[sha].items()]
                return 200, {}, {"tree": listed}
        return MISSING

    def _make_tree(self, body: Json) -> str:
        """A tree of entries in folders, upon another one if there is ``base_tree``; empty if it cannot be."""
        files: dict[str, Json] = dict(self.objects[body["base_tree"]]) if "base_tree" in body else {}
        below: dict[str, list[Json]] = {}
        for entry in body["tree"]:
            first, slash, rest = entry["path"].partition("/")
            if slash:
                below.setdefault(first, []).append(entry | {"path": rest})
                continue
            sha = self._add(entry["content"].encode()) if "content" in entry else entry["sha"]
            if sha not in self.objects or (entry["mode"] == FOLDER) != (entry["type"] == "tree"):
                return ""
            files[first] = {"mode": entry["mode"], "type": entry["type"], "sha": sha}
        for name, entries in below.items():
            base = {"base_tree": files[name]["sha"]} if name in files else {}
            sha = self._make_tree({"tree": entries} | base)
            files[name] = {"mode": FOLDER, "type": "tree", "sha": sha}
        return self._add(files)


@dataclass
class GitHub:
    """What the stand-in knows and was asked for.

    ``failures`` are answered once each, in order, to the first request that fits: a pattern of method and
    path, a status and headers. ``content`` is the zip of each artifact by its id. ``pages`` is what
    GitHub Pages says, or the status of its refusal.
    """

    pulls: list[dict[str, Any]] = field(default_factory=lambda: [make_pull()])
    artifacts: list[dict[str, Any]] = field(default_factory=list)
    content: dict[int, bytes] = field(default_factory=dict)
    comments: list[dict[str, Any]] = field(default_factory=list)
    failures: list[tuple[str, int, dict[str, str]]] = field(default_factory=list)
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    before: Callable[[str], object] = lambda _line: None
    git: GitData = field(default_factory=GitData)
    pages: dict[str, Any] | int = 404
    url: str = ""

    def add_artifact(self, content: bytes, name: str = "report-review", **changes: object) -> None:
        """Leave an artifact of the run."""
        number = len(self.artifacts) + 1
        self.content[number] = content
        known: dict[str, Any] = {"id": number, "name": name, "expired": False, "size_in_bytes": len(content)}
        self.artifacts.append(known | changes)

    def answer(self, method: str, target: str, body: Any) -> tuple[int, dict[str, str], Any]:  # noqa: ANN401 - JSON
        """Status, headers and JSON or bytes."""
        line = f"{method} {urlsplit(target).path}"
        self.before(line)
        for failure in self.failures:
            if re.fullmatch(failure[0], line):
                self.failures.remove(failure)
                return failure[1], failure[2], {"message": "no"}
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        parts = urlsplit(target).path.removeprefix("/repos/lab/report").strip("/").split("/")
        if parts[0] == "git":
            return self.git.answer(method, parts[1:], body)
        return self._read(parts, query) if method == "GET" else self._write([method, *parts], body)

    def _read(self, parts: list[str], query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        match parts:
            case ["pulls"]:
                head = query.get("head", "stranger:better")
                found = self._page(self.pulls if head == "stranger:better" else [], query)
            case ["pulls", number]:
                found = 200, {}, next(one for one in self.pulls if one["number"] == int(number))
            case ["actions", "runs", "5", "artifacts"]:
                status, headers, page = self._page(self.artifacts, query)
                found = status, headers, {"total_count": len(self.artifacts), "artifacts": page}
            case ["actions", "artifacts", number, "zip"]:
                found = 302, {"Location": f"{self.url}/storage/{number}"}, None
            case ["storage", number]:
                found = 200, {}, self.content[int(number)]
            case ["issues", "7", "comments"]:
                found = self._page(self.comments, query)
            case ["pages"]:
                found = (self.pages, {}, {}) if isinstance(self.pages, int) else (200, {}, self.pages)
            case _:
                found = 404, {}, {}
        return found

    def _write(self, parts: list[str], body: Any) -> tuple[int, dict[str, str], Any]:  # noqa: ANN401 - JSON
        match parts:
            case ["POST", "issues", "7", "comments"]:
                self.comments.append(make_comment(1000 + len(self.comments), body["body"]))
                return 201, {}, self.comments[-1]
            case ["PATCH", "issues", "comments", number]:
                found = [one for one in self.comments if one["id"] == int(number)]
                for one in found:
                    one["body"] = body["body"]
                return (200, {}, found[0]) if found else (404, {}, {})
        return 404, {}, {}

    @staticmethod
    def _page(entries: list[Any], query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        assert int(query["per_page"]) == PAGE
        start = (int(query["page"]) - 1) * PAGE
        more = start + PAGE < len(entries)
        return 200, {"Link": '<https://next.example>; rel="next"'} if more else {}, entries[start:][:PAGE]


def make_variables(github: GitHub, file: Path, **changes: object) -> dict[str, str]:
    """The environment of the step that comments, whose event, a run that may differ, is in ``file``."""
    run = {
        "id": 5,
        "event": "pull_request",
        "head_sha": HEAD_SHA,
        "head_branch": "better",
        "head_repository": {"id": FORK_ID, "owner": {"login": "stranger"}},
    }
    file.write_text(json.dumps({"workflow_run": run | changes}), encoding="utf-8")
    return {
        "GITHUB_API_URL": github.url,
        "GITHUB_EVENT_PATH": str(file),
        "GITHUB_REPOSITORY": "lab/report",
        "GITHUB_SERVER_URL": "https://github.example",
        "REPORTGEN_ARTIFACT": "report-review",
        "REPORTGEN_AUTHOR": BOT,
        "REPORTGEN_CONFIG_FILE": "mkdocs.yml",
        "REPORTGEN_PICTURES": "none",
        "REPORTGEN_PREVIEW": "report-preview",
        "REPORTGEN_TOKEN": TOKEN,
    }


@contextmanager
def serve(github: GitHub) -> Iterator[GitHub]:
    """Serve it; ``github.url`` is its address."""

    class Handler(BaseHTTPRequestHandler):
        def _handle(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            github.requests.append((f"{self.command} {self.path}", self.headers.get("Authorization")))
            status, headers, answer = github.answer(self.command, self.path, body)
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PATCH = _handle  # noqa: N815 - as http.server calls them

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    github.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield github
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# ---- a repository that people work on

START = datetime(2026, 11, 23, tzinfo=UTC)
SITE = "https://lab.example/report/"


def make_site(words: str) -> dict[str, str]:
    """The files of a tiny site."""
    html = f"<!doctype html><html><head><title>{words}</title></head><body><main>{words}</main></body></html>"
    known = {"format": 1, "generator": {"name": "reportgen"}, "pages": []}
    report = json.dumps({**known, "words": words})
    return {"index.html": html, "report.json": report}


def make_preview(words: str) -> bytes:
    """The artifact with a tiny site."""
    return make_zip(*make_site(words).items())


def make_archive(words: str) -> bytes:
    """An archive with a tiny site and its manifest."""
    files = {f"site/{name}": text for name, text in make_site(words).items()}
    lines = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return make_zip(*files.items(), ("manifest-sha256.txt", "".join(lines)))


@dataclass
class Repository(GitHub):
    """A repository that people work on: every change takes a second of GitHub's clock."""

    pulls: list[dict[str, Any]] = field(default_factory=list)
    releases: list[dict[str, Any]] = field(default_factory=list)
    runs: list[dict[str, Any]] = field(default_factory=list)
    pushes: list[dict[str, Any]] = field(default_factory=list)
    events: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    pages: dict[str, Any] | int = field(default_factory=lambda: {"html_url": SITE, "build_type": "workflow"})
    seconds: int = 0

    def tick(self) -> str:
        """The next second, as GitHub writes it."""
        self.seconds += 1
        return f"{START + timedelta(seconds=self.seconds):%Y-%m-%dT%H:%M:%SZ}"

    def open_pull(self, number: int, sha: str, *, fork: bool = False) -> dict[str, Any]:
        """Open a pull request, whose branch was pushed before."""
        owner, identity = ("stranger", FORK_ID) if fork else ("lab", BASE_ID)
        head = {"ref": f"branch-{number}", "repo": {"id": identity, "full_name": f"{owner}/report"}}
        base = {"repo": {"id": BASE_ID}}
        pull = {"number": number, "state": "open", "labels": [], "head": head, "base": base}
        self.push(pull, sha)
        self.pulls.append(pull)
        self.events[number] = []
        return pull

    def push(self, pull: dict[str, Any], sha: str) -> None:
        """Make a commit the head of a pull request's branch."""
        head = pull["head"]
        head["sha"] = sha
        place = {"repository": head["repo"]["full_name"], "ref": f"refs/heads/{head['ref']}"}
        self.pushes.insert(0, place | {"after": sha, "timestamp": self.tick()})

    def run(self, pull: dict[str, Any], content: bytes | None, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Run the workflow for the head of a pull request; without content the run was lost."""
        head, number = pull["head"], len(self.runs) + 1
        run = {"id": number, "event": "pull_request", "created_at": self.tick(), "head_sha": head["sha"]}
        self.runs.append(run | changes)
        if content is not None:
            run = {"id": number, "head_sha": head["sha"], "head_repository_id": head["repo"]["id"]}
            self.add_artifact(content, "report-preview", workflow_run=run)
        return self.artifacts[-1] if content is not None else {}

    def label(self, pull: dict[str, Any], name: str = "preview", kind: str = "User") -> None:
        """Set a label, as somebody of this repository; if it is there, nothing happens."""
        if {"name": name} in pull["labels"]:
            return
        pull["labels"].append({"name": name})
        event = {"event": "labeled", "label": {"name": name}, "actor": {"type": kind}}
        self.events[pull["number"]].append(event | {"created_at": self.tick()})

    def unlabel(self, pull: dict[str, Any]) -> None:
        """Remove all labels."""
        pull["labels"].clear()
        event = {"event": "unlabeled", "label": {"name": "preview"}, "actor": {"type": "User"}}
        self.events[pull["number"]].append(event | {"created_at": self.tick()})

    def release(self, tag: str, *contents: bytes, **changes: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Publish a release with archives."""
        assets = []
        for content in contents:
            number = 10_000 + len(self.content)
            self.content[number] = content
            name = f"report-{number}.zip"
            assets.append({"id": number, "name": name, "state": "uploaded", "size": len(content)})
        known = {"id": len(self.releases), "tag_name": tag, "draft": False, "prerelease": False}
        self.releases.insert(0, known | {"published_at": self.tick(), "assets": assets} | changes)
        return self.releases[0]

    def _read(self, parts: list[str], query: dict[str, str]) -> tuple[int, dict[str, str], Any]:
        found: tuple[int, dict[str, str], Any]
        match parts:
            case ["pages"]:
                found = (self.pages, {}, {}) if isinstance(self.pages, int) else (200, {}, self.pages)
            case ["releases"]:
                found = self._page(self.releases, query)
            case ["releases", "assets", number] if int(number) in self.content:
                found = 302, {"Location": f"{self.url}/storage/{number}"}, None
            case ["actions", "artifacts"]:
                artifacts = [one for one in self.artifacts if one["name"] == query["name"]]
                status, headers, page = self._page(artifacts, query)
                found = status, headers, {"total_count": len(artifacts), "artifacts": page}
            case ["actions", "runs", number]:
                found = 200, {}, self.runs[int(number) - 1]
            case ["issues", number, "timeline"]:
                found = self._page(self.events[int(number)], query)
            case ["repos", owner, name, "activity"]:
                place = {"repository": f"{owner}/{name}", "ref": query["ref"]}
                pushes = [one for one in self.pushes if place.items() <= one.items()]
                found = 200, {}, pushes[: int(query["per_page"])]
            case _:
                found = super()._read(parts, query)
        return found


def make_step_variables(github: GitHub, folder: Path) -> dict[str, str]:
    """The environment of the step that collects."""
    return {
        "GITHUB_API_URL": github.url,
        "GITHUB_REPOSITORY": "lab/report",
        "REPORTGEN_ARCHIVE": "*.zip",
        "REPORTGEN_BASE_URL": "",
        "REPORTGEN_PREVIEW": "report-preview",
        "REPORTGEN_TOKEN": TOKEN,
        "RUNNER_TEMP": str(folder),
    }
