"""Blocks about scores: every mark stands for its score, whatever the names; what drafts keep and share."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import sys
import tracemalloc
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import altair as alt
import numpy as np
import pytest
from file_commands import read_samples
from made_figures import HOSTILE
from made_files import KINDS
from made_projects import WorkerHere, files_below, write_report
from scipy import stats

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.model import Figure, ResultTable, Stack
from reportgen.draft.report import draft
from reportgen.figures.render import render_png, render_vega_lite
from reportgen.settings.report import Project, ProjectSettings
from reportgen.site.checking import draft_report
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.core.model import FloatArray
    from reportgen.draft.report import Report

BLOCKS = ("scores", "comparison", "passk", "problems", "run-scores", "distribution")
PAGE = "---\nbenchmark: {{name: {name}, source: answers}}\n---\n# Page\n\n" + "".join(
    f"```{kind}\nid: the-{kind}\n```\n\n" for kind in BLOCKS
)
ANSWERS = """
A seed=1: 11 10 10 00 11 10 01 00
A seed=2: 11 00 10 00 11 10 01 00
B seed=1: 11 -- 00 00 10 10 00 00
C seed=1: 00 10 00 00 10 00 00 00
"""


def drafted(root: Path, answers: str | bytes, name: str = "Contest") -> Report:
    """A report with each block about scores, on one page."""
    files = {"content/index.md": PAGE.format(name=json.dumps(name)), "data/answers.csv": answers}
    write_report(root, {**files, "data/runs.csv": None})
    return draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)[0]


def parts(report: Report, kind: str) -> list[Any]:
    """The figures and tables of a block."""
    shown = report.shown["index.md", f"the-{kind}"]
    return list(shown.parts) if isinstance(shown, Stack) else [shown]


def figure(report: Report, kind: str) -> Figure:
    """The figure of a block."""
    (found,) = [part for part in parts(report, kind) if isinstance(part, Figure)]
    return found


def rows(text: object) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(str(text))))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report about four runs of three series."""
    return drafted(tmp_path_factory.mktemp("scores"), KINDS["answers"](ANSWERS.lstrip()))


def test_specifications_are_valid_and_draw_the_csv(report: Report) -> None:
    """Vega-Lite draws each; their data are those of the files."""
    for kind in BLOCKS:
        made = figure(report, kind)
        spec = json.loads(str(made.spec))
        assert render_vega_lite(spec).startswith("<svg"), kind
        assert "var(" not in str(made.file_svg)
        assert render_png(str(made.file_svg)).startswith(b"\x89PNG")
        json.dumps(made.numbers, allow_nan=False)
        assert "nan" not in (str(made.inline_svg) + str(made.csv) + str(made.spec)).casefold()
    passk, pairs = (json.loads(str(figure(report, kind).spec)) for kind in ("passk", "comparison"))
    alt.LayerChart.from_dict(passk, validate=True)
    means = [row for row in passk["data"]["values"] if "run" not in row]
    expected = [float(row["value"]) for row in rows(figure(report, "passk").csv)]
    assert [row["value"] for row in means] == expected
    drawn = {row["name"]: row["value"] for row in pairs["datasets"]["rows"]}
    assert drawn == pytest.approx(
        {row["a"]: float(row["difference"]) for row in rows(figure(report, "comparison").csv)}
    )
    heat = render_vega_lite(json.loads(str(figure(report, "problems").spec)))
    assert heat.count('aria-roledescription="rect mark"') == 3 * 8 - 1


