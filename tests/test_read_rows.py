"""Laws of reading rows, cells and units: many rows are what each is alone, lists are read item by item."""

from __future__ import annotations

import csv
import json
import math
import shutil
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_evaluations import messages, only, write
from made_folders import made
from made_projects import write_file

from reportgen.formats.cells import parse_reported
from reportgen.formats.evaluations import helm
from reportgen.formats.evaluations.scores import name_groups
from reportgen.formats.json_files import parse_object, read_json_items
from reportgen.formats.registry import find_units, list_formats
from reportgen.formats.runs import UnreadableError
from reportgen.formats.text_files import read_lines
from reportgen.formats.trackers import metrics_csv, step_json

if TYPE_CHECKING:
    from reportgen.formats.runs import Finding, LoggedRun

LIGHTNING = "epoch,step,train_loss,val_acc\n0,49,0.5,\n0,99,,0.25\n1,149,nan,\n1,199,,0.75\n"
KERAS = "epoch,accuracy,loss,val_accuracy,val_loss\n0,0.1,2.3,0.2,2.1\n1,0.2,2.2,NA,NA\n"
CASE = Path(__file__).parent / "cases" / "wide-tables"


def read_run(file: Path, items: list[dict[str, Any]]) -> LoggedRun:
    """The one run of a file with an object a line."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    (unit,) = step_json.find_units([file])
    (run,) = step_json.read(unit, None)
    return run


def test_many_rows_are_what_each_is_alone(tmp_path: Path) -> None:
    """Rows that are taken column by column give what they give cell by cell, in the order of writing."""
    many: list[dict[str, Any]] = []
    for step in range(2000):
        inner: dict[str, Any] = {"loss": step / 8, "b": True, "loss/deep": -0.0}
        item: dict[str, Any] = {"step": step, "data": inner, "metrics": {"loss": step / 16}}
        if step % 3 == 0:
            item["train"] = (
                {"n": 10**400 if step == 999 else step, "text": "a"} if step > 900 else {"n": step}
            )
        if step % 5 == 0:
            inner |= {"none": None, "list": [1]} if step > 1500 else {"odd": math.nan}
        if step % 7 == 0:
            item |= {"time": "2026-01-01T00:00:00Z", "step": None if step == 700 else step}
        many.append(item)
    run = read_run(tmp_path / "a.jsonl", many)
    alone = [read_run(tmp_path / f"{place}.jsonl", [item]) for place, item in enumerate(many) if place != 700]
    for name, points in run.metrics.items():
        found = [(one.metrics[name], one) for one in alone if name in one.metrics]
        kept = ~np.isnan(points.steps)
        for shown, parts in (
            (points.steps, [part.steps for part, _ in found]),
            (points.values, [part.values for part, _ in found]),
        ):
            assert shown[kept].tobytes() == np.concatenate(parts).tobytes()
        assert points.times is not None
        assert (~np.isnan(points.times)).sum() == sum(
            part.times is not None and len(part.times) for part, _ in found
        ) + (len(points.steps) - kept.sum())


@given(st.floats(-1e6, 1e6), st.booleans())
def test_a_plain_number_keeps_its_value(value: float, bold: bool) -> None:  # noqa: FBT001 - a strategy
    """Whatever Python writes is read as it is."""
    text = f"**{value!r}**" if bold else repr(value)
    found = parse_reported(text)
    assert found is not None
    assert found.value == value


def test_the_case_has_the_scores_of_its_file() -> None:
    """Every score in the figures' data, from the raw file by the standard library."""
    with (CASE / "data" / "paper.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {
        (row["Model"], name): float(row[name].strip("*%")) / 100
        for row in rows
        for name in ("AIME", "MATH", "GSM8K")
    }
    report: dict[str, Any] = json.loads((CASE / "expected" / "report.json").read_text("utf-8"))
    stack = next(one for one in report["pages"][0]["stacks"] if one["id"] == "paper")
    found = {
        (series, name): cell["score"]["estimate"]
        for series, cells in stack["numbers"]["series"].items()
        for name, cell in cells.items()
    }
    assert found == pytest.approx(expected)


# ---- lists in JSON, item by item ------------------------------------------------------------------------


def items(path: Path, text: str) -> list[object]:
    """The items of a file with this text, which has nothing irregular."""
    path.write_text(text, encoding="utf-8")
    findings: list[Finding] = []
    found = list(read_json_items(path, findings))
    assert findings == []
    return found


