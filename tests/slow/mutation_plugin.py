"""What ``mutate.py`` loads into pytest: which tests run a place, and tests of one change after the other.

Collecting the tests takes longer than most changes need until a test notices them. So one pytest collects
them once, and each change is tried by a fork of it.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# The module that all processes of the copy import as they start. A changed place asks it at each time whether
# to be as before. Without a file that names the change, it writes which test comes by.
PROBE = """
import builtins, os
_folder, _seen = {folder!r}, set()
active = None
if os.path.exists(_folder + "/active"):
    with open(_folder + "/active") as _file:
        active = int(_file.read())
def mutation_probe(*places):
    if active is not None:
        return places[0] != active
    test = os.environ.get("MUTATION_FIXTURE") or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    for place in places:
        if (place, test) not in _seen:
            _seen.add((place, test))
            hits = os.open(_folder + "/hits.tsv", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(hits, f"{{place}}\\t{{test}}\\n".encode())
            os.close(hits)
    return True
builtins.mutation_probe = mutation_probe
"""
_MOST_MEMORY = 6 * 2**30  # a change may append for ever
_NOTHING = -1  # no change


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write which tests use a fixture, as what it runs is run for all of them."""
    if file := os.environ.get("MUTATION_FIXTURES"):
        users: dict[str, list[str]] = defaultdict(list)
        for item in session.items:
            for name in getattr(item, "fixturenames", ()):
                users[name].append(item.nodeid)
        Path(file).write_text(json.dumps(users), encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
    """Name the fixture to the probes, where several tests share it."""
    outer = os.environ.get("MUTATION_FIXTURE", "")
    if fixturedef.scope != "function":
        os.environ["MUTATION_FIXTURE"] = f"fixture {fixturedef.argname}"
    try:
        return (yield)
    finally:
        os.environ["MUTATION_FIXTURE"] = outer


def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Try all changes of a file of jobs, instead of running the tests once."""
    folder = os.environ.get("MUTATION_JOBS")
    if folder is None:
        return None
    if session.testsfailed:  # a change breaks the import of tests
        raise session.Interrupted(f"{session.testsfailed} errors while collecting")
    tries = _Tries(session, Path(folder))
    for job in json.loads((Path(folder) / "jobs.json").read_text(encoding="utf-8")):
        found = tries.try_change(job)
        with Path(os.environ["MUTATION_RESULTS"]).open("a", encoding="utf-8") as results:
            results.write(json.dumps(job | found) + "\n")
    return True


class _Tries:
    def __init__(self, session: pytest.Session, folder: Path) -> None:
        self.session = session
        self.folder = folder
        self.items = {item.nodeid: item for item in session.items}

    def try_change(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run the tests until one fails that passes without the change."""
        tests = [test for test in job.pop("tests") if test in self.items]
        while True:
            status, failed = self._fork(job["number"], tests, job["seconds"])
            if status != "noticed" or job["imported"] or failed not in tests:
                return {"status": status, "test": failed}
            if self._fork(_NOTHING, [failed], job["seconds"])[0] == "survived":
                return {"status": status, "test": failed}
            tests.remove(failed)

    def _fork(self, number: int, tests: list[str], seconds: float) -> tuple[str, str]:
        failed = self.folder / "failed.txt"
        failed.write_text("", encoding="utf-8")
        (self.folder / "active").write_text(str(number), encoding="utf-8")
        cache = tempfile.mkdtemp(dir=self.folder)  # no change may leave anything to the next
        sys.stdout.flush()
        child = os.fork()
        if not child:
            try:
                self._limit(number, seconds, cache)
                os._exit(self._run(tests, failed))
            finally:
                os._exit(2)
        code = _wait(child, 10 * seconds)
        shutil.rmtree(cache, ignore_errors=True)
        status = "timeout" if code in {None, -signal.SIGXCPU} else "noticed" if code else "survived"
        return status, failed.read_text(encoding="utf-8")

    def _limit(self, number: int, seconds: float, cache: str) -> None:
        import mutation_probe  # type: ignore[import-not-found]  # noqa: PLC0415 - made by mutate.py

        os.setpgid(0, 0)
        mutation_probe.active = number
        os.environ["REPORTGEN_CACHE_DIR"] = cache
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))

    def _run(self, tests: list[str], failed: Path) -> int:
        items = [self.items[test] for test in tests]
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.session.testsfailed:
                failed.write_text(item.nodeid, encoding="utf-8")
                return 1
        return 0


def _wait(child: int, seconds: float) -> int | None:
    """Exit code of a child, or ``None`` if it does not end in this time; its own children end with it."""
    end = time.monotonic() + seconds
    ended, status = os.waitpid(child, os.WNOHANG)
    while not ended and time.monotonic() < end:
        time.sleep(0.02)
        ended, status = os.waitpid(child, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    if not ended:
        os.waitpid(child, 0)
        return None
    return os.waitstatus_to_exitcode(status)