def test_pass_at_k_is_the_published_estimator(report: Report) -> None:
    """By whole numbers: 100 times the mean of 1 - C(2 - c, k)/C(2, k) over problems and runs."""
    found = {
        (row["series"], int(row["step"])): float(row["value"]) for row in rows(figure(report, "passk").csv)
    }
    right = {"A": [2, 2, 1, 0, 1, 1, 0, 0, 2, 2, 1, 1, 1, 1, 0, 0], "C": [0, 1, 0, 0, 1, 0, 0, 0]}
    for name, counts in right.items():
        for k in (1, 2):
            chances = [1 - comb(2 - c, k) / comb(2, k) for c in counts]
            assert found[name, k] == pytest.approx(100 * np.mean(chances))
    live = json.loads(str(figure(report, "passk").payload))
    assert (live["x"]["scale"], live["x"]["title"], live["x"]["ticks"]) == ("log2", "k", [1, 2])
    assert (live["x"]["symbol"], live["y"]["unit"]) == (True, "%")
    assert '"base": 2' in figure(report, "passk").view


def test_a_lone_run_has_no_interval(tmp_path: Path, report: Report) -> None:
    """Neither in the picture of runs, nor a width of zero in those of one problem."""
    one = drafted(tmp_path, "model,problem,sample,score\nA,p,1,1\nA,p,2,0\n")
    for kind in ("run-scores", "scores"):
        assert 'class="rg-interval"' not in str(figure(one, kind).inline_svg)
        assert 'class="rg-interval"' in str(figure(report, kind).inline_svg)
    assert '"low"' not in str(figure(one, "passk").payload)


def test_the_same_scores_give_the_same_blocks(tmp_path: Path, report: Report) -> None:
    """In another folder, without a cache."""
    again = drafted(tmp_path, KINDS["answers"](ANSWERS.lstrip()))
    assert list(again.shown.items()) == list(report.shown.items())


