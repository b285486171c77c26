"""Citing and copying figures and tables: the texts that come out, from disk and served, also if refused."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

import pytest
from example_site import build, write_small_report
from playwright.sync_api import expect

from browser.conftest import opened, resize
from browser.figure_pages import HOSTILE, results, write_assets, write_page
from browser.live import box_of, figure_of, said, wake
from browser.score_pages import NAMES, heat_stack, pairs_stack
from reportgen.archive.one_file import write_one_file
from reportgen.core.model import Cell, ResultTable

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page, Route

    from browser.conftest import Pool, Site, Sites, Tabs

pytestmark = pytest.mark.browser

SAVED = """if (navigator.clipboard)
  navigator.clipboard.writeText = (text) => Promise.resolve(window.take(text));"""
REFUSED = """const refuse = () => Promise.reject(new Error("refused"));
if (navigator.clipboard) navigator.clipboard.writeText = refuse;
document.execCommand = () => false;"""
ADDRESS = "https://example.org/lab/"
PAGE = "first-benchmark"
CURVE = "accuracy"
TABLE = "accuracies"
NASTY = (
    r"50% & $x_1$ #3 ~a ^b {c} \input{d}",
    "a--b ''c'' <d> |e| \"f\" `g`,,",
    "[0.1]",
    "* 模型",
    "=1+1",
    "plain\u202e\u200b",
)
COMMANDS = (
    r"50\% \& \$x\_1\$ \#3 \textasciitilde{}a \textasciicircum{}b \textbraceleft{}c\textbraceright{}"
    r" \textbackslash{}input\textbraceleft{}d\textbraceright{}"
)
JOINED = (
    r"a-{}-b '{}'c'{}' \textless{}d\textgreater{} \textbar{}e\textbar{} ''f''"
    r" \textasciigrave{}g\textasciigrave{},{},"
)
NASTY_LATEX = (COMMANDS, JOINED, "{}[0.1]", "{}* 模型", "=1+1", "plain")


def write_cited_report(folder: Path) -> Path:
    """Write the small report, cited and with an address of its own; returns its site."""
    write_small_report(folder)
    settings = folder / "mkdocs.yml"
    citation = "      citation: {title: Small & new, authors: [{name: Ada Lovelace}]}"
    text = settings.read_text("utf-8").replace("  - reportgen\n", f"  - reportgen:\n{citation}\n")
    settings.write_text(text.replace('!ENV [SITE_URL, ""]', ADDRESS), "utf-8")
    site = build(folder, environment={"SOURCE_DATE_EPOCH": "1790000000"})
    one_files = write_one_file(site, links="embedded"), write_one_file(site, links="relative")
    for name, html in zip(("embedded", "relative"), one_files, strict=True):
        (site / f"{name}.html").write_text(html, "utf-8", newline="\n")
    write_assets(site / "pages")
    write_page(site / "pages", "heat", heat_stack(NAMES))
    write_page(site / "pages", "pairs", pairs_stack(HOSTILE))
    write_page(site / "pages", "tables", results(), nasty_table())
    return site


def nasty_table() -> ResultTable:
    """Words that LaTeX or a spreadsheet would take for something else, and cells of several lines."""
    rows = tuple(
        (Cell(name), Cell(f"−{n}.5 ± 0.1", -n - 0.5), Cell(f"{n}\n[−0.1, 2.0]", n), Cell("x 10⁻⁴"))
        for n, name in enumerate(NASTY)
    )
    return ResultTable("nasty", "50% of {it}", ("a_b", "score", "against B", "n"), rows, "", "")


@pytest.fixture(scope="module")
def site(sites: Sites) -> Site:
    """The cited report, the same in one file, and pages of marks and of nasty words."""
    return sites.make("cited", write_cited_report)


def open_menu(part: Locator) -> None:
    """Open the menu of a figure or table."""
    part.get_by_role("button", name="Cite or copy this").click()
    expect(part.get_by_role("button", name="Copy LaTeX table")).to_be_visible()


def copy(part: Locator, words: str) -> str:
    """Choose something from the menu of a figure or table, and return what was copied."""
    part.page.evaluate("window.copied = new Promise((take) => { window.take = take; }), 0")
    open_menu(part)
    part.get_by_role("button", name=f"Copy {words}", exact=True).click()
    return str(part.page.evaluate("window.copied"))


def offers(part: Locator) -> list[str]:
    """What the menu of a figure or table has."""
    open_menu(part)
    return part.locator(".rg-menu:visible button").all_inner_texts()


def read_csv(text: str) -> list[list[str]]:
    """The rows of a CSV text."""
    return list(csv.reader(io.StringIO(text)))


def shown_rows(tab: Page, part: str) -> list[list[str]]:
    """The words of a table on the page."""
    read = "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    rows: list[list[str]] = tab.locator(f"#{part} table tr").evaluate_all(read)
    return rows


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_a_figure_is_cited_with_its_address(tabs: Tabs, *, from_server: bool) -> None:
    """The report's entry with its own key, the figure's title, and the published address of its state."""
    tab = tabs.open(f"{PAGE}/index", served=from_server, script=SAVED)
    figure = wake(tab, CURVE)
    figure.locator(".rg-legend").get_by_role("button", name="new method").click()
    entry = copy(figure, "BibTeX")
    expect(said(figure)).to_have_text("BibTeX copied")
    assert entry == (
        f"@misc{{lovelace2026small-{CURVE},\n"
        "  author = {Lovelace, Ada},\n"
        "  title = {{Small \\& new}},\n"
        "  year = {2026},\n"
        "  note = {Figure ``Accuracy during training''},\n"
        f"  url = {{{ADDRESS}{PAGE}/#{CURVE}~series=new%20method}},\n"
        "}\n"
    )
    assert copy(figure, "link to this figure") == f"{tab.url}#{CURVE}~series=new%20method"
    table = tab.locator(f"#{TABLE}")
    entry = copy(table, "BibTeX")
    assert "note = {Table ``Final, best and average accuracy''}" in entry
    assert f"url = {{{ADDRESS}{PAGE}/#{TABLE}}}" in entry
    expect(table.get_by_role("status")).to_have_text("BibTeX copied")


def test_a_version_is_cited_where_it_stands(pool: Pool, site: Site) -> None:
    """On the site that the report names, the address is that of the page at hand, as below /v/1.0/."""

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix(f"{ADDRESS}v/1.0/")
        file = site.folder / (path.partition("#")[0] or "index.html")
        route.fulfill(path=file / "index.html" if file.is_dir() else file)

    with opened(pool, site) as tabs:
        tab = tabs.open("pages/tables", script=SAVED, fresh=True)
        tab.route(f"{ADDRESS}v/1.0/**", answer)
        tab.route(f"{ADDRESS}versions.js", lambda route: route.fulfill(body=""))
        tab.goto(f"{ADDRESS}v/1.0/{PAGE}/")
        assert f"url = {{{ADDRESS}v/1.0/{PAGE}/#{TABLE}}}" in copy(tab.locator(f"#{TABLE}"), "BibTeX")


def test_without_an_address_the_note_says_it_all(tabs: Tabs) -> None:
    """The report in one file knows no published address."""
    entry = copy(tabs.open("relative", script=SAVED).locator(f"#{PAGE}--{TABLE}"), "BibTeX")
    assert "note = {Table ``Final, best and average accuracy''}" in entry
    assert PAGE not in re.sub(r"@misc\{.*", "", entry)


def test_a_server_gives_the_files_themselves(tabs: Tabs) -> None:
    """CSV and SVG are those that can be downloaded, to the byte."""
    tab = tabs.open(f"{PAGE}/index", served=True, script=SAVED)
    figure, folder = wake(tab, CURVE), tabs.site.folder / "figures" / PAGE
    assert copy(figure, "CSV") == (folder / f"{CURVE}.csv").read_text("utf-8")
    assert copy(figure, "SVG") == (folder / f"{CURVE}.svg").read_text("utf-8")
    expect(said(figure)).to_have_text("SVG copied")
    assert copy(tab.locator(f"#{TABLE}"), "CSV") == (folder / f"{TABLE}.csv").read_text("utf-8")


def test_a_disk_gives_what_is_shown(tabs: Tabs) -> None:
    """A browser does not let a page of the disk read files: table and live view are copied, which is said."""
    tab = tabs.open(f"{PAGE}/index", script=SAVED)
    figure = wake(tab, CURVE)
    rows = [[cell.replace("−", "-") for cell in row] for row in shown_rows(tab, CURVE)]
    assert read_csv(copy(figure, "CSV")) == rows
    expect(said(figure)).to_have_text("CSV of the table as shown copied")
    picture = copy(figure, "SVG")
    assert picture.startswith("<svg")
    assert "Accuracy during training" in picture
    expect(said(figure)).to_have_text("SVG of the figure as shown copied")


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_one_file_gives_the_files_that_it_holds(tabs: Tabs, *, from_server: bool) -> None:
    """Embedded files are read where they stand; no request is made that the policy would refuse."""
    tab = tabs.open("embedded", served=from_server, script=SAVED)
    figure, folder = wake(tab, f"{PAGE}--{CURVE}"), tabs.site.folder / "figures" / PAGE
    assert copy(figure, "CSV") == (folder / f"{CURVE}.csv").read_text("utf-8")
    assert copy(figure, "SVG") == (folder / f"{CURVE}.svg").read_text("utf-8")
    assert f"\\label{{tab:{PAGE}--{CURVE}}}" in copy(figure, "LaTeX table")
    tabs.go(tab, "relative")
    figure = wake(tab, f"{PAGE}--{CURVE}")
    assert read_csv(copy(figure, "CSV"))[0] == shown_rows(tab, f"{PAGE}--{CURVE}")[0]


def test_tables_have_the_numbers_as_shown(tabs: Tabs) -> None:
    """Rules of booktabs, names left, numbers right, in the order that the reader chose."""
    tab = tabs.open("pages/tables", script=SAVED)
    table = tab.locator("#results")
    everything = ["Copy link to this table", "Copy CSV", "Copy LaTeX table", "Copy Markdown table"]
    assert offers(table) == everything  # a report without authors offers no BibTeX
    tab.keyboard.press("Escape")
    lines = copy(table, "Markdown table").splitlines()
    assert lines[:2] == ["| series | final | mean |", "| --- | ---: | ---: |"]
    tab.get_by_role("button", name="final").click()
    assert copy(table, "LaTeX table") == (
        "% Needs \\usepackage{booktabs}.\n"
        "\\begin{table}\n"
        "  \\centering\n"
        "  \\caption{Results}\n"
        "  \\label{tab:results}\n"
        "  \\begin{tabular}{lrr}\n"
        "  \\toprule\n"
        "  series & final & mean \\\\\n"
        "  \\midrule\n"
        "  MEL & 0.84 $\\pm$ 0.01 &  \\\\\n"
        "  GRPO & 0.82 $\\pm$ 0.01 & 0.30 \\\\\n"
        "  PPO & 0.79 $\\pm$ 0.01 & 0.20 \\\\\n"
        "  \\bottomrule\n"
        "  \\end{tabular}\n"
        "\\end{table}\n"
    )


def test_nothing_in_a_name_is_mark_up_or_a_formula(tabs: Tabs) -> None:
    """Rows and columns of Markdown as on the page; in CSV a name is not run, and numbers are numbers."""
    tab = tabs.open("pages/tables", script=SAVED)
    text = copy(tab.locator("#nasty"), "Markdown table")
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines()]
    assert {len(row) for row in rows} == {4}
    assert rows[0][0].strip() == r"a\_b"
    # Lines of a cell are words of their own.
    assert [row[2].strip() for row in rows[2:]] == [rf"{n} \[−0.1, 2.0\]" for n in range(len(rows) - 2)]
    names = [re.sub(r"\\(?=[\\|`*_\[\]<>])", "", row[0].strip()) for row in rows[2:]]
    shown = [" ".join(cells[0].split()) for cells in shown_rows(tab, "nasty")[1:]]
    assert len(names) == len(shown)
    assert sum(name == cell for name, cell in zip(names, shown, strict=True)) >= len(names) - 1
    rows = read_csv(copy(tab.locator("#nasty"), "CSV"))
    assert [row[0] for row in rows[1:]] == [*NASTY[:4], "'=1+1", NASTY[5]]
    assert rows[1][2] == "0\n[−0.1, 2.0]"


def test_latex_shows_every_character_for_itself(tabs: Tabs) -> None:
    """Nothing in a name is a command, and no character joins with the next one."""
    tab = tabs.open("pages/tables", script=SAVED)
    text = copy(tab.locator("#nasty"), "LaTeX table")
    assert text.startswith("% Needs \\usepackage{booktabs}, and XeLaTeX or LuaLaTeX with a font")
    assert "\\caption{50\\% of \\textbraceleft{}it\\textbraceright{}}" in text
    assert "\\begin{tabular}{lrrl}" in text
    assert "a\\_b & score & against B & n \\\\" in text
    for number, name in enumerate(NASTY_LATEX):
        lines = f"\\begin{{tabular}}[t]{{@{{}}r@{{}}}}{number}\\\\ {{}}[$-$0.1, 2.0]\\end{{tabular}}"
        assert f"  {name} & $-${number}.5 $\\pm$ 0.1 & {lines} & x 10$^{{-4}}$ \\\\\n" in text


@pytest.mark.parametrize("from_server", [False, True], ids=["file", "http"])
def test_figures_of_marks_can_be_cited(tabs: Tabs, *, from_server: bool) -> None:
    """They have no live view, so a page of the disk offers no SVG; the download is there."""
    tab = tabs.open("pages/heat", served=from_server, script=SAVED)
    figure = figure_of(tab, "problems-map")
    figure.hover()
    assert ("Copy SVG" in offers(figure)) is from_server
    tab.keyboard.press("Escape")
    assert copy(figure, "link to this figure").endswith("#problems-map")
    assert "\\label{tab:problems-map}" in copy(figure, "LaTeX table")
    assert bool(copy(figure, "CSV"))
    expect(said(figure)).to_have_text("CSV copied" if from_server else "CSV of the table as shown copied")


def test_what_is_refused_can_be_copied_by_hand(tabs: Tabs) -> None:
    """The text stands in a box, selected; Escape closes it and gives the focus back."""
    tab = tabs.open(f"{PAGE}/index", served=True, script=REFUSED)
    table = tab.locator(f"#{TABLE}")
    open_menu(table)
    table.get_by_role("button", name="Copy BibTeX").click()
    box = tab.get_by_role("dialog", name="BibTeX")
    expect(box).to_be_visible()
    selected = "document.activeElement.value.slice(document.activeElement.selectionStart)"
    assert str(tab.evaluate(selected)).startswith("@misc{lovelace2026small-")
    assert tabs.find_violations(tab) == []
    tab.keyboard.press("Escape")
    expect(box).to_have_count(0)
    expect(table.get_by_role("button", name="Cite or copy this table")).to_be_focused()
    expect(table.get_by_role("status")).to_have_text("")


def test_the_menu_works_by_keys(tabs: Tabs) -> None:
    """Enter opens it on its first entry; Escape closes it; a copy gives the focus back and is announced."""
    tab = tabs.open(f"{PAGE}/index", script=SAVED)
    for name, kind in ((CURVE, "figure"), (TABLE, "table")):
        part = tab.locator(f"#{name}")
        if kind == "figure":
            wake(tab, CURVE)
        button = part.get_by_role("button", name=f"Cite or copy this {kind}")
        button.focus()
        tab.keyboard.press("Enter")
        expect(part.get_by_role("button", name="Copy BibTeX")).to_be_focused()
        tab.keyboard.press("Escape")
        expect(button).to_be_focused()
        expect(button).to_have_attribute("aria-expanded", "false")
        tab.keyboard.press("Enter")
        tab.keyboard.press("Enter")
        expect(part.get_by_role("status")).to_have_text("BibTeX copied")
        expect(button).to_be_focused()


def test_open_menus_fit_and_axe_finds_nothing(tabs: Tabs) -> None:
    """They have names and contrast; what opens them is loaded when it is used, and once."""
    tab, faults = tabs.open(f"{PAGE}/index", served=True), []
    figure = wake(tab, CURVE)
    assert not [one for one in tabs.requests if one.endswith("live-cite.js")]
    for width in (1280, 390):
        resize(tab, width)
        for part in (figure, tab.locator(f"#{TABLE}")):
            open_menu(part)
            assert len([one for one in tabs.requests if one.endswith("live-cite.js")]) == 1
            faults += tabs.find_faults(tab, widths=(width,))
            box = box_of(part.locator(".rg-menu:visible"))
            if box["x"] < 0 or box["right"] > width:
                faults.append(f"the menu is outside at {width} px")
            tab.keyboard.press("Escape")
    assert faults == []


def test_without_javascript_files_and_bibtex_are_there(tabs: Tabs) -> None:
    """Links to the files, and the report's entry at the end of the page; no button that would do nothing."""
    tab = tabs.open(f"{PAGE}/index", javascript=False)
    tab.get_by_text("Data table").click()
    links = tab.locator(f"#{CURVE} .rg-files").get_by_role("link")
    assert links.all_inner_texts() == ["CSV", "SVG", "Vega-Lite"]
    tab.get_by_text("Cite this report").click()
    expect(tab.locator(".rg-citation pre")).to_contain_text("@misc{lovelace2026small,")
    expect(tab.get_by_role("button", name="Cite")).to_have_count(0)
