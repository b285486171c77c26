"""What describe suggests for runs that only numbers in their names tell apart works when it is pasted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

PAGE = "# Results\n\n```curve\nsource: runs\nmetric: rollout/ep_rew_mean\n```\n"


def test_numbered_folders_of_a_logger_are_repetitions_if_files_says_so(tmp_path: Path) -> None:
    """The suggested files: made runs of one series, and a warning each that they might be none."""
    logs = {
        f"data/runs/{name}_Ant_{run}/progress.csv": (
            f"time/total_timesteps,rollout/ep_rew_mean\n0,{run}.5\n100,{run + 2}.25\n"
        )
        for name in ("ppo", "sac")
        for run in (1, 2, 3)
    }
    write_report(tmp_path, {"data/runs.csv": None, "content/index.md": PAGE, **logs})
    known = json.loads(call(tmp_path, "describe", "data/runs", "--format", "json").stdout)
    suggested = known["suggested"]["source.yml for repetitions"]
    assert suggested
    (tmp_path / "data/runs/source.yml").write_text(suggested, encoding="utf-8")
    checked = call(tmp_path, "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    described = json.loads(call(tmp_path, "describe", "data/runs", "--format", "json").stdout)
    assert described["series"] == ["ppo_Ant", "sac_Ant"]
    assert described["problems"] == []
