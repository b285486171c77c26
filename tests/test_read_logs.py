"""What pages of cases cannot say of loggers' texts: shapes of lines, chosen metrics, memory, and damage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.formats.trackers import console
from reportgen.formats.trackers.console import parse_line

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RAY = "\x1b[36m(TaskRunner pid=1234)\x1b[0m "
VERL = (
    f"{RAY}step:0 - val-core/math/acc/mean@1:0.25\n"
    "(WorkerDict pid=99) Loading checkpoint shards: 100%|##########| 2/2 [00:00<00:00,  8.66it/s]\n"
    f"{RAY}step:1 - actor/kl_loss:0.012 - lr(1e-4):1.5 - training/global_step:1\n"
    "Training Progress:   1%|          | 1/140 [00:49<1:53:43, 49.09s/it]\n"
    f"{RAY}step:2 - actor/kl_loss:0.02 - lr(1e-4):1.25 - training/global_step:2\n"
)


def write(file: Path, text: str) -> Path:
    """A file as the trainer's output was sent to it."""
    file.write_text(text, encoding="utf-8", newline="")
    return file


def only(file: Path, wanted: Sequence[str] | None = None) -> LoggedRun:
    """The one run of a file."""
    (unit,) = console.find_units([file])
    assert (unit.format, unit.path, unit.files) == ("console", file, (file,))
    (run,) = console.read(unit, wanted)
    return run


def columns(run: LoggedRun) -> dict[str, list[tuple[float, float]]]:
    """Steps and values of every metric."""
    return {
        name: list(zip(points.steps.tolist(), points.values.tolist(), strict=True))
        for name, points in run.metrics.items()
    }


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    assert list(only(write(tmp_path / "a.out", VERL), ["lr(1e-4)"]).metrics) == ["lr(1e-4)"]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("step:1 - a:b/c:0.5", [("a:b/c", 0.5)]),
        ("step:1 - a - b:0.5 - c:1", [("a - b", 0.5), ("c", 1)]),
        ("step:1 - a:np.float64(0.5) - b:np.int64(3) - c:tensor(0.25)", [("a", 0.5), ("b", 3), ("c", 0.25)]),
        ("step:1 - a:True - b:-1e-06 - c:inf", [("a", 1), ("b", -1e-06), ("c", math.inf)]),
        ("step:1 - a:0,5 - b:12,25", [("a", 0.5), ("b", 12.25)]),
        ("step:1 - a:1,234", [("a", 1.234)]),
        ("step:1 - a:1.234,5 - b:0,5", [("a", 1234.5), ("b", 0.5)]),
        ("step:1 - a:1,234 - b:0.5", [("a", 1234), ("b", 0.5)]),
        ("step:1 - a:1,234,567.5 - b:2,000", [("a", 1234567.5), ("b", 2000)]),
        ("step:1 - a:1,234,567", [("a", 1234567)]),
        ("step:1 - a:0.5 [repeated 2x across cluster]", [("a", 0.5)]),
        ("Training:  1%|  | 1/9 [00:49<1:53, 49.09s/it](TaskRunner pid=4) step:1 - a:0.5", [("a", 0.5)]),
        ("[INFO] [2025-01-01 12:00:00.1] [pid 7] [a/b.py:3:log] step:1 - a:0.5", [("a", 0.5)]),
        ("INFO ✨ Global step 1: {'a': 0.5, 'b/c': 1e-06}", [("a", 0.5), ("b/c", 1e-06)]),
        ("Global step 1 [replay]: {'a': np.float32(0.5), \"b\": nan_}", [("a", 0.5)]),
        (
            "Evaluation done in 3s, global_step 1, eval_metrics: {'eval_x_pass1': 0.5}",
            [("eval_x_pass1", 0.5)],
        ),
        (
            "Train step of epoch 0:  50%|█  | 1/2 [00:01<00:01,  1.0it/s, loss=0.5, lr=1e-5]",
            [("loss", 0.5), ("lr", 1e-5)],
        ),
    ],
)
def test_shapes_of_a_line_console(line: str, values: list[tuple[str, float]]) -> None:
    """Every shape that trainers print, and every way to write a number."""
    found = parse_line(line)
    assert found is not None
    assert (found.step, list(found.values)) == (1, values)


