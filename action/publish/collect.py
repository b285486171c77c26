"""Collect what the site of a report is assembled from: the archives of releases, previews of pull requests.

This runs in the context of the default branch, with a token that may only read. What exists is what GitHub
says now, so a run that was lost or cancelled is made good by the next one. Nothing is unpacked here.

The preview of a pull request is the artifact of a run of exactly the commit that is its head, in the
repository that its head is in: nothing in the artifact says whose preview it is. Pages of a fork would share
their origin with the site, so a fork has a preview only if a maintainer set a label for that very commit.

Leaves with 0 if the arguments for ``reportgen publish`` were written, with 1 if something is wrong.
"""

from __future__ import annotations

import hashlib
import http
import json
import os
import sys
import time
from dataclasses import replace
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from github_api import Api, Json, NothingToPostError, PassingError, RefusedError, Sleep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

LABEL = "preview"
MOST_PREVIEWS = 25
MOST_PREVIEW = 30_000_000
MOST_ARCHIVE = 500_000_000
# What GitHub Pages publishes may have 1 GB.
MOST_ARCHIVES = 1_000_000_000
NOT_READABLE = {http.HTTPStatus.FORBIDDEN, http.HTTPStatus.NOT_FOUND}
SWITCH_ON = (
    'Open Settings, then Pages, and under "Build and deployment" choose "GitHub Actions" in the menu'
    ' "Source". Then run this workflow again.'
)
NO_RIGHT = (
    "GitHub does not let this token read here (403). The job needs"
    ' "permissions: {contents: read, actions: read, pull-requests: read, pages: read}".'
)


def find_base_url(api: Api) -> str:
    """The address of the site, as GitHub Pages has it now; a custom domain has its own."""
    try:
        _, site = api.request("GET", "/pages")
    except RefusedError as error:
        if error.status == http.HTTPStatus.NOT_FOUND:
            raise RefusedError(f"GitHub Pages is not switched on. {SWITCH_ON}") from None
        if error.status == http.HTTPStatus.FORBIDDEN:
            raise RefusedError(f"{NO_RIGHT} If it has them, Pages is not switched on. {SWITCH_ON}") from None
        raise
    if site.get("build_type") == "legacy":
        raise RefusedError(f"GitHub Pages publishes a branch and not what workflows build. {SWITCH_ON}")
    return str(site["html_url"])


def find_archives(api: Api, pattern: str) -> Iterator[tuple[str, Json]]:
    """The tags of published releases and their archives, the newest first."""
    releases = [one for one in api.list_all("/releases") if not one["draft"]]
    size = 0
    for release in sorted(releases, key=lambda one: (one["published_at"], one["id"]), reverse=True):
        tag = release["tag_name"]
        found = [
            one
            for one in release["assets"]
            if one["state"] == "uploaded" and fnmatchcase(one["name"], pattern)
        ]
        if release["prerelease"]:
            print(f"Release {quote(tag)} is a pre-release.")
        elif "=" in tag:
            leave_out(f"Release {quote(tag)}", 'There is a "=" in its tag.')
        elif not found:
            print(f"Release {quote(tag)} has no archive.")
        elif len(found) > 1:
            names = ", ".join(sorted(quote(one["name"]) for one in found))
            words = f"It has {len(found)} archives: {names}. The input archive says which one to take."
            leave_out(f"Release {quote(tag)}", words)
        elif found[0]["size"] > MOST_ARCHIVE:
            leave_out(f"Release {quote(tag)}", f"Its archive has more than {MOST_ARCHIVE:,} bytes.")
        elif (size := size + found[0]["size"]) > MOST_ARCHIVES:
            words = f"It and newer ones have more than {MOST_ARCHIVES:,} bytes together."
            leave_out(f"Release {quote(tag)}", words)
        else:
            yield tag, found[0]


def find_previews(api: Api, name: str) -> list[tuple[int, Json]]:
    """The numbers of open pull requests and their artifacts, the newest first."""
    newest: dict[tuple[str, int], Json] = {}
    for one in api.list_all("/actions/artifacts", "artifacts", name=name):
        if run := one.get("workflow_run"):
            key = run["head_sha"], run["head_repository_id"]
            newest[key] = max(newest.get(key, one), one, key=lambda artifact: int(artifact["id"]))
    found = []
    for pull in api.list_all("/pulls", state="open"):
        repository, number = pull["head"]["repo"], int(pull["number"])
        artifact = newest.get((pull["head"]["sha"], repository["id"])) if repository else None
        if artifact is None:
            print(f"Pull request {number} has no preview of its newest commit.")
        elif artifact["expired"]:
            leave_out(f"Pull request {number}", "Its preview has expired. A new commit makes another.")
        elif artifact["size_in_bytes"] > MOST_PREVIEW:
            leave_out(f"Pull request {number}", f"Its preview has more than {MOST_PREVIEW:,} bytes.")
        elif is_fork(pull) and LABEL not in {one["name"] for one in pull["labels"]}:
            print(f'Pull request {number} is of a fork. Whoever has read it may set the label "{LABEL}".')
        elif is_fork(pull) and (reason := find_refusal(api, pull, artifact)):
            leave_out(f"Pull request {number}", reason)
        else:
            found.append((number, artifact))
    found.sort(key=lambda one: (int(one[1]["id"]), one[0]), reverse=True)
    for number, _ in found[MOST_PREVIEWS:]:
        leave_out(f"Pull request {number}", f"{MOST_PREVIEWS} others have newer previews.")
    return found[:MOST_PREVIEWS]


