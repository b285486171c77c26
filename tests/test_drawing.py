"""Charts of authors are drawn in a process of its own: it may break down or never end, the build goes on."""

from __future__ import annotations

import os
import subprocess
from signal import SIGKILL
from threading import Timer
from typing import TYPE_CHECKING, Any

import pytest
from made_projects import RUNS, write_report
from tries import slow_after

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import ReportError, SourceLocation
from reportgen.core.model import Figure
from reportgen.draft.blocks import charts
from reportgen.draft.report import draft
from reportgen.figures import render
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.render import compile_chart, compile_to_vega, draw_chart, render_vega_lite
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

X = {"field": "a", "type": "quantitative"}
BARS: dict[str, Any] = {
    "data": {"values": [{"a": 1, "t": "a" * 40 + "!"}]},
    "mark": "bar",
    "encoding": {"x": X},
}
NEVER_ENDING: dict[str, dict[str, Any]] = {
    "width": {"width": 1e9},
    "steps of a density": {"transform": [{"density": "a", "steps": 1e9, "extent": [0, 1]}]},
    "sequence as data": {"data": {"sequence": {"start": 0, "stop": 1e9}}},
    "sequence in an expression": {"transform": [{"calculate": "sequence(0, 1e9)", "as": "z"}]},
    "regular expression": {"transform": [{"filter": "test(/(a+)+$/, datum.t)"}]},
    "charts in a grid": {
        "repeat": {"row": ["a"] * 300, "column": ["a"] * 300},
        "spec": {"mark": "bar", "encoding": {"x": {"field": {"repeat": "row"}, "type": "quantitative"}}},
    },
}


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second has to do."""
    monkeypatch.setattr(render, "SECONDS", 1.0)


@pytest.fixture
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[render._Worker]:
    """A process that other tests do not use."""
    drawer = render._Worker()
    monkeypatch.setattr(render, "_worker", drawer)
    yield drawer
    drawer.stop()


def test_a_chart_is_the_same_as_in_this_process() -> None:
    """Picture and compiled specification, with letters of every kind."""
    spec = BARS | {"title": 'größe \u2028 😀 \\ " \n', "mark": "point"}
    assert draw_chart(spec) == render_vega_lite(spec)
    assert compile_chart(spec) == compile_to_vega(spec)


@pytest.mark.parametrize("name", slow_after(2, NEVER_ENDING))
@pytest.mark.usefixtures("impatient")
def test_a_chart_that_never_ends_is_told(name: str) -> None:
    """With the place of its block and what to do; the next chart is drawn."""
    spec = {key: value for key, value in BARS.items() if "repeat" not in NEVER_ENDING[name] or key == "data"}
    place = SourceLocation("content/page.md", 7)
    with pytest.raises(ReportError) as told:
        draw_author_figure(
            "mine",
            "vega-lite",
            spec | NEVER_ENDING[name],
            {},
            title=None,
            caption="",
            summary=None,
            place=place,
        )
    assert str(told.value) == (
        "content/page.md:7: the chart was not drawn within 1 seconds. Let it have fewer rows or marks, "
        "a smaller size, or simpler expressions; or compute its data beforehand."
    )


def test_a_process_that_breaks_down_is_started_again(own_process: render._Worker) -> None:
    """The engine ends the process where it lacks memory."""
    assert draw_chart(BARS)
    assert own_process._process is not None
    Timer(0.5, os.kill, (own_process._process.pid, SIGKILL)).start()
    with pytest.raises(ChildProcessError):
        draw_chart(BARS | NEVER_ENDING["regular expression"])
    assert draw_chart(BARS)
    place = SourceLocation("content/page.md", 7)

    def broken(_: object) -> str:
        raise ChildProcessError(-5)

    with pytest.raises(ReportError, match=r"page.md:7: drawing the chart broke off, .* memory"):
        draw_author_figure(
            "mine", "vega-lite", BARS, {}, title=None, caption="", summary=None, place=place, draw=broken
        )


def test_what_is_refused_does_not_end_the_process(own_process: render._Worker) -> None:
    """The words of Vega-Lite come over."""
    with pytest.raises(ValueError, match="Vega-Lite"):
        draw_chart({"mark": {"type": 7}})
    process = own_process._process
    assert draw_chart(BARS)
    assert own_process._process is process


def test_a_picture_may_be_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """It stands on a page."""
    monkeypatch.setattr(render, "MOST_CHARACTERS", 100)
    with pytest.raises(ValueError, match=r"the picture has [\d,]+ characters, and 100 are the most"):
        draw_chart(BARS)


@pytest.mark.usefixtures("own_process")
def test_nothing_of_the_working_folder_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module there that is named like one of Python's is not run, and secrets stay in this process."""
    monkeypatch.chdir(tmp_path)
    for name in ("signal", "json", "vl_convert", "sitecustomize", "threading"):
        (tmp_path / f"{name}.py").write_text("open('was-run', 'w').close()", encoding="utf-8")
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    given: list[dict[str, str]] = []
    start = subprocess.Popen

    def spied(*arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - passed on
        given.append(named["env"])
        return start(*arguments, **named)

    monkeypatch.setattr(subprocess, "Popen", spied)
    assert draw_chart(BARS)
    assert not (tmp_path / "was-run").exists()
    assert [env.get("SECRET_TOKEN") for env in given] == [None]
    assert given[0]["PYTHONSAFEPATH"] == "1"


CHARTS = """
```vega-lite
data: {source: runs}
mark: point
encoding: {x: {field: step, type: quantitative}}
```

```altair
function: charts.py:points
source: runs
```
"""
CODE = """
import altair as alt

def points(frame):
    return alt.Chart(frame).mark_point().encode(x="step:Q")
"""


def report_of_charts(root: Path) -> Project:
    """A report with a chart of each kind."""
    write_report(root, {"content/index.md": CHARTS, "data/runs.csv": RUNS, "charts.py": CODE})
    return Project(root, "content", ("index.md",), ProjectSettings(allow_code=True))


@pytest.mark.usefixtures("own_process")
def test_a_known_chart_starts_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither one from a block nor one that a function returns again."""
    project, folder = report_of_charts(tmp_path), tmp_path / "cache"
    first = draft(project, Cache(folder), FileHashes(folder))
    monkeypatch.setattr(render, "_start_process", None)
    monkeypatch.setattr(render, "_worker", render._Worker())
    again = draft(project, Cache(folder), FileHashes(folder))
    pictures = [
        [str(one.file_svg) for one in report.shown.values() if isinstance(one, Figure)]
        for report in (first, again)
    ]
    assert len(pictures[0]) == 2
    assert pictures[0] == pictures[1]


def test_a_source_of_too_many_rows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For both kinds of charts, before anything is drawn."""
    monkeypatch.setattr(charts, "MOST_ROWS", 3)
    with pytest.raises(ReportError) as told:
        draft(report_of_charts(tmp_path), Cache(tmp_path / "cache"), FileHashes(tmp_path / "cache"))
    assert [str(problem).partition(" has ")[0] for problem in told.value.problems] == [
        'content/index.md:2: "runs"',
        'content/index.md:8: "runs"',
    ]
    assert "rows, but a chart can have at most 3. Leave some out with filter:" in str(told.value)
