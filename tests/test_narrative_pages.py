"""Markdown files to pages: titles, blocks, ids, places, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from reportgen.core.cache import Cache
from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.narrative.headings import find_headings, make_slug
from reportgen.narrative.pages import read_page, read_pages
from reportgen.settings.blocks import CurveSettings
from reportgen.settings.report import Project, ProjectSettings

CONTENT = Path(__file__).parent.parent / "content"
PAGE = """---
title: AIME
description: v10 leads.
hide: [toc]
benchmark: {name: AIME, source: aime, metric: pass@1}
---

# AIME Pass@1

Words.

```curve
title: Widest gap
```

- a list

    ```table
    columns: [final]
    ```

`````markdown
```curve
shown: in the guide
```
`````
"""


def problems(text: str, path: str = "a.md") -> list[str]:
    """What is wrong with a page."""
    with pytest.raises(ReportError) as caught:
        read_page(path, text, f"content/{path}")
    return [str(problem) for problem in caught.value.problems]


def ids(text: str) -> list[str]:
    """The ids of a page's blocks."""
    return [block.id for block in read_page("a.md", text, "content/a.md").blocks]


def curve(*lines: str) -> str:
    """A curve block."""
    return "\n".join(["```curve", *lines, "```", ""])


@pytest.mark.parametrize(
    "text",
    [PAGE, "\ufeff" + PAGE, PAGE.replace("\n", "\r\n"), PAGE.replace("\n", "\r")],
    ids=["lf", "mark", "crlf", "cr"],
)
def test_a_page_is_read(text: str) -> None:
    """Front matter, title, blocks with their lines; a byte order mark and line ends change nothing."""
    page = read_page("aime.md", text, "content/aime.md")
    assert (page.path, page.file, page.title, page.generated) == ("aime.md", "content/aime.md", "AIME", False)
    assert page.front_matter.description == "v10 leads."
    assert page.front_matter.benchmark is not None
    assert [(b.kind, b.id, b.location, b.body) for b in page.blocks] == [
        ("curve", "widest-gap", SourceLocation("content/aime.md", 12), "title: Widest gap"),
        ("table", "table", SourceLocation("content/aime.md", 18), "columns: [final]"),
    ]
    assert page.text == PAGE


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\ntitle: 2024\n---\n# Other", "a.md", "2024"),
        (
            "Words first.\n\n# Title *with* `markup` & [link](a.md) {#own .x}\n",
            "a.md",
            "Title with markup & link",
        ),
        ("Title\n=====\n", "a.md", "Title"),
        ("```python\n# a comment\n```\n\n# Real #\n", "a.md", "Real"),
        ("<!--\n# Draft\n-->\n# Real\n", "a.md", "Real"),
        ("# snake_case and \\*stars\\*", "a.md", "snake_case and *stars*"),
        ("## Only a section", "first-benchmark.md", "First benchmark"),
        ("", "guide/index.md", "Guide"),
        ("", "index.md", "Home"),
        ("", "MATH500_results.md", "MATH500 results"),
        ("# \n", "a.md", "A"),
    ],
)
def test_the_title(text: str, path: str, title: str) -> None:
    """The front matter's title, otherwise the first heading of level 1, otherwise the file name."""
    assert read_page(path, text, f"content/{path}").title == title


@pytest.mark.parametrize(
    "text",
    [
        "---\n\nWords between rules.\n\n---\n",
        "---\n---\n# A",
        "--- \n- a\n---\n",
    ],
)
def test_what_mkdocs_takes_for_no_front_matter(text: str) -> None:
    """Rules, and what stands between them, are part of the page."""
    assert read_page("a.md", text, "content/a.md").front_matter.title is None


def test_ids_come_from_what_a_block_is_called() -> None:
    """Title, then metric, then function, then the block's kind; each is used once."""
    text = (
        curve("title: Pass@1 on AIME")
        + curve("metric: val/acc")
        + curve("metric: val/acc")
        + curve()
        + curve()
        + "```altair\ncharts.py:best_step\n```\n"
        + "```panels\nmetrics: [a]\n```\n"
        + curve("title: 2024")
        + curve("title: 成績", "metric: loss")
        + curve("id: Own_id", "title: Other")
    )
    assert ids(text) == [
        "pass-1-on-aime",
        "val-acc",
        "val-acc-2",
        "curve",
        "curve-2",
        "best-step",
        "panels",
        "curve-2024",
        "loss",
        "Own_id",
    ]


