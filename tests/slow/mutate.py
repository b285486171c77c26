"""Measure by mutation how much of the program the fast tests hold, room by room.

A seeded sample of expressions can be changed in a copy of the checkout: operators, comparisons, constants,
conditions, and/or/not, returned values, and calls that quote or escape. Each is a switch in the copied
source, so that one process can try one change after the other. First the fast tests run once with no change;
each switch then writes which test comes by, also in the processes that a test starts. So no coverage of all
other lines is needed. Then pytest collects the tests once and forks for each change, which is tried by the
tests that run it, the quick ones first, until one fails, for ``--seconds`` of processor time at most by the
times of the first run. Then follow the other tests of the same files, which may use what a test before them
has kept. Whoever fails without the change, too, does not count. A value that is made at import is tried in a
process of its own by the tests that run a function of its file, or else any place of its room.

Some changes make no difference, so that no room has 100 %: compare two runs of the same sample.

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
import subprocess
import sys
import tempfile
import venv
from bisect import bisect
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mutants import Place, add_switches, sample_places
from mutation_plugin import PROBE

HERE = Path(__file__).parent
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "record_times", "-p", "mutation_plugin")
# "make test-slow" runs these.
_FAST = ("-m", "not browser and not slow", "--ignore", "tests/slow")
_LONGEST_TEST = 10.0  # seconds; a slower one is none of the fast tests
_STEPS = (0.3, 1.0, 3.0)  # seconds of the longest test of a file: the others wait
_NOTICED = ("noticed", "timeout")


class Copy:
    """A copy of the checkout with switches for all changes, in an environment of its own."""

    def __init__(self, checkout: Path, folder: Path, places: list[Place]) -> None:
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(listed, cwd=checkout, capture_output=True, check=True).stdout.decode()
        for name in filter(None, names.split("\0")):
            if (checkout / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(checkout / name, folder / name, follow_symlinks=False)
        by_file: dict[str, dict[int, Place]] = defaultdict(dict)
        for number, place in enumerate(places):
            by_file[place.file][number] = place
        for file, here in by_file.items():
            (folder / file).write_bytes(add_switches((folder / file).read_bytes(), here))
        self.folder = folder
        self.state = folder.with_name(f"{folder.name}-state")
        self.state.mkdir()
        (self.state / "hits.tsv").touch()
        self._make_environment()

    def _make_environment(self) -> None:
        venv.create(self.folder / ".venv", symlinks=True)
        programs, own = self.folder / ".venv" / "bin", Path(sys.executable).parent
        for program in own.iterdir():
            first, line_end, rest = program.read_bytes().partition(b"\n")
            if first.startswith(f"#!{own}/".encode()):  # such as reportgen itself
                first = f"#!{programs}/python".encode()
                (programs / program.name).write_bytes(first + line_end + rest)
                shutil.copymode(program, programs / program.name)
            elif not (programs / program.name).exists():
                (programs / program.name).symlink_to(program)
        packages = next(self.folder.glob(".venv/lib/python*/site-packages"))
        for plugin in (HERE / "mutation_plugin.py", HERE.parent / "record_times.py"):
            shutil.copy(plugin, packages)
        (packages / "mutation_probe.py").write_text(PROBE.format(folder=str(self.state)), encoding="utf-8")
        installed = Path(next(path for path in sys.path if path.endswith("site-packages")))
        # The finder of an editable installation, which knows the theme, stands behind the copy.
        finders = [path.read_text() for path in installed.glob("__editable__*.pth")]
        paths = [str(self.folder), str(installed), *finders, "import mutation_probe", ""]
        (packages / "_.pth").write_text("\n".join(paths), encoding="utf-8")

    def run(self, *words: str, **variables: str) -> int:
        """Run pytest to its end."""
        with (self.folder / "output.txt").open("wb") as output:
            python = self.folder / ".venv" / "bin" / "python"
            command = [str(python), *_PYTEST, "--basetemp", str(self.state / "temp"), *words]
            environment = os.environ | {"PYTHONPATH": ""} | variables
            done = subprocess.run(
                command, cwd=self.folder, env=environment, stdout=output, stderr=output, check=False
            )
        return done.returncode

    def record(self, places: list[Place], folder: Path, words: list[str]) -> None:
        """Run the fast tests once: their times, and who comes by each place."""
        folder.mkdir(parents=True, exist_ok=True)
        times = ("--record-times", str(folder / "times.tsv"))
        code = self.run(*_FAST, *times, *words, MUTATION_FIXTURES=str(folder / "fixtures.json"))
        if code not in {0, 1}:
            sys.exit(f"pytest ended with {code}:\n{(self.folder / 'output.txt').read_text()[-2000:]}")
        shutil.copy(self.state / "hits.tsv", folder)
        keys = [place.key for place in places]
        (folder / "places.json").write_text(json.dumps(keys), encoding="utf-8")

    def try_changes(self, jobs: list[dict[str, Any]], results: Path) -> None:
        """Try these changes in one pytest; a change of what is made at import is the only one in its own."""
        imported = jobs[0]["imported"]
        (self.state / "jobs.json").write_text(json.dumps(jobs), encoding="utf-8")
        (self.state / "active").write_text(str(jobs[0]["number"] if imported else -1), encoding="utf-8")
        files = sorted({_get_file(test) for job in jobs for test in job["tests"]})
        code = self.run(*files, MUTATION_JOBS=str(self.state), MUTATION_RESULTS=str(results))
        if code and imported:
            _write(results, [jobs[0] | {"status": "noticed", "test": "import"}])
        elif code:
            sys.exit(f"pytest ended with {code}:\n{(self.folder / 'output.txt').read_text()[-2000:]}")


class Recorded:
    """The first run: how long each test took, and which tests run which place."""

    def __init__(self, folder: Path) -> None:
        keys = json.loads((folder / "places.json").read_text(encoding="utf-8"))
        users = json.loads((folder / "fixtures.json").read_text(encoding="utf-8"))
        lines = (folder / "times.tsv").read_text(encoding="utf-8").splitlines()[1:]
        rows = [line.split("\t") for line in lines]
        self.seconds = {row[-1]: float(row[0]) for row in rows if row[-2] == "passed"}
        fast = {name for name, seconds in self.seconds.items() if seconds <= _LONGEST_TEST}
        self.files: dict[str, set[str]] = defaultdict(set)
        for name in fast:
            self.files[_get_file(name)].add(name)
        # One test of a file may make what the others use, so that each takes as long where it is the first.
        self.longest = {file: max(map(self.seconds.__getitem__, names)) for file, names in self.files.items()}
        self.tests: dict[str, set[str]] = {key: set() for key in keys}
        for line in (folder / "hits.tsv").read_text(encoding="utf-8").splitlines():
            number, _, test = line.partition("\t")
            tests = users.get(test.removeprefix("fixture "), ()) if test.startswith("fixture ") else [test]
            self.tests[keys[int(number)]].update(fast & set(tests))

    def choose(self, place: Place, room: list[Place], seconds: float) -> tuple[list[str], int]:
        """The tests to try, in order, and how many run the place."""
        reached = self.tests[place.key]
        if place.imported and not reached:
            reached = set().union(*(self.tests[other.key] for other in room))
        others = set().union(*(self.files[_get_file(name)] for name in reached)) - reached
        chosen: list[str] = []
        opened: set[str] = set()
        for name in (*self._sort(reached), *self._sort(others)):
            file = _get_file(name)
            cost = self.seconds[name] + (0.0 if file in opened else self.longest[file])
            if cost <= seconds or not chosen:
                chosen.append(name)
                opened.add(file)
                seconds -= cost
        return chosen, len(reached)

    def _sort(self, names: set[str]) -> list[str]:
        """Files of quick tests before others, and first those of files that are about the place."""
        count = Counter(map(_get_file, names))
        shares = {file: number / len(self.files[file]) for file, number in count.items()}

        def rank(name: str) -> tuple[int, float, str, float]:
            file = _get_file(name)
            return bisect(_STEPS, self.longest[file]), -shares[file], file, self.seconds[name]

        return sorted(names, key=rank)


def _get_file(name: str) -> str:
    return name.partition("::")[0]


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
    copies = [Copy(options.checkout, folder / f"copy{number}", places) for number in range(options.jobs)]
    kept = options.record or folder / "record"
    if not (kept / "places.json").exists():
        copies[0].record(places, kept, options.pytest)
    recorded, file = Recorded(kept), options.json or folder / "results.json"
    done = {result["key"] for result in _read(file)}
    jobs = []
    for number, place in enumerate(places):
        room = [other for other in places if other.room == place.room]
        chosen, run_by = recorded.choose(place, room, options.seconds)
        job = {name: getattr(place, name) for name in ("room", "file", "line", "kind", "key", "imported")}
        job |= {"change": place.words, "tried": len(chosen), "run by": run_by, "number": number}
        job |= {"tests": chosen, "seconds": 2 * options.seconds + 20}
        if chosen and place.key not in done:
            jobs.append(job)
        elif place.key not in done:
            _write(file, [job | {"status": "not run", "test": ""}])

    def try_some(number: int) -> None:
        together = [job for job in jobs if not job["imported"]][number :: options.jobs]
        alone = [[job] for job in jobs if job["imported"]][number :: options.jobs]
        for batch in ([together] if together else []) + alone:
            copies[number].try_changes(batch, file)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(try_some, range(options.jobs)))
    return [result for result in _read(file) if result["key"] in {place.key for place in places}]


def _write(file: Path, results: list[dict[str, Any]]) -> None:
    with file.open("a", encoding="utf-8") as written:
        written.writelines(json.dumps(result | {"tests": []}) + "\n" for result in results)


def _read(file: Path) -> list[dict[str, Any]]:
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [json.loads(line) for line in lines]


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
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="a line for each result; continued if there"
    )
    parser.add_argument("--compare", type=Path, metavar="FILE", help="earlier results")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="where the first run is kept")
    parser.add_argument("--checkout", type=Path, default=HERE.parents[1], help="what to measure (this one)")
    parser.add_argument("pytest", nargs="*", help="for pytest in the first run")
    options = parser.parse_args()
    for name in ("record", "json", "compare", "checkout"):
        path = getattr(options, name)
        setattr(options, name, path and path.absolute())
    places = sample_places(options.checkout, seed=options.seed, number=options.places, rooms=options.room)
    if options.list:
        print(*(f"{place.file}:{place.line} {place.kind}: {place.words}" for place in places), sep="\n")
        return
    with tempfile.TemporaryDirectory(prefix="mutate-", ignore_cleanup_errors=True) as folder:
        results = measure(options, places, Path(folder).resolve())
    print(format_tables(results))
    if options.compare:
        print(format_comparison(results, _read(options.compare)))


if __name__ == "__main__":
    main()
