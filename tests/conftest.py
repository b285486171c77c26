"""What all tests share."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from example_site import build_example_once
from hypothesis import settings

if TYPE_CHECKING:
    from pathlib import Path

# A busy machine is no fault of the code, and a test that fails today should fail tomorrow.
settings.register_profile("reportgen", deadline=None, derandomize=True)
settings.load_profile("reportgen")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--accept``: what the golden cases give now is right."""
    parser.addoption("--accept", action="store_true", help="accept what tests/cases give now")


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example report's site, built once for all test processes; nobody may change it."""
    own = tmp_path_factory.getbasetemp()
    # Each process of pytest-xdist has its own folder inside one that all share.
    return build_example_once(own.parent if "PYTEST_XDIST_WORKER" in os.environ else own)