def test_a_given_id_comes_first() -> None:
    """An id that the author gave is never taken by a block above it, whatever its case."""
    assert ids(curve("title: Loss") + curve("id: LOSS")) == ["loss-2", "LOSS"]


def test_ids_leave_headings_and_the_theme_alone() -> None:
    """A link to a heading of the same words still finds the heading."""
    assert ids("## Pass 1\n\n" + curve("title: Pass 1")) == ["pass-1-2"]
    assert ids("## Gap {#gap}\n\n" + curve("title: gap") + curve("title: Navigation")) == [
        "gap-2",
        "navigation-2",
    ]


def test_ids_leave_those_of_parts_alone() -> None:
    """Panels and the tables of a block are named after it, and would otherwise overwrite files of others."""
    facets = curve("metric: loss", "facet: series")
    assert ids(facets + curve("metric: loss") + facets) == ["loss", "loss-no-2", "loss-no-3"]
    assert ids(curve("id: loss-7") + facets) == ["loss-7", "loss-2"]
    panels = "```panels\nmetrics: [a]\n```\n"
    assert ids(panels + panels) == ["panels", "panels-no-2"]
    scores = "```scores\ntitle: Contest\n```\n"
    assert ids(scores + curve("title: Contest table")) == ["contest", "contest-table-2"]


def test_an_id_given_twice_names_both_lines() -> None:
    """The second place is told, with the line of the first."""
    text = curve("id: a") + curve("id: A")
    assert problems(text) == [
        'content/a.md:4: "id: A" is used twice; the first is in line 1. Change one of them.'
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "## Gap\n\n" + curve("id: gap"),
            '"id: gap" is also the id of the heading in line 1. Choose another, such as',
        ),
        (curve("id: toc-title"), '"id: toc-title" belongs to the page itself'),
        (
            curve("id: loss", "facet: series") + curve("id: Loss-2"),
            'content/a.md:5: "id: Loss-2" may also be the id of a part of another figure',
        ),
    ],
)
def test_an_id_that_is_taken_is_refused(text: str, expected: str) -> None:
    """Two things of one id would share their links."""
    assert expected in problems(text)[0]


def test_all_problems_of_a_page_are_told() -> None:
    """Front matter and every block, each with its line in the file."""
    text = (
        "---\ntitle: a\nbenchmark: {name: b}\n---\n\n"
        + curve("smoth: 1")
        + curve("band: cii")
        + "> ```table\n> zzz: 1\n> ```"
    )
    assert [line.split(" ")[0] for line in problems(text)] == [
        "content/a.md:3:1:",
        "content/a.md:7:1:",
        "content/a.md:10:1:",
        "content/a.md:13:3:",
    ]


def test_problems_of_yaml_in_front_matter_have_their_line() -> None:
    """Front matter that cannot be read is a problem, not a page without settings."""
    assert problems("---\ntitle: a: b\n---\n")[0].startswith(
        'content/a.md:2:9: a ": " stands where none is expected'
    )


def test_pages_are_read_from_their_folder(tmp_path: Path) -> None:
    """Pages keep the order given; all their problems come together."""
    (tmp_path / "content" / "guide").mkdir(parents=True)
    (tmp_path / "content" / "index.md").write_text("# Home\n", encoding="utf-8")
    (tmp_path / "content" / "guide" / "a.md").write_bytes("\ufeff# Über\r\n\r\n```curve\r\n```\r\n".encode())
    problems = Diagnostics()
    pages = read_pages(Project(tmp_path, "content", ("guide/a.md", "index.md"), ProjectSettings()), problems)
    assert not problems.found
    assert [(page.path, page.file, page.title) for page in pages] == [
        ("guide/a.md", "content/guide/a.md", "Über"),
        ("index.md", "content/index.md", "Home"),
    ]


