"""What goes wrong with the folders of loggers of text that the guide shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from guide_damage import changed_text, copied, cut, kept, pointed, removed, replaced
from guide_messages import Accident

if TYPE_CHECKING:
    from pathlib import Path

_TORN = "the file is torn: its JSON breaks off in the middle"
_LAST = "the last line has no end and may be cut off: it was left out"
_POINTER = "it is a Git LFS pointer, not the data themselves; this run is left out. Run git lfs pull"
_UNNAMED = (
    "series_from: 1 of 6 runs do not have it: data/{0}-example/{1}. "
    'They are the series "(unnamed)"; write {2} there'
)
_LEFT_OUT = "1 missing or non-finite value was left out"


def _block(source: str, metric: str) -> str:
    return f"```curve\nsource: {source}-example\nmetric: {metric}\n```"


def _two_runs(folder: Path) -> None:
    """A run of 400 steps was saved into the folder of another one, of which checkpoint-600 is left."""
    one, other = folder / "sft-lr1e-5-seed1", folder / "sft-lr3e-5-seed1"
    (one / "checkpoint-400/trainer_state.json").rename(one / "trainer_state.json")
    state = json.loads((other / "checkpoint-400/trainer_state.json").read_text("utf-8"))
    state["global_step"] = 600
    (one / "checkpoint-600").mkdir()
    (one / "checkpoint-600/trainer_state.json").write_text(json.dumps(state), "utf-8")


def _logged_nothing(folder: Path) -> None:
    path = folder / _STATE
    state = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**state, "log_history": []}), "utf-8")


def _printed(folder: Path) -> None:
    """Forty lines of transformers' PrinterCallback, which rounds the epoch to two digits."""
    lines = (f"{{'loss': {2 / step:.4f}, 'epoch': {step * 0.005:.2f}}}\n" for step in range(1, 41))
    (folder / "sft.log").write_text("".join(lines), "utf-8")


def _through_a_spreadsheet(folder: Path) -> None:
    """As it is saved where a comma is the decimal mark."""
    for old, new in ((",", ";"), (".", ",")):
        replaced(_CSV, old, new)(folder)


_STATE = "sft-lr1e-5-seed2/checkpoint-400/trainer_state.json"
_CSV = "lightning_logs/version_0/metrics.csv"
TRAINER = (
    Accident(
        f"{_TORN}; checkpoint-200/trainer_state.json is read instead",
        kept("sft-lr1e-5-seed1/checkpoint-400/trainer_state.json", 2000),
    ),
    Accident(
        f"{_TORN}; the 13 whole rows before are read",
        kept(_STATE, 2000),
    ),
    Accident(
        "the file holds other values at the same steps, as of another run in the same folder; "
        "checkpoint-600/trainer_state.json is read instead",
        _two_runs,
    ),
    Accident("its log_history is empty: the run logged nothing", _logged_nothing),
    Accident(
        "20 lines have the epoch of the line before: the Trainer rounds epochs and prints no steps; "
        "its trainer_state.json has both",
        _printed,
        source="verl-console-example",
    ),
    Accident(
        _LEFT_OUT,
        changed_text(_STATE, r'("eval_loss"): [\d.]+', r"\1: NaN"),
        block=_block("trainer", "eval_loss"),
    ),
    Accident(_POINTER, pointed(_STATE)),
)

LIGHTNING = (
    Accident(_LAST, cut("metrics.csv", 3)),
    Accident(
        "48 values with a decimal comma: read as decimals",
        _through_a_spreadsheet,
    ),
    Accident(
        "1 row with another number of cells than the header: left out",
        changed_text(_CSV, r",\n", "\n"),
    ),
    Accident(
        _UNNAMED.format("lightning", "lightning_logs/version_0", "hparams.yaml"),
        removed("lightning_logs/version_0/hparams.yaml"),
    ),
    Accident(
        "1 row was replaced by a later row of the same run and step",
        changed_text(_CSV, r"\n([^\n]*)\n\Z", r"\n\1\n\1\n"),
        block=_block("lightning", "val_loss"),
    ),
    Accident(_LEFT_OUT, changed_text(_CSV, r"[^,]*\n\Z", "nan\n"), block=_block("lightning", "val_loss")),
)

_CONSOLE = "verl-console-example"
VERL = (
    Accident(
        "the last line is torn: the writer was killed, or still writes; those before it are read",
        cut("*.jsonl", 5),
    ),
    Accident(
        "the steps go back 1 time: the run was resumed, or another one began in the same file",
        copied("grpo-kl-0.001.log", "grpo-kl-0.log", behind=True),
        source=_CONSOLE,
    ),
    Accident(
        "7 rows were replaced by a later row of the same run and step",
        copied("math/grpo_seed2.jsonl", "math/grpo_seed1.jsonl", behind=True),
        block=_block("verl", "val-core/math/acc/mean@4"),
    ),
    Accident(
        "1 line that is no JSON object: left out", changed_text("math/grpo_seed1.jsonl", r"\n", "\noops\n")
    ),
    Accident(
        "64 values with a decimal comma: read as decimals",
        changed_text("grpo-kl-0.log", r"(:\d+)\.(\d{5})", r"\1,\2", count=0),
        source=_CONSOLE,
    ),
    Accident(
        "1 line of a step breaks off before a value, as in text copied from a terminal: "
        "what follows is not read",
        changed_text("grpo-kl-0.log", r"(step:10 .{50})", r"\1\n"),
        source=_CONSOLE,
    ),
)

DVCLIVE = (
    Accident(_LAST, cut("*.tsv", 3)),
    Accident(
        "metrics without a table of their own have their last value only",
        removed("crop-1/dvclive/plots/metrics/*/*.tsv"),
    ),
    Accident("the last values are torn or no JSON: left out", cut("metrics.json", 5)),
    Accident(
        'series_from: no run has "augment". Did you mean "augmentation"? '
        "They have folder, augmentation and seed",
        replaced("source.yml", "augmentation", "augment"),
    ),
    Accident(
        _UNNAMED.format("dvclive", "crop-1/dvclive", "params.yaml"), removed("crop-1/dvclive/params.yaml")
    ),
)

ACCIDENTS: dict[str, tuple[Accident, ...]] = {
    "dvclive": DVCLIVE,
    "lightning": LIGHTNING,
    "trainer": TRAINER,
    "verl": VERL,
}
