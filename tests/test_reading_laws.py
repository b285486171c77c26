"""Laws of reading: rows are what each is alone, in Python and the database; what names hold and say."""

from __future__ import annotations

import json
import math
import tracemalloc
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from command_line import call, describe
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_files import KINDS
from made_outcomes import outcomes
from made_sources import Data
from tries import tries

from reportgen.core.comparisons import ScoresError
from reportgen.core.directions import (
    EITHER_WAY,
    HIGHER,
    LOWER,
    NEITHER,
    Direction,
    find_direction,
    guess_direction,
)
from reportgen.core.errors import ReportError
from reportgen.formats import registry
from reportgen.formats.cells import MISSING, is_missing, is_number, parse_reported
from reportgen.formats.registry import find_units, list_readers
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.read import hash_problem_set, read_outcomes
from reportgen.read.queries.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from collections.abc import Iterable

# ---- rows and cells -------------------------------------------------------------------------------------


def read_run(file: Path, items: list[dict[str, Any]]) -> LoggedRun:
    """The one run of a file with an object a line."""
    file.write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    (unit,) = find_units([file]).units
    (run,) = registry.read_unit(unit)
    assert isinstance(run, LoggedRun)
    return run


def make_row(step: int) -> dict[str, Any]:
    """A row of a log, some of which are irregular."""
    inner: dict[str, Any] = {"loss": step / 8, "b": True, "loss/deep": -0.0}
    row: dict[str, Any] = {"step": step, "data": inner, "metrics": {"loss": step / 16}}
    if step % 3 == 0:
        row["train"] = {"n": 10**400 if step == 999 else step, "text": "a"} if step > 900 else {"n": step}
    if step % 5 == 0:
        inner |= {"none": None, "list": [1]} if step > 1500 else {"odd": math.nan}
    if step % 7 == 0:
        row |= {"time": "2026-01-01T00:00:00Z", "step": None if step == 700 else step}
    return row


def test_many_rows_are_what_each_is_alone(tmp_path: Path) -> None:
    """Rows that are taken column by column give what they give cell by cell, in the order of writing."""
    many = [make_row(step) for step in range(2000)]
    run = read_run(tmp_path / "a.jsonl", many)
    alone = [read_run(tmp_path / f"{place}.jsonl", [row]) for place, row in enumerate(many) if place != 700]
    for name, points in run.metrics.items():
        found = [one.metrics[name] for one in alone if name in one.metrics]
        kept = ~np.isnan(points.steps)
        assert points.steps[kept].tobytes() == np.concatenate([part.steps for part in found]).tobytes()
        assert points.values[kept].tobytes() == np.concatenate([one.values for one in found]).tobytes()
        assert points.times is not None
        timed = sum(part.times is not None and len(part.times) for part in found)
        assert (~np.isnan(points.times)).sum() == timed + (len(points.steps) - kept.sum())


def read_unit(form: str, file: Path) -> Any:  # noqa: ANN401 - of its kind
    """The last of what a file holds, read as one of a format that was found before."""
    return [*registry.read_unit(Unit(file, (file,), form))][-1]


CHANGED = [
    ("answer_lists", "a.json", '"answers"', "there are no records in the file"),
    ("lm_eval", "m/results_2026-01-01T10-00-00.000000.json", "[]", "object is expected, and it holds a list"),
    ("helm", "a/notes.json", "{}", "there is no run_spec.json, which names model and benchmark"),
    ("metrics_csv", "metrics.csv", "a,b\n1,2\n", "its first line names no step"),
    ("step_json", "log.jsonl", "words\n", "no line of it is a JSON object with a step"),
    ("ray", "progress.csv", "a,b\n1,2\n", "no column of it is a step"),
    ("matharena", "outputs/a/b/1.json", "{}", "no problem in it has an attempt"),
]


