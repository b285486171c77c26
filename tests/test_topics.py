"""What ``of`` names: a figure of the page, a panel, a source, or the page's benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_projects import write_report

from reportgen.cache import Cache, FileHashes
from reportgen.drafting.gathering import gather_pages, gather_sources
from reportgen.drafting.project import Project
from reportgen.errors import Place, Problems, ReportError
from reportgen.narrative.topics import sources_named, sources_on, topics_of
from reportgen.settings.project import ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.model import Page, Source
    from reportgen.narrative.topics import Topic

TWO = "model,step,reward,loss\nMEL,0,0.1,2.0\nMEL,1,0.3,1.0\nbase,0,0.1,2.0\nbase,1,0.2,1.5\n"
ANSWERS = "series,problem,score\nMEL,1,1\nMEL,2,0\nbase,1,1\nbase,2,1\n"
BENCHMARK = "---\nbenchmark: {name: AIME, source: runs, metric: accuracy}\n---\n\n"
CURVE = "```curve\nid: scores\nsource: runs\nsmooth: 0.5\n```\n\n"
PANELS = (
    "```panels\nid: two\nsource: two\nmetrics: [reward, {metric: loss, higher_is_better: false}]\n```\n\n"
)
TABLE = "```table\nid: values\nsource: runs\n```\n\n"
SCORES = "```scores\nid: answers\nsource: answers\n```\n\n"
HERE = Place("content/index.md", 3)


def page_and_sources(root: Path, text: str) -> tuple[Page, dict[str, Source]]:
    """A page with the sources that it names."""
    write_report(root, {"content/index.md": text, "data/two.csv": TWO, "data/answers.csv": ANSWERS})
    project = Project(root, "content", ("index.md",), ProjectSettings())
    problems, folder = Problems(), root / "cache"
    pages = gather_pages(project, problems)
    sources = gather_sources(project, pages, FileHashes(folder), Cache(folder), problems)
    problems.raise_errors()
    return pages[0], sources


def topics(root: Path, text: str, of: str | None) -> tuple[Topic, ...]:
    """What an ``of`` on a page names."""
    page, sources = page_and_sources(root, text)
    return topics_of(of, page, sources, HERE)


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
    """With several and no benchmark it is open what is meant, and their ids are told."""
    (topic,) = topics(tmp_path, CURVE, None)
    assert topic.figure == "scores"
    said = refusal(tmp_path, CURVE + PANELS, None)
    assert "the page has no benchmark" in said
    assert '"scores", "two", "two-1", "two-2"' in said


def test_a_source_can_be_named(tmp_path: Path) -> None:
    """The figure of the page that shows it is linked; with several metrics the page's figures are told."""
    (topic,) = topics(tmp_path, CURVE, "runs")
    assert topic.figure == "scores"
    (scores,) = topics(tmp_path, SCORES, "answers")
    assert (scores.request.metric, scores.figure) == ("mean", "answers")
    assert "it is open which is meant" in refusal(tmp_path, PANELS.replace("id: two", "id: losses"), "two")


def test_a_misspelt_figure_is_not_taken_for_a_source(tmp_path: Path) -> None:
    """The nearest figure is named."""
    page, _ = page_and_sources(tmp_path, CURVE)
    assert sources_named("scoers", page) == ()
    said = refusal(tmp_path, CURVE, "scoers")
    assert said.startswith('content/index.md:3: there is no figure "scoers" on this page')
    assert 'Did you mean "scores"?' in said


def test_every_source_behind_a_page_is_known(tmp_path: Path) -> None:
    """A source that only observations are about is opened and told as the others are."""
    page, sources = page_and_sources(tmp_path, CURVE + "```observations\nof: answers\n```\n")
    assert sources_on(page) == ("runs", "answers")
    assert set(sources) == {"runs", "answers"}
