# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the JSON Lines of six trainings as verl's file logger writes them, with made-up numbers.

The form is that of ``FileLogger`` in ``verl/utils/tracking.py``. The numbers come from a fixed seed and show
nothing about any model. Run it from anywhere: ``python data/verl-example/make_runs.py``. The same files come
out each time.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np

SEEDS, LAST, TESTED = (1, 2, 3), 30, 5
# experiment, where its accuracy ends, how many steps it takes, what its entropy falls to
EXPERIMENTS = (("grpo", 0.61, 9, 0.16), ("dapo", 0.66, 12, 0.31))


def lines(name: str, end: float, steps: float, entropy: float, seed: int) -> str:
    """A line a step; every fifth has the validation, too, and so has the one before training."""
    rng = np.random.default_rng([2026, seed, *name.encode()])
    own = rng.normal(0, 0.008)
    written = []
    for step in range(LAST + 1):
        learned = 1 - math.exp(-step / steps)
        data: dict[str, float] = {}
        if step:
            data["actor/entropy"] = round(entropy + 0.4 * math.exp(-step / 8) + rng.normal(0, 0.01), 5)
            data["critic/score/mean"] = round(0.3 + (end - 0.26) * learned + rng.normal(0, 0.02), 5)
            data["response_length/mean"] = round(420 + 310 * learned + rng.normal(0, 12), 2)
        if step % TESTED == 0:
            accuracy = 0.34 + (end - 0.34 + own) * learned + rng.normal(0, 0.006)
            data["val-core/math/acc/mean@4"] = round(accuracy, 5)
        written.append(json.dumps({"step": step, "data": data}))
    return "\n".join(written) + "\n"


def main() -> None:
    """Write a file for each training beside this file."""
    folder = Path(__file__).parent / "math"
    folder.mkdir(exist_ok=True)
    for name, end, steps, entropy in EXPERIMENTS:
        for seed in SEEDS:
            text = lines(name, end, steps, entropy, seed)
            (folder / f"{name}_seed{seed}.jsonl").write_text(text, "utf-8")


if __name__ == "__main__":
    main()
