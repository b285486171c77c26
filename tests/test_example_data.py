"""The data of the example report: what the pages say about them, and that they can be made again."""

from __future__ import annotations

import csv
import runpy
import shutil
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import pytest

DATA = Path(__file__).parents[1] / "data"
SCRIPTS = {
    "aime-outcomes/make_outcomes.py": "outcomes.csv",
    "aime/make_runs.py": "runs.csv",
    "iowa-electricity/make_generation.py": "generation.csv",
    "model-comparison/make_outcomes.py": "outcomes.csv",
    "seattle-weather/make_days.py": "days.csv",
    "wandb-csv-example/make_chart.py": "val_loss.csv",
}


def rows(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file of data/."""
    with (DATA / path).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# Scripts that write the whole folder beside them, and need none of the tools whose form they write.
FOLDERS = (
    "helm-example/make_runs.py",
    "lighteval-checkpoints/make_results.py",
    "lighteval-example/make_results.py",
    "lightning-example/make_runs.py",
    "lm-eval-example/make_results.py",
    "trainer-example/make_runs.py",
    "verl-console-example/make_logs.py",
    "verl-example/make_runs.py",
)


@pytest.mark.parametrize("script", FOLDERS)
def test_scripts_make_the_same_folder_again(script: str, tmp_path: Path) -> None:
    """A folder that a script made holds what the script makes now, and nothing else."""
    folder = (DATA / script).parent
    copy = str(shutil.copy(DATA / script, tmp_path))
    runpy.run_path(copy, run_name="__main__")

    def files(root: Path) -> dict[str, bytes]:
        """All files but the settings."""
        found = (path for path in root.rglob("*") if path.is_file() and path.name != "source.yml")
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}

    assert files(tmp_path) == files(folder)


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_make_the_same_file_again(script: str, tmp_path: Path) -> None:
    """A file that a script made is what the script makes now."""
    copy = str(shutil.copy(DATA / script, tmp_path))
    runpy.run_path(copy, run_name="__main__")
    made = (DATA / script).with_name(SCRIPTS[script])
    assert (tmp_path / SCRIPTS[script]).read_bytes() == made.read_bytes()


def test_the_mean_of_the_aime_runs_is_the_digitised_point() -> None:
    """Five runs a step, whose mean is exactly the value read off the figure."""
    runs = defaultdict(list)
    for row in rows("aime/runs.csv"):
        runs[row["series"], int(row["iteration"])].append(Fraction(row["pass@1"]))
    assert {len(values) for values in runs.values()} == {5}
    mean = {key: sum(values) / 5 for key, values in runs.items()}
    assert mean["v10-l1-length-4096", 900] == Fraction("0.321")
    assert mean["v1-l1-length-4096", 900] == Fraction("0.280")
    assert all(value == round(value, 3) for value in mean.values())


def test_the_spread_of_the_aime_runs_follows_the_description() -> None:
    """Widest between 400 and 600 and between 800 and 1000; the second series is wide at 900."""
    spread = defaultdict(list)
    for row in rows("aime/runs.csv"):
        spread[row["series"], int(row["iteration"])].append(float(row["pass@1"]))
    width = {key: max(values) - min(values) for key, values in spread.items()}
    first = {step: size for (series, step), size in width.items() if series.startswith("v10")}
    widest = sorted(first, key=first.__getitem__)[-6:]
    assert sorted(widest) == [400, 500, 600, 800, 900, 1000]
    second = {step: size for (series, step), size in width.items() if series.startswith("v1-")}
    assert max(second, key=second.__getitem__) == 900


def test_the_reference_points_are_there() -> None:
    """Points that the pages quote."""
    math500 = {(r["series"], r["step"]): float(r["validation score"]) for r in rows("math500/points.csv")}
    assert math500["MEL", "120"] == 0.84
    assert math500["GRPO", "100"] == 0.815
    assert math500["GRPO", "140"] == 0.82
    diagnostics = {
        (r["series"], r["metric"], r["step"]): float(r["value"]) for r in rows("rl-diagnostics/points.csv")
    }
    assert diagnostics["Series B", "actor/kl_loss", "20"] == 1.0
