"""Notebooks as pages: their Markdown cells are read as pages are, and places are those of the JSON file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from made_notebooks import find_place, make_notebook, write_notebook
from msgspec.structs import replace

from reportgen.core.errors import Diagnostics
from reportgen.narrative.notebooks import match_cells, read_cells, replace_cells
from reportgen.narrative.pages import read_pages
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.settings.inputs import Page

TITLE = '# Results\n\nSaid "twice": [0.72]{value="final(GRPO)" of="runs"}.\n'
FIGURE = "Text.\n\n```curve\nsource: runs\ntitle: In a notebook\n```"
CODE = ("# source:\nprint('```curve')",)


def read(tmp_path: Path, text: str) -> tuple[Page | None, tuple[Diagnostic, ...]]:
    """A notebook as a page, with its problems."""
    (tmp_path / "content").mkdir(exist_ok=True)
    (tmp_path / "content" / "a.ipynb").write_bytes(text.encode())
    problems = Diagnostics()
    pages = read_pages(Project(tmp_path, "content", ("a.ipynb",), ProjectSettings()), problems)
    return next(iter(pages), None), problems.in_order()


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("layout", [{"indent": 1}, {"indent": 2}, {"indent": "\t", "ensure_ascii": False}])
def test_cells_are_read_with_their_lines_in_the_file(
    layout: dict[str, Any], ends: str, tmp_path: Path
) -> None:
    """Blocks and bound values of Markdown cells alone, as Jupyter, Colab and others indent them."""
    said = "é 🙂 [72%]{value=\"final(GRPO)\" of='runs'} and\n[so it is]{claim='final(GRPO) > 0' of='runs'}"
    text = json.dumps(make_notebook(TITLE, CODE, FIGURE, said), **layout)
    page, problems = read(tmp_path, text.replace("\n", ends))
    assert problems == ()
    assert page is not None
    assert (page.title, page.path) == ("Results", "a.ipynb")
    assert [(block.kind, block.id) for block in page.blocks] == [("curve", "in-a-notebook")]
    (block,) = page.blocks
    assert (block.location.file, block.location.line) == (
        "content/a.ipynb",
        find_place(text, ["Text.", "```curve"])[0],
    )
    places = [(one.location.line, one.location.column) for one in page.bindings]
    assert places == [find_place(text, [word]) for word in ("[0.72]", "[72%]", "[so it is]")]
    expressions = [(one.expression_location.line, one.expression_location.column) for one in page.bindings]
    assert expressions == [find_place(text, [word, "final("]) for word in ("[0.72]", "[72%]", "[so it is]")]
    assert page.text == f"{TITLE}\n\n{FIGURE}\n\n{said}"
    assert [page.text[one.start : one.end] for one in page.bindings] == ["0.72", "72%", "so it is"]


def test_problems_have_their_place(tmp_path: Path) -> None:
    """A misspelt block, a key that is none, and an id used twice: each with the line of the file."""
    wrong = FIGURE.replace("title", "titel")
    first, second = (FIGURE.replace("title", "id: same\ntitle") for _ in range(2))
    text = write_notebook(TITLE, CODE, wrong, "```curv\n```")
    _, problems = read(tmp_path, text)
    assert [(one.location.line, one.message) for one in problems] == [
        (find_place(text, ["titel"])[0], '"titel" is not a key of a curve block'),
        (find_place(text, ["```curv\\n"])[0], 'there is no block called "curv"'),
    ]
    text = write_notebook(first, CODE, second)
    _, problems = read(tmp_path, text)
    line = find_place(text, ["```curve"])[0]
    assert [one.message for one in problems] == [f'"id: same" is used twice; the first is in line {line}']
    assert problems[0].location.line == find_place(text, ["of the code", "```curve"])[0]


def test_cells_without_lines_of_their_own_are_named(tmp_path: Path) -> None:
    """Kaggle saves a notebook on one line: the cell and the line in it are said instead."""
    made = make_notebook(TITLE, CODE, FIGURE.replace("title", "titel"))
    for cell in made["cells"]:
        cell["source"] = "".join(cell["source"])
    page, problems = read(tmp_path, json.dumps(made, separators=(",", ":")))
    assert [str(one.location) for one in problems] == ["content/a.ipynb:cell 3:5:1"]
    assert page is not None
    assert (
        str(page.bindings[0].location) == f"content/a.ipynb:cell 1:3:{TITLE.splitlines()[2].index('[') + 1}"
    )


def test_what_is_open_in_a_cell_ends_with_it(tmp_path: Path) -> None:
    """As in Jupyter: neither a comment nor code of one cell hides the next."""
    page, problems = read(tmp_path, write_notebook("<!-- left open", "~~~\nleft open", FIGURE))
    assert problems == ()
    assert page is not None
    assert len(page.blocks) == 1


def test_only_sources_of_cells_are_read() -> None:
    """Keys of these names elsewhere in a notebook are no cells, and a lone half of a character is none."""
    made = make_notebook("One", CODE, "Half \ud83d of a pair")
    made["cells"][0]["metadata"] = {"cells": [{"cell_type": "markdown", "source": ["no"]}], "source": "no"}
    made["cells"][0]["attachments"] = {"cell_type": {"source": ["no"]}}
    made["cells"][1]["outputs"][0]["data"] = {"cells": [{"cell_type": "markdown", "source": "no"}]}
    made["metadata"]["cells"] = [{"cell_type": "markdown", "source": "no"}]
    assert [cell.text for cell in read_cells(json.dumps(made), "a.ipynb")] == ["One", "Half ? of a pair"]
    assert read_cells(json.dumps({"worksheets": [made], "nbformat": 3}), "a.ipynb") == ()


def test_what_is_no_notebook_is_said(tmp_path: Path) -> None:
    """With the line at which JSON ends to be JSON."""
    page, problems = read(tmp_path, '{\n"cells": [\n')
    assert page is None
    assert [str(one) for one in problems] == [
        "content/a.ipynb:3: this notebook is not JSON. Open it in Jupyter and save it again."
    ]


def test_a_cell_is_replaced_where_it_stands() -> None:
    """With what is nested in it, and nothing behind it."""
    cell = '<div class="jp-Cell"><div class="jp-RenderedMarkdown jp-MarkdownOutput">{}</div></div>\n'
    nested = "<div><div>old</div>&lt;/div&gt;</div>"
    page = cell.format("first") + "<pre>code</pre>" + cell.format(nested) + cell.format("last")
    replaced = replace_cells(page, (0, 1, 2), {1: "<p>new</p>"})
    assert replaced == page.replace(nested, "\n<p>new</p>\n")
    assert replace_cells(page, (0, 4, 5), {1: "no", 4: "<p>new</p>"}) == replaced


def test_cells_are_matched_by_their_ids() -> None:
    """Without ids, or with one twice, all cells have to be there."""
    cells = read_cells(write_notebook("One", CODE, "Two", "Three"), "a.ipynb")
    assert [cell.id for cell in cells] == ["cell-1", "cell-3", "cell-4"]
    output = '<div id="cell-id={}"><div class="jp-MarkdownOutput"></div></div>'
    page = output.format("cell-1") + output.format("cell-4")
    assert match_cells(page, cells) == (0, 2)
    assert match_cells(page + page, cells) == ()
    older = [replace(cell, id="") for cell in cells]
    assert match_cells(page, older) == ()
    assert match_cells('<div class="jp-MarkdownOutput"></div>' * 3, older) == (0, 1, 2)
