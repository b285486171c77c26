"""The command line: what it prints, where, and how it leaves."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from command_line import call
from made_projects import PAGE, RUNS, files_below, share_cache, write_file, write_report
from tries import slow_after

from reportgen import __version__
from reportgen.cli.main import cli

if TYPE_CHECKING:
    from click.testing import Result

MODULE = (sys.executable, "-m", "reportgen")
SCRIPT = (str(Path(sys.executable).with_name("reportgen")),)


def start(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Start a process in a folder, as a user does."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def say(*words: str) -> Result:
    """The same without a process of its own, for words that build nothing."""
    return CliRunner().invoke(cli, words, prog_name="reportgen")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report that was built by the command."""
    root = write_report(tmp_path_factory.mktemp("cli") / "report")
    done = call(root, "build")
    assert done.returncode == 0, done.stderr
    return root


# ---- what builds nothing ------------------------------------------------------------------------


def test_help_has_an_example_for_every_command() -> None:
    """A newcomer reads these before anything else."""
    whole = say("--help")
    assert whole.exit_code == 0
    assert "reportgen init my-report" in whole.output
    for command in cli.commands:
        page = say(command, "--help")
        assert page.exit_code == 0
        assert re.search(rf"Examples?:\n +reportgen {command}", page.output), page.output
        assert command in whole.output


def test_short_options() -> None:
    """As everywhere."""
    assert say("-h").output == say("--help").output
    assert say("-V").output == say("--version").output == f"reportgen, version {__version__}\n"


WRONG = [
    ("frobnicate",),
    ("build", "--frobnicate"),
    ("build", "-f", "none.yml"),
    ("build", "x"),
    ("init",),
    ("schema", "none"),
]


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_leaves_with_2(words: tuple[str, ...], tmp_path: Path) -> None:
    """Told on the error channel, with the way to help."""
    done = call(tmp_path, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Try 'reportgen" in done.stderr


def test_a_folder_without_settings_is_wrong_usage(tmp_path: Path) -> None:
    """The missing file is named."""
    done = call(tmp_path, "build")
    assert done.returncode == 2
    assert "mkdocs.yml" in done.stderr


def test_schemas_are_json() -> None:
    """All of them, or one by its name."""
    everything = json.loads(say("schema").output)
    assert {"curve", "panels", "table", "overview", "vega-lite", "altair", "source"} <= set(everything)
    assert json.loads(say("schema", "curve").output) == everything["curve"]
    assert "There are: curve," in say("schema", "none").output


def test_init_writes_a_report_and_says_what_next(tmp_path: Path) -> None:
    """Every file is named, and the next command."""
    done = call(tmp_path, "init", "my-report")
    assert done.returncode == 0
    assert "  my-report/mkdocs.yml\n" in done.stdout
    assert done.stdout.endswith("Next: cd my-report && reportgen serve\n")
    again = call(tmp_path, "init", "my-report")
    assert again.returncode == 1
    assert again.stderr.startswith("my-report: error: the folder is not empty. ")


# ---- build --------------------------------------------------------------------------------------


def test_the_closing_line_of_a_build(built: Path) -> None:
    """Pages, figures, seconds and cache hits; nothing on the error channel."""
    done = call(built, "build", "--force")
    assert done.returncode == 0
    assert re.fullmatch(r"Built 1 page, 1 figure in \d+\.\d s, \d+ cache hits?\n", done.stdout)
    assert done.stderr == ""


@pytest.mark.parametrize("command", slow_after(1, [SCRIPT, MODULE]))
def test_nothing_changed_is_said(built: Path, command: tuple[str, ...]) -> None:
    """Both ways to call it tell it; the site is not touched."""
    before = {path: path.stat().st_mtime_ns for path in (built / "site").rglob("*")}
    done = start(built, *command, "build")
    assert done.returncode == 0
    assert re.fullmatch(r"Nothing changed: 1 page, 1 figure; checked in 0\.\d\d s\n", done.stdout)
    assert {path: path.stat().st_mtime_ns for path in (built / "site").rglob("*")} == before


def test_a_report_is_built_from_anywhere(built: Path, tmp_path: Path) -> None:
    """The settings file says where it stands."""
    done = call(tmp_path, "build", "--force", "-f", str(built / "mkdocs.yml"))
    assert done.returncode == 0
    assert files_below(tmp_path) == {}


def test_problems_are_told_as_file_and_line(tmp_path: Path) -> None:
    """All at once, in the order of files and lines, with a count, on the error channel; it leaves with 1."""
    wrong = PAGE.replace("title", "titel") + "\n```table\nsource: rans\n```\n"
    data = RUNS.replace("0.84", "O.84")
    second = "# Two\n\n```curve\nsource: other\n```\n"
    files = {"content/index.md": wrong, "content/two.md": second, "data/other.csv": data}
    root = write_report(tmp_path, files)
    done = call(root, "build")
    assert done.returncode == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert lines[0].startswith('content/index.md:5:1: error: "titel" is not a key of a curve block. ')
    assert lines[1].startswith('content/index.md:8: error: there is no source "rans" in data/. ')
    assert lines[2].startswith('data/other.csv:3: error: "O.84" in column "accuracy" is not a number. ')
    assert lines[3:] == ["3 problems; the site was left as it was."]


def test_warnings_are_told_and_strict_fails_on_them(built: Path, tmp_path: Path) -> None:
    """A plain build is fine with them, and so is a spared one; a strict one leaves with 1."""
    root = write_report(tmp_path, {"data/runs.csv": RUNS + "GRPO,2,20"})
    share_cache(built, root)
    said = "data/runs.csv:10: the last line is torn off and was left out. [last-line-torn-off-left-out]"
    first = call(root, "build")
    assert (first.returncode, first.stderr) == (0, f"warning: {said}\n")
    second = call(root, "build")
    assert second.stdout.startswith("Nothing changed: 1 page, 1 figure, 1 warning; checked in ")
    strict = call(root, "build", "--strict")
    assert strict.returncode == 1
    assert strict.stderr.splitlines() == [
        said.replace(": the", ": warning: the"),
        "1 warning, and --strict allows none; the site was left as it was.",
    ]


def test_a_repaired_report_builds(built: Path, tmp_path: Path) -> None:
    """After 1 comes 0."""
    root = write_report(tmp_path, {"data/runs.csv": None})
    share_cache(built, root)
    assert call(root, "build").returncode == 1
    write_file(root / "data" / "runs.csv", RUNS)
    assert call(root, "build", "--strict").returncode == 0


def test_plain_output_has_no_control_characters(built: Path) -> None:
    """No bar and no colours where nobody looks: in a file, a pipe, a log of CI."""
    done = call(built, "build", "--force")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stdout + done.stderr)


