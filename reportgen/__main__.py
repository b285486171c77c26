"""``python -m reportgen`` and the ``reportgen`` command."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TextIO

_NEW_OBJECTS = 400_000  # Python's default is 700
# Exit codes; the last two are what a shell reports for a command killed by SIGINT or SIGPIPE.
_FAILED, _INTERRUPTED, _NOBODY_READS = 1, 130, 141


def main() -> None:
    """Run the command line, and end the process at once unless it is interrupted.

    A normal exit frees every object of the report one by one, which takes 0.2 s. Nearly all objects live
    until the end, so garbage is collected less often than by default, which takes 5% of a build's time.
    """
    try:
        # Standard streams have to work even if the caller closed them or no longer reads them: the engine
        # that compiles views aborts without stdin, and the next file opened would get a closed stream's
        # descriptor and receive its output.
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                # open() returns the lowest free number, which is this one. The worker process inherits it.
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if os.name == "posix":
            sys.stdout, sys.stderr = _output(1, sys.stdout), _output(2, sys.stderr)
        # Looking for plugins of pydantic reads what every installed package declares.
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
        gc.set_threshold(_NEW_OBJECTS)
        from reportgen.cli.main import run  # noqa: PLC0415 - a worker process imports this module, not the command line

        code = run()
        # As at an ordinary end, threads end first: the one that stops the worker process needs a queue that
        # the functions below close, and both would wait forever.
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001
        atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders go, as they would at an ordinary end
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        sys.exit(_INTERRUPTED)


def _output(number: int, before: TextIO | None) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(number, "w", closefd=False)),
        encoding=before.encoding if before else "utf-8",
        errors=before.errors if before else "replace",
        line_buffering=True,
    )


class _Output(io.FileIO):
    """Standard output or error that ends the command without a traceback if it cannot be written."""

    def write(self, text: Any, /) -> int:  # noqa: ANN401 - any buffer
        try:
            return super().write(text)
        except OSError as error:
            # Discard what is still buffered.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                sys.exit(_NOBODY_READS)
            name = "standard output" if self.fileno() == 1 else "standard error"
            sys.stderr.write(f"error: {name} cannot be written: {error.strerror}\n")
            sys.exit(_FAILED)


if __name__ == "__main__":
    main()
