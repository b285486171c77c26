"""Charts of authors are drawn in a process of its own, which may break down; blocks are drawn once.

Words of curves do not overlap, whatever is drawn, and the difference of two stands below them.
"""

from __future__ import annotations

import io
import math
import struct
import subprocess
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree as ET

import pytest
from drafted_blocks import draft_block, draft_blocks, write_block, write_table
from made_projects import RUNS, write_report
from tries import slow_after

from reportgen.core.cache import Cache, CachedText, FileHashes
from reportgen.core.errors import ReportError, SourceLocation
from reportgen.core.model import Figure, Panels, ResultTable, Stack
from reportgen.draft.report import draft
from reportgen.figures.author_charts import draw_author_figure
from reportgen.figures.render import (
    _Worker,
    compile_chart,
    compile_to_vega,
    draw_chart,
    render_pdf,
    render_png,
    render_vega_lite,
)
from reportgen.figures.text import measure_text
from reportgen.settings.report import Project, ProjectSettings
from reportgen.site.outputs import collect_search_text, list_figures

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

TEXTS = ("csv", "spec", "inline_svg", "file_svg")
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
def own_process(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Worker]:
    """A process that other tests do not use."""
    drawer = _Worker()
    monkeypatch.setattr("reportgen.figures.render._worker", drawer)
    yield drawer
    drawer.stop()


def test_a_chart_is_the_same_as_in_this_process() -> None:
    """Picture and compiled specification, with letters of every kind."""
    spec = BARS | {"title": 'größe \u2028 😀 \\ " \n', "mark": "point"}
    assert draw_chart(spec) == render_vega_lite(spec)
    assert compile_chart(spec) == compile_to_vega(spec)


def draw_block(spec: dict[str, Any], **how: Any) -> None:  # noqa: ANN401 - another engine
    """Draw what an author writes in a block."""
    place = SourceLocation("content/page.md", 7)
    draw_author_figure(
        "mine", "vega-lite", spec, {}, title=None, caption="", summary=None, place=place, **how
    )


