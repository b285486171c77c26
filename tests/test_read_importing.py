"""What loggers and harnesses wrote, as sources: read once, named, and from there like any other table."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any, get_args

import made_reader
import pytest
from made_sources import LONG, Data

from reportgen.core.cache import Cache
from reportgen.core.errors import ReportError
from reportgen.formats import registry
from reportgen.formats.files import WEAK_ENDINGS
from reportgen.formats.tables import FORMATS
from reportgen.read import (
    find,
    find_sources,
    make_frame,
    open_path,
    open_source,
    read_measurements,
    read_outcomes,
    read_raw_frame,
)
from reportgen.read.runs import stored
from reportgen.settings.loading import load_source_settings
from reportgen.settings.source import Format

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.inputs import Source

MADE = registry.UnitFormat("made", "made_reader", ("*.made",))
CURVE = [[0, 2.5], [10, 1.5]]


@pytest.fixture(autouse=True)
def _made_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """The made format stands before the real ones, and nothing of it was read yet."""
    monkeypatch.setattr(registry, "LOGGERS", (MADE, *registry.LOGGERS))
    made_reader.READ.clear()


def made(tmp_path: Path, settings: str = "", **runs: Any) -> Data:  # noqa: ANN401 - whatever JSON holds
    """A source ``s`` with made runs; ``__`` in a name is a folder."""
    data = Data(tmp_path)
    for name, run in runs.items():
        data.write(f"s/{name.replace('__', '/')}.made", json.dumps(run))
    if settings:
        data.write("s/source.yml", settings)
    return data


def run_of(values: list[list[float]] | None = None, **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """A run with one metric, ``loss``."""
    return {"metrics": {"loss": values or CURVE}, **more}


def evaluation(model: str, scores: list[float | None], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    """An evaluation with a score a problem."""
    answers = [{"problem": f"p{place}", "score": score} for place, score in enumerate(scores)]
    return {"model": model, "answers": answers, **more}


def opened(data: Data, cache: Cache | None = None) -> Source:
    """The source ``s``, with a cache or without."""
    return open_source(data.root, "data", "s", load_settings=load_source_settings, cache=cache)


def told(data: Data) -> list[str]:
    """What is told of a source that cannot be opened."""
    with pytest.raises(ReportError) as caught:
        data.open("s")
    return [str(problem) for problem in caught.value.problems]


def answers_of(data: Data, *columns: str, **question: Any) -> list[tuple[Any, ...]]:  # noqa: ANN401 - passed on
    """Columns of the outcomes of the source ``s``, in the order of writing."""
    table = read_outcomes(data.root, data.open("s"), **question)
    with table.reading():
        picked = table.frame.to_native().order('"row"').project(", ".join(columns))
        found: list[tuple[Any, ...]] = picked.fetchall()
    return found


def test_runs_are_a_source_of_measurements(tmp_path: Path) -> None:
    """What was written is what is read, value for value, with the names of series, runs and seeds."""
    values = [[0, 2.5], [1, math.nan], [1, 0.1 + 0.2], [2, math.inf], [math.nan, 7.0]]
    other = {"loss": [[0, 1]], "acc": [[5, 0.25]]}
    data = made(tmp_path, A__seed_1=run_of(values), A__seed_2=run_of(), B__seed_1={"metrics": other})
    source = data.open("s")
    assert (source.kind, source.metrics, source.columns) == (
        "measurements",
        ("loss", "acc"),
        ("series", "run", "seed", "metric", "step", "value"),
    )
    assert not any("scores" in warning for warning in data.warnings("s"))
    table = data.frame("s", "loss")
    first = table[(table["series"] == "A") & (table["seed"] == "1")]
    assert [list(pair) for pair in zip(first["step"], first["value"], strict=True)][::2] == [
        [0.0, 2.5],
        [1.0, 0.1 + 0.2],
        [pytest.approx(math.nan, nan_ok=True), 7.0],
    ]
    assert math.isnan(first["value"].iloc[1])
    assert math.isinf(first["value"].iloc[3])
    assert list(dict.fromkeys(zip(table["series"], table["run"], table["seed"], strict=True))) == [
        ("A", "A/seed_1", "1"),
        ("A", "A/seed_2", "2"),
        ("B", "B/seed_1", "1"),
    ]
    assert data.frame("s", "acc")["value"].tolist() == [0.25]


def test_the_files_of_the_loggers_are_the_provenance(tmp_path: Path) -> None:
    """A source names the files that were there, not those in the cache; its digest changes with them."""
    data = made(tmp_path, a=run_of(), b=run_of())
    source = opened(data, Cache(tmp_path / "cache"))
    assert [file.path for file in source.files] == ["data/s/a.made", "data/s/b.made"]
    assert source.files[0].size == (tmp_path / "data/s/a.made").stat().st_size
    made(tmp_path, a=run_of([[0, 1]]))
    assert opened(data).digest != source.digest


def test_each_unit_is_read_once(tmp_path: Path) -> None:
    """A second opening reads nothing; one file that changes is read alone; lost rows are read again."""
    data = made(tmp_path, a=run_of(), b=run_of(findings=["3 odd things were passed over"]))
    cache = Cache(tmp_path / ".reportgen/cache")
    warnings = opened(data, cache).warnings
    assert [str(warning) for warning in warnings] == ["data/s/b.made: 3 odd things were passed over."]
    assert made_reader.READ == ["a.made", "b.made"]
    assert opened(data, cache).warnings == warnings
    made(tmp_path, a=run_of([[0, 9.0]]))
    source = opened(data, cache)
    assert made_reader.READ == ["a.made", "b.made", "a.made"]
    assert make_frame(read_measurements(tmp_path, source, ("loss",)))["value"].tolist() == [9.0, 2.5, 1.5]
    for part in (tmp_path / ".reportgen/cache").glob("??/*.parquet"):
        part.unlink()
    opened(data, cache)
    assert made_reader.READ[3:] == ["a.made", "b.made"]


def test_names_are_no_reason_to_read_again(tmp_path: Path) -> None:
    """Series from another key change no row."""
    data = made(
        tmp_path, a=run_of(config={"lr": 0.1, "algo": "x"}), b=run_of(config={"lr": 0.2, "algo": "x"})
    )
    cache = Cache(tmp_path / ".reportgen/cache")
    opened(data, cache)
    data.write("s/source.yml", "series_from: [algo, lr]")
    assert opened(data, cache).layout.series == ("x, lr=0.1", "x, lr=0.2")  # type: ignore[attr-defined]
    assert len(made_reader.READ) == 2


def test_a_file_that_grows_while_it_is_read_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there is read, and not taken for the whole next time."""
    data = made(tmp_path, a=run_of())
    path = tmp_path / "data/s/a.made"
    plain = made_reader.read

    def growing(unit: Any, wanted: Any = None) -> Any:  # noqa: ANN401 - passed on
        yield from plain(unit, wanted)
        os.utime(path, ns=(0, len(made_reader.READ)))

    monkeypatch.setattr(made_reader, "read", growing)
    cache = Cache(tmp_path / "cache")
    opened(data, cache)
    monkeypatch.undo()
    monkeypatch.setattr(registry, "LOGGERS", (MADE,))
    assert len(make_frame(read_measurements(tmp_path, opened(data, cache), ("loss",)))) == 2
    assert made_reader.READ == ["a.made", "a.made"]


