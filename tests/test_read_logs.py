"""Logs of loggers and trainers, cut at every byte, damaged, or long."""

from __future__ import annotations

import json
import math
import re
import tracemalloc
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import made_logs as made
import pytest
from described_sources import list_messages, list_points, list_units, read_run, read_unit
from made_sources import VARIANTS, mutations
from tries import tries

from reportgen.formats.runs import LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RAY = "\x1b[36m(TaskRunner pid=1234)\x1b[0m "
HISTORY: list[dict[str, Any]] = [
    {"epoch": 0.5, "grad_norm": 1.25, "loss": 2.0, "step": 1},
    {"epoch": 0.5, "eval_loss": 1.75, "step": 1},
    {"epoch": 1.0, "grad_norm": math.nan, "loss": 1.5, "step": 2},
    {"epoch": 1.0, "train_loss": 1.75, "step": 2},
]


def write_state(rows: list[dict[str, Any]]) -> str:
    """A state as the Trainer of transformers writes it."""
    state = {"epoch": 1.0, "global_step": 2, "log_history": rows, "max_steps": 2, "num_train_epochs": 1}
    return json.dumps(state, indent=2) + "\n"


class Log(NamedTuple):
    """A file of a logger, the number of values in its first rows, and how a whole row ends."""

    name: str
    text: str
    counts: tuple[int, ...]
    row_end: str = "\n"
    first: int = 0  # so many lines in front of the rows

    def count_rows(self, left: str) -> int:
        """Return the number of rows that are whole in what is left."""
        return max(0, left.count(self.row_end) - self.first)

    def write(self, root: Path) -> Path:
        """Write the file and return its path."""
        path = root / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.text, encoding="utf-8")
        return path


LOGS = {
    "step_json": Log(
        "a.jsonl",
        """{"step": 0, "data": {"val/acc": 0.25}}
{"step": 1, "elapsed": 5.5, "data": {"actor/lr": 1e-06, "score": 0.5}}
{"step": 2, "data": {"actor/lr": 2e-06, "score": NaN}}
""",
        (0, 1, 4, 6),
        # A line without its end is whole where its last brace is there.
        row_end="}}",
    ),
    "metrics_csv": Log(
        "version_0/metrics.csv",
        "epoch,step,train_loss,val_acc\n0,49,0.5,\n0,99,,0.25\n1,149,nan,\n1,199,,0.75\n",
        (0, 2, 4, 6, 8),
        first=1,
    ),
    "dvclive": Log(
        "dvclive/plots/metrics/loss.tsv",
        "step\tloss\n0\t1.0\n1\t0.5\n2\t0.3333333333333333\n",
        (0, 1, 2, 3),
        first=1,
    ),
    "trainer_state": Log("trainer_state.json", write_state(HISTORY), (0, 3, 5, 8, 10), row_end="\n    }"),
    "console": Log(
        "a.log",
        f"""{RAY}step:0 - acc/mean@1:0.25
(WorkerDict pid=99) Loading checkpoint shards: 100%|##########| 2/2 [00:00<00:00,  8.66it/s]
{RAY}step:1 - kl_loss:0.012 - lr(1e-4):1.5 - training/global_step:1
Training Progress:   1%|          | 1/140 [00:49<1:53:43, 49.09s/it]
{RAY}step:2 - kl_loss:0.02 - lr(1e-4):1.25 - training/global_step:2
""",
        (0, 1, 1, 4, 4, 7),
    ),
}


@pytest.mark.parametrize("form", LOGS)
def test_every_tear_leaves_the_rows_before_it(tmp_path: Path, form: str) -> None:
    """Cut at any byte, whole rows are read, no half number is taken for a whole one, and it is reported."""
    log, path = LOGS[form], LOGS[form].write(tmp_path)
    (unit,), whole = list_units(tmp_path), list_points(read_run(tmp_path))
    assert unit.format == form
    for cut in range(len(log.text)):
        left = log.text[:cut]
        path.write_text(left, encoding="utf-8")
        rows = log.count_rows(left)
        if not rows and (form not in {"dvclive", "metrics_csv"} or "\n" not in left):
            with pytest.raises(UnreadableError):
                list(read_unit(unit))
            continue
        (run,) = read_unit(unit)
        assert isinstance(run, LoggedRun)
        found = list_points(run)
        assert sum(map(len, found.values())) == log.counts[rows]
        assert all(repr(points) == repr(whole[name][: len(points)]) for name, points in found.items())
        if form != "console" and rows and left.rstrip("\n") != log.text.rstrip("\n"):
            assert bool(run.findings) == (form == "trainer_state" or not left.endswith(("\n", log.row_end)))
    path.write_text(log.text[:-4], encoding="utf-8")
    (run,) = read_unit(unit)
    assert re.search("torn|cut off", list_messages(run)[-1])


