"""Small folders as a table, a trainer, a logger and a harness leave them, made in a test."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import made_wandb_log as wandb
from made_evaluations import DATE, lm_eval_results, lm_eval_rows, write, write_lines
from made_projects import write_file

if TYPE_CHECKING:
    from pathlib import Path

TABLE = (
    "model,seed,step,loss,acc\n"
    "A,1,0,2.5,\nA,1,10,1.25,0.2\nA,1,10,1.25,0.2\nA,1,20,nan,0.3\nA,1,50,1,0.4\n"
    "B,1,0,2,0.1\nB,1,10,inf,0.2\nB,1,20,1,0.3\n"
)


CHART = '"Step","A-s1 - acc","A-s1 - acc__MIN","A-s2 - acc","A-s2 - acc__MIN"\n' + "".join(
    f'"{step}","{step / 10}","0","{step / 20 or ""}","0"\n' for step in range(6)
)
MAPPED = {
    "format": "mapped",
    "files": "(?P<series>[A-Z])-(?P<seed>[0-9])[.]json",
    "rows": "$.log[*]",
    "columns": {"step": "$.at.step"},
    "fields": {"acc": "$.acc"},
}
OUTCOMES = "model,seed,problem,sample,correct,level\n" + "".join(
    f"{model},{seed},p{problem},{sample},{(problem + sample + seed) % 3 > skill},{'ab'[problem % 2]}\n"
    for skill, model in enumerate(("A", "B"))
    for seed in (1, 2)
    for problem in range(6)
    for sample in range(2)
)
REPORTED = "model,benchmark,metric,score,stderr,n\n" + "".join(
    f"{model},{benchmark},acc,{score},0.02,500\n"
    for model, score in (("A", 0.5), ("B", 0.75))
    for benchmark in ("sums", "choices")
)


def made(folder: Path, kind: str) -> str:
    """A small source of some kind; its path below the folder."""
    _MAKERS[kind](folder / kind)
    return kind


def _table(top: Path) -> None:
    write_file(top / "runs.csv", TABLE)


def _chart(top: Path) -> None:
    write_file(top / "wandb_export_2026-01-01.csv", CHART)


def _mapped(top: Path) -> None:
    for series, seed in ("A1", "A2", "B1"):
        rows = [{"at": {"step": step}, "acc": step / int(seed) / 9 or None} for step in range(5)]
        write_file(top / f"{series}-{seed}.json", json.dumps({"log": rows}))
    write_file(top / "source.yml", f"{json.dumps(MAPPED)}\n")


def _outcomes(top: Path) -> None:
    write_file(top / "answers.csv", OUTCOMES)


def _trainer_state(top: Path) -> None:
    for seed in (1, 2):
        rows = [{"step": step, "epoch": step / 10, "loss": seed / step} for step in range(1, 6)]
        state = {"best_metric": None, "epoch": 0.5, "global_step": 5, "log_history": rows, "max_steps": 5}
        text = json.dumps({**state, "num_train_epochs": 1, "trial_params": None}, indent=2)
        write_file(top / f"small_seed{seed}" / "trainer_state.json", f"{text}\n")


def _wandb(top: Path) -> None:
    for seed in (1, 2):
        records = [wandb.run({"seed": seed, "method": f"M{seed}"}, id_=f"id{seed}", name="plain")]
        records += [wandb.history({"acc": step / 10}, step) for step in range(4)]
        wandb.write(top / f"run-{seed}" / f"run-{seed}.wandb", [*wandb.numbered(records), wandb.ended()])


def _console(top: Path) -> None:
    lines = (f"step:{step} - val-core/acc/mean@4:{step / 10} - actor/kl:0.0{step}\n" for step in range(6))
    write_file(top / "grpo.log", "".join(lines))


def _lm_eval(top: Path) -> None:
    write(top / f"results_{DATE}.json", lm_eval_results())
    rows = lm_eval_rows({"strict-match": (1.0, 0.0, 0.0, 0.0), "flexible-extract": (1.0, 0.0, 1.0, 0.0)})
    write_lines(top / f"samples_sums_{DATE}.jsonl", rows)


def _answers(top: Path) -> None:
    for model in "AB":
        rows = [
            {
                "id": f"p{place}",
                "answer": "4",
                "responses": ["It is 4", "It is 5"],
                "correct": [True, place % 2 > 0],
            }
            for place in range(6)
        ]
        write(top / f"{model}.json", rows)


def _totals(top: Path) -> None:
    write(top / f"results_{DATE}.json", lm_eval_results())


def _reported(top: Path) -> None:
    write_file(top / "leaderboard.csv", REPORTED)


_MAKERS = {
    "table": _table,
    "chart": _chart,
    "mapped": _mapped,
    "outcomes": _outcomes,
    "trainer_state": _trainer_state,
    "wandb": _wandb,
    "console": _console,
    "lm_eval": _lm_eval,
    "answers": _answers,
    "totals": _totals,
    "reported": _reported,
}
KINDS = tuple(_MAKERS)