@pytest.mark.parametrize(("form", "name", "text", "message"), CHANGED)
def test_a_file_that_changed_after_it_was_found_is_refused(
    tmp_path: Path, form: str, name: str, text: str, message: str
) -> None:
    """What it holds now is named."""
    file = tmp_path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    with pytest.raises(UnreadableError, match=message):
        read_unit(form, file)


def test_a_problem_in_two_clusters_without_files_is_named() -> None:
    """A source names the line instead."""
    made = outcomes([{"cluster": name, "series": name, "score": 1.0} for name in "xy"])
    with pytest.raises(ScoresError, match="problem p is in more than one cluster: x, y"):
        group_problem_scores(made)
    with pytest.raises(ScoresError, match="the outcomes have no column topic to slice by"):
        group_problem_scores(made, where={"topic": "algebra"})


@given(st.floats(-1e6, 1e6), st.booleans())
def test_a_plain_number_keeps_its_value(value: float, bold: bool) -> None:  # noqa: FBT001 - a strategy
    """Whatever Python writes is read as it is."""
    found = parse_reported(f"**{value!r}**" if bold else repr(value))
    assert found is not None
    assert found.value == value


def read_score(data: Data, cell: str) -> float | str | None:
    """The score that a cell of a table is read as, or where it is wrong."""
    data.write("a.csv", f'model,problem,score\nA,p,"{cell}"\nA,q,0\n')
    try:
        table = read_outcomes(data.root, data.open("a"))
        with table.reading():
            rows = table.frame.to_native().select("problem, score").fetchall()
    except ReportError as error:
        (problem,) = error.problems
        return str(problem.location)
    score: float | None = dict(rows)["p"]
    return score


RIGHT = {"true", "correct", "right", "pass", "passed"}
WRONG = {"false", "incorrect", "wrong", "fail", "failed"}
WORDS = sorted(RIGHT | WRONG | MISSING | {"maybe", "1,5", "true.", "truefalse", "nan"})
NUMBERS = st.floats(allow_nan=True, allow_infinity=True).map(repr) | st.sampled_from(["0", "1", "2", "-0.0"])
CELLS = st.sampled_from(WORDS).flatmap(lambda word: st.sampled_from([word, word.upper(), f" {word} "]))


def check_cell(cell: str, ends: tuple[int, int]) -> None:
    """Hold what a cell is read as against its meaning; the file and line of a wrong one are named."""
    with TemporaryDirectory() as folder:
        data = Data(Path(folder))
        data.write("a.source.yml", f"score_range: {[*ends]}\n")
        found, word = read_score(data, cell), cell.strip().lower()
    if word in RIGHT | WRONG:
        assert found == ends[word in RIGHT]
    elif is_missing(cell):
        assert found is None
    elif is_number(cell) and not (math.isfinite(float(cell)) and not ends[0] <= float(cell) <= ends[1]):
        assert repr(found) == repr(float(cell))
    else:
        assert found == "data/a.csv:2"


@given(CELLS | NUMBERS, st.sampled_from([(0, 1), (-1, 1), (0, 100)]))
def test_python_and_the_database_agree(cell: str, ends: tuple[int, int]) -> None:
    """A cell fails in the database if and only if Python finds it wrong; otherwise both say its meaning."""
    check_cell(cell, ends)


@pytest.mark.parametrize("cell", [*WORDS, "inf", "-inf", "-1", "-1.5", "1.5"])
def test_every_word_is_the_score_that_it_says(cell: str) -> None:
    """Right and wrong are the ends of the range, also where it has negative scores; infinity is in none."""
    check_cell(cell, (-1, 1))


def test_names_of_problem_sets() -> None:
    """Order and repetition make no difference; a problem or a right answer more does.

    The first is what `printf '[["p"], ["q"]]' | sha256sum | cut -c1-12` says.
    """
    plain = hash_problem_set(["q", "p"])
    assert plain == "d498279b4702"
    assert plain == hash_problem_set(["p", "q", "p"])
    known = hash_problem_set(["p", "q"], ["1", None])
    assert known == hash_problem_set(["q", "p"], [None, "1"])
    others = {hash_problem_set(["p"]), hash_problem_set(["p", "q"], ["2", None]), hash_problem_set(["pq"])}
    assert len({plain, known, *others}) == 5


