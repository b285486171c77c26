# noqa: INP001 - a script kept beside the data it makes, not a package
"""Eight trials of a search over the learning rate, in the form of Ray Tune: made up, by this script."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

HERE = Path(__file__).parent
RATES = (0.0001, 0.0003, 0.001, 0.003)
ITERATIONS = 12
GOOD = -3.3


def main() -> None:
    """Write a folder for each trial."""
    generator = random.Random(5)  # noqa: S311 - made-up numbers
    trials = [(rate, seed) for rate in RATES for seed in (1, 2)]
    for number, (rate, seed) in enumerate(trials):
        trial = f"7c21e_{number:05d}"
        name = f"PPO_CartPole-v1_{trial}_{number}_lr={rate:.4f},seed={seed}_2026-01-05_10-00-00"
        folder = HERE / "PPO_2026-01-05_10-00-00" / name
        folder.mkdir(parents=True, exist_ok=True)
        best = 480 - 160 * (math.log10(rate) - GOOD) ** 2
        rows = []
        for iteration in range(1, ITERATIONS + 1):
            reached = best * (1 - math.exp(-iteration / 4)) + generator.gauss(0, 12)
            row = {
                "env_runners": {"episode_return_mean": round(min(500, max(10, reached)), 2)},
                "num_env_steps_sampled_lifetime": 4000 * iteration,
                "done": iteration == ITERATIONS,
                "training_iteration": iteration,
                "trial_id": trial,
                "timestamp": 1767607200 + 60 * iteration,
                "time_total_s": 60.0 * iteration,
            }
            rows.append(json.dumps(row))
        (folder / "result.json").write_text("\n".join(rows) + "\n", encoding="utf-8")
        settings = {"env": "CartPole-v1", "lr": rate, "seed": seed, "gamma": 0.99}
        (folder / "params.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
