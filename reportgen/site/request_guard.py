"""What ``serve`` answers: requests for this machine by its own names, with the policy of a built site."""

from __future__ import annotations

import base64
import hashlib
import ipaddress
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Application: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

_SCRIPT, _SCRIPT_END = b"<script>", b"</script>"
_REFUSED = """403 Forbidden: this server answers to localhost and to IP addresses, so that no page of another
site can read a report through a name that leads here. To serve by a name, say so: --dev-addr {name}
"""


def guard_requests(app: Application, host: str, policy: str) -> Application:
    """A server's application that answers to its own names only.

    Args:
        app: what MkDocs serves with.
        host: the name or address that it was told to serve at.
        policy: the content security policy of pages; none is sent if empty. The script of the live reload,
            which MkDocs puts into each page, is added to it by its hash.
    """

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        name = environ.get("HTTP_HOST", "")
        if not _is_own(name, host):
            start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
            return [_REFUSED.format(name=name if name.isprintable() else "NAME:PORT").encode()]
        # No file has such a name, and none can be asked for.
        environ["PATH_INFO"] = environ.get("PATH_INFO", "").replace("\0", "%00")
        held: list[Any] = []
        result = app(environ, lambda *said: held.extend(said))
        status, headers = held[:2]
        if policy and dict(headers).get("Content-Type", "").startswith("text/html"):
            body = b"".join(result)
            headers = [*headers, ("Content-Security-Policy", _add_script(policy, body))]
            result = [body]
        start_response(status, headers)
        return result

    return answer


def _is_own(name: str, host: str) -> bool:
    """Whether a request names this machine in a way that nobody else can lead here."""
    try:
        requested = (urlsplit(f"//{name}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if not name or requested in {"localhost", host.lower()}:
        return True
    try:
        ipaddress.ip_address(requested)
    except ValueError:
        return False
    return True


def _add_script(policy: str, page: bytes) -> str:
    """The policy for a page, at whose very end MkDocs may have put a script of its own."""
    before = page[: page.rfind(b"</body>")]
    if not before.endswith(_SCRIPT_END):
        return policy
    text = before[before.rindex(_SCRIPT) + len(_SCRIPT) : -len(_SCRIPT_END)]
    digest = base64.b64encode(hashlib.sha256(text).digest()).decode()
    return f"{policy}; script-src 'self' 'sha256-{digest}'"
