"""Post the review of a report as a comment of its pull request, from a workflow started by ``workflow_run``.

This runs with a token that may write, on a file that a stranger's workflow wrote. So nothing of that file
says where to write: the pull request is the one that GitHub itself knows by branch and commit. The file has
to follow the schema of ``review.json`` and be about that very commit, and the Markdown is written here.

Leaves with 0 if the comment was posted, or if there is nothing to post; with 1 if something is wrong.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import sys
import time
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from github_api import TRIES, Api, Json, NothingToPostError, PassingError, RefusedError, Sleep
from msgspec.structs import replace
from store_pictures import draw_pictures, store_pictures

from reportgen.review.comment import CommentContext, hash_path, make_marker, name_pictures, write_comment
from reportgen.review.model import MOST_BYTES, Review, read_review

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MEMBER = "review.json"
MOST_PACKED = 5_000_000
MOST_PREVIEW = 30_000_000
PICTURES = ("none", "branch")


def find_pull_request(api: Api, run: Json) -> Json:
    """The open pull request whose head is what the run was about; there has to be exactly one."""
    head = run["head_repository"]
    if not head:
        raise NothingToPostError("The fork was deleted.")
    branch = f"{head['owner']['login']}:{run['head_branch']}"
    found = [
        pull
        for pull in api.list_all("/pulls", state="open", head=branch)
        # Forks of one owner may have branches of one name.
        if pull["head"]["repo"] and pull["head"]["repo"]["id"] == head["id"]
    ]
    current = [pull for pull in found if pull["head"]["sha"] == run["head_sha"]]
    if len(current) == 1:
        return current[0]
    if current:
        raise NothingToPostError("Several pull requests have this commit as their head.")
    newer = "It has newer commits, which have runs of their own." if found else "It was closed."
    raise NothingToPostError(f"No open pull request has this commit as its head. {newer}")


def find_artifacts(api: Api, run: Json, name: str) -> dict[str, Json]:
    """The newest artifacts of the run by name, among which is ``name``."""
    newest: dict[str, Json] = {}
    for one in api.list_all(f"/actions/runs/{int(run['id'])}/artifacts", "artifacts"):
        if not one["expired"] and one["id"] > newest.get(one["name"], {"id": 0})["id"]:
            newest[one["name"]] = one
    if name not in newest:
        raise NothingToPostError("The run left no review: it failed before, or its artifact has expired.")
    return newest


def find_preview(api: Api, pull: Json, artifact: Json | None) -> str:
    """The address at which "action/publish" will publish a built site; empty if it will not."""
    if artifact is None or artifact["size_in_bytes"] > MOST_PREVIEW:
        return ""
    try:
        _, site = api.request("GET", "/pages")
    except (RefusedError, PassingError):
        return ""
    if site["build_type"] == "legacy":
        return ""
    return f"{site['html_url'].rstrip('/')}/pr/{int(pull['number'])}/"


def read_artifact(api: Api, artifact: Json) -> tuple[bytes, Review]:
    """The review in an artifact, which a stranger may have made, as text and as a value."""
    if artifact["size_in_bytes"] > MOST_PACKED:
        raise RefusedError(f"The artifact has more than {MOST_PACKED:,} bytes.")
    content = api.download(f"/actions/artifacts/{int(artifact['id'])}/zip", MOST_PACKED)
    digest = artifact.get("digest") or ""
    if digest.startswith("sha256:") and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        raise RefusedError("The artifact is not what its digest says.")
    try:
        text = unpack(content)
        return text, read_review(text)
    except ValueError:
        raise RefusedError(
            f"{MEMBER} does not follow the schema of this reportgen. Both workflows have to use one commit."
        ) from None


def unpack(content: bytes) -> bytes:
    """The only member of a zip: one regular file with the right name, and not too long."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            if [one.filename for one in members] != [MEMBER]:
                raise RefusedError(f"The artifact has to hold {MEMBER} and nothing else.")
            mode = members[0].external_attr >> 16
            if stat.S_IFMT(mode) not in {0, stat.S_IFREG} or members[0].flag_bits & 1:
                raise RefusedError(f"{MEMBER} is no regular file.")
            if members[0].compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
                raise NotImplementedError
            with archive.open(members[0]) as file:
                text = file.read(MOST_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, OSError, ValueError):
        raise RefusedError("The artifact is no zip that can be read.") from None
    if len(text) > MOST_BYTES:
        raise RefusedError(f"{MEMBER} has more than {MOST_BYTES:,} bytes.")
    return text


