"""``reportgen check`` from Markdown and data to the terminal: it names what became false, nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from command_line import call, run_on_terminal
from made_projects import PAGE, RUNS, share_cache, write_file, write_report

if TYPE_CHECKING:
    from pathlib import Path

STATED = (
    PAGE
    + """
MEL ends at [0.82]{value="final(MEL)"} and GRPO at [**72 %**]{value="final(GRPO)"}, both at their best
([step 10]{value="peak_step(MEL)"}). So [MEL ends
above GRPO]{claim="final(MEL) > final(GRPO)"}.

- It rises by [0.61]{value="final(MEL) - start(MEL)"}.
- [GRPO falls]{claim="final(GRPO) < start(GRPO)" fails="a sentence that nobody believes"}.
"""
)


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose statements hold, checked once; to be left as it is."""
    root = write_report(tmp_path_factory.mktemp("stated") / "report", {"content/index.md": STATED})
    done = call(root, "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "6 statements: 5 hold, 1 fails as expected"
    return root


@pytest.fixture
def report(checked: Path, tmp_path: Path) -> Path:
    """Another such report, to be changed."""
    root = write_report(tmp_path / "report", {"content/index.md": STATED})
    share_cache(checked, root)
    return root


def test_every_statement_stands_in_the_table(checked: Path) -> None:
    """Where, of what kind, its words, what became of it, and what the data say."""
    lines = call(checked, "check").stdout.splitlines()
    assert len(lines) == 8
    assert lines[0].split(None, 4)[:4] == ["content/index.md:8", "value", "0.82", "holds"]
    assert re.search(r"content/index\.md:9 +claim  MEL ends above GRPO +holds +final\(MEL\) > ", lines[3])
    assert "fails as expected" in lines[5]


def test_a_changed_number_names_exactly_what_became_false(report: Path) -> None:
    """Each at its bracket, the caret under its words; a check that fails leaves with 1."""
    write_file(report / "data" / "runs.csv", RUNS.replace("MEL,1,10,0.84", "MEL,1,10,0.60"))
    done = call(report, "check")
    assert done.returncode == 1
    told = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert [re.split(" but | is not so", line)[0] for line in told] == [
        'content/index.md:8:13: error: "0.82"',
        'content/index.md:9:41: error: "MEL ends above GRPO"',
        'content/index.md:12:15: error: "0.61"',
    ]
    lines = done.stdout.splitlines()
    assert lines[1].startswith('    8 | MEL ends at [0.82]{value="final(MEL)"} and GRPO')
    assert lines[2] == "      |             ^^^^^^"
    assert lines[-1] == "6 statements: 2 hold, 3 fail, 1 fails as expected"


def test_an_expected_failure_that_holds_is_told(report: Path) -> None:
    """Its mark has to go."""
    low = RUNS.replace("GRPO,1,0,0.20", "GRPO,1,0,0.90").replace("GRPO,2,0,0.18", "GRPO,2,0,0.90")
    write_file(report / "data" / "runs.csv", low)
    value = json.loads(call(report, "check", "--format", "json").stdout)
    assert value["counts"]["hold_unexpectedly"] == 1
    (problem,) = [one for one in value["problems"] if one["rule"] == "expected-failure-holds"]
    assert (problem["line"], problem["column"], problem["severity"]) == (13, 3, "error")
    assert problem["length"] == len("[GRPO falls]")


def test_what_cannot_be_decided_fails_the_check(report: Path) -> None:
    """With the reason: one run tells nothing about chance."""
    one_run = "".join(line for line in RUNS.splitlines(keepends=True) if ",2," not in line)
    said = '\n[It is better]{claim="better(MEL, GRPO)"}.\n'
    write_file(report / "data" / "runs.csv", one_run)
    write_file(report / "content" / "index.md", PAGE + said)
    done = call(report, "check", "--format", "github")
    assert done.returncode == 1
    first, last = done.stdout.splitlines()
    assert first.startswith(
        "::error file=content/index.md,line=8,col=1,endColumn=15,title=Statement cannot be decided::"
    )
    assert "1 run of MEL" in first
    assert last == "1 statement: 1 cannot be decided"


def test_a_fault_in_an_expression_has_its_own_place(report: Path) -> None:
    """The caret stands under the unknown name, not under the sentence."""
    said = '\nSo [MEL wins]{claim="final(MLE) > final(GRPO)"}.\n'
    write_file(report / "content" / "index.md", PAGE + said)
    done = call(report, "check")
    assert done.returncode == 1
    told, line, caret, last = done.stdout.splitlines()
    assert told.startswith("content/index.md:8:28: error: ")
    assert "MEL" in told
    assert line[caret.index("^") :].startswith("MLE")
    assert last == "1 problem; statements are counted once there is none."


def test_the_same_report_gives_the_same_bytes(checked: Path) -> None:
    """In every format, so that two checks can be compared."""
    for form in ("text", "github", "json", "sarif"):
        first = call(checked, "check", "--format", form)
        assert first.stdout == call(checked, "check", "--format", form).stdout
        assert first.returncode == 0


def test_a_build_says_the_same_as_a_check(report: Path) -> None:
    """What a check tells as an error, a build warns of, and a strict one fails on."""
    write_file(report / "data" / "runs.csv", RUNS.replace("MEL,1,10,0.84", "MEL,1,10,0.60"))
    told = [
        line.replace(": error: ", ": ")
        for line in call(report, "check").stdout.splitlines()
        if ": error: " in line
    ]
    warned = call(report, "build").stderr.splitlines()
    assert warned == [f"warning: {line}" for line in told]
    assert call(report, "build", "--strict").returncode == 1


# ---- on a terminal ------------------------------------------------------------------------------

ORDERS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def test_a_terminal_gets_a_table_of_its_width_with_colours(checked: Path) -> None:
    """Long cells are broken into lines, and no line is longer than the terminal is wide."""
    shown = run_on_terminal(checked, "check", COLUMNS="90")
    assert "\x1b[32mholds" in shown
    lines = [ORDERS.sub("", line).rstrip() for line in shown.splitlines()]
    head = next(n for n, line in enumerate(lines) if line.endswith("the data say"))
    assert lines[head].split()[:4] == ["where", "kind", "words", "truth"]
    assert all(len(line) <= 90 for line in lines[head:])
    assert len(lines) > head + 8
    assert lines[-1] == "6 statements: 5 hold, 1 fails as expected"


def test_who_wants_no_colours_gets_none(report: Path) -> None:
    """``NO_COLOR`` is set: no order of the terminal is a colour, in problems, in the table or in a diff."""
    write_file(report / "data" / "runs.csv", RUNS.replace("MEL,1,10,0.84", "MEL,1,10,0.60"))
    colour = re.compile(r"\x1b\[(?:3\d|9\d|38;[\d;]+)m")
    for command in ("check", "fix"):
        assert colour.search(run_on_terminal(report, command))
        assert not colour.search(run_on_terminal(report, command, NO_COLOR="1"))
