"""What other programs may rely on in a built site, on the example report; and its answers and runs."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
import runpy
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urljoin, urlsplit
from xml.etree import ElementTree as ET

import jsonschema  # type: ignore[import-untyped]
import pytest
from command_line import call
from html_tree import classed, read_html, table_rows, words
from made_projects import write_report

import reportgen as rg
from reportgen import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator

DATA = Path(__file__).parents[1] / "data"
HEADER = ["series", "metric", "step", "value", "low", "high", "n"]
# The first columns of the files of figures that have no steps, by kind.
SCORE_HEADERS = {
    "scores": ["series", "metric", "score", "low", "high", "level"],
    "comparison": ["a", "b", "metric", "difference", "low", "high", "level", "p", "adjusted_p"],
    "problems": ["problem", "difficulty", "series", "score", "samples"],
    "flips": ["problem", "before_right", "before_answers", "after_right", "after_answers"],
    "heatmap": ["benchmark", "series", "metric", "score", "low", "high", "level"],
    "run-scores": ["series", "run", "seed", "metric", "score", "problems"],
    "distribution": ["series", "of", "name", "value"],
    "scatter": ["series", "run", "x", "x_low", "x_high", "y", "y_low", "y_high"],
}
VALUES = {"comparison": "difference", "flips": "after_right", "scatter": "y", "distribution": "value"}
KINDS = {"curve", "panel", "passk", "plan", "sweep", "ladder", "vega-lite", "altair", *SCORE_HEADERS}
FIVE = "five-models-accuracy"
# What a reader of the reference figures sees: page, figure, series, step, value.
REFERENCES = [
    ("math500", "scores", "MEL", 120, 0.84),
    ("math500", "scores", "GRPO", 140, 0.82),  # its last step
    ("aime", "pass-at-1", "v10-l1-length-4096", 900, 0.321),
    ("aime", "pass-at-1", "v1-l1-length-4096", 900, 0.280),
    ("training-accuracy", FIVE, "Llama3.2", 60, 0.50),
    ("training-accuracy", FIVE, "Qwen3", 120, 0.90),
    ("training-accuracy", "live-and-frozen", "Frozen SmolLM3", 110, 0.75),
    ("training-accuracy", "live-and-frozen", "Live Qwen3", 110, 0.92),
    ("training-diagnostics", "diagnostics-3", "Series B", 20, 1.0),
]


@pytest.fixture(scope="module")
def pages(example_site: Path) -> dict[str, ET.Element]:
    """Every page of the example site as a tree, by its path from the site's root.

    An example of a review is a file in itself, whose stricter policy ``browser/test_review_page.py`` holds.
    """
    found = sorted(set(example_site.rglob("*.html")) - {example_site / "guide/example-review.html"})
    return {path.relative_to(example_site).as_posix(): read_html(path.read_text("utf-8")) for path in found}


@pytest.fixture(scope="module")
def report(example_site: Path) -> dict[str, Any]:
    """``report.json``, refused where it holds NaN or an infinity."""

    def refuse(word: str) -> None:
        pytest.fail(f"report.json holds {word}")

    text = (example_site / "report.json").read_text("utf-8")
    read: dict[str, Any] = json.loads(text, parse_constant=refuse)
    return read


def figures(pages: dict[str, ET.Element]) -> Iterator[tuple[str, ET.Element]]:
    """Every figure with the folder of its files below ``figures``."""
    for path, page in pages.items():
        for figure in classed(page, "rg-figure"):
            yield _folder(path), figure


def _folder(page: str) -> str:
    """``math500`` for ``math500/index.html``; a section's own page is ``guide/index``."""
    folder = Path(page).parent.as_posix()
    return {"guide": "guide/index", ".": "index"}.get(folder, folder)


def test_the_example_has_every_page_of_the_issue(pages: dict[str, ET.Element]) -> None:
    """Index, four benchmarks, a guide and the page for missing ones."""
    wanted = {"index.html", "404.html", "guide/index.html"}
    wanted |= {f"{name}/index.html" for name in ("math500", "aime", "model-comparison", "training-accuracy")}
    assert wanted | {"training-diagnostics/index.html"} <= set(pages)
    assert len(pages) >= 15


