"""Small sites of reportgen and another plugin of MkDocs, the real one, in either order."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from made_archives import REPORT, commit, git
from made_notebooks import find_place, write_notebook
from made_projects import PAGE, write_report

from writers.test_validators import VALIDATORS
from writers.writing import OFFLINE, TESTS

WHO = {
    "AUTHOR_NAME": "A",
    "AUTHOR_EMAIL": "a@example.org",
    "COMMITTER_NAME": "A",
    "COMMITTER_EMAIL": "a@b.org",
}


def run_python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a report, with the packages of both environments."""
    packages = next((VALIDATORS.parent / "lib").glob("python*/site-packages"))
    # reportgen first: the other environment has older versions of what both need.
    places = (TESTS.parent, sysconfig.get_path("purelib"), packages)
    environment = {
        **os.environ,
        **OFFLINE,
        **{f"GIT_{name}": value for name, value in WHO.items()},
        "HOME": str(root.parent),
        # Where mkdocs-jupyter finds the templates that it derives its own from.
        "JUPYTER_PATH": str(VALIDATORS.parent / "share" / "jupyter"),
        # Material for MkDocs prints its plans otherwise.
        "NO_MKDOCS_2_WARNING": "1",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(map(str, places)),
    }
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


SETTINGS = "site_name: Small\ndocs_dir: content\ntheme: {theme}\nplugins:\n  - search\n"
OURS = "  - reportgen:\n      benchmarks: [{name: Generated, source: runs}]\n"


@pytest.fixture(params=["first", "last"])
def order(request: pytest.FixtureRequest) -> str:
    """Whether our plugin is listed before the other or behind it."""
    return str(request.param)


def write_site(
    root: Path, order: str, other: str, files: dict[str, str | bytes | None], theme: str = "reportgen"
) -> Path:
    """Write a report with another plugin."""
    plugins = [OURS, f"  - {other}\n"]
    listed = "".join(plugins if order == "first" else plugins[::-1])
    return write_report(root, {"mkdocs.yml": SETTINGS.format(theme=theme) + listed, **files})


def list_warnings(stderr: str) -> list[str]:
    """What MkDocs warns of."""
    return [line.partition("-")[2].strip() for line in stderr.splitlines() if line.startswith("WARNING")]


def build(root: Path, *words: str) -> dict[str, str]:
    """Build a site, which has to succeed without a warning, and return its pages."""
    done = run_python(root, "-m", "mkdocs", "build", *words)
    assert (done.returncode, list_warnings(done.stderr)) == (0, [])
    site = root / "site"
    return {
        path.relative_to(site).as_posix(): path.read_text("utf-8") for path in sorted(site.rglob("*.html"))
    }


def list_navigation(page: str) -> list[str]:
    """The groups and links of the sidebar, in order."""
    sidebar = page.partition('<nav class="rg-nav"')[2].partition("</nav>")[0]
    return re.findall(r"<(?:summary|a [^>]*)>\s*([^<]*?)\s*</(?:summary|a)>", sidebar)


@pytest.mark.parametrize(
    ("nav", "shown"),
    [
        ("[index.md, sub, {Renamed: b.md}, ...]", ["Small", "Sub", "Third", "Renamed", "First", "Generated"]),
        ("[index.md, generated.md, sub, a.md]", ["Small", "Generated", "Sub", "Third", "First"]),
    ],
)
def test_awesome_pages_orders_the_pages(order: str, nav: str, shown: list[str], tmp_path: Path) -> None:
    """The file .pages names, orders and leaves out, generated pages included; each page has its figures."""
    files: dict[str, str | bytes | None] = {
        "content/a.md": PAGE.replace("Small", "First"),
        "content/b.md": PAGE.replace("Small", "Second"),
        "content/sub/c.md": PAGE.replace("Small", "Third"),
        "content/.pages": f"nav: {nav}\n",
    }
    root = write_site(tmp_path, order, "awesome-pages", files)
    pages = build(root, "--strict")
    # Either order is right, so nothing warns of one.
    assert run_python(root, "-m", "reportgen", "build", "--strict", "--force").stderr == ""
    assert list_navigation(pages["index.html"]) == shown
    assert list_navigation(pages["sub/c/index.html"]) == shown
    named = ("a", "b", "sub/c", "generated")
    assert all(pages[f"{name}/index.html"].count('<figure class="rg-figure') >= 1 for name in named)


