"""What ``of`` names: a figure of the page, a panel, a source, or the page's benchmark."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import SETTINGS, write_report

from reportgen.core.cache import Cache, FileHashes
from reportgen.core.errors import Diagnostics, ReportError, SourceLocation
from reportgen.draft.gathering import gather_pages, gather_sources
from reportgen.narrative.topics import find_topics, list_named_sources, list_page_sources
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.narrative.topics import Topic
    from reportgen.settings.inputs import Page, Source

TWO = "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,0.3,1.0\nbase,0,0.1,2.0\nbase,1,0.2,1.5\n"
ANSWERS = "series,problem,score\nMEL,1,1\nMEL,2,0\nbase,1,1\nbase,2,1\n"
BENCHMARK = "---\nbenchmark: {name: AIME, source: runs, metric: accuracy}\n---\n\n"
CURVE = "```curve\nid: scores\nsource: runs\nsmooth: 0.5\n```\n\n"
PANELS = (
    "```panels\nid: two\nsource: two\nmetrics: [reward, {metric: loss, higher_is_better: false}]\n```\n\n"
)
TABLE = "```table\nid: values\nsource: runs\n```\n\n"
SCORES = "```scores\nid: answers\nsource: answers\n```\n\n"
HERE = SourceLocation("content/index.md", 3)


def page_and_sources(root: Path, text: str) -> tuple[Page, dict[str, Source]]:
    """A page with the sources that it names."""
    write_report(root, {"content/index.md": text, "data/two.csv": TWO, "data/answers.csv": ANSWERS})
    project = Project(root, "content", ("index.md",), ProjectSettings())
    problems, folder = Diagnostics(), root / "cache"
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, FileHashes(folder), Cache(folder), problems)
    problems.raise_errors()
    return pages[0], sources


def topics(root: Path, text: str, of: str | None) -> tuple[Topic, ...]:
    """What an ``of`` on a page names."""
    page, sources = page_and_sources(root, text)
    return find_topics(of, page, sources, HERE)


def refusal(root: Path, text: str, of: str | None) -> str:
    """Why an ``of`` names nothing."""
    with pytest.raises(ReportError) as error:
        topics(root, text, of)
    (problem,) = error.value.problems
    return str(problem)


def test_a_figure_is_named_by_its_id(tmp_path: Path) -> None:
    """The curves are those of the figure, and links lead to it."""
    (topic,) = topics(tmp_path, CURVE + PANELS, "scores")
    assert (topic.request.source, topic.request.metric, topic.figure) == ("runs", "accuracy", "scores")
    assert topic.higher_is_better


def test_a_panel_is_named_by_its_own_id(tmp_path: Path) -> None:
    """Its metric and its own direction count; the panels together are all of them."""
    (loss,) = topics(tmp_path, PANELS, "two-2")
    assert (loss.request.metric, loss.higher_is_better, loss.figure) == ("loss", False, "two-2")
    assert [topic.figure for topic in topics(tmp_path, PANELS, "two")] == ["two-1", "two-2"]


def test_without_a_name_the_benchmark_of_the_page_is_meant(tmp_path: Path) -> None:
    """The figure that shows it is found, however it smooths; a table only if no figure comes first."""
    (topic,) = topics(tmp_path, BENCHMARK + PANELS + CURVE + TABLE, None)
    assert (topic.request.source, topic.figure) == ("runs", "scores")
    (unseen,) = topics(tmp_path, BENCHMARK + PANELS, None)
    assert (unseen.request.metric, unseen.figure) == ("accuracy", "")


def test_a_page_with_one_figure_needs_no_name(tmp_path: Path) -> None:
    """Without a benchmark, several figures are listed by their ids; with none, a source can be named."""
    (topic,) = topics(tmp_path, CURVE, None)
    assert topic.figure == "scores"
    said = refusal(tmp_path, CURVE + PANELS, None)
    assert "the page has 2 figures and no benchmark, so it is unclear which one is meant. " in said
    assert 'Name one with "of": "scores", "two", "two-1", "two-2".' in said
    assert refusal(tmp_path, "", None).endswith(
        "the page has neither a figure nor a benchmark that this could be about. "
        'Add a figure to the page, or name a source with "of".'
    )


def test_a_source_can_be_named(tmp_path: Path) -> None:
    """The figure of the page that shows it is linked; with several metrics the page's figures are told."""
    (topic,) = topics(tmp_path, CURVE, "runs")
    assert topic.figure == "scores"
    (scores,) = topics(tmp_path, SCORES, "answers")
    assert (scores.request.metric, scores.figure) == ("mean", "answers")
    assert "it is unclear which one is meant" in refusal(
        tmp_path, PANELS.replace("id: two", "id: losses"), "two"
    )


