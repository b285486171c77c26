"""What commands print of names from the report: no order to a terminal, none to the log of a workflow."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from command_line import call, run_on_terminal
from made_projects import RUNS, write_report

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

# Parts of names, each with what a terminal or a log would obey.
HOSTILE: Final = (
    "\n::error::x",
    "\n ::add-mask::a",
    "::warning file=a::b",
    "##[error]x",
    "##vso[task.setvariable]x",
    "\x1b[31mred",
    "\x1b]8;;https://example.org\x07link\x1b]8;;\x07",
    "\x9b2J",
    "a\rb",
    "a\u2028::error::b",
    "\u202eright to left\u2066",
    "\u2029b",
    "\x7f\x85",
)
OWN_CODES: Final = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r(?=[\x1b\n]|\Z)")
# A folder on a path takes at most 255 bytes, and no slash.
FILE_NAMES: Final = tuple(name.replace("/", "_") for name in HOSTILE)


def assert_harmless(output: str, *, commands: bool = False) -> None:
    """No line that a workflow obeys, and no character that a terminal obeys.

    Args:
        output: what was printed.
        commands: whether annotations are what was asked for.
    """
    for line in output.split("\n"):
        if not commands:
            assert not line.lstrip().startswith("::"), line
        assert not re.search(r"##\w*\[", line), line
        kinds = {character: unicodedata.category(character) for character in line}
        obeyed = {character for character, kind in kinds.items() if kind in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
        assert not obeyed, line
    assert "Traceback" not in output


def hostile_report(root: Path) -> Path:
    """A report with a hostile name in every place that a pull request can give one."""
    rows = [
        f'"{name}",{seed},{step},{0.1 + 0.05 * number + 0.01 * step + 0.001 * seed}'
        for number, name in enumerate(HOSTILE)
        for seed in (1, 2)
        for step in (0, 10, 20)
    ]
    answers = [
        f'"{name}",{problem},{(number + problem) % 2}'
        for number, name in enumerate(HOSTILE)
        for problem in range(9)
    ]
    links = "\n\n".join(f"[q](a{quote(name)}.md)" for name in HOSTILE)
    blocks = "```curve\nid: c\nsource: runs\n```\n\n```scores\nsource: answers\n```\n"
    files = {
        "data/runs.csv": "\n".join(["series,seed,step,accuracy", *rows, ""]),
        "data/answers.csv": "\n".join(["series,problem,score", *answers, ""]),
        "content/index.md": f"# A\n\n{links}\n\n{blocks}",
    }
    for name in FILE_NAMES:
        statement = '[0.5]{value="peak(MEL)" of="plain"}'
        link = f"[q](no{quote(name)}.md)"
        block = "```curve\nsource: plain\n```\n"
        files[f"content/{name}/{name}.md"] = f"# B\n\n{statement}\n\n{link}\n\n{block}"
        files[f"data/{name}/{name}.csv"] = "series,step,accuracy\nA,0,1\nA,1,x\n"
    files["data/plain.csv"] = RUNS
    return write_report(root, files)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report, which nobody changes but by building it."""
    return hostile_report(tmp_path_factory.mktemp("printed"))


CALLS: Final = (
    ("build",),
    ("build", "--force", "--strict"),
    ("check",),
    ("check", "--format", "github"),
    ("check", "--format", "json"),
    ("check", "--format", "sarif"),
    ("facts", "runs"),
    ("facts", "answers"),
    ("observations", "runs"),
    ("observations", "answers"),
    ("describe", "data"),
    ("describe", "data/runs.csv"),
    ("describe", "data/answers.csv"),
    ("describe", "data/runs.csv", "--format", "json"),
    ("describe", "content"),
    ("fix",),
)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_names_of_a_report(report: Path, words: tuple[str, ...]) -> None:
    """Of files, folders, links, series and columns, as every command prints them into a pipe."""
    done = call(report, *words)
    assert_harmless(done.stdout, commands="github" in words)
    assert_harmless(done.stderr)
    assert done.returncode in {0, 1}
    assert len(done.stdout + done.stderr) > 60


@pytest.mark.parametrize("words", [CALLS[1], CALLS[2], CALLS[8], CALLS[11], ("fix",)], ids=" ".join)
def test_names_on_a_terminal(report: Path, words: tuple[str, ...]) -> None:
    """Where colours and progress are shown, nothing but these gives the terminal orders."""
    shown = run_on_terminal(report, *words)
    assert_harmless(OWN_CODES.sub("", shown))


@pytest.mark.parametrize("name", FILE_NAMES, ids=ascii)
def test_names_on_the_command_line(report: Path, tmp_path: Path, name: str) -> None:
    """A path that is described, frozen, begun or missing; what click says of a call is printed as well."""
    (tmp_path / name).write_text("not a folder", encoding="utf-8")
    calls = (
        ("describe", f"data/{name}"),
        ("describe", f"data/{name}/{name}.csv"),
        ("describe", f"data/{name}/{name}.csv", "--format", "json"),
        ("describe", f"no{name}"),
        ("freeze", f"data/{name}/{name}.csv", "--to", str(tmp_path / f"to{name}")),
        ("freeze", "data/plain.csv", "--to", str(tmp_path / f"plain{name}")),
        ("facts", name),
        ("facts", "plain", "-m", name),
        ("observations", name),
        ("build", "-f", name),
        (name,),
        ("build", f"--{name}"),
        ("build", name),
        ("schema", name),
        ("init", str(tmp_path / f"new{name}")),
        ("init", str(tmp_path / name)),
        ("init", str(tmp_path / name / "below")),
    )
    runner = CliRunner()
    with contextlib.chdir(report):
        for call in calls:
            done = runner.invoke(cli, call)
            assert_harmless(done.output)
            assert done.exception is None or isinstance(done.exception, SystemExit), call


def test_names_while_serving(report: Path) -> None:
    """What MkDocs says while it serves is printed by us."""
    command = [sys.executable, "-u", "-m", "reportgen", "serve", "-a", "127.0.0.1:0"]
    said = ""
    with subprocess.Popen(
        command, cwd=report, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as serving:
        assert serving.stdout is not None
        for line in serving.stdout:
            said += line
            if "Serving on" in line:
                break
        serving.terminate()
    assert "contains a link" in said
    assert_harmless(said)


def test_a_patch_names_its_page_as_git_does(tmp_path: Path) -> None:
    """A line feed in the name of a page begins no line of the patch, and git applies it."""
    name = 'a\n::error::é "b\\.md'
    page = '# A\n\n[0.5]{value="peak(MEL)"}\n\n```curve\nsource: runs\n```\n'
    root = write_report(tmp_path, {f"content/{name}": page})
    done = call(root, "fix")
    assert_harmless(done.stdout)
    subprocess.run(["git", "apply"], cwd=root, input=done.stdout, text=True, check=True)  # noqa: S607 - any git
    assert "[0.8]" in (root / "content" / name).read_text(encoding="utf-8")