def test_many_points_are_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However small the parts are, the rows and their order are the same."""
    long = {
        "metrics": {name: [[step, step + place] for step in range(20)] for place, name in enumerate("abc")}
    }
    data = made(tmp_path, one=[long, run_of(), long], two=long)
    names = ("a", "b", "c", "loss")
    whole = data.frame("s", *names)
    source = open_source(
        tmp_path, "data", "s", load_settings=load_source_settings, cache=Cache(tmp_path / "cache")
    )
    monkeypatch.setattr(stored, "_ROWS_OF_A_PART", 7)
    parted = open_source(
        tmp_path, "data", "s", load_settings=load_source_settings, cache=Cache(tmp_path / "other")
    )
    assert len(parted.layout.files) > 20 > len(source.layout.files)  # type: ignore[attr-defined]
    assert make_frame(read_measurements(tmp_path, parted, names)).equals(whole)
    assert len(whole) == 20 * 3 * 3 + 2


def test_only_wanted_metrics_are_read(tmp_path: Path) -> None:
    """``metrics:`` reaches the reader; a name in vain is told with all that there are."""
    both = {"metrics": {"loss": CURVE, "acc": CURVE}}
    data = made(tmp_path, "metrics: [accuracy]\nrename_metrics: {acc: accuracy}\n", a=both)
    assert data.open("s").metrics == ("accuracy",)
    assert data.frame("s", "accuracy")["value"].tolist() == [2.5, 1.5]
    data.write("s/source.yml", "metrics: [los]")
    (problem,) = told(data)
    assert problem.endswith('there is no metric "los". Did you mean "loss"? There are loss and acc.')


def test_everything_that_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    """Each file with what was found and the next step, at its place in the project."""
    data = made(tmp_path, a={"unreadable": "the record is torn"})
    data.write("s/c.made", "no JSON")
    assert told(data) == [
        "data/s/a.made: the record is torn. Copy it again.",
        "data/s/c.made:1: it is no JSON. Write it again.",
    ]


def test_one_damaged_run_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    """It is left out and told of, as long as any can be read."""
    data = made(tmp_path, a={"unreadable": "the record is torn"}, b=run_of())
    assert data.warnings("s") == ["data/s/a.made: the record is torn; this run is left out. Copy it again."]
    assert data.open("s").files[0].path == "data/s/b.made"
    assert len(data.frame("s", "loss")) == len(CURVE)


def test_one_run_that_may_not_be_read_does_not_take_the_others_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out and told of with its file, as long as any can be read."""
    data = made(tmp_path, a=run_of(), b=run_of())
    plain, closed = made_reader.read, {"a.made"}

    def barred(unit: Any, wanted: Any = None) -> Any:  # noqa: ANN401 - passed on
        if unit.path.name in closed:
            raise PermissionError(13, "Permission denied", str(unit.path))
        yield from plain(unit, wanted)

    monkeypatch.setattr(made_reader, "read", barred)
    why = "the file cannot be read: Permission denied"
    assert data.warnings("s") == [
        f"data/s/a.made: {why}; this run is left out. Check that it exists and may be read."
    ]
    assert [file.path for file in data.open("s").files] == ["data/s/b.made"]
    closed.add("b.made")
    made(tmp_path, b=run_of([[0, 9]]))
    assert told(data) == [
        f"data/s/{name}.made: {why}. Check that it exists and may be read." for name in "ab"
    ]