def test_a_figure_is_marked_up_as_promised(pages: dict[str, ET.Element]) -> None:
    """A figure element with id and kind holds one picture, caption, summary and data table."""
    seen = set()
    for folder, figure in figures(pages):
        place = f"{folder}#{figure.get('id')}"
        assert figure.tag == "figure", place
        assert figure.get("id"), place
        assert figure.get("data-kind") in KINDS, place
        assert len(figure.findall("figcaption")) == 1, place
        [summary] = classed(figure, "rg-summary")
        assert words(summary).endswith("."), place
        [data] = classed(figure, "rg-data")
        assert data.tag == "details", place
        assert data.get("open") is None, place
        assert len(table_rows(data)) > 1, place
        seen.add(figure.get("data-kind"))
    assert seen == KINDS


def test_a_picture_has_one_name_that_exists(pages: dict[str, ET.Element]) -> None:
    """Each svg of a figure, of which one is shown, is an image; each id of its name is on the page, once."""
    for path, page in pages.items():
        ids = [element.get("id") for element in page.iter() if element.get("id")]
        assert len(ids) == len(set(ids)), path
        for figure in classed(page, "rg-figure"):
            [picture, *narrow] = [svg for svg in figure.iter("svg") if svg.get("role") == "img"]
            names = picture.get("aria-labelledby", "").split()
            assert names, path
            assert set(names) <= set(ids), (path, names)
            assert [svg.get("class") for svg in narrow] in ([], ["rg-picture rg-narrow"]), path
            assert all(svg.get("aria-labelledby", "").split() == names for svg in narrow), path


def test_every_curve_says_what_it_is(pages: dict[str, ET.Element]) -> None:
    """The caption states runs, band, smoothing and source."""
    for folder, figure in figures(pages):
        if figure.get("data-kind") != "curve":
            continue
        said = words(next(figure.iter("figcaption")))
        for word in ("and", "mooth", "Source"):
            assert word in said, (folder, word, said)
        # What the input gives with an interval of its own may be one run or many.
        assert "run" in said or "as supplied" in said, (folder, said)


def test_every_figure_has_its_files(example_site: Path, pages: dict[str, ET.Element]) -> None:
    """Picture, points, specification and samples stand at ``figures/<page>/<id>``, and nothing else does."""
    wanted = set()
    for folder, figure in figures(pages):
        for ending in ("svg", "csv", "vl.json"):
            wanted.add(f"figures/{folder}/{figure.get('id')}.{ending}")
    report = json.loads((example_site / "report.json").read_text("utf-8"))
    for figure in (one for page in report["pages"] for one in page["figures"]):
        stem = figure["files"][0].removesuffix(".svg")
        parts = range(figure["numbers"].get("texts", {}).get("files", 0))
        wanted |= {f"{stem}.samples-{part}.js" for part in parts}
    found = {p.relative_to(example_site).as_posix() for p in (example_site / "figures").rglob("*.*")}
    assert wanted <= found
    tables = {
        f"figures/{_folder(path)}/{table.get('id')}.csv"
        for path, page in pages.items()
        for table in classed(page, "rg-result")
    }
    assert found - wanted == tables


def test_pictures_stand_alone(example_site: Path) -> None:
    """An SVG file is well-formed, has a title, and needs no style sheet, script or other file."""
    for path in sorted((example_site / "figures").rglob("*.svg")):
        text = path.read_text("utf-8")
        svg = ET.fromstring(text)  # noqa: S314 - our own output
        assert svg.tag == "{http://www.w3.org/2000/svg}svg", path
        assert {"width", "height"} <= set(svg.attrib) or "viewBox" in svg.attrib, path
        assert "<script" not in text, path
        assert "var(" not in text, path
        assert "http" not in text.replace("http://www.w3.org/", ""), path


