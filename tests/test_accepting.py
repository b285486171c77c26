"""Warnings that are accepted beside where they arise, with a reason."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

from reportgen.draft.accepting import make_warning_id

if TYPE_CHECKING:
    from pathlib import Path

TORN = '{"step": 1, "loss": 0.5, "series": "A"}\n{"step": 2, "loss": 0.4, "series": "A"}\n{"step": 3, "lo'
ID = "last-line-torn-off-left-out"
PAGE = "# Runs\n\n```curve\nid: loss\nsource: logs\nmetric: loss\n```\n"
OTHER = "series,step,tokens,loss\nB,1,100,0.6\nB,2,200,0.5\n"


def make_report(root: Path, *, settings: str = "", page: str = PAGE) -> Path:
    """A report on a log that was killed while it wrote a line."""
    files = {"data/logs/log.jsonl": TORN, "data/logs/source.yml": settings, "content/index.md": page}
    return write_report(root / "report", files)


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("the last line is torn off and was left out", ID),
        ('3 rows of "loss" have no number', "row-no-number"),
        ('1 row of "acc" has no number', "row-no-number"),
        ("each file is a series of its own", "each-file-series-own"),
        ("steps in data/x.csv:12 repeat 1,200 times", "step-repeat-time"),
        ('"x"', "warning"),
    ],
)
def test_ids_do_not_depend_on_names_and_numbers(message: str, name: str) -> None:
    """One more row, or another name, is the same warning."""
    assert make_warning_id(message) == name


def test_a_warning_prints_its_id(tmp_path: Path) -> None:
    """It is what an author has to write."""
    done = call(make_report(tmp_path), "check")
    assert (
        f"data/logs/log.jsonl:3: warning: the last line is torn off and was left out. [{ID}]" in done.stdout
    )


@pytest.mark.parametrize("command", ["check", "build"])
def test_a_warning_next_to_an_error_has_its_id(tmp_path: Path, command: str) -> None:
    """So that it can be accepted at once; what does not arise may be hidden by the error."""
    page = f"{PAGE}\n```curve\nid: other\nsource: nowhere\n```\n"
    done = call(make_report(tmp_path, page=page), command)
    assert done.returncode == 1
    assert f"warning: the last line is torn off and was left out. [{ID}]" in done.stdout + done.stderr
    settings = f"accept: {{{ID}: killed, row-no-number: a probe}}\n"
    done = call(make_report(tmp_path / "b", page=page, settings=settings), command)
    assert done.returncode == 1
    assert "warning" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "accept",
    [
        f"accept: [{ID}, the run was killed on purpose]",
        f"accept: [[{ID}, the run was killed on purpose]]",
        f"accept: {{{ID}: the run was killed on purpose}}",
    ],
)
def test_accepted_in_the_source(tmp_path: Path, accept: str) -> None:
    """It is not printed, does not fail --strict, and is in report.json and on the page with its reason."""
    report = make_report(tmp_path, settings=f"{accept}\n")
    assert "warning" not in call(report, "check").stdout
    done = call(report, "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "torn" not in done.stdout + done.stderr
    found = json.loads((report / "site" / "report.json").read_text())
    assert found["problems"] == []
    (accepted,) = found["accepted"]
    assert (accepted["id"], accepted["reason"]) == (ID, "the run was killed on purpose")
    assert (accepted["file"], accepted["line"]) == ("data/logs/log.jsonl", 3)
    html = (report / "site" / "index.html").read_text()
    assert "Accepted warnings" in html
    assert "Accepted: the run was killed on purpose" in html


def test_without_accept_strict_fails(tmp_path: Path) -> None:
    """So that the test above holds something."""
    done = call(make_report(tmp_path), "build", "--strict")
    assert done.returncode == 1
    assert ID in done.stdout + done.stderr


def test_accepted_in_a_block_and_in_front_matter(tmp_path: Path) -> None:
    """Steps of two sources that are not the same are said at the block."""
    files = {
        "data/a.csv": "series,step,loss\nA,1,0.6\nA,2,0.5\n",
        "data/b.csv": "series,epoch,loss\nB,1,0.6\nB,2,0.5\n",
        "data/b.source.yml": "columns: {step: epoch}\n",
    }
    block = "```curve\nsource: [a, b]\nmetric: loss\n{accept}```\n"
    said = call(
        write_report(tmp_path / "none", files | {"content/index.md": block.format(accept="")}), "check"
    )
    (name,) = {line.rpartition("[")[2].rstrip("]") for line in said.stdout.splitlines() if "warning:" in line}
    inside = block.format(accept=f"accept: [{name}, epochs are steps here]\n")
    before = f"---\naccept: [{name}, epochs are steps here]\n---\n{block.format(accept='')}"
    for place, page in (("block", inside), ("front", before)):
        done = call(write_report(tmp_path / place, files | {"content/index.md": page}), "check")
        assert "warning" not in done.stdout, done.stdout


def test_each_page_says_in_what_its_sources_differ(tmp_path: Path) -> None:
    """One page that accepts it does not accept it for another."""
    files = {
        f"data/{name}/runs.csv": f"series,step,loss\n{name},1,0.6\n{name},2,0.5\n" for name in ("a", "b")
    }
    files |= {f"data/{name}/source.yml": f"protocol: {{grader: {name}}}\n" for name in ("a", "b")}
    block = "```curve\nsource: [a, b]\nmetric: loss\n```\n"
    files |= {"content/index.md": block + block.replace("curve\n", "table\n"), "content/more.md": block}
    report = write_report(tmp_path / "report", files)
    warned = [one for one in call(report, "check").stdout.splitlines() if "warning:" in one]
    assert [one.partition(":")[0] for one in warned] == ["content/index.md", "content/more.md"]
    (name,) = {one.rpartition("[")[2].rstrip("]") for one in warned}
    accept = f"---\naccept: [{name}, both are small]\n---\n"
    (report / "content/more.md").write_text(accept + block, "utf-8")
    (left,) = [one for one in call(report, "check").stdout.splitlines() if "warning:" in one]
    assert left.startswith("content/index.md:1: ")


def test_a_stale_accept_is_a_warning(tmp_path: Path) -> None:
    """With its place, the nearest id and those that there are; the real warning still stands."""
    report = make_report(tmp_path, settings="accept: [last-line-torn-off, killed]\n")
    said = call(report, "check").stdout
    assert "data/logs/source.yml" in said
    assert 'accept names "last-line-torn-off", and no such warning arises here any more' in said
    assert f'Did you mean "{ID}"? Those that arise here are "{ID}"' in said
    assert "the last line is torn off" in said
    assert call(report, "build", "--strict").returncode == 1


def test_an_accept_away_from_its_warning_says_where_that_arises(tmp_path: Path) -> None:
    """As one in a block, of what was found in a file."""
    page = PAGE.replace("\n```\n", f"\naccept: [{ID}, killed]\n```\n", 1)
    said = call(make_report(tmp_path, page=page), "check").stdout
    assert f'accept names "{ID}", which arises at data/logs/' in said
    assert "Write it there: in data/logs/source.yml." in said


def test_what_accept_takes(tmp_path: Path) -> None:
    """An id without a reason is refused."""
    said = call(make_report(tmp_path, settings=f"accept: [{ID}]\n"), "check").stdout
    assert "accept takes the id of a warning and the reason, as in accept: [ID, reason]" in said


def test_statements_are_not_accepted(tmp_path: Path) -> None:
    """A sentence that does not hold has fails=, and its warning has no id."""
    page = f'{PAGE}\n[0.9]{{value="final(A)" of="loss"}}\n'
    (line,) = [
        one
        for one in call(make_report(tmp_path, page=page), "check").stdout.splitlines()
        if "0.9" in one and "error" in one
    ]
    assert not line.endswith("]")


def test_the_page_of_problems_lists_warnings_and_what_is_accepted(tmp_path: Path) -> None:
    """With reasons; each page links to it, and there is none where nothing is wrong."""
    stale = PAGE.replace("metric: loss", "metric: loss\naccept: [no-such-warning, long ago]")
    root = make_report(tmp_path, settings=f"accept: [{ID}, it was <stopped>]\n", page=stale)
    assert call(root, "build").returncode == 0
    page = (root / "site/problems.html").read_text("utf-8")
    assert "the last line is torn off and was left out" in page
    assert "Accepted: it was &lt;stopped&gt;" in page
    assert "no-such-warning" in page
    assert '<a href="problems.html">Problems of this report</a>' in (root / "site/index.html").read_text(
        "utf-8"
    )
    clean = write_report(tmp_path / "clean", {})
    assert call(clean, "build").returncode == 0
    assert not (clean / "site/problems.html").exists()
    assert "problems.html" not in (clean / "site/index.html").read_text("utf-8")
