"""All calls to vl-convert: Vega-Lite to Vega and SVG, SVG to PNG and PDF. No network, no Node.

Custom charts are drawn in a worker process with a time limit, since a specification can exceed any machine: a
width of 1e9, a sequence of 1e9 numbers, or a regular expression that never ends. Vega cannot be interrupted,
and if its engine runs out of memory, it ends the whole process silently. The worker starts with the first
chart to draw and serves all others. It imports nothing from the working directory (``-P``), and its
environment holds only what Python and the fonts need.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import signal
import subprocess
import sys
from functools import cache
from itertools import pairwise
from threading import Event, Lock, Timer
from typing import IO, TYPE_CHECKING, Any, Final, cast

from reportgen.figures.text import FONTS, clean_text

if TYPE_CHECKING:
    from types import ModuleType


SECONDS: Final = 20.0
"""Time limit of a chart; most take less than one."""
MOST_CHARACTERS: Final = 20_000_000
"""Limit of an SVG, which is embedded in a page and drawn as its card."""

_ENVIRONMENT: Final = frozenset(
    {
        *("PATH", "HOME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "APPDATA"),
        *("LOCALAPPDATA", "PYTHONPATH", "PYTHONHOME", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "XDG_DATA_HOME"),
    }
)
_LATER: Final = 10
"""Seconds after the time limit at which the worker process ends itself if its parent has gone."""
# Matches escaped backslashes, so that text after them is not read as an escape, and control characters.
_CONTROL = re.compile(r"\\\\|\\[bf]|\\u00[01][0-9a-f]")


def compile_to_vega(specification: dict[str, Any]) -> dict[str, Any]:
    """Compile Vega-Lite to Vega (a few milliseconds; the first call half a second)."""
    vega: dict[str, Any] = _load_engine().vegalite_to_vega(_write_legible_json(specification))
    return vega


def render_vega_lite(specification: dict[str, Any]) -> str:
    """Render a complete Vega-Lite specification as SVG; data must be inline, nothing is fetched.

    Raises a ``ValueError`` with Vega's message if Vega-Lite or Vega rejects the specification.
    """
    svg: str = _load_engine().vegalite_to_svg(_write_legible_json(specification), allowed_base_urls=[])
    return svg


def render_png(svg: str, *, scale: float = 1.0) -> bytes:
    """Render an SVG of fixed size with resolved colours as PNG; ``scale`` is pixels per unit."""
    png: bytes = _load_engine().svg_to_png(svg, scale=scale)
    return png


def render_pdf(svg: str) -> bytes:
    """Render an SVG of fixed size with resolved colours as a PDF of one page, of equal bytes each time.

    The engine writes fonts, and the entries of their dictionaries, in another order in each call, so objects
    are put into the order in which they are first referred to.
    """
    pdf = _load_engine().svg_to_pdf(svg)
    table = int(pdf.rsplit(b"startxref", 1)[1].split()[0])
    places = [int(line[:10]) for line in pdf[table:].splitlines() if line.endswith(b" n")]
    objects: dict[bytes, tuple[bytes, bytes]] = {}  # by number: dictionary, and stream with the end
    for start, end in pairwise([*sorted(places), table]):
        number, body = pdf[start:end].split(b" 0 obj\n", 1)
        words, stream, data = body.partition(b"stream\n")
        ordered = _ENTRIES.sub(lambda lines: b"".join(sorted(lines[0].splitlines(keepends=True))), words)
        objects[number] = ordered, stream + data
    trailer = pdf[table:].split(b"trailer\n", 1)[1].split(b"startxref", 1)[0]
    order: dict[bytes, int] = {}
    waiting = [trailer]
    while waiting:
        for number in _REFERENCE.findall(waiting.pop(0)):
            if number not in order:
                order[number] = len(order) + 1
                waiting.append(objects[number][0])

    def renumber(words: bytes) -> bytes:
        return _REFERENCE.sub(lambda found: b"%d 0 R" % order[found[1]], words)

    written, starts = pdf[: min(places)], []
    for number, place in order.items():
        starts.append(len(written))
        words, rest = objects[number]
        written += b"%d 0 obj\n%b%b" % (place, renumber(words), rest)
    lines = b"".join(b"%010d 00000 n\r\n" % start for start in starts)
    head = b"xref\n0 %d\n0000000000 65535 f\r\n%btrailer\n" % (len(starts) + 1, lines)
    return b"%b%b%bstartxref\n%d\n%%%%EOF" % (written, head, renumber(trailer), len(written))


_REFERENCE: Final = re.compile(rb"\b(\d+) 0 R\b")
_ENTRIES: Final = re.compile(rb"(?:^ */\S+ \d+ 0 R\n)+", re.MULTILINE)


def _write_legible_json(specification: dict[str, Any]) -> str:
    """Write JSON without characters that XML forbids, on which vl-convert 1.9 aborts the whole process."""
    text = clean_text(json.dumps(specification, ensure_ascii=False))
    return _CONTROL.sub(lambda escape: escape[0] if escape[0] == "\\\\" else "\\ufffd", text)


@cache
def _load_engine() -> ModuleType:
    import vl_convert  # noqa: PLC0415 - not needed where charts are drawn in the process

    vl_convert.register_font_directory(str(FONTS))
    return vl_convert


def draw_chart(specification: dict[str, Any]) -> str:
    """Render a complete Vega-Lite specification as SVG in the worker process.

    Raises:
        ValueError: If Vega-Lite or Vega rejects the specification (with its message), or the SVG is too long.
        TimeoutError: If it takes more than ``SECONDS``.
        ChildProcessError: If the process ends, as when it runs out of memory.
    """
    svg: str = _run_in_worker(render_vega_lite.__name__, specification)
    if len(svg) > MOST_CHARACTERS:
        raise ValueError(f"the picture has {len(svg):,} characters, and {MOST_CHARACTERS:,} are the most")
    return svg


def compile_chart(specification: dict[str, Any]) -> dict[str, Any]:
    """Compile a Vega-Lite specification, already drawn, to Vega in the worker process.

    Raises:
        ValueError, TimeoutError, ChildProcessError: As ``draw_chart``.
    """
    vega: dict[str, Any] = _run_in_worker(compile_to_vega.__name__, specification)
    return vega


def _run_in_worker(work: str, specification: dict[str, Any]) -> Any:  # noqa: ANN401 - what the work returns
    refused, result = json.loads(_worker.run(json.dumps([work, specification]).encode()))
    if refused:
        raise ValueError(refused)
    return result


class _Worker:
    """The worker process, started for the first request and restarted after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = Lock()

    def run(self, request: bytes) -> bytes:
        """Send a line and return the answer, also a line; raises as ``draw_chart``."""
        with self._one_at_a_time:
            process = self._process = self._process or _start_process()
            too_late = Event()

            def kill_late() -> None:
                too_late.set()
                process.kill()

            timer = Timer(SECONDS, kill_late)
            timer.start()
            requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
            try:
                requests.write(request + b"\n")
                requests.flush()
                answer = answers.readline()
            except BrokenPipeError:
                answer = b""
            timer.cancel()
            # An answer without a newline comes from a process that ended early.
            if not answer.endswith(b"\n"):
                self.stop()
                if too_late.is_set():
                    raise TimeoutError(SECONDS)
                raise ChildProcessError(process.returncode)
            return answer

    def stop(self) -> None:
        """Kill the process and wait until it has ended."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()


_worker = _Worker()
atexit.register(_worker.stop)


def _start_process() -> subprocess.Popen[bytes]:
    """Start the process and wait until it is ready, so that imports do not count as drawing time.

    Raises a ``ChildProcessError`` if it cannot be started.
    """
    known = {
        name: text for name, text in os.environ.items() if name in _ENVIRONMENT or name.startswith("LC_")
    }
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=known | {"PYTHONSAFEPATH": "1"},
    )
    if not cast("IO[bytes]", process.stdout).readline():
        process.communicate()
        raise ChildProcessError(process.returncode)
    return process


def _serve() -> None:
    """Answer requests line by line until there are no more, in the worker process."""
    works = {work.__name__: work for work in (render_vega_lite, compile_to_vega)}
    _load_engine()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that output of a library is not read as an answer
    answers.write(b"ready\n")
    answers.flush()
    for line in sys.stdin.buffer:
        if hasattr(signal, "alarm"):
            # Ends the process directly: Python's own handlers would also wait for Vega.
            signal.alarm(int(SECONDS) + _LATER)
        try:
            work, specification = json.loads(line)
            answer: tuple[str, object] = "", works[work](specification)
        except ValueError as error:
            answer = str(error) or "refused", None
        answers.write(json.dumps(answer).encode() + b"\n")
        answers.flush()
        if hasattr(signal, "alarm"):
            signal.alarm(0)


if __name__ == "__main__":
    _serve()
