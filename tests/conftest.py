"""What all tests share."""

from __future__ import annotations

import concurrent.futures
import gc
import os
import pickle
import shutil
import signal
import sys
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import mkdocs.utils
import pytest
from example_site import build_example_once
from hypothesis import is_hypothesis_test, settings
from made_projects import Install
from tries import FEW, MANY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

pytest_plugins = ["record_times"]

# A busy machine is no fault of the code, and a test that fails today should fail tomorrow.
settings.register_profile("fast", deadline=None, derandomize=True, max_examples=FEW)
settings.register_profile("slow", deadline=None, derandomize=True, max_examples=MANY)
SLOW = Path(__file__).parent / "slow"


def pytest_configure(config: pytest.Config) -> None:
    """Give all test processes one folder for caches, so that none of the user's is touched."""
    settings.load_profile("slow" if config.getoption("slow") else "fast")
    # Each command under test would compile the whole package, and each process of tests all tests.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # Two test processes with two threads each wait for each other in every product of small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Each report that is opened would look for the themes of all installed packages, 12 ms each time.
    mkdocs.utils.get_themes = cache(mkdocs.utils.get_themes)
    # Likewise two threads of the database, a tenth of the time of all readers; the slow tests have them.
    if not config.getoption("slow"):
        duckdb.connect = partial(_connect_alone, duckdb.connect)
        # A process takes a second to start; tests of how commands end have real ones, and so have slow tests.
        concurrent.futures.ProcessPoolExecutor = PoolHere  # type: ignore[misc, assignment]
    # A shell starts a job in the background with Ctrl+C ignored, which every process from here would inherit.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.mkdtemp(prefix="reportgen-tests-")
        os.environ["REPORTGEN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def _connect_alone(
    connect: Callable[..., duckdb.DuckDBPyConnection], config: Mapping[str, object] | None = None
) -> duckdb.DuckDBPyConnection:
    return connect(config={**(config or {}), "threads": 1})


class PoolHere(concurrent.futures.Executor):
    """Does at once, and in this process, what a pool of processes would do, on what would arrive there."""

    def __init__(self, *_: object, **__: object) -> None:
        """Whatever the processes would be and have."""

    def submit(
        self,
        work: Callable[..., Any],
        /,
        *arguments: Any,  # noqa: ANN401 - whatever the work takes
        **named: Any,  # noqa: ANN401 - as above
    ) -> concurrent.futures.Future[Any]:
        """Do the work."""
        done = concurrent.futures.Future[Any]()
        try:
            result = pickle.dumps(work(*pickle.loads(pickle.dumps(arguments)), **named))  # noqa: S301
        except Exception as error:  # noqa: BLE001 - as in a process, whoever waits for the result has it
            done.set_exception(error)
        else:
            done.set_result(pickle.loads(result))  # noqa: S301 - made three lines before
        return done


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--accept``: what the golden cases give now is right; ``--slow``: the other layer of tests."""
    parser.addoption("--accept", action="store_true", help="accept what tests/cases give now")
    parser.addoption("--slow", action="store_true", help="the slow tests, and many more random inputs")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Slow tests need their option, and two folders environments of their own: their commands name them."""
    here = Path(__file__).parent
    asked = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    if collection_path == SLOW and not config.getoption("slow"):
        return True
    if collection_path in {here / "writers", here / "spark"}:
        return True if not any(path.resolve().is_relative_to(collection_path) for path in asked) else None
    return None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without ``--slow`` only the fast tests; with it the slow ones, and those that try random inputs."""
    if config.getoption("slow"):
        chosen = [one for one in items if _is_slow(one) or _is_random(one)]
    else:
        chosen = [one for one in items if not _is_slow(one)]
    left_out = set(items) - set(chosen)
    config.hook.pytest_deselected(items=[one for one in items if one in left_out])
    items[:] = chosen


def pytest_collection_finish() -> None:
    """Look for garbage among new objects only, as the command line does: what was collected here stays."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(400_000)


def _is_slow(item: pytest.Item) -> bool:
    return item.path.is_relative_to(SLOW) or item.get_closest_marker("slow") is not None


def _is_random(item: pytest.Item) -> bool:
    tested = getattr(item, "function", None)
    return is_hypothesis_test(tested) or item.get_closest_marker("random") is not None


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report's site, built once for all test processes; nobody may change it."""
    own = tmp_path_factory.getbasetemp()
    # Each process of pytest-xdist has its own folder inside one that all share.
    return build_example_once(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put packages onto Python's path for one test."""
    return Install(tmp_path, monkeypatch)
