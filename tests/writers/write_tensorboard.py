"""Runs by tensorboardX and by tensorboard's own writer: scalars in every form, and hyperparameters."""

from __future__ import annotations

import math
import random
import socket
from typing import TYPE_CHECKING, Any

import numpy as np

# The name of the machine would stand in the names of the files.
socket.gethostname = lambda: "machine"

from tensorboard.compat.proto import summary_pb2, tensor_pb2, types_pb2  # noqa: E402 - after the machine's name
from tensorboard.compat.proto.event_pb2 import Event  # noqa: E402 - same
from tensorboard.plugins.scalar.metadata import create_summary_metadata  # noqa: E402 - same
from tensorboard.summary.writer.event_file_writer import EventFileWriter  # noqa: E402 - same
from tensorboard.util import tensor_util  # noqa: E402 - same
from tensorboardX import SummaryWriter  # noqa: E402 - same

from writers.telling import ToldRun, odd_values, small_runs, small_values, tell  # noqa: E402 - same

if TYPE_CHECKING:
    from pathlib import Path

WALL_TIME = 1.7e9
HPARAMS = {"lr": 0.1, "bs": 32, "opt": "adam", "amp": True}
NUMBERS = (
    *((np.float64, math.pi), (np.float16, 1.5), (np.int32, -7), (np.int64, -(2**40)), (np.uint8, 200)),
    *((np.int8, -100), (np.int16, -3000), (np.uint16, 60000), (np.uint32, 2**31 + 5), (np.uint64, 2**40)),
    (np.bool_, True),
)


def single(value: float) -> float:
    """A number as a scalar keeps it: in single precision."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float32(value))


def write_small(folder: Path) -> list[ToldRun]:
    """Two series of two seeds."""
    runs = []
    for series, seed in small_runs():
        run = ToldRun(f"{series}/seed_{seed}")
        with SummaryWriter(str(folder / run.path)) as writer:
            for step, row in small_values(series, seed):
                for metric, value in row.items():
                    writer.add_scalar(metric, value, step)
                    run.note(metric, step, value)
        runs.append(run)
    return runs


def scalars(folder: Path) -> ToldRun:
    """What ``add_scalar`` takes, among histograms, texts, pictures and hyperparameters."""
    rng, run = random.Random(1), ToldRun("scalars", config=dict(HPARAMS))
    writer = SummaryWriter(str(folder / run.path))
    for metric in ("loss", "train/acc", "eval/späte/genauigkeit"):
        for step, value in enumerate(odd_values(rng, 500)):
            writer.add_scalar(metric, value, step)
            run.note(metric, step, single(value))
    for step, value in ((-5, 1.0), (2**62, 2.0), (2**53, 3.0), (0, 1e300), (0, 1e-45)):
        writer.add_scalar("odd_steps", value, step)
        run.note("odd_steps", step, single(value))
    writer.add_scalar("no_step", 1.5)
    run.note("no_step", 0, 1.5)
    writer.add_scalar("named", 3.25, 7, display_name="Another name", summary_description="words")
    run.note("named", 7, 3.25)
    writer.add_histogram("weights", np.arange(100.0), 1)
    writer.add_text("words", "hello", 2)
    writer.add_image("picture", np.zeros((3, 8, 8)), 3)
    writer.add_hparams(HPARAMS, {"hparam/acc": 0.5}, name="1622966509.25")
    run.note("hparam/acc", 0, 0.5)
    writer.close()
    return run


def tensors(folder: Path) -> ToldRun:
    """Scalars as tensors of every type, in both encodings, as newer writers log them."""
    run = ToldRun("tensors")
    writer = EventFileWriter(str(folder / run.path))

    def add(tag: str, step: int, value: float, tensor: Any) -> None:  # noqa: ANN401 - a protocol buffer
        metadata = create_summary_metadata(None, None)
        one = summary_pb2.Summary.Value(tag=tag, tensor=tensor, metadata=metadata)
        writer.add_event(Event(wall_time=WALL_TIME, step=step, summary=summary_pb2.Summary(value=[one])))
        run.note(tag, step, value)

    for kind, value in NUMBERS:
        array = np.array(value, kind)
        listed = tensor_util.make_tensor_proto(array)
        shape = listed.tensor_shape
        packed = tensor_pb2.TensorProto(
            dtype=listed.dtype, tensor_shape=shape, tensor_content=array.tobytes()
        )
        for step in range(20):
            add(f"as {array.dtype}", step, float(array), packed if step % 2 else listed)
    for step, (pattern, value) in enumerate([(0x3FC0, 1.5), (0xC000, -2.0)]):
        short = types_pb2.DT_BFLOAT16
        add("as bfloat16", step, value, tensor_pb2.TensorProto(dtype=short, half_val=[pattern]))
    # No scalars: left out.
    for name, array in (("vector", np.zeros(3)), ("text", np.array("words", dtype=object))):
        one = summary_pb2.Summary.Value(tag=name, tensor=tensor_util.make_tensor_proto(array))
        writer.add_event(Event(wall_time=WALL_TIME, step=1, summary=summary_pb2.Summary(value=[one])))
    writer.close()
    return run


def merged(folder: Path) -> ToldRun:
    """Several values an event, a histogram among them, as older writers log them."""
    run = ToldRun("merged")
    writer = EventFileWriter(str(folder / run.path))
    for step in range(0, 500_000, 1000):
        values = [summary_pb2.Summary.Value(tag="weights", histo=summary_pb2.HistogramProto(min=0, max=1))]
        for number in range(3):
            value = single(math.sin(step + number))
            values.append(summary_pb2.Summary.Value(tag=f"m{number}/x", simple_value=value))
            run.note(f"m{number}/x", step, value)
        writer.add_event(Event(wall_time=WALL_TIME, step=step, summary=summary_pb2.Summary(value=values)))
    writer.close()
    return run


def resumed(folder: Path) -> ToldRun:
    """Three files of one run; the second begins before the first ended."""
    run = ToldRun("resumed")
    for part, (begin, end) in enumerate([(0, 120), (100, 150), (151, 200)]):
        writer = SummaryWriter(str(folder / run.path), filename_suffix=f".{part}")
        for step in range(begin, end):
            writer.add_scalar("loss", step + part / 8, step)
            run.note("loss", step, step + part / 8)
        writer.close()
    return run


def many(folder: Path) -> ToldRun:
    """Thousands of metrics, some with long names."""
    run = ToldRun("many")
    with SummaryWriter(str(folder / run.path)) as writer:
        for step in range(2):
            for number in range(2000):
                tag = f"layer{number % 7}/{'x' * (number % 200)}/{number}"
                writer.add_scalar(tag, number + step / 4, step)
                run.note(tag, step, number + step / 4)
    return run


def write(folder: Path, small: bool) -> list[ToldRun]:  # noqa: FBT001 - as telling.tell calls it
    """Runs of every kind."""
    if small:
        return write_small(folder)
    return [kind(folder) for kind in (scalars, tensors, merged, resumed, many)]


if __name__ == "__main__":
    tell(write, "tensorboardX", "tensorboard")