def test_git_revision_date_is_that_of_the_commit(order: str, tmp_path: Path) -> None:
    """Each page has the date of its last commit, and its figures; what a block shows stays as it is."""
    said = "\nRevised on {{ git_revision_date_localized }}.\n"
    other = "git-revision-date-localized:\n      type: iso_date\n      timezone: UTC"
    looped = f"---\nfor: {{name: [AIME, HMMT]}}\n---\n# {{{{ name }}}}\n{said}"
    root = write_site(
        tmp_path / "report", order, other, {"content/index.md": PAGE + said, "content/tests.md": looped}
    )
    git(commit(root), "status")
    pages = build(root)
    for name in ("index.html", "tests-aime/index.html", "tests-hmmt/index.html"):
        assert re.search(r"Revised on <span[^>]*>(?:<[^>]*>)*2026-11-20<", pages[name])
    assert pages["index.html"].count('<figure class="rg-figure') == 1
    assert '<figure class="rg-figure' in pages["generated/index.html"]


TEXT = 'Results end at [0.72]{value="final(GRPO)" of="runs"}.\n\nSee [home](index.md).\n'
FIGURE = "## Accuracy\n\n```curve\nsource: runs\ntitle: In a notebook\n```\n"
CODE = ("print('```curve')",)
PLAIN = "## Only words\n\n*As Jupyter has it*, $a_b + c_d$."


def write_cells(tmp_path: Path, order: str, *cells: str | tuple[str], theme: str = "reportgen") -> Path:
    """Write a site with a notebook, to which its front page links."""
    files: dict[str, str | bytes | None] = {
        "content/index.md": "# Home\n\nSee [the notebook](notes.ipynb).\n",
        "content/notes.ipynb": write_notebook(*cells),
    }
    return write_site(tmp_path, order, "mkdocs-jupyter", files, theme)


@pytest.mark.parametrize("theme", ["reportgen", "material"])
def test_cells_of_notebooks_have_figures_and_values(theme: str, order: str, tmp_path: Path) -> None:
    """Where they stand between code cells and their outputs, which stay as they are."""
    root = write_cells(tmp_path, order, "# Notes\n\n" + TEXT, CODE, FIGURE, PLAIN, theme=theme)
    done = run_python(root, "-m", "reportgen", "check")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("1 statement: 1 holds\n")
    pages = build(root, "--strict")
    page = pages["notes/index.html"]
    assert page.count('<figure class="rg-figure') == 1
    assert (root / "site/figures/notes/in-a-notebook.svg").is_file()
    bound = re.search(r'<a class="rg-bound rg-holds"[^>]*>0.72</a>', page)
    assert bound
    assert '{value="' not in page
    assert 'See <a href="../">home</a>' in page
    parts = ("rg-bound", "'```curve'", "of the code", "rg-figure", "<em>As Jupyter has it</em>, $a_b + c_d$.")
    assert sorted(parts, key=page.index) == list(parts)
    assert 'href="notes/"' in pages["index.html"]
    texts = "texts-*.js" if theme == "reportgen" else "search_index.json"
    index = "".join(path.read_text("utf-8") for path in (root / "site/search").glob(texts))
    assert "In a notebook. At the end (step 10)" in index
    # The policy of our theme allows no more than without notebooks.
    for line in re.findall(r'<meta http-equiv="Content-Security-Policy"[^>]*>', page):
        assert line in pages["index.html"]


def test_headings_of_notebooks_show_the_words_of_a_value(order: str, tmp_path: Path) -> None:
    """In the title of the page and its contents, and not in the anchors that these lead to."""
    bound = '[0.72]{value="final(GRPO)" of="runs"}'
    pages = build(write_cells(tmp_path, order, f"# Ends at {bound}\n\n## *Again* {bound}\n\n## More"))
    page = pages["notes/index.html"]
    assert "<title>Ends at 0.72 · Small</title>" in page
    assert re.findall(r'<h[12] id="([^"]*)">(?:Ends|<em>)', page) == ["ends-at", "again"]
    assert '<a href="#again">Again 0.72</a>' in page
    assert "final(GRPO)" not in page.partition('id="checked-statements"')[0]


def test_a_notebook_without_anything_of_ours_stays_as_it_was(order: str, tmp_path: Path) -> None:
    """Byte for byte what mkdocs-jupyter makes of its cells."""
    cells = ("# Notes\n\n" + PLAIN, CODE, "* a list\n* of [home](index.md)")
    ours = build(write_cells(tmp_path / "ours", order, *cells, theme="mkdocs"))["notes/index.html"]
    root = write_cells(tmp_path / "theirs", order, *cells, theme="mkdocs")
    settings = root / "mkdocs.yml"
    settings.write_text(settings.read_text("utf-8").replace(OURS, ""), "utf-8")
    start, end = '<div class="jupyter-wrapper">', "<!-- jupyter-wrapper -->"
    theirs = build(root)["notes/index.html"]
    assert ours.partition(start)[2].partition(end)[0] == theirs.partition(start)[2].partition(end)[0] != ""