def is_fork(pull: Json) -> bool:
    """Whether a pull request comes from another repository, which is there."""
    return bool(pull["head"]["repo"]["id"] != pull["base"]["repo"]["id"])


def find_refusal(api: Api, pull: Json, artifact: Json) -> str:
    """Why the labelled pull request of a fork is not previewed; empty if it may be.

    It is if a person set the label after the commit had become the head, and after the run that made
    the preview had begun, both by GitHub's own clock. The first run of the commit alone would not do: it may
    have been the head of another branch, or of this one, before the label was set on something else.
    """
    head = pull["head"]
    _, run = api.request("GET", f"/actions/runs/{int(artifact['workflow_run']['id'])}")
    query = urlencode({"ref": f"refs/heads/{head['ref']}", "per_page": 1})
    try:
        _, pushes = replace(api, repository=head["repo"]["full_name"]).request("GET", f"/activity?{query}")
    except RefusedError as error:
        if error.status not in NOT_READABLE:
            raise
        pushes = []
    if run["event"] != "pull_request" or not pushes or pushes[0]["after"] != head["sha"]:
        return "GitHub does not say when its newest commit was pushed. Push another to a public fork."
    since = max(datetime.fromisoformat(one) for one in (run["created_at"], pushes[0]["timestamp"]))
    for event in api.list_all(f"/issues/{int(pull['number'])}/timeline"):
        if (
            event["event"] == "labeled"
            and event["label"]["name"] == LABEL
            and (event["actor"] or {}).get("type") == "User"
            and datetime.fromisoformat(event["created_at"]) > since
        ):
            return ""
    return (
        f'Its newest commit came after the label "{LABEL}". Whoever has read it may remove and set it again.'
    )


def fetch(api: Api, path: str, most: int, known: Json, **options: str) -> bytes | str:
    """A file of GitHub, or why it is left out."""
    try:
        content = api.download(path, most, **options)
    except NothingToPostError:
        return "It has expired."
    except RefusedError as error:
        if error.status == http.HTTPStatus.FORBIDDEN:
            raise RefusedError(NO_RIGHT) from None
        if error.status not in {0, http.HTTPStatus.NOT_FOUND}:
            raise
        return f"It is gone: {error}" if error.status else str(error)
    digest = known.get("digest") or ""
    if digest.startswith("sha256:") and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        return "It is not what its digest says."
    return content


def collect(variables: Mapping[str, str], folder: Path, sleep: Sleep) -> list[str]:
    """Store archives and previews in a folder; returns the arguments for ``reportgen publish``."""
    repository = variables["GITHUB_REPOSITORY"]
    api = Api(variables["GITHUB_API_URL"].rstrip("/"), repository, variables["REPORTGEN_TOKEN"], sleep)
    arguments = [f"--base-url={variables['REPORTGEN_BASE_URL'] or find_base_url(api)}"]

    def store(option: str, name: str, words: str, content: bytes | str) -> None:
        if isinstance(content, str):
            leave_out(words, content)
            return
        file = folder / f"{len(arguments)}.zip"
        file.write_bytes(content)
        arguments.append(f"--{option}={name}={file}")
        print(f"{words}: {len(content):,} bytes.")

    for tag, asset in find_archives(api, variables["REPORTGEN_ARCHIVE"]):
        path = f"/releases/assets/{int(asset['id'])}"
        content = fetch(api, path, MOST_ARCHIVE, asset, accept="application/octet-stream")
        store("version", tag, f"Release {quote(tag)}", content)
    for number, artifact in find_previews(api, variables["REPORTGEN_PREVIEW"]):
        path = f"/actions/artifacts/{int(artifact['id'])}/zip"
        content = fetch(api, path, MOST_PREVIEW, artifact)
        store("preview", str(number), f"Pull request {number}", content)
    return arguments


def leave_out(words: str, reason: str) -> None:
    """Say in the log what is not published, and why."""
    print(f"::warning title=Not published::{words}: {reason}")


def quote(name: str) -> str:
    """A name of somebody's, in which no character is special to the log of a workflow."""
    return json.dumps(name).replace("%", "%25")


def main(variables: Mapping[str, str], sleep: Sleep = time.sleep) -> int:
    """Write the files and the arguments, each of which ends with a NUL; returns the exit code."""
    folder = Path(variables["RUNNER_TEMP"]) / "report-collected"
    folder.mkdir(exist_ok=True)
    try:
        arguments = collect(variables, folder, sleep)
    except (RefusedError, PassingError) as error:
        words = NO_RIGHT if getattr(error, "status", 0) == http.HTTPStatus.FORBIDDEN else error
        print(f"::error title=The site was not published::{words}")
        return 1
    (folder / "arguments").write_bytes("".join(f"{one}\0" for one in arguments).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