def test_points_have_the_columns_of_the_contract(example_site: Path, pages: dict[str, ET.Element]) -> None:
    """``series,metric,step,value,low,high,n``: finite numbers, intervals around values, runs counted."""
    for folder, figure in figures(pages):
        if figure.get("data-kind") in {"altair", "vega-lite", *SCORE_HEADERS}:
            continue
        name = f"{folder}/{figure.get('id')}.csv"
        raw = (example_site / "figures" / name).read_bytes()
        assert b"\r" not in raw, name
        rows = list(csv.reader(raw.decode("utf-8").splitlines()))
        if figure.get("data-kind") == "ladder":
            assert rows[0] == ["attempt", "run", "status", "change", "value", "best_so_far", "repetition"], (
                name
            )
            assert all((row[4] == "") == (row[2] == "crashed") for row in rows[1:]), name
            continue
        # Settings that are words have no axis, but rows of runs.
        if figure.get("data-kind") == "sweep" and rows[0][0] != "series":
            assert rows[0][1] == "line", name
            assert all(row[0] and abs(float(row[2])) < 1e300 for row in rows[1:]), name
            continue
        # A smoothed line also has what it was before.
        assert rows[0][:7] == HEADER, name
        assert rows[0][7:] in ([], ["raw"]), name
        assert len(rows) > 2, name
        for series, metric, step, value, low, high, n, *_ in rows[1:]:
            assert series, name
            assert metric, name
            assert step, name
            assert abs(float(value)) < 1e300, name
            assert int(n) >= 1, name
            assert bool(low) == bool(high), name
            if low:
                assert float(low) <= float(value) <= float(high), (name, step)
        assert len({(row[0], row[1], row[2]) for row in rows}) == len(rows), f"{name}: a point twice"


def test_scores_have_the_columns_of_the_contract(example_site: Path, pages: dict[str, ET.Element]) -> None:
    """Scores, differences and problems have the columns of their kind, and values inside their intervals."""
    seen = set()
    for folder, figure in figures(pages):
        kind = figure.get("data-kind", "")
        if kind not in SCORE_HEADERS:
            continue
        name = f"{folder}/{figure.get('id')}.csv"
        text = (example_site / "figures" / name).read_text("utf-8")
        rows = list(csv.DictReader(text.splitlines()))
        # A heatmap of problems has the numbers of a map of problems.
        header = SCORE_HEADERS["problems" if text.startswith("problem,d") else kind]
        assert text.split("\n", 1)[0].split(",")[: len(header)] == header, name
        assert rows, name
        for row in rows:
            value = float(row[VALUES.get(kind, "score")]) / float(row.get("after_answers", 1))
            assert -1 <= value <= 1, name
            low, high = ("y_low", "y_high") if kind == "scatter" else ("low", "high")
            if row.get(low):
                assert float(row[low]) < float(row[high]), name
                assert float(row[low]) <= value <= float(row[high]), name
        seen.add(kind)
    assert seen == set(SCORE_HEADERS)


@pytest.mark.parametrize("point", REFERENCES)
def test_reference_points_in_csv_and_table(
    example_site: Path, pages: dict[str, ET.Element], point: tuple[str, str, str, int, float]
) -> None:
    """What the reference figure shows can be read in the file and in the page's own table."""
    page, figure, series, step, value = point
    lines = (example_site / f"figures/{page}/{figure}.csv").read_text("utf-8").splitlines()
    points = {(row["series"], float(row["step"])): float(row["value"]) for row in csv.DictReader(lines)}
    assert points[series, step] == pytest.approx(value, abs=0.0006)
    [drawn] = [found for found in pages[f"{page}/index.html"].iter("figure") if found.get("id") == figure]
    head, *rows = table_rows(drawn)
    [row] = [row for row in rows if row[0].replace(",", "") == str(step)]
    shown = row[head.index(series.removesuffix("-l1-length-4096"))]  # the label of the two runs of AIME
    number = shown.split()[0]
    read = float(number.removesuffix("%")) / (100 if number.endswith("%") else 1)
    assert read == pytest.approx(value, abs=0.0006)


def test_specifications_are_vega_lite_with_their_data(example_site: Path) -> None:
    """Each names its schema, holds its data, and asks for nothing."""
    for path in sorted((example_site / "figures").rglob("*.vl.json")):
        specification = json.loads(path.read_text("utf-8"))
        assert "/vega-lite/v" in specification["$schema"], path
        assert not list(_values_of(specification, "url")), path