def test_any_name_may_be_a_series_a_problem_and_a_benchmark(tmp_path: Path) -> None:
    """Nothing breaks, no picture has an element of theirs, and no file runs a formula."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["model", "problem", "sample", "score"])
    hostile = [name.replace("\0", "") for name in HOSTILE]  # which readers refuse
    for place, name in enumerate(hostile):
        for other, problem in enumerate((*hostile[:7], "plain")):
            writer.writerows([name, problem, sample, (place + other + sample) % 2] for sample in (1, 2))
    made = drafted(tmp_path, text.getvalue(), HOSTILE[0])
    names = {" ".join(name.split()) for name in hostile}
    for kind in BLOCKS:
        for drawing in (figure(made, kind).inline_svg, figure(made, kind).file_svg):
            tags = {one.tag.rpartition("}")[2] for one in ET.fromstring(str(drawing)).iter()}  # noqa: S314 - our own
            assert not tags & {"script", "img", "foreignObject", "a"}, kind
        for part in parts(made, kind):
            if isinstance(part, Figure | ResultTable):
                cells = [cell for row in csv.reader(io.StringIO(str(part.csv))) for cell in row]
                assert not [cell for cell in cells if cell.startswith(("=", "@"))], kind
                assert len({len(row) for row in csv.reader(io.StringIO(str(part.csv)))}) == 1
    (table,) = [part for part in parts(made, "scores") if isinstance(part, ResultTable)]
    assert {" ".join(row[0].text.split()) for row in table.rows} == names
    live = json.loads(str(figure(made, "problems").payload))
    assert {" ".join(name.split()) for name in live["series"]} == names
    result = made.benchmarks["index.md"]
    assert result.strip
    dots = list(ET.fromstring(result.strip.svg).iter())  # noqa: S314 - our own
    assert {one.tag for one in dots} == {"svg", "path"}
    assert not [name for one in dots for name in one.attrib if name.startswith("on")]


# ---- the map of problems ------------------------------------------------------------------------


def read_opacities(svg: str, columns: int) -> FloatArray:
    """The opacity of each cell, read back from the paths; -1 for a thin line, NaN for nothing."""
    cells = []
    for row in ET.fromstring(svg).iter("svg"):  # noqa: S314 - our own
        if row.get("class") != "rg-heat-cells":
            continue
        found = np.full(columns, np.nan)
        for path in row.iter("path"):
            for start, wide in re.findall(r"M(\d+) 5h(\d+)", path.get("d") or ""):
                first = int(start) // 10
                found[first : first + -(-int(wide) // 10)] = float(path.get("stroke-opacity", -1))
        cells.append(found)
    return np.array(cells)


def draw_map(root: Path, values: FloatArray) -> Figure:
    """The map of problems with these values, of shape (series, problems); NaN is no answer."""
    lines = [
        f"s{series},p{problem},{value}"
        for (series, problem), value in np.ndenumerate(values)
        if not np.isnan(value)
    ]
    page = "# Page\n\n```problems\nid: the-problems\nsource: answers\n```\n"
    files = {"content/index.md": page, "data/answers.csv": "\n".join(["model,problem,score", *lines])}
    write_report(root, {**files, "data/runs.csv": None})
    return figure(draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)[0], "problems")


def test_every_cell_has_the_step_of_its_score(tmp_path: Path) -> None:
    """0 and the highest score have steps of their own; fifths lie between; the hardest stands last."""
    values = np.array([[0.0, 0.001, 0.199, 0.2, 0.5, 0.79, 0.8, 0.999, 1.0]])
    (found,) = read_opacities(str(draw_map(tmp_path, values).inline_svg), 9)
    steps = sorted(set(found))
    assert [steps.index(one) for one in found] == [6, 5, 5, 4, 3, 2, 1, 1, 0]


@pytest.mark.parametrize("count", [1, 119, 121, 500])
def test_the_paths_of_a_row_are_its_cells(tmp_path: Path, count: int) -> None:
    """With gaps between cells and without, no cell is lost and none stands twice, in few elements."""
    rng = np.random.default_rng(count)
    values = np.where(rng.random((3, count)) < 0.2, np.nan, rng.random((3, count)).round(1))
    values[0] = rng.random(count).round(1)
    made = draw_map(tmp_path, values)
    found, live = read_opacities(str(made.inline_svg), count), json.loads(str(made.payload))
    root = ET.fromstring(str(made.inline_svg))  # noqa: S314 - our own
    (box,) = [part for part in root if part.get("class") == "rg-cells"]
    assert (root.get("data-rg-columns"), found.shape) == ("problems", (len(live["series"]), count))
    assert float(box.get("height", "")) % len(live["series"]) == 0
    assert len(list(root.iter())) < 20 * 12 + 30
    places = [int(name[1:]) for name in live["problems"]]
    expected = values[[int(name[1:]) for name in live["series"]]][:, places]
    assert np.array_equal(found < 0, np.isnan(expected))
    steps = np.where(expected == 1, 6, np.floor(expected * 5) + (expected > 0))
    pairs = sorted(set(zip(steps[found >= 0].tolist(), found[found >= 0].tolist(), strict=True)))
    assert len(pairs) == len({step for step, _ in pairs}) == len({opacity for _, opacity in pairs})
    assert [opacity for _, opacity in pairs] == sorted(opacity for _, opacity in pairs)


# ---- distributions ------------------------------------------------------------------------------


def test_bars_are_as_high_as_what_they_count(tmp_path: Path) -> None:
    """In pixels, and the tallest fills its row; mean and interval are Student's t over the last values."""
    values = np.random.default_rng(1).integers(0, 5, 40) / 4
    files = {}
    for name, own in (("runs", values), ("equal", np.ones(40))):
        lines = [f"a,{seed},{step},{step * value}" for seed, value in enumerate(own) for step in (0, 1)]
        files[f"data/{name}.csv"] = "\n".join(["series,seed,step,score", *lines])
        files[f"content/{name}.md"] = (
            f"# Page\n\n```distribution\nid: bars\nsource: {name}\nmetric: score\n```\n"
        )
    root = write_report(tmp_path, {**files, "content/index.md": "# Empty\n"})
    report = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)[0]
    made, equal = (report.shown[f"{name}.md", "bars"] for name in ("runs", "equal"))
    assert isinstance(made, Figure)
    assert isinstance(equal, Figure)
    bar = r': (\d+) of 40 runs"[^>]*><rect [^>]*height="([\d.]+)"'
    counts, heights = np.array(re.findall(bar, str(made.inline_svg)), dtype=float).T
    assert counts.tolist() == np.unique(values, return_counts=True)[1].tolist()
    assert heights / heights[0] == pytest.approx(counts / counts[0], rel=1e-3)
    assert [("40", f"{heights.max():g}")] == re.findall(bar, str(equal.inline_svg))
    (row,) = made.numbers["series"]
    interval = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
    assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), *interval))
    assert row["quartiles"] == pytest.approx(np.percentile(values, (25, 50, 75)).tolist())


