"""Slow work for a worker process: some pages of a large report, compiled views, PNG cards and PDFs.

All hold the interpreter lock while they run. Results of an earlier build come from the cache; no process is
started for these.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import version
from threading import Thread
from typing import TYPE_CHECKING, Any, Self

from msgspec import Struct

from reportgen.core.cache import Cache, get_digest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Future, ProcessPoolExecutor
    from types import TracebackType

    from reportgen.core.cache import CachedText
    from reportgen.core.model import Shown
    from reportgen.site.outputs import FigureOutput, View

_SAFE_PATH = "PYTHONSAFEPATH"
# This many cards or views take less time than starting a process.
_FEW = 2
# A first build of this many pages has enough work for two processes.
_MANY = 12
_NEW_OBJECTS = 100_000  # after which such a build collects garbage


class WorkerProcess:
    """Starts jobs at once, unless they are few and small, and returns their results at the end."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: list[Job] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool:
            self._pool.shutdown(cancel_futures=kind is not None)

    def call(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401 - whatever travels
        """Start a function in the worker process, and return a function that waits for its result."""
        return self._get_pool().submit(work, *arguments).result

    def warm_up(self) -> None:
        """Start the worker process before there is work for it, and let it import what it will need."""
        self._get_pool().submit(_prepare, self._cache)

    def abandon(self) -> None:
        """Cancel pending jobs after the build has failed."""
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)

    def start(self, key: str, work: Callable[..., bytes], *arguments: str | CachedText) -> Job:
        """Start work with a result that an earlier build may have cached under ``key``."""
        job = Job(self._cache, key, work, arguments)
        if not self._cache.has_entry(key):
            self._waiting.append(job)
            if self._pool or len(self._waiting) > _FEW:
                pool = self._get_pool()
                for waiting in self._waiting:
                    waiting.start(pool)
                self._waiting.clear()
        return job

    def _get_pool(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._pool = start_pool(1)
        return self._pool


def start_pool(processes: int) -> ProcessPoolExecutor:
    """Start processes that leave Ctrl+C to this one and end with it, however it ends."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - most builds start no process
    from multiprocessing import get_context  # noqa: PLC0415 - as above

    with _use_safe_path():
        pool = ProcessPoolExecutor(
            processes, get_context("spawn"), initializer=_follow_build, initargs=(gc.get_threshold(),)
        )
        for _ in range(processes):
            _start_without_ctrl_c(pool)
    return pool


class Job(Struct):
    """Cached work, done when it is called, unless a process has a ``future`` of it."""

    _cache: Cache
    key: str
    _work: Callable[..., bytes]
    _arguments: tuple[str | CachedText, ...]
    future: Future[bytes] | None = None

    def __call__(self) -> bytes:
        """Return the result."""
        cached = None if self.future else self._cache.get(self.key)
        if cached is not None:
            return cached
        result = self.future.result() if self.future else self._work(*self._arguments)
        self._cache.put(self.key, result)
        return result

    def start(self, pool: ProcessPoolExecutor) -> None:
        """Run it in the worker process."""
        self.future = pool.submit(self._work, *self._arguments)


class BackgroundJobs:
    """Jobs of figures, started as soon as each is drawn, while the rest are drawn.

    ``views`` are compiled views by name, ``cards`` PNG cards by the path of their page, and ``pdfs`` the PDFs
    of figures by their path below the site.
    """

    def __init__(self, cache: Cache, pages: int, *, with_cards: bool) -> None:
        """Start the worker process at once for the first build of a report of many pages."""
        self.worker = WorkerProcess(cache)
        if cache.is_new and pages >= _MANY:
            # It makes, and drops, far more objects than a later build.
            gc.set_threshold(_NEW_OBJECTS)
            self.worker.warm_up()
        self.views: dict[str, Job] = {}
        self.cards: dict[str, Job] = {}
        self.pdfs: dict[str, Job] = {}
        self._with_cards = with_cards

    def start_drawn(self, page: str, shown: Shown | None) -> None:
        """Start the jobs of a page's newly drawn block; of an unchanged page, nothing was read."""
        if shown is not None:
            from reportgen.site.outputs import collect_figures  # noqa: PLC0415 - a worker process starts faster without NumPy

            self.start_jobs(page, *collect_figures(shown))

    def start_jobs(self, page: str, figures: Iterable[FigureOutput], views: Mapping[str, View]) -> None:
        """Start the jobs of figures of a page that have not started; its first figure becomes its card."""
        from reportgen.site.outputs import get_page_folder  # noqa: PLC0415 - as above

        for name, view in views.items():
            if name not in self.views:
                compile_view = _compile_authored_view if view.is_authored else _compile_view
                parts = version("vl-convert-python"), view.specification, str(view.is_authored)
                key = Cache.make_key("view", *parts)
                self.views[name] = self.worker.start(key, compile_view, view.specification)
        for figure in figures:
            if self._with_cards and page not in self.cards:
                key = Cache.make_key("card", get_digest(figure.svg))
                self.cards[page] = self.worker.start(key, _render_card, figure.svg)
            path = f"{get_page_folder(page)}/{figure.id}.pdf"
            if figure.has_pdf and path not in self.pdfs:
                key = Cache.make_key("pdf", version("vl-convert-python"), get_digest(figure.svg))
                self.pdfs[path] = self.worker.start(key, _render_pdf, figure.svg)


@contextmanager
def _use_safe_path() -> Iterator[None]:
    """Stop new Python processes importing from the working folder, which may contain a stranger's files.

    Both processes of a pool, the worker and the one that tracks its semaphores, are ``python -c``, which
    searches there first.
    """
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        del os.environ[_SAFE_PATH]
        os.environ.update({} if before is None else {_SAFE_PATH: before})


def _prepare(cache: Cache) -> None:
    for name in ("picture", "render"):
        import_module(f"reportgen.figures.{name}")
    from reportgen.draft.drawing import prepare_drawing  # noqa: PLC0415 - imported where it runs

    prepare_drawing(cache)


def _start_without_ctrl_c(pool: ProcessPoolExecutor) -> None:
    """Start the process with Ctrl+C blocked from the beginning: its imports would print a traceback."""
    if sys.platform == "win32":
        pool.submit(os.getpid)
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        pool.submit(os.getpid)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _follow_build(threshold: tuple[int, int, int]) -> None:
    """In the worker process: leave Ctrl+C to the build, collect garbage as it does, and end with it."""
    from multiprocessing import parent_process, util  # noqa: PLC0415 - as above

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(*threshold)
    # As in the build's own process: a normal exit, for which the build waits, frees every object one by one.
    util.Finalize(None, os._exit, (0,), exitpriority=-1)
    # Otherwise it would not notice, since it holds the other end of the pipe that it waits for.
    build = parent_process()
    if build is not None:
        sentinel = build.sentinel

        def stop_after_build() -> None:
            from multiprocessing.connection import wait  # noqa: PLC0415 - as above

            wait([sentinel])
            os._exit(1)

        Thread(target=stop_after_build, daemon=True).start()


def _compile_view(specification: str) -> bytes:
    from reportgen.figures.live import compile_view  # noqa: PLC0415 - imported where it runs

    return compile_view(specification).encode()


def _compile_authored_view(specification: str) -> bytes:
    from reportgen.figures.render import compile_chart  # noqa: PLC0415 - as above
    from reportgen.figures.text import write_compact_json  # noqa: PLC0415 - imported where it runs

    return write_compact_json(compile_chart(json.loads(specification))).encode()


def _render_card(picture: str | CachedText) -> bytes:
    from reportgen.figures.picture import draw_card  # noqa: PLC0415
    from reportgen.figures.render import render_png  # noqa: PLC0415

    return render_png(draw_card(str(picture)))


def _render_pdf(picture: str | CachedText) -> bytes:
    from reportgen.figures.render import render_pdf  # noqa: PLC0415 - imported where it runs

    return render_pdf(str(picture))
