"""What ``mutate.py`` loads into pytest: which tests run a place, and a choice of tests in a given order."""

from __future__ import annotations

import json
import os
import resource
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

# The module that all processes of the copy import as they start, see mutate.py.
PROBE = """
import builtins, os
_seen = set()
def mutation_probe(*places):
    test = os.environ.get("MUTATION_FIXTURE") or os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    for place in places:
        if (place, test) not in _seen:
            _seen.add((place, test))
            hits = os.open({hits!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(hits, f"{{place}}\\t{{test}}\\n".encode())
            os.close(hits)
builtins.mutation_probe = mutation_probe
"""
_MOST_MEMORY = 6 * 2**30  # a mutant may append for ever


def pytest_configure() -> None:
    """Limit the processor time, of each process alone, as a loop may never end."""
    if limit := os.environ.get("MUTATION_SECONDS"):
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        resource.setrlimit(resource.RLIMIT_DATA, (_MOST_MEMORY, _MOST_MEMORY))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the chosen tests, in their order."""
    if chosen := os.environ.get("MUTATION_TESTS"):
        found = {item.nodeid: item for item in items}
        names = json.loads(Path(chosen).read_text(encoding="utf-8"))
        kept = [found[name] for name in names if name in found]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


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


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Write what failed; ``-x`` stops there."""
    if report.failed and (file := os.environ.get("MUTATION_FAILED")):
        Path(file).write_text(report.nodeid, encoding="utf-8")
