"""What loggers and harnesses wrote, as sources: read once, named, and from there like any other table."""

from __future__ import annotations

import json
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
