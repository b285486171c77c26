"""Whatever is written, reading it gives values or problems, never anything else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tries import tries

from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.narrative.pages import read_page, read_pages
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.loading import (
    load_block,
    load_front_matter,
    load_project,
    load_source_settings,
    make_schemas,
)
from reportgen.settings.report import Project, ProjectSettings

CONTENT = sorted((Path(__file__).parents[1] / "content").rglob("*.md"))
KEYS = sorted({key for part in make_schemas().values() for key in part.get("properties", {})})

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["ci", "log", "1e3", "no", "a.py:f", "x" * 1200, "https://x", "*.csv"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)
BODIES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)
YAML_NOISE = st.text(st.sampled_from("abc:-[]{}#&*!|>'\"%@`,? \n\t1.\u2028\ud800\x00😀"), max_size=60)


def only_problems(error: ReportError) -> None:
    """Problems are bounded, placed and in plain words."""
    assert 0 < len(error.problems) <= 200
    for problem in error.problems:
        assert problem.message
        assert len(str(problem)) < 2000
        assert "Input should" not in str(problem)
        assert "is not accepted (" not in str(problem)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(BLOCKS)), st.one_of(BODIES.map(json.dumps), YAML_NOISE, VALUES.map(json.dumps)))
@example("curve", "[" * 5000)
@example("curve", "{a: " * 5000)
@example("curve", "- " * 5000)
@example("curve", "? " * 5000)
@example("curve", "a: &a [*a, *a]")
@example("curve", "smooth: " + "9" * 5000)
@example("curve", "%YAML 9.9\n---\na")
@example("vega-lite", "a: !!binary x")
def test_any_body_gives_settings_or_problems(kind: str, body: str) -> None:
    """Random keys with random values, and random characters, never make the loader fail."""
    try:
        load_block(kind, body, SourceLocation("a.md", 1))
    except ReportError as error:
        only_problems(error)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(BODIES)
def test_any_options_give_settings_or_problems(options: dict[str, object]) -> None:
    """MkDocs may hand over anything."""
    for text in (None, json.dumps({"plugins": [{"reportgen": options}]})):
        try:
            load_project(options, SourceLocation("mkdocs.yml"), text)
        except ReportError as error:
            only_problems(error)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=80) | BODIES.map(lambda body: json.dumps(body).encode()))
def test_any_file_gives_settings_or_problems(tmp_path: Path, content: bytes) -> None:
    """A source.yml may hold any bytes."""
    path = tmp_path / "source.yml"
    path.write_bytes(content)
    for load in (load_source_settings, lambda path, name: load_front_matter(path.read_text("latin-1"), name)):
        try:
            load(path, "data/a/source.yml")
        except ReportError as error:
            only_problems(error)


PAGES = [path.read_text(encoding="utf-8") for path in CONTENT]
CUTS = st.tuples(
    st.integers(0, len(PAGES) - 1),
    st.lists(
        st.tuples(
            st.floats(0, 1),
            st.integers(0, 12),
            st.sampled_from(
                [
                    "",
                    "`",
                    "```",
                    "\n",
                    "\t",
                    "  ",
                    "> ",
                    "- ",
                    ": ",
                    "[",
                    "<!--",
                    "---\n",
                    "\x00",
                    "\ud800",
                    "é",
                ]
            ),
        ),
        max_size=6,
    ),
)


@settings(max_examples=tries(20, 200), suppress_health_check=[HealthCheck.too_slow])
@given(CUTS)
def test_damaged_pages_give_pages_or_problems(cuts: tuple[int, list[tuple[float, int, str]]]) -> None:
    """Pages of the example report with characters cut out and put in are read or refused."""
    number, edits = cuts
    text = PAGES[number]
    for where, length, instead in edits:
        start = int(where * len(text))
        text = text[:start] + instead + text[start + length :]
    try:
        page = read_page("a.md", text, "content/a.md")
    except ReportError as error:
        only_problems(error)
    else:
        assert len({block.id.lower() for block in page.blocks}) == len(page.blocks)


@pytest.mark.parametrize("path", CONTENT, ids=lambda path: path.stem)
def test_the_example_report_is_read(path: Path) -> None:
    """Every page of the example report is free of problems."""
    problems = Diagnostics()
    (page,) = read_pages(Project(path.parent, ".", (path.name,), ProjectSettings()), problems)
    assert problems.in_order() == ()
    assert page.title
