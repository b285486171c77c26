"""Small folders as a table, a trainer, a logger and a harness leave them, made in a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import made_wandb_log as wandb
from made_evaluations import DATE, lm_eval_results, lm_eval_rows, write, write_lines
from made_projects import write_file

if TYPE_CHECKING:
    from pathlib import Path

KINDS = ("table", "trainer_state", "wandb", "lm_eval")
TABLE = (
    "model,seed,step,loss,acc\n"
    "A,1,0,2.5,\nA,1,10,1.5,0.1\nA,1,10,1.25,0.2\nA,1,20,nan,0.3\nA,1,50,1,0.4\n"
    "B,1,0,2,0.1\nB,1,10,inf,0.2\nB,1,20,1,0.3\n"
)


def made(folder: Path, kind: str) -> str:
    """A small source of some kind; its path below the folder."""
    top = folder / kind
    if kind == "table":
        write_file(top / "runs.csv", TABLE)
    elif kind == "trainer_state":
        for seed in (1, 2):
            rows = [{"step": step, "epoch": step / 10, "loss": 1 / step} for step in range(1, 6)]
            state = {"best_metric": None, "epoch": 0.5, "global_step": 5, "log_history": rows, "max_steps": 5}
            text = json.dumps({**state, "num_train_epochs": 1, "trial_params": None}, indent=2)
            write_file(top / f"small_seed{seed}" / "trainer_state.json", f"{text}\n")
    elif kind == "wandb":
        for seed in (1, 2):
            records = [wandb.run({"seed": seed, "method": f"M{seed}"}, id_=f"id{seed}", name="plain")]
            records += [wandb.history({"acc": step / 10}, step) for step in range(4)]
            wandb.write(top / f"run-{seed}" / f"run-{seed}.wandb", [*wandb.numbered(records), wandb.ended()])
    elif kind == "lm_eval":
        write(top / f"results_{DATE}.json", lm_eval_results())
        rows = lm_eval_rows({"strict-match": (1.0, 0.0, 0.0, 0.0), "flexible-extract": (1.0, 0.0, 1.0, 0.0)})
        write_lines(top / f"samples_sums_{DATE}.jsonl", rows)
    return kind