@pytest.mark.parametrize(
    "line",
    [
        "timestep:1 - a:0.5",
        f"step:{'9' * 400} - a:0.5",
        "step:one - a:0.5",
        "step:1",
        "saved the global step 12",
        "Global step 1: {}",
        "Episode [1/2]:  10%|█  | 1/3 [00:10<00:20, 10.0s/it]",
        "Loading:  10%|█  | 1/3 [00:10<00:20, 10.0s/it, loss=0.5]",
    ],
)
def test_other_lines_console(line: str) -> None:
    """What looks a little like it is none of our business."""
    assert parse_line(line) is None


def test_the_printed_configuration(tmp_path: Path) -> None:
    """What verl prints before training names the run and its settings, also between other lines."""
    printed = (
        f"{RAY}{{'data': {{'seed': 7, 'none': None}},\n"
        "(WorkerDict pid=99) {'other': 1}\n"
        f"{RAY} 'trainer': {{'experiment_name': 'qwen', 'logger': ['console'],\n"
        f"{RAY}             'project_name': 'gsm8k'}}}}\n"
    )
    run = only(write(tmp_path / "a.log", "(WorkerDict pid=99) {'x': 1}\n" + printed + VERL))
    assert (run.name, run.group) == ("qwen", "gsm8k")
    names = {"trainer.experiment_name": "qwen", "trainer.project_name": "gsm8k"}
    assert run.config == {"data.seed": 7, "trainer.logger": '["console"]', **names}


def test_steps_in_the_middle_of_a_long_log(tmp_path: Path) -> None:
    """Pages of warnings stand before the first step, and a traceback after the last."""
    noise = "INFO nothing to see here\n" * 40_000
    steps = "".join(f"{RAY}step:{step} - loss:0.5\n{noise[:2000]}" for step in range(400))
    file = write(tmp_path / "a.log", noise + steps + noise)
    assert file.stat().st_size > 2_000_000
    assert len(only(file).metrics["loss"].values) == 400


def test_every_tear_leaves_the_lines_before_it(tmp_path: Path) -> None:
    """Cut at any byte, no half number is taken for a whole one."""
    file = write(tmp_path / "a.log", VERL)
    (unit,) = console.find_units([file])
    (whole,) = console.read(unit)
    data = file.read_bytes()
    for cut in range(len(data)):
        file.write_bytes(data[:cut])
        steps = [line for line in data[:cut].split(b"\n")[:-1] if b"step:" in line]
        if not steps:
            with pytest.raises(UnreadableError, match="no line of it tells the values of a step"):
                list(console.read(unit))
            continue
        (run,) = console.read(unit)
        for name, points in columns(run).items():
            assert points == columns(whole)[name][: len(points)]
        assert len(columns(run).get("actor/kl_loss", ())) == len(steps) - 1
    assert told(run) == [
        "the last line is torn: the writer was killed, or still writes; those before it are read"
    ]


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    printed = f"{RAY}{{'data': {{'seed': 7}},\n{RAY} 'trainer': {{'experiment_name': 'qwen'}}}}\n"
    file = write(tmp_path / "a.log", printed + VERL + "Global step 3: {'a': 0.5, 'b': 1}\n")
    (unit,) = console.find_units([file])
    assert survives(file, file.read_bytes(), console.read, unit) > 0.5


@pytest.mark.parametrize(
    ("line", "step", "values"),
    [
        (
            "{'loss': '0.5', 'num_tokens': '4.996e+04', 'epoch': '0.25'}",
            0.25,
            {"loss": 0.5, "num_tokens": 49960},
        ),
        ("[default0]:{'a': tensor(0.5, device='cuda:0'), 'x': [1, 2], 'epoch': 1}", 1, {"a": 0.5}),
        (
            "{'loss': 2.5, 'epoch': 0.01, 'global_step/max_steps': '5/16', 'GiB': 24.5, 't': '5m 28s'}",
            5,
            {"loss": 2.5, "epoch": 0.01, "GiB": 24.5},
        ),
        (
            " [2026-01-16 07:32:24] iteration       25/     100 | consumed samples: 50 | lm loss: 1.5E+01 | ",
            25,
            {"consumed samples": 50, "lm loss": 15},
        ),
        (
            "validation loss at iteration 25 on test set | lm loss value: 1.5E+00 | lm loss PPL: 4.5E+00 | ",
            25,
            {"test/lm loss value": 1.5, "test/lm loss PPL": 4.5},
        ),
        (
            " validation loss at iteration 25 | lm loss value: 1.5E+00 | ",
            25,
            {"validation/lm loss value": 1.5},
        ),
        ("[INFO|DP=0]: iteration: 3 / 20 | lm_loss: 11.25 | lr: 0.0001", 3, {"lm_loss": 11.25, "lr": 0.0001}),
        ("Step 7 | loss:1.5 lr:2e-05 ", 7, {"loss": 1.5, "lr": 2e-05}),
    ],
)
def test_shapes_of_a_line_trainers(line: str, step: float, values: dict[str, float]) -> None:
    """Every shape that these trainers print."""
    found = parse_line(line)
    assert found is not None
    assert (found.step, dict(found.values)) == (step, values)


