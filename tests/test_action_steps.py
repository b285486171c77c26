"""The scripts of the actions: inputs reach them as words, and a review that fails keeps its page."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("name", ["review", "comment"])
def test_values_reach_scripts_through_the_environment(name: str) -> None:
    """No expression stands in a script, and each script stops at its first failure."""
    action = yaml.safe_load((ROOT / "action" / name / "action.yml").read_text(encoding="utf-8"))
    scripts = [step["run"] for step in action["runs"]["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        assert script.startswith("set -euo pipefail\n")
        assert "${{" not in script
        subprocess.run(["bash", "-n", "-c", script], check=True)  # noqa: S607 - on PATH everywhere


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The temporary folder of a runner, with a reportgen that writes its arguments and a page."""
    program = tmp_path / "reportgen-review/bin/reportgen"
    program.parent.mkdir(parents=True)
    program.write_text(
        '#!/usr/bin/env bash\nprintf "%s\\n" "$@" > "$RUNNER_TEMP/arguments"\n'
        'mkdir -p "$RUNNER_TEMP/report-review"\n'
        'echo page > "$RUNNER_TEMP/report-review/review.html"\nexit 1\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return tmp_path


def run_step(runner: Path, name: str, variables: dict[str, str]) -> int:
    """The exit code of a step of the action that reviews."""
    action = yaml.safe_load((ROOT / "action/review/action.yml").read_text(encoding="utf-8"))
    (step,) = [one for one in action["runs"]["steps"] if one.get("name") == name]
    assert set(step["env"]) == set(variables)
    environment = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(runner)} | variables
    words = ["bash", "-c", step["run"]]
    return subprocess.run(words, env=environment, cwd=runner, check=False).returncode


def test_the_review_is_red_and_its_page_is_kept(runner: Path) -> None:
    """Inputs are words and nothing else, and the page gets the name of its artifact."""
    hostile = '$(touch "$RUNNER_TEMP/ran"); `touch ran` --help'
    variables = {"CONFIG_FILE": hostile, "FAIL_ON": "flips"}
    assert run_step(runner, "Review the report", variables) == 1
    first, *others = (runner / "arguments").read_text(encoding="utf-8").splitlines()
    assert first == "review"
    assert f"--config-file={hostile}" in others
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "-n a/b"}) == 0
    assert [path.name for path in (runner / "report-review-page").iterdir()] == ["-n a-b.html"]
    assert not (runner / "ran").exists()


def test_a_review_without_a_page_is_fine(runner: Path) -> None:
    """Then there is nothing to name."""
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "report-review"}) == 0
    assert not (runner / "report-review-page").exists()
