"""How commands start and end: closed files, full disks, Ctrl+C, hostile modules, kills.

A build that is killed, at whatever moment, leaves the old site complete, and the same input gives the same
bytes in another folder, zone and language.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call, run_until, wait_for_processes
from command_line import run as run_alone
from example_site import REPORTGEN, build, copy_example, files_of, made_once, run, write_small_report
from made_projects import files_below, share_cache, write_report
from tries import slow_after

from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAM = str(Path(sys.executable).with_name("reportgen"))
FULL = "standard output cannot be written: No space left on device"
TOKYO = {"TZ": "Asia/Tokyo", "LC_ALL": "de_DE.UTF-8", "LANGUAGE": "de", "PYTHONHASHSEED": "7"}
PLAIN = {"TZ": "America/New_York", "LC_ALL": "C", "PYTHONHASHSEED": "8", "COLUMNS": "40"}
NAMED_INPUTS = re.compile(rb"(?<= inputs=)[0-9a-f]{16}(?= definition=)")


def run_in_shell(
    folder: Path, line: str, *command: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a command by a line of bash, in which ``"$@"`` stands for it."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | variables
    shell = ["bash", "-c", f"set -o pipefail; {line}", "bash", *command]
    return subprocess.run(shell, cwd=folder, env=clean, capture_output=True, text=True, check=False)


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """A small report that was never built."""
    return write_report(tmp_path / "report")


# ---- standard files


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&- >&-", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_build_needs_no_standard_files(closed: str, fresh: Path) -> None:
    """A service may close any of them; nothing is written into what is opened in their place."""
    done = run_in_shell(fresh, f'"$@" {closed}', PROGRAM, "build")
    assert (done.returncode, done.stderr) == (0, "")
    assert ("Built 1 page" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))
    assert "<!doctype html>" in (fresh / "site" / "index.html").read_text("utf-8").lower()
    assert not [name for name, content in files_below(fresh / "site").items() if b"Built 1 page" in content]


@pytest.mark.parametrize("unbuffered", slow_after(1, ["", "1"]))
@pytest.mark.parametrize(
    "words", slow_after(1, [("check",), ("schema",), ("build",), ("facts", "runs"), ("--help",)])
)
def test_output_that_fits_nowhere_is_an_error_without_a_traceback(
    words: tuple[str, ...], unbuffered: str, fresh: Path
) -> None:
    """What could not be said is said on the error channel; nothing is read, so that may be closed."""
    done = run_in_shell(fresh, '"$@" <&- > /dev/full', PROGRAM, *words, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, f"error: {FULL}\n")


@pytest.mark.slow
def test_a_full_error_channel_changes_no_exit_code(fresh: Path) -> None:
    """There is nowhere left to say it."""
    (fresh / "data" / "runs.csv").unlink()
    assert run_in_shell(fresh, '"$@" 2> /dev/full', PROGRAM, "build").returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", [("build",), ("schema",), ("facts", "runs"), ("--help",)])
def test_a_reader_who_has_enough_ends_a_command_quietly(
    words: tuple[str, ...], unbuffered: str, fresh: Path
) -> None:
    """As a shell says of programs that the signal SIGPIPE ended, and without a word."""
    # Nothing is written before the reader has closed its end: a pipe ends when its writer does.
    line = 'mkfifo closed; { cat closed; "$@"; } | (exec 0<&-; : > closed)'
    done = run_in_shell(fresh, line, PROGRAM, *words, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (141, "")
    if words == ("build",):
        assert (fresh / "site" / "index.html").is_file()


# ---- Ctrl+C

MODULES = [
    "pydantic",
    "reportgen.cli.main",
    "click",
    "reportgen.cli.statements",
    "mkdocs.config",
    "numpy",
    "duckdb",
    "reportgen.site.plugin",
    "altair",
    "reportgen.draft.report",
]


@pytest.mark.parametrize("module", slow_after(1, MODULES))
def test_ctrl_c_says_so_while_modules_are_imported(module: str, fresh: Path) -> None:
    """The first second of a build is spent in imports."""
    done = run_until(fresh, "build", at=[f"import {module}"], sent=signal.SIGINT)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nInterrupted.\n")
    assert not (fresh / "site").exists()


# ---- modules of others

HOSTILE = "import sys\nsys.stderr.write(f'{__name__} ran\\n')\nraise SystemExit(66)\n"
LIBRARIES = {"click", "mkdocs", "yaml", "numpy", "pandas", "altair", "pydantic", "duckdb", "rich", "jinja2"}
EVERY = sorted(sys.stdlib_module_names | LIBRARIES | {"reportgen", "mkdocs_reportgen", "sitecustomize"})
# What Python's own "-m" imports before it comes to us is not among these.
COMMON = [
    "click",
    "json",
    "signal",
    "struct",
    "typing",
    "atexit",
    "gc",
    "tempfile",
    "hashlib",
    "mkdocs",
    "yaml",
]
STARTS = {
    "reportgen": ((PROGRAM,), EVERY),
    "python -P -m reportgen": ((sys.executable, "-P", "-m", "reportgen"), EVERY),
    "python -m reportgen": ((sys.executable, "-m", "reportgen"), COMMON),
}


@pytest.mark.parametrize("words", slow_after(1, [("build",), ("check",), ("--version",)]))
@pytest.mark.parametrize("start", slow_after(1, STARTS))
def test_no_module_beside_the_settings_is_imported(start: str, words: tuple[str, ...], fresh: Path) -> None:
    """A pull request may bring a json.py; a build of it must not run that."""
    command, modules = STARTS[start]
    for name in modules:
        (fresh / f"{name}.py").write_text(HOSTILE, "utf-8")
    done = run_in_shell(fresh, '"$@"', *command, *words)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_module_of_the_user_is_found_beside_another_program(tmp_path: Path) -> None:
    """Only our own command does without the working folder: a program that uses the package keeps it."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__init__.py").write_text("import reportgen\n", "utf-8")
    (tmp_path / "program" / "__main__.py").write_text("import beside_it\n", "utf-8")
    (tmp_path / "beside_it.py").write_text("print('found')\n", "utf-8")
    done = run_in_shell(tmp_path, '"$@"', sys.executable, "-m", "program", "reportgen")
    assert (done.stdout, done.stderr) == ("found\n", "")


