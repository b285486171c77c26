"""Finding a browser: what is taken, and what is said when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import find_chromium as chromium

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def program(folder: Path, name: str) -> Path:
    """Make an empty program."""
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_takes_the_first_name_on_path(tmp_path: Path) -> None:
    """Chromium comes before Chrome, and both before what has no windows."""
    for name in ("chromium-headless-shell", "google-chrome", "chromium"):
        expected = program(tmp_path, name)
        assert chromium.find_chromium({"PATH": str(tmp_path)}) == str(expected)


def test_the_environment_names_one(tmp_path: Path) -> None:
    """A browser that the environment names is taken, and a wrong name is not replaced by another."""
    expected = program(tmp_path, "my-browser")
    assert chromium.find_chromium({"REPORTGEN_CHROMIUM": str(expected)}) == str(expected)
    assert chromium.find_chromium({"REPORTGEN_CHROMIUM": str(tmp_path / "none")}) is None


def test_nothing_found(tmp_path: Path) -> None:
    """An empty PATH has no browser."""
    assert chromium.find_chromium({"PATH": str(tmp_path)}) is None


def test_says_why_it_cannot_be_installed(tmp_path: Path) -> None:
    """On another system nothing is tried, and the reason is named."""
    assert "not Debian" in chromium.install(debian=tmp_path / "none")


def test_fails_with_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a browser the command fails and says what to install."""
    monkeypatch.setattr(chromium, "find_chromium", lambda: None)
    assert chromium.main([]) == 1
    assert "apt-get install chromium" in capsys.readouterr().err
