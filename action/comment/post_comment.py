"""Post the review of a report as a comment of its pull request, from a workflow started by ``workflow_run``.

This runs with a token that may write, on a file that a stranger's workflow wrote. So nothing of that file
says where to write: the pull request is the one that GitHub itself knows by branch and commit. The file has
to follow the schema of ``review.json`` and be about that very commit, and the Markdown is written here.

Leaves with 0 if the comment was posted, or if there is nothing to post; with 1 if something is wrong.
"""

from __future__ import annotations

import hashlib
import http.client
import io
import json
import os
import stat
import struct
import sys
import time
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from reportgen.review.comment import CommentContext, make_marker, write_comment
from reportgen.review.model import MOST_BYTES, Review, read_review

if TYPE_CHECKING:
    from email.message import Message

MEMBER = "review.json"
MOST_PACKED = 5_000_000
MOST_ANSWER = 20_000_000
TRIES = 5
LONGEST_WAIT = 60
REDIRECTS = {301, 302, 303, 307, 308}
PASSING = {429, 500, 502, 503, 504}
NO_RIGHT = (
    "GitHub does not let this token read or write here (403). The job needs"
    ' "permissions: {actions: read, pull-requests: write}", and the settings of the repository or its'
    " organisation must not restrict workflows to reading. A locked conversation takes no comments either."
)

Json: TypeAlias = Any
Sleep: TypeAlias = Callable[[float], None]


class NothingToPostError(Exception):
    """There is nothing to do, and nothing wrong; its text says why."""


class RefusedError(Exception):
    """Something is wrong; its text, in which nothing is foreign, says what."""


