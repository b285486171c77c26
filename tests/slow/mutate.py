"""Measure by mutation how much of the program the fast tests hold, room by room.

A seeded sample of expressions is changed, one at a time, in a copy of the checkout: operators, comparisons,
constants, conditions, and/or/not, returned values, and calls that quote or escape. First the fast tests run
once with a probe at each of these expressions, which writes the test that is running, also in the processes
that a test starts; so no coverage of all other lines is needed. Then each changed copy is tried by the tests
that run the expression, the fastest first, in one pytest that stops at the first failure and takes at most
``--seconds`` of processor time by the times of the first run. Then follow the other tests of the same files,
which may use what a test before them has kept. A value that is made at import is tried by the tests that run
a function of its file, or else any place of its room. A test that notices a change is tried on the unchanged
copy at the end, and what fails there has noticed nothing. Some changes make no difference: no room has 100 %.

    python tests/slow/mutate.py --room claims --json claims.json
    python tests/slow/mutate.py --room claims --compare claims.json

``--json`` continues a file of the same sample. ``--record FOLDER`` keeps the first run for the next time: if
tests have changed since, leave it out. Words after ``--`` go to pytest in that run, such as paths of tests.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from mutants import Place, add_probes, change, sample_places
from mutation_plugin import PROBE

HERE = Path(__file__).parent
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "record_times", "-p", "mutation_plugin")
# "make test-slow" runs these.
_FAST = ("-m", "not browser and not slow", "--ignore", "tests/slow")
_LONGEST_TEST = 10.0  # seconds; a slower one is none of the fast tests
_FILE_SECONDS = 0.15  # to collect one more file of tests
_NOTICED = ("noticed", "timeout")


class Copy:
    """A copy of the checkout with an environment of its own, in which the copied package comes first."""

    def __init__(self, checkout: Path, folder: Path) -> None:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=checkout, capture_output=True, check=True).stdout.decode()
        for name in filter(None, names.split("\0")):
            if (checkout / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(checkout / name, folder / name, follow_symlinks=False)
        venv.create(folder / ".venv", symlinks=True)
        self.folder = folder
        self.python = folder / ".venv" / "bin" / "python"
        self.packages = next(folder.glob(".venv/lib/python*/site-packages"))
        installed = Path(next(path for path in sys.path if path.endswith("site-packages")))
        for plugin in (HERE / "mutation_plugin.py", HERE.parent / "record_times.py"):
            shutil.copy(plugin, self.packages)
        # The finder of an editable installation, which knows the theme, stands behind the copy.
        finders = [path.read_text() for path in installed.glob("__editable__*.pth")]
        self.paths = "\n".join([str(folder), str(installed), *finders, ""])
        (self.packages / "_.pth").write_text(self.paths, encoding="utf-8")
        self.written = time.time()

    def add_probe(self, hits: Path) -> None:
        """Let each process write where it comes by."""
        (self.packages / "mutation_probe.py").write_text(PROBE.format(hits=str(hits)), encoding="utf-8")
        (self.packages / "_.pth").write_text(self.paths + "import mutation_probe\n", encoding="utf-8")

    def write(self, file: str, source: bytes) -> None:
        """Write a file with a new time, or Python would take what it compiled before."""
        (self.folder / file).write_bytes(source)
        self.written += 2
        os.utime(self.folder / file, (self.written, self.written))

    def run(self, *words: str, seconds: float | None = None, **variables: str) -> int | None:
        """Run pytest; ``None`` if it took longer than ``seconds``, tenfold on the clock."""
        environment = os.environ | {"PYTHONPATH": ""} | variables
        if seconds is not None:
            environment["MUTATION_SECONDS"] = str(int(seconds))
        with (self.folder / "output.txt").open("wb") as output:
            process = subprocess.Popen(
                [self.python, *_PYTEST, *words], cwd=self.folder, env=environment,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
        try:
            code: int | None = process.wait(None if seconds is None else 10 * seconds)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _end_group(process.pid)
            process.wait()
        return None if code == -signal.SIGXCPU else code


def _end_group(process: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def record(copy: Copy, places: list[Place], folder: Path, words: list[str]) -> None:
    """Run the fast tests once with probes: their times, and who comes by each place."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = [place.key for place in places]
    copy.add_probe(folder / "hits.tsv")
    by_file: dict[str, dict[int, Place]] = defaultdict(dict)
    for number, place in enumerate(places):
        by_file[place.file][number] = place
    for file, here in by_file.items():
        copy.write(file, add_probes((copy.folder / file).read_bytes(), here))
    times = ("--record-times", str(folder / "times.tsv"))
    code = copy.run(*_FAST, *times, *words, MUTATION_FIXTURES=str(folder / "fixtures.json"))
    if code not in {0, 1}:
        sys.exit(f"pytest ended with {code}:\n{(copy.folder / 'output.txt').read_text()[-2000:]}")
    (folder / "places.json").write_text(json.dumps(keys), encoding="utf-8")