# ---- what is imported ---------------------------------------------------------------------------

IMPORTED = """
import os, sys
os._exit = sys.exit
sys.argv = ["reportgen", *{words!r}]
try:
    import reportgen.__main__ as command
    command.main()
finally:
    print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
    print(" ".join(name for name in sys.modules if name.startswith("reportgen.")), file=sys.stderr)
"""
HEAVY = {
    "altair",
    "duckdb",
    "jinja2",
    "markdown",
    "mkdocs",
    "narwhals",
    "numpy",
    "pandas",
    "pydantic",
    "scipy",
}
HEAVY |= {"vl_convert", "yaml", "rich", "pymdownx", "multiprocessing", "asyncio"}


@pytest.mark.parametrize(
    "words",
    slow_after(
        1,
        [
            ("build",),
            ("--help",),
            ("--version",),
            *((name, "--help") for name in ("build", "check", "facts")),
        ],
    ),
)
def test_quick_commands_import_nothing_heavy(built: Path, words: tuple[str, ...]) -> None:
    """Help, and telling that nothing changed, take milliseconds because almost nothing is loaded."""
    done = start(built, sys.executable, "-c", IMPORTED.format(words=words))
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-2].split())
    assert {"reportgen", "click"} <= loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.slow
def test_changed_words_import_nothing_that_reads_or_draws(tmp_path: Path) -> None:
    """Where all sources and figures come from the cache, their pages included."""
    statement = '\n\n[0.84]{value="peak(MEL)"}\n\n```observations\n```\n'
    root = write_report(tmp_path / "report", {"content/index.md": PAGE + statement})
    for words in ("", "More words.\n"):
        write_file(root / "content" / "index.md", f"{PAGE}{statement}\n{words}")
        done = start(root, sys.executable, "-c", IMPORTED.format(words=("build",)))
        assert done.returncode == 0, done.stderr
    libraries, own = (set(line.split()) for line in done.stderr.splitlines()[-2:])
    assert libraries.isdisjoint({"altair", "duckdb", "narwhals", "numpy", "pandas", "vl_convert"})
    rooms = tuple(f"reportgen.{room}" for room in ("read", "formats", "statistics", "figures.curves"))
    assert {name for name in own if name.startswith(rooms)} == set()
    assert "reportgen.draft.blocks.charts" not in own


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    """``import reportgen`` is free; a notebook pays for what it calls."""
    code = "import reportgen, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = start(tmp_path, sys.executable, "-c", code)
    assert set(done.stdout.split()).isdisjoint(HEAVY | {"click"})
