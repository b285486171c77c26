"""What is more than a figure can show or a build can compare is an error with its place, not a long wait."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import PAGE, SETTINGS, write_report

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import ReportError
from reportgen.draft.blocks import observations, results
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("A", "B", "C")
CURVES = "series,step,loss\n" + "".join(f"{name},{step},{step}\n" for name in NAMES for step in range(5))
SCORES = "series,run,problem,score\n" + "".join(
    f"{name},r,p{place},{place % 2}\n" for name in NAMES for place in range(10)
)


def told(root: Path, block: str, rows: str, metric: str) -> list[str]:
    """What is wrong with a page of one block."""
    page = f"---\nbenchmark: {{name: B, source: many, metric: {metric}}}\n---\n\n{block}\n"
    write_report(root, {"content/index.md": page, "data/many.csv": rows})
    project = Project(root, "content", ("index.md",), ProjectSettings())
    with pytest.raises(ReportError) as caught:
        draft(project, Cache(root / "cache"), FileHashes(root / "cache"))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.parametrize("block", ["```curve\n```", "```table\n```", "```panels\nmetrics: [loss]\n```"])
def test_a_figure_shows_so_many_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: str) -> None:
    """They would fill page and memory; those that are asked for are counted only."""
    monkeypatch.setattr(results, "MOST_SERIES", 2)
    found = told(tmp_path, block, CURVES, "loss")
    said = '"many" has 3 series; a figure or table shows 2 at most. Leave some out with filter: in'
    assert any(f"content/index.md:5: {said}" in one for one in found)


def test_chosen_series_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that names its series is drawn; only the page's result has all of them."""
    monkeypatch.setattr(results, "MOST_SERIES", 2)
    found = told(tmp_path, "```curve\nseries: [A, B]\n```", CURVES, "loss")
    assert not any(one.startswith("content/index.md:5:") for one in found)


def test_observations_compare_so_many_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair is held against the noise."""
    monkeypatch.setattr(observations, "MOST_COMPARED", 2)
    (said,) = told(tmp_path, "```observations\n```", CURVES, "loss")
    assert said.startswith(
        "content/index.md:5: observations compare every pair, and 3 series are too many for that. Keep 2 at"
    )


def test_scores_compare_so_many_series(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pair is tested."""
    monkeypatch.setattr(results, "MOST_COMPARED", 2)
    found = told(tmp_path, "```comparison\n```", SCORES, "mean")
    assert any("all pairs of series are compared, and 3 series are too many for that" in one for one in found)


DEEP = "[" * 2_000 + "]" * 2_000
LIST = "# x\n\n" + "".join("    " * depth + "- a\n" for depth in range(300))
PAGE_IS = "error: this page is nested too deep. Indent and quote less."
NESTED = {
    "mkdocs.yml": ("mkdocs.yml", f"{SETTINGS}extra: {DEEP}\n", "error: this file is nested too deep."),
    "option": (
        "mkdocs.yml",
        SETTINGS.replace("[reportgen]", f"[{{reportgen: {{series: {DEEP}}}}}]"),
        "error: this file is nested too deep.",
    ),
    "list": ("content/index.md", LIST, PAGE_IS),
    "items": ("content/index.md", "# x\n\n" + "- " * 2_000 + "a\n", PAGE_IS),
    "bound list": ("content/index.md", f'{PAGE}\n{LIST}\n[0.82]{{value="peak(MEL)"}}\n', PAGE_IS),
}


@pytest.mark.parametrize("case", NESTED)
def test_what_is_nested_without_end_is_an_error(tmp_path: Path, case: str) -> None:
    """With its file and no traceback, and no site is written."""
    file, text, message = NESTED[case]
    done = call(write_report(tmp_path, {file: text}), "build")
    assert (done.returncode, message in done.stderr, file in done.stderr) == (1, True, True), done.stderr
    assert not (tmp_path / "site").exists()