@pytest.mark.parametrize("name", slow_after(1, NEVER_ENDING))
def test_a_chart_that_never_ends_is_told(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the place of its block and what to do; the next chart is drawn."""
    monkeypatch.setattr("reportgen.figures.render.SECONDS", 1.0)
    spec = {key: value for key, value in BARS.items() if "repeat" not in NEVER_ENDING[name] or key == "data"}
    with pytest.raises(
        ReportError, match=r"^content/page.md:7: the chart was not drawn within 1 seconds\. Let"
    ):
        draw_block(spec | NEVER_ENDING[name])


def test_a_process_that_breaks_down_is_started_again(own_process: _Worker) -> None:
    """The engine ends the process where it lacks memory."""
    assert draw_chart(BARS)
    process: Any = own_process._process

    class Broken(io.BufferedReader):
        """Answers of a process that ends when it has the question."""

        def readline(self, size: int | None = -1, /) -> bytes:
            process.kill()
            return super().readline(size)

    process.stdout = Broken(process.stdout.detach())
    with pytest.raises(ChildProcessError):
        draw_chart(BARS | NEVER_ENDING["regular expression"])
    assert draw_chart(BARS)

    def broken(_: object) -> str:
        raise ChildProcessError(-5)

    with pytest.raises(ReportError, match=r"page.md:7: drawing the chart broke off, .* memory"):
        draw_block(BARS, draw=broken)


def test_what_is_refused_does_not_end_the_process(
    own_process: _Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words of Vega-Lite come over; a picture may be so long, since it stands on a page."""
    with pytest.raises(ValueError, match="Vega-Lite"):
        draw_chart({"mark": {"type": 7}})
    process = own_process._process
    assert draw_chart(BARS)
    assert own_process._process is process
    monkeypatch.setattr("reportgen.figures.render.MOST_CHARACTERS", 100)
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
    monkeypatch.setattr("reportgen.figures.render._start_process", None)
    monkeypatch.setattr("reportgen.figures.render._worker", _Worker())
    again = draft(project, Cache(folder), FileHashes(folder))
    pictures = [
        [str(one.file_svg) for one in report.shown.values() if isinstance(one, Figure)]
        for report in (first, again)
    ]
    assert len(pictures[0]) == 2
    assert pictures[0] == pictures[1]


def test_a_source_of_too_many_rows_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For both kinds of charts, before anything is drawn."""
    monkeypatch.setattr("reportgen.draft.blocks.charts.MOST_ROWS", 3)
    with pytest.raises(ReportError) as told:
        draft(report_of_charts(tmp_path), Cache(tmp_path / "cache"), FileHashes(tmp_path / "cache"))
    assert [str(problem).partition(" has ")[0] for problem in told.value.problems] == [
        'content/index.md:2: "runs"',
        'content/index.md:8: "runs"',
    ]
    assert "rows, but a chart can have at most 3. Leave some out with filter:" in str(told.value)


ANSWERS = "series,problem,score\n" + "".join(
    f"{name},p{problem},{(problem * step) % 3 % 2}\n"
    for name, step in (("MEL", 1), ("GRPO", 2), ("PPO", 4))
    for problem in range(12)
)


@pytest.mark.parametrize("kind", ["comparison", "curve"])
def test_a_block_of_several_parts_is_kept_whole(tmp_path: Path, kind: str) -> None:
    """Each figure with its own long texts, and the numbers; where one is gone, all are drawn.

    A search finds its title, its caption, and what each part says.
    """
    page = f"```{kind}\nid: one\nsource: {kind}\ntitle: Contest\n{'facet: series' * (kind == 'curve')}\n```\n"
    files = {"content/index.md": page, "data/comparison.csv": ANSWERS, "data/curve.csv": RUNS}
    write_report(tmp_path, files)
    project, folder = Project(tmp_path, "content", ("index.md",), ProjectSettings()), tmp_path / "cache"
    found = []
    for _ in range(3):
        block = draft(project, Cache(folder), FileHashes(folder)).shown["index.md", "one"]
        assert isinstance(block, Stack | Panels)
        figures = list_figures(block)
        texts = [[str(getattr(one, name)) for name in TEXTS] for one in figures]
        rest = (block.numbers, block.parts[1:3]) if isinstance(block, Stack) else ()
        found.append((block.title, block.caption, texts, rest))
        said = collect_search_text(block)
        words = ("Contest", block.caption, "MEL", *(one.summary for one in figures))
        assert all(word in said for word in words)
        last = figures[-1].file_svg
        assert isinstance(last, CachedText)
        if len(found) == 2:
            (folder / last.path).unlink()
    assert found[0] == found[1] == found[2]
    assert len(texts) == (2 if kind == "curve" else 1)


# ---- the one place that calls vl-convert: harmless to the process, and refusing the network ---------------

SQUARE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>'


def words(text: str) -> dict[str, object]:
    """A chart that shows one text."""
    encoding = {"text": {"field": "a", "type": "nominal"}}
    return {"data": {"values": [{"a": text}]}, "mark": "text", "encoding": encoding}


@pytest.mark.parametrize(
    "bad", ["\x00", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\ufffe", "\uffff", "\ud800"]
)
def test_a_character_that_xml_forbids_does_not_end_the_process(bad: str) -> None:
    """vl-convert 1.9 aborts, and all of the build with it, when it measures such a text."""
    assert "a\ufffdb" in render_vega_lite(words(f"a{bad}b"))


@pytest.mark.parametrize("text", ["\\u0007", "\\\\b", "\t\n", "C:\\bin\\fonts"])
def test_a_backslash_is_not_taken_for_an_escape(text: str) -> None:
    """Only characters are replaced, not words that look like their escapes."""
    vega = compile_to_vega(words(text))
    assert vega["data"][0]["values"] == [{"a": text}]


def test_nothing_is_fetched() -> None:
    """A specification that names an address is refused, whatever stands there."""
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        render_vega_lite({"data": {"url": "http://127.0.0.1:9/rows.csv"}, "mark": "bar", "encoding": {}})


def test_a_picture_has_its_size_and_the_font_that_is_shipped() -> None:
    """Scale is pixels a unit; another font draws another picture, so the shipped one is found by its name."""
    assert struct.unpack(">II", render_png(SQUARE, scale=2)[16:24]) == (40, 20)
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="30">'
    text = root + '<text y="20" font-size="20" font-family="{}">MEL</text></svg>'
    assert render_png(text.format("Reportgen Sans")) != render_png(text.format("no such font"))


def test_a_pdf_has_the_same_bytes_each_time() -> None:
    """The engine itself writes fonts and their entries in another order in each call, and no date."""
    root = '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="30" font-family="Reportgen Sans">'
    words = '<text y="20">MEL</text><text y="20" font-weight="600" fill-opacity=".5">MEL</text></svg>'
    (pdf,) = {render_pdf(root + words) for _ in range(8)}
    assert pdf.startswith(b"%PDF-1.7")
    assert b"/MediaBox [0 0 200 30]" in pdf
    assert pdf.count(b"+ReportgenSans-SemiBold") == 3
    assert b"Date" not in pdf
    table = int(pdf.rsplit(b"startxref", 1)[1].split()[0])
    assert pdf[table:].startswith(b"xref\n0 ")
    for number, line in enumerate(pdf[table:].splitlines()[3:-9], start=1):
        assert pdf[int(line[:10]) :].startswith(b"%d 0 obj\n" % number)


LONG = "qwen2.5-7b-instruct-grpo-lr1e-6-kl0.001-rollout16-final-v0"  # and a digit or two
CHECKPOINTS, ONE_STEP = range(0, 1300, 100), range(100, 200, 100)
STRESSED: dict[str, tuple[Sequence[str], int, range]] = {
    "one series": (["alpha"], 3, CHECKPOINTS),
    "two series": (["alpha", "beta"], 3, CHECKPOINTS),
    "12 series": ([f"model {n}" for n in range(12)], 1, CHECKPOINTS),
    "40 series": ([f"model {n}" for n in range(40)], 1, CHECKPOINTS),
    "200 series": ([f"model {n}" for n in range(200)], 1, CHECKPOINTS),
    "names of 60 letters": ([f"{LONG}{n}" for n in range(3)], 1, CHECKPOINTS),
    "right to left": (["\u05e0\u05d1\u05d3\u05e7", "\u6a21\u578b\u4e09\u53f7"], 3, CHECKPOINTS),
    "one point": (["alpha"], 1, ONE_STEP),
    "points of two series": (["alpha", "beta"], 3, ONE_STEP),
    "gaps": (["alpha", "gap"], 2, CHECKPOINTS),
}
NAMES, HEAD, PAGE = 184, 24, 768  # pixels, of a leaderboard: its names at most, an upright head, all of it
NARROW = 480  # pixels, below which the style sheet hides some words
HIDDEN = {False: ("rg-narrow",), True: ("rg-wide", "rg-odd", "rg-ends")}


class Edges(NamedTuple):
    """What a text covers, in pixels."""

    left: float
    right: float
    top: float
    bottom: float


def write_stressed(names: Sequence[str], runs: int, steps: range) -> dict[str, str]:
    """Runs that rise, of five metrics; those of "gap" have none in the middle."""
    rows: list[tuple[object, ...]] = []
    for n, name in enumerate(names):
        for run in range(runs):
            for step in steps:
                value = 0.3 + 0.4 * (1 - math.exp(-step / 400)) + 0.001 * (n + 2 * math.sin(step + run))
                scores = (value, 2 - value, value / 7, 1e5 * value, -value)
                absent = name == "gap" and 300 < step < 700
                rows.append((name, run, step, *([""] * 5 if absent else scores)))
    header = ("series", "run", "step", "score", "loss", "kl", "length", "gain")
    return {"runs.csv": write_table(header, rows), "runs.source.yml": "title: runs\n"}


def list_words(picture: str, width: float, *, narrow: bool) -> Iterator[tuple[str, Edges]]:
    """Yield each text of a fluid picture with its edges."""

    def walk(part: ET.Element, x: float, y: float, given: dict[str, str]) -> Iterator[tuple[str, Edges]]:
        if part.get("class") in HIDDEN[narrow] or (part.get("display") == "none" and not narrow):
            return
        own = given | part.attrib
        size, anchor, across = float(own["font-size"]), own["text-anchor"], part.get("x", "0")
        here = float(across[:-1]) / 100 * width if across.endswith("%") else float(across)
        if part.tag in {"svg", "text"}:
            x, y = x + here + float(part.get("dx", 0)), y + float(part.get("y", 0)) + float(part.get("dy", 0))
        if part.tag == "text" and part.text:
            wide = measure_text(part.text, size, 600 if own["font-weight"] == "600" else 400)
            left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * wide
            yield part.text, Edges(left, left + wide, y - 0.7 * size, y + 0.1 * size)
        for child in part:
            yield from walk(child, x, y, own)

    usual = {"font-size": "12", "text-anchor": "start", "font-weight": "400"}
    yield from walk(ET.fromstring(picture), 0.0, 0.0, usual)  # noqa: S314 - our own


def list_overlaps(figure: Figure) -> list[str]:
    """The words of a figure that lie on each other or left of it, at the width of a page and of a phone."""
    (left,) = (name for name in figure.plot_class.split() if name.startswith("rg-left-"))
    edge = -float(left.rpartition("-")[2])
    found = []
    for width in (600, 290):
        boxes = [*list_words(str(figure.inline_svg), width, narrow=width < NARROW)]
        assert len(boxes) > 5  # ticks and titles of two axes
        found += [f"{words} at {width}" for words, box in boxes if box.left < edge]
        for (one, a), (other, b) in combinations(boxes, 2):
            if a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom:
                found.append(f"{one} and {other} at {width}")
    return found


@pytest.mark.parametrize("name", STRESSED)
def test_words_of_curves_do_not_overlap(tmp_path: Path, name: str) -> None:
    """From one series to 200, with long names, other scripts, single points and gaps."""
    names, runs, steps = STRESSED[name]
    settings = {"id": "a", "source": "runs", "metric": "score"}
    assert list_overlaps(draft_block(tmp_path, "curve", write_stressed(names, runs, steps), **settings)) == []


def test_words_of_five_panels_do_not_overlap(tmp_path: Path) -> None:
    """Numbers near 1e5, below 0 and below 0.1 beside each other."""
    settings = {"id": "a", "source": "runs", "metrics": ["score", "loss", "kl", "length", "gain"]}
    panels = draft_block(tmp_path, "panels", write_stressed(["alpha", "beta"], 3, CHECKPOINTS), **settings)
    assert [list_overlaps(one) for one in panels.figures] == [[]] * 5


def test_a_leaderboard_of_30_models_on_12_benchmarks_fits_a_page(tmp_path: Path) -> None:
    """With its average first, names of 60 letters, which break, and heads that stand upright."""
    names = [f"model {n}" for n in range(29)] + [f"{LONG}0"]
    benchmarks = [f"Benchmark {n}, 5 shots, chain of thought" for n in range(12)]
    rows = [
        (benchmark, name, (n * 7 + place * 5) % 97 / 100)
        for n, name in enumerate(names)
        for place, benchmark in enumerate(benchmarks)
    ]
    data = {"board.csv": write_table(("benchmark", "model", "score"), rows)}
    data["board.source.yml"] = "title: board\nform: totals\n"
    shown = draft_block(tmp_path, "comparison", data, id="a", source="board", benchmarks=benchmarks)
    (table,) = (part for part in shown.parts if isinstance(part, ResultTable))
    assert (table.compact, len(table.rows), len(table.header)) == (True, 30, 14)
    assert table.header[1] == "average"
    columns = zip(*([cell.text for cell in row] for row in table.rows), strict=True)
    wide = [max(measure_text(text, 12, 400) for text in column) + 6 for column in columns]
    assert all(one >= HEAD for one in wide)
    assert min(wide[0], NAMES) + sum(wide[1:]) <= PAGE


def test_words_of_thirty_figures_of_a_page_do_not_overlap(tmp_path: Path) -> None:
    """Each has a title of 60 letters."""
    names = ("score", "loss", "kl", "length", "gain")
    blocks = [
        write_block("curve", id=f"a{n}", source="runs", metric=names[n % 5], title=LONG) for n in range(30)
    ]
    shown = draft_blocks(tmp_path, "\n".join(blocks), write_stressed(["alpha"], 1, CHECKPOINTS))
    figures = [one for one in shown.values() if isinstance(one, Figure)]
    assert len(figures) == 30
    assert [list_overlaps(one) for one in figures[:5]] == [[]] * 5  # one of each metric


def test_a_difference_is_filled_where_its_interval_excludes_0(tmp_path: Path) -> None:
    """Below two curves, at the steps of both; ``difference: false`` leaves it out."""
    rows = [("a", run, step, 0.5 + 0.01 * run) for run in range(3) for step in (0, 1, 2)]
    rows += [("b", run, step, [0.5, 0.8][step] - 0.01 * run) for run in range(3) for step in (0, 1)]
    data = {"runs.csv": write_table(("series", "run", "step", "score"), rows)}
    data["runs.source.yml"] = "title: runs\n"
    settings = {"id": "a", "source": "runs", "metric": "score"}
    shown = draft_block(tmp_path / "shown", "curve", data, **settings)
    strip = ET.fromstring(str(shown.inline_svg)).find("svg[@class='rg-below']")  # noqa: S314 - our own
    assert strip is not None
    fills = {group.get("fill"): len(group) for group in strip.iterfind("g[circle]")}
    assert fills == {"var(--rg-bg)": 1, "var(--rg-muted)": 1}
    assert "below: filled where the CI of the difference excludes 0" in shown.subtitle
    off = draft_block(tmp_path / "off", "curve", data, **settings, difference=False)
    assert "rg-below" not in str(off.inline_svg)
    assert "below" not in off.subtitle
