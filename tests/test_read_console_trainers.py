"""Console logs of transformers, Megatron and others, and logs in UTF-16."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from test_read_console import columns, only, told, write

from reportgen.formats.trackers import console
from reportgen.formats.trackers.console import parse_line

if TYPE_CHECKING:
    from pathlib import Path

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
def test_shapes_of_a_line(line: str, step: float, values: dict[str, float]) -> None:
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
def test_other_lines(line: str) -> None:
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
