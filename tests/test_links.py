"""Links that lead out of the repository publish what whoever builds can read: they are refused by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result
from made_projects import RUNS, SETTINGS, write_file, write_report

from reportgen.cli import cli

Way: TypeAlias = Callable[[Path, Path], Path]
LEAKED = "only-on-this-machine"
PAGE = """# Rows

```vega-lite
data: {source: runs}
mark: point
encoding: {x: {field: step, type: quantitative}}
```
"""
FOLLOWING = SETTINGS.replace("plugins: [reportgen]", "plugins: [{reportgen: {follow_links: true}}]")
STEP = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data."
)


def call(root: Path, *words: str) -> Result:
    """A command on a report, in this process."""
    return CliRunner().invoke(cli, [*words, "--config-file", str(root / "mkdocs.yml")])


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the machine that builds, with a table."""
    folder = tmp_path / "machine"
    write_file(folder / "runs.csv", f"series,seed,step,accuracy\n{LEAKED},1,0,0.5\n{LEAKED},1,1,0.6\n")
    write_file(folder / "deep/a/runs.csv", RUNS)
    return folder


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report in a sub-folder of a git repository, without data."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    return write_report(tmp_path / "repository/report", {"content/index.md": PAGE, "data/runs.csv": None})


def _to_file(data: Path, outside: Path) -> Path:
    (data / "runs.csv").symlink_to(outside / "runs.csv")
    return data / "runs.csv"


def _to_folder(data: Path, outside: Path) -> Path:
    (data / "runs").symlink_to(outside)
    return data / "runs"


