# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the folders of six fine-tunings as the Hugging Face Trainer leaves them, with made-up numbers.

The form is that of ``TrainerState.save_to_json`` of transformers 4. Losses fall along a curve with noise
from a fixed seed; they show nothing about any model. Run it from anywhere:
``python data/trainer-example/make_runs.py``. The same files come out each time.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

SEEDS = (1, 2, 3)
LAST, LOGGED, EVALUATED, SAVED = 400, 20, 50, 200
EPOCHS = 2
# learning rate as in the folder's name, its value, where the loss ends, how much it turns up again
RUNS = (("lr1e-5", 1e-5, 1.12, 0.0), ("lr3e-5", 3e-5, 1.05, 0.16))


def falling(step: int, end: float) -> float:
    """A loss that falls from about 2 to ``end``."""
    return end + 0.9 * math.exp(-step / 90)


def history(name: str, rate: float, end: float, turn: float, seed: int) -> list[dict[str, Any]]:
    """What the Trainer logs: a row every 20 steps, and a row of the evaluation every 50."""
    rng = np.random.default_rng([2026, seed, *name.encode()])
    own = rng.normal(0, 0.012)
    rows = []
    for step in range(1, LAST + 1):
        epoch = round(step / LAST * EPOCHS, 4)
        if step % LOGGED == 0:
            loss = falling(step, end - 0.1 * turn * step / LAST) + own + rng.normal(0, 0.02)
            rows.append(
                {
                    "epoch": epoch,
                    "grad_norm": round(0.6 + math.exp(-step / 60) + rng.normal(0, 0.05), 4),
                    "learning_rate": rate * (1 - step / LAST),
                    "loss": round(loss, 4),
                    "step": step,
                }
            )
        if step % EVALUATED == 0:
            loss = falling(step, end) + turn * (step / LAST) ** 2 + own + rng.normal(0, 0.006)
            rows.append({"epoch": epoch, "eval_loss": round(loss, 6), "eval_runtime": 9.81, "step": step})
    return rows


def state(rows: list[dict[str, Any]], step: int) -> dict[str, Any]:
    """The Trainer's state at a step."""
    return {
        "best_metric": None,
        "best_model_checkpoint": None,
        "epoch": step / LAST * EPOCHS,
        "eval_steps": EVALUATED,
        "global_step": step,
        "is_hyper_param_search": False,
        "is_local_process_zero": True,
        "is_world_process_zero": True,
        "log_history": [row for row in rows if row["step"] <= step],
        "logging_steps": LOGGED,
        "max_steps": LAST,
        "num_input_tokens_seen": 0,
        "num_train_epochs": EPOCHS,
        "save_steps": SAVED,
        "total_flos": 0.0,
        "train_batch_size": 8,
        "trial_name": None,
        "trial_params": None,
    }


def main() -> None:
    """Write the folders beside this file."""
    for name, rate, end, turn in RUNS:
        for seed in SEEDS:
            run = Path(__file__).parent / f"sft-{name}-seed{seed}"
            rows = history(name, rate, end, turn, seed)
            # The first run has kept both of its checkpoints, the others only the last.
            for step in (SAVED, LAST) if (name, seed) == ("lr1e-5", 1) else (LAST,):
                path = run / f"checkpoint-{step}" / "trainer_state.json"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(state(rows, step), indent=2, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