def test_a_misspelt_figure_is_not_taken_for_a_source(tmp_path: Path) -> None:
    """The nearest figure is named."""
    page, _ = page_and_sources(tmp_path, CURVE)
    assert list_named_sources("scoers", page) == ()
    said = refusal(tmp_path, CURVE, "scoers")
    assert said.startswith('content/index.md:3: there is no figure "scoers" on this page')
    assert 'Did you mean "scores"?' in said


def test_every_source_behind_a_page_is_known(tmp_path: Path) -> None:
    """A source that only observations are about is opened and told as the others are."""
    page, sources = page_and_sources(tmp_path, CURVE + "```observations\nof: answers\n```\n")
    assert list_page_sources(page) == ("runs", "answers")
    assert set(sources) == {"runs", "answers"}


def test_a_figure_without_a_source_is_an_error_with_its_id(tmp_path: Path) -> None:
    """A statement about a page's only figure, or about its id, says what the figure lacks."""
    text = '[x]{value="final(A)"OF}\n\n```panels\nid: two\nmetrics: [accuracy]\n```\n'
    for of in ("", ' of="two"'):
        root = write_report(tmp_path / (of or "none"), {"content/index.md": text.replace("OF", of)})
        done = call(root, "check")
        assert done.returncode == 1
        assert 'content/index.md:1:1: error: figure "two" names no source' in done.stdout
        assert "content/index.md:3: error: this panels block names no source" in done.stdout
        assert "Traceback" not in done.stderr


def test_a_name_that_is_neither_figure_nor_source_is_told_with_both(tmp_path: Path) -> None:
    """Whoever meant a figure reads which figures there are; whoever meant a source, which sources."""
    text = f'{CURVE}[x]{{value="final(A)" of="fig1"}}\n\n```observations\nof: fig1\n```\n'
    done = call(write_report(tmp_path, {"content/index.md": text}), "check")
    said = (
        'error: there is no figure "fig1" on this page, and there is no source "fig1" in data/. '
        'The figures of this page are "scores". The only source is runs.'
    )
    for line in (7, 9):
        assert re.search(rf"^content/index\.md:{line}:[\d:]* {re.escape(said)}$", done.stdout, re.MULTILINE)


def test_a_block_that_statements_cannot_be_about_is_named(tmp_path: Path) -> None:
    """An id that stands on the page is not sought among the sources."""
    text = f'{CURVE}[x]{{value="final(A)" of="cards"}}\n\n```overview\nid: cards\n```\n'
    done = call(write_report(tmp_path, {"content/index.md": text}), "check")
    assert '"cards" is the id of a block of kind overview' in done.stdout
    assert "no source" not in done.stdout


DECLARED = {
    "of a page": (
        {"content/index.md": "---\ntitle: A\nbenchmark:\n  source: answers\n  name: evals\n---\n\n# A\n"},
        "content/index.md:5",
    ),
    "of mkdocs.yml": (
        {
            "mkdocs.yml": f"{SETTINGS.split('plugins')[0]}plugins:\n  - reportgen:\n      benchmarks:\n"
            "        - {name: evals, source: answers}\n"
        },
        "mkdocs.yml:8",
    ),
}


@pytest.mark.parametrize("declared", DECLARED)
def test_a_benchmark_that_its_source_lacks_has_its_line(tmp_path: Path, declared: str) -> None:
    """The line that names it, and the names that the source has."""
    files, place = DECLARED[declared]
    answers = "series,problem,score,benchmark\nA,1,1,contest\nA,2,0,textbook\n"
    done = call(write_report(tmp_path, {"data/answers.csv": answers, **files}), "check")
    assert f'{place}: error: benchmark "evals" is none of the benchmarks of source "answers"' in done.stdout
    assert 'Add benchmark: with one of "contest", "textbook"' in done.stdout
    (tmp_path / "data/answers.csv").unlink()
    missing = call(tmp_path, "check")
    assert f'{place}: error: there is no source "answers" in data/' in missing.stdout