LIMITS = [
    ("formats.tables.queries.MOST_ROWS", "a.db", "query: gives more than 2 rows"),
    ("formats.tables.queries.MOST_INSTRUCTIONS", "a.db", "query: needs more than 2 steps"),
    ("formats.tables.delimited.LARGEST_DOCUMENT", "a.db", "the table is more than 0 MiB as text"),
    ("formats.tables.excel.MOST_ROWS", "a.xlsx", "the sheet has more than 2 rows or"),
    ("read.tables.converted.MAX_CHARACTERS", "a.yaml", "the file has more than 2 characters"),
    ("settings.yaml_tree.MAX_CHARACTERS", "a.csv", "this is longer than 2 characters"),
    ("read.unpacked.MOST_FILES", "a.zip", "the archive holds more than 2 files"),
]
TEXTS = {
    ".db": ("sqlite", "CREATE TABLE t (series, step, loss);\n" + "INSERT INTO t VALUES ('A', 1, 2);\n" * 9),
    ".xlsx": ("xlsx", '[Sheet]\n["series", "step", "loss"]\n["A", 0, 1]\n["A", 1, 2]\n'),
    ".zip": ("zip", "".join(f"%% {name}.csv\nseries,step,loss\nA,0,1\n" for name in "abc")),
    ".yaml": ("", "[{series: A, step: 0, loss: 1}]\n"),
    ".csv": ("", "series,step,loss\nA,0,1\n"),
}


@pytest.mark.parametrize(("limit", "name", "message"), LIMITS)
def test_what_is_larger_than_a_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, name: str, message: str
) -> None:
    """With 2 in place of a limit that no test should have to reach."""
    module, _, constant = limit.rpartition(".")
    monkeypatch.setattr(import_module(f"reportgen.{module}"), constant, 2)
    kind, text = TEXTS[name[1:]]
    (tmp_path / name).write_bytes(KINDS[kind](text))
    query = "query: SELECT t.* FROM t, t a, t b, t c, t d, t e ORDER BY t.loss\n"
    settings = query if kind == "sqlite" else "title: A series\n"
    (tmp_path / "a.source.yml").write_text(settings, "utf-8")
    done = call(tmp_path, "describe", name)
    assert message in done.stdout
    assert done.returncode == 1


# ---- JSON -----------------------------------------------------------------------------------------------


SPEC = '{"name": "sums:model=m", "adapter_spec": {"model": "m"}}'
STAT = '{"name": {"name": "],[", "split": "test"}, "mean": 0.125}'


def read_stats(path: Path) -> Any:  # noqa: ANN401 - of its kind
    """What a run of HELM has in a file of stats, beside its specification."""
    spec = path.with_name("run_spec.json")
    spec.write_text(SPEC, "utf-8")
    return [*registry.read_unit(Unit(path.parent, (spec, path), "helm"))][-1]


def test_items_are_those_of_the_whole(tmp_path: Path) -> None:
    """Spaces, signs inside texts, and lists within make no difference, in a long list as in a short one."""
    path = tmp_path / "stats.json"
    nested = (f'[1, "],[", {STAT}]', f"[\n  [1,2],\n\t{STAT}\r\n]\n", "[NaN, -1.5e3]")
    for text in ("[]", " [ ] \n", "[1]", *nested, f"[{','.join(6000 * [STAT])}, 1]"):
        path.write_text(text, "utf-8")
        found, items = read_stats(path), json.loads(text)
        count = sum(isinstance(item, dict) for item in items)
        assert [total.value for total in found.totals] == [0.125] * count
        left_out = [one.message.partition(" ")[0] for one in found.findings if "no object" in one.message]
        assert left_out == [str(len(items) - count)] * (count < len(items))


