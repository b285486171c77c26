"""A source is restored from the cache as it was opened, while nothing in its files has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from command_line import call
from command_line import run as run_apart
from made_projects import RUNS, write_file, write_report
from made_sources import LONG, Data
from msgspec import msgpack
from msgspec.structs import replace

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import Diagnostics, ReportError
from reportgen.draft.gathering import gather_sources
from reportgen.formats.registry import find_reader, load_code
from reportgen.formats.sql import Engine, get_engine
from reportgen.narrative.pages import read_page
from reportgen.read import TotalsTable, find_sources, open_source, sources
from reportgen.settings.loading import load_source_settings
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reportgen.settings.inputs import Source

EXAMPLE = Path(__file__).parent.parent
NAMES = [name for name in find_sources(EXAMPLE, "data") if "/" not in name]


class Opener:
    """Opens the sources of a report as each build does, and counts those that were not in the cache."""

    def __init__(self, root: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.project, self.folder, self.opened = Project(root, "content", (), ProjectSettings()), folder, 0
        request_source = sources.request_source

        def count_opening(*given: Any) -> sources.SourceRequest:  # noqa: ANN401 - passed on
            self.opened += 1
            return request_source(*given)

        patch.setattr(sources, "request_source", count_opening)

    def open(self, name: str, front_matter: str = "") -> Source:
        """The source that a page names, with what earlier openings stored."""
        hashes, problems = FileHashes(self.folder), Diagnostics()
        page = read_page("a.md", f"---\n{front_matter}\n---\n\n```table\nsource: a\n```\n", "content/a.md")
        (block,) = page.blocks
        block = replace(block, settings=block.settings.model_copy(update={"source": name}))
        page = replace(page, blocks=(block,))
        found = gather_sources(self.project, (page,), hashes, Cache(self.folder), problems)
        hashes.save()
        problems.raise_errors()
        return found[name]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A report with one file of data, which was opened once."""
    opener = Opener(write_report(tmp_path / "small"), tmp_path / "cache", monkeypatch)
    opener.open("runs")
    return opener


def encode(source: Source) -> Source:
    """The same source with its layout as it is stored."""
    inner = source.checkpoints and encode(source.checkpoints)
    return replace(source, layout=msgpack.encode(source.layout), checkpoints=inner)


@pytest.mark.parametrize("name", NAMES)
def test_a_restored_source_is_the_opened_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every format of the example report: settings, layout, files and warnings."""
    opener = Opener(EXAMPLE, tmp_path, monkeypatch)
    first, second = opener.open(name), opener.open(name)
    assert opener.opened == 1
    assert isinstance(second.layout, bytes)
    assert second == encode(first)
    assert repr(replace(second, layout=None, checkpoints=None)) == repr(
        replace(first, layout=None, checkpoints=None)
    )
    assert second.settings.model_fields_set == first.settings.model_fields_set


def test_warnings_are_restored_and_faults_found_each_time(
    small: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A source that cannot be opened is not stored, nor is a name that no source has."""
    for name in (".", "..", "../data", "/etc", "runs/\ud800", "runs\0", "runs/../runs"):
        for _ in range(2):
            with pytest.raises(ReportError, match="there is no source"):
                small.open(name)
    root = write_report(tmp_path / "warned", {"data/runs.source.yml": "rename: {nobody: somebody}\n"})
    opener = Opener(root, tmp_path / "other", monkeypatch)
    first = opener.open("runs")
    assert first.warnings
    assert (opener.open("runs").warnings, opener.opened) == (first.warnings, 1)
    write_file(root / "data/runs.source.yml", "metric: accuracy\n")
    for _ in range(2):
        with pytest.raises(ReportError, match="metric"):
            opener.open("runs")
    assert opener.opened == 3


def change_number(root: Path) -> None:
    """Another number of as many characters."""
    write_file(root / "data" / "runs.csv", RUNS.replace("0.84", "0.85"))
    os.utime(root / "data" / "runs.csv")


def write_settings(root: Path) -> None:
    """A file next to the source that begins with its name."""
    write_file(root / "data" / "runs.source.yml", "title: Runs\n")


def change_permissions(root: Path) -> None:
    """Other permissions of the same file."""
    (root / "data" / "runs.csv").chmod(0o600)


def link_elsewhere(root: Path) -> None:
    """A link to the same numbers."""
    (root / "data" / "runs.csv").rename(root / "elsewhere.csv")
    (root / "data" / "runs.csv").symlink_to(root / "elsewhere.csv")


@pytest.mark.parametrize("change", [change_number, write_settings, change_permissions, link_elsewhere])
def test_a_source_that_may_differ_is_opened_again(small: Opener, change: Callable[[Path], None]) -> None:
    """Whatever changed in or around its files; and once only."""
    change(small.project.root)
    for _ in range(2):
        small.open("runs")
    assert small.opened == 2