def _values_of(value: object, key: str) -> Iterator[object]:
    if isinstance(value, dict):
        if key in value:
            yield value[key]
        for inner in value.values():
            yield from _values_of(inner, key)
    if isinstance(value, list):
        for inner in value:
            yield from _values_of(inner, key)


# ---- report.json ----------------------------------------------------------------------------------


def test_report_json_says_what_made_it(report: dict[str, Any]) -> None:
    """Format 1, the tool and its version, no problem in a strict build."""
    assert report["format"] == 1
    assert report["generator"] == {"name": "reportgen", "version": __version__}
    assert report["problems"] == []


def test_report_json_sorts_every_key(example_site: Path) -> None:
    """Keys are in order in every object, so that two reports can be compared line by line."""

    def ordered(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in pairs]
        assert names == sorted(set(names))
        return dict(pairs)

    json.loads((example_site / "report.json").read_text("utf-8"), object_pairs_hook=ordered)


def test_report_json_lists_the_figures_of_the_pages(
    example_site: Path, pages: dict[str, ET.Element], report: dict[str, Any]
) -> None:
    """Pages and report name the same figures with the same words, and every file named exists."""
    shown = {
        (folder, figure.get("id")): words(classed(figure, "rg-summary")[0])
        for folder, figure in figures(pages)
    }
    listed = {}
    for page in report["pages"]:
        for figure in page["figures"]:
            listed[page["path"].removesuffix(".md"), figure["id"]] = " ".join(figure["summary"].split())
            assert figure["numbers"], (page["path"], figure["id"])
            for name in figure["files"]:
                assert (example_site / name).is_file(), name
    assert listed == shown


def test_report_json_holds_the_points_of_the_references(report: dict[str, Any]) -> None:
    """The numbers of a figure say best, first and last of each series."""
    [page] = [page for page in report["pages"] if page["path"] == "math500.md"]
    numbers = {series["name"]: series for series in page["figures"][0]["numbers"]["series"]}
    assert (numbers["MEL"]["best"]["step"], numbers["MEL"]["best"]["value"]) == (120, 0.84)
    assert (numbers["GRPO"]["last"]["step"], numbers["GRPO"]["last"]["value"]) == (140, 0.82)


def test_sources_match_the_files_they_name(example_site: Path, report: dict[str, Any]) -> None:
    """Size and SHA-256 of each source are those of the file in the report's folder."""
    names = [source["name"] for source in report["sources"]]
    assert len(names) == len(set(names))
    for source in report["sources"]:
        assert source["files"], source["name"]
        for file in source["files"]:
            content = (example_site.parent / file["path"]).read_bytes()
            assert file["size"] == len(content), file["path"]
            assert file["sha256"] == hashlib.sha256(content).hexdigest(), file["path"]


def test_the_footer_names_the_sources(pages: dict[str, ET.Element], report: dict[str, Any]) -> None:
    """A reader finds the hash of the data at the foot of the page, and the version that drew it."""
    [source] = [source for source in report["sources"] if source["name"] == "math500"]
    footer = pages["math500/index.html"].find(".//footer")
    assert footer is not None
    text = "".join(footer.itertext())
    assert source["files"][0]["sha256"][:12] in text
    assert __version__ in text


# ---- the site -------------------------------------------------------------------------------------


def test_a_site_has_what_web_servers_ask_for(example_site: Path) -> None:
    """``.nojekyll`` is empty; 404, site map and search index are there."""
    assert (example_site / ".nojekyll").read_bytes() == b""
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz", "search/titles.js"):
        assert (example_site / name).is_file(), name
    ET.parse(example_site / "sitemap.xml")  # noqa: S314 - our own output