def test_tags_of_yaml_run_nothing(tmp_path: Path) -> None:
    """Neither beside a log nor in the description of a run."""
    evil = f"x: !!python/object/apply:os.mkdir ['{tmp_path / 'mark'}']\n"
    texts = {"a/version_0/metrics.csv": LOGS["metrics_csv"].text, "a/version_0/hparams.yaml": evil}
    texts |= {"b/1/0a/meta.yaml": f"run_id: 0a\n{evil}", "b/1/0a/metrics/loss": "1700000000000 0.5 0\n"}
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name in "ab":
        assert read_run(tmp_path / name).metrics
    assert not (tmp_path / "mark").exists()


@pytest.mark.slow
def test_long_logs_are_read_in_little_memory(tmp_path: Path) -> None:
    """Numbers are held and not objects, in their order over the pieces that a file is read in."""
    metrics = [f"m{place}" for place in range(10)]
    items = (
        json.dumps({"step": step, "data": {name: step + place / 8 for place, name in enumerate(metrics)}})
        for step in range(10_000)
    )
    rows = (f"{step},{step // 100}," + ",".join(["", "0.5"] * 5) for step in range(25_000))
    texts = {
        "a.jsonl": ("\n".join(items), 10_000, metrics),
        "version_1/metrics.csv": (
            "\n".join([f"step,epoch,{','.join(metrics)}", *rows]),
            25_000,
            ["epoch", "m1", "m3", "m5", "m7", "m9"],
        ),
    }
    for name, (text, count, names) in texts.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")
        tracemalloc.start()
        run = read_run(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert list(run.metrics) == names
        assert run.metrics["m9"].steps.tolist() == list(range(count))
        assert peak < 500 * count * 2.5


_MANY = 1_000_000


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (f"step:1 - a:1{' - x' * _MANY}:2", {"a": 1.0, f"x{' - x' * (_MANY - 1)}": 2.0}),
        (f"step:1 - a:1{' ' * _MANY}- b:2", {"a": 1.0, "b": 2.0}),
        (f"step:1 - a:1{' [repeated 2x' * _MANY} - b:2", {"a": 1.0}),
        (f"Episode [1/2]:  50%|x|1/2 [00:01<00:01, 1it/s, {'a=1 ' * _MANY}", {}),
        (f"{'Train step of epoch 0:  50%|x|1/2 [00:01<00:01, 1it/s, ' * (_MANY // 10)}a=1]", {"a": 1.0}),
    ],
    ids=["dashes", "spaces", "marks", "bar", "bars"],
)
def test_a_line_of_megabytes_is_read_once(tmp_path: Path, line: str, values: dict[str, float]) -> None:
    """Where each part of it would be looked at up to its end, or be copied again, this would take hours."""
    path = tmp_path / "a.log"
    path.write_text(f"{line}\n" if line.startswith("Train") else f"step:0 - c:1\n{line}\n")
    found = {name: points for name, points in list_points(read_run(path)).items() if name != "c"}
    assert found == {name: [(1, value)] for name, value in values.items()}


# ---- logs of W&B, byte by byte -----------------------------------------------------------------------------

HEAD: Final = 7
SETTINGS: Final = {"_wandb": {"t": {"1": [1]}}, "lr": 0.001, "model": {"name": "gpt", "sizes": [1, 2]}}
ROW: Final[dict[str, Any]] = {
    "loss": 0.3333333333333333,
    "train": {"acc": 0.1, "deep": {"x": -2}},
    "huge": 10**30,
    "text": "words",
    "list": [1, 2],
}


def rows(count: int) -> list[bytes]:
    """Rows of one size, of one metric at steps 1000, 1001 and so on."""
    return [made.history({"loss": step, "_step": step}) for step in range(1000, 1000 + count)]


def write_log(path: Path, records: Iterable[bytes]) -> None:
    """A log of these records."""
    path.write_bytes(made.log(records))


def steps_of(path: Path, data: bytes) -> tuple[list[float], list[str]]:
    """The steps of a log with this content, counted from the first, and what was found irregular."""
    path.write_bytes(data)
    run = read_run(path)
    steps = [step - 1000 for step, _ in list_points(run).get("loss", [])]
    return steps, [message for message in list_messages(run) if "the log has no end" not in message]


