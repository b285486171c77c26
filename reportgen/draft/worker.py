"""The worker process' share of a large report: whole pages, whose data it reads and whose blocks it draws.

Data and curves stay where they were read; only series names, and drawn blocks without their longest texts,
are sent back.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from reportgen.blocks.draw_inputs import DrawInputs, make_names_key, read_series_names
from reportgen.blocks.plan import Plan, list_requests
from reportgen.blocks.results import ResultsStore
from reportgen.core.errors import Diagnostic, Diagnostics
from reportgen.draft.drawing import draw_blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any

    from reportgen.blocks.draw_inputs import SeriesColours
    from reportgen.core.cache import Cache
    from reportgen.core.model import Request, Shown
    from reportgen.draft.drawing import DrawnBlocks
    from reportgen.settings.inputs import Source
    from reportgen.settings.report import Project


StartWorker: TypeAlias = "Callable[..., Callable[[], Any]]"
"""Starts a function with its arguments in another process; what it returns waits for the result."""

_WORTH_SHARING = 24
"""Blocks to draw from which a second process saves more than it costs to start."""
_AWAY = 4
"""Every fourth page is drawn in the second process, which has the link cards of all pages to make."""


def split_plan(
    plan: Plan, sources: Mapping[str, Source], cache: Cache, start_worker: StartWorker | None
) -> tuple[Plan, Plan]:
    """What is drawn here, and what in the second process if there may be one.

    Nothing where most data were read by an earlier draft: starting a process would cost more. Pages with
    a source in common stay together, so that no data are read twice.
    """
    fresh = {
        source
        for source, requests in plan.requests_by_source.items()
        if not cache.has_entry(make_names_key(cache, requests, sources[source]))
    }
    blocks = [block for block in plan.blocks if fresh.intersection(block.sources)]
    if start_worker is None or len(blocks) < _WORTH_SHARING:
        return plan, Plan((), ())
    pages = list(dict.fromkeys(block.page.path for block in blocks))
    here = set(pages) - set(pages[1::_AWAY])
    read = plan.sources_by_page
    here |= set(read) - set(pages)
    while True:
        known = {source for page, used in read.items() if page in here for source in used}
        joining = {page for page, used in read.items() if page not in here and used & known}
        if not joining:
            return plan.select_pages(here), plan.select_pages(set(pages) - here)
        here |= joining


class WorkerShare:
    """The second process at work on some pages of a plan; it begins to read at once."""

    def __init__(
        self,
        plan: Plan,
        project: Project,
        sources: Mapping[str, Source],
        cache: Cache,
        start_worker: StartWorker | None,
    ) -> None:
        self._plan, self._project, self._sources, self._cache = plan, project, dict(sources), cache
        self._start = start_worker if start_worker and plan.blocks else _run_at_once
        self._reading = self._start(_read, plan, project.root, self._sources, cache)
        self._drawing: Callable[[], tuple[DrawnBlocks, list[Diagnostic]]]

    def fetch_names(self, problems: Diagnostics) -> dict[Request, tuple[str, ...]]:
        """The series behind its requests."""
        names: dict[Request, tuple[str, ...]]
        names, found = self._reading()
        problems.add(found)
        return names

    def start_drawing(self, colours: SeriesColours) -> None:
        """Let it draw, now that all series have their colours."""
        self._drawing = self._start(_draw, self._plan, self._project, self._sources, colours, self._cache)

    def add_to(
        self, parts: DrawnBlocks, problems: Diagnostics, report_progress: Callable[[str, Shown], None]
    ) -> None:
        """Wait for what it drew and add it to what was drawn here."""
        drawn, found = self._drawing()
        problems.add(found)
        parts.results |= drawn.results
        parts.keys |= drawn.keys
        parts.statements |= drawn.statements
        for (page, name), block in drawn.shown.items():
            parts.shown[page, name] = block
            report_progress(page, block)


def _run_at_once(work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401 - as Elsewhere
    """No process is started for an empty plan."""
    result = work(*arguments)
    return lambda: result


def load_libraries() -> None:
    """In the second process: import what reading and drawing need, while there is nothing else to do."""
    for name in ("figures.altair_chart", "read", "statistics.curves.mean_curves"):
        import_module(f"reportgen.{name}")


_answers: dict[Path, ResultsStore] = {}
"""In the second process: what it read, for when it draws."""


def _read(
    plan: Plan, root: Path, sources: dict[str, Source], cache: Cache
) -> tuple[dict[Request, tuple[str, ...]], list[Diagnostic]]:
    problems = Diagnostics()
    _answers[root] = ResultsStore(root, sources, list_requests(plan), plan.places)
    return read_series_names(plan, sources, _answers[root], cache, problems), problems.found


def _draw(
    plan: Plan, project: Project, sources: dict[str, Source], colours: SeriesColours, cache: Cache
) -> tuple[DrawnBlocks, list[Diagnostic]]:
    problems = Diagnostics()
    answers = _answers.pop(project.root)
    inputs = DrawInputs.gather(project, sources, answers, colours, cache)
    return draw_blocks(plan, inputs, problems), problems.found