def test_what_is_wrong_in_a_notebook_has_its_place(order: str, tmp_path: Path) -> None:
    """A value that is wrong is a warning, a misspelt block an error; fix never writes to a notebook."""
    wrong = TEXT.replace("0.72", "0.99")
    root = write_cells(tmp_path, order, "# Notes\n\n" + wrong, CODE, FIGURE)
    notebook = root / "content/notes.ipynb"
    text = notebook.read_text("utf-8")
    place = ":".join(map(str, ("content/notes.ipynb", *find_place(text, ["[0.99]"]))))
    done = run_python(root, "-m", "mkdocs", "build")
    assert done.returncode == 0
    said = f'{place}: "0.99" but final(GRPO) = 0.72 [0.47, 0.97] at step 10. In Jupyter, write "0.72".'
    assert list_warnings(done.stderr) == [said]
    fixed = run_python(root, "-m", "reportgen", "fix", "--write")
    assert (fixed.returncode, fixed.stdout) == (0, "")
    assert said.partition(": ")[2] in fixed.stderr
    assert notebook.read_text("utf-8") == text
    notebook.write_text(text.replace("```curve\\n", "```curv\\n"), "utf-8")
    line = find_place(text, ["of the code", "```curve\\n"])[0]
    checked = run_python(root, "-m", "reportgen", "check")
    assert checked.returncode == 1
    assert f'content/notes.ipynb:{line}: error: there is no block called "curv"' in checked.stdout
    failed = run_python(root, "-m", "mkdocs", "build")
    assert failed.returncode == 1
    assert f'content/notes.ipynb:{line}: there is no block called "curv"' in failed.stderr


def test_tags_may_remove_cells(tmp_path: Path) -> None:
    """Other cells are shown as ever; where one of ours is removed, a warning says that none is converted."""
    root = write_cells(tmp_path, "first", "# Notes\n\n" + TEXT, "Gone.", FIGURE)
    settings, notebook = root / "mkdocs.yml", root / "content/notes.ipynb"
    tags = "  - mkdocs-jupyter:\n      remove_tag_config: {remove_cell_tags: [gone]}\n"
    settings.write_text(settings.read_text("utf-8").replace("  - mkdocs-jupyter\n", tags), "utf-8")
    before = notebook.read_text("utf-8")

    def remove(name: str) -> None:
        start = before.index('"metadata": {}', before.index(name))
        tagged = before[start:].replace('"metadata": {}', '"metadata": {"tags": ["gone"]}', 1)
        notebook.write_text(before[:start] + tagged, "utf-8")

    remove("cell-2")
    page = build(root, "--strict")["notes/index.html"]
    assert "Gone." not in page
    assert page.count('<figure class="rg-figure') == page.count('<a class="rg-bound rg-holds"') == 1
    remove("cell-1")
    done = run_python(root, "-m", "mkdocs", "build")
    assert done.returncode == 0
    said = (
        "content/notes.ipynb: no block or bound value is shown in this notebook: its page leaves out Markdown"
    )
    assert any(line.startswith(said) for line in list_warnings(done.stderr))
    page = (root / "site/notes/index.html").read_text("utf-8")
    assert "Gone." in page
    assert '<figure class="rg-figure' not in page


def run_mike(root: Path, *words: str) -> None:
    """A command of mike, which has to succeed."""
    done = run_python(root, "-c", "from mike.driver import main; main()", *words)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("plugins", ["[mike, reportgen]", "[reportgen, mike]"])
def test_mike_keeps_versions_as_they_were_built(plugins: str, tmp_path: Path) -> None:
    """Each in a folder of its own, with figures; an older one stays as it is when a newer one comes."""
    settings = f"site_name: Small\ndocs_dir: content\ntheme: reportgen\nplugins: {plugins}\n"
    root = commit(write_report(tmp_path / "report", {**REPORT, "mkdocs.yml": settings}))
    run_mike(root, "deploy", "1.0")
    first = git(root, "rev-parse", "gh-pages:1.0")
    page = root / "content" / "index.md"
    page.write_text(page.read_text("utf-8") + "\nA newer sentence.\n", "utf-8")
    run_mike(root, "deploy", "2.0", "latest")
    run_mike(root, "set-default", "latest")
    assert git(root, "rev-parse", "gh-pages:1.0") == first
    assert "A newer sentence." in git(root, "show", "gh-pages:2.0/index.html")
    assert "A newer sentence." not in git(root, "show", "gh-pages:1.0/index.html")
    assert "<svg" in git(root, "show", "gh-pages:1.0/other/index.html")
    # "reportgen publish" writes versions.json in the same form.
    assert json.loads(git(root, "show", "gh-pages:versions.json")) == [
        {"version": "2.0", "title": "2.0", "aliases": ["latest"]},
        {"version": "1.0", "title": "1.0", "aliases": []},
    ]