def test_a_repository_around_the_report_opens_its_sources_again(tmp_path: Path) -> None:
    """It decides where links may lead, which is looked up once per process."""
    root = write_report(tmp_path / "small")
    counts = []
    for start in (call, call, run_apart, run_apart):
        assert start(root, "check", "--cache-dir", str(tmp_path / "cache")).returncode == 0
        counts.append(len([*(tmp_path / "cache").glob("**/??/*")]))
        if len(counts) == 2:
            (tmp_path / ".git").mkdir()
    assert counts[0] == counts[1] == counts[2] - 1 == counts[3] - 1


def test_each_request_has_a_source_of_its_own(small: Opener) -> None:
    """Short names of pages, and texts of answers."""
    for _ in range(2):
        assert small.open("runs", "labels: {MEL: ours}").settings.labels == {"MEL": "ours"}
    assert small.open("runs").settings.labels == {}
    assert small.opened == 2


def test_a_lost_copy_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are read from their copies in the cache, which anyone may delete."""
    opener = Opener(EXAMPLE, tmp_path, monkeypatch)
    layout: Any = opener.open("wandb-example").layout
    copies = [Path(file.copy) for file in layout.files]
    assert copies
    for copy in copies:
        (EXAMPLE / copy).unlink()
    opener.open("wandb-example")
    assert all((EXAMPLE / copy).is_file() for copy in copies)
    assert opener.opened == 2


def test_a_damaged_entry_is_no_source(small: Opener) -> None:
    """It counts as missing."""
    for path in small.folder.glob("??/*"):
        path.write_bytes(path.read_bytes()[:-1])
    small.open("runs")
    assert small.opened == 2


def test_a_restored_source_is_read_as_an_opened_one(tmp_path: Path) -> None:
    """What another page says is held against it, after a check that stored the source."""
    root = write_report(tmp_path / "small")
    assert call(root, "check").returncode == 0
    words = 'MEL ends at [0.9]{value="final(MEL)" of="runs"}.'
    write_file(root / "content" / "other.md", f"# Small\n\n```table\nsource: runs\n```\n\n{words}\n")
    assert "final(MEL) = 0.8" in call(root, "check").stdout


# ---- scores of whole benchmarks -------------------------------------------------------------------------


def write_totals(root: Path, models: int, benchmarks: int = 1) -> None:
    """Results of lm-eval of so many models."""
    tasks = {f"b{n}": {"alias": f"b{n}", "acc,none": (n + 1) / 100} for n in range(benchmarks)}
    for model in range(models):
        document = {"results": tasks, "model_name": f"M{model}"}
        write_file(root / f"data/s/M{model}/results_2026-01-05T10-00-00.000000.json", json.dumps(document))


def test_totals_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a harness are not read again while they stand, and many are one file of the cache."""
    write_totals(tmp_path / "report", 16)
    opener, read = Opener(tmp_path / "report", tmp_path / "cache", monkeypatch), []
    form = find_reader("lm_eval")
    assert form is not None
    reader: Any = load_code(form)
    own = reader.read

    def count_reading(unit: Any) -> Any:  # noqa: ANN401 - passed on
        read.append(unit.path)
        return own(unit)

    monkeypatch.setattr(reader, "read", count_reading)
    for _ in range(2):
        scores = TotalsTable(tmp_path / "report", opener.open("s")).get_scores("b0")
        assert {one.series: one.value for one in scores} == {f"M{number}": 0.01 for number in range(16)}
    assert len(read) == 16
    assert len([*(tmp_path / "cache").glob("**/*.parquet")]) == 1


def test_the_look_at_a_table_of_totals_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second look is the first one."""
    files = {"data/s.csv": "model,task,score\nA,gsm,0.5\n", "data/s.source.yml": "form: totals\n"}
    opener = Opener(write_report(tmp_path / "report", files), tmp_path / "cache", monkeypatch)
    first, second = opener.open("s"), opener.open("s")
    assert (opener.opened, second.kind, second) == (1, "totals", encode(first))


def count_statements(patch: pytest.MonkeyPatch, root: Path, files: Mapping[str, str | None]) -> list[int]:
    """How many statements the database gets to describe ``data/s.csv``, and to check the report."""
    write_report(root, {"data/runs.csv": None, **files})
    found, cursor, counts = 0, Engine.open_cursor, []

    def count(one: Engine) -> Any:  # noqa: ANN401 - DuckDB's
        nonlocal found
        found += 1
        return cursor(one)

    with patch.context() as patched:
        patched.setattr(Engine, "open_cursor", count)
        for words in (("describe", "data/s.csv"), ("check",)):
            assert call(root, *words).returncode == 0
            counts.append(found)
            found = 0
    return counts


def write_benchmarks(count: int) -> dict[str, str | None]:
    """Totals of three models on so many benchmarks, compared."""
    rows = (f"{m},b{n},{(n + 1) / 100},0.01,100\n" for n in range(count) for m in "ABC")
    page = "```comparison\nsource: s\nbaseline: A\n```\n"
    data = f"model,task,score,se,n\n{''.join(rows)}"
    return {"content/index.md": page, "data/s.csv": data, "data/s.source.yml": "form: totals\n"}


def write_means(count: int) -> dict[str, str | None]:
    """Series whose last run is nearly the mean of the others: of the first at its ends, of no other one."""
    off = [(series, step, 0.1 * (series > 0 or step == 2)) for series in range(count) for step in (1, 2, 3)]
    values = {0: 0, 5: 5, 4: 4, 1: 3}
    rows = (
        f"A{series},{seed},{step},{value + (seed == 1) * by}\n"
        for series, step, by in off
        for seed, value in values.items()
    )
    page = "```table\nsource: s\ncolumns: [final]\n```\n"
    return {"content/index.md": page, "data/s.csv": f"series,seed,step,loss\n{''.join(rows)}"}


@pytest.mark.parametrize("write", [write_benchmarks, write_means])
def test_many_benchmarks_or_series_take_no_more_statements_than_few(
    write: Callable[[int], dict[str, str | None]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All are read at once, where they are described, checked and drawn."""
    few = count_statements(monkeypatch, tmp_path / "few", write(3))
    assert min(few) > 0
    assert count_statements(monkeypatch, tmp_path / "many", write(30)) == few