def test_what_was_irregular_is_told_in_few_words(tmp_path: Path) -> None:
    """Of one run five findings, of many runs twenty."""
    runs = {
        f"r{number:02}": run_of(findings=[f"{'o' * number} and {'x' * place} is odd" for place in range(9)])
        for number in range(30)
    }
    warnings = made(tmp_path, "", **runs).warnings("s")
    assert warnings[5] == "data/s/r00.made: there are 4 more problems like these in this file."
    assert len(warnings) == 20 * 6 + 1
    assert warnings[-1] == "data/s/r20.made: 10 more runs have irregularities such as this one."


def test_what_was_found_in_many_runs_is_told_once(tmp_path: Path) -> None:
    """With the first places, also where only numbers differ; few runs have a line each."""
    runs = {
        f"r{number}": run_of(findings=["x is y", f"{number + 7:,} rows are odd"], name=f"n{number}")
        for number in range(5)
    }
    assert made(tmp_path, "", **runs).warnings("s") == [
        "data/s/r0.made: x is y; the same in 4 more: data/s/r1.made, data/s/r2.made and 2 more.",
        (
            "data/s/r0.made: 7 rows are odd; the same with other numbers in 4 more: "
            "data/s/r1.made, data/s/r2.made and 2 more."
        ),
    ]
    few = {f"r{number}": run_of(findings=["x is y"], name=f"n{number}") for number in range(3)}
    (tmp_path / "few").mkdir()
    assert made(tmp_path / "few", "", **few).warnings("s") == [
        f"data/s/r{number}.made: x is y." for number in range(3)
    ]


