"""Rows that loggers and trainers write, cut at every byte; chosen metrics, long files and memory."""

from __future__ import annotations

import json
import math
import re
import tracemalloc
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from read_units import list_messages, list_points, list_units, read_run, read_unit

from reportgen.formats.runs import LoggedRun, UnreadableError

if TYPE_CHECKING:
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


@pytest.mark.parametrize("form", LOGS)
def test_only_chosen_metrics_are_read(tmp_path: Path, form: str) -> None:
    """Others are not handed over; tables of DVCLive that nobody selects are not even opened."""
    path = LOGS[form].write(tmp_path)
    (unit,), whole = list_units(tmp_path), list_points(read_run(tmp_path))
    if form == "dvclive":
        other = path.with_name("acc.tsv")
        other.write_text("step\tacc\n0\t1.0\n")
        (unit,) = list_units(tmp_path)
        other.unlink()
    chosen = list(whole)[-1]
    (run,) = read_unit(unit, [chosen, "other"])
    assert isinstance(run, LoggedRun)
    assert repr(list_points(run)) == repr({chosen: whole[chosen]})
    assert run.findings == ()


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


def test_a_first_line_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    """A line of verl with hundreds of metrics is recognised by its beginning."""
    row = {"step": 1, "data": {f"actor/metric_{place}": place / 2 for place in range(500)}}
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(row) + "\n")
    assert path.stat().st_size > 8192
    assert len(read_run(path).metrics) == 500


def test_histories_of_many_shapes(tmp_path: Path) -> None:
    """Values are in the order of writing, whatever keys rows have; pieces may seem to end inside a row."""
    path = tmp_path / "trainer_state.json"
    rows = [{"step": place, "loss": place / 2, f"only_{place}": 1} for place in range(400)]
    path.write_text(write_state(rows))
    run = read_run(path)
    assert list_points(run)["loss"] == [(place, place / 2) for place in range(400)]
    assert len(run.metrics) == 401
    within = [{"a": 1}, {"b": '}, {"step": 9}, {'}] * 40
    nested: list[dict[str, Any]] = [
        {"step": place, "loss": place / 2, "within": within} for place in range(600)
    ]
    path.write_text(write_state(nested))
    assert path.stat().st_size > 1 << 20
    run = read_run(path)
    assert list_points(run)["loss"] == [(place, place / 2) for place in range(600)]
    assert run.findings == ()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_steps_in_the_middle_of_a_long_log(tmp_path: Path, encoding: str) -> None:
    """Pages of warnings stand before the first step, and a traceback after the last."""
    noise = "INFO nothing ünusual to see here\n" * 40_000
    steps = "".join(f"{RAY}step:{step} - loss:0.5\n{noise[:2000]}" for step in range(400))
    path = tmp_path / "a.log"
    path.write_bytes((noise + steps + noise).encode(encoding))
    assert len(read_run(path).metrics["loss"].values) == 400


_MANY = 1_000_000


@pytest.mark.parametrize(
    ("line", "values"),
    [
        (f"step:1 - a:1{' - x' * _MANY}:2", {"a": 1.0, f"x{' - x' * (_MANY - 1)}": 2.0}),
        (f"step:1 - a:1{' ' * _MANY}- b:2", {"a": 1.0, "b": 2.0}),
        (f"step:1 - a:1{' [repeated 2x' * _MANY} - b:2", {"b": 2.0}),
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
