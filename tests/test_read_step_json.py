"""Nested JSON Lines: verl's and others', what is recognised, and what is torn or odd."""

from __future__ import annotations

import json
import math
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from mutated_bytes import survives

from reportgen.formats.runs import LoggedRun, UnreadableError
from reportgen.formats.trackers import step_json

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

VERL = [
    {"step": 0, "data": {"val-core/math/acc/mean@1": 0.25}},
    {"step": 1, "elapsed_seconds": 5.5, "data": {"actor/lr": 1e-06, "critic/score/mean": 0.5}},
    {"step": 2, "elapsed_seconds": 9.0, "data": {"actor/lr": 2e-06, "critic/score/mean": math.nan}},
]


def write(file: Path, items: Sequence[Any]) -> Path:
    """A file with an object a line."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    return file


def only(file: Path, wanted: Sequence[str] | None = None) -> LoggedRun:
    """The one run of a file."""
    (unit,) = step_json.find_units([file])
    assert (unit.format, unit.path, unit.files) == ("step_json", file, (file,))
    (run,) = step_json.read(unit, wanted)
    return run


def column(run: LoggedRun, name: str) -> list[tuple[float, float]]:
    """Steps and values of a metric."""
    points = run.metrics[name]
    return list(zip(points.steps.tolist(), points.values.tolist(), strict=True))


def told(run: LoggedRun) -> list[str]:
    """What was found irregular."""
    return [finding.message for finding in run.findings]


def test_lines_of_verl(tmp_path: Path) -> None:
    """The keys in ``data`` are the metrics, and a number next to the step is one, too."""
    run = only(write(tmp_path / "metrics.jsonl", VERL))
    assert list(run.metrics) == [
        "val-core/math/acc/mean@1",
        "elapsed_seconds",
        "actor/lr",
        "critic/score/mean",
    ]
    assert column(run, "actor/lr") == [(1, 1e-06), (2, 2e-06)]
    assert column(run, "elapsed_seconds") == [(1, 5.5), (2, 9.0)]
    assert math.isnan(column(run, "critic/score/mean")[1][1])
    assert run.metrics["actor/lr"].times is None
    assert (run.step_name, run.findings, run.config) == ("step", (), {})


def test_objects_within_are_flattened(tmp_path: Path) -> None:
    """Phases and deeper groups become names joined by slashes."""
    items = [{"step": 3, "train": {"loss": 1, "opt": {"lr": 0.5}}, "eval": {"acc": 0.75}}]
    run = only(write(tmp_path / "log.jsonl", items))
    assert {name: column(run, name) for name in run.metrics} == {
        "train/loss": [(3, 1)],
        "train/opt/lr": [(3, 0.5)],
        "eval/acc": [(3, 0.75)],
    }


def test_only_wanted_metrics(tmp_path: Path) -> None:
    """What nobody asks for is not handed over."""
    run = only(write(tmp_path / "metrics.jsonl", VERL), ["actor/lr"])
    assert list(run.metrics) == ["actor/lr"]


@pytest.mark.parametrize("name", ["step", "_step", "global_step", "iteration", "iter", "epoch"])
def test_names_of_the_step(tmp_path: Path, name: str) -> None:
    """The step goes by the names that loggers give it."""
    run = only(write(tmp_path / "a.jsonl", [{name: 7, "data": {"loss": 1}}]))
    assert (run.step_name, column(run, "loss")) == (name, [(7, 1)])


@pytest.mark.parametrize(
    "stamp", [1_700_000_000, 1_700_000_000_000, "2023-11-14T22:13:20", "2023-11-14T23:13:20+01:00"]
)
def test_times_of_every_kind(tmp_path: Path, stamp: object) -> None:
    """Seconds, milliseconds and dates become milliseconds since 1970 UTC, and are no metric."""
    run = only(write(tmp_path / "a.jsonl", [{"step": 1, "timestamp": stamp, "data": {"loss": 1}}]))
    times = run.metrics["loss"].times
    assert times is not None
    assert times.tolist() == [1.7e12]
    assert list(run.metrics) == ["loss"]


def test_a_small_time_is_a_metric(tmp_path: Path) -> None:
    """Seconds since the start count something, but no date."""
    run = only(write(tmp_path / "a.jsonl", [{"step": 1, "time": 12.5, "data": {"loss": 1}}]))
    assert column(run, "time") == [(1, 12.5)]


@pytest.mark.parametrize(
    "line",
    [
        '{"step": 1, "loss": 0.5}',
        '{"id": "a", "data": {"loss": 0.5}}',
        '{"step": 1, "data": {"text": "word"}}',
        '{"step": 1, "losses": [1, 2]}',
        '{"step": "first", "data": {"loss": 0.5}}',
        '[{"step": 1, "data": {"loss": 0.5}}]',
        "step:1 - loss:0.5",
        "",
    ],
)
def test_what_is_left_to_others(tmp_path: Path, line: str) -> None:
    """Flat tables, lists and lines without a step are not ours."""
    file = tmp_path / "a.jsonl"
    file.write_text(line + "\n", encoding="utf-8")
    assert step_json.find_units([file]) == ()


def test_a_first_line_longer_than_what_is_looked_at(tmp_path: Path) -> None:
    """A line of verl with two hundred metrics is recognised by its beginning."""
    items = [{"step": 1, "data": {f"actor/metric_{place}": place / 2 for place in range(500)}}]
    file = write(tmp_path / "a.jsonl", items)
    assert file.stat().st_size > 8192
    assert len(only(file).metrics) == 500


def test_a_heading_before_the_steps(tmp_path: Path) -> None:
    """A line about the run may stand first; it is counted among those without a step."""
    run = only(write(tmp_path / "a.jsonl", [{"config": {"lr": 0.5}}, *VERL]))
    assert told(run) == ["1 row without a step"]


def test_odd_cells_and_lines_are_counted(tmp_path: Path) -> None:
    """Numbers as text are numbers; words among numbers, lines that are no object, missing steps are told."""
    file = tmp_path / "a.jsonl"
    lines = [
        '{"step": 1, "data": {"loss": "NaN", "note": "warm-up", "acc": "0.5"}}',
        '{"step": "2", "data": {"loss": "Infinity", "acc": "n/a"}}',
        '{"step": null, "data": {"loss": -Infinity, "acc": null}}',
        "Traceback (most recent call last):",
        '{"step": 2, "data": {"loss": true, "acc": [0.5]}}',
    ]
    file.write_text("\ufeff" + "\r\n".join(lines) + "\r\n\r\n", encoding="utf-8")
    run = only(file)
    steps, values = zip(*column(run, "loss"), strict=True)
    assert math.isnan(values[0])
    assert values[1:] == (math.inf, -math.inf, 1.0)
    assert steps[:2] == (1, 2)
    assert math.isnan(steps[2])
    assert column(run, "acc") == [(1, 0.5)]
    assert "note" not in run.metrics
    assert told(run) == [
        '1 value that is no number in "acc": left out',
        "1 row without a step",
        "1 line that is no JSON object: left out",
    ]
    assert run.findings[-1].line == 4


def test_an_infinite_step_is_none(tmp_path: Path) -> None:
    """No axis reaches there."""
    file = tmp_path / "a.jsonl"
    file.write_text('{"step": 1, "data": {"a": 1}}\n{"step": 1e999, "data": {"a": 2}}\n', encoding="utf-8")
    steps, values = zip(*column(only(file), "a"), strict=True)
    assert steps[0] == 1
    assert math.isnan(steps[1])
    assert values == (1, 2)


def test_repeated_steps_are_handed_over(tmp_path: Path) -> None:
    """A resumed run writes some steps again; whoever reduces them keeps the last."""
    run = only(write(tmp_path / "a.jsonl", [*VERL, *VERL[1:]]))
    assert column(run, "actor/lr") == [(1, 1e-06), (2, 2e-06)] * 2


def test_every_tear_leaves_the_lines_before_it(tmp_path: Path) -> None:
    """Cut at any byte, the whole lines are read, and the tear is told."""
    file = write(tmp_path / "a.jsonl", VERL)
    (unit,) = step_json.find_units([file])
    data = file.read_bytes()
    ends = [place for place, byte in enumerate(data) if byte == ord("\n")]
    for cut in range(len(data) + 1):
        file.write_bytes(data[:cut])
        # A line without its end is whole where its last brace is there.
        whole = sum(end <= cut for end in ends)
        if not whole:
            words = (
                "its first line breaks off" if cut else "the file is empty, nothing was logged into it yet"
            )
            with pytest.raises(UnreadableError, match=words):
                list(step_json.read(unit))
            continue
        (run,) = step_json.read(unit)
        values = [len(points.values) for points in run.metrics.values()]
        assert sum(values) == (1, 4, 7)[whole - 1]
        torn = cut not in ends and cut - 1 not in ends
        assert (
            told(run)
            == ["the last line is torn: the writer was killed, or still writes; those before it are read"]
            * torn
        )


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    """They are replaced and told with their line."""
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"step": 1, "data": {"loss": 1}}\n{"step": 2, "data": {"lo\xffss": 1}}\n')
    run = only(file)
    assert list(run.metrics) == ["loss", "lo\ufffdss"]
    assert told(run) == ["1 line with bytes that are not UTF-8: a replacement mark stands for them"]
    assert run.findings[0].line == 2


def test_memory_holds_numbers_not_objects(tmp_path: Path) -> None:
    """Ten thousand steps of ten metrics take a hundredth of what a million may."""
    items = [
        {"step": step, "data": {f"m{place}": step + place / 8 for place in range(10)}}
        for step in range(10_000)
    ]
    file = write(tmp_path / "a.jsonl", items)
    (unit,) = step_json.find_units([file])
    tracemalloc.start()
    (run,) = step_json.read(unit)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(run.metrics["m9"].values) == 10_000
    assert peak < 500e6 / 100


@pytest.mark.random
def test_accidents_end_in_rows_or_in_words(tmp_path: Path) -> None:
    """Whatever happens to the bytes, there is no other error."""
    file = write(tmp_path / "a.jsonl", VERL)
    (unit,) = step_json.find_units([file])
    assert survives(file, file.read_bytes(), step_json.read, unit) > 0.5