# ---- drafts: what is kept, and what goes to a second process --------------------------------------


CONTESTS = KINDS["answers"](
    "GRPO benchmark=Contest: 10*8\nMEL benchmark=Contest: 11 01 10 11 01 10 11 01\n"
    "GRPO benchmark=Textbook: 10*8\nMEL benchmark=Textbook: 11*4 10*4\n"
)
PAIRS = """---
benchmark: {{name: B{0}, benchmark: Contest, source: s{0}, baseline: GRPO}}
---
# Contest

```scores
```

```passk
```

```comparison
source: s{0}
benchmarks: [Contest, Textbook]
```

```problems
```

```run-scores
```
"""


def draft_pages(root: Path, *pages: str, elsewhere: Any = None) -> Report:  # noqa: ANN401 - as of a draft
    """Draft the report in a folder."""
    project, folder = Project(root, "content", pages, ProjectSettings()), cache_folder(root)
    return draft(project, Cache(folder), FileHashes(folder), start_worker=elsewhere)


def write_pages(root: Path, count: int) -> Path:
    """A report with so many pages about scores, each with a source of its own."""
    files = {f"content/p{one}.md": PAIRS.format(one) for one in range(count)}
    data = {f"data/s{one}/outcomes.csv": CONTESTS for one in range(count)}
    return write_report(root, {**files, **data})


def test_what_was_drawn_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second draft opens no table, and shows the same."""
    root = write_pages(tmp_path, 1)
    first = draft_pages(root, "p0.md")

    def never(*_: object) -> None:
        pytest.fail("outcomes were read")

    monkeypatch.setattr(sys.modules["reportgen.read"], "read_outcomes", never)
    second = draft_pages(root, "p0.md")
    assert list(second.shown.items()) == list(first.shown.items())
    assert (second.benchmarks, second.keys) == (first.benchmarks, first.keys)


def test_a_large_report_s_scores_are_shared_with_a_second_process(tmp_path: Path) -> None:
    """Pages about scores may go there as well as others, and come back the same."""
    pages = tuple(f"p{number}.md" for number in range(8))
    alone = draft_pages(write_pages(tmp_path / "alone", 8), *pages)
    elsewhere = WorkerHere()
    together = draft_pages(write_pages(tmp_path / "two", 8), *pages, elsewhere=elsewhere)
    assert elsewhere.called == ["_read", "_draw"]
    assert list(together.shown.items()) == list(alone.shown.items())
    assert together.benchmarks == alone.benchmarks


def test_the_strip_survives_any_name(tmp_path: Path) -> None:
    """A small picture with the series' colours between two ends, and no style, whatever the names."""
    names = [name.replace("\0", "") for name in HOSTILE]  # which no series may hold
    pages = [f"p{place}.md" for place in range(len(names))]
    for place, name in enumerate(names):
        rows = [{"series": one, "step": x, "acc": x} for one in (name, "b") for x in (1, 2)]
        said = name if name.isprintable() and "{{" not in name else f"B{place}"
        named = {"name": said, "source": f"s{place}"}
        front = f"---\nbenchmark: {json.dumps(named)}\n---\n# One\n"
        data = "".join(f"{json.dumps(row)}\n" for row in rows)
        write_report(tmp_path, {f"content/p{place}.md": front, f"data/s{place}.jsonl": data})
    results = draft_pages(tmp_path, *pages).benchmarks
    assert len(results) == len(names)
    for result in results.values():
        assert result.strip
        root = ET.fromstring(result.strip.svg)  # noqa: S314 - our own
        inks = {path.get("stroke") for path in root}
        assert inks == {"var(--rg-rule)", "var(--rg-series-1)", "var(--rg-series-2)"}
        assert not re.search(r"\sstyle=|\son\w+=", result.strip.svg)


