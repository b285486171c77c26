"""The ``flips`` block: which problems turned right or wrong from one series of answers to another.

It is a map of the flipped problems in both series, with the sign test of their counts and the paired verdict
on the scores, which decides: flips are chosen by what happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reportgen.core.comparisons import ScoresError
from reportgen.core.model import Table
from reportgen.core.words import format_count, format_percent
from reportgen.draft.blocks.scores import check_series, draw_score_block, to_json_values
from reportgen.figures.plot import join_caption
from reportgen.figures.scores.comparison import describe_comparisons, write_answer
from reportgen.figures.scores.heatmap import HeatMap, Tile, make_figure
from reportgen.figures.scores.wording import format_p_text, list_protocol_notes
from reportgen.figures.style import pick_slots
from reportgen.figures.text import isolate_names, write_table_csv
from reportgen.statistics.flips import compute_sign_p, count_answers, find_flips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reportgen.core.comparisons import Comparison
    from reportgen.core.model import Figure, Stack
    from reportgen.draft.blocks.draw_inputs import DrawInputs
    from reportgen.draft.blocks.plan import PlannedBlock
    from reportgen.draft.blocks.scores import ScoreBlock
    from reportgen.settings.score_blocks import FlipsSettings
    from reportgen.statistics.flips import Answers, Flip

MOST_ITEMS: Final = 50
"""Most flipped problems drawn, the most certain first; the CSV file has them all."""


def draw_flips(planned: PlannedBlock, settings: FlipsSettings, inputs: DrawInputs) -> Figure | Stack:
    """Draw a ``flips`` block. Raises ``ReportError`` as ``draw_score_block``."""
    return draw_score_block(_draw, planned, settings, inputs)


def _draw(block: ScoreBlock, settings: FlipsSettings) -> tuple[Figure, dict[str, Any]]:
    from reportgen.statistics.compare import compare_all  # noqa: PLC0415 - only where it is drawn

    scores, names = block.problems, (settings.before, settings.after)
    for name in names:
        check_series(name, scores.series, block.context.place)
    sides = [count_answers(scores, name) for name in names]
    shared = sum(bool(old.total and new.total) for old, new in zip(*sides, strict=True))
    if not shared:
        raise ScoresError(
            f"no problem was answered by both {names[0]} and {names[1]}",
            "Name two series that share problems",
        )
    flips = find_flips(scores.problems, *sides)
    better = block.request.higher_is_better
    (pair,) = compare_all(
        scores, pairs=[(names[1], names[0])], level=block.request.level, higher_is_better=better
    )
    gained = sum(flip.change > 0 for flip in flips)
    counts = {"shared": shared, "gained": gained, "lost": len(flips) - gained}
    p = compute_sign_p(gained, len(flips) - gained)
    drawn = _make_figure(block, settings, flips, counts)
    context = block.add_notes(replace(scores.notes, incomplete=()))
    methods = describe_comparisons([pair], context, "pair") if pair.difference is not None else ()
    mixed, how = list_protocol_notes(context, names)
    sentences = [
        f"Mostly right is more than half of the answers; {format_count(shared, 'problem')} answered by both.",
        f"The first {MOST_ITEMS} of {len(flips):,}; the CSV file has them all."
        if len(flips) > MOST_ITEMS
        else "",
        f"Exact sign test of {gained:,} against {len(flips) - gained:,}: {format_p_text(p)}."
        if flips
        else "",
        *mixed,
    ]
    return replace(
        drawn,
        caption=join_caption(sentences, context, names, (*how, *methods)),
        summary=isolate_names(_write_summary(names, counts, pair, block), names),
    ), {**counts, "before": names[0], "after": names[1], "sign_p": p, "comparison": to_json_values(pair)}


def _write_summary(names: Sequence[str], counts: dict[str, int], pair: Comparison, block: ScoreBlock) -> str:
    gained, lost = (format_count(counts[one], "problem") for one in ("gained", "lost"))
    turned = f"From {names[0]} to {names[1]} {gained} turned mostly right and {lost} mostly wrong."
    return f"{turned} {write_answer([pair], names[0], block.context)}"


def _make_figure(
    block: ScoreBlock, settings: FlipsSettings, flips: Sequence[Flip], counts: dict[str, int]
) -> Figure:
    """Draw a row for each flipped problem, with the share of right answers of both series."""
    names = (settings.before, settings.after)
    heat = HeatMap(
        names,
        tuple(
            (flip.problem, tuple(map(_make_tile, [flip.problem] * 2, names, flip[1:])))
            for flip in flips[:MOST_ITEMS]
        ),
        ("0%", "100%"),
        of_items=True,
    )
    title = settings.title or f"{block.context.benchmark}: what turned right or wrong"
    subtitle = f"share of right answers in %, {counts['gained']:,} turned right, {counts['lost']:,} wrong"
    header = ("problem", *names, "turned")
    rows = tuple(
        (flip.problem, *map(_write_answers, flip[1:]), "right" if flip.change > 0 else "wrong")
        for flip in flips
    )
    csv = write_table_csv(
        ("problem", "before_right", "before_answers", "after_right", "after_answers"),
        [(flip.problem, *flip.before, *flip.after) for flip in flips],
    )
    return replace(
        make_figure(block.id, heat, title, subtitle, block.context),
        kind="flips",
        table_data=Table(header, rows[:MOST_ITEMS]),
        csv=csv,
        legend=tuple(pick_slots(names, block.context.slots).items()),
    )


def _make_tile(problem: str, series: str, answers: Answers) -> Tile:
    share = answers.right / answers.total
    number = format_percent(share, decimals=0).removesuffix("%")
    return Tile(number, (problem, f"{series}: {_write_answers(answers)} right"), series, share, share)


def _write_answers(answers: Answers) -> str:
    return f"{answers.right:,} of {answers.total:,}"
