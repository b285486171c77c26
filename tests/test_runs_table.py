"""Tables of runs: the numbers are those of the raw file, and settings are those in which runs differ."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from made_projects import write_report
from test_report import drafted, problems

from reportgen.core.model import ResultTable

if TYPE_CHECKING:
    from collections.abc import Mapping

CASE = Path(__file__).parent / "cases" / "explore"
PAGE = "# Small\n\n```curve\nid: lines\nsource: runs\nmetric: score\n```\n\n```runs-table\nid: one\n{}\n```\n"
RUNS = "series,seed,step,score,lr,note,dim\n" + "".join(
    f"{name},{seed},{step},{step / 10 + seed / 100},{rate},same,64\n"
    for name, rate in (("a", 0.1), ("b", 0.2))
    for seed in (1, 2)
    for step in range(3 + seed)
)


def draw(folder: Path, block: str, files: Mapping[str, str] | None = None) -> ResultTable:
    """The table of runs of a small report."""
    root = write_report(
        folder, {"content/index.md": PAGE.format(block), **(files or {"data/runs.csv": RUNS})}
    )
    table = drafted(root).shown["index.md", "one"]
    assert isinstance(table, ResultTable)
    return table


def test_each_row_is_a_run_of_the_file() -> None:
    """Final and best values of the case are those of the raw rows, as exact as these."""
    rows: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for row in csv.DictReader((CASE / "data/runs.csv").read_text("utf-8").splitlines()):
        value = float(row["step"]), float(row["accuracy"])
        rows.setdefault((row["method"], row["seed"]), []).append(value)
    text = (CASE / "expected/figures/index/every-run.csv").read_text("utf-8")
    found = list(csv.DictReader(text.splitlines()))
    assert {(row["series"], row["seed"]) for row in found} == rows.keys()
    for row in found:
        own = rows[row["series"], row["seed"]]
        assert (float(row["last step"]), float(row["final"])) == own[-1]
        assert float(row["best of 11 checkpoints"]) == max(value for _, value in own)
        assert float(row["at 50"]) == dict(own)[50]


def test_the_csv_holds_numbers_as_programs_read_them(tmp_path: Path) -> None:
    """A step of thousands has its commas on the page alone."""
    table = draw(
        tmp_path, "source: runs", {"data/runs.csv": "series,seed,step,score\na,1,1000,0.5\nb,1,2500,0.6\n"}
    )
    assert [row[2].text for row in table.rows] == ["2,500", "1,000"]
    assert table.csv.splitlines()[1:] == ["b,1,2500,0.6,0.6", "a,1,1000,0.5,0.5"]


def test_settings_are_those_in_which_the_runs_differ(tmp_path: Path) -> None:
    """Columns of words and of numbers; what all runs of the table share is left out."""
    table = draw(tmp_path, "source: runs\nmetric: score")
    assert table.header == ("series", "seed", "lr", "last step", "final", "best")
    assert [cell.text for cell in table.rows[0]] == ["a", "2", "0.1", "4", "0.42", "0.42 at 4, of 5"]
    links = {f"lines~series={row[0].text}~run={row[1].text}@{row[0].text}" for row in table.rows}
    assert {row[0].link for row in table.rows} == links
    table = draw(tmp_path / "alone", "source: runs\nmetric: score\nseries: [a]")
    assert table.header[:3] == ("series", "seed", "last step")
    assert "differ in no known setting" in table.caption
    table = draw(tmp_path / "named", "source: runs\nmetric: score\nsettings: [note, dim]")
    assert table.header[:4] == ("series", "seed", "note", "dim")


def test_runs_of_several_sources_have_their_own_settings(tmp_path: Path) -> None:
    """A run without a setting says so."""
    files = {"data/runs.csv": RUNS, "data/more.csv": RUNS.replace("lr,", "decay,").replace("a,", "c,")}
    table = draw(tmp_path, "source: [runs, more]\nmetric: score", files)
    names = [row[0].text for row in table.rows]
    assert len(names) == 8
    column = table.header.index("decay")
    cells = {row[column].text for row in table.rows}
    assert "none" in cells
    assert len(cells) == 3


def test_what_cannot_be_shown_is_explained(tmp_path: Path) -> None:
    """Unknown settings, patterns and columns, and a grouping that a table of runs does not have."""
    for number, (block, message) in enumerate(
        (
            ("by: lr", "a runs-table has a row for each run: name columns of settings with settings:"),
            (
                "settings: [momentum]",
                '"momentum" is neither a setting nor a column of source "runs". There are "',
            ),
            ('settings: ["optim*"]', '"optim*" matches no setting in which runs differ'),
            ("settings: [step]", "step changes within run 1 of a"),
            ("columns: [worst]", '"worst" is no column'),
        )
    ):
        page = PAGE.format(f"source: runs\nmetric: score\n{block}")
        root = write_report(tmp_path / str(number), {"content/index.md": page, "data/runs.csv": RUNS})
        assert message in "\n".join(problems(root))