def test_one_format_is_read_and_the_others_told(tmp_path: Path) -> None:
    """A run logged twice is read once; ``format:`` chooses the other; tables beside it are named."""
    data = made(tmp_path, a=run_of())
    data.write("s/log.jsonl", '{"step": 1, "data": {"actor/loss": 3}}\n')
    assert data.open("s").metrics == ("loss",)
    assert data.warnings("s") == [
        (
            "data/s: the source is read as Made runs, without 1 of JSON Lines of trainers (verl and others), "
            "since a source has one format. Say format: step_json to read these."
        )
    ]
    data.write("s/source.yml", "format: step_json")
    assert (data.open("s").metrics, data.warnings("s")) == (("actor/loss",), [])
    data.write("s/source.yml", "format: jsonl\nfiles: '*.jsonl'\ncolumns: {series: data}")
    assert "no column" not in str(data.open("s").columns)
    (tmp_path / "data/s/source.yml").unlink()
    (tmp_path / "data/s/log.jsonl").unlink()
    data.write("s/more/table.csv", LONG)
    assert data.warnings("s") == [
        (
            "data/s: the source is read as Made runs, without 1 table that it also holds: more/table.csv. "
            "Name what is to be read with files:, or make the others a source of their own."
        )
    ]
    data.write("s/source.yml", "files: '*.made'")
    assert data.warnings("s") == []


def test_a_format_that_is_not_there(tmp_path: Path) -> None:
    """The format is named with what it reads; a file that was named must be of it."""
    data = made(tmp_path, "format: tensorboard", a=run_of())
    (problem,) = told(data)
    assert problem.startswith(
        "data/s/source.yml: format: tensorboard, but no file here has this format, that of TensorBoard"
    )
    data.write("s/source.yml", "format: trainer_state\nfiles: a.made")
    (problem,) = told(data)
    assert problem.startswith("data/s/a.made: ")


def test_resumed_runs_are_one(tmp_path: Path) -> None:
    """Parts of one id follow each other in time, whatever they are called."""
    begin = run_of([[0, 1, 1e12], [10, 2, 1e12 + 1]], name="x", id="7")
    after = run_of([[10, 5, 2e12], [20, 6, 2e12 + 1]], name="x", id="7")
    data = made(tmp_path, a_later=after, b_first=begin, c=run_of(name="y", id="8"))
    table = data.frame("s", "loss")
    one = table[table["series"] == "x"]
    assert list(zip(one["run"], one["step"], one["value"], strict=True)) == [
        ("x", 0.0, 1.0),
        ("x", 10.0, 2.0),
        ("x", 10.0, 5.0),
        ("x", 20.0, 6.0),
    ]
    assert data.warnings("s") == [
        "data/s: 1 run resumed under the same id: x; where its parts overlap, the later one counts."
    ]
    times = data.frame("s", "loss", x="time")
    assert str(times["step"].iloc[0]) == "2001-09-09 01:46:40+00:00"


def test_runs_of_one_series_and_seed_are_told_apart_and_reported(tmp_path: Path) -> None:
    """They stay two runs, and a person learns of it."""
    same = run_of(config={"seed": 1, "algo": "grpo"})
    data = made(tmp_path, "series_from: algo", a=same, b=same)
    assert len(set(data.frame("s", "loss")["run"])) == 2
    assert data.warnings("s") == [
        (
            'data/s/source.yml: 2 runs have the series "grpo" and seed 1: data/s/a.made and data/s/b.made. '
            "They are read as different runs of one series: confirm it with run_from: folder. "
            "If they are not, tell them apart with series_from: folder in source.yml."
        )
    ]
    data.write("s/b.made", json.dumps(run_of(config={"seed": 1, "algo": "grpo", "lr": 0.1, "kl": 0})))
    assert data.warnings("s")[0].endswith(
        "They are read as different runs of one series, but differ in lr and kl: "
        "tell them apart with series_from: lr, or confirm it with run_from: folder, in source.yml."
    )
    data.write("s/source.yml", "series_from: algo\nrun_from: folder\n")
    assert data.warnings("s") == []


def test_a_name_in_vain_is_told_with_those_there_are(tmp_path: Path) -> None:
    """What differs between the runs comes first."""
    data = made(tmp_path, "series_from: algor", a=run_of(config={"algorithm": "x", "lr": 1}))
    assert told(data) == [
        'data/s/source.yml: series_from: no run has "algor". '
        'Did you mean "algorithm"? They have name, algorithm and lr.'.replace("name, ", "")
    ]


