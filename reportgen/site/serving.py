"""What ``serve`` answers: pages with the problems of the last build, to this machine and nobody else.

A build that fails leaves the pages as they were. Without the problems on them an author who looks at the
browser would wait for a change that never comes. A page without problems lists its numbers without a binding.
"""

from __future__ import annotations

import ipaddress
import logging
import posixpath
import re
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import unquote, urlsplit

from mkdocs.exceptions import MkDocsException, PluginError
from msgspec.structs import replace

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation, Stage
from reportgen.core.terminal import clean_text
from reportgen.site.repairs import describe_number, suggest_binding, write_claim
from reportgen.site.reuse.templates import render_fragment
from reportgen.site.security import POLICY, hash_content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer

    from reportgen.draft.report import Report
    from reportgen.draft.unbound import PageNumbers

    Application: TypeAlias = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

log: Final = logging.getLogger(f"mkdocs.plugins.{__name__}")

_SCRIPT, _SCRIPT_END, _BODY_END = b"<script>", b"</script>", b"</body>"
_REFUSED: Final = """403 Forbidden: this server answers to localhost and to IP addresses, so that no page
of another site can read a report through a name that leads here. To serve by a name, say so:
--dev-addr {name}
"""
# In the page, since its sheets are those of the last site, if there is one.
_STYLE: Final = """\
.rg-served { position: fixed; z-index: 100; inset: auto 0 0; box-sizing: border-box; max-height: 60vh;
  overflow: auto; padding: 0.75rem 1.25rem; border-top: 3px solid #a8430c; background: #fffaf5;
  color: #1c1f23; font: 15px/1.5 system-ui, sans-serif; box-shadow: 0 -4px 24px rgb(0 0 0 / 20%); }
.rg-served:not([open]) { left: auto; padding: 0.25rem 0.75rem; }
.rg-served summary { font-weight: 600; cursor: pointer; }
.rg-served li { margin: 0.5rem 0; overflow-wrap: anywhere; }
.rg-served code { font: 0.9em ui-monospace, Consolas, monospace; color: #a8430c; }
@media (prefers-color-scheme: dark) {
  .rg-served { border-color: #f29a5e; background: #241d18; color: #e4e6e9; }
  .rg-served code { color: #f29a5e; }
}
"""


_HAS_PROBLEMS = "the report has problems:"


def locate_problems(problems: Iterable[Diagnostic], file: str, first_line: int) -> tuple[Diagnostic, ...]:
    """Return problems with the file of the page that is converted, where the extension of Markdown knew none.

    Their lines are those of its text, which begins in ``first_line`` of the file.
    """
    return tuple(
        replace(one, location=SourceLocation(file, one.location.line and one.location.line + first_line - 1))
        if not one.location.file
        else one
        for one in problems
    )


class ReportProblemsError(PluginError):
    """The report has problems; MkDocs prints them and stops before it writes anything."""

    def __init__(self, problems: tuple[Diagnostic, ...]) -> None:
        lines = (clean_text(str(problem)) for problem in problems)
        super().__init__("\n".join([_HAS_PROBLEMS, *lines]))
        self.problems = problems


def hide_printed_problems() -> None:
    """Let MkDocs print no problems of the report, since who serves it prints each of them."""
    logging.getLogger("mkdocs.commands.build").addFilter(_is_no_report_problem)


def _is_no_report_problem(record: logging.LogRecord) -> bool:
    return not record.getMessage().startswith(_HAS_PROBLEMS)


def find_problems(error: BaseException) -> tuple[Diagnostic, ...]:
    """Return the report's problems from an error of MkDocs, which replaces ours by its own abort."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ReportProblemsError):
            return cause.problems
        cause = cause.__cause__ or cause.__context__
    return ()


# What MkDocs makes of a problem in our plugin's settings.
_OWN: Final = re.compile(
    r"(?:Config value 'plugins': )?Plugin 'reportgen' option 'reportgen': "
    r"(?P<file>[^\s:]+)(?::(?P<line>\d+))?(?::(?P<column>\d+))?: (?P<message>.*)\n?"
)


def restore_problems(words: str) -> tuple[tuple[Diagnostic, ...], str]:
    """Return the problems of our settings in a message of MkDocs, and what else it says."""
    problems = []
    for match in _OWN.finditer(words):
        line, column = (int(one) if one else None for one in match.group("line", "column"))
        place = SourceLocation(match["file"], line, column)
        problems.append(Diagnostic(place, match["message"].rstrip("."), "", Stage.SETTINGS))
    return tuple(problems), _OWN.sub("", words)


@contextmanager
def listen(level: int, report: Callable[[str], object]) -> Iterator[None]:
    """Report MkDocs' log messages from a level up."""
    handler = logging.Handler(level)
    handler.emit = lambda record: report(record.getMessage())  # type: ignore[assignment, method-assign]
    logger = logging.getLogger("mkdocs")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def find_page_numbers(
    report: Report, root: Path, addresses: Mapping[str, str], address: str
) -> PageNumbers | None:
    """Find the numbers without a binding of the page at an address; ``addresses`` are known by path."""
    from reportgen.draft.unbound import find_unbound  # noqa: PLC0415 - imports the statistics

    place = posixpath.normpath(address.removesuffix("index.html"))
    path = next((one for one, url in addresses.items() if posixpath.normpath(unquote(url)) == place), None)
    return next(iter(find_unbound(report, root, path)), None) if path else None