@pytest.mark.parametrize(
    "text", ["[]", " [ ] \n", "[1]", '[1, "],[", {"a": [null]}]', "[\n  [1,2],\n\t{}\r\n]\n", "[NaN, -1.5e3]"]
)
def test_items_are_those_of_the_whole(tmp_path: Path, text: str) -> None:
    """Spaces, signs inside texts, and lists within make no difference."""
    assert repr(items(tmp_path / "a.json", text)) == repr(json.loads(text))


@pytest.mark.parametrize("text", ["[1,]", "[1 2]", "[1] x", "[,1]", "[1", "[", "[1,", "[1]]", '["a'])
def test_what_is_no_list_of_json_is_refused(tmp_path: Path, text: str) -> None:
    """With the place where it ends to be JSON."""
    with pytest.raises(UnreadableError, match=r"not whole JSON: .* at line 1, column") as caught:
        items(tmp_path / "a.json", text)
    assert caught.value.line == 1


@pytest.mark.parametrize("text", ["{}", "", "3", "null"])
def test_what_is_no_list_is_refused(tmp_path: Path, text: str) -> None:
    """An object, nothing, and single values."""
    with pytest.raises(UnreadableError, match="a list is expected"):
        items(tmp_path / "a.json", text)


def test_items_come_before_a_later_fault(tmp_path: Path) -> None:
    """Nothing waits for the end of the file."""
    path = tmp_path / "a.json"
    path.write_text("[1, 2, x", encoding="utf-8")
    found = read_json_items(path, [])
    assert [next(found), next(found)] == [1, 2]
    with pytest.raises(UnreadableError):
        next(found)


def test_an_entry_that_is_no_object_is_counted(tmp_path: Path) -> None:
    """Nothing is left out in silence."""
    stat = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": 0.5}
    path = write(tmp_path / "model=m" / "stats.json", [stat, None, 3])
    (unit,) = helm.find_units([path])
    assert messages(only(helm.read(unit)))[1:] == ["2 entries are no object: left out"]


def test_long_texts_and_lists_are_not_kept_for_grouping() -> None:
    """Responses are long, and there are many of them."""
    said = {"level": 3, "subject": "algebra", "responses": ["x" * 1000], "text": "x" * 61, "none": None}
    assert name_groups(said) == {
        "level": "3",
        "subject": "algebra",
        "responses": None,
        "text": None,
        "none": "",
    }


# ---- which format a folder is read in -------------------------------------------------------------------


ROOT = Path(__file__).parents[1]
CONSOLE = "step:1 - loss:0.5 - acc:0.25\nstep:2 - loss:0.25 - acc:0.5\n"
_cells = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_values = st.recursive(
    _cells, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8
)


def test_weak_formats_are_looked_for_last() -> None:
    """What is told by little never hides what is told by much."""
    weak = [form.weak for form in list_formats()]
    assert weak == sorted(weak)
    assert any(weak)


def test_the_console_of_an_evaluation_does_not_hide_its_scores(tmp_path: Path) -> None:
    """A harness's results are read."""
    folder = tmp_path / made(tmp_path, "lm_eval")
    write_file(folder / "train.log", CONSOLE)
    found = find_units(sorted(folder.iterdir()))
    assert {unit.format for unit in found.units} == {"lm_eval"}


def test_a_format_of_one_run_does_not_hide_those_of_six(tmp_path: Path) -> None:
    """Formats of about as many runs are those of the same runs, and the one that keeps most is read."""
    for number in range(6):
        write_file(tmp_path / f"r{number}.jsonl", '{"step": 1, "data": {"actor/loss": 3}}\n')
    made(tmp_path, "wandb")
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    found = find_units(files)
    assert ({unit.format for unit in found.units}, found.left_out) == ({"step_json"}, (("wandb", 2),))
    few = [path for path in files if path.name not in {"r2.jsonl", "r3.jsonl", "r4.jsonl", "r5.jsonl"}]
    assert {unit.format for unit in find_units(few).units} == {"wandb"}


def test_the_trainers_own_state_is_read_before_its_event_files(tmp_path: Path) -> None:
    """These lie in folders that are called by date and host."""
    made(tmp_path, "trainer_state")
    for seed in (1, 2):
        logs = tmp_path / f"trainer_state/small_seed{seed}/runs/Nov21_21-51-00_node7"
        shutil.copytree(ROOT / "tests/data/tensorboard/base", logs)
    found = find_units(sorted(path for path in tmp_path.rglob("*") if path.is_file()))
    assert {unit.format for unit in found.units} == {"trainer_state"}


