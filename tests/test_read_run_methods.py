"""Runs of which each is a series, though a setting and the seed tell them apart: suggested, never done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_sources import Data

from reportgen.core.cache import FileHashes
from reportgen.draft import describing

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.statements import Description


def described(data: Data) -> Description:
    """The source ``s``."""
    return describing.describe_path(
        data.root / "data/s", data.root, "s", FileHashes(data.root / ".kept"), None
    )


def runs(tmp_path: Path, *configs: Mapping[str, object]) -> Data:
    """Logs of Lightning with these settings, in folders that say nothing."""
    data = Data(tmp_path)
    for number, config in enumerate(configs):
        folder = f"s/lightning_logs/version_{number}"
        data.write(f"{folder}/metrics.csv", f"epoch,step,loss\n0,0,{number}\n1,10,{number / 2}\n")
        data.write(f"{folder}/hparams.yaml", "\n".join(f"{key}: {value}" for key, value in config.items()))
    return data


def test_a_method_is_suggested(tmp_path: Path) -> None:
    """Six series stay six; two are offered, and work."""
    data = runs(tmp_path, *({"method": one, "seed": seed, "lr": 0.1} for one in "AB" for seed in (1, 2, 3)))
    assert len(described(data).series) == 6
    assert data.warnings("s") == [
        (
            "data/s: each of 6 runs is a series of its own, though method and the seed tell them apart. "
            "If those of one method are repetitions, say series_from: method in source.yml; "
            "if not, say series_from: name."
        )
    ]
    told = described(data)
    assert describing.suggest_settings(told)["settled"] == ""
    data.write("s/source.yml", describing.suggest_settings(told)["repetitions"])
    assert described(data).series == ("A", "B")
    assert data.warnings("s") == []
    data.write("s/source.yml", "series_from: name")
    assert (len(described(data).series), data.warnings("s")) == (6, [])


def test_runs_that_differ_in_seeds_alone_share_a_setting(tmp_path: Path) -> None:
    """Folders that only count them are one series, once a setting that they share names it."""
    data = runs(tmp_path, *({"lr": 0.1, "method": "A", "seed": seed} for seed in (1, 2, 3)))
    (said,) = data.warnings("s")
    assert "each of 3 runs is a series of its own, though the seed alone tells them apart" in said
    data.write("s/source.yml", describing.suggest_settings(described(data))["repetitions"])
    assert (described(data).series, data.warnings("s")) == (("A",), [])


def test_several_settings_are_suggested_together(tmp_path: Path) -> None:
    """Eight series stay eight; four are offered, and have the two seeds of each."""
    data = runs(
        tmp_path,
        *({"method": one, "lr": lr, "seed": seed} for one in "AB" for lr in (1, 2) for seed in (1, 2)),
    )
    assert data.warnings("s") == []
    assert len(described(data).series) == 8
    data.write("s/source.yml", describing.suggest_settings(described(data))["repetitions"])
    assert described(data).series == ("A, lr=1", "A, lr=2", "B, lr=1", "B, lr=2")
    assert [run.seed for run in described(data).counts.runs] == ["1", "2"] * 4
    assert data.warnings("s") == []


@pytest.mark.parametrize(
    "configs",
    [
        [{"method": one} for one in "AABB"],
        [{"method": one, "seed": 1} for one in "AABB"],
        [{"method": one, "seed": seed} for seed, one in enumerate("ABCD")],
        [{"seed": seed} for seed in range(4)],
    ],
    ids=["no seeds", "one seed", "one run each", "no setting"],
)
def test_nothing_is_suggested_that_settings_do_not_say(
    tmp_path: Path, configs: list[dict[str, object]]
) -> None:
    """There have to be several runs with different seeds for each value of a setting."""
    data = runs(tmp_path, *configs)
    assert not [one for one in data.warnings("s") if "a series of its own" in one]
    assert "series_from" not in described(data).repetitions


def test_a_setting_with_a_name_that_is_a_number(tmp_path: Path) -> None:
    """Few values of a number are as good as names."""
    data = runs(tmp_path, *({"lr": lr, "seed": seed} for lr in (0.1, 0.01) for seed in (1, 2)))
    assert described(data).repetitions == {"series_from": "lr"}
