"""After any edits, a build gives the bytes, warnings and errors of a build with an empty cache."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from command_line import run
from jinja2 import Template
from made_projects import RUNS, files_below, write_file, write_report
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.structure.pages import Page
from tries import tries

from reportgen.core.cache import Cache, cache_folder
from reportgen.core.errors import ReportError
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from pathlib import Path

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

MENTIONS = (
    "See [the others](other.md).",
    "See [the plain ones](plain.md#more).",
    "See [nothing](gone.md).",
    "See [an extra page](extra.md) and [its figure](deep/one.md#accuracy-of-one).",
    "See [a file](/absolute.html) and [a word](unknown).",
    "A [link to an id](index.md#accuracy) and [one to none](index.md#no-such-place).",
    "![A picture](figures/other/accuracy.svg)",
    "!!! note\n\n    Of an extension.\n",
    'MEL ends at [0.82]{value="final(MEL)"}, [above GRPO]{claim="final(MEL) > final(GRPO)"}.',
    'It [rises]{claim="final(GRPO) > final(MEL)" fails="one seed is missing"}.',
    "Words & <em>marks</em> {: .class }",
)
OVERRIDE = (
    '{% extends "base.html" %}\n{% block footer %}<p>WORDS {% for one in pages %}'
    "{{ one.page.title }}, {{ one.page.content|length }} {% endfor %}</p>{% endblock %}\n"
)
HOOK = "def on_page_markdown(markdown, **_):\n    return markdown + '\\nWORDS\\n'\n"


@dataclass
class Edited:
    """A report being edited: its pages below ``content/``, and everything else."""

    random: random.Random
    bodies: dict[str, list[str]] = field(default_factory=dict)  # paragraphs below the title
    titles: dict[str, str] = field(default_factory=dict)
    front: dict[str, dict[str, str]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)  # data files
    others: dict[str, str] = field(default_factory=dict)  # templates and hooks
    settings: dict[str, Any] = field(default_factory=dict)
    commits: int = 0

    def choose_page(self) -> str:
        """One of the pages."""
        return self.random.choice(sorted(self.bodies))

    def write(self, root: Path) -> None:
        """Write the whole report anew."""
        for name in ("content", "data", "overrides"):
            shutil.rmtree(root / name, ignore_errors=True)
        write_file(root / "mkdocs.yml", json.dumps(self.settings))
        for path, paragraphs in self.bodies.items():
            front = "".join(f"{name}: {value}\n" for name, value in self.front.get(path, {}).items())
            head = f"---\n{front}---\n" if front else ""
            text = "\n\n".join([f"{head}# {self.titles[path]}", *paragraphs])
            write_file(root / "content" / path, f"{text}\n")
        for name, content in {**self.others, **self.values}.items():
            write_file(root / name, content)

    def toggle(self, given: dict[str, Any], choices: list[tuple[str, Any]]) -> None:
        """Put one of the settings in, or take it out."""
        name, value = self.random.choice(choices)
        if given.pop(name, None) is None:
            given[name] = value


def add_words(report: Edited) -> None:
    """Text of a page."""
    number = report.random.randrange(100)
    report.bodies[report.choose_page()].append(f"## More {number}\n\nText {number}.")


def add_mention(report: Edited) -> None:
    """Links, anchors, pictures, claims and values, right and wrong."""
    report.bodies[report.choose_page()].append(report.random.choice(MENTIONS))


def remove_words(report: Edited) -> None:
    """A paragraph, or a figure that others link to."""
    if paragraphs := report.bodies[report.choose_page()]:
        paragraphs.pop()


def change_title(report: Edited) -> None:
    """The title, which all navigation shows."""
    path = report.choose_page()
    report.titles[path] = f"Title {report.random.randrange(3)} of {path} *and* more"


def change_front_matter(report: Edited) -> None:
    """Title, description or date of a page."""
    front = report.front.setdefault(report.choose_page(), {})
    report.toggle(front, [("title", "Given"), ("description", "What it says"), ("date", "2026-11-20")])


def change_data(report: Edited) -> None:
    """Numbers of one source."""
    name = report.random.choice(sorted(report.values))
    report.values[name] = RUNS.replace("0.84", f"0.{report.random.randrange(60, 95)}")


def change_navigation(report: Edited) -> None:
    """Order, sections and titles."""
    pages: list[object] = [*sorted(report.bodies)]
    report.random.shuffle(pages)
    kind = report.random.randrange(3)
    if kind == 0:
        report.settings.pop("nav", None)
    elif kind == 1:
        report.settings["nav"] = pages
    else:
        report.settings["nav"] = [pages[0], {"Section": [{"Named": pages[1]}, *pages[2:]]}]


def change_settings(report: Edited) -> None:
    """Settings of MkDocs that pages show, or that change how they are converted."""
    choices: list[tuple[str, Any]] = [
        ("site_url", "https://example.org/"),
        ("copyright", "Ours"),
        ("repo_url", "https://example.org/repository"),
        ("edit_uri_template", "https://example.org/edit/{path}"),
        ("markdown_extensions", ["admonition", "attr_list"]),
        ("validation", {"links": {"anchors": "warn", "absolute_links": "warn"}}),
        ("extra_css", ["extra.css"]),
        ("use_directory_urls", False),
    ]
    report.toggle(report.settings, choices)


def change_plugins(report: Edited) -> None:
    """With and without a search, and its settings."""
    search: list[object] = [["search"], [], [{"search": {"indexing": "titles"}}]]
    report.settings["plugins"] = [*report.random.choice(search), "reportgen"]  # type: ignore[misc]


def change_theme(report: Edited) -> None:
    """Templates of the report, or another theme."""
    report.others = {"overrides/main.html": OVERRIDE.replace("WORDS", f"words {report.random.randrange(3)}")}
    themes = [{"name": "reportgen", "custom_dir": "overrides"}, {"name": "reportgen"}, {"name": "mkdocs"}]
    report.settings["theme"] = report.random.choice(themes)


def change_hooks(report: Edited) -> None:
    """A function of the author's that changes every page, of which nothing else is known."""
    if report.settings.pop("hooks", None) is None:
        report.others["hook.py"] = HOOK.replace("WORDS", f"Words {report.random.randrange(3)}")
        report.settings["hooks"] = ["hook.py"]


