"""Numbers in prose that no binding covers, and the facts of a page's sources that they may be."""

from __future__ import annotations

import re
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.claims.vocabulary import FactError, collect_facts
from reportgen.core.errors import Diagnostics, SourceLocation
from reportgen.core.model import CurveRequest
from reportgen.draft.blocks.draw_inputs import make_subject
from reportgen.draft.blocks.results import ResultsStore, use_every_step
from reportgen.draft.finding import Match, Topic, list_matches
from reportgen.draft.proposals import Proposal, propose_claims
from reportgen.narrative.documents import is_card
from reportgen.narrative.prose import hide_all_but_prose, is_own_text
from reportgen.narrative.topics import find_topics, iterate_topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.model import Request
    from reportgen.core.statements import Fact
    from reportgen.draft.report import Report
    from reportgen.narrative.topics import Topic as PageTopic
    from reportgen.settings.inputs import Page


_STEPS: Final = re.compile(r"\b(?:step|iteration|epoch|update)s?\s+(\d{1,3}(?:,\d{3})+|\d+)", re.IGNORECASE)
_MOST_STEPS, _MOST_SERIES = 20, 8  # of a page, and of a figure, whose facts at these steps are listed


class PageNumbers(Struct, frozen=True):
    """The numbers of a page that could be facts: how many are bound, and the others with their places."""

    page: Page
    bound: tuple[SourceLocation, ...]
    unbound: tuple[tuple[SourceLocation, Match], ...]
    claims: tuple[tuple[SourceLocation, Proposal], ...] = ()  # that sentences make without a binding

    def choose(self, is_chosen: Callable[[SourceLocation], bool]) -> PageNumbers:
        """Return only the numbers of some places."""
        unbound = tuple(one for one in self.unbound if is_chosen(one[0]))
        claims = tuple(one for one in self.claims if is_chosen(one[0]))
        return replace(self, bound=tuple(filter(is_chosen, self.bound)), unbound=unbound, claims=claims)


def find_unbound(report: Report, root: Path, only: str | None = None) -> tuple[PageNumbers, ...]:
    """Find the unbound numbers of pages that an author wrote, and of documents, or ``only`` of one of them.

    Notebooks, and pages with variables or templates, are left out, as their text is elsewhere.
    Raises a ``ReportError`` if the data are invalid.
    """
    documents = (one for one in report.documents if not is_card(one.file))
    own = (*(one for one in report.pages if is_own_text(one)), *documents)
    pages = [one for one in own if only in {None, one.path}]
    by_page = {page.path: dict(_list_topics(page, report)) for page in pages}
    requests: dict[Request, None] = {}
    for one in (topic.request for topics in by_page.values() for topic in topics.values()):
        requests[one] = None
        if isinstance(one, CurveRequest):
            requests[use_every_step(one)] = None
    answers = ResultsStore(root, report.sources, tuple(requests))
    known: dict[str, Topic] = {}
    return tuple(
        _find_numbers(page, tuple(_make_topics(page, by_page[page.path], report, answers, known)))
        for page in pages
    )


def _find_numbers(page: Page, topics: tuple[Topic, ...]) -> PageNumbers:
    prose = hide_all_but_prose(page)
    unbound = tuple((_locate(page, one.number.start), one) for one in list_matches(prose, topics))
    claims = tuple(
        (_locate(page, one.start), one)
        for one in propose_claims(prose, topics)
        # With code or a binding among its words, it says something else or is bound.
        if prose[one.start : one.end] == page.text[one.start : one.end]
        and not any(known.start < one.end and one.start < known.end for known in page.bindings)
    )
    values = (one for one in page.bindings if one.kind == "value" and one.table is None)
    return PageNumbers(page, tuple(one.location for one in values), unbound, claims)


def _locate(page: Page, start: int) -> SourceLocation:
    line = page.text.count("\n", 0, start) + 1
    return SourceLocation(page.file, line, start - page.text.rfind("\n", 0, start))


def _list_topics(page: Page, report: Report) -> Iterator[tuple[str | None, PageTopic]]:
    """Yield what statements of a page can be about, by ``of``; each request once, with its name as title.

    A document may be about the benchmark of any page.
    """
    problems, place = Diagnostics(), SourceLocation(page.file)
    with problems.collecting():
        if page.is_document:
            for one in report.pages:
                benchmark = one.front_matter.benchmark
                if benchmark and not one.generated and len(benchmark.sources) == 1:
                    topic = find_topics(None, one, report.sources, place)[0]
                    yield benchmark.source_name, replace(topic, title=benchmark.name)
            return
        seen = set[object]()
        if page.front_matter.benchmark:
            topic = find_topics(None, page, report.sources, place)[0]
            seen.add(topic.request)
            yield None, replace(topic, title=page.front_matter.benchmark.name)
        for topic in iterate_topics(page, report.sources):
            if topic.request not in seen:
                seen.add(topic.request)
                yield topic.part or topic.figure, topic


def _make_topics(
    page: Page,
    topics: Mapping[str | None, PageTopic],
    report: Report,
    answers: ResultsStore,
    known: dict[str, Topic],
) -> Iterator[Topic]:
    steps = tuple(dict.fromkeys(_STEPS.findall(page.text)))[:_MOST_STEPS]
    for of, topic in topics.items():
        key = repr((of, topic.request, topic.higher_is_better, topic.percent, steps))
        if key not in known:
            subject = make_subject(topic, SourceLocation(page.file), answers)
            source = report.sources[topic.request.source]
            # The mean of a problem's samples is what every score is, and nobody calls it so.
            metric = "" if subject.scale.metric == "mean" else subject.scale.metric
            named = (source.name, source.settings.title, topic.title, metric)
            benchmark = getattr(topic.request, "benchmark", None)
            names = tuple(dict.fromkeys(one for one in (*named, benchmark) if one))
            facts = (*collect_facts(subject), *_list_facts_at(steps, subject))
            known[key] = Topic(of, names, subject.series, facts, subject.scale)
        yield known[key]


def _list_facts_at(steps: tuple[str, ...], subject: Subject) -> Iterator[Fact]:
    """Yield values and differences at the steps that a text names."""
    if subject.holds == "scores" or len(subject.series) > _MOST_SERIES:
        return
    for step in (float(one.replace(",", "")) for one in steps):
        for one in subject.series:
            with suppress(FactError):
                yield subject.fact("at", (one, step))
        for one, other in combinations(subject.series, 2):
            with suppress(FactError):
                fact = subject.fact("gap", (one, other, step))
                is_below = fact.value is not None and fact.value < 0
                yield subject.fact("gap", (other, one, step)) if is_below else fact
