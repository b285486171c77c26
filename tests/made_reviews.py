"""A report of curves and scores with statements about both, and changes planted into it one by one."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from made_projects import write_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

SETTINGS: Final = """
site_name: Reviewed
docs_dir: content
theme: {name: reportgen}
plugins: [reportgen]
"""
TRAINING: Final = """# Training

[MEL ends above GRPO]{claim="final(MEL) > final(GRPO)"}, at [0.798]{value="final(MEL)"}.
[GRPO never reaches 0.7]{claim="peak(GRPO) < 0.7"}.

```curve
source: training
title: Accuracy
```
"""
ACCURACY: Final = "```curve\nsource: training\ntitle: Accuracy\n```\n"
FIRST_SEEDS: Final = "```curve\nsource: training\ntitle: Accuracy\nfilter: {seed: [1, 2]}\n```\n"
OBSERVED: Final = "```observations\nof: accuracy\ntitle: What stands out\n```\n"
EXAM: Final = """---
benchmark: {name: Exam, source: exam, metric: pass@1}
---
# Exam

[The tuned model scores higher]{claim="score(tuned) > score(base)"}.

```scores
metric: pass@1
title: Scores
```
"""
PAIRS: Final = f"{EXAM}\n```comparison\nmetric: pass@1\ntitle: Pairs\nbaseline: base\n```\n"
GENERATED: Final = SETTINGS.replace(
    "[reportgen]",
    "[{reportgen: {benchmarks: [{name: Exam, source: exam, metric: pass@1}]}}]",
)
PROTOCOL: Final = "protocol: {temperature: 0.7, harness: quiz}\n"
RUNS, STEPS, ITEMS, SAMPLES = 4, (0, 10, 20, 30), 30, 2
ENDS: Final = {"MEL": 0.8, "GRPO": 0.72}
SKILLS: Final = {"base": 0.35, "tuned": 0.65}

Rows = list[tuple[str, ...]]


def draw(*names: object) -> float:
    """A number from 0 to 1 that belongs to these names."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:4]) / 2**32


def make_curve(series: str, run: int, end: float) -> Rows:
    """One run of a curve that rises to about ``end``."""
    rows: Rows = []
    for step in STEPS:
        value = end * step / STEPS[-1] + 0.02 * (draw(series, run, step) - 0.5)
        rows.append((series, str(run), str(step), f"{value:.4f}"))
    return rows


def make_answers(series: str, skill: float, run: str = "1") -> Rows:
    """One run's answers to every item, of which some are harder."""
    rows: Rows = []
    for item in range(ITEMS):
        for sample in range(SAMPLES):
            chance = skill + 0.5 * (draw("item", item) - 0.5)
            right = int(draw(series, run, item, sample) < chance)
            rows.append((series, run, f"q{item:02}", str(sample), str(right)))
    return rows


def make_training() -> Rows:
    """Four runs of two series."""
    return [
        row
        for series, end in ENDS.items()
        for run in range(1, RUNS + 1)
        for row in make_curve(series, run, end)
    ]


def make_exam() -> Rows:
    """One run of two series."""
    return [row for series, skill in SKILLS.items() for row in make_answers(series, skill)]


def write_rows(header: str, rows: Rows) -> str:
    """Rows as CSV."""
    return "".join(f"{line}\n" for line in (header, *map(",".join, rows)))


def write_training(rows: Rows) -> str:
    """The data of the curves."""
    return write_rows("series,seed,step,accuracy", rows)


def write_exam(rows: Rows) -> str:
    """The data of the scores."""
    return write_rows("series,run,problem,sample,score", rows)


BASE: Final[Mapping[str, str]] = {
    "mkdocs.yml": SETTINGS,
    "content/index.md": "# Reviewed\n\nTwo models.\n",
    "content/training.md": TRAINING,
    "content/exam.md": EXAM,
    "data/training.csv": write_training(make_training()),
    "data/exam/outcomes.csv": write_exam(make_exam()),
    "data/exam/source.yml": PROTOCOL,
}


def write_state(root: Path, changes: Mapping[str, str | None] | None = None) -> Path:
    """Write the report with some of its files changed, or (None) left out."""
    for name, text in {**BASE, **(changes or {})}.items():
        if text is not None:
            write_file(root / name, text)
    return root


def change_training(change: Callable[[Rows], Rows]) -> dict[str, str]:
    """The curves with some rows changed."""
    return {"data/training.csv": write_training(change(make_training()))}


def change_exam(change: Callable[[Rows], Rows]) -> dict[str, str]:
    """The scores with some rows changed."""
    return {"data/exam/outcomes.csv": write_exam(change(make_exam()))}