def test_a_filter_may_ask_for_a_setting_of_the_runs(tmp_path: Path) -> None:
    """Runs of other settings are left out."""
    data = made(tmp_path, "filter: {lr: 0.1}", a=run_of(config={"lr": 0.1}), b=run_of(config={"lr": 0.2}))
    assert set(data.frame("s", "loss")["run"]) == {"a"}
    data.write("s/source.yml", "filter: {learning_rate: 0.1}")
    assert 'filter names the column "learning_rate", which the runs do not have' in told(data)[0]
    data.write("s/source.yml", "filter: {LR: 0.1}")
    assert 'which the runs do not have. Did you mean "lr"? They have folder, lr, ' in told(data)[0]


def test_groups_of_a_pattern_name_runs(tmp_path: Path) -> None:
    """A regular expression over paths gives series and seeds, and other groups are columns."""
    data = made(
        tmp_path,
        r"files: 'runs/(?P<series>[^/]+)/(?P<size>\d+B)_seed(?P<seed>\d+)[.]made'",
        runs__GRPO__7B_seed1=run_of(),
        runs__GRPO__7B_seed2=run_of(),
        runs__PPO__1B_seed1=run_of(),
        other__x=run_of(),
    )
    table = data.frame("s", "loss")
    assert set(zip(table["series"], table["seed"], strict=True)) == {
        ("GRPO", "1"),
        ("GRPO", "2"),
        ("PPO", "1"),
    }
    assert data.warnings("s") == []
    assert set(data.frame("s", "loss", where={"size": "1B"})["series"]) == {"PPO"}


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("runs/(?P<series>[^/]+.made", "is not a valid regular expression: missing ). A text with (?P<"),
        (
            "(?P<series>.+)(?=x)",
            "is not a valid regular expression: invalid perl operator: (?=. A text with (?P<",
        ),
        (r"(?P<series>.)/(?P=series)", "it cannot look around, nor refer to its own groups"),
        ("(?P<series>a)(?P<series>b)", "is not a valid regular expression: two groups are called series"),
        ("(?P<series>(a+)+)b", "matches no file in data/s. It must match the whole path below the folder"),
        ("**/a/**/b/**/c", 'has "**" more than 2 times. Name the folders between them'),
        ("(?P<series>x+)/none", "matches no file in data/s. It must match the whole path below the folder"),
    ],
)
def test_patterns_that_fit_nothing_are_told(tmp_path: Path, pattern: str, message: str) -> None:
    """A pattern that is none, and one that fits no file."""
    name = "a" * 60
    assert message in told(made(tmp_path, f"files: '{pattern}'", **{name: run_of()}))[0]


def test_many_times_any_depth_in_a_row_is_once(tmp_path: Path) -> None:
    """What stands between two of them parts a path in as many ways as it has folders."""
    pattern = "**/" * 40 + "m*"
    data = made(tmp_path, f"files: '{pattern}'", **{"__".join("abcdefghijklmnop") + "__m": run_of()})
    assert len(set(data.frame("s", "loss")["run"])) == 1


def test_letters_and_digits_of_all_languages_fit_a_pattern(tmp_path: Path) -> None:
    """As in Python's regular expressions; a group that takes no part tells nothing."""
    data = made(
        tmp_path,
        r"files: '(?P<series>[\w.]+)/(?:seed(?P<seed>\d+)|last)[.]made'",
        größe__seed1=run_of(),
        größe__last=run_of(),
    )
    table = data.frame("s", "loss")
    assert set(table["series"]) == {"größe"}
    assert set(table["seed"].dropna()) == {"1"}
    assert table["seed"].isna().sum() == len(table) / 2