class ServedBuild:
    """A build that is repeated while its site is served: it keeps its problems instead of raising them.

    ``find`` finds the numbers without a binding of the page at an address. That is done when the page is
    opened, since a build would do it for all pages.
    """

    def __init__(self, build: Callable[[], None], find: Callable[[str], PageNumbers | None]) -> None:
        self.problems: tuple[Diagnostic, ...] = ()
        self._build, self._find = build, find
        self._numbers: dict[str, PageNumbers | None] = {}
        self._reading = Lock()  # the data are read by one thread at a time

    def find_numbers(self, address: str) -> PageNumbers | None:
        """Find the numbers of a page as of the last build, once; none of a page that is not the author's."""
        with self._reading:
            if address not in self._numbers:
                try:
                    self._numbers[address] = self._find(address)
                except (ReportError, OSError):  # data that have changed since: the next build says so
                    self._numbers[address] = None
            return self._numbers[address]

    def __call__(self) -> None:
        """Build; MkDocs then reloads the pages, which show what is wrong."""
        with self._reading:
            self._numbers.clear()
            self._build_report()

    def _build_report(self) -> None:
        heard: list[str] = []
        try:
            with listen(logging.ERROR, heard.append):
                self._build()
        except (MkDocsException, OSError) as error:
            unknown = Diagnostic(SourceLocation("mkdocs.yml"), str(error) or "MkDocs stopped")
            settings = (one for words in heard for one in restore_problems(words)[0])
            self.problems = find_problems(error) or tuple(settings) or (unknown,)
            for problem in self.problems:
                said = f"{problem.location}: {problem.severity}: {problem.text}"
                log.error("%s", clean_text(said))  # noqa: TRY400 - the author's mistake, not the program's
        else:
            self.problems = ()


def answer_requests(server: LiveReloadServer, config: MkDocsConfig, build: ServedBuild) -> Application:
    """Return a server's application that answers only to its own names and to the host of the settings.

    Pages of our theme get its content security policy. The live-reload script, which MkDocs puts at the very
    end of each page, is added to it by its hash. If the last build failed, pages show its problems; an
    address without a page shows nothing else.
    """
    app, host = server.serve_request, config.dev_addr.host
    policy = POLICY if config.theme.name == "reportgen" else ""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        name = environ.get("HTTP_HOST", "")
        if not _is_own(name, host):
            start_response("403 Forbidden", [("Content-Type", "text/plain; charset=utf-8")])
            return [_REFUSED.format(name=name if name.isprintable() else "NAME:PORT").encode()]
        # No file has such a name.
        path = environ["PATH_INFO"] = environ.get("PATH_INFO", "").replace("\0", "%00")
        response: list[Any] = []
        result = app(environ, lambda *start: response.extend(start))
        status, headers = response[:2]
        if dict(headers).get("Content-Type", "").startswith("text/html"):
            is_page = status.startswith("200")
            address = path.encode("latin-1").decode("utf-8", "ignore").removeprefix(server.mount_path)
            shown = _show_problems(build.problems, is_page=is_page)
            shown = shown or (_show_numbers(build.find_numbers(address)) if is_page else "")
            body, allowed = _finish_page(b"".join(result), shown.encode(), is_page=is_page)
            headers = [(key, value) for key, value in headers if key != "Content-Length"]
            headers.append(("Content-Length", str(len(body))))
            if policy:
                headers.append(("Content-Security-Policy", policy + allowed))
            result = [body]
        start_response(status, headers)
        return result

    return answer


def _show_problems(problems: Sequence[Diagnostic], *, is_page: bool) -> str:
    if not problems:
        return ""
    return render_fragment("serving_problems.html", style=_STYLE, problems=problems, is_page=is_page)


def _show_numbers(found: PageNumbers | None) -> str:
    """List the numbers of a page without a binding, each with what to paste; empty if there is none."""
    if found is None or not (found.unbound or found.claims):
        return ""
    rows = [
        (place.line, said, suggest_binding(found.page, match))
        for place, match in found.unbound
        if (said := describe_number(found.page, match))
    ]
    claims = [(place.line, one.expression, write_claim(found.page, one)) for place, one in found.claims]
    count, bound = len(found.unbound), len(found.bound)
    return render_fragment(
        "serving_numbers.html", style=_STYLE, rows=rows, claims=claims, count=count, whole=count + bound
    )


def _finish_page(body: bytes, shown: bytes, *, is_page: bool) -> tuple[bytes, str]:
    """Add what is shown to a page, or return it instead of an error; with what the policy has to allow."""
    before, end, after = body.rpartition(_BODY_END)
    allowed, script = "", b""
    if before.endswith(_SCRIPT_END):
        before, start, text = before.rpartition(_SCRIPT)
        script = start + text
        allowed = f"; script-src 'self' '{hash_content(text.removesuffix(_SCRIPT_END))}'"
    if not shown:
        return body, allowed
    allowed += f"; style-src 'self' '{hash_content(_STYLE.encode())}'"
    return before + shown + script + end + after if is_page else shown, allowed


def _is_own(name: str, host: str) -> bool:
    """Return whether the host is ``host``, localhost or an address, which rules out DNS rebinding."""
    try:
        requested = (urlsplit(f"//{name}").hostname or "").rstrip(".")
        if name and requested not in {"localhost", host.lower()}:
            ipaddress.ip_address(requested)
    except ValueError:
        return False
    return True