def shift(rows: Rows, by: float, series: str, run: str | None = None, step: str | None = None) -> Rows:
    """The rows with some values of a curve moved."""
    return [
        (*row[:3], f"{float(row[3]) + by:.4f}")
        if row[0] == series and run in {None, row[1]} and step in {None, row[2]}
        else row
        for row in rows
    ]


CHANGES: Final[Mapping[str, Mapping[str, str | None]]] = {
    "nothing": {},
    "one-value": change_training(lambda rows: shift(rows, -0.02, "MEL", run="2", step="30")),
    "claim-becomes-false": change_training(lambda rows: shift(rows, 0.2, "GRPO")),
    "claim-becomes-true": change_training(lambda rows: shift(rows, -0.1, "GRPO")),
    "two-seeds-added": change_training(
        lambda rows: [*rows, *make_curve("GRPO", 5, 0.72), *make_curve("GRPO", 6, 0.72)]
    ),
    "run-replaced": change_training(
        lambda rows: [row for row in rows if row[:2] != ("MEL", "3")] + make_curve("MEL", 33, 0.8)
    ),
    "scores-fall": change_exam(
        lambda rows: [row for row in rows if row[0] != "tuned"] + make_answers("tuned", 0.3, "2")
    ),
    "k-changed": {"content/exam.md": EXAM.replace("```scores\nmetric: pass@1", "```scores\nmetric: pass@2")},
    "protocol-changed": {
        **change_exam(
            lambda rows: [row for row in rows if row[0] != "tuned"] + make_answers("tuned", 0.6, "2")
        ),
        "data/exam/source.yml": PROTOCOL.replace("0.7", "0.2"),
    },
    "series-renamed": {
        "data/exam/source.yml": f"{PROTOCOL}rename: {{tuned: large}}\n",
        "content/exam.md": EXAM.replace("score(tuned)", "score(large)"),
    },
    "page-renamed": {"content/exam.md": None, "content/contest.md": EXAM},
    "series-gone": {
        **change_exam(lambda rows: [row for row in rows if row[0] != "base"]),
        "content/exam.md": EXAM.replace(
            '[The tuned model scores higher]{claim="score(tuned) > score(base)"}', "The tuned model"
        ),
    },
    "text-only": {"content/index.md": "# Reviewed\n\nTwo models, compared.\n"},
    "page-renamed-and-changed": {
        "content/exam.md": None,
        "content/contest.md": EXAM.replace("scores higher", "wins"),
        **change_exam(
            lambda rows: [row for row in rows if row[0] != "tuned"] + make_answers("tuned", 0.3, "2")
        ),
    },
    "figure-id-changed": {
        "content/training.md": TRAINING.replace("title: Accuracy", "title: Accuracy\nid: by-step"),
        **change_training(lambda rows: shift(rows, -0.02, "MEL", run="2", step="30")),
    },
    "runs-renamed": change_training(lambda rows: [(row[0], f"1{row[1]}", *row[2:]) for row in rows]),
    "three-runs-replaced-and-two-added": change_training(
        lambda rows: [
            *(row for row in rows if row[:2] not in {("MEL", run) for run in "123"}),
            *(row for run in "123" for row in shift(make_curve("MEL", int(run), 0.8), 0.01, "MEL")),
            *make_curve("MEL", 5, 0.8),
            *make_curve("MEL", 6, 0.8),
        ]
    ),
    "one-of-equal-titles-removed": {"content/index.md": f"# Reviewed\n\n{FIRST_SEEDS}"},
    "filter-added": {"content/training.md": TRAINING.replace(ACCURACY, FIRST_SEEDS)},
    "metric-of-the-report-changed": {"mkdocs.yml": GENERATED.replace("pass@1", "pass@2")},
    "baseline-changed": {"content/exam.md": PAIRS.replace("baseline: base", "baseline: tuned")},
    "observations-change": change_training(lambda rows: shift(rows, 0.2, "GRPO")),
}
"""What is planted, by the name of the case."""
BEFORE: Final[Mapping[str, Mapping[str, str | None]]] = {
    "one-of-equal-titles-removed": {"content/index.md": f"# Reviewed\n\n{ACCURACY}\n{FIRST_SEEDS}"},
    "metric-of-the-report-changed": {"mkdocs.yml": GENERATED, "content/exam.md": None},
    "baseline-changed": {
        "content/exam.md": PAIRS,
        **change_exam(lambda rows: [*rows, *make_answers("middle", 0.5)]),
    },
    "observations-change": {"content/training.md": f"{TRAINING}\n{OBSERVED}"},
}
"""What of the report is another before the change already, where a case needs that."""