@pytest.mark.parametrize("ending", ["csv", "jsonl", "json", "parquet"])
def test_groups_of_a_pattern_are_columns_of_tables(tmp_path: Path, ending: str) -> None:
    """Tables that say nothing of series and seed learn it from their paths."""
    data = Data(tmp_path)
    for series in ("A", "B"):
        for seed in (1, 2):
            name = f"s/{series}/seed_{seed}/m.{ending}"
            rows = [{"step": step, "loss": step + seed} for step in range(3)]
            if ending == "parquet":
                data.parquet(name, f"SELECT range AS step, range + {seed} AS loss FROM range(3)")  # noqa: S608
            elif ending == "csv":
                data.write(name, "step,loss\n" + "".join(f"{row['step']},{row['loss']}\n" for row in rows))
            else:
                data.write(name, "\n".join(map(json.dumps, rows)) if ending == "jsonl" else json.dumps(rows))
    data.write("s/source.yml", rf"files: '(?P<series>\w)/seed_(?P<seed>\d+)/m[.]{ending}'")
    source = opened(data, cache := Cache(tmp_path / "cache"))
    assert (source.metrics, source.columns) == (("loss",), ("step", "loss", "series", "seed"))
    assert opened(data, cache) == source
    table = data.frame("s", "loss")
    assert list(zip(table["series"], table["run"], table["seed"], table["value"], strict=True))[::3] == [
        ("A", "1", "1", 1.0),
        ("A", "2", "2", 2.0),
        ("B", "1", "1", 1.0),
        ("B", "2", "2", 2.0),
    ]
    assert set(data.frame("s", "loss", where={"series": "B"})["series"]) == {"B"}
    assert list(read_raw_frame(tmp_path, source)["seed"])[:4] == ["1", "1", "1", "2"]


def test_evaluations_are_a_source_of_outcomes(tmp_path: Path) -> None:
    """A row an answer, with the benchmark, the model as series, and what can be sliced by."""
    answers = [
        {
            "problem": "p1",
            "score": 1,
            "sample": "1",
            "answer": "4",
            "gold": "4",
            "tokens": 7,
            "slices": {"level": "2"},
        },
        {"problem": "p1", "score": 0, "sample": "2", "answer": "5", "gold": "4", "slices": {"Score": "x"}},
    ]
    other = evaluation("Base", [0.0, None], benchmark="math", run="tuesday", seed="3")
    data = made(
        tmp_path, a={"model": "Base", "run": "monday", "answers": answers}, b=[other, evaluation("Long", [1])]
    )
    source = data.open("s")
    assert (source.kind, source.benchmarks, source.slices) == ("outcomes", ("toy", "math"), ("level",))
    expected = [("Base", "monday", "toy / p1", "1", 1.0, 7.0), ("Base", "monday", "toy / p1", "2", 0.0, None)]
    columns = ("series", "run", "problem", "sample", "score", "tokens")
    assert answers_of(data, *columns)[:2] == expected
    picked = ("series", "run", "seed", "problem", "score")
    assert answers_of(data, *picked, benchmark="math") == [
        ("Base", "tuesday", "3", "p0", 0.0),
        ("Base", "tuesday", "3", "p1", None),
    ]
    assert answers_of(data, "level", "answer", benchmark="toy", series=("Base",)) == [("2", "4"), (None, "5")]


def test_one_of_several_scores_is_taken(tmp_path: Path) -> None:
    """The first unless ``metrics:`` says otherwise; two of them are two benchmarks."""
    answers = [
        {"problem": "p", "score": score, "metric": name} for score, name in ((1, "acc"), (0, "acc_norm"))
    ]
    data = made(tmp_path, a={"model": "M", "benchmark": "mc", "answers": answers})
    assert answers_of(data, "score", "benchmark") == [(1.0, "mc")]
    assert data.warnings("s") == [
        (
            "data/s: 1 evaluation has scores by acc and acc_norm; acc is taken. "
            "Confirm it with metrics: [acc], or choose others with metrics: [acc_norm]."
        )
    ]
    data.write("s/source.yml", "metrics: [acc_norm]")
    assert (answers_of(data, "score", "benchmark"), data.warnings("s")) == ([(0.0, "mc")], [])
    data.write("s/source.yml", "metrics: [acc, acc_norm]")
    assert answers_of(data, "score", "benchmark") == [(1.0, "mc (acc)"), (0.0, "mc (acc_norm)")]