def test_pages_of_an_earlier_build_are_those_of_their_text(tmp_path: Path) -> None:
    """Every page of the guide, with blocks of all kinds, bindings and references, is as it was read."""
    paths = tuple(sorted(path.relative_to(CONTENT).as_posix() for path in CONTENT.rglob("*.md")))
    project = Project(CONTENT.parent, CONTENT.name, paths, ProjectSettings())
    first, again = Cache(tmp_path), Cache(tmp_path)
    parsed = read_pages(project, Diagnostics(), first)
    restored = read_pages(project, Diagnostics(), again)
    assert (first.hits, again.misses) == (0, 0)
    assert again.hits >= len(paths)
    assert restored == parsed == read_pages(project, Diagnostics())
    assert repr(restored) == repr(parsed)


def test_pages_with_a_problem_are_read_again(tmp_path: Path) -> None:
    """The next build says the same."""
    (tmp_path / "a.md").write_text(curve("metirc: loss"), encoding="utf-8")
    project, found = Project(tmp_path, "", ("a.md",), ProjectSettings()), [Diagnostics(), Diagnostics()]
    for problems_of_build in found:
        read_pages(project, problems_of_build, Cache(tmp_path / "cache"))
    assert found[0].found == found[1].found != []


def test_problems_of_all_pages_come_together(tmp_path: Path) -> None:
    """A page that is no UTF-8, one that is missing and one with a mistake are told in one round."""
    (tmp_path / "a.md").write_bytes(b"# Title\n\ngr\xfc\xdfe\n")
    (tmp_path / "b.md").write_text(curve("smoth: 1"))
    problems = Diagnostics()
    pages = read_pages(Project(tmp_path, ".", ("a.md", "b.md", "c.md"), ProjectSettings()), problems)
    assert [(page.path, page.blocks) for page in pages] == [("b.md", ())]
    said = [str(problem) for problem in problems.found]
    assert said[0].startswith("a.md:3: this is not UTF-8: byte 0xfc is where a character should be")
    assert said[1].startswith('b.md:2:1: "smoth" is not a key of a curve block')
    assert said[2].startswith("c.md: this file cannot be read (No such file or directory)")


def test_words_of_other_tools_suggest_the_key_of_the_block(tmp_path: Path) -> None:
    """From SQL, pandas and plotting libraries; what the block has no key for is not suggested."""
    meant = {"where": "filter", "filters": "filter", "query": "filter", "select": "filter", "groupby": "by"}
    meant |= {"y": "metric", "xlabel": "x_title", "hue": "colour", "Model": "series", "sort_by": "order"}
    panels = {"where": "filter", "y": "metrics"}
    text = curve("\n".join(f"{word}: 1" for word in meant))
    text += "\n" + curve("\n".join(f"{word}: 1" for word in panels)).replace("curve", "panels")
    (tmp_path / "a.md").write_text(text)
    problems = Diagnostics()
    read_pages(Project(tmp_path, ".", ("a.md",), ProjectSettings()), problems)
    said = [problem.text.partition(" The keys are")[0] for problem in problems.found]
    for kind, words in (("curve", meant), ("panels", panels)):
        for word, key in words.items():
            assert f'"{word}" is not a key of a {kind} block. Did you mean "{key}"?' in said


def test_a_mistake_hides_nothing_but_itself(tmp_path: Path) -> None:
    """The blocks beside a faulty one are read, so that their own problems are found in the same round."""
    (tmp_path / "a.md").write_text(curve("smoth: 1") + "\n" + curve("source: runs"))
    problems = Diagnostics()
    (page,) = read_pages(Project(tmp_path, ".", ("a.md",), ProjectSettings()), problems)
    assert [block.settings for block in page.blocks] == [CurveSettings(source="runs")]
    assert len(problems.found) == 1