def test_what_is_no_list_of_json_is_refused(tmp_path: Path) -> None:
    """With the place where it ends to be JSON; an object, nothing and single values are no lists."""
    path = tmp_path / "stats.json"
    for text in ("[1,]", "[1 2]", "[1] x", "[,1]", "[1", "[", "[1,", "[1]]", '["a'):
        path.write_text(text, "utf-8")
        with pytest.raises(UnreadableError, match=r"not whole JSON: .* at line 1, column") as caught:
            read_stats(path)
        assert caught.value.problem.location.line == 1
    for text in ("{}", "", "3", "null"):
        path.write_text(text, "utf-8")
        with pytest.raises(UnreadableError, match="a list is expected"):
            read_stats(path)


def read_line(folder: Path, inner: str) -> dict[str, float]:
    """The values of metrics of a line that holds this object."""
    (folder / "a.jsonl").write_text(f'{{"step": 1, "data": {inner}}}\n', "utf-8")
    run = read_unit("step_json", folder / "a.jsonl")
    return {name: points.values[0] for name, points in run.metrics.items()}


_numbers = st.booleans() | st.integers() | st.floats()
# Trackers write NaN and infinities as words, too.
_words = st.text(st.characters(categories=["L"])).filter(
    lambda word: word.casefold() not in {"nan", "inf", "infinity"}
)


@given(st.dictionaries(st.text(), _numbers | st.none() | _words | st.lists(_numbers)))
def test_an_object_is_what_the_standard_library_makes_of_it(item: dict[str, Any]) -> None:
    """To the last digit, with NaN and infinities."""
    with TemporaryDirectory() as folder:
        found = read_line(Path(folder), json.dumps(item))
    expected = {name: float(cell) for name, cell in item.items() if isinstance(cell, int | float)}
    assert {name: repr(float(value)) for name, value in found.items()} == {
        name: repr(value) for name, value in expected.items()
    }


def test_rare_objects(tmp_path: Path) -> None:
    """Doubled names, half characters, numbers beyond all, deep lists; what is no object is left out."""
    deep = '{"a": 1, "b": ' + "[" * 300 + "]" * 300 + "}"
    for text in ('{"a": 1, "a": 2}', '{"a": 1, "b": "\\ud800"}', '{"a": 1e400}', '{"a": -0.0}', deep):
        assert repr(float(read_line(tmp_path, text)["a"])) == repr(float(json.loads(text)["a"]))
    others = ("[1]", '{"a": nan}', '{"a": 1', '{"a": 01}', '{"a": 1} x', '{"a": ' + "[" * 10**5)
    (tmp_path / "a.jsonl").write_text("\n".join(['{"step": 1, "data": {"a": 1}}', *others, ""]), "utf-8")
    (finding,) = read_unit("step_json", tmp_path / "a.jsonl").findings
    assert (finding.message.partition(" ")[0], finding.location.line) == (str(len(others)), 2)