def test_no_page_asks_for_anything_outside(example_site: Path, pages: dict[str, ET.Element]) -> None:
    """Scripts, styles, pictures, frames and fonts are the site's own, and exist."""
    for path, page in pages.items():
        for element in page.iter():
            loaded = [element.get("src"), element.get("poster"), element.get("data")]
            if element.tag in {"link", "use", "image"}:
                loaded.append(element.get("href"))
            for address in filter(None, loaded):
                parts = urlsplit(address)
                assert not parts.scheme, (path, address)
                assert not parts.netloc, (path, address)
                if parts.path and path != "404.html":
                    assert ((example_site / path).parent / parts.path).resolve().exists(), (path, address)
    for sheet in sorted(example_site.rglob("*.css")):
        text = sheet.read_text("utf-8").replace('"', "").replace("'", "")
        assert "@import" not in text, sheet
        assert "url(http" not in text, sheet


def test_links_inside_the_site_lead_somewhere(example_site: Path, pages: dict[str, ET.Element]) -> None:
    """Every relative link names a page and, after its #, an id of that page."""
    ids = {path: {e.get("id") for e in page.iter() if e.get("id")} for path, page in pages.items()}
    for path, page in pages.items():
        for link in page.iter("a"):
            parts = urlsplit(link.get("href", ""))
            if parts.scheme or parts.netloc or path == "404.html":
                continue
            target = (
                ((example_site / path).parent / parts.path).resolve() if parts.path else example_site / path
            )
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), (path, link.get("href"))
            name = target.relative_to(example_site.resolve()).as_posix() if parts.path else path
            if parts.fragment and name in ids:
                assert parts.fragment in ids[name], (path, link.get("href"))


def test_every_page_has_a_strict_policy(pages: dict[str, ET.Element]) -> None:
    """``default-src 'self'`` and nothing unsafe; no inline script runs, no inline style is needed."""
    for path, page in pages.items():
        policies = [m.get("content", "") for m in page.iter("meta") if m.get("http-equiv")]
        assert len(policies) == 1, path
        assert "default-src 'self'" in policies[0], path
        assert "unsafe" not in policies[0], path
        # A 404 page is shown at any depth, where it may find no style sheet.
        style = page.find(".//style")
        assert (style is not None) == ("style-src 'self' 'sha256-" in policies[0]) == (path == "404.html"), (
            path
        )
        for element in page.iter():
            assert element.get("style") is None, (path, element.tag)
            assert not [name for name in element.attrib if name.startswith("on")], (path, element.tag)
            if element.tag == "script" and not element.get("src"):
                assert element.get("type") == "application/json", path


def test_a_page_of_figures_is_light(example_site: Path) -> None:
    """No page passes 90 kB, a review with its fonts 95, and all scripts together 310 kB, each compressed."""
    for path in sorted(example_site.rglob("*.html")):
        most = 95_000 if path.name == "example-review.html" else 90_000
        assert len(gzip.compress(path.read_bytes(), 9)) <= most, path
    scripts = b"".join(path.read_bytes() for path in sorted((example_site / "assets").rglob("*.js")))
    assert len(gzip.compress(scripts, 9)) <= 310_000


# ---- pages for programs ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def markdown(example_site: Path) -> dict[str, str]:
    """The Markdown of every page, by its path from the site's root, without the backslashes before marks."""
    found = sorted(example_site.rglob("*.md"))
    return {path.relative_to(example_site).as_posix(): path.read_text("utf-8") for path in found}


def plain(text: str) -> str:
    """A text on one line, without the backslashes of Markdown."""
    return re.sub(r"\\([<|])", r"\1", " ".join(text.split()))


def drop_code(text: str) -> str:
    """Markdown without its code."""
    return re.sub(r"(?ms)^[ >]*(`{3,}).*?^[ >]*\1|(`+)[^`].*?\2(?!`)", "", text)