class PassingError(Exception):
    """A request that may succeed if it is made again."""

    def __init__(self, words: str, wait: float) -> None:
        super().__init__(words)
        self.wait = wait


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer: urllib would send the token along to another host."""

    def redirect_request(self, *_: Any) -> None:  # noqa: ANN401 - as urllib declares it
        return None


@dataclass(frozen=True)
class Api:
    """The API of GitHub for one repository."""

    url: str
    repository: str
    token: str
    sleep: Sleep

    def list_all(self, path: str, key: str = "", **query: str) -> Iterator[Json]:
        """The entries of a list, over all of its pages."""
        page, more = 1, True
        while more:
            words = urlencode({**query, "per_page": 100, "page": page})
            headers, answer = self.request("GET", f"{path}?{words}")
            yield from answer[key] if key else answer
            page, more = page + 1, 'rel="next"' in (headers.get("Link") or "")

    def request(self, method: str, path: str, body: Json = None) -> tuple[Message, Json]:
        """Headers and JSON of an answer; a request that changes nothing is made again if it fails."""
        url = f"{self.url}/repos/{self.repository}{path}"
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, TRIES + 1):
            try:
                headers, answer = self._open(method, url, data, MOST_ANSWER)
                return headers, _read_json(answer)
            except PassingError as error:
                if method == "POST" or attempt == TRIES:
                    raise
                self.sleep(max(error.wait, 2.0**attempt))
        raise AssertionError

    def download(self, path: str, most: int) -> bytes:
        """A file that the API redirects to; the token is not sent to where it lies."""
        for attempt in range(1, TRIES + 1):
            try:
                url = f"{self.url}/repos/{self.repository}{path}"
                headers, content = self._open("GET", url, None, most)
                if "Location" not in headers:
                    return content
                target = headers["Location"]
                if urlsplit(target).scheme not in {"https", urlsplit(self.url).scheme}:
                    raise RefusedError("The artifact lies at an address that is not https.")
                return self._open("GET", target, None, most, with_token=False)[1]
            except PassingError as error:
                if attempt == TRIES:
                    raise
                self.sleep(max(error.wait, 2.0**attempt))
        raise AssertionError

    def _open(
        self, method: str, url: str, data: bytes | None, most: int, *, with_token: bool = True
    ) -> tuple[Message, bytes]:
        headers = {"User-Agent": "reportgen"}
        if with_token:
            headers["Accept"] = "application/vnd.github+json"
            headers["Authorization"] = f"Bearer {self.token}"
            headers["X-GitHub-Api-Version"] = "2022-11-28"
        request = urllib.request.Request(url, data, headers, method=method)
        opener = urllib.request.build_opener(_NoRedirect)
        try:
            with opener.open(request, timeout=60) as response:
                content = response.read(most + 1)
                if len(content) > most:
                    raise RefusedError(f"An answer has more than {most:,} bytes.")
                return response.headers, content
        except urllib.error.HTTPError as error:
            with error:
                if error.code in REDIRECTS and "Location" in error.headers:
                    return error.headers, b""
                raise _explain(error, method) from None
        except (OSError, http.client.HTTPException) as error:
            raise PassingError(f"GitHub cannot be reached ({type(error).__name__})", 0) from None


def _read_json(answer: bytes) -> Json:
    try:
        return json.loads(answer)
    except ValueError:
        raise PassingError("GitHub answered with something else than JSON", 0) from None


def _explain(error: urllib.error.HTTPError, method: str) -> Exception:
    """What an answer other than 2xx means."""
    after = error.headers.get("Retry-After") or ""
    wait = min(float(after), LONGEST_WAIT) if after.isdecimal() else 0.0
    limited = error.headers.get("X-RateLimit-Remaining") == "0" or after
    if error.code in PASSING or (error.code == http.HTTPStatus.FORBIDDEN and limited):
        return PassingError(f"GitHub answered {error.code} to each of several requests", wait)
    if error.code == http.HTTPStatus.FORBIDDEN:
        return RefusedError(NO_RIGHT)
    if error.code == http.HTTPStatus.NOT_FOUND and method == "PATCH":
        return PassingError("The comment was deleted while it was updated", 0)
    if error.code == http.HTTPStatus.GONE:
        return NothingToPostError("The artifact has expired.")
    return RefusedError(f"GitHub answered {error.code} to a {method} request.")


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


def find_artifacts(api: Api, run: Json, name: str) -> tuple[Json, Json]:
    """The newest artifacts with ``review.json`` and ``review.html`` of the run; the second may be None."""
    newest: dict[str, Json] = {}
    for one in api.list_all(f"/actions/runs/{int(run['id'])}/artifacts", "artifacts"):
        if not one["expired"] and one["id"] > newest.get(one["name"], {"id": 0})["id"]:
            newest[one["name"]] = one
    if name not in newest:
        raise NothingToPostError("The run left no review: it failed before, or its artifact has expired.")
    return newest[name], newest.get(f"{name.replace('/', '-')}.html")


def read_artifact(api: Api, artifact: Json) -> Review:
    """The review in an artifact, which a stranger may have made."""
    if artifact["size_in_bytes"] > MOST_PACKED:
        raise RefusedError(f"The artifact has more than {MOST_PACKED:,} bytes.")
    content = api.download(f"/actions/artifacts/{int(artifact['id'])}/zip", MOST_PACKED)
    digest = artifact.get("digest") or ""
    if digest.startswith("sha256:") and digest != f"sha256:{hashlib.sha256(content).hexdigest()}":
        raise RefusedError("The artifact is not what its digest says.")
    try:
        return read_review(unpack(content))
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


def post(variables: Mapping[str, str], sleep: Sleep) -> str:
    """What was done, in a sentence."""
    run = json.loads(Path(variables["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))["workflow_run"]
    if run["event"] != "pull_request":
        raise NothingToPostError("The run was not for a pull request.")
    repository = variables["GITHUB_REPOSITORY"]
    api = Api(variables["GITHUB_API_URL"].rstrip("/"), repository, variables["REPORTGEN_TOKEN"], sleep)
    pull = find_pull_request(api, run)
    artifact, page = find_artifacts(api, run, variables["REPORTGEN_ARTIFACT"])
    review = read_artifact(api, artifact)
    if review.head.commit != run["head_sha"]:
        raise RefusedError("The review is not about the commit that the run was for.")
    link = f"{variables['GITHUB_SERVER_URL'].rstrip('/')}/{repository}/actions/runs/{int(run['id'])}"
    around = CommentContext(
        config_path=variables["REPORTGEN_CONFIG_FILE"],
        link=f"{link}/artifacts/{int(page['id'])}" if page else link,
        from_fork=run["head_repository"]["id"] != pull["base"]["repo"]["id"],
    )
    text = write_comment(review, surroundings=around)
    # It took a while to come here.
    _, now = api.request("GET", f"/pulls/{int(pull['number'])}")
    if now["state"] != "open" or now["head"]["sha"] != run["head_sha"]:
        raise NothingToPostError("The pull request was closed or has newer commits.")
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
