"""What figures about scores need to know beyond their numbers, and how each series was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.drafting.notes import notes_of
from reportgen.figures.score_context import ScoreContext
from reportgen.figures.score_words import found_notes
from reportgen.narrative.score_requests import benchmark_title
from reportgen.statistics.metrics import rows_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.drafting.desk import Desk
    from reportgen.errors import Place
    from reportgen.model import ScoreRequest, Source
    from reportgen.outcomes import Found, ProblemScores
    from reportgen.settings.front_matter import Benchmark


def score_context(
    place: Place, request: ScoreRequest, scores: ProblemScores, benchmark: Benchmark | None, desk: Desk
) -> ScoreContext:
    """The context of one benchmark's scores; ``benchmark`` is the page's."""
    context = context_of(place, request, scores, desk.sources[request.source], benchmark)
    return replace(context, slots=desk.colours.slots)


def context_of(
    place: Place,
    request: ScoreRequest,
    scores: ProblemScores,
    source: Source,
    benchmark: Benchmark | None = None,
) -> ScoreContext:
    """The same without colours, for words and tables."""
    name = _score_name(source, request)
    return ScoreContext(
        place=place,
        slots={},
        source=source.settings.title or source.name,
        benchmark=benchmark_title(request, source, benchmark),
        approximate=source.settings.approximate,
        higher_is_better=request.higher_is_better,
        lowest=scores.lowest,
        highest=scores.highest,
        protocol=tuple(_protocol(source, scores, name)),
        score_name=name,
        notes=notes_of(source),
    )


def context_of_all(place: Place, contexts: Sequence[ScoreContext]) -> ScoreContext:
    """The context of several benchmarks side by side; how each was measured stays with its own."""
    first = contexts[0]
    names = {one.score_name for one in contexts}
    cautions = list(dict.fromkeys(one.approximate for one in contexts if one.approximate))
    return ScoreContext(
        place=place,
        slots=first.slots,
        source=", ".join(dict.fromkeys(one.source for one in contexts)),
        benchmark="",
        approximate="; ".join(cautions) or None,
        higher_is_better=first.higher_is_better,
        lowest=first.lowest,
        highest=first.highest,
        score_name=names.pop() if len(names) == 1 else "",
        notes=tuple(dict.fromkeys(note for one in contexts for note in one.notes)),
    )


def with_found(context: ScoreContext, found: Found) -> ScoreContext:
    """The context with what was found in the outcomes, for a block that is not given it otherwise."""
    return replace(context, notes=(*found_notes(found), *context.notes))


def _score_name(source: Source, request: ScoreRequest) -> str:
    """What the score of answers is called; empty where it has no name. Totals are named by their metric."""
    if source.kind != "outcomes":
        return ""
    from reportgen.read import score_names  # noqa: PLC0415 - imports the database

    return score_names(source).get(request.benchmark or "", "")


def _protocol(
    source: Source, scores: ProblemScores, score_name: str
) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
    """How each series was measured: its score, what ``source.yml`` says, and the hash of the problems.

    Of totals the problems are not known.
    """
    if not scores.problems:
        return [(name, source.settings.protocol_of(name).stated()) for name in scores.series]
    from reportgen.read import problem_set_hash  # noqa: PLC0415 - imports the database

    found, known = [], bool(scores.gold)
    for place, name in enumerate(scores.series):
        answered = scores.samples[rows_of(scores, place)].sum(axis=0) > 0
        here = np.flatnonzero(answered).tolist()
        names = problem_set_hash(
            (scores.problems[at] for at in here), (scores.gold[at] for at in here if known)
        )
        said = source.settings.protocol_of(name).stated()
        score = (("score", score_name),) if score_name else ()
        found.append((name, (*score, *said, ("problem set", names))))
    return found
