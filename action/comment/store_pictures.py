"""The pictures of a comment: drawn in a process without a token, stored on a branch that holds nothing else.

They are stored by GitHub's Git data API: nothing is checked out, and no git runs. A comment links to files of
one commit, so no later commit of the branch takes a picture from it. A commit adds the folder of one head and
one report, and leaves out the folders of pull requests that are no longer open.
"""

from __future__ import annotations

import base64
import http
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from github_api import TRIES, Api, Json, RefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping

BRANCH = "reportgen-pictures"
SECONDS = 120
ROOT = Path(__file__).resolve().parents[2]
# Somebody else's commit came first, or the branch was made or deleted meanwhile.
MOVED = {http.HTTPStatus.CONFLICT, http.HTTPStatus.UNPROCESSABLE_ENTITY}
NO_RIGHT = (
    'GitHub does not let this token store pictures. "pictures: branch" needs "contents: write" among the'
    " permissions of the job, and no rule of the repository that keeps workflows from writing the branch"
    f" {BRANCH}."
)
DRAW = ("review", "--read", "-", "--format", "json", "--fail-on", "never", "--pictures", "pictures")
README = f"""Pictures of changed figures, which comments on pull requests show. reportgen writes this branch.

The newest commit holds those of open pull requests, older ones those of older comments. Whoever deletes
{BRANCH} frees their space and takes them from these comments; the next comment makes it again.
"""


def draw_pictures(review: bytes) -> dict[str, bytes]:
    """PNG files by their names; the process has no token, a limited time, and only the review to read."""
    known = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    command = [sys.executable, "-P", "-m", "reportgen", *DRAW]
    with TemporaryDirectory() as folder:
        try:
            subprocess.run(  # noqa: S603 - our own module
                command,
                input=review,
                cwd=folder,
                env=known | {"PYTHONPATH": str(ROOT)},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=SECONDS,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise RefusedError(f"Drawing ended with {error.returncode}.") from None
        except subprocess.TimeoutExpired:
            raise RefusedError(f"Drawing took more than {SECONDS} seconds.") from None
        return {path.name: path.read_bytes() for path in sorted(Path(folder, "pictures").iterdir())}


def store_pictures(api: Api, number: int, folder: str, files: Mapping[str, bytes]) -> str:
    """The commit of the branch that has the files in ``pr/<number>/<folder>``."""
    try:
        entries = [
            make_entry(f"{folder}/{name}", "blob", make_object(api, "blobs", encode(content)))
            for name, content in files.items()
        ]
        for attempt in range(1, TRIES + 1):
            commit = try_to_commit(api, number, entries)
            if commit:
                return commit
            if attempt < TRIES:
                api.sleep(2.0**attempt)
    except RefusedError as error:
        # A token that may not even read is answered with "not found".
        if error.status in {http.HTTPStatus.FORBIDDEN, http.HTTPStatus.NOT_FOUND}:
            raise RefusedError(NO_RIGHT) from None
        raise
    raise RefusedError(f"The branch {BRANCH} moved each of {TRIES} times, or a rule keeps it from moving.")


def encode(content: bytes) -> Json:
    """A file as the API takes it."""
    return {"content": base64.b64encode(content).decode(), "encoding": "base64"}


def make_entry(path: str, kind: str, sha: str) -> Json:
    """An entry of a tree: a file or a folder."""
    return {"path": path, "mode": "100644" if kind == "blob" else "040000", "type": kind, "sha": sha}


def make_object(api: Api, kind: str, body: Json) -> str:
    """The hash of a new object, which is the same if it is made again."""
    sha: str = api.request("POST", f"/git/{kind}", body, repeatable=True)[1]["sha"]
    return sha


def try_to_commit(api: Api, number: int, entries: list[Json]) -> str:
    """The commit that has these entries; empty if the branch moved while it was made."""
    tip = root = ""
    try:
        tip = api.request("GET", f"/git/ref/heads/{BRANCH}")[1]["object"]["sha"]
        root = api.request("GET", f"/git/commits/{tip}")[1]["tree"]["sha"]
    except RefusedError as error:
        if tip or error.status != http.HTTPStatus.NOT_FOUND:
            raise
    tree = write_tree(api, root, number, entries)
    if tree == root:
        return tip
    message = f"Pictures of pull request {number}"
    commit = make_object(api, "commits", {"message": message, "tree": tree, "parents": [tip] if tip else []})
    try:
        if tip:
            api.request("PATCH", f"/git/refs/heads/{BRANCH}", {"sha": commit, "force": False})
        else:
            api.request("POST", "/git/refs", {"ref": f"refs/heads/{BRANCH}", "sha": commit}, repeatable=True)
    except RefusedError as error:
        if error.status not in MOVED:
            raise
        return ""
    return commit


def write_tree(api: Api, root: str, number: int, entries: list[Json]) -> str:
    """The tree with these entries added, without pull requests that are no longer open."""

    def read(sha: str | None) -> dict[str, str]:
        listed = api.request("GET", f"/git/trees/{sha}")[1]["tree"] if sha else []
        return {one["path"]: one["sha"] for one in listed}

    def write(added: list[Json], base: str | None = None) -> str:
        return make_object(api, "trees", {"tree": added} | ({"base_tree": base} if base else {}))

    pulls = read(read(root).get("pr"))
    own = write(entries, pulls.pop(str(number), None))
    is_open = {str(int(one["number"])) for one in api.list_all("/pulls", state="open")} if pulls else set()
    others = [make_entry(name, "tree", sha) for name, sha in pulls.items() if name in is_open]
    readme = {"path": "README.md", "mode": "100644", "type": "blob", "content": README}
    pr = write([*others, make_entry(str(number), "tree", own)])
    return write([readme, make_entry("pr", "tree", pr)], root or None)
