"""The one place that calls vl-convert: Vega-Lite to Vega, to SVG, and SVG to PNG. No network, no Node.

Charts of authors are drawn in a worker process, which is given so many seconds and no more: a specification
can ask for more than any machine has, such as a width of 1e9, a sequence of 1e9 numbers, or a regular
expression that never ends. Vega cannot be interrupted, and where its engine lacks memory it ends the whole
process without a word. The process is started for the first chart that has to be drawn and serves all
others. It imports nothing from the working folder (``-P``), and gets of the environment only what Python and
the fonts need.
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
from threading import Event, Lock, Timer
from typing import IO, TYPE_CHECKING, Any, Final, cast

from reportgen.figures.text import FONTS, clean_text

if TYPE_CHECKING:
    from types import ModuleType


SECONDS: Final = 20.0
"""From handing over a chart to its picture; most take less than one."""
MOST_CHARACTERS: Final = 20_000_000
"""Of a picture: it stands on a page, and its card is drawn from it."""

_ENVIRONMENT: Final = frozenset(
    {
        *("PATH", "HOME", "LANG", "TZ", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "USERPROFILE", "APPDATA"),
        *("LOCALAPPDATA", "PYTHONPATH", "PYTHONHOME", "FONTCONFIG_FILE", "FONTCONFIG_PATH", "XDG_DATA_HOME"),
    }
)
_LATER: Final = 10
"""Seconds after which the process ends itself, should nobody be left to end it."""
# An escaped backslash, so that what follows it is not taken for an escape; then those of control characters.
_CONTROL = re.compile(r"\\\\|\\[bf]|\\u00[01][0-9a-f]")


def compile_to_vega(specification: dict[str, Any]) -> dict[str, Any]:
    """The Vega specification of a Vega-Lite one (a few milliseconds; the first call half a second)."""
    vega: dict[str, Any] = _load_engine().vegalite_to_vega(_write_legible_json(specification))
    return vega


def render_vega_lite(specification: dict[str, Any]) -> str:
    """The SVG of a complete Vega-Lite specification; its data must be inline, nothing is fetched.

    Raises a ``ValueError`` where Vega-Lite or Vega refuse the specification; the text is theirs.
    """
    svg: str = _load_engine().vegalite_to_svg(_write_legible_json(specification), allowed_base_urls=[])
    return svg


def render_png(svg: str, *, scale: float = 1.0) -> bytes:
    """The PNG of an SVG of fixed size with resolved colours; ``scale`` is pixels per unit."""
    png: bytes = _load_engine().svg_to_png(svg, scale=scale)
    return png


def _write_legible_json(specification: dict[str, Any]) -> str:
    """JSON without characters that XML forbids: vl-convert 1.9 aborts the whole process at one of them."""
    text = clean_text(json.dumps(specification, ensure_ascii=False))
    return _CONTROL.sub(lambda escape: escape[0] if escape[0] == "\\\\" else "\\ufffd", text)


@cache
def _load_engine() -> ModuleType:
    import vl_convert  # noqa: PLC0415 - not needed where charts are drawn in the process

    vl_convert.register_font_directory(str(FONTS))
    return vl_convert


def draw_chart(specification: dict[str, Any]) -> str:
    """The SVG of a complete Vega-Lite specification, as ``render_vega_lite`` draws it, from the process.

    Raises:
        ValueError: Vega-Lite or Vega refuse the specification, with their words, or the picture is too long.
        TimeoutError: it took more than ``SECONDS``.
        ChildProcessError: the process ended, as it does for lack of memory.
    """
    svg: str = _run_in_worker(render_vega_lite.__name__, specification)
    if len(svg) > MOST_CHARACTERS:
        raise ValueError(f"the picture has {len(svg):,} characters, and {MOST_CHARACTERS:,} are the most")
    return svg


def compile_chart(specification: dict[str, Any]) -> dict[str, Any]:
    """The Vega specification of a Vega-Lite one that has been drawn, as ``compile_to_vega`` makes it.

    Raises:
        ValueError, TimeoutError, ChildProcessError: as ``draw_chart``.
    """
    vega: dict[str, Any] = _run_in_worker(compile_to_vega.__name__, specification)
    return vega


def _run_in_worker(work: str, specification: dict[str, Any]) -> Any:  # noqa: ANN401 - what the work returns
    refused, result = json.loads(_worker.run(json.dumps([work, specification]).encode()))
    if refused:
        raise ValueError(refused)
    return result


class _Worker:
    """The process: started for the first request, and again after it had to be ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._one_at_a_time = Lock()

    def run(self, request: bytes) -> bytes:
        """One line for one line; see ``draw_chart`` for what is raised."""
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
            # An answer without its end comes from a process that ended before it.
            if not answer.endswith(b"\n"):
                self.stop()
                if too_late.is_set():
                    raise TimeoutError(SECONDS)
                raise ChildProcessError(process.returncode)
            return answer

    def stop(self) -> None:
        """End the process, and wait until it has ended."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.communicate()


_worker = _Worker()
atexit.register(_worker.stop)


def _start_process() -> subprocess.Popen[bytes]:
    """The process, ready: importing is not part of the time that a chart has.

    Raises a ``ChildProcessError`` where it cannot be started.
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
    """In the process: answer requests line by line until there are no more."""
    works = {work.__name__: work for work in (render_vega_lite, compile_to_vega)}
    _load_engine()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that a library prints is taken for an answer
    answers.write(b"ready\n")
    answers.flush()
    for line in sys.stdin.buffer:
        if hasattr(signal, "alarm"):
            # Ends the process by itself: Python's own handlers wait for Vega as well.
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
