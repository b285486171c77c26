"""A source is restored from the cache as it was opened, while nothing in its files has changed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
from command_line import call
from made_projects import RUNS, write_file, write_report
from msgspec.structs import replace

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import ReportError
from reportgen.core.repository import find_data_boundary
from reportgen.draft.opening import open_project_source
from reportgen.formats.evaluations import lm_eval
from reportgen.formats.sql import Engine, get_engine
from reportgen.read import TotalsTable, find_sources, sources
from reportgen.read.tables.layout import get_layout
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Callable

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

    def open(self, name: str, **request: Any) -> Source:  # noqa: ANN401 - passed on
        """The source, with what earlier openings stored."""
        hashes = FileHashes(self.folder)
        source = open_project_source(self.project, name, hashes, Cache(self.folder), **request)
        hashes.save()
        return source


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Opener:
    """A report with one file of data, which was opened once."""
    opener = Opener(write_report(tmp_path / "small"), tmp_path / "cache", monkeypatch)
    opener.open("runs")
    return opener


def decode(source: Source) -> Source:
    """The same source with its layout as it was when it was opened."""
    inner = source.checkpoints and decode(source.checkpoints)
    return replace(source, layout=get_layout(source), checkpoints=inner)


@pytest.mark.parametrize("name", NAMES)
def test_a_restored_source_is_the_opened_one(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every format of the example report: settings, layout, files and warnings."""
    opener = Opener(EXAMPLE, tmp_path, monkeypatch)
    first, second = opener.open(name), opener.open(name)
    assert opener.opened == 1
    assert isinstance(second.layout, bytes)
    assert decode(second) == first
    assert repr(replace(second, layout=None, checkpoints=None)) == repr(
        replace(first, layout=None, checkpoints=None)
    )
    assert second.settings.model_fields_set == first.settings.model_fields_set


def test_warnings_are_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are those of the same files."""
    files = {"data/runs.source.yml": "rename: {nobody: somebody}\n"}
    opener = Opener(write_report(tmp_path / "small", files), tmp_path / "cache", monkeypatch)
    first = opener.open("runs")
    assert first.warnings
    assert opener.open("runs").warnings == first.warnings
    assert opener.opened == 1


def test_faults_are_found_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A source that cannot be opened is not stored."""
    files = {"data/runs.source.yml": "metric: accuracy\n"}
    opener = Opener(write_report(tmp_path / "small", files), tmp_path / "cache", monkeypatch)
    for _ in range(2):
        with pytest.raises(ReportError, match="metric"):
            opener.open("runs")
    assert opener.opened == 2


@pytest.mark.parametrize("name", ["", ".", "..", "../data", "/etc", "runs/\ud800", "runs\0", "runs/../runs"])
def test_a_name_that_no_source_has_is_refused_each_time(small: Opener, name: str) -> None:
    """As one that names nothing, whatever it holds."""
    for _ in range(2):
        with pytest.raises(ReportError, match="there is no source"):
            small.open(name)


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


def move_repository(root: Path) -> None:
    """A repository around the report, which decides where links may lead."""
    (root.parent / ".git").mkdir()


@pytest.mark.parametrize(
    "change", [change_number, write_settings, change_permissions, link_elsewhere, move_repository]
)
def test_a_source_that_may_differ_is_opened_again(small: Opener, change: Callable[[Path], None]) -> None:
    """Whatever changed in or around its files; and once only."""
    change(small.project.root)
    # Where links may lead is looked up once per process.
    find_data_boundary.cache_clear()
    for _ in range(2):
        small.open("runs")
    assert small.opened == 2


def test_each_request_has_a_source_of_its_own(small: Opener) -> None:
    """Short names of pages, and texts of answers."""
    assert small.open("runs", labels={"MEL": "ours"}).settings.labels == {"MEL": "ours"}
    assert small.open("runs", labels={"MEL": "ours"}).settings.labels == {"MEL": "ours"}
    assert small.open("runs").settings.labels == {}
    assert small.opened == 2


def test_a_lost_copy_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs are read from their copies in the cache, which anyone may delete."""
    opener = Opener(EXAMPLE, tmp_path, monkeypatch)
    copies = [Path(file.copy) for file in get_layout(opener.open("wandb-example")).files]
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
    """What a figure of another page is drawn from, after a build that restored the source."""
    root = write_report(tmp_path / "small")
    assert call(root, "build").returncode == 0
    table = "# Small\n\n```table\nsource: runs\n```\n"
    write_file(root / "content" / "other.md", table)
    assert call(root, "build").returncode == 0
    assert "MEL" in (root / "site" / "other" / "index.html").read_text()


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
    own = lm_eval.read

    def count_reading(unit: Any, *given: Any) -> Any:  # noqa: ANN401 - passed on
        read.append(unit.path)
        return own(unit, *given)

    monkeypatch.setattr(lm_eval, "read", count_reading)
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
    assert (opener.opened, second.kind, decode(second)) == (1, "totals", first)


def count_statements(patch: pytest.MonkeyPatch, root: Path, benchmarks: int) -> tuple[int, int]:
    """How many statements the database gets to describe, and to compare on, so many benchmarks."""
    rows = (f"{m},b{n},{(n + 1) / 100},0.01,100\n" for n in range(benchmarks) for m in "ABC")
    page = "```comparison\nsource: s\nbaseline: A\n```\n"
    files = {"data/s.csv": f"model,task,score,se,n\n{''.join(rows)}", "data/s.source.yml": "form: totals\n"}
    write_report(root, {"content/index.md": page, "data/runs.csv": None, **files})
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
    described, compared = counts
    return described, compared


def test_many_benchmarks_take_no_more_statements_than_few(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All are read at once, where they are described and where they are drawn."""
    few = count_statements(monkeypatch, tmp_path / "few", 3)
    assert min(few) > 0
    assert count_statements(monkeypatch, tmp_path / "many", 30) == few


# ---- the database ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        *("SET threads = 1", "SET GLOBAL TimeZone = 'Europe/Berlin'", "SET autoload_known_extensions = true"),
        *("SET allow_community_extensions = true", "SET lock_configuration = false", "RESET memory_limit"),
        *("PRAGMA enable_progress_bar", "INSTALL h3 FROM community", "LOAD sqlite"),
    ],
)
def test_settings_are_locked_and_nothing_is_loaded(statement: str) -> None:
    """Neither on the database's own connection nor on a cursor; times are in UTC."""
    database = get_engine()
    for run in (database.fetch_rows, database._connection.execute):
        with pytest.raises(duckdb.Error):
            run(statement)
    asked = "SELECT current_setting('TimeZone'), current_setting('allow_community_extensions')"
    assert database.fetch_rows(asked) == [("UTC", False)]