RUNS = "series,step,loss\n" + "".join(f"{name},{n},{1 / (n + 1)}\n" for name in "AB" for n in range(5))
PAGE_OF_MACROS = """---
level: 0.2
---
# Team {{ team }}, {{ shout("macros") }}

{% if team %}Shown by macros.{% endif %}

```curve
id: loss
source: {{ source }}
metric: loss
```

[0.2]{value="final(A)" of="loss"} is {{ level }}.
"""
LOOP = """---
for: {name: [One, Two]}
---
# Page {{ name }} of {{ team }}, {{ shout("here") }}
"""
MACROS = "def define_env(env):\n    env.macro(lambda text: text.upper(), 'shout')\n"


@pytest.mark.parametrize("order", [("reportgen", "macros"), ("macros", "reportgen")], ids="-".join)
def test_both_replace_what_is_theirs(tmp_path: Path, order: tuple[str, str]) -> None:
    """Variables are in blocks and in prose, macros are called, and a page is made for each value."""
    options = {
        "reportgen": "reportgen: {variables: {source: runs}}",
        "macros": "macros: {on_undefined: strict}",
    }
    settings = "site_name: m\ndocs_dir: content\nextra: {team: Lab}\nplugins:\n"
    settings += "".join(f"  - {options[name]}\n" for name in order)
    files = {
        "mkdocs.yml": settings,
        "main.py": MACROS,
        "data/runs.csv": RUNS,
        "content/index.md": PAGE_OF_MACROS,
        "content/all.md": LOOP,
    }
    root = write_report(tmp_path / "report", files)
    done = run_python(root, "-m", "reportgen", "build", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    html = (root / "site" / "index.html").read_text("utf-8")
    assert "Team Lab, MACROS" in html
    assert "Shown by macros." in html
    assert 'id="loss"' in html
    assert re.search(r"</span> is 0\.2\.|is 0\.2\.", html)
    for name in ("One", "Two"):
        page = (root / "site" / f"all-{name.lower()}" / "index.html").read_text("utf-8")
        assert f"Page {name} of Lab, HERE" in page


def test_redirects_lead_from_an_old_address(order: str, tmp_path: Path) -> None:
    """The page at the old address leads to the new one, which has its figures."""
    other = "redirects:\n      redirect_maps: {old.md: new.md}"
    pages = build(write_site(tmp_path, order, other, {"content/new.md": PAGE}), "--strict")
    assert 'href="../new/"' in pages["old/index.html"]
    assert '<figure class="rg-figure' in pages["new/index.html"]


def test_papers_are_cited(order: str, tmp_path: Path) -> None:
    """``[@key]`` is a footnote with the paper of a ``.bib`` file, beside bound values and figures."""
    fields = "author = {Chen, Mark}, title = {Evaluating models}, journal = {Preprint}, year = {2021}"
    paper = f"@article{{chen2021, {fields}}}\n"
    cited = 'As in [@chen2021], MEL ends at [0.82]{value="final(MEL)" of="runs"}.\n\n\\bibliography\n'
    files: dict[str, str | bytes | None] = {"content/index.md": f"{PAGE}\n{cited}", "papers.bib": paper}
    root = write_site(tmp_path, order, "bibtex:\n      bib_file: papers.bib", files)
    settings = (root / "mkdocs.yml").read_text("utf-8") + "markdown_extensions: [footnotes]\n"
    (root / "mkdocs.yml").write_text(settings, encoding="utf-8")
    page = build(root, "--strict")["index.html"]
    assert "Evaluating models" in page.partition('class="footnote"')[2]
    assert ('<figure class="rg-figure' in page, "[@chen2021]" in page) == (True, False)


def test_properdocs_builds_the_same_bytes(tmp_path: Path) -> None:
    """The fork of MkDocs that plugins of MkDocs work in: each file of the site is as MkDocs writes it."""
    built = []
    for engine in ("mkdocs", "properdocs"):
        root = write_report(tmp_path / engine / "report")
        done = run_python(root, "-m", engine, "build", "--strict", "-f", "mkdocs.yml")
        assert (done.returncode, list_warnings(done.stderr)) == (0, [])
        files = (path for path in (root / "site").rglob("*") if path.is_file())
        built.append({path.relative_to(root).as_posix(): path.read_bytes() for path in files})
    assert "site/index.html" in built[0]
    assert built[0] == built[1]