# ---- the look at files ----------------------------------------------------------------------------------

MAPPING = """format: mapped
rows: $.results[*]
columns: {problem: $.id, score: $.correct, series: ^.model}
"""
# Files of sources, and the settings of each.
KEPT = {
    "text": ({"a.csv": LONG, "b.tsv": LONG.replace(",", "\t")}, ""),
    "gzip": ({"a.csv.gz": LONG}, ""),
    "jsonl": ({"a.jsonl": '{"model": "MEL", "step": 1, "loss": 0.5}\n'}, ""),
    "chart": ({"a.csv": '"Step","a - loss","a - loss__MIN","a - loss__MAX"\n"0","1","1","1"\n'}, ""),
    "settings": (
        {"a.csv": "model,step,reward,loss\nMEL,0,0.1,2.0\n"},
        "title: Runs\nrename: {MEL: ours}\nmetrics: [loss]\n",
    ),
    "outcomes": (
        {"a.csv": "model,benchmark,problem,score,level\nMEL,AIME,p,1,easy\nMEL,MATH,p,0.5,hard\n"},
        "score_range: [0, 2]\nprotocol: {samples: 2}\n",
    ),
}


def look(data: Data) -> tuple[Source, Cache]:
    """The source ``s``, and the cache that has what earlier looks kept."""
    cache = Cache(data.root / "cache")
    return open_source(data.root, "data", "s", load_settings=load_source_settings, cache=cache), cache


@pytest.mark.parametrize("form", KEPT)
def test_the_second_look_is_the_first(tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In whatever form the files are, and with the same way to read them."""
    (files, said), data = KEPT[form], Data(tmp_path)
    for name, text in files.items():
        data.write(f"s/{name}", text)
    data.write("s/source.yml", said)
    first, _ = look(data)
    monkeypatch.setattr(sources, "survey", None)
    second, _ = look(data)
    assert (second, second.layout, second.warnings) == (first, first.layout, ())


def test_a_changed_file_or_setting_is_looked_at(tmp_path: Path) -> None:
    """By its content, not by its name; and what was handled is reported every time."""
    data, wide = Data(tmp_path), "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,,1.0\n"
    looks = ((wide, ""), (wide, "metrics: [loss]\n"), (wide.replace("reward", "return"), ""))
    for (text, said), metrics in zip(looks, ("reward, loss", "loss", "return, loss"), strict=True):
        data.write("s/a.csv", text)
        data.write("s/source.yml", said or "title: Runs\n")
        assert ", ".join(look(data)[0].metrics) == metrics
    data.write("s/a.csv", f"{wide}MEL,2,0.")
    assert len(look(data)[0].warnings) == len(look(data)[0].warnings) == 1
    data = Data(tmp_path / "mapped")
    data.write("s/a.json", '{"model": "A", "results": [{"id": "p", "correct": true}]}')
    for fields, hits, slices in (("", 0, ()), ("", 2, ()), ("fields: {name: $.id}\n", 0, ("name",))):
        data.write("s/source.yml", MAPPING + fields)
        source, cache = look(data)
        assert (source.slices, cache.hits) == (slices, hits)


# ---- the database ---------------------------------------------------------------------------------------


def test_settings_are_locked_and_nothing_is_loaded() -> None:
    """Neither on the database's own connection nor on a cursor; times are in UTC."""
    database = get_engine()
    for statement in (
        *("SET threads = 1", "SET GLOBAL TimeZone = 'Europe/Berlin'", "SET autoload_known_extensions = true"),
        *("SET allow_community_extensions = true", "SET lock_configuration = false", "RESET memory_limit"),
        *("PRAGMA enable_progress_bar", "LOAD sqlite"),
    ):
        for run in (database.fetch_rows, database._connection.execute):
            with pytest.raises(duckdb.Error):
                run(statement)
    names = ("TimeZone", "allow_community_extensions", "autoinstall_known_extensions", "lock_configuration")
    asked = ", ".join(f"current_setting('{name}')" for name in names)
    assert database.fetch_rows(f"SELECT {asked}") == [("UTC", False, False, True)]
