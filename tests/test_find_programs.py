"""Finding a browser and a Java for the tests: what is taken, and what is said when there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import find_chromium as chromium
import find_java

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


def test_the_environment_names_a_browser(tmp_path: Path) -> None:
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


def make_java(folder: Path, version: str) -> Path:
    """A folder of Java that says its version as Java does."""
    program = folder / "bin/java"
    program.parent.mkdir(parents=True)
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    program.chmod(0o755)
    return folder


def test_the_java_that_spark_runs_on_is_found(tmp_path: Path) -> None:
    """One of Debian's of a version that fits, the older first; otherwise that on PATH."""
    environ = {"PATH": ""}
    make_java(tmp_path / "jvm/java-1.25.0-openjdk-amd64", "25.0.1")
    assert find_java.find_java(environ, tmp_path / "jvm") is None
    on_path = make_java(tmp_path / "other", "21.0.9")
    environ["PATH"] = str(on_path / "bin")
    assert find_java.find_java(environ, tmp_path / "jvm") == str(on_path)
    fitting = make_java(tmp_path / "jvm/java-1.17.0-openjdk-amd64", "17.0.15")
    assert find_java.find_java(environ, tmp_path / "jvm") == str(fitting)


def test_the_environment_names_a_java(tmp_path: Path) -> None:
    """JAVA_HOME counts alone: one that is gone is missing."""
    mine = make_java(tmp_path / "mine", "17.0.15")
    assert find_java.find_java({"JAVA_HOME": str(mine)}, tmp_path) == str(mine)
    assert find_java.find_java({"JAVA_HOME": str(tmp_path / "gone")}, tmp_path) is None


def test_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where Java can neither be found nor installed, its package is named and the command fails."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    reason = "installing it needs root, and sudo would ask for a password"
    monkeypatch.setattr(find_java, "install", lambda packages: f"{reason} for {packages[0]}")
    assert find_java.main(["--install"]) == 1
    said = capsys.readouterr().err
    assert "need Java 17 or 21, and none was found" in said
    assert f"{reason} for openjdk-17-jre-headless" in said
    assert "apt-get install openjdk-17-jre-headless" in said
