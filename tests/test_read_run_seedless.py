"""A run of which no seed is known is named apart, and does not change the names of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_sources import Data

from reportgen.core.cache import FileHashes
from reportgen.draft import describing

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.statements import Description


def runs(tmp_path: Path) -> Data:
    """Logs of Lightning: three seeds of each of two methods, named by the logger's name."""
    data = Data(tmp_path)
    for method in ("grpo", "ppo"):
        for seed in (1, 2, 3):
            folder = f"s/{method}/version_{seed}"
            data.write(f"{folder}/metrics.csv", f"epoch,step,loss\n0,0,{seed}\n1,10,{seed / 2}\n")
            data.write(f"{folder}/hparams.yaml", f"method: {method}\nlr: 0.1\nseed: {seed}\n")
    return data


def described(data: Data) -> Description:
    """The source ``s``."""
    return describing.describe_path(
        data.root / "data/s", data.root, "s", FileHashes(data.root / ".kept"), None
    )


def named(data: Data) -> list[tuple[str, str | None]]:
    """Series and seed of each run."""
    return sorted((one.series, one.seed) for one in described(data).counts.runs)


def test_a_run_without_its_file_of_settings_stays_apart(tmp_path: Path) -> None:
    """The others keep their series and seeds, and what to write where is told."""
    data = runs(tmp_path)
    whole = [("grpo", "1"), ("grpo", "2"), ("grpo", "3"), ("ppo", "1"), ("ppo", "2"), ("ppo", "3")]
    assert named(data) == whole
    (data.root / "data/s/grpo/version_3/hparams.yaml").unlink()
    assert sorted(named(data), key=str) == [*whole[:2], ("grpo/version_3", None), *whole[3:]]
    assert data.warnings("s")[-1] == (
        "data/s: data/s/grpo/version_3 has no hparams.yaml, unlike the other 5 runs: it is unknown which of "
        'these it repeats, if any; read as the series "grpo/version_3". Write hparams.yaml there, with the '
        "settings and the seed of the run, as in seed: 1, or leave it out with files: in source.yml."
    )
    data.write("s/grpo/version_3/hparams.yaml", "method: grpo\nlr: 0.1\nseed: 3\n")
    assert named(data) == whole


@pytest.mark.parametrize("settings", ["method: grpo\nlr: 0.1\n", "{}\n", "method: [\n"])
def test_settings_that_tell_no_seed(tmp_path: Path, settings: str) -> None:
    """As if there were none, but the file that is there is not asked for."""
    data = runs(tmp_path)
    data.write("s/grpo/version_3/hparams.yaml", settings)
    assert described(data).series == ("grpo", "grpo/version_3", "ppo")
    assert data.warnings("s")[-1] == (
        "data/s: no settings give the seed of data/s/grpo/version_3, unlike the other 5 runs: it is unknown "
        'which of these it repeats, if any; read as the series "grpo/version_3". Add it to them, as in '
        "seed: 1, or leave it out with files: in source.yml."
    )


def test_a_series_is_chosen_that_the_run_lacks(tmp_path: Path) -> None:
    """The run and the file are named."""
    data = runs(tmp_path)
    (data.root / "data/s/grpo/version_3/hparams.yaml").unlink()
    data.write("s/source.yml", "series_from: method\n")
    assert data.warnings("s") == [
        (
            "data/s/source.yml: series_from: 1 of 6 runs do not have it: data/s/grpo/version_3. "
            'They are the series "(unnamed)"; write hparams.yaml there.'
        )
    ]


def test_a_setting_that_may_name_the_series_is_still_suggested(tmp_path: Path) -> None:
    """By the runs whose settings are known; of the other one it is told what is missing."""
    data = Data(tmp_path)
    for place, (rate, seed) in enumerate((rate, seed) for rate in (0.1, 0.01) for seed in (1, 2)):
        folder = f"s/lightning_logs/version_{place}"
        data.write(f"{folder}/metrics.csv", f"epoch,step,loss\n0,0,{rate}\n1,10,{seed}\n")
        data.write(f"{folder}/hparams.yaml", f"lr: {rate}\nseed: {seed}\n")
    data.write("s/lightning_logs/version_4/metrics.csv", "epoch,step,loss\n0,0,1\n1,10,2\n")
    first, second = data.warnings("s")
    assert "each of 5 runs is a series of its own, though lr and the seed tell 4 of them apart" in first
    assert "data/s/lightning_logs/version_4 has no hparams.yaml, unlike the other 4 runs" in second
    assert described(data).repetitions == {"series_from": "lr"}


def test_a_run_without_a_short_seed_among_others_that_have_one(tmp_path: Path) -> None:
    """``baseline`` stays as it is called, and does not turn those called ``ppo_s1`` into series."""
    data = Data(tmp_path)
    for name in ("baseline", "ppo_s1", "ppo_s2", "a2c_s1", "a2c_s2"):
        data.write(f"s/{name}/log.csv", "epoch,loss,val_loss\n0,2,3\n1,1,2\n")
    assert named(data) == [("a2c", "1"), ("a2c", "2"), ("baseline", None), ("ppo", "1"), ("ppo", "2")]
    data.write("s/s3-32B/log.csv", "epoch,loss,val_loss\n0,2,3\n1,1,2\n")
    assert len(described(data).series) == 6