def list_values(value: object) -> Iterator[float]:
    """Every number of a part of ``report.json``."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from list_values(inner)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def test_markdown_has_every_number_of_report_json(markdown: dict[str, str], report: dict[str, Any]) -> None:
    """Of figures and stacks to four digits, of tables and statements as a reader of the page sees them.

    Zeros are left out where they say that nothing was dropped.
    """
    for page in report["pages"]:
        stem = page["path"].removesuffix(".md").removesuffix("index").strip("/")
        text = plain(markdown[f"{stem}/index.md".lstrip("/")])
        found = {float(f"{float(one):.4g}") for one in re.findall(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?", text)}
        for shown in (*page["figures"], *page["stacks"]):
            given = (float(f"{one:.4g}") for one in list_values(shown["numbers"]) if one)
            missing = [one for one in given if one not in found]
            assert missing == [], (page["path"], shown["id"])
            assert plain(shown.get("summary", "")) in text
        rows = [row for table in page["tables"] for row in table["rows"][:40]]
        said = [cell["text"] for row in rows for cell in row]
        said += [
            words for one in page["statements"] for words in (one["found"], one["words"], *one["evidence"])
        ]
        said += [one["text"] for shown in page["observations"] for one in shown["items"]]
        assert [words for words in said if plain(words) not in text] == [], page["path"]


def test_markdown_fits_what_programs_fetch(markdown: dict[str, str], report: dict[str, Any]) -> None:
    """No page is cut off by a tool that stops at 50,000 characters; one of three figures has at most 15 kB.

    It says where all pages are listed, its headings and fences are whole, and nothing waits for a script.
    """
    three = {page["path"] for page in report["pages"] if 1 <= len(page["figures"]) <= 3}
    for path, text in markdown.items():
        source = "index.md" if path == "index.md" else path.replace("/index.md", ".md")
        # How long prose is, is its author's; the guide lists all messages on one page.
        most = 15_000 if source in three and not source.startswith("guide/") else 50_000
        assert path == "guide/messages/index.md" or len(text.encode()) <= most, path
        assert text.startswith("> All pages of this report: [llms.txt]("), path
        assert len(re.findall(r"(?m)^# ", drop_code(text))) == 1, path
        assert "{value=" not in drop_code(text), path
        assert "\0" not in text, path


def test_markdown_and_its_index_lead_to_each_other(
    example_site: Path, markdown: dict[str, str], pages: dict[str, ET.Element]
) -> None:
    """From disk and below any address: ``llms.txt`` lists each page once, each page links its Markdown."""
    index = (example_site / "llms.txt").read_text("utf-8")
    assert re.match(r"# .+\n\n> .+\n\n(?s:.+)\n\n## Pages\n\n- \[", index)
    assert len(index) <= 50_000
    listed = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): .+$", index, re.MULTILINE)
    assert sorted(listed) == sorted(markdown)
    for path, page in pages.items():
        links = [e.get("href", "") for e in page.iter("link") if e.get("type") == "text/markdown"]
        found = [urljoin(f"https://example.org/sub/{path}", link) for link in links]
        assert found == ([] if path == "404.html" else [f"https://example.org/sub/{path[:-5]}.md"]), path
    for path, text in markdown.items():
        for link in re.findall(r"\]\(([^()\s]+)\)", drop_code(text)):
            parts = urlsplit(link)
            if parts.path and not parts.scheme:
                assert ((example_site / path).parent / unquote(parts.path)).resolve().is_file(), (path, link)


def test_an_index_of_any_report_is_short(tmp_path: Path) -> None:
    """The last pages are left out if titles alone are too long; all pages are in one file where requested."""
    settings = "site_name: <b> | Many\ndocs_dir: content\nplugins: [{reportgen: {llms_full: true}}]\n"
    titles = {f"{name}.md": f"# {name * 9_000}\n\n[A](a.md)\n" for name in "abcdef"}
    root = write_report(
        tmp_path,
        {"mkdocs.yml": settings, "content/index.md": None, **{f"content/{k}": v for k, v in titles.items()}},
    )
    assert call(root, "build").returncode == 0
    index = (root / "site/llms.txt").read_text("utf-8")
    assert index.startswith("# \\<b> \\| Many\n")
    assert 40_000 < len(index) <= 50_000
    assert index.endswith("](e/index.md)\n\nThese are the first of 6 pages; report.json names all of them.\n")
    full = (root / "site/llms-full.txt").read_text("utf-8")
    assert re.findall(r"(?m)^# (\w)", full) == [*"abcdef"]
    assert full.count("[A](a/index.md)") == 6


# ---- the answers and runs of the example ------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))


def test_the_answers_are_those_of_the_script(example_site: Path) -> None:
    """The chances to solve a problem have the stated means; an answer is right if it is the gold one."""
    script = runpy.run_path(str(DATA / "model-comparison/make_outcomes.py"))
    for benchmark, count in script["BENCHMARKS"].items():
        drawn = {model: script["chances"](benchmark, model) for model in script["MODELS"]}
        for model, (true, _) in script["MODELS"].items():
            assert drawn[model].shape == (count,)
            assert drawn[model].mean() == pytest.approx(true[benchmark], abs=1e-12)
        assert drawn["Birch"].mean() == pytest.approx(drawn["Cedar"].mean(), abs=1e-12)
        assert abs(drawn["Birch"] - drawn["Cedar"]).max() > 0.2
    answers = read_rows(DATA / "model-comparison/outcomes.csv")
    assert all((row["answer"] == row["gold"]) is (float(row["score"]) == 1) for row in answers)
    cells = Counter((row["benchmark"], row["model"], row["problem"]) for row in answers)
    assert (len(cells), set(cells.values())) == (4 * (30 + 40), {16})
    folder = example_site / "figures/model-comparison"
    alone = [(row["problem"], row["series"]) for row in read_rows(folder / "contest-problems-alone.csv")]
    assert alone == [("contest-15", "Aspen"), ("contest-27", "Aspen")]
    across = read_rows(example_site / "figures/guide/comparison/both-benchmarks-table.csv")
    open_ = dict.fromkeys(("Cedar", "Damson"), "no clear winner")
    assert {row["series"]: row["verdict"] for row in across} == {"Aspen": "better", "Birch": "", **open_}
    assert len({(row["series"], row["verdict"]) for row in across}) == 4


def test_the_aime_answers_are_those_of_the_runs() -> None:
    """Each run has its pass@1 at iteration 900 to within a sample."""
    answers: dict[tuple[str, str], list[float]] = {}
    for row in read_rows(DATA / "aime-outcomes/outcomes.csv"):
        answers.setdefault((row["series"], row["seed"]), []).append(float(row["score"]))
    runs = [row for row in read_rows(DATA / "aime/runs.csv") if row["iteration"] == "900"]
    assert {(row["series"], row["seed"]) for row in runs} == answers.keys()
    for row in runs:
        mean = fmean(answers[row["series"], row["seed"]])
        assert mean == pytest.approx(float(row["pass@1"]), abs=1 / 480)


def test_exported_scores_follow_their_schema_and_are_read_again(
    example_site: Path, report: dict[str, Any], tmp_path: Path
) -> None:
    """Each record of Every Eval Ever and each answer of it; their scores and intervals are those of pages."""
    words = ("export", "model-comparison", "--as", "eee", "--to", str(tmp_path))
    done = call(example_site.parent, *words, SOURCE_DATE_EPOCH="1796083200")
    assert (done.returncode, done.stderr) == (0, "")
    schemas = Path(__file__).parent / "schemas/every_eval_ever"
    for ending, name in ((".json", "eval"), (".jsonl", "instance_level_eval")):
        schema = json.loads((schemas / f"{name}.schema.json").read_text("utf-8"))
        check = jsonschema.Draft7Validator(schema).validate
        written = sorted(tmp_path.rglob(f"*{ending}"))
        assert len(written) == 8  # four series on two benchmarks
        for path in written:
            text = path.read_text("utf-8")
            for record in [text] if ending == ".json" else text.splitlines():
                check(json.loads(record))
    (page,) = (one for one in report["pages"] if one["path"] == "model-comparison.md")
    shown = {
        (stack["numbers"]["benchmark"], one["series"]): (one["estimate"], one["low"], one["high"])
        for stack in page["stacks"]
        if stack["kind"] == "comparison"
        for one in stack["numbers"]["scores"]
    }
    rows = rg.scores(rg.read(tmp_path / "data")).to_dict("records")
    read = {(row["benchmark"], row["series"]): (row["estimate"], row["low"], row["high"]) for row in rows}
    assert {key: read[key] for key in shown} == shown
