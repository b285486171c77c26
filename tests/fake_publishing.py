"""The stand-in for GitHub with what a site is assembled from: releases, pushes, runs, labels, and Pages."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from fake_github import BASE_ID, FORK_ID, TOKEN, GitHub, make_zip

if TYPE_CHECKING:
    from pathlib import Path

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
