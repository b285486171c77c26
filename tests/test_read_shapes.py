"""Small files in the form of each tool: what is read is what the raw file has."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reportgen.read import make_frame, open_path, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    import pandas as pd

    from reportgen.settings.inputs import Source

SHAPES = Path(__file__).parent / "shapes"


def open_shape(form: str) -> tuple[Path, Source]:
    """The sample of a format as a source, found by itself."""
    return open_path(SHAPES / form, load_settings=load_source_settings)


def read_frame(form: str, *metrics: str, **query: Any) -> pd.DataFrame:  # noqa: ANN401 - passed on
    """Metrics of a sample, or all of them."""
    root, source = open_shape(form)
    return make_frame(read_measurements(root, source, metrics or source.metrics, **query))


def list_values(frame: pd.DataFrame) -> dict[tuple[str, str | None, str, float], float]:
    """Values by series, seed, metric and step."""
    names = ["series", "seed", "metric", "step"]
    return {tuple(row[:4]): row[4] for row in frame[[*names, "value"]].to_numpy()}


def test_trials_of_ray_are_runs() -> None:
    """Nested names are joined, a trial without result.json has progress.csv, settings name the series."""
    found = list_values(read_frame("ray"))
    expected = {}
    for folder in (SHAPES / "ray").glob("*/*"):
        config = json.loads((folder / "params.json").read_text("utf-8"))
        name, seed = f"PPO_CartPole-v1, lr={config['lr']}", str(config["seed"])
        if (folder / "result.json").exists():
            for line in (folder / "result.json").read_text("utf-8").splitlines():
                row = json.loads(line)
                step = row["training_iteration"]
                for part, inner in (("env_runners", row["env_runners"]), ("", {"time_total_s": 10.5 * step})):
                    for key, value in inner.items():
                        expected[name, seed, f"{part}/{key}".strip("/"), step] = value
    assert len(expected) == 3 * 5 * 4
    assert {key: found[key] for key in expected} == expected
    # The second trial, and the one value that is not a number.
    second = ("PPO_CartPole-v1, lr=0.0003", "2", "env_runners/episode_return_mean", 5)
    assert math.isclose(found[second], 20 * 5 * (1 + 100 * 0.0003) + 2)
    assert {name for _, _, name, _ in found} == {
        *("env_runners/episode_return_mean", "env_runners/episode_len_mean", "env_runners/num_episodes"),
        *("learners/default_policy/total_loss", "num_env_steps_sampled_lifetime"),
        *("time_this_iter_s", "time_total_s"),
    }
