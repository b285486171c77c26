"""A build puts a whole site in place of the old one, whatever fails, also where it is shared with a process.

What a build writes and says of problems stands in ``transcripts/building.md``.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures.process import ProcessPoolExecutor
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from limited_disk import NO_SPACE, limited_disk
from made_projects import PAGE, RUNS, SETTINGS, WorkerHere, files_below, share_cache, write_file, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings
from reportgen.site.publishing import publish
from reportgen.site.replacing.records import record_folder
from reportgen.site.reuse.manifest import LastBuild, read_outputs

if TYPE_CHECKING:
    from reportgen.core.model import Shown
    from reportgen.draft.report import Report


def build(root: Path) -> None:
    """Build a report."""
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)


def refuse(root: Path) -> str:
    """The problems that stop a build."""
    with pytest.raises(ReportError) as error:
        build(root)
    return "\n".join(map(str, error.value.problems))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with its site, to be copied."""
    root = write_report(tmp_path_factory.mktemp("built") / "report")
    build(root)
    return root


@pytest.fixture
def report(built: Path, tmp_path: Path) -> Path:
    """A small report with its site."""
    root = Path(shutil.copytree(built, tmp_path / "report"))
    share_cache(built, root)
    return root


def test_an_error_in_a_template_leaves_the_old_site(report: Path) -> None:
    """Even one that MkDocs meets after most pages were written."""
    before = files_below(report / "site")
    write_file(report / "mkdocs.yml", SETTINGS.replace("name: reportgen", "name: reportgen, custom_dir: own"))
    write_file(report / "own" / "404.html", "{{ nobody.defined.this }}")
    with pytest.raises(Exception, match="nobody"):
        build(report)
    assert files_below(report / "site") == before


def record_build(report: Path, process: int) -> tuple[Path, Path]:
    """What a build that was killed leaves: its record, and the folders for the new and for the old site."""
    site = report / "site"
    new, old = (report / f".site.{kind}-{process}" for kind in ("new", "old"))
    record = cache_folder(report) / f"build-{process}.json"
    record.write_text(json.dumps([str(site), str(new), str(old)]), "utf-8")
    return new, old


def test_a_build_that_was_killed_between_its_renames_is_restored(report: Path) -> None:
    """The old site was put aside: it comes back before the next build begins, even one that fails."""
    before = files_below(report / "site")
    _, old = record_build(report, 999999999)
    (report / "site").rename(old)
    write_file(report / "data" / "runs.csv", "")
    assert refuse(report)
    assert files_below(report / "site") == before


def test_what_a_killed_build_left_is_removed(report: Path) -> None:
    """The folder of a process that is no more; one that still runs keeps its own."""
    gone, _ = record_build(report, 999999999)
    runs, _ = record_build(report, os.getppid())
    for folder in (gone, runs):
        write_file(folder / "index.html", "half")
    build(report)
    assert not gone.exists()
    assert runs.is_dir()


def test_names_that_are_taken_are_left_alone(report: Path) -> None:
    """What a build with this number left in another container, which nothing here remembers."""
    write_file(report / f".site.new-{os.getpid()}-0" / "index.html", "half")
    write_file(report / f".site.old-{os.getpid()}-1" / "index.html", "old")
    build(report)
    assert sorted(path.name for path in report.glob(".site.*")) == [
        f".site.new-{os.getpid()}-0",
        f".site.old-{os.getpid()}-1",
    ]


