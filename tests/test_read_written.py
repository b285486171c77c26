"""Small files by the real writers, opened as a user opens them: see ``tests/data``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from kept_files import KEPT, unpacked

from reportgen.read import make_frame, open_path, read_measurements, read_outcomes
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

# Where each format's runs have their series and seeds; what is guessed is told.
LOGGERS = {
    "dvclive": ("folders", "the configuration"),
    "mlflow_files": ("names", "the configuration"),
    "mlflow_sqlite": ("names", "the configuration"),
    "tensorboard": ("folders", "the names"),
    "trackio": ("names", "the configuration"),
    "wandb": ("names", "the configuration"),
}
# A metric that the writer adds by itself.
ADDED = {"_runtime"}


def test_every_kept_folder_is_read() -> None:
    """No file is kept for nothing."""
    assert sorted(path.name for path in KEPT.iterdir()) == sorted(
        [*LOGGERS, "inspect", "mt_bench", "promptfoo"]
    )


@pytest.mark.parametrize("form", LOGGERS)
def test_a_folder_of_runs(form: str, tmp_path: Path) -> None:
    """Two series of two seeds with two metrics on five steps, whatever logged them."""
    root, source = open_path(unpacked(form, tmp_path), load_settings=load_source_settings)
    assert set(source.metrics) - ADDED == {"eval/accuracy", "loss"}
    table = make_frame(read_measurements(root, source, ("loss", "eval/accuracy")))
    assert len(table) == 2 * 2 * 2 * 5
    assert set(zip(table["series"], table["seed"], strict=True)) == {
        *(("base", "1"), ("base", "2"), ("wide", "1"), ("wide", "2"))
    }
    for _, rows in table.groupby(["series", "seed", "metric"]):
        assert rows["step"].tolist() == [0, 1, 2, 3, 4]
    values = table.set_index(["series", "seed", "metric", "step"])["value"]
    assert values["base", "1", "loss", 0] == 1.625
    assert values["wide", "2", "loss", 3] == 0.375
    assert values["wide", "1", "eval/accuracy", 4] == 0.5625


@pytest.mark.parametrize("form", LOGGERS)
def test_nothing_but_names_is_told(form: str, tmp_path: Path) -> None:
    """What a writer closed leaves nothing to tell but how its runs were named."""
    _, source = open_path(unpacked(form, tmp_path), load_settings=load_source_settings)
    series_by, seeds_by = LOGGERS[form]
    assert [problem.message for problem in source.warnings] == [
        f"series were distinguished by their {series_by}, and seeds by {seeds_by}: base and wide"
    ]


def test_a_folder_of_evaluations(tmp_path: Path) -> None:
    """Two models on four problems, two answers to each."""
    root, source = open_path(unpacked("inspect", tmp_path), load_settings=load_source_settings)
    assert (source.kind, source.benchmarks, source.warnings) == ("outcomes", ("sums",), ())
    assert source.slices == ("subject", "level")
    found = read_outcomes(root, source)
    with found.reading():
        table = found.frame.collect().to_pandas()
    assert len(table) == 2 * 4 * 2
    assert set(table["seed"]) == {"7"}
    scores = table.groupby(["series", "problem"])["score"].agg(list)
    right = {series: [scores[series, f"p{number}"] for number in range(4)] for series in set(table["series"])}
    assert right == {
        "mockllm/base": [[0, 0], [1, 1], [0, 0], [1, 1]],
        "mockllm/wide": [[0, 0], [1, 1], [1, 1], [0, 0]],
    }
    answers = table[(table["series"] == "mockllm/wide") & (table["problem"] == "p2")]
    assert answers[["answer", "gold", "subject"]].to_numpy().tolist() == [["4", "4", "physics"]] * 2
