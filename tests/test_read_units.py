"""Which format a folder is read in, and JSON objects as fast as they can be had."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_folders import made
from made_projects import write_file

from reportgen.formats.json_files import parse_object
from reportgen.formats.registry import find_units, list_formats

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