def _within_folder(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a/b/c/d.csv", RUNS)
    (data / "runs/a/b/c/x.csv").symlink_to(outside / "runs.csv")
    return data / "runs/a/b/c/x.csv"


def _folder_within_folder(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a.csv", RUNS)
    (data / "runs/deep").symlink_to(outside / "deep/a")
    return data / "runs/deep"


def _chain(data: Path, outside: Path) -> Path:
    (data.parent / "one.csv").symlink_to(data.parent / "two.csv")
    (data.parent / "two.csv").symlink_to(outside / "runs.csv")
    (data / "runs.csv").symlink_to("../one.csv")
    return data / "runs.csv"


def _chosen_by_pattern(data: Path, outside: Path) -> Path:
    write_file(data / "runs/source.yml", "files: '*/*/runs.csv'")
    (data / "runs/deep").symlink_to(outside / "deep")
    return data / "runs/deep"


def _hidden_and_chosen(data: Path, outside: Path) -> Path:
    write_file(data / "runs/source.yml", "files: .h/*.csv")
    (data / "runs/.h").symlink_to(outside)
    return data / "runs/.h"


def _settings(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a.csv", RUNS)
    write_file(outside / "settings", f"description: {LEAKED}")
    (data / "runs/source.yml").symlink_to(outside / "settings")
    return data / "runs/source.yml"


def _settings_of_a_file(data: Path, outside: Path) -> Path:
    write_file(data / "runs.csv", RUNS)
    write_file(outside / "settings", f"description: {LEAKED}")
    (data / "runs.source.yml").symlink_to(outside / "settings")
    return data / "runs.source.yml"


def _data_folder(data: Path, outside: Path) -> Path:
    data.rmdir()
    data.symlink_to(outside)
    return data


def _git(data: Path, outside: Path) -> Path:
    write_file(data.parents[1] / ".git/runs.csv", (outside / "runs.csv").read_bytes())
    (data / "runs.csv").symlink_to("../../.git/runs.csv")
    return data / "runs.csv"


WAYS = (
    *(_to_file, _to_folder, _within_folder, _folder_within_folder, _chain, _chosen_by_pattern),
    *(_hidden_and_chosen, _settings, _settings_of_a_file, _data_folder, _git),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_a_link_out_of_the_repository_is_refused(report: Path, outside: Path, way: Way) -> None:
    """Named with where it leads and the line that would allow it; nothing behind it is told or written."""
    (report / "data").mkdir()
    link = way(report / "data", outside)
    told = call(report, "build", "--strict")
    assert told.exit_code == 1
    assert not isinstance(told.exception, Exception)
    (line,) = [one for one in told.output.splitlines() if "leads out" in one]
    named = f"{link.relative_to(report)}: error: this link"
    if link == report / "data":
        named = 'content/index.md:3: error: the link "data"'
    assert line.startswith(f"{named} leads out of the repository, to {str(link.resolve())!r}. ")
    assert line.endswith(STEP)
    assert LEAKED not in told.output
    assert not (report / "site").exists()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_follow_links_allows_them(report: Path, outside: Path, way: Way) -> None:
    """Whoever trusts everybody who may change the data says so in one line."""
    (report / "data").mkdir()
    way(report / "data", outside)
    write_file(report / "mkdocs.yml", FOLLOWING)
    told = call(report, "check")
    assert told.exit_code == 0, told.output


def test_many_links_are_one_problem(report: Path, outside: Path) -> None:
    """A folder of checkpoints, each of them a link to one place, is told once."""
    (report / "data/runs").mkdir(parents=True)
    for number in range(20):
        (report / f"data/runs/r{number}.csv").symlink_to(outside / "runs.csv")
    told = call(report, "check")
    assert told.output.count("this link leads out of the repository") == 1
    assert "the same in 19 more" in told.output


def test_a_name_of_a_target_is_printed_not_obeyed(report: Path, tmp_path: Path) -> None:
    """A terminal and a workflow's log obey escapes and line breaks."""
    target = tmp_path / "x\n::error::\x1b[31m"
    write_file(target / "runs.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs").symlink_to(target)
    told = call(report, "check")
    assert "\\n::error::\\x1b[31m" in told.output
    assert "\x1b[31m" not in told.output


def test_links_within_the_repository_are_followed(report: Path) -> None:
    """Also to folders beside the report, and above the folder of the page."""
    write_file(report.parent / "results/runs/a.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs").symlink_to("../../results/runs")
    told = call(report, "check")
    assert told.exit_code == 0, told.output


def test_without_git_the_repository_is_the_report(tmp_path: Path) -> None:
    """A link to the folder around it is refused."""
    report = write_report(tmp_path / "report", {"content/index.md": PAGE, "data/runs.csv": None})
    write_file(tmp_path / "runs.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs.csv").symlink_to("../../runs.csv")
    assert "this link leads out of the repository" in call(report, "check").output


def test_a_data_folder_named_outside_may_be_read(report: Path, outside: Path) -> None:
    """Whoever writes ``data_dir`` means it; links in it lead no further."""
    settings = SETTINGS.replace("[reportgen]", f"[{{reportgen: {{data_dir: {str(outside)!r}}}}}]")
    write_file(report / "mkdocs.yml", settings)
    assert call(report, "check").exit_code == 0
    (outside / "runs.csv").rename(outside.parent / "runs.csv")
    (outside / "runs.csv").symlink_to(outside.parent / "runs.csv")
    assert "this link leads out of the repository" in call(report, "check").output


def test_a_path_that_was_typed_may_be_a_link(report: Path, outside: Path) -> None:
    """``describe`` and ``freeze`` read what it leads to, and in a report no further link out of it."""
    (report / "data").mkdir()
    (report / "data/runs").symlink_to(outside)
    typed = str(report / "data/runs")
    assert CliRunner().invoke(cli, ["describe", typed]).exit_code == 0
    frozen = str(report / "data/frozen")
    assert CliRunner().invoke(cli, ["freeze", typed, "--to", frozen]).exit_code == 0
    write_file(outside.parent / "other.csv", RUNS)
    (outside / "other.csv").symlink_to(outside.parent / "other.csv")
    for words in (["describe", typed], ["freeze", typed, "--to", frozen]):
        told = CliRunner().invoke(cli, words)
        assert told.exit_code == 1
        assert "data/runs/other.csv: error: this link leads out of the repository" in told.output
    # Elsewhere links are the business of whoever typed the path.
    assert CliRunner().invoke(cli, ["describe", str(outside)]).exit_code == 0


def test_folders_nested_without_end_are_told(report: Path) -> None:
    """So deep that nobody means it; Python itself goes no deeper than 1,000."""
    write_file(report / "data/runs" / "/".join("d" * 150) / "a.csv", RUNS)
    told = call(report, "check")
    assert told.exit_code == 1
    assert (
        "data/runs: error: its folders are nested more than 100 deep. Move the data further up."
        in told.output
    )
