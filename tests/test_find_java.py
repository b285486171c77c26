"""Which Java the tests with Spark take, and what is said where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import find_java

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


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


def test_the_environment_names_another(tmp_path: Path) -> None:
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
