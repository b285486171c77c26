"""Metrics: which way is better, and columns of ``table`` blocks, computed from the raw file.

Names of metrics stand in ``transcripts/names_of_metrics.md``, columns in ``transcripts/result_tables.md``.
"""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
from collections import defaultdict
from pathlib import Path
from statistics import mean, stdev

import pytest
from command_line import call
from scipy import stats

from reportgen.core.directions import (
    EITHER_WAY,
    HIGHER,
    LOWER,
    NEITHER,
    Direction,
    find_direction,
    guess_direction,
)

CASE = Path(__file__).parent / "cases" / "best-checkpoint"


def read_runs() -> dict[str, list[list[tuple[int, float, float]]]]:
    """The steps, losses and accuracies of each run, by series, from the file itself."""
    runs: dict[tuple[str, str], list[tuple[int, float, float]]] = defaultdict(list)
    with (CASE / "data" / "runs.csv").open() as file:
        for row in csv.DictReader(file):
            values = (int(row["step"]), float(row["eval/loss"]), float(row["test/accuracy"]))
            runs[row["series"], row["seed"]].append(values)
    found = defaultdict(list)
    for (series, _), rows in runs.items():
        found[series].append(rows)
    return found


def half(values: list[float]) -> float:
    """Half of Student's 95% CI of a mean."""
    return float(stats.t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))


def test_facts_are_those_of_the_file(tmp_path: Path) -> None:
    """Last readings, means, spread, and picked checkpoints with how far they are behind the best."""
    root = tmp_path / "report"
    shutil.copytree(CASE, root, ignore=shutil.ignore_patterns("expected"))
    page = root / "content" / "index.md"
    expected: dict[str, list[float]] = {}
    costs: dict[str, float] = {}
    for series, runs in read_runs().items():
        lowest = [min(run, key=lambda row: row[1])[2] for run in runs]
        expected |= {
            f"last({series}, 5)": [mean(row[2] for row in run[-5:]) for run in runs],
            f"mean({series})": [mean(row[2] for row in run) for run in runs],
            f"best_by({series}, 'eval/loss')": lowest,
            f"best_by({series}, 'lowest eval/loss')": lowest,
            f"best_by({series}, 'highest eval/loss')": [max(run, key=lambda row: row[1])[2] for run in runs],
            f"sd({series})": [run[-1][2] for run in runs],
        }
        costs[f"best_by({series}, 'eval/loss')"] = mean(
            max(row[2] for row in run) - picked for run, picked in zip(runs, lowest, strict=True)
        )
    lines = [f'[9999]{{value="{one}" of="checkpoints"}}' for one in expected]
    page.write_text(page.read_text() + "\n" + "\n".join(lines) + "\n")
    statements = json.loads(call(root, "check", "--format", "json").stdout)["statements"]
    found = {
        one["expression"]: one["found"].partition(" = ")[2] for one in statements if one["words"] == "9999"
    }
    assert found.keys() == expected.keys()
    for text, values in expected.items():
        numbers = [float(one) for one in re.findall(r"(?<![\w./])\d\.\d+(?:e-\d+)?", found[text])]
        if text.startswith("sd"):
            assert numbers[0] == pytest.approx(stdev(values), rel=1e-3)
            continue
        ends = (mean(values), mean(values) - half(values), mean(values) + half(values))
        assert numbers[:3] == pytest.approx(ends, abs=6e-4), text
    for text, cost in costs.items():
        (number,) = re.findall(r"(\S+) behind the best of each run", found[text])
        assert float(number) == pytest.approx(cost, rel=0.05)


def test_the_file_of_a_table_has_every_number_in_full() -> None:
    """Values, ends of intervals and steps are those of the raw rows, in columns of their own."""
    (table,) = (CASE / "expected").rglob("checkpoints.csv")
    with table.open(encoding="utf-8-sig") as file:
        rows = {row["series"]: row for row in csv.DictReader(file)}
    for series, runs in read_runs().items():
        row = rows[series]
        picked = [min(run, key=lambda one: one[1]) for run in runs]
        chosen = {
            "best by eval/loss": [one[2] for one in picked],
            "final": [run[-1][2] for run in runs],
            "at 60": [one[2] for run in runs for one in run if one[0] == 60],
            "last 5": [mean(one[2] for one in run[-5:]) for run in runs],
        }
        for column, values in chosen.items():
            assert float(row[column]) == pytest.approx(mean(values), rel=1e-9)
            ends = float(row[f"{column} low"]), float(row[f"{column} high"])
            assert ends == pytest.approx((mean(values) - half(values), mean(values) + half(values)), rel=1e-9)
        assert float(row["final step"]) == max(one[0] for one in runs[0])
        places = {row[f"best by eval/loss {name}"] for name in ("step", "first step", "last step")}
        assert {str(one[0]) for one in picked} >= places - {""} != set()
        assert float(row["sd"]) == pytest.approx(stdev(chosen["final"]), rel=1e-9)
        assert row["n"] == "3"


# ---- which way is better ------------------------------------------------------------------------

# Not guessed even where a benchmark is ranked by it; of other names that say nothing, more is better there.
OPEN = (
    *("time_to_accuracy", "steps_to_accuracy", "timeToAccuracy", "time to 90% accuracy", "time_to_loss"),
    *("steps_to_first_success", "crps_score", "anomaly_score", "risk_score", "cost_score", "cost_return"),
    *("attack_success_rate", "jailbreak/success_rate/mean", "no_error_rate", "non_toxicity", "no_match"),
    *("entropy", "epoch"),
)
SILENT = ("net generation (GWh)", "aime24", "value", "loss_scale", "num_turns/mean", "")


def test_what_is_said_counts_before_the_name() -> None:
    """The first who says something; a benchmark's rank is no word about a loss, nor about an entropy."""
    assert find_direction("loss", None, True, False) is True
    assert find_direction("accuracy", False) is False
    assert find_direction("loss", ranks=True) is False
    for name in (*OPEN, *SILENT):
        assert find_direction(name) is None, name
        assert find_direction(name, ranks=True) is (True if name in SILENT else None), name


def test_no_name_stands_in_two_lists() -> None:
    """And all are written as they are looked up."""
    names = [*LOWER, *HIGHER, *NEITHER]
    assert len(names) == len(set(names))
    for listed, direction in (
        (LOWER, Direction.LOWER),
        (HIGHER, Direction.HIGHER),
        (NEITHER, Direction.NEITHER),
    ):
        assert {guess_direction(name) for name in listed} == {direction}


def test_a_word_that_leaves_it_open_counts_before_general_names_only() -> None:
    """An accuracy is one, whatever it is of."""
    for word in sorted(EITHER_WAY):
        for name in ("score", "reward", "return", "success", "success_rate"):
            assert guess_direction(f"{word}_{name}") is Direction.NEITHER, word
        assert guess_direction(f"{word}_accuracy") is Direction.HIGHER, word
        assert guess_direction(f"{word}_error") is Direction.LOWER, word
