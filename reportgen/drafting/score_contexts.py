"""What figures about scores need to know beyond their numbers, and how each series was measured."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reportgen.drafting.notes import list_notes
from reportgen.figures.score_context import ScoreContext
from reportgen.figures.score_words import list_found_notes
from reportgen.narrative.score_requests import name_benchmark
from reportgen.statistics.metrics import find_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.drafting.desk import DrawInputs
    from reportgen.errors import SourceLocation
    from reportgen.model import ScoreRequest, Source
    from reportgen.outcomes import OutcomeNotes, ProblemScores
    from reportgen.settings.front_matter import Benchmark


def make_score_context(
    place: SourceLocation,
    request: ScoreRequest,
    scores: ProblemScores,
    benchmark: Benchmark | None,
    inputs: DrawInputs,
) -> ScoreContext:
    """The context of one benchmark's scores; ``benchmark`` is the page's."""
    context = make_plain_context(place, request, scores, inputs.sources[request.source], benchmark)
    return replace(context, slots=inputs.colours.slots)


def make_plain_context(
    place: SourceLocation,
    request: ScoreRequest,
    scores: ProblemScores,
    source: Source,
    benchmark: Benchmark | None = None,
) -> ScoreContext:
    """The same without colours, for words and tables."""
    name = _find_score_name(source, request)
    return ScoreContext(
        place=place,
        slots={},
        source=source.settings.title or source.name,
        benchmark=name_benchmark(request, source, benchmark),
        approximate=source.settings.approximate,
        higher_is_better=request.higher_is_better,
        lowest=scores.lowest,
        highest=scores.highest,
        protocol=tuple(_list_protocols(source, scores, name)),
        score_name=name,
        notes=list_notes(source),
    )


def combine_contexts(place: SourceLocation, contexts: Sequence[ScoreContext]) -> ScoreContext:
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


def add_found_notes(context: ScoreContext, found: OutcomeNotes) -> ScoreContext:
    """The context with what was found in the outcomes, for a block that is not given it otherwise."""
    return replace(context, notes=(*list_found_notes(found), *context.notes))


def _find_score_name(source: Source, request: ScoreRequest) -> str:
    """What the score of answers is called; empty where it has no name. Totals are named by their metric."""
    if source.kind != "outcomes":
        return ""
    from reportgen.read import get_score_names  # noqa: PLC0415 - imports the database

    return get_score_names(source).get(request.benchmark or "", "")


def _list_protocols(
    source: Source, scores: ProblemScores, score_name: str
) -> Sequence[tuple[str, tuple[tuple[str, str], ...]]]:
    """How each series was measured: its score, what ``source.yml`` says, and the hash of the problems.

    Of totals the problems are not known.
    """
    if not scores.problems:
        return [(name, source.settings.get_protocol(name).list_stated()) for name in scores.series]
    from reportgen.read import hash_problem_set  # noqa: PLC0415 - imports the database

    found, known = [], bool(scores.gold)
    for place, name in enumerate(scores.series):
        answered = scores.samples[find_rows(scores, place)].sum(axis=0) > 0
        here = np.flatnonzero(answered).tolist()
        names = hash_problem_set(
            (scores.problems[at] for at in here), (scores.gold[at] for at in here if known)
        )
        said = source.settings.get_protocol(name).list_stated()
        score = (("score", score_name),) if score_name else ()
        found.append((name, (*score, *said, ("problem set", names))))
    return found