def reset_site(report: Edited) -> None:
    """Back to our theme, without what other programs add."""
    report.settings |= {"theme": {"name": "reportgen"}, "plugins": ["search", "reportgen"]}
    report.settings.pop("hooks", None)


def add_page(report: Edited) -> None:
    """A page, perhaps one that others already link to."""
    path = report.random.choice(["extra.md", "deep/one.md", "gone.md", "deep/two.md"])
    report.titles[path], report.bodies[path] = f"New {path}", ["Its text.", "## Accuracy of one"]


def remove_page(report: Edited) -> None:
    """Any page but the first; the navigation may still name it."""
    path = report.choose_page()
    if path != "index.md":
        del report.bodies[path]


def commit(report: Edited) -> None:
    """The commit in the footer."""
    report.commits += 1


EDITS = {
    **dict.fromkeys([add_words, add_mention, remove_words, change_front_matter, change_data, commit], 3),
    **dict.fromkeys([change_title, change_navigation, change_settings, add_page, remove_page], 2),
    **dict.fromkeys([change_plugins, change_theme, change_hooks], 1),
    reset_site: 6,
}
"""Each edit and how often it is made, relative to the others."""


def make_report(seed: int) -> Edited:
    """A report of four pages, two of them with figures and one with what was judged."""
    report = Edited(random.Random(seed))  # noqa: S311 - not for secrets
    figure = "```curve\nsource: {}\ntitle: Accuracy\n```"
    benchmark = {"benchmark": "{name: Small, source: runs, metric: accuracy}"}
    report.titles = {"index.md": "Small", "other.md": "Other", "plain.md": "Plain", "deep/three.md": "Three"}
    report.front = {"index.md": {}, "other.md": {}, "deep/three.md": benchmark}
    report.bodies = {
        "index.md": [figure.format("runs"), "```overview\n```"],
        "other.md": [figure.format("other")],
        "plain.md": ["## More", "Text."],
        "deep/three.md": [MENTIONS[-3], "```observations\n```"],
    }
    report.values = {"data/runs.csv": RUNS, "data/other.csv": RUNS.replace("0.20", "0.31")}
    report.settings = {
        "site_name": "Small",
        "docs_dir": "content",
        "theme": {"name": "reportgen"},
        "plugins": ["search", "reportgen"],
        "validation": {"links": {"anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}},
    }
    return report


def build(root: Path) -> tuple[dict[str, bytes], list[str]]:
    """The site, and the warnings or errors."""
    said: list[str] = []
    try:
        publish(
            root / "mkdocs.yml",
            strict=False,
            progress=lambda _done, _all: None,
            warn=lambda problem: said.append(str(problem)),
        )
    except ReportError as error:
        return {}, [str(problem) for problem in error.problems]
    return files_below(root / "site"), said


def commit_all(root: Path, number: int) -> None:
    """An empty commit with a date of its own."""
    if not (root / ".git").is_dir():
        subprocess.run(["git", "init", "--quiet", str(root)], check=True)  # noqa: S607
    date = f"{1_700_000_000 + number * 100_000} +0000"
    names = {f"GIT_{who}_{what}": "a@b.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    command = ["git", "-C", str(root), "commit", "--quiet", "--allow-empty", "-m", str(number)]
    subprocess.run(command, check=True, env={**os.environ, **names, **dates})


@pytest.mark.random
@pytest.mark.parametrize("seed", range(tries(1, 6)))
def test_after_any_edits_a_build_is_that_of_an_empty_cache(tmp_path: Path, seed: int) -> None:
    """Whatever was edited, in whatever order, and undone: same files, same warnings, same errors."""
    report, warm = make_report(seed), tmp_path / "warm"
    commits = 0
    for step in range(tries(9, 14)):
        report.write(warm)
        while commits < report.commits:
            commits += 1
            commit_all(warm, commits)
        cold = tmp_path / f"cold-{step}" / "warm"
        shutil.copytree(warm, cold, ignore=shutil.ignore_patterns("site"))
        (site, said), (expected, expected_said) = build(warm), build(cold)
        assert said == expected_said, step
        differing = {name for name in site | expected if site.get(name) != expected.get(name)}
        assert differing == set(), step
        shutil.rmtree(cold)
        for edit in report.random.choices([*EDITS], [*EDITS.values()], k=report.random.choice([1, 2])):
            edit(report)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A report of four pages that was built."""
    make_report(0).write(tmp_path)
    build(tmp_path)
    return tmp_path


def count_work(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """Record the pages that MkDocs converts, and the templates that it renders."""
    done: dict[str, list[str]] = {"converted": [], "rendered": []}
    convert, render = Page.render, Template.render

    def record_conversion(page: Page, config: MkDocsConfig, files: Files) -> None:
        done["converted"].append(page.file.src_uri)
        convert(page, config, files)

    def record_rendering(template: Template, *given: object, **named: object) -> str:
        if template.name == "main.html":
            done["rendered"].append(str(given[0]["page"].file.src_uri))  # type: ignore[index]
        return render(template, *given, **named)

    monkeypatch.setattr(Page, "render", record_conversion)
    monkeypatch.setattr(Template, "render", record_rendering)
    return done


def add_text(root: Path, page: str, text: str = "More words.") -> None:
    """Write a paragraph below a page."""
    path = root / "content" / page
    write_file(path, f"{path.read_text()}\n{text}\n")


def test_only_changed_pages_are_converted_and_rendered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their words cost themselves; a title is in the navigation of all, and a commit in every footer."""
    done, page = count_work(monkeypatch), root / "content" / "plain.md"

    def rebuild() -> tuple[list[str], int]:
        done.update({"converted": [], "rendered": []})
        build(root)
        return done["converted"], len(done["rendered"])

    add_text(root, "plain.md")
    assert rebuild() == (["plain.md"], 1)
    assert done["rendered"] == ["plain.md"]
    write_file(page, page.read_text().replace("# Plain", "# Simple"))
    assert rebuild() == (["plain.md"], 4)
    commit_all(root, 1)
    assert rebuild() == ([], 4)


def test_a_link_finds_a_page_that_is_added(root: Path) -> None:
    """Though the page with the link did not change: neither its warning nor its address stays."""
    add_text(root, "plain.md", "[The new one](new.md).")
    assert any("new.md" in word for word in build(root)[1])
    write_file(root / "content" / "new.md", "# New\n")
    site, said = build(root)
    assert said == []
    assert b'href="../new/">The new one' in site["plain/index.html"]


def test_what_nobody_knows_everything_of_is_always_made(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A function of the author's may depend on anything, so its site is always converted and rendered."""
    write_file(root / "hook.py", "import os\n" + HOOK.replace("'\\nWORDS\\n'", "os.environ['TOLD']"))
    settings = json.loads((root / "mkdocs.yml").read_text())
    write_file(root / "mkdocs.yml", json.dumps(settings | {"hooks": ["hook.py"]}))
    for words in ("first words", "other words"):
        monkeypatch.setenv("TOLD", words)
        site, _ = build(root)
        assert words.encode() in site["plain/index.html"]


@pytest.mark.parametrize("harm", ["longer", "same length", "older", "gone"])
def test_a_page_that_was_changed_in_the_cache_is_made_again(root: Path, harm: str) -> None:
    """A file of the site is one of the cache, too: whoever writes into it changes no later site."""
    page = root / "site" / "plain" / "index.html"
    content, (other,) = page.read_bytes(), [p for p in cache_folder(root).rglob("*.html") if p.samefile(page)]
    if harm == "gone":
        other.unlink()
    elif harm == "older":
        os.utime(page, (1000, 1000))
    else:
        page.write_bytes(b"x" * len(content) if harm == "same length" else content + b"mine")
    if harm != "gone":  # the build would stop, and say so
        shutil.rmtree(root / "site")
    add_text(root, "other.md")
    site, _ = build(root)
    assert site["plain/index.html"] == content
    assert b"More words." in site["other/index.html"]


@pytest.mark.random
@pytest.mark.parametrize("seed", range(tries(1, 8)))
def test_a_damaged_cache_gives_the_same_site(root: Path, seed: int) -> None:
    """Whichever entries and texts are lost or cut off: figures are drawn again where they are needed."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    for path in sorted(cache_folder(root).glob("??/*")):
        harm = chance.choice(["none", "none", "lost", "cut off"])
        content = path.read_bytes()
        if harm != "none":
            path.unlink()
        if harm == "cut off":
            path.write_bytes(content[: len(content) // 2])
    add_text(root, chance.choice(["index.md", "other.md", "plain.md"]))
    cold = root / "cold" / root.name
    shutil.copytree(root, cold, ignore=shutil.ignore_patterns("site", "cold"))
    assert build(root) == build(cold)


def test_figures_of_unchanged_pages_are_not_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A report has thousands; what its site has of them is known."""
    read: list[str] = []
    load = Cache.load

    def record_reading(cache: Cache, key: str, kind: type[object]) -> object:
        if "Observed" in str(kind):  # with what is said below the figure
            read.append(key)
        return load(cache, key, kind)

    monkeypatch.setattr(Cache, "load", record_reading)
    for page, count in (("plain.md", 0), ("other.md", 1)):
        add_text(root, page)
        before = len(read)
        build(root)
        assert len(read) - before == count


def test_the_cache_has_one_copy_of_each_page(root: Path) -> None:
    """Though every commit changes all pages."""
    for number in range(3):
        commit_all(root, number)
        build(root)
    assert len([*cache_folder(root).rglob("*.html")]) == 4


def test_pages_are_reused_while_they_are_served(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As whoever edits a page and looks at it wants; only what is served is without our policy."""
    before = serve_once(root)
    assert b"Content-Security-Policy" not in before["plain/index.html"]
    done = count_work(monkeypatch)
    page = root / "content" / "plain.md"
    text = page.read_text()
    add_text(root, "plain.md")
    assert b"More words." in serve_once(root)["plain/index.html"]
    assert done == {"converted": ["plain.md"], "rendered": ["plain.md"]}
    write_file(page, text)
    assert serve_once(root) == before


def serve_once(root: Path) -> dict[str, bytes]:
    """The files that a server would serve."""
    served = root / "served"
    shutil.rmtree(served, ignore_errors=True)
    config = load_config(str(root / "mkdocs.yml"), site_dir=str(served))
    config.plugins.on_startup(command="serve", dirty=False)
    mkdocs_build(config, serve_url="http://127.0.0.1:8000/")
    return files_below(served)


@pytest.mark.slow
def test_compiled_templates_are_where_python_keeps_its_own(tmp_path: Path) -> None:
    """None is in the cache, since nothing from there is run; a damaged one is compiled again."""
    report = write_report(tmp_path / "report")
    compiled, page = tmp_path / "compiled", report / "content" / "index.md"
    where = {"PYTHONPYCACHEPREFIX": str(compiled), "PYTHONDONTWRITEBYTECODE": ""}
    assert run(report, "build", **where).returncode == 0
    first, text = files_below(report / "site"), page.read_text()
    templates = [*compiled.rglob("*.opt-jinja*.pyc")]
    assert {"base", "main", "figure"} <= {path.name.partition(".")[0] for path in templates}
    for number, path in enumerate(templates):
        path.write_bytes(path.read_bytes()[:-20] if number % 2 else b"no code")
    for words in (f"{text}\nMore words.\n", text):
        write_file(page, words)
        done = run(report, "build", **where)
        assert done.returncode == 0, done.stderr
    assert files_below(report / "site") == first