class Recorded:
    """The first run: how long each test took, and which tests run which place."""

    def __init__(self, folder: Path) -> None:
        keys = json.loads((folder / "places.json").read_text(encoding="utf-8"))
        users = json.loads((folder / "fixtures.json").read_text(encoding="utf-8"))
        rows = _read_rows(folder / "times.tsv")
        self.seconds = {row[-1]: float(row[0]) for row in rows if row[-2] == "passed"}
        self.slow = {name for name, seconds in self.seconds.items() if seconds > _LONGEST_TEST}
        self.files: dict[str, set[str]] = defaultdict(set)
        for name in self.seconds.keys() - self.slow:
            self.files[_get_file(name)].add(name)
        self.tests: dict[str, set[str]] = {key: set() for key in keys}
        for line in (folder / "hits.tsv").read_text(encoding="utf-8").splitlines():
            number, _, test = line.partition("\t")
            tests = users.get(test.removeprefix("fixture "), ()) if test.startswith("fixture ") else [test]
            self.tests[keys[int(number)]].update(self.seconds.keys() & set(tests))

    def choose(self, place: Place, room: list[Place], seconds: float) -> tuple[list[str], int]:
        """The tests to try, in order, and how many run the place."""
        reached = self.tests[place.key] - self.slow
        if place.imported and not reached:
            reached = set().union(*(self.tests[other.key] for other in room)) - self.slow
        files = {_get_file(name) for name in reached}
        others = set().union(*(self.files[file] for file in files)) - reached
        chosen: list[str] = []
        opened: set[str] = set()
        left = seconds
        for name in (*self._sort(reached), *self._sort(others)):
            file = _get_file(name)
            cost = self.seconds[name] + (0.0 if file in opened else _FILE_SECONDS)
            if cost <= left or not chosen:
                chosen.append(name)
                opened.add(file)
                left -= cost
        return chosen, len(reached)

    def _sort(self, names: set[str]) -> list[str]:
        return sorted(names, key=lambda name: (self.seconds[name], name))


def _read_rows(times: Path) -> list[list[str]]:
    return [line.split("\t") for line in times.read_text(encoding="utf-8").splitlines()[1:]]


def _get_file(name: str) -> str:
    return name.partition("::")[0]


def try_place(copy: Copy, place: Place, chosen: list[str], seconds: float) -> dict[str, Any]:
    """Apply one change, run the chosen tests, and take it back."""
    if not chosen:
        return {"status": "not run", "test": ""}
    tests, failed = copy.folder / "chosen.json", copy.folder / "failed.txt"
    tests.write_text(json.dumps(chosen), encoding="utf-8")
    failed.unlink(missing_ok=True)
    source = (copy.folder / place.file).read_bytes()
    copy.write(place.file, change(source, place))
    files = dict.fromkeys(map(_get_file, chosen))
    variables = {"MUTATION_TESTS": str(tests), "MUTATION_FAILED": str(failed)}
    try:
        code = copy.run("-x", *files, seconds=2 * seconds + 20, **variables)
    finally:
        copy.write(place.file, source)
    if code == 0:
        return {"status": "survived", "test": ""}
    test = failed.read_text(encoding="utf-8") if failed.exists() else ""
    return {"status": "timeout" if code is None else "noticed", "test": test or f"import, {code}"}


def confirm(copy: Copy, results: list[dict[str, Any]], limit: float) -> None:
    """Run what has noticed something on the unchanged copy: who fails there, has noticed nothing."""
    tests = sorted({result["test"] for result in results if "::" in result["test"]})
    (copy.folder / "chosen.json").write_text(json.dumps(tests), encoding="utf-8")
    times, files = copy.folder / "confirmed.tsv", dict.fromkeys(map(_get_file, tests))
    copy.run(
        *files, "--record-times", str(times), seconds=limit, MUTATION_TESTS=str(copy.folder / "chosen.json")
    )
    failed = {row[-1] for row in _read_rows(times) if row[-2] == "failed"}
    for result in results:
        if result["test"] in failed:
            result["status"] = "unclear"