# ---- without docstrings


@pytest.mark.slow
@pytest.mark.parametrize("command", [("reportgen", "build"), ("reportgen", "check"), ("mkdocs", "build")])
def test_a_python_without_docstrings_is_refused(command: tuple[str, ...], fresh: Path) -> None:
    """Altair cannot be imported there, so it is said at once, by the settings."""
    done = run_in_shell(fresh, '"$@"', sys.executable, "-OO", "-m", *command)
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert "Python runs without docstrings (-OO or PYTHONOPTIMIZE=2), which Altair needs" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_a_python_without_assertions_builds(fresh: Path) -> None:
    """No answer rests on an assertion."""
    assert run_in_shell(fresh, '"$@"', sys.executable, "-O", "-m", "reportgen", "build").returncode == 0


# ---- kills


CHART = (
    "title: Own\nsummary: Own.\ndata: {source: first-benchmark}\n"
    "encoding: {x: {field: step, type: quantitative}, y: {field: accuracy, type: quantitative}}\n"
)
MOMENTS = {
    "while MkDocs writes pages": "reportgen.site.fragments.Fences.fill",
    "before anything": "reportgen.site.publishing.load_configuration",
    "while drafting": "reportgen.site.plugin.Assembly",
    "while our files are written": "reportgen.site.assembly._write",
    "before the swap": "os.rename",
    "before the manifest": "reportgen.site.reuse.manifest.write",
    "in the manifest": "reportgen.site.reuse.manifest._walk",
}
# How often the build of the small report calls these. Between its two renames, those of the swap, there is no
# site: the test above has that moment.
OFTEN = {"mkdir": 74, "rename": 1, "replace": 33, "unlink": 54}
CALLS = [
    (name, calls)
    for name, most in OFTEN.items()
    for calls in (1, 2, 3, 4, 5, 6, 8, 10, 13, 17, 21, 27, 34, 44, 55)
    if calls <= most
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a site, to be copied."""
    return made_once(tmp_path_factory, "killed", lambda folder: build(write_small_report(folder)).parent)


@pytest.fixture
def report(made: Path, tmp_path: Path) -> Path:
    """A built report whose text changed since, so that old and new site can be told apart."""
    folder = tmp_path / "report"
    subprocess.run(["cp", "-a", made, folder], check=True)  # noqa: S607 - found on PATH everywhere
    share_cache(made, folder)
    page = folder / "content" / "index.md"
    # So many charts of authors' own are compiled by a second process.
    charts = "".join(f"\n```vega-lite\n{CHART}mark: {m}\nid: {m}\n```\n" for m in ("point", "bar", "tick"))
    page.write_text(f"{page.read_text('utf-8')}\nWritten after the first build.\n{charts}", "utf-8")
    return folder


def kill_at(report: Path, moment: str, calls: int = 1) -> None:
    """Build and die at a moment."""
    ended = run_until(report, "build", "--force", at=[moment], calls=calls)
    assert ended.returncode == -signal.SIGKILL, ended.stderr


def is_new(site: Path) -> bool:
    """Whether a site has what was written after the first build."""
    return "Written after the first build" in (site / "index.html").read_text("utf-8")


def left_over(report: Path) -> list[str]:
    """What unfinished builds have beside the site, and in the cache."""
    found = (*report.glob(".site.*"), *cache_folder(report).glob("build-*"))
    return sorted(path.name for path in found)


@pytest.mark.parametrize("moment", slow_after(1, MOMENTS))
def test_a_killed_build_leaves_a_complete_site(report: Path, made: Path, moment: str) -> None:
    """Until the swap the old site stands byte for byte, then the new; the next build cleans up.

    The process that draws beside a build ends with it, even if the build had no time to say so.
    """
    kill_at(report, MOMENTS[moment])
    wait_for_processes(report)
    site = report / "site"
    if "manifest" in moment:
        assert is_new(site)
        assert files_of(site).keys() >= files_of(made / "site").keys()
    else:
        assert files_of(site) == files_of(made / "site")
    assert is_new(build(report))
    assert left_over(report) == []


@pytest.mark.slow
def test_a_swap_that_was_killed_half_way_is_mended(report: Path, made: Path) -> None:
    """Between its two renames the old site is put aside; the next build puts it back, even one that fails."""
    kill_at(report, "os.rename", 2)
    (report / "data/first-benchmark/runs.csv").unlink()
    failed = run(report, *REPORTGEN, "build")
    assert failed.returncode == 1, failed.stderr
    assert files_of(report / "site") == files_of(made / "site")
    assert left_over(report) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "calls"), CALLS)
def test_a_build_killed_at_any_call_leaves_a_site(report: Path, made: Path, name: str, calls: int) -> None:
    """From start to end a site is there, whole: the old one or, also after so many calls, the new one."""
    ended = run_until(report, "build", "--force", at=[f"os.{name}"], calls=calls)
    assert ended.returncode in {0, -signal.SIGKILL}, ended.stderr
    old, site = files_of(made / "site"), files_of(report / "site")
    assert site == old or (is_new(report / "site") and site.keys() >= old.keys())
    assert is_new(build(report))
    assert left_over(report) == []


@pytest.mark.slow
def test_an_interrupted_build_says_so_and_leaves_the_site(report: Path, made: Path) -> None:
    """Ctrl+C ends a build as it ends other programs, without a traceback."""
    ended = run_until(report, "build", at=[MOMENTS["while MkDocs writes pages"]], sent=signal.SIGINT)
    assert (ended.returncode, "Interrupted." in ended.stderr) == (130, True)
    assert "Traceback" not in ended.stderr
    assert files_of(report / "site") == files_of(made / "site")
    assert is_new(build(report))
    assert left_over(report) == []


# ---- the same bytes


def differing(first: Path, second: Path) -> list[str]:
    """Names of files that only one site has or that differ."""
    one, two = files_of(first), files_of(second)
    return sorted(name for name in one.keys() | two.keys() if one.get(name) != two.get(name))


@pytest.mark.parametrize("write", slow_after(1, [write_small_report, copy_example]))
def test_two_builds_are_the_same_bytes(write: Callable[[Path], Path], tmp_path: Path) -> None:
    """First with nothing cached, then with everything cached: each time the site of the other folder."""
    site, folder = build(write(tmp_path / "report")), write(tmp_path / "another folder, with ünïcode")
    first = run_alone(folder, "build", "--strict", **TOKYO)
    assert first.returncode == 0, first.stderr
    assert differing(folder / "site", site) == []
    again = call(folder, "build", "--strict", "--force", **PLAIN)
    assert again.returncode == 0, again.stderr
    assert " 0 cache hits" not in again.stdout
    assert differing(folder / "site", site) == []


@pytest.mark.parametrize("theme", ["reportgen", "mkdocs"])
def test_the_day_of_the_build_is_not_in_the_site(tmp_path: Path, theme: str) -> None:
    """Nothing in the site takes the clock's word, in another theme neither."""
    before = datetime.now(UTC)
    site = build(write_small_report(tmp_path / "report", theme=theme))
    days = {day.date().isoformat().encode() for day in (before, datetime.now(UTC))}
    found = [name for name, content in files_of(site).items() if any(day in content for day in days)]
    assert found == []


def test_the_folder_of_the_build_is_not_in_the_site(example_site: Path) -> None:
    """No path of the machine that built it gets out."""
    folder = str(example_site.parent).encode()
    assert [name for name, content in files_of(example_site).items() if folder in content] == []


def test_order_of_rows_and_files_does_not_matter(tmp_path: Path) -> None:
    """Runs in one file, or a file a seed with its rows from last to first, draw the same figures.

    Their pictures name the files that they were drawn from, and these are others.
    """
    one, two = (write_small_report(tmp_path / name) for name in ("one", "two"))
    runs = two / "data/first-benchmark/runs.csv"
    head, *rows = runs.read_text("utf-8").splitlines()
    runs.unlink()
    for number, seed in enumerate("123"):
        kept = [row for row in reversed(rows) if row.split(",")[1] == seed]
        assert kept
        # What is met first decides the order of the series.
        kept.sort(key=lambda row: row.split(",")[0])
        (runs.parent / f"{number}.csv").write_text("\n".join([head, *kept, ""]), "utf-8")
    figures = [
        {n: NAMED_INPUTS.sub(b"", c) for n, c in files_of(build(folder)).items() if n.startswith("figures/")}
        for folder in (one, two)
    ]
    assert figures[0] == figures[1]


@pytest.fixture
def tokyo(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Far from UTC."""
    monkeypatch.setenv("TZ", TOKYO["TZ"])
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("tokyo")
@pytest.mark.parametrize("epoch", ["1700000000", "86400"])
def test_a_given_date_is_the_date(tmp_path: Path, epoch: str) -> None:
    """``SOURCE_DATE_EPOCH`` decides the date of the report, in UTC wherever it is built."""
    folder = write_small_report(tmp_path / "report")
    site = build(folder, environment={"SOURCE_DATE_EPOCH": epoch})
    day = datetime.fromtimestamp(int(epoch), UTC).date().isoformat()
    assert json.loads((site / "report.json").read_text("utf-8"))["date"] == day
