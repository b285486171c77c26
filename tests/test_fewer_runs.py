"""Runs of one series that end apart over time: whatever names its last value says how many runs it is of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

# A takes 60 seconds a step with one seed, and 90 with the other; B 70 and 72.
ROWS = [
    f"{series},{seed},{step},{1_760_000_000 + step * seconds},{0.3 + 0.005 * step + add}"
    for series, add, each in (("A", 0.0, (60, 90)), ("B", -0.03, (70, 72)))
    for seed, seconds in enumerate(each)
    for step in range(1, 31)
]
PAGE = """---
title: Runs
benchmark: {name: Runs, source: runs, metric: score}
---
# Runs

```curve
id: lines
x: X
```

```table
id: cells
x: X
columns: [final, peak, mean]
```

```curve
id: panels
x: X
facet: series
```
"""


def build(root: Path, x: str, *more: str) -> tuple[str, dict[str, str], dict[str, list[str]]]:
    """The page, the caption with the summary of each figure, and the cells of each row of the table."""
    files = {
        "content/index.md": PAGE.replace("X", x),
        "data/runs.csv": "\n".join(["series,seed,step,wall_time,score", *ROWS, *more]) + "\n",
    }
    done = call(write_report(root, files), "build")
    assert done.returncode == 0, done.stdout
    (page,) = (
        one
        for one in json.loads((root / "site/report.json").read_text())["pages"]
        if one["path"] == "index.md"
    )
    figures = {one["id"]: f"{one['caption']} {one['summary']}" for one in page["figures"]}
    (table,) = page["tables"]
    rows = {row[0]["text"]: [cell["text"] for cell in row[1:]] for row in table["rows"]}
    return (root / "site/index.html").read_text(), figures, rows


def test_the_last_value_over_time_says_how_many_runs_reach_it(tmp_path: Path) -> None:
    """The slow seed of A alone has a value at 43.5 minutes: sentence, caption, panel and cells say so."""
    _, figures, rows = build(tmp_path / "r", "relative time")
    assert "(A with 1 of 2 runs)" in figures["lines"]
    assert "it is drawn from those that do: n = 1 to 2 for A and B." in figures["lines"]
    (panel,) = (
        text
        for name, text in figures.items()
        if "(1 of 2 runs)" in text and "43.5" in text and name != "lines"
    )
    assert "0.450 (1 of 2 runs) at" in panel
    assert [cell.endswith(", 1 of 2 runs") for cell in rows["A"]] == [False, True, True, False]
    assert rows["A"][0] == "2"


def test_over_steps_all_runs_reach_the_end(tmp_path: Path) -> None:
    """Then nothing of it is said."""
    html, _, _ = build(tmp_path / "r", "step")
    assert "of 2 runs" not in html.replace("mean of 2 runs", "")
    assert "Where fewer" not in html


def test_the_header_of_a_page_says_it_of_a_run_that_goes_on(tmp_path: Path) -> None:
    """One seed of A has another step: its value there is the last of A, and the best."""
    html, figures, _ = build(tmp_path / "r", "step", "A,0,31,1760009999,0.9")
    header = html[html.index("rg-key-results") : html.index("</dl>")].replace("\N{NO-BREAK SPACE}", " ")
    assert header.count("0.900 (1 of 2 runs)") == 2
    assert "n = 1 to 2 for A." in figures["lines"]