def put_comment(api: Api, pull: Json, text: str, marker: str, author: str, *, may_create: bool) -> str:
    """Update our comment of the pull request, or post it; looked for again where it is not known which."""
    for attempt in range(1, TRIES + 1):
        own = next((one for one in _list_comments(api, pull) if _is_own(one, marker, author)), None)
        if own is None and not may_create:
            raise NothingToPostError("Nothing changed, and there is no comment to update.")
        if own is not None and _normalize(own["body"]) == _normalize(text):
            return "The comment already says so"
        try:
            if own is None:
                api.request("POST", f"/issues/{int(pull['number'])}/comments", {"body": text})
                return "Posted a comment"
            api.request("PATCH", f"/issues/comments/{int(own['id'])}", {"body": text})
        except PassingError as error:
            if attempt == TRIES:
                raise
            api.sleep(max(error.wait, 2.0**attempt))
        else:
            return "Updated the comment"
    raise AssertionError


def _list_comments(api: Api, pull: Json) -> Iterator[Json]:
    return api.list_all(f"/issues/{int(pull['number'])}/comments")


def _is_own(comment: Json, marker: str, author: str) -> bool:
    """Whether it is by us and ends with our marker: in the middle it might be a quotation."""
    user = comment["user"] or {}
    return user.get("login") == author and _normalize(comment["body"]).rpartition("\n")[2] == marker


def _normalize(text: str | None) -> str:
    return (text or "").replace("\r\n", "\n").strip()


def draw(content: bytes, review: Review, variables: Mapping[str, str]) -> dict[str, bytes]:
    """The pictures of a review by the names of their files; none if none are to be drawn, or none can be."""
    if variables["REPORTGEN_PICTURES"] == "none" or not name_pictures(review):
        return {}
    try:
        return draw_pictures(content)
    except RefusedError as error:
        warn(error)
        return {}


def add_pictures(api: Api, server: str, pull: Json, folder: str, pictures: Mapping[str, bytes]) -> str:
    """The address that pictures are at, empty if they cannot be stored: the comment matters more."""
    try:
        path = f"pr/{int(pull['number'])}/{folder}"
        commit = store_pictures(api, int(pull["number"]), folder, pictures)
    except (RefusedError, PassingError) as error:
        warn(error)
        return ""
    return f"{server}/{api.repository}/blob/{commit}/{path}?raw=true"


def warn(error: Exception) -> None:
    """Say in the log why the comment has no pictures."""
    print(f"::warning title=The comment has no pictures::{error}")


def post(variables: Mapping[str, str], sleep: Sleep) -> str:
    """What was done, in a sentence."""
    run = json.loads(Path(variables["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))["workflow_run"]
    if run["event"] != "pull_request":
        raise NothingToPostError("The run was not for a pull request.")
    if variables["REPORTGEN_PICTURES"] not in PICTURES:
        raise RefusedError(f'The input "pictures" has to be one of {", ".join(PICTURES)}.')
    repository = variables["GITHUB_REPOSITORY"]
    api = Api(variables["GITHUB_API_URL"].rstrip("/"), repository, variables["REPORTGEN_TOKEN"], sleep)
    pull = find_pull_request(api, run)
    name = variables["REPORTGEN_ARTIFACT"]
    artifacts = find_artifacts(api, run, name)
    content, review = read_artifact(api, artifacts[name])
    if review.head.commit != run["head_sha"]:
        raise RefusedError("The review is not about the commit that the run was for.")
    link = f"{variables['GITHUB_SERVER_URL'].rstrip('/')}/{repository}/actions/runs/{int(run['id'])}"
    page = artifacts.get(f"{name.replace('/', '-')}.html")
    from_fork = run["head_repository"]["id"] != pull["base"]["repo"]["id"]
    # That of a fork waits for a label.
    built = None if from_fork else artifacts.get(variables["REPORTGEN_PREVIEW"])
    around = CommentContext(
        config_path=variables["REPORTGEN_CONFIG_FILE"],
        link=f"{link}/artifacts/{int(page['id'])}" if page else link,
        preview=find_preview(api, pull, built),
        from_fork=from_fork,
    )
    pictures = draw(content, review, variables)
    # It took a while to come here.
    _, now = api.request("GET", f"/pulls/{int(pull['number'])}")
    if now["state"] != "open" or now["head"]["sha"] != run["head_sha"]:
        raise NothingToPostError("The pull request was closed or has newer commits.")
    if pictures:
        folder = f"{run['head_sha'][:8]}/{hash_path(around.config_path)}"
        server = variables["GITHUB_SERVER_URL"].rstrip("/")
        around = replace(around, picture_base=add_pictures(api, server, pull, folder, pictures))
    text = write_comment(review, surroundings=around)
    marker, author = make_marker(around.config_path), variables["REPORTGEN_AUTHOR"]
    done = put_comment(api, pull, text, marker, author, may_create=not review.is_empty)
    return f"{done} of pull request {int(pull['number'])}."


def main(variables: Mapping[str, str], sleep: Sleep = time.sleep) -> int:
    """Post the comment; returns the exit code."""
    try:
        print(post(variables, sleep))
    except NothingToPostError as error:
        print(f"Nothing to post. {error}")
    except (RefusedError, PassingError) as error:
        print(f"::error title=No comment was posted::{error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(os.environ))