def test_answers_without_model_and_benchmark(tmp_path: Path) -> None:
    """They are called as their files, and of two scores one is taken."""
    answers = [
        {"problem": "p", "score": 1, "metric": "acc"},
        {"problem": "p", "score": 0, "metric": "strict"},
    ]
    bare = {"model": "", "benchmark": "", "answers": answers}
    data = made(tmp_path, A=bare, B=bare)
    source = data.open("s")
    assert (source.kind, source.benchmarks) == ("outcomes", ())
    assert answers_of(data, "series", "score") == [("A", 1.0), ("B", 1.0)]
    assert "acc is taken" in data.warnings("s")[-1]


def test_evaluations_without_answers_are_told(tmp_path: Path) -> None:
    """Beside answers they are left out by name; where all are so, they are read."""
    totals = [{"metric": "acc", "value": 0.5, "stderr": 0.1, "n": 20}]
    bare = {"model": "Base", "benchmark": "gsm", "totals": totals}
    data = made(tmp_path, a=bare, b=evaluation("Long", [1], finished=False))
    assert data.warnings("s") == [
        (
            "data/s/a.made: of Base on gsm there are totals only; they are not read, since others here have "
            "answers. Let the harness write its samples, too, or make these a source of their own."
        ),
        (
            "data/s/b.made: the evaluation of Long on toy did not finish; what is there is read. "
            "Leave it out with files:, or let it finish."
        ),
    ]
    (tmp_path / "data/s/b.made").unlink()
    assert data.warnings("s") == []
    assert data.open("s").kind == "totals"


def test_a_harness_tells_the_protocol(tmp_path: Path) -> None:
    """What all series share, what one has of its own, and above both what the settings say."""
    own = {"temperature": "0.6", "max_tokens": "2048", "harness": "made", "strange": "x", "samples": "many"}
    data = made(
        tmp_path,
        "protocol: {max_tokens: 99}",
        a=evaluation("Base", [1], protocol=own),
        b=evaluation("Long", [1], protocol={**own, "temperature": "1", "max_tokens": "4096"}),
    )
    settings = data.open("s").settings
    assert dict(settings.get_protocol("Base").list_stated()) == {
        "temperature": "0.6",
        "max tokens": "99",
        "harness": "made",
    }
    assert settings.get_protocol("Long").temperature == 1.0
    assert (settings.protocol.harness, settings.protocol.max_tokens) == ("made", 99)


def test_a_score_out_of_range_is_told_at_the_file(tmp_path: Path) -> None:
    """The rows lie in the cache, but a person has the file of the harness."""
    data = made(tmp_path, a=evaluation("Base", [1, 55]))
    with pytest.raises(ReportError) as caught:
        answers_of(data, "score")
    assert str(caught.value).startswith('data/s/a.made: "55.0" in column "score" of row 2 is outside 0 to 1')


def test_runs_without_values_are_told(tmp_path: Path) -> None:
    """A run that has just begun is no fault of anybody."""
    (problem,) = told(made(tmp_path, a={"metrics": {}}))
    assert (
        problem == "data/s: the runs hold no values yet. Wait for the first, or name other files with files:."
    )


def test_files_and_folders_of_loggers_are_sources(tmp_path: Path) -> None:
    """A folder with runs, and a log that lies in the data folder, are listed and opened by their names."""
    data = made(tmp_path, deep__a=run_of())
    data.write("one.made", json.dumps(run_of(name="mine")))
    data.write("events.out.tfevents.1.host", "")
    data.write("runs.csv", LONG)
    data.write("runs.log", "a log beside a table")
    assert find_sources(tmp_path, "data") == ("events.out.tfevents.1.host", "one", "runs", "s", "s/deep")
    assert set(data.frame("one", "loss")["series"]) == {"mine"}
    assert data.open("runs").files[0].path == "data/runs.csv"


def test_a_notebook_reads_them_too(tmp_path: Path) -> None:
    """Without a cache the rows lie in a temporary folder, and an unchanged file is read once a process."""
    made(tmp_path, A__seed_1=run_of(), A__seed_2=run_of())
    root, source = open_path(tmp_path / "data/s", load_settings=load_source_settings)
    _, again = open_path(tmp_path / "data/s", load_settings=load_source_settings)
    assert source == again
    assert made_reader.READ == ["seed_1.made", "seed_2.made"]
    assert read_raw_frame(root, source)["series"].tolist() == ["s"] * 4


