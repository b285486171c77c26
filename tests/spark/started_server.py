"""A server of Spark Connect as a child process: started, waited for, and stopped whatever happens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

from find_java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator

# Twenty times as long as it takes on two cores.
_PATIENCE = 240
_SCRIPT = Path(__file__).with_name("serve_connect.py")


@dataclass(frozen=True)
class Server:
    """A running server: its address, and the process that started Java for it."""

    address: str
    process: subprocess.Popen[str]

    def kill(self) -> None:
        """Kill the server without a word, as a cluster that is lost."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


@contextmanager
def start_server(memory: str = "1g", code: str | None = None) -> Iterator[Server]:
    """Start a server in a session of its own, and wait until it answers.

    ``code`` starts it in place of ``serve_connect.py``, at the port that Spark takes if none is named.
    """
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, str(_SCRIPT), str(port), memory]
    if code is not None:
        command = [sys.executable, "-c", code.replace("15002", str(port))]
    environment = {**os.environ, "JAVA_HOME": find_java() or "", "SPARK_LOCAL_IP": "127.0.0.1"}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        server = Server(f"sc://127.0.0.1:{port}", process)
        try:
            _wait(process, log)
            yield server
        finally:
            if process.poll() is None and process.stdin:
                process.stdin.close()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(30)
            server.kill()


def _wait(process: subprocess.Popen[str], log: IO[str]) -> None:
    """Wait until it prints that it answers; raise with what it printed if it ends, or takes too long."""
    end, text = time.monotonic() + _PATIENCE, ""
    while not any(word in text for word in ("READY", "answers at")):
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"the server of Spark Connect did not start: {text[-2000:]}")
        time.sleep(0.2)
        text = os.pread(log.fileno(), 1_000_000, 0).decode(errors="replace")


def find_child(process: int) -> int:
    """Return the first child of a process, which is Java where that started Spark."""
    children = Path(f"/proc/{process}/task/{process}/children")
    return int(children.read_text(encoding="ascii").split()[0])
