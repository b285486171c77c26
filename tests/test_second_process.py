"""A large report is shared with a second process, and comes out as if it were not."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from made_projects import RUNS, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.draft.drawing import split_plan
from reportgen.draft.report import draft
from reportgen.figures.plot import USUAL_SHAPE
from reportgen.settings.report import Project, ProjectSettings
from reportgen.site.worker import WorkerProcess, _prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.core.model import Shown
    from reportgen.draft.blocks.plan import Plan
    from reportgen.draft.report import Report

PAGES = 10


class Travelling:
    """Does the work here, on what would arrive in another process, and sends the result back."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
        """As ``Elsewhere``."""
        self.asked.append(work.__name__)
        result = pickle.dumps(work(*pickle.loads(pickle.dumps(arguments))))  # noqa: S301 - made one line before
        return lambda: pickle.loads(result)  # noqa: S301 - as above


def page(name: str, source: str) -> str:
    """A benchmark's page with a figure, panels and a table."""
    return (
        f"---\nbenchmark: {{name: {name}, source: {source}}}\n---\n\n# {source}\n\n"
        "```curve\n```\n\n```panels\nmetrics: [accuracy]\n```\n\n```table\n```\n"
    )


def report(root: Path, pages: int = PAGES, *, sources: int = PAGES) -> Project:
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


def drafted(project: Project, elsewhere: Travelling | None = None, **more: Any) -> Report:  # noqa: ANN401
    """The report, from what earlier drafts kept."""
    folder = cache_folder(project.root)
    return draft(project, Cache(folder), FileHashes(folder), start_worker=elsewhere, **more)


def test_a_shared_report_is_the_same(tmp_path: Path) -> None:
    """Every block, every result, all in the same order."""
    alone = drafted(report(tmp_path / "alone"))
    elsewhere = Travelling()
    together = drafted(report(tmp_path / "together"), elsewhere)
    assert elsewhere.asked == ["_read", "_draw"]
    assert list(together.shown.items()) == list(alone.shown.items())
    assert list(together.benchmarks.items()) == list(alone.benchmarks.items())


def test_progress_counts_every_block_once(tmp_path: Path) -> None:
    """Those that come back from the second process, too."""
    counts: list[tuple[int, int]] = []
    told: list[tuple[str, Shown]] = []
    project = report(tmp_path)
    drafted(
        project,
        Travelling(),
        progress=lambda *counted: counts.append(counted),
        drawn=lambda *what: told.append(what),
    )
    blocks = 1 + 3 * PAGES
    assert counts == [(number, blocks) for number in range(1, blocks + 1)]
    assert len(told) == blocks


def test_problems_come_back(tmp_path: Path) -> None:
    """A warning of a page that was drawn elsewhere is told as that of any other."""
    projects = report(tmp_path / "alone"), report(tmp_path / "together")
    for project in projects:
        for number in range(PAGES):
            path = project.root / "data" / f"runs{number:02}.csv"
            path.write_text(RUNS + "MEL,2,20")
    alone, together = drafted(projects[0]), drafted(projects[1], Travelling())
    assert together.problems == alone.problems
    assert len(alone.problems) == PAGES


def test_a_small_report_stays_here(tmp_path: Path) -> None:
    """Starting a process would cost more than it saves."""
    elsewhere = Travelling()
    drafted(report(tmp_path, pages=3), elsewhere)
    assert elsewhere.asked == []


def test_a_known_report_stays_here(tmp_path: Path) -> None:
    """Though it is large."""
    project, elsewhere = report(tmp_path), Travelling()
    drafted(project)
    drafted(project, elsewhere)
    assert elsewhere.asked == []


def test_pages_with_a_source_in_common_stay_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or their data would be read in both processes."""
    seen: list[tuple[Plan, Plan]] = []

    def spied(*arguments: Any) -> tuple[Plan, Plan]:  # noqa: ANN401 - passed on
        seen.append(split_plan(*arguments))
        return seen[-1]

    monkeypatch.setattr("reportgen.draft.report.split_plan", spied)
    drafted(report(tmp_path, sources=4), Travelling())
    ((here, away),) = seen
    used = [{name for block in plan.blocks for name in block.sources} for plan in (here, away)]
    assert used[0].isdisjoint(used[1])
    assert {block.page.path for block in here.blocks}.isdisjoint(block.page.path for block in away.blocks)
    assert len(here.blocks) + len(away.blocks) == 1 + 3 * PAGES


def test_the_second_process_leaves_ctrl_c_to_the_build(tmp_path: Path) -> None:
    """From its first moment on, before it could say so itself; the build still hears it."""
    with WorkerProcess(Cache(tmp_path)) as beside:
        held_back = beside.call(signal.pthread_sigmask, signal.SIG_BLOCK, ())()
    assert signal.SIGINT in held_back
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_the_worker_process_can_prepare_itself(tmp_path: Path) -> None:
    """It does so while it is idle, where nobody would see an error."""
    cache = Cache(tmp_path)
    _prepare(cache)
    assert "reportgen.figures.altair_chart" in sys.modules
    assert cache.has_entry(cache.make_key("spec", repr(USUAL_SHAPE)))


@pytest.mark.slow
def test_a_first_build_that_fails_ends_with_its_worker_process(tmp_path: Path) -> None:
    """So many pages start it before the error is found."""
    files = {f"content/p{number:02}.md": f"# P{number}\n" for number in range(30)}
    root = write_report(tmp_path, files | {"content/p00.md": "# P0\n\n```curv\n```\n"})
    words = [sys.executable, "-m", "reportgen", "build", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, "1 problem; the site was left as it was." in done.stderr) == (1, True)
