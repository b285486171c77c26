"""What all tests share."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from example_site import build_example_once
from hypothesis import settings

# A busy machine is no fault of the code, and a test that fails today should fail tomorrow.
settings.register_profile("reportgen", deadline=None, derandomize=True)
settings.load_profile("reportgen")


def pytest_configure(config: pytest.Config) -> None:
    """Give all test processes one folder for caches, so that none of the user's is touched."""
    # A command under test would compile the whole package each time that it starts.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    # Two test processes with two threads each wait for each other in every product of small matrices.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.mkdtemp(prefix="reportgen-tests-")
        os.environ["REPORTGEN_CACHE_DIR"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--accept``: what the golden cases give now is right."""
    parser.addoption("--accept", action="store_true", help="accept what tests/cases give now")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Two folders need environments of their own: only their commands of make ask for them, by name."""
    here = Path(__file__).parent
    asked = [config.invocation_params.dir / argument.partition("::")[0] for argument in config.args]
    if collection_path in {here / "writers", here / "spark"}:
        return True if not any(path.resolve().is_relative_to(collection_path) for path in asked) else None
    return None


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report's site, built once for all test processes; nobody may change it."""
    own = tmp_path_factory.getbasetemp()
    # Each process of pytest-xdist has its own folder inside one that all share.
    return build_example_once(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)
