"""The API of GitHub for one repository: requests, made again where that may help, and what answers mean."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from email.message import Message

TRIES = 5
MOST_ANSWER = 20_000_000
LONGEST_WAIT = 60
JSON_TYPE = "application/vnd.github+json"
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
    """Something is wrong; its text, in which nothing is foreign, says what.

    ``status`` is that of an answer, 0 if it is about something else.
    """

    def __init__(self, words: str, status: int = 0) -> None:
        super().__init__(words)
        self.status = status


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

    def request(
        self, method: str, path: str, body: Json = None, *, repeatable: bool = False
    ) -> tuple[Message, Json]:
        """Headers and JSON of an answer; what fails is tried again, a POST only if it is ``repeatable``."""
        url = f"{self.url}/repos/{self.repository}{path}"
        data = None if body is None else json.dumps(body).encode()
        for attempt in range(1, TRIES + 1):
            try:
                headers, answer = self._open(method, url, data, MOST_ANSWER)
                if "Location" in headers and not answer:
                    raise RefusedError("The repository was renamed or moved. Run the workflow again.")
                return headers, _read_json(answer)
            except PassingError as error:
                if (method == "POST" and not repeatable) or attempt == TRIES:
                    raise
                self.sleep(max(error.wait, 2.0**attempt))
        raise AssertionError

    def download(self, path: str, most: int, accept: str = JSON_TYPE) -> bytes:
        """A file that the API redirects to, or answers with; the token is not sent to where it lies."""
        for attempt in range(1, TRIES + 1):
            try:
                url = f"{self.url}/repos/{self.repository}{path}"
                headers, content = self._open("GET", url, None, most, accept=accept)
                if "Location" not in headers:
                    return content
                target = headers["Location"]
                if urlsplit(target).scheme not in {"https", urlsplit(self.url).scheme}:
                    raise RefusedError("The file lies at an address that is not https.")
                return self._open("GET", target, None, most, accept="")[1]
            except PassingError as error:
                if attempt == TRIES:
                    raise
                self.sleep(max(error.wait, 2.0**attempt))
        raise AssertionError

    def _open(
        self, method: str, url: str, data: bytes | None, most: int, *, accept: str = JSON_TYPE
    ) -> tuple[Message, bytes]:
        """Headers and content of an answer; the token is sent if a type of content is accepted."""
        headers = {"User-Agent": "reportgen"}
        if accept:
            headers["Accept"] = accept
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
        return RefusedError(NO_RIGHT, error.code)
    if error.code == http.HTTPStatus.NOT_FOUND and method == "PATCH":
        return PassingError("The comment was deleted while it was updated", 0)
    if error.code == http.HTTPStatus.GONE:
        return NothingToPostError("The artifact has expired.")
    return RefusedError(f"GitHub answered {error.code} to a {method} request.", error.code)