def flip(data: bytes, *places: int) -> bytes:
    """Data with one bit changed in some bytes."""
    changed = bytearray(data)
    for place in places:
        changed[place] ^= 1 << place % 8
    return bytes(changed)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a log."""
    return tmp_path / "run-abc.wandb"


def test_records_over_blocks(path: Path) -> None:
    """Records that fill several blocks, and ends of blocks without room for a chunk, lose nothing."""
    text, some = made.field(13, "x" * 100_000), rows(9)
    for size in range(made.BLOCK - 30, made.BLOCK):
        filling = made.field(13, "y" * (size - 50))
        whole = made.log([*some[:2], filling, *some[2:4], text, *some[4:], made.ended()])
        assert steps_of(path, whole) == ([*range(9)], [])


@pytest.mark.parametrize("write", [made.history, made.nested_history])
def test_truncation_at_every_byte(path: Path, write: Any) -> None:  # noqa: ANN401 - either way of writing
    """The whole rows before the tear are read, and every tear is reported."""
    logged = [write({"a": {"b": step / 7}, "_step": step}) for step in range(3)]
    records = made.numbered([made.run(SETTINGS), *logged])
    sizes = list(accumulate((len(record) + HEAD for record in records), initial=len(made.HEADER)))
    data = made.log(records)
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        run = read_run(path)
        whole = max(0, sum(end <= size for end in sizes) - 2)
        assert list_points(run) == ({"a.b": [(step, step / 7) for step in range(whole)]} if whole else {})
        torn = [message for message in list_messages(run) if message.startswith("the last record is torn")]
        assert bool(torn) == (size not in {0, *sizes})
        assert list_messages(run)


def test_damage_costs_one_record(path: Path) -> None:
    """After a damaged chunk, head or content, reading goes on with the next whole one."""
    some = rows(99)
    whole, begin, size = made.log(some), len(made.log(some[:50])), HEAD + len(some[50])
    for place in range(begin, begin + size):
        steps, (said,) = steps_of(path, flip(whole, place))
        assert steps == [*range(50), *range(51, 99)]
        assert said.startswith(
            f"the file is damaged at byte {begin + 1:,}: {size} bytes there cannot be read"
        )


def test_noise_is_searched_in_a_few_places_only(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond them reading goes on with the first record of the next block."""
    monkeypatch.setattr("reportgen.formats.trackers.wandb._MOST_SEARCHES", 1)
    some = rows(2000)
    whole, size = made.log(some), HEAD + len(some[0])
    second = made.BLOCK + 10 * size
    steps, said = steps_of(path, flip(whole, 1000, second))
    lost = sorted(set(range(2000)) - {int(step) for step in steps})
    begin = (second - len(made.HEADER)) // size
    assert lost == [(1000 - len(made.HEADER)) // size, *range(begin, begin + len(lost) - 1)]
    assert len(lost) > (made.BLOCK - 11 * size) // size
    assert said[0].startswith("the file is damaged in 2 places")


def test_a_record_beyond_the_limit_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not held in memory; and a file that went away says so."""
    write_log(path, [made.field(13, "x" * 100_000), *rows(20)])
    monkeypatch.setattr("reportgen.formats.trackers.wandb.LARGEST_PART", 90_000)
    with pytest.raises(UnreadableError, match="a record is larger than"):
        read_run(path)
    (unit,) = list_units(path)
    path.unlink()
    with pytest.raises(UnreadableError, match="cannot be read: No such file"):
        list(read_unit(unit))


@pytest.mark.random
def test_mutated_records_are_read_or_counted(path: Path) -> None:
    """Bytes changed within records whose checksums are right: whatever is still a message is read."""
    records = [made.run(SETTINGS), made.history(ROW, 3), made.nested_history(ROW, 4)]
    records += [made.config({"a": {"b": 1}}), made.metric(glob="*", step_metric="loss"), made.ended(3)]
    malformed, count = 0, tries(*VARIANTS)
    for place, record in enumerate(made.numbered(records)):
        for changed in mutations(record, count, seed=place):
            path.write_bytes(made.log([changed, *rows(1)]))
            run = read_run(path)
            assert run.metrics["loss"].values[-1] == 1000
            malformed += " malformed: what could be read is read" in " ".join(list_messages(run))
    assert malformed / count > 1 / 3