def test_two_swaps_at_once_leave_one_whole_site(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another build may put its site in place after ours has put the old one aside."""
    rename = os.rename

    def overtaken(source: str, target: str, **descriptors: int) -> None:
        if ".site.new-" in source:
            monkeypatch.undo()
            write_file(report / "site" / "index.html", "by another build")
            record_folder(report / "site", cache_folder(report))
        rename(source, target, **descriptors)

    before = files_below(report / "site")
    monkeypatch.setattr(os, "rename", overtaken)
    build(report)
    assert files_below(report / "site").keys() == before.keys()
    assert not list(report.glob(".site.*"))


@pytest.mark.parametrize("call", ["os.mkdir", "os.rename", "pathlib.Path.open"])
def test_a_disk_that_takes_no_more_leaves_the_old_site(
    report: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whichever step of staging or swapping meets it, and it is said in words."""
    real = resolve_name(call)

    def full(path: Path, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        if ".site.new-" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, *arguments, **named)

    write_file(report / "content" / "index.md", f"{PAGE}\nOther words.\n")
    before = files_below(report / "site")
    monkeypatch.setattr(call, full)
    assert '"site" cannot be written: No space left on device. Free some space.' in refuse(report)
    assert files_below(report / "site") == before
    assert not list(report.glob(".site.*"))


def test_figure_files_are_copied_where_they_cannot_be_linked(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on another file system."""

    def refuse(*_: object) -> None:
        raise OSError

    before = files_below(report / "site")
    monkeypatch.setattr(os, "link", refuse)
    build(report)
    (csv,) = (report / "site" / "figures").rglob("*.csv")
    assert csv.stat().st_nlink == 1
    assert files_below(report / "site") == before


# ---- a disk that takes no more: in words, and no result lacks a run


FIRST = f"cache-{1 << 30}-build"
UNSTORED = "error: the rows that were read cannot be stored"
LOG = {
    f"data/logged/{run}/trainer_state.json": (
        '{"log_history": ['
        + ", ".join(f'{{"step": {step}, "loss": {1 / (step + run)}}}' for step in range(1, 400))
        + "]}"
    )
    for run in (1, 2)
}
FILES = {**LOG, "content/index.md": PAGE + "\n```curve\nsource: logged\nmetric: loss\n```\n"}


def run_limited(root: Path, size: int, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line on a disk where no file may become larger than ``size`` bytes, with an empty cache."""
    cache = root.parent / f"cache-{size}-{words[0]}"
    if not cache.exists() and (root.parent / FIRST).is_dir():  # empty, but for what the first build wrote
        shutil.copytree(root.parent / FIRST, cache, ignore=shutil.ignore_patterns("??", "*.json"))
    with limited_disk(size):
        return call(root, *words, REPORTGEN_CACHE_DIR=str(cache))


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a site, and a page that was changed since."""
    root = write_report(tmp_path_factory.mktemp("full") / "report", FILES)
    built = run_limited(root, 1 << 30, "build")
    assert built.returncode == 0, built.stderr
    write_file(root / "content" / "index.md", FILES["content/index.md"] + "\nOther words.\n")
    return root


@pytest.mark.parametrize("command", ["build", "freeze data/logged --to data/frozen"])
def test_what_is_written_to_a_full_disk_is_the_old_or_nothing(limited: Path, command: str) -> None:
    """The old site, and no half of a frozen source that would be taken for the whole; where is said."""
    before = files_below(limited)
    for size in (0, 200, 3_000, *([20_000, 60_000] if command == "build" else [])):
        done = run_limited(limited, size, *command.split())
        assert (done.returncode, "Traceback" in done.stderr) == (1, False), size
        assert NO_SPACE.search(done.stderr), size
        assert ("the site was left as it was" in done.stderr) == (command == "build")
        assert files_below(limited) == before, size
    assert not list(limited.glob(".*"))


@pytest.mark.parametrize("command", ["check", "facts logged", "describe data/logged"])
def test_a_command_on_a_full_disk_is_right_or_refused(limited: Path, command: str) -> None:
    """What cannot be kept is computed again; a run that cannot be kept is not passed over."""
    whole = run_limited(limited, 1 << 30, *command.split())
    for size in (0, 200, 3_000, 20_000):
        done = run_limited(limited, size, *command.split())
        assert "Traceback" not in done.stderr, size
        if done.returncode == 0:
            assert done.stdout == whole.stdout, size
        else:
            assert f"{UNSTORED}: File too large. Free some space." in done.stderr + done.stdout, size


# ---- a large report is shared with a second process


PAGES = 10


def page(name: str, source: str) -> str:
    """A benchmark's page with a figure, panels and a table."""
    return (
        f"---\nbenchmark: {{name: {name}, source: {source}}}\n---\n\n# {source}\n\n"
        "```curve\n```\n\n```panels\nmetrics: [accuracy]\n```\n\n```table\n```\n"
    )


def write_pages(root: Path, pages: int = PAGES, *, sources: int = PAGES) -> Project:
    """A report of so many pages and sources."""
    files = {"content/index.md": "# All\n\n```overview\n```\n"}
    files |= {
        f"content/p{number:02}.md": page(f"B{number}", f"runs{number % sources:02}")
        for number in range(pages)
    }
    files |= {f"data/runs{number:02}.csv": RUNS for number in range(sources)}
    write_report(root, files)
    paths = ("index.md", *(f"p{number:02}.md" for number in range(pages)))
    return Project(root, "content", paths, ProjectSettings())


def drafted(project: Project, elsewhere: WorkerHere | None = None, **more: Any) -> Report:  # noqa: ANN401
    """The report, from what earlier drafts kept."""
    folder = cache_folder(project.root)
    return draft(project, Cache(folder), FileHashes(folder), start_worker=elsewhere, **more)


def test_a_shared_report_is_the_same(tmp_path: Path) -> None:
    """Every block, result and problem in the same order; what comes back counts as what was drawn here."""
    alone, shared = (write_pages(tmp_path / name) for name in ("alone", "shared"))
    for project in (alone, shared):
        for path in (project.root / "data").iterdir():
            path.write_text(RUNS + "MEL,2,20")
    counts: list[tuple[int, int]] = []
    told: list[tuple[str, Shown]] = []
    elsewhere, progress = WorkerHere(), lambda *counted: counts.append(counted)
    found = drafted(shared, elsewhere, progress=progress, drawn=lambda *what: told.append(what))
    expected = drafted(alone)
    assert elsewhere.called == ["_read", "_draw"]
    assert list(found.shown.items()) == list(expected.shown.items())
    assert list(found.benchmarks.items()) == list(expected.benchmarks.items())
    assert found.problems == expected.problems
    assert len(found.problems) == PAGES
    blocks = 1 + 3 * PAGES
    assert counts == [(number, blocks) for number in range(1, blocks + 1)]
    assert len(told) == blocks


def test_a_small_or_known_report_stays_here(tmp_path: Path) -> None:
    """Starting a process would cost more than it saves."""
    elsewhere, known = WorkerHere(), write_pages(tmp_path / "known")
    drafted(write_pages(tmp_path / "small", pages=3), elsewhere)
    drafted(known)
    drafted(known, elsewhere)
    assert elsewhere.called == []


def test_pages_with_a_source_in_common_stay_together(tmp_path: Path) -> None:
    """Or their data would be read in both processes."""
    elsewhere, drawn = WorkerHere(), Counter[str]()
    drafted(write_pages(tmp_path, sources=4), elsewhere, drawn=lambda page, _: drawn.update([page]))
    away = Counter(block.page.path for block in elsewhere.plans[0].blocks)
    pages = {f"p{number:02}.md": f"runs{number % 4:02}" for number in range(PAGES)}
    assert drawn == {"index.md": 1, **dict.fromkeys(pages, 3)}
    assert away == dict.fromkeys(away, 3)
    here = pages.keys() - away
    assert {pages[name] for name in away}.isdisjoint(pages[name] for name in here)
    assert 0 < len(away) < PAGES


def test_the_second_process_leaves_ctrl_c_to_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its first moment on, before it could say so itself; the build still hears it.

    It prepares itself while it is idle, where nobody would see an error.
    """
    submit: Any = ProcessPoolExecutor.submit
    found: list[Any] = []
    mask, imports = (signal.pthread_sigmask, signal.SIG_BLOCK, ()), (eval, "{*__import__('sys').modules}")

    def ask(pool: Any, *given: Any) -> Any:  # noqa: ANN401 - passed on
        future = submit(pool, *given)
        found.append((future, submit(pool, *mask), submit(pool, *imports)))
        return future

    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", ProcessPoolExecutor)  # not PoolHere
    monkeypatch.setattr(ProcessPoolExecutor, "submit", ask)
    build(write_report(tmp_path, {f"content/p{number:02}.md": f"# P{number}\n" for number in range(12)}))
    for future, masked, _ in found:
        assert future.exception() is None
        assert signal.SIGINT in masked.result()
    (*_, imported) = found[1]
    assert "reportgen.figures.charts.chart" in imported.result()
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.slow
def test_a_first_build_that_fails_ends_with_its_worker_process(tmp_path: Path) -> None:
    """So many pages start it before the error is found."""
    files = {f"content/p{number:02}.md": f"# P{number}\n" for number in range(30)}
    root = write_report(tmp_path, files | {"content/p00.md": "# P0\n\n```curv\n```\n"})
    words = [sys.executable, "-m", "reportgen", "build", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 problem; the site was left as it was." in done.stderr) == (1, True)


# ---- what is taken over from the last site --------------------------------------------------------

LINKED = {
    "mkdocs.yml": f"{SETTINGS}site_url: https://example.org/\n",
    "content/other.md": PAGE.replace("runs", "other"),
    "content/plain.md": "# Plain\n\nNothing to draw.\n",
    "data/other.csv": RUNS,
}


def find_written(root: Path) -> set[str]:
    """Build once more; the pages and cards whose files are others than before."""
    names = ("index.html", "other/index.html", "plain/index.html", "figures/index/card.png")
    before = {name: (root / "site" / name).stat().st_ino for name in names}
    build(root)
    return {name for name in names if (root / "site" / name).stat().st_ino != before[name]}


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    """The page of data, and one whose footer names all; the page of words; all where a menu has the title."""
    root = write_report(tmp_path, LINKED)
    build(root)
    write_file(root / "data/other.csv", RUNS.replace("0.84", "0.86"))
    assert find_written(root) == {"other/index.html", "plain/index.html"}
    write_file(root / "content/index.md", PAGE + "\nMore.\n")
    assert find_written(root) == {"index.html"}
    assert "More." in (root / "site/index.html").read_text("utf-8")
    write_file(root / "content/plain.md", "# Simple\n\nNothing to draw.\n")
    assert find_written(root) == {"index.html", "other/index.html", "plain/index.html"}
    assert "Simple" in (root / "site/other/index.html").read_text("utf-8")
    warm = files_below(root / "site")
    for folder in (cache_folder(root), root / "site"):
        shutil.rmtree(folder)
    build(root)
    assert files_below(root / "site") == warm


def test_nothing_is_taken_over_after_an_update_or_damage(report: Path) -> None:
    """Another version of any package may make another page of the same words."""
    write_file(report / "mkdocs.yml", LINKED["mkdocs.yml"])
    build(report)
    file = cache_folder(report) / "manifest.json"
    known = json.loads(file.read_text())
    assert set(read_outputs(report)) >= {"figures/index/card.png"}
    updated = json.dumps(known | {"environment": known["environment"] | {"packages": "others"}})
    for text in (updated, "", "{", "[]", '{"format": 3}'):
        file.write_text(text)
        assert read_outputs(report) == {}


def test_keys_are_told_for_the_next_build(tmp_path: Path) -> None:
    """Those of files taken over, and those of files to be made."""
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    (old / "a").write_text("a")
    found = (old / "a").stat()
    earlier = LastBuild(old, {"a": ("key", found.st_size, found.st_mtime_ns)})
    assert earlier.link("a", "key", new)
    assert not earlier.link("b", "other", new)
    assert earlier.keys == {"a": "key", "b": "other"}
    assert (new / "a").samefile(old / "a")