# ---- texts of samples ---------------------------------------------------------------------------

BLOCK = "# Samples\n\n```problems\nsource: answers\nid: map\nsamples: true\n```\n"
MAP = "figures/index/map-map"
NAMED = {"answers/source.yml": "columns: {prompt: prompt, response: response}\n"}


def build(root: Path, data: Mapping[str, str | bytes], page: str = BLOCK) -> Path:
    """Build a report of one page with this data; returns the site."""
    files = {f"data/{name}": content for name, content in data.items()}
    write_report(root, {"content/index.md": page, "data/runs.csv": None, **files})
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return root / "site"


def test_same_data_same_scripts(tmp_path: Path) -> None:
    """From another folder and from the cache; without the setting no file has a text."""
    logs = files_below(Path(__file__).parents[2] / "data/lm-eval-example")
    data = {f"answers/{name}": text for name, text in logs.items() if not name.endswith((".py", ".yml"))}
    sites = [build(tmp_path / name, data) for name in "ab"]
    shutil.rmtree(sites[1])
    sites[1] = build(tmp_path / "b", {})
    one, other = (files_below(site / "figures") for site in sites)
    assert one == other
    assert [name for name in one if ".samples-" in name]
    site = build(tmp_path / "b", {}, BLOCK.replace("samples: true\n", ""))
    assert not [name for name, content in files_below(site).items() if b"85 + 26" in content]


def test_many_problems_have_several_scripts(tmp_path: Path) -> None:
    """Each of a bounded size, together with every problem; a column of several problems names them all."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"{n}? " + "w" * 900,
            "answer": str(n),
            "responses": [f"r{n}"],
            "correct": [n % 2 == 0],
        }
        for n in range(1300)
    ]
    site = build(tmp_path, {"answers/model.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    scripts = sorted(site.glob(f"{MAP}.samples-*.js"))
    assert len(scripts) > 10
    assert max(path.stat().st_size for path in scripts) < 200_000
    assert read_samples(site / MAP).keys() == {row["id"] for row in rows}
    page = (site / "index.html").read_text("utf-8")
    payload = json.loads(page.partition('class="rg-heat-data">')[2].partition("</script>")[0])
    places = payload["texts"]["places"]
    assert len(places) == len(payload["problems"]) == 434
    assert sum(map(len, places)) == 1300
    (written,) = json.loads((site / "report.json").read_text("utf-8"))["pages"][0]["figures"]
    sizes = [path.stat().st_size for path in scripts]
    assert written["numbers"]["texts"] == {"samples": 1300, "files": len(sizes), "bytes": sum(sizes)}


@pytest.mark.slow
def test_texts_are_never_in_memory_together(tmp_path: Path) -> None:
    """They are read and written in parts: a build takes less memory than its texts, and mixes none up."""
    series, problems, samples = "AB", range(300), range(16)
    texts = {(s, n, k): f"{s}{n}.{k} " + "w" * 3000 for k in samples for n in problems for s in series}
    lines = [f"{s},q{n},{k},{(n + k) % 2},{n}?,{text}" for (s, n, k), text in texts.items()]
    table = "\n".join(["series,problem,sample,score,prompt,response", *lines])
    files = {"answers/a.csv": table, **NAMED}
    build(tmp_path / "imports", {**files, "answers/a.csv": table[:4000].rpartition("\n")[0]})
    build(tmp_path / "report", files, "# Nothing yet\n")
    tracemalloc.start()
    site = build(tmp_path / "report", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(table) * 2 / 3, f"{peak:,} of {len(table):,}"
    assert {name: [row["response"] for row in rows] for name, rows in read_samples(site / MAP).items()} == {
        f"q{n}": [texts[s, n, k] for k in samples for s in series] for n in problems
    }
