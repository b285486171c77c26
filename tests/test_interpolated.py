"""What is interpolated is not called a reading, and a mark stands at the value that it names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from made_projects import write_report

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.model import Figure, Observations
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

# Scores of a benchmark of which one series was read more often than the other.
READ = {
    "GRPO": {0: 0.74, 20: 0.77, 40: 0.795, 60: 0.8, 80: 0.8, 100: 0.815, 120: 0.82, 140: 0.82},
    "MEL": {
        0: 0.74,
        20: 0.77,
        30: 0.76,
        40: 0.79,
        60: 0.81,
        70: 0.8,
        80: 0.8,
        110: 0.81,
        120: 0.84,
        140: 0.82,
    },
}
PAGE = """
```curve
id: scores
source: runs
annotate: [observations]
```

```observations
of: scores
count: 100
```
"""


def draw(root: Path) -> tuple[Figure, Observations]:
    """The figure of these readings, and what is observed of them."""
    rows = [f"{name},{step},{value}" for name, values in READ.items() for step, value in values.items()]
    files = {
        "data/runs.csv": "\n".join(["series,step,score", *rows, ""]),
        "data/runs.source.yml": "precision: 0.005\n",
        "content/index.md": PAGE,
    }
    project = Project(write_report(root, files), "content", ("index.md",), ProjectSettings())
    figure, found = draft(project, Cache(root / "c"), FileHashes(root / "c")).shown.values()
    assert isinstance(figure, Figure)
    assert isinstance(found, Observations)
    return figure, found


def test_marks_and_readings_are_those_of_the_data(tmp_path: Path) -> None:
    """MEL alone was read at 30 and 110, where only a line says that GRPO is ahead."""
    figure, found = draw(tmp_path)
    texts = {one.rule: one.text for one in found.items}
    assert texts["crossing"] == "By the readings alone, MEL is ahead of GRPO at steps 60 and 120."
    assert texts["widest gap"].startswith(
        "Interpolated between readings, the lines are furthest apart at step 30"
    )
    evidence = [fact for one in found.items for fact in one.evidence]
    assert "ahead by the readings alone: GRPO at step 40, MEL at steps 60 and 120" in evidence
    marks = {mark["text"]: mark for mark in json.loads(str(figure.payload))["annotations"]}
    plateau = marks["from here 0.815 to 0.820"]
    assert (plateau["series"], plateau["x"], plateau["y"]) == ("GRPO", 100, 0.815)
    for mark in marks.values():
        assert READ[mark["series"]][mark["x"]] == mark["y"]
