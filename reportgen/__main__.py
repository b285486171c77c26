"""``python -m reportgen`` and the ``reportgen`` command."""

from __future__ import annotations

import atexit
import gc
import io
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TextIO

_NEW_OBJECTS = 200_000  # Python's own default is 700
# Exit codes; the last two are what a shell says of a command that SIGINT or SIGPIPE ended.
_FAILED, _INTERRUPTED, _NOBODY_READS = 1, 130, 141


def main() -> None:
    """Run the command line; after success, end the process at once.

    Python would first free every object of the report, one by one, which takes 0.2 s. Nearly all of them
    live until then, so garbage is looked for less often than by default, which costs a twentieth of a build.
    """
    try:
        # Standard files have to work where the caller closed them or nobody reads them any more: the engine
        # that compiles views aborts without input, and what is opened next would take a closed one's number
        # and be written to.
        for number in range(3):
            try:
                os.fstat(number)
            except OSError:
                # The lowest free number is this one. The worker process gets it, too.
                os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if os.name == "posix":
            sys.stdout, sys.stderr = _output(1, sys.stdout), _output(2, sys.stderr)
        from reportgen.cli.main import run  # noqa: PLC0415 - a worker process imports this module, not the command line

        gc.set_threshold(_NEW_OBJECTS)
        code = run()
        if code == 0:
            atexit._run_exitfuncs()  # noqa: SLF001 - temporary folders go, as they would at an ordinary end
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    except KeyboardInterrupt:
        sys.stderr.write("\nInterrupted.\n")
        code = _INTERRUPTED
    sys.exit(code)


def _output(number: int, before: TextIO | None) -> TextIO:
    return io.TextIOWrapper(
        io.BufferedWriter(_Output(number, "w", closefd=False)),
        encoding=before.encoding if before else "utf-8",
        errors=before.errors if before else "replace",
        line_buffering=True,
    )


class _Output(io.FileIO):
    """Standard output or error; a command whose words get nowhere ends without a traceback."""

    def write(self, text: Any, /) -> int:  # noqa: ANN401 - any buffer
        try:
            return super().write(text)
        except OSError as error:
            # What is still waiting to be written goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            if isinstance(error, BrokenPipeError):
                sys.exit(_NOBODY_READS)
            name = "standard output" if self.fileno() == 1 else "standard error"
            sys.stderr.write(f"error: {name} cannot be written: {error.strerror}\n")
            sys.exit(_FAILED)


if __name__ == "__main__":
    main()