def test_settings_for_runs_are_refused_for_tables(tmp_path: Path) -> None:
    """They would be read in vain."""
    data = Data(tmp_path)
    data.write("s/a.csv", LONG)
    data.write("s/source.yml", "series_from: algo")
    assert told(data) == [
        (
            "data/s/source.yml: series_from: applies to runs, and there are only tables here. "
            "Name columns with columns:, or take names out of paths with groups in files:."
        )
    ]


def test_every_format_has_a_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``format:`` may say is what there is, and each reader has the names that it should."""
    monkeypatch.undo()
    forms = registry.list_formats()
    for form in forms:
        reader = registry.load_reader(form)
        assert (reader.NAME, bool(reader.TITLE)) == (form.name, True)
        assert reader.find_units([]) == ()
        assert callable(reader.read)
    converted = {"xlsx", *WEAK_ENDINGS.values()}
    assert {*FORMATS, *converted, "mapped", *(form.name for form in forms)} == set(get_args(Format))
    assert len({form.name for form in forms}) == len(forms)


@pytest.mark.slow
def test_a_report_of_parquet_imports_no_reader(tmp_path: Path) -> None:
    """Nobody pays for formats that a report does not have."""
    Data(tmp_path).parquet("s/a.parquet", "SELECT 1 AS step, 2 AS loss")
    code = (
        "import sys; from pathlib import Path; from reportgen.read import open_source\n"
        "from reportgen.settings.loading import load_source_settings as load\n"
        "open_source(Path(sys.argv[1]), 'data', 's', load_settings=load)\n"
        "print([name for name in sys.modules if '.loggers.' in name or '.harnesses.' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_real_readers_are_found(tmp_path: Path) -> None:
    """A folder of checkpoints, and two logs of a trainer with seeds in their names."""
    data = Data(tmp_path)
    history = [{"step": step, "loss": 1 / step, "epoch": step / 2} for step in (1, 2)]
    state = json.dumps({"global_step": 2, "log_history": history})
    data.write("hf/base/checkpoint-2/trainer_state.json", state)
    data.write("hf/long/checkpoint-2/trainer_state.json", state)
    assert (data.open("hf").metrics, set(data.frame("hf", "loss")["series"])) == (
        ("loss", "epoch"),
        {"base", "long"},
    )
    for seed in (1, 2):
        lines = "".join(json.dumps({"step": step, "data": {"kl": seed}}) + "\n" for step in (1, 2))
        data.write(f"verl/grpo-seed{seed}.jsonl", lines)
    table = data.frame("verl", "kl")
    assert set(zip(table["series"], table["seed"], table["value"], strict=True)) == {
        ("grpo", "1", 1.0),
        ("grpo", "2", 2.0),
    }
    assert data.warnings("verl") == [
        (
            "data/verl: series were distinguished by their folders, and seeds by the names: grpo. "
            "Confirm or change it with series_from: folder and seed_from: folder in source.yml."
        )
    ]


def test_links_that_lead_nowhere_or_around_do_no_harm(tmp_path: Path) -> None:
    """A link to a missing file, one to a folder above, and a pipe stand beside a run that is read."""
    data = made(tmp_path, deep__a=run_of())
    (tmp_path / "data/s/gone.made").symlink_to(tmp_path / "nowhere.made")
    (tmp_path / "data/s/gone.json").symlink_to(tmp_path / "nowhere.json")
    (tmp_path / "data/s/deep/up").symlink_to(tmp_path / "data/s")
    os.mkfifo(tmp_path / "data/pipe")
    (tmp_path / "data/s/pipe.made").symlink_to(tmp_path / "data/pipe")
    assert [file.path for file in data.open("s").files] == ["data/s/deep/a.made"]
    assert len(data.frame("s", "loss")) == 2


def test_a_folder_of_too_many_files_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is named with what to do."""
    monkeypatch.setattr(find, "MOST_FILES", 3)
    data = made(tmp_path, "", **{f"r{place}": run_of() for place in range(5)})
    assert told(data) == [
        (
            "data/s: the folder holds more than 3 files. "
            "Name those to read with files: in source.yml, or move the others elsewhere."
        )
    ]
