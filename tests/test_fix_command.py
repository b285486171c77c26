"""``reportgen fix``: bound values are typed anew after they were shown; nothing else is touched."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import PAGE, RUNS, files_below, share_cache, write_file, write_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

VALUES = '\nMEL ends at [0.81]{value="final(MEL)"}, GRPO at [**70 %**]{value="final(GRPO)"}.\n'
CLAIM = '\n[GRPO wins]{claim="final(GRPO) > final(MEL)"}.\n'
SECOND = '# Two\n\n[step 0]{value="peak_step(MEL)" of="runs"}\n'
RIGHT = VALUES.replace("0.81", "0.82").replace("70 %", "72 %")


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with nothing to fix."""
    root = write_report(tmp_path_factory.mktemp("fix") / "report", {"content/index.md": PAGE + RIGHT})
    done = call(root, "fix")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "Nothing to fix.\n")
    return root


@pytest.fixture
def report(right: Path, tmp_path: Path) -> Path:
    """A report with three values to type anew, on two pages, and a claim that fails."""
    files = {"content/index.md": PAGE + VALUES + CLAIM, "content/two.md": SECOND}
    root = write_report(tmp_path / "report", files)
    share_cache(right, root)
    return root


def pages(root: Path) -> dict[str, bytes]:
    """Every page, by its name."""
    return files_below(root / "content")


def test_a_diff_is_shown_and_nothing_is_written(report: Path) -> None:
    """The diff alone goes to the output channel, so that it can be kept; it leaves with 1."""
    before = pages(report)
    done = call(report, "fix")
    assert done.returncode == 1
    assert pages(report) == before
    lines = done.stdout.splitlines()
    assert lines[:2] == ["--- a/content/index.md", "+++ b/content/index.md"]
    assert [line for line in lines if line.startswith(("-", "+")) and line[1:3] not in {"--", "++"}] == [
        f"-{VALUES.strip()}",
        f"+{RIGHT.strip()}",
        '-[step 0]{value="peak_step(MEL)" of="runs"}',
        '+[step 10]{value="peak_step(MEL)" of="runs"}',
    ]
    assert done.stderr.startswith("3 values in 2 pages to correct: reportgen fix --write writes them.\n")


def test_a_diff_is_a_patch(report: Path) -> None:
    """``git apply`` takes it, and the report is then as if it had been written."""
    patch = call(report, "fix").stdout
    subprocess.run(["git", "apply"], cwd=report, input=patch.encode(), check=True)  # noqa: S607 - any git
    assert call(report, "fix").returncode == 0
    assert b"[0.82]" in pages(report)["index.md"]


def test_written_values_match_and_claims_are_left(report: Path) -> None:
    """Digits, unit and emphasis stay; the claim is told with its place and stays, too."""
    done = call(report, "fix", "--write")
    assert done.returncode == 0
    assert pages(report) == {
        "index.md": (PAGE + RIGHT + CLAIM).encode(),
        "two.md": SECOND.replace("step 0", "step 10").encode(),
    }
    assert done.stderr.splitlines()[:4] == [
        "content/index.md: written",
        "content/two.md: written",
        "Corrected 3 values in 2 pages.",
        "",
    ]
    assert done.stderr.splitlines()[4] == "1 statement left for you:"
    assert done.stderr.splitlines()[5].startswith('content/index.md:10:1: warning: "GRPO wins" is not so: ')
    assert call(report, "check").stdout.endswith("4 statements: 3 hold, 1 fails\n")


def test_a_second_fix_finds_nothing(report: Path) -> None:
    """What was written holds; the claim that is left makes no difference to how it leaves."""
    call(report, "fix", "--write")
    before = pages(report)
    again = call(report, "fix", "--write")
    assert (again.returncode, again.stdout) == (0, "")
    assert again.stderr.startswith("Nothing to fix.\n\n1 statement left for you:\n")
    assert pages(report) == before


@pytest.mark.parametrize("turn", [lambda b: b.replace(b"\n", b"\r\n"), lambda b: b"\xef\xbb\xbf" + b])
def test_line_ends_and_marks_stay(report: Path, turn: Callable[[bytes], bytes]) -> None:
    """A page written on another system stays such a page."""
    write_file(report / "content" / "index.md", turn((PAGE + VALUES).encode()))
    assert call(report, "fix", "--write").returncode == 0
    assert pages(report)["index.md"] == turn((PAGE + RIGHT).encode())


def test_nothing_is_written_while_the_report_has_errors(report: Path) -> None:
    """What does not draft cannot be judged."""
    write_file(report / "content" / "two.md", SECOND.replace("peak_step(MEL)", "peak_step(MLE)"))
    before = pages(report)
    done = call(report, "fix", "--write")
    assert (done.returncode, done.stdout) == (1, "")
    assert "content/two.md:3:27: error: " in done.stderr
    assert done.stderr.endswith("1 problem; nothing was written.\n")
    assert pages(report) == before


def test_only_pages_and_the_cache_are_written(report: Path) -> None:
    """Neither a site nor data."""
    call(report, "fix", "--write")
    assert {path.name for path in report.iterdir()} == {"content", "data", "mkdocs.yml"}
    assert (report / "data" / "runs.csv").read_text("utf-8") == RUNS
