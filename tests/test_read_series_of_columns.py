"""Several columns that name the series together: ``columns: {series: [algo, lr]}``."""

from __future__ import annotations

import csv
import io
from statistics import fmean
from typing import TYPE_CHECKING

import pytest
from made_sources import Data

from reportgen.core.errors import ReportError
from reportgen.read import TotalsTable

if TYPE_CHECKING:
    from pathlib import Path

TABLE = "algo,lr,seed,step,reward\n" + "".join(
    f"{algo},{lr},{seed},{step},{round(0.1 * step + 0.01 * seed + (0.2 if lr == '1e-5' else 0), 3)}\n"
    for algo in ("grpo", "ppo")
    for lr in ("1e-5", "1e-6")
    for seed in (1, 2)
    for step in (0, 1)
)
SETTINGS = "columns: {series: [algo, lr]}\n"


def make(root: Path, text: str = TABLE, settings: str = SETTINGS) -> Data:
    """A source of one table."""
    data = Data(root)
    data.write("s/runs.csv", text)
    data.write("s/source.yml", settings)
    return data


def test_each_combination_is_a_series(tmp_path: Path) -> None:
    """The first column as it is, the others with their names, as ``series_from`` does for runs."""
    frame = make(tmp_path).frame("s", "reward")
    expected: dict[str, list[float]] = {}
    for row in csv.DictReader(io.StringIO(TABLE)):
        expected.setdefault(f"{row['algo']}, lr={row['lr']}", []).append(float(row["reward"]))
    assert list(dict.fromkeys(frame["series"])) == list(expected)
    means = frame.groupby("series", sort=False)["value"].mean().to_dict()
    assert means == pytest.approx({name: fmean(each) for name, each in expected.items()})


def test_a_setting_is_no_metric(tmp_path: Path) -> None:
    """Numbers in a column of the series are part of its name."""
    source = make(tmp_path).open("s")
    assert source.metrics == ("reward",)
    assert source.settings.columns.series == ("algo", "lr")


def test_a_combination_can_be_renamed(tmp_path: Path) -> None:
    """By its name in the data."""
    settings = f"{SETTINGS}rename: {{'grpo, lr=1e-5': Ours}}\n"
    frame = make(tmp_path, settings=settings).frame("s", "reward")
    assert set(frame["series"]) == {"Ours", "grpo, lr=1e-6", "ppo, lr=1e-5", "ppo, lr=1e-6"}


def test_an_empty_cell_adds_nothing_to_the_name(tmp_path: Path) -> None:
    """As a baseline without the setting has it."""
    text = "algo,lr,step,reward\nbase,,0,0.1\nbase,,1,0.2\ngrpo,1e-5,0,0.1\ngrpo,1e-5,1,0.4\n"
    assert set(make(tmp_path, text).frame("s", "reward")["series"]) == {"base", "grpo, lr=1e-5"}


def test_a_column_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    """Each of them, with the columns there are."""
    with pytest.raises(ReportError) as error:
        make(tmp_path, settings="columns: {series: [algo, lrr]}\n").open("s")
    (problem,) = error.value.problems
    assert 'columns: series names the column "lrr", which the data do not have' in str(problem)
    assert 'Did you mean "lr"?' in str(problem)


def test_answers_and_tables_of_papers_have_such_series_too(tmp_path: Path) -> None:
    """The models of a comparison, and the rows of a wide table."""
    answers = "model,shots,problem,score\n" + "".join(
        f"A,{shots},q{problem},{int(problem >= shots)}\n" for shots in (0, 5) for problem in range(8)
    )
    data = make(tmp_path / "a", answers, "columns: {series: [model, shots]}\n")
    assert data.open("s").layout.series == ("A, shots=0", "A, shots=5")  # type: ignore[attr-defined]
    paper = "model,shots,AIME,MATH\nElm,0,0.5,0.6\nElm,5,0.6,0.7\n"
    wide = make(tmp_path / "b", paper, "form: wide\ncolumns: {series: [model, shots]}\n")
    scores = TotalsTable(wide.root, wide.open("s")).get_scores("AIME")
    assert [(one.series, one.value) for one in scores] == [("Elm, shots=0", 0.5), ("Elm, shots=5", 0.6)]
