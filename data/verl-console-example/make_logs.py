# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the console logs of two trainings as verl prints them below Ray, with made-up numbers.

The form is that of ``LocalLogger`` in ``verl/utils/logger/aggregate_logger.py``, behind Ray's prefix. The
numbers come from a fixed seed and show nothing about any model. Run it from anywhere:
``python data/verl-console-example/make_logs.py``. The same files come out each time.
"""

from __future__ import annotations

import math
from pathlib import Path
from pprint import pformat

import numpy as np

LAST, TESTED = 30, 10
# experiment, where its accuracy ends
EXPERIMENTS = (("grpo-kl-0.001", 0.58), ("grpo-kl-0", 0.63))
WHO = "\x1b[36m(TaskRunner pid=4711)\x1b[0m "


def lines(name: str, end: float) -> list[str]:
    """The configuration, then a line a step, between lines that tell no step."""
    rng = np.random.default_rng([2026, *name.encode()])
    told = {
        "algorithm": {"adv_estimator": "grpo", "gamma": 1.0},
        "data": {"max_response_length": 2048, "seed": 1, "train_batch_size": 256},
        "trainer": {"experiment_name": name, "project_name": "math", "total_epochs": 1},
    }
    written = ["2026-01-05 09:30:00,000\tINFO worker.py:1841 -- Started a local Ray instance."]
    written += [WHO + line for line in pformat(told, width=80).splitlines()]
    for step in range(LAST + 1):
        learned = 1 - math.exp(-step / 9)
        values = {}
        if step:
            values["actor/entropy"] = 0.2 + 0.4 * math.exp(-step / 8) + rng.normal(0, 0.01)
            values["actor/grad_norm"] = 0.3 + abs(rng.normal(0, 0.05))
        if step % TESTED == 0:
            values["val-core/math/acc/mean@4"] = 0.34 + (end - 0.34) * learned + rng.normal(0, 0.006)
            written.append(WHO + "validation generation end")
        said = " - ".join(f"{key}:{value:.5f}" for key, value in values.items())
        written.append(f"{WHO}step:{step} - {said}")
    return written


def main() -> None:
    """Write a log for each training beside this file."""
    for name, end in EXPERIMENTS:
        path = Path(__file__).parent / f"{name}.log"
        path.write_text("\n".join(lines(name, end)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