@pytest.mark.parametrize(
    "line",
    [
        "[INFO|callbacks.py:143] llamafactory >> {'loss': 0.5, 'epoch': 0.25}",
        "{'loss': 0.5, 'epoch': 'three'}",
        "{'loss': 0.5}",
        "iteration 3/20 took 5 seconds",
        "Step 7 | done",
    ],
)
def test_other_lines_trainers(line: str) -> None:
    """What a logger repeats, what has no epoch, and what only looks like it."""
    assert parse_line(line) is None


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf16(tmp_path: Path, encoding: str) -> None:
    """Windows PowerShell writes it where output is sent to a file; windows of a long log are read, too."""
    noise = "INFO nothing ünusual\r\n" * 20_000
    file = tmp_path / "a.log"
    file.write_bytes(("\ufeff" + noise + "step:1 - a/ü:0.5\r\nstep:2 - a/ü:0.25\r\n").encode(encoding))
    run = only(file)
    assert (columns(run), run.findings) == ({"a/ü": [(1, 0.5), (2, 0.25)]}, ())
    file.write_bytes(file.read_bytes()[:-5])
    (torn,) = console.read(console.find_units([file])[0])
    assert columns(torn) == {"a/ü": [(1, 0.5)]}
    assert torn.findings[0].message.startswith("the last line is torn")


@pytest.mark.parametrize(
    ("rest", "kept"),
    [
        ("34 - c:1.5 - d:2", 1),
        ("34", 1),
        ("34e-05", 1),
        ("5 - response_length/mean:1.5", 1),
        ("34 lines were written", 2),
        ("(TaskRunner pid=4) INFO - c:1.5", 2),
        ("- c:1.5 - d:2", 1),
        ("INFO 12:30:01 - saved", 2),
        ("INFO:root - c:1.5", 2),
        ("INFO - c: 1.5", 2),
        ("step:2 - a:1", 2),
        ("", 2),
    ],
)
def test_half_a_number_is_none(tmp_path: Path, rest: str, kept: int) -> None:
    """Where the next line goes on with numbers, the last one of a line was broken: 0.12 is 0.1234."""
    run = only(write(tmp_path / "a.log", f"step:1 - a:0.5 - b:0.12\r\n{rest}\r\nstep:3 - a:1 - b:1\r\n"))
    found = columns(run)
    assert [(1, 0.5) in found["a"], (1, 0.12) in found["b"]] == [True, kept == 2]
    broken = "1 line of a step breaks off before a value, as in text copied from a terminal"
    assert told(run) == ([] if kept == 2 else [f"{broken}: what follows is not read"])


_MANY = 1_000_000


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (f"step:1 - a:1{' - x' * _MANY}:2", [("a", 1.0), (f"x{' - x' * (_MANY - 1)}", 2.0)]),
        (f"step:1 - a:1{' ' * _MANY}- b:2", [("a", 1.0), ("b", 2.0)]),
        (f"step:1 - a:1{' [repeated 2x' * _MANY} - b:2", [("b", 2.0)]),
        (f"Episode [1/2]:  50%|x|1/2 [00:01<00:01, 1it/s, {'a=1 ' * _MANY}", None),
        (f"{'Train step of epoch 0:  50%|x|1/2 [00:01<00:01, 1it/s, ' * (_MANY // 10)}a=1]", [("a", 1.0)]),
    ],
    ids=["dashes", "spaces", "marks", "bar", "bars"],
)
def test_a_line_of_megabytes_is_read_once(line: str, values: list[tuple[str, float]] | None) -> None:
    """Where each part of it would be looked at up to its end, or be copied again, this would take hours."""
    found = parse_line(line)
    assert (None if found is None else list(found.values)) == values