def test_a_run_of_helm_without_its_specification_is_found(tmp_path: Path) -> None:
    """By the files that hold its scores."""
    shutil.copytree(ROOT / "data/helm-example", tmp_path / "runs")
    for path in (tmp_path / "runs").rglob("run_spec.json"):
        path.unlink()
    found = find_units(sorted(path for path in tmp_path.rglob("*") if path.is_file()))
    assert {unit.format for unit in found.units} == {"helm"}


@given(st.dictionaries(st.text(), _values))
def test_an_object_is_what_the_standard_library_makes_of_it(item: dict[str, Any]) -> None:
    """To the last digit, with NaN and infinities."""
    text = json.dumps(item)
    assert repr(parse_object(text)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": "\\ud800"}',
        '{"a": 1e400}',
        '{"a": -0.0}',
        '{"a": ' + "[" * 300 + "]" * 300 + "}",
    ],
)
def test_rare_objects(text: str) -> None:
    """Doubled names, half characters, numbers beyond all, deep lists."""
    assert repr(parse_object(text)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text", ["", "[1]", '{"a": nan}', '{"a": 1', '{"a": 01}', '{"a": 1} x', '{"a": ' + "[" * 10**5]
)
def test_what_is_no_object(text: str) -> None:
    """It is not taken for one."""
    assert parse_object(text) is None


# ---- files that hold nothing yet ------------------------------------------------------------------------


def write_csv(path: Path, text: str) -> Path:
    """A file with its folders."""
    write_file(path, text)
    return path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "the file is empty: the run has no settings from it"),
        ("- 1\n- 2\n", "the file holds no names with values: the run has no settings from it"),
        ("words\n", "the file holds no names with values: the run has no settings from it"),
        ("{}\n", ""),
    ],
)
def test_settings_that_set_nothing_are_told(tmp_path: Path, text: str, words: str) -> None:
    """But for those of a run without any, which Lightning writes as an empty tree."""
    csv = write_csv(tmp_path / "metrics.csv", LIGHTNING)
    (unit,) = metrics_csv.find_units([csv, write_csv(tmp_path / "hparams.yaml", text)])
    (run,) = metrics_csv.read(unit)
    assert ([one.message for one in run.findings], run.config) == ([words] if words else [], {})


@pytest.mark.parametrize("text", ["", "version https://git-lfs.github.com/spec/v1\n", "epo"])
def test_files_that_hold_nothing_are_runs(tmp_path: Path, text: str) -> None:
    """Where Lightning puts them, or beside others and with their ending; anything else may be empty."""
    lightning = write_csv(tmp_path / "version_0" / "metrics.csv", text)
    keras, alike = write_csv(tmp_path / "a.csv", KERAS), write_csv(tmp_path / "b.csv", text)
    others = [write_csv(tmp_path / name, text) for name in ("a.tsv", "b.log", "x/a.csv", "metrics.csv")]
    assert metrics_csv.find_units([alike, *others[:3]]) == ()
    assert [unit.files[0] for unit in metrics_csv.find_units([lightning, keras, alike, *others[:3]])] == [
        lightning,
        keras,
        alike,
    ]
    with pytest.raises(UnreadableError):
        list(metrics_csv.read(metrics_csv.find_units([lightning])[0]))


@pytest.mark.parametrize("text", ["", "version https://git-lfs.github.com/spec/v1\n", '{"step": 1, "da'])
def test_files_beside_that_hold_nothing_are_runs(tmp_path: Path, text: str) -> None:
    """Only where they lie and end as those that were found: anything may be empty elsewhere."""
    found = write_csv(tmp_path / "a" / "a.jsonl", '{"step": 1, "data": {"loss": 0.5}}\n')
    alike, other, elsewhere = (
        write_csv(tmp_path / name, text) for name in ("a/b.jsonl", "a/b.csv", "b/a.jsonl")
    )
    assert [unit.path for unit in step_json.find_units([found, alike, other, elsewhere])] == [found, alike]
    assert step_json.find_units([alike]) == ()


def test_an_endless_line_fits_into_memory(tmp_path: Path) -> None:
    """As of a file that was not written to its end: what is looked at is held twice at most."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(400 << 20)
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="the line is longer than 128 MiB"):
        list(read_lines(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6
