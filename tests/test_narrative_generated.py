"""Pages for benchmarks that have none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.narrative.pages import generate_for_scores, generate_pages, generate_text, read_page
from reportgen.settings.blocks import CurveSettings, TableSettings
from reportgen.settings.report import Benchmark

AIME = Benchmark(name="AIME Pass@1", source="aime", metric="pass@1", description="Fifteen problems.")


def test_a_benchmark_without_a_page_gets_one() -> None:
    """Title, description, a curve and a table, and the benchmark as the page's own."""
    (page,) = generate_pages([AIME], [])
    assert (page.path, page.title, page.file, page.generated) == (
        "aime-pass-1.md",
        "AIME Pass@1",
        "mkdocs.yml",
        True,
    )
    assert page.front_matter.benchmark == AIME
    assert page.front_matter.description == "Fifteen problems."
    first, second = page.blocks
    assert isinstance(first.settings, CurveSettings)
    assert isinstance(second.settings, TableSettings)
    assert (first.settings.source, first.settings.metric) == ("aime", "pass@1")
    assert (first.location, second.id) == (SourceLocation("mkdocs.yml"), "values")
    assert "Nobody has written about this benchmark yet" in page.text


def test_a_page_of_outcomes_is_about_scores() -> None:
    """At the same address, with everything that the benchmark says; an author's page stays as it is."""
    said = Benchmark(name="Quiz", source="answers", page="more/quiz.md", metric="pass@2", baseline="base")
    (page,) = generate_pages([said], [])
    scored = generate_for_scores(page)
    assert (scored.path, scored.file, scored.title, scored.generated) == (
        *("more/quiz.md", "mkdocs.yml", "Quiz"),
        True,
    )
    assert [block.kind for block in scored.blocks] == ["scores", "comparison", "problems"]
    assert scored.front_matter.benchmark == said.model_copy(update={"page": None})
    assert [block.kind for block in generate_for_scores(page, totals=True).blocks] == ["scores"]
    own = read_page("a.md", "---\nbenchmark: {name: Quiz, source: answers}\n---\n", "content/a.md")
    assert generate_for_scores(own) is own


def test_a_benchmark_with_a_page_gets_none() -> None:
    """A page that names the benchmark as its own is enough, whatever else declares it."""
    own = read_page("a.md", "---\nbenchmark: {name: AIME Pass@1, source: aime}\n---\n", "content/a.md")
    assert generate_pages([AIME], [own]) == ()


def test_front_matter_declares_benchmarks_too() -> None:
    """A page may declare several; they are placed where it says."""
    text = (
        "---\nbenchmarks:\n- {name: A, source: a, page: more/a.md}\n"
        "- {name: B, source: b, higher_is_better: false}\n---\n"
    )
    index = read_page("index.md", text, "content/index.md")
    first, second = generate_pages([], [index])
    assert (first.path, first.file, second.path) == ("more/a.md", "content/index.md", "b.md")
    assert second.front_matter.benchmark is not None
    assert not second.front_matter.benchmark.higher_is_better


def refused(*benchmarks: Benchmark, pages: tuple[str, ...] = ()) -> list[str]:
    """Why benchmarks get no pages."""
    written = [read_page(path, "", f"content/{path}") for path in pages]
    with pytest.raises(ReportError) as caught:
        generate_pages(benchmarks, written)
    return [str(problem) for problem in caught.value.problems]


def test_two_benchmarks_of_one_name_are_refused() -> None:
    """A name says which benchmark is meant."""
    assert (
        'mkdocs.yml: two benchmarks are called "AIME Pass@1"; the first is in mkdocs.yml'
        in refused(AIME, AIME)[0]
    )


def test_two_pages_of_one_benchmark_are_refused() -> None:
    """A card can lead to one page only."""
    text = "---\nbenchmark: {name: A, source: a}\n---\n"
    pages = [read_page(path, text, f"content/{path}") for path in ("a.md", "b.md")]
    with pytest.raises(ReportError, match=r"content/b\.md:2: two benchmarks are called"):
        generate_pages([], pages)


@pytest.mark.parametrize("path", ["aime-pass-1.md", "aime-pass-1/index.md", "AIME-pass-1.md"])
def test_a_page_is_never_overwritten(path: str) -> None:
    """An author's page at the address stays."""
    assert f"would get the page aime-pass-1.md, which content/{path} has" in refused(AIME, pages=(path,))[0]


def test_two_generated_pages_do_not_share_an_address() -> None:
    """Names that differ only in punctuation become one address."""
    said = refused(Benchmark(name="A 1", source="a"), Benchmark(name="A-1", source="b"))
    assert 'benchmark "A-1" would get the page a-1.md, which benchmark "A 1" has' in said[0]


@pytest.mark.parametrize(
    "path", ["../a.md", "/a.md", "a.html", "a//b.md", "./a.md", "..\\a.md", "c:/a.md", "a/../b.md"]
)
def test_a_page_stays_in_the_content_folder(path: str) -> None:
    """An address outside the report is refused."""
    assert "is no Markdown file of this report" in refused(Benchmark(name="A", source="a", page=path))[0]


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=40).filter(str.strip)


@given(NAMES, NAMES, st.none() | NAMES, st.none() | NAMES)
def test_any_name_makes_a_page(name: str, source: str, metric: str | None, description: str | None) -> None:
    """Whatever a benchmark is called, its page is read back as it was meant and shows the name as text."""
    benchmark = Benchmark(name=name, source=source, metric=metric, description=description)
    (page,) = generate_pages([benchmark], [])
    assert page.front_matter.benchmark == benchmark
    assert [block.kind for block in page.blocks] == ["curve", "table"]
    prose = generate_text(benchmark).split("---\n\n", 1)[1].split("```curve")[0]
    assert "<" not in prose
    assert "[" not in prose
