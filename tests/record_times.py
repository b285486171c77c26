"""Processor time of each test by kind, and how many processes, builds and browsers a session starts.

``pytest --record-times times.tsv`` writes a line for each test and prints a table by kind. The time is that
of the test's process, of its children that have ended, and of those that still run, as a browser does: it is
nearly the same on a busy machine. What a shared fixture takes counts for the test that needs it first.

A session of all fast tests that starts more than ``BUDGET`` fails.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections import Counter, defaultdict
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mkdocs.plugins import PluginCollection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

COLUMNS = ("seconds", "kind", "pythons", "processes", "builds", "browsers", "outcome", "test")
_COUNTED = COLUMNS[2:6]
# What two processes of tests may start in all: the command line as a process, other programs such as git,
# reports that MkDocs builds, and browsers.
BUDGET = {"pythons": 30, "processes": 2300, "builds": 550, "browsers": 4}


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--record-times FILE``."""
    parser.addoption("--record-times", metavar="FILE", help="write the processor time of each test")


def pytest_configure(config: pytest.Config) -> None:
    """Count in each process; add up and write in the one that gets all reports."""
    config.pluginmanager.register(_Measured())
    if "PYTEST_XDIST_WORKER" not in os.environ:
        config.pluginmanager.register(_Budgeted())
        if file := config.getoption("--record-times"):
            config.pluginmanager.register(_Written(Path(file)))


class _Measured:
    """Puts what a test took into its last report."""

    def __init__(self) -> None:
        self.before = (0.0, 0.0)
        self.counts: Counter[str] = Counter()
        _count_calls(subprocess.Popen, "__init__", self.counts, _name_process)
        _count_calls(PluginCollection, "on_pre_build", self.counts, lambda *_: "builds")

    def pytest_collection_finish(self) -> None:
        # Only if the tests want a browser: its driver takes a while to import.
        from playwright.sync_api import BrowserType  # noqa: PLC0415

        _count_calls(BrowserType, "launch", self.counts, lambda *_: "browsers")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self.counts.clear()
        self.before = measure_processor_time()
        return (yield)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "teardown":
            own, others = measure_processor_time()
            # A browser that has ended takes its time with it.
            seconds = own - self.before[0] + max(0.0, others - self.before[1])
            kind = _name_kind(item, self.counts, seconds)
            counts = [self.counts[name] for name in _COUNTED]
            item.user_properties.append(("times", [round(seconds, 4), kind, *counts]))


class _Budgeted:
    """Fails a session of all fast tests that starts more than it may."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if times := dict(report.user_properties).get("times") if report.when == "teardown" else None:
            self.counts.update(dict(zip(_COUNTED, times[2:], strict=True)))  # type: ignore[index]

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        options, whole = session.config.option, pytest.Config.ArgsSource.TESTPATHS
        is_whole = session.config.args_source is whole and not (options.keyword or options.markexpr)
        if is_whole and not options.slow and self.list_excess():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in [] if terminalreporter.config.option.slow else self.list_excess():
            terminalreporter.write_line(line, red=True)

    def list_excess(self) -> list[str]:
        """What was started more often than it may be."""
        return [
            f"{self.counts[name]} {name} were started, and {most} may be (tests/record_times.py)"
            for name, most in BUDGET.items()
            if self.counts[name] > most
        ]


class _Written:
    """Writes the lines, and the table at the end."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.lines: list[str] = []
        self.outcomes: dict[str, str] = {}
        file.write_text("\t".join(COLUMNS) + "\n", encoding="utf-8")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome != "passed":
            self.outcomes.setdefault(report.nodeid, report.outcome)
        if report.when == "teardown" and (times := dict(report.user_properties).get("times")):
            outcome = self.outcomes.pop(report.nodeid, "passed")
            self.lines.append("\t".join(map(str, [*times, outcome, report.nodeid])))  # type: ignore[misc]
            with self.file.open("a", encoding="utf-8") as written:
                written.write(self.lines[-1] + "\n")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("processor time")
        terminalreporter.write_line(format_table(self.lines))


def format_table(lines: Iterable[str]) -> str:
    """Table by kind of the lines of a file of ``--record-times``, without its header."""
    seconds: dict[str, list[float]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for line in lines:
        values = dict(zip(COLUMNS, line.rstrip("\n").split("\t"), strict=True))
        seconds[values["kind"]].append(float(values["seconds"]))
        counts.update({name: int(values[name]) for name in _COUNTED})
    total = sum(map(sum, seconds.values())) or 1.0
    rows = ["| kind | tests | seconds | share | each |", "| --- | --- | --- | --- | --- |"]
    for kind, times in sorted(seconds.items(), key=lambda pair: -sum(pair[1])):
        each = f"{sum(times) / len(times):.2f} s"
        rows.append(f"| {kind} | {len(times)} | {sum(times):.0f} | {sum(times) / total:.1%} | {each} |")
    tests = sum(map(len, seconds.values()))
    rows.append(f"| all | {tests} | {total:.0f} | 100.0% | {total / max(tests, 1):.2f} s |")
    return "\n".join([*rows, "", ", ".join(f"{name}: {counts[name]}" for name in _COUNTED)])


def measure_processor_time() -> tuple[float, float]:
    """Seconds of this process, and of its children: those that have ended and, on Linux, those that run."""
    ended = sum(os.times()[2:4])
    return time.process_time(), ended + sum(map(_read_seconds, _list_children(os.getpid())))


def _list_children(process: int) -> Iterator[int]:
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = listed.read_text().split()
        except OSError:  # a thread has ended
            continue
        for child in map(int, children):
            yield child
            yield from _list_children(child)


def _read_seconds(process: int) -> float:
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # it has ended
        return 0.0
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _count_calls(owner: type, name: str, counts: Counter[str], name_call: Callable[..., str]) -> None:
    original = getattr(owner, name)

    @wraps(original)
    def count(*values: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
        counts[name_call(*values)] += 1
        return original(*values, **named)

    setattr(owner, name, count)


def _name_process(_process: object, words: Sequence[str] | str = "", *_: object) -> str:
    """Whether a process is of the program, or another."""
    first = words if isinstance(words, str) else os.fspath(words[0])
    return "pythons" if Path(first).name.startswith(("python", "reportgen", "mkdocs")) else "processes"


def _name_kind(item: pytest.Item, counts: Counter[str], seconds: float) -> str:
    """Kind by what a test is marked with, what it starts, then how long it takes."""
    kinds = {
        "browser": item.get_closest_marker("browser") is not None,
        "simulation": "simulated" in item.path.stem,
        "slow": "slow" in item.path.parts or item.get_closest_marker("slow") is not None,
        "subprocess": counts["pythons"] + counts["processes"] > 0,
        "whole build": counts["builds"] > 0,
        "hypothesis": hasattr(getattr(item, "obj", None), "hypothesis"),
        "fuzz": "fuzz" in item.path.stem or "mutated" in item.path.stem,
        "golden": item.path.stem.endswith("cases"),
        "in process, 1 s and more": seconds >= 1,
        "in process, 0.25 to 1 s": seconds >= 0.25,
    }
    return next((kind for kind, holds in kinds.items() if holds), "in process, under 0.25 s")