@pytest.mark.slow
def test_an_endless_line_fits_into_memory(tmp_path: Path) -> None:
    """As of a file that was not written to its end: what is looked at is held twice at most."""
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(400 << 20)
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="the line is longer than 128 MiB"):
        read_unit("step_json", path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6


# ---- names ----------------------------------------------------------------------------------------------


def test_weak_formats_are_looked_for_last() -> None:
    """What is recognised by little never hides what is recognised by much."""
    weak = [reader.weak for reader in list_readers()]
    assert weak == sorted(weak)
    assert any(weak)


def write_logs(data: Data, paths: Iterable[str]) -> None:
    """A source ``s`` with a log at each of some paths, whose only value is its place."""
    for place, path in enumerate(paths):
        data.write(f"s/{path}.jsonl", f'{{"step": 0, "data": {{"loss": {place}}}}}\n')


LABELS = st.lists(st.sampled_from([*"x1é([)] -_.=", "seed", "SEED"]), min_size=1, max_size=6).map("".join)


@given(LABELS.map(lambda label: f"a{label}"))
@settings(max_examples=tries(12, 200))
def test_a_label_without_a_seed_stays(label: str) -> None:
    """Whatever else is in it."""
    with TemporaryDirectory() as folder:
        write_logs(data := Data(Path(folder)), [label, "other"])
        frame = data.frame("s")
    (row,) = frame[frame["value"] == 0].to_dict("records")
    seed = row.get("seed")
    assert isinstance(seed, str) == (row["series"] != label)
    assert not isinstance(seed, str) or seed.isdecimal()


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(st.lists(PATHS, unique=True, min_size=1, max_size=6))
@settings(max_examples=tries(12, 200))
def test_different_paths_stay_different(paths: list[str]) -> None:
    """Nothing that tells two runs apart is lost."""
    with TemporaryDirectory() as folder:
        write_logs(data := Data(Path(folder)), paths)
        frame = data.frame("s")
    assert len(frame[["series", "run"]].drop_duplicates()) == len(paths)


NAMES = st.lists(st.text("ab1(+$[]^\\", min_size=1, max_size=4), min_size=1, max_size=2)


@given(NAMES, st.integers(2, 4))
@example(["b+(", "$[a]^\\"], 2)
@settings(max_examples=tries(8, 80))
def test_a_pattern_fits_whatever_names_hold(parts: list[str], count: int) -> None:
    """Signs of regular expressions in names are names, in the pattern that is suggested, too."""
    with TemporaryDirectory() as folder:
        write_logs(
            data := Data(Path(folder)), ["/".join([*parts, f"run_{number}"]) for number in range(count)]
        )
        described = describe(data.root, "data/s")
        data.write("s/source.yml", described["suggested"]["source.yml for repetitions"])
        frame = data.frame("s")
    assert len(set(frame["series"])) == 1
    assert dict(zip(frame["run"], frame["value"], strict=True)) == {str(n): n for n in range(count)}


# ---- which way is better ------------------------------------------------------------------------

# Not guessed even where a benchmark is ranked by it; of other names that say nothing, more is better there.
OPEN = (
    *("time_to_accuracy", "steps_to_accuracy", "timeToAccuracy", "time to 90% accuracy", "time_to_loss"),
    *("steps_to_first_success", "crps_score", "anomaly_score", "risk_score", "cost_score", "cost_return"),
    *("attack_success_rate", "jailbreak/success_rate/mean", "no_error_rate", "non_toxicity", "no_match"),
    *("entropy", "epoch"),
)
SILENT = ("net generation (GWh)", "aime24", "value", "loss_scale", "num_turns/mean", "")


def test_what_is_said_counts_before_the_name() -> None:
    """The first who says something; a benchmark's rank is no word about a loss, nor about an entropy."""
    assert find_direction("loss", None, True, False) is True
    assert find_direction("accuracy", False) is False
    assert find_direction("loss", ranks=True) is False
    for name in (*OPEN, *SILENT):
        assert find_direction(name) is None, name
        assert find_direction(name, ranks=True) is (True if name in SILENT else None), name


def test_no_name_stands_in_two_lists() -> None:
    """And all are written as they are looked up."""
    names = [*LOWER, *HIGHER, *NEITHER]
    assert len(names) == len(set(names))
    for listed, direction in (
        (LOWER, Direction.LOWER),
        (HIGHER, Direction.HIGHER),
        (NEITHER, Direction.NEITHER),
    ):
        assert {guess_direction(name) for name in listed} == {direction}


def test_a_word_that_leaves_it_open_counts_before_general_names_only() -> None:
    """An accuracy is one, whatever it is of."""
    for word in sorted(EITHER_WAY):
        for name in ("score", "reward", "return", "success", "success_rate"):
            assert guess_direction(f"{word}_{name}") is Direction.NEITHER, word
        assert guess_direction(f"{word}_accuracy") is Direction.HIGHER, word
        assert guess_direction(f"{word}_error") is Direction.LOWER, word