def test_blocks_of_a_page_with_faulty_front_matter_are_left_out(tmp_path: Path) -> None:
    """They may lean on its benchmark, and would be told to name a source although they need none."""
    (tmp_path / "a.md").write_text("---\nbenchmark: {nam: AIME}\n---\n\n" + curve("smooth: 0.5"))
    problems = Diagnostics()
    (page,) = read_pages(Project(tmp_path, ".", ("a.md",), ProjectSettings()), problems)
    assert page.blocks == ()
    assert all(problem.location.line == 2 for problem in problems.found)


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Pass@1 on AIME", "pass-1-on-aime"),
        ("Größe & Höhe", "groe-hohe"),
        ("  --x--  ", "x"),
        ("成績", ""),
        ("</script>", "script"),
        ("a" * 500, "a" * 60),
        ("word " * 50, "-".join(["word"] * 12)),
    ],
)
def test_slugs_are_safe_and_short(words: str, name: str) -> None:
    """An id is also a file name: ASCII, no more than 60 characters, cut between words."""
    assert make_slug(words) == name


def test_heading_ids_are_those_of_the_table_of_contents() -> None:
    """The ids of headings agree with Python-Markdown's."""
    from markdown import Markdown  # noqa: PLC0415  # only this test needs it

    text = (
        "# Pass@1 on *AIME*\n\n## Größe & `code`\n\nSetext _one_\n---\n\n### A [link](x) {#own}\n\n#Close\n"
    )
    converter = Markdown(extensions=["toc", "attr_list"])
    page = converter.convert(text)
    assert all(f'id="{heading.id}"' in page for heading in find_headings(text))
    assert len([*find_headings(text)]) == 5


CONFLICT = "<<<<<<< HEAD\nsource: a\n=======\nsource: b\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"# A\n\n{CONFLICT}", (3, 7)),
        (f"# A\n\n```curve\n{CONFLICT}```\n", (4, 8)),
        (f"---\ntitle: A\n{CONFLICT}---\n\n# A\n", (3, 7)),
        ("# A\n\n>>>>>>> other\n", (3,)),
    ],
)
def test_the_marks_of_a_merge_are_problems(text: str, lines: tuple[int, ...]) -> None:
    """Wherever they stand in a page, and nothing else is told of it."""
    said = (
        "this line is a merge conflict mark of Git. Keep one of the two versions, and remove the lines with"
    )
    assert problems(text) == [f"content/a.md:{line}: {said} the marks." for line in lines]


def test_code_may_show_a_merge() -> None:
    """In a fence of another language or in indented code; a row of equals signs is a heading."""
    read_page("a.md", f"```diff\n{CONFLICT}```\n", "content/a.md")
    read_page("a.md", "Title\n=======\n\n    <<<<<<< HEAD\n\n>>>>>>>a\n", "content/a.md")


@pytest.mark.parametrize(
    "text", ["---\ntitle: A\n\n# A\n", "---\n\nbenchmark:\n  name: A\n", "---\ntitle: A\n---"]
)
def test_front_matter_without_an_end_is_a_problem(text: str) -> None:
    """MkDocs would show it as words; a rule before a sentence with a colon is none."""
    step = "End it with a line of three dashes, and begin the text on the next line."
    assert problems(text) == [f"content/a.md:1: the front matter that begins here has no end. {step}"]
    read_page("a.md", "---\nNote: a rule stands above\n", "content/a.md")


@pytest.mark.parametrize(("before", "line"), [("\n", 2), ("\n \n\n", 4), (" ", 1)])
def test_front_matter_behind_an_empty_line_is_a_problem(before: str, line: int) -> None:
    """MkDocs would show it as words; a rule around words is none."""
    step = "Remove what is before it, or write *** instead of --- for a rule."
    said = "this front matter is shown as text, since it does not begin in the first line"
    assert problems(f"{before}---\ntitle: T\n---\n\n# A\n") == [f"content/a.md:{line}: {said}. {step}"]
    read_page("a.md", f"{before}---\nWords between rules\n---\n", "content/a.md")
    read_page("a.md", f"{before}# A\n\n---\ntitle: T\n---\n", "content/a.md")


def test_a_wrong_fence_does_not_hide_other_problems() -> None:
    """All of a page are listed at once."""
    text = "```curv\nsource: x\n```\n\n```curve\nsorce: x\n```\n"
    with pytest.raises(ReportError) as error:
        read_page("index.md", text, "content/index.md")
    assert [problem.location.line for problem in error.value.problems] == [1, 6]
