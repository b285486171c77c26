"""The writers, run; what they wrote, read; and both compared."""

from __future__ import annotations

import os
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from reportgen.formats.registry import find_units, read_unit
from reportgen.formats.runs import Evaluation, LoggedRun
from reportgen.read import make_frame, open_path, read_measurements
from reportgen.settings.loading import load_source_settings
from writers.telling import Told, heard

if TYPE_CHECKING:
    from collections.abc import Collection

    from writers.telling import ToldEvaluation, ToldRun

TESTS = Path(__file__).parent.parent
PYTHON = TESTS.parent / ".venv-writers" / "bin" / "python"
# No service is asked and nobody is told: a proxy that does not answer refuses whoever tries all the same.
NOWHERE = "http://127.0.0.1:9"
OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy"), NOWHERE),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1"),
    "DO_NOT_TRACK": "1",
    "DVC_NO_ANALYTICS": "1",
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_OFFLINE": "1",
    # MLflow refuses its older store unless it is told not to.
    "MLFLOW_ALLOW_FILE_STORE": "true",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
}
# A metric that the writer adds by itself.
ADDED = {"_runtime"}


@dataclass(frozen=True)
class Written:
    """What a script wrote: its format, the folder, and what it says it logged."""

    format: str
    folder: Path
    told: Told


def written(form: str, room: Path, *, small: bool = False) -> Written:
    """Run the script of a format in an empty folder that is its home, too.

    Args:
        form: the format's name; that of its script ends with its first word.
        room: an empty folder of the test's own.
        small: whether to write what is kept in ``tests/data``.
    """
    if not PYTHON.exists():
        pytest.fail("The writers are not installed. Run: make test-writers")
    home, folder, file = room / "home", room / "data", room / "told.json"
    script = f"write_{form.partition('_')[0]}"
    home.mkdir(parents=True)
    environment = {
        "PATH": os.defpath,
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONPATH": str(TESTS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LANG": "C.UTF-8",
        **dict.fromkeys(("USER", "LOGNAME"), "somebody"),
        **OFFLINE,
    }
    command = [
        str(PYTHON),
        "-m",
        f"writers.{script}",
        str(folder),
        str(file),
        *(["--small"] if small else []),
        *([form] if script != f"write_{form}" else []),
    ]
    done = subprocess.run(command, cwd=room, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"The script {script} failed:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
    return Written(form, folder, heard(file))


def read_runs(form: str, folder: Path, wanted: Collection[str] | None = None) -> list[LoggedRun]:
    """Every run of a folder, by the format's reader."""
    return [one for one in _read(form, folder, wanted) if isinstance(one, LoggedRun)]


def read_evaluations(form: str, folder: Path) -> list[Evaluation]:
    """Every evaluation of a folder, by the format's reader."""
    return [one for one in _read(form, folder, None) if isinstance(one, Evaluation)]


def _read(form: str, folder: Path, wanted: Collection[str] | None) -> list[LoggedRun | Evaluation]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    selected = None if wanted is None else frozenset(wanted)
    units = (replace(unit, selected=selected) for unit in find_units(files, form).units)
    return [one for unit in units for one in read_unit(unit)]


def bits(values: Collection[float]) -> list[bytes]:
    """Numbers that are equal only where every bit is, but any NaN is NaN."""
    return [b"nan" if value != value else struct.pack("<d", value) for value in values]  # noqa: PLR0124 - NaN


def assert_read(
    folder: Path, told: Collection[ToldRun], read: Collection[LoggedRun], *, places: bool = True
) -> None:
    """What was logged is what was read: names, settings, and every step and value.

    Args:
        folder: what the places of the runs are relative to.
        told: what was logged.
        read: what was read.
        places: whether places and ids, which a writer draws, are the same; otherwise runs are told apart
            by their names or, where their format keeps none, by their places.
    """

    def key(path: str, name: str) -> tuple[str, str]:
        return (path if places or not name else "", name)

    found = {key(run.path.relative_to(folder).as_posix(), run.name): run for run in read}
    assert len(found) == len(read)
    assert set(found) == {key(run.path, run.name) for run in told}
    for run in told:
        one = found[key(run.path, run.name)]
        assert one.id == run.id or not places
        assert (one.group, dict(one.config)) == (run.group, run.config)
        assert set(one.metrics) - ADDED == set(run.metrics)
        for metric, rows in run.metrics.items():
            points = one.metrics[metric]
            assert points.steps.tolist() == [step for step, _ in rows], metric
            assert bits(points.values.tolist()) == bits([value for _, value in rows]), metric


def assert_evaluated(
    folder: Path, told: Collection[ToldEvaluation], read: Collection[Evaluation], *, places: bool = True
) -> None:
    """What was scored is what was read: every answer and total.

    Args:
        folder: what the places of the evaluations are relative to.
        told: what was scored.
        read: what was read.
        places: whether places are the same; otherwise evaluations are told apart by their models.
    """

    def key(path: str, model: str) -> str:
        return path if places else model

    found = {key(one.path.relative_to(folder).as_posix(), one.model): one for one in read}
    assert len(found) == len(read)
    assert set(found) == {key(one.path, one.model) for one in told}
    for one in told:
        evaluated = found[key(one.path, one.model)]
        named = (evaluated.model, evaluated.benchmark, evaluated.seed, evaluated.finished)
        assert named == (one.model, one.benchmark, one.seed, one.finished)
        # Samples are answered side by side, and come in the order in which they ended.
        assert sorted(
            (answer.problem, answer.sample, answer.metric, answer.score, answer.answer, answer.gold)
            for answer in evaluated.answers
        ) == sorted(one.answers)
        assert [(total.metric, total.value, total.stderr) for total in evaluated.totals] == one.totals


def rows_of(folder: Path, metric: str) -> list[tuple[str, str | None, float, bytes]]:
    """Series, seed, step and value of every row of a metric, as a block of a report gets them."""
    root, source = open_path(folder, load_settings=load_source_settings)
    table = make_frame(read_measurements(root, source, (metric,)))
    values = bits(table["value"].tolist())
    return list(zip(table["series"], table["seed"], table["step"].tolist(), values, strict=True))
