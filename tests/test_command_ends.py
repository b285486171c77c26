"""How commands start and end: closed files, full disks, Ctrl+C, hostile modules."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from made_projects import files_below, write_report
from tries import slow_after

REPORTGEN = str(Path(sys.executable).with_name("reportgen"))
FULL = "standard output cannot be written: No space left on device"


def run(folder: Path, line: str, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command by a line of bash, in which ``"$@"`` stands for it."""
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"} | variables
    shell = ["bash", "-c", f"set -o pipefail; {line}", "bash", *command]
    return subprocess.run(shell, cwd=folder, env=clean, capture_output=True, text=True, check=False)


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A small report that was never built."""
    return write_report(tmp_path / "report")


# ---- standard files -----------------------------------------------------------------------------


@pytest.mark.parametrize("closed", slow_after(1, ["<&- >&-", "<&-", ">&-", "2>&-", "<&- >&- 2>&-"]))
def test_a_build_needs_no_standard_files(closed: str, report: Path) -> None:
    """A service may close any of them; nothing is written into what is opened in their place."""
    done = run(report, f'"$@" {closed}', REPORTGEN, "build")
    assert (done.returncode, done.stderr) == (0, "")
    assert ("Built 1 page" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))
    assert "<!doctype html>" in (report / "site" / "index.html").read_text("utf-8").lower()
    assert not [name for name, content in files_below(report / "site").items() if b"Built 1 page" in content]


@pytest.mark.parametrize("unbuffered", slow_after(1, ["", "1"]))
@pytest.mark.parametrize(
    "words", slow_after(1, [("check",), ("schema",), ("build",), ("facts", "runs"), ("--help",)])
)
def test_output_that_fits_nowhere_is_an_error_without_a_traceback(
    words: tuple[str, ...], unbuffered: str, report: Path
) -> None:
    """What could not be said is said on the error channel."""
    done = run(report, '"$@" > /dev/full', REPORTGEN, *words, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (1, f"error: {FULL}\n")


@pytest.mark.slow
def test_a_full_error_channel_changes_no_exit_code(report: Path) -> None:
    """There is nowhere left to say it."""
    (report / "data" / "runs.csv").unlink()
    assert run(report, '"$@" 2> /dev/full', REPORTGEN, "build").returncode == 1


@pytest.mark.parametrize("unbuffered", slow_after(1, ["", "1"]))
@pytest.mark.parametrize("words", slow_after(1, [("build",), ("schema",), ("facts", "runs"), ("--help",)]))
def test_a_reader_who_has_enough_ends_a_command_quietly(
    words: tuple[str, ...], unbuffered: str, report: Path
) -> None:
    """As a shell says of programs that the signal SIGPIPE ended, and without a word."""
    # Nothing is written before the reader has closed its end.
    line = '{ until test -e closed; do sleep 0.01; done; "$@"; } | (exec 0<&-; touch closed)'
    done = run(report, line, REPORTGEN, *words, PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stderr) == (141, "")
    if words == ("build",):
        assert (report / "site" / "index.html").is_file()


# ---- Ctrl+C -------------------------------------------------------------------------------------

# Presses Ctrl+C when a module is first looked for.
PRESSED = """
import signal, sys

class Pressing:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            signal.raise_signal(signal.SIGINT)  # to this thread, so that it comes at once

sys.meta_path.insert(0, Pressing())
sys.argv = ["reportgen", "build"]
from reportgen.__main__ import main
main()
"""
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
def test_ctrl_c_says_so_while_modules_are_imported(module: str, report: Path) -> None:
    """The first second of a build is spent in imports."""
    done = run(report, '"$@"', sys.executable, "-c", PRESSED.format(module=module))
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nInterrupted.\n")
    assert not (report / "site").exists()


# ---- modules of others --------------------------------------------------------------------------

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
    "reportgen": ((REPORTGEN,), EVERY),
    "python -P -m reportgen": ((sys.executable, "-P", "-m", "reportgen"), EVERY),
    "python -m reportgen": ((sys.executable, "-m", "reportgen"), COMMON),
}


@pytest.mark.parametrize("words", slow_after(1, [("build",), ("check",), ("--version",)]))
@pytest.mark.parametrize("start", slow_after(1, STARTS))
def test_no_module_beside_the_settings_is_imported(start: str, words: tuple[str, ...], report: Path) -> None:
    """A pull request may bring a json.py; a build of it must not run that."""
    command, modules = STARTS[start]
    for name in modules:
        (report / f"{name}.py").write_text(HOSTILE, "utf-8")
    done = run(report, '"$@"', *command, *words)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_module_of_the_user_is_found_beside_another_program(tmp_path: Path) -> None:
    """Only our own command does without the working folder: a program that uses the package keeps it."""
    (tmp_path / "program").mkdir()
    (tmp_path / "program" / "__init__.py").write_text("import reportgen\n", "utf-8")
    (tmp_path / "program" / "__main__.py").write_text("import beside_it\n", "utf-8")
    (tmp_path / "beside_it.py").write_text("print('found')\n", "utf-8")
    done = run(tmp_path, '"$@"', sys.executable, "-m", "program", "reportgen")
    assert (done.stdout, done.stderr) == ("found\n", "")


# ---- without docstrings -------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("command", [("reportgen", "build"), ("reportgen", "check"), ("mkdocs", "build")])
def test_a_python_without_docstrings_is_refused(command: tuple[str, ...], report: Path) -> None:
    """Altair cannot be imported there, so it is said at once, by the settings."""
    done = run(report, '"$@"', sys.executable, "-OO", "-m", *command)
    assert done.returncode == 1
    told = done.stdout + done.stderr
    assert "Python runs without docstrings (-OO or PYTHONOPTIMIZE=2), which Altair needs" in told
    assert "Traceback" not in told


@pytest.mark.slow
def test_a_python_without_assertions_builds(report: Path) -> None:
    """No answer rests on an assertion."""
    assert run(report, '"$@"', sys.executable, "-O", "-m", "reportgen", "build").returncode == 0
