"""Columns of tables with numbers that are times since 1970."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest
from click.testing import CliRunner
from made_sources import Data

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

BEGIN = 1_764_213_900.25  # 2025-11-27 03:25:00 UTC


@pytest.fixture
def data(tmp_path: Path) -> Data:
    """An empty data folder."""
    return Data(tmp_path)


@pytest.mark.parametrize("name", ["timestamp", "time", "Wall time", "_timestamp"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_numbers_since_1970_are_when_a_run_was_logged(data: Data, name: str, ending: str) -> None:
    """They are no metric and no step, and describe says when and how long."""
    frame = pd.DataFrame({"step": [0, 1], name: [BEGIN, BEGIN + 600], "loss": [0.5, 0.25]})
    path = data.write(f"log.{ending}", b"")
    if ending == "csv":
        frame.to_csv(path, index=False)
    elif ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    result = CliRunner().invoke(cli, ["describe", str(path), "--format", "json"])
    described = json.loads(result.stdout)
    assert [metric["name"] for metric in described["metrics"]] == ["loss"]
    (run,) = described["runs"]
    assert (run["begins"], run["ends"]) == (BEGIN * 1000, (BEGIN + 600) * 1000)
    assert (run["first"], run["last"]) == (0, 1)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_tables_with_settings_beside_them_have_times_too(data: Data, ending: str) -> None:
    """As those without."""
    frame = pd.DataFrame({"step": [0, 1], "Wall time": [BEGIN, BEGIN + 600], "loss": [0.5, 0.25]})
    for seed in (1, 2):
        text = frame.to_csv(index=False) if ending == "csv" else frame.to_json(orient="records", lines=True)
        data.write(f"runs/r{seed}/log.{ending}", str(text))
        data.write(f"runs/r{seed}/config.json", json.dumps({"seed": seed}))
    result = CliRunner().invoke(cli, ["describe", str(data.root / "data/runs"), "--format", "json"])
    described = json.loads(result.stdout)
    assert described["format"] == "run_tables"
    assert [metric["name"] for metric in described["metrics"]] == ["loss"]
    times = [(run["begins"], run["ends"]) for run in described["runs"]]
    assert times == [(BEGIN * 1000, (BEGIN + 600) * 1000)] * 2


def test_a_duration_stays_a_metric(data: Data) -> None:
    """Seconds since the start are no times since 1970."""
    data.write("log.csv", "step,time,loss\n0,0,0.5\n1,12.5,0.25\n")
    assert data.open("log").metrics == ("time", "loss")


def test_a_time_may_be_the_step_where_the_settings_say_so(data: Data) -> None:
    """It is drawn as a time."""
    data.write("log.csv", f"timestamp,loss\n{BEGIN},0.5\n{BEGIN + 600},0.25\n")
    data.write("log.source.yml", "columns: {step: timestamp}\n")
    assert data.frame("log")["step"].tolist() == [
        pd.Timestamp(BEGIN, unit="s", tz="UTC"),
        pd.Timestamp(BEGIN + 600, unit="s", tz="UTC"),
    ]