def format_tables(results: list[dict[str, Any]]) -> str:
    """Mutants and what was noticed, by room and by kind, then the survivors."""
    lines = []
    for column in ("room", "kind"):
        lines += [f"| {column} | mutants | noticed | share |", "| --- | --- | --- | --- |"]
        all_of = Counter(result[column] for result in results)
        noticed = Counter(result[column] for result in results if result["status"] in _NOTICED)
        rows = [(name, all_of[name], noticed[name]) for name in sorted(all_of)]
        for name, total, count in (*rows, ("all", all_of.total(), noticed.total())):
            lines.append(f"| {name} | {total} | {count} | {count / max(total, 1):.0%} |")
        lines.append("")
    for result in sorted(results, key=lambda result: (result["file"], result["line"])):
        if result["status"] not in _NOTICED:
            tried = f"{result['tried']} tests, {result['run by']} run it"
            place = f"{result['file']}:{result['line']}"
            lines.append(f"- {result['status']}: {place} `{result['change']}` ({tried})")
    return "\n".join(lines)


def format_comparison(now: list[dict[str, Any]], earlier: list[dict[str, Any]]) -> str:
    """What only one of two runs has noticed, of the places that both have."""
    before = {result["key"]: result for result in earlier}
    both = [(before[result["key"]], result) for result in now if result["key"] in before]
    counts = [sum(one["status"] in _NOTICED for one in run) for run in zip(*both, strict=True)] or [0, 0]
    lines = [f"Of {len(both)} places in both runs, {counts[0]} were noticed and {counts[1]} are now."]
    for old, new in both:
        if (old["status"] in _NOTICED) != (new["status"] in _NOTICED):
            word = "lost" if old["status"] in _NOTICED else "won"
            by = old["test"] or new["test"]
            lines.append(f"- {word}: {new['file']}:{new['line']} `{new['change']}` by {by}")
    return "\n".join(lines)


def measure(options: argparse.Namespace, places: list[Place], folder: Path) -> list[dict[str, Any]]:
    """Record once, then try each place that the file of results does not have yet."""
    kept = options.record or folder / "record"
    copies = [Copy(options.checkout, folder / f"copy{number}") for number in range(options.jobs)]
    if not (kept / "places.json").exists():
        record(Copy(options.checkout, folder / "probed"), places, kept, options.pytest)
    recorded = Recorded(kept)
    file: Path | None = options.json
    results = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else []
    results = [result for result in results if result["key"] in {place.key for place in places}]
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def try_next(place: Place) -> None:
        room = [other for other in places if other.room == place.room]
        chosen, run_by = recorded.choose(place, room, options.seconds)
        copy = free.get()
        found = try_place(copy, place, chosen, options.seconds)
        free.put(copy)
        about = {"room": place.room, "file": place.file, "line": place.line, "kind": place.kind}
        counts = {"tried": len(chosen), "run by": run_by}
        results.append(about | {"change": place.words, "key": place.key} | counts | found)
        print(len(results), found["status"], f"{place.file}:{place.line}", place.words, flush=True)
        if file:
            file.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")

    done = {result["key"] for result in results}
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(try_next, [place for place in places if place.key not in done]))
    confirm(copies[0], results, 10 * options.seconds)
    if file:
        file.write_text(json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8")
    return results


def main() -> None:
    """Read the command line, measure, print."""
    introduction, _, rest = (__doc__ or "").partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=introduction, epilog=rest, formatter_class=raw)
    parser.add_argument(
        "--room", action="append", default=[], help="only this folder of reportgen/; repeatable"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--places", type=int, default=150, help="in all rooms together (150)")
    parser.add_argument("--jobs", type=int, default=1, help="how many copies are tried at a time")
    parser.add_argument("--seconds", type=float, default=60.0, help="of processor time for a place (60)")
    parser.add_argument("--list", action="store_true", help="print the sample, run nothing")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results, or continue them")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="earlier results")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="where the first run is kept")
    parser.add_argument("--checkout", type=Path, default=HERE.parents[1], help="what to measure (this one)")
    parser.add_argument("pytest", nargs="*", help="for pytest in the first run")
    options = parser.parse_args()
    options.record = options.record and options.record.absolute()
    places = sample_places(options.checkout, seed=options.seed, number=options.places, rooms=options.room)
    if options.list:
        print(*(f"{place.file}:{place.line} {place.kind}: {place.words}" for place in places), sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as folder:
        results = measure(options, places, Path(folder).resolve())
    print(format_tables(results))
    if options.compare:
        print(format_comparison(results, json.loads(options.compare.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
