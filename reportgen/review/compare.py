"""Two states of a report to what changed between them: a pure function of both.

A review has at most 5 MB as JSON, and so many entries in each list. What matters least is left out: first the
points of figures, then entries of the longest lists.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.core import __version__
from reportgen.review.comparison.figures import ChangeContext, compare_figures, compare_tables
from reportgen.review.comparison.identity import match, match_pages, match_statements
from reportgen.review.comparison.numbers import compare_numbers, compare_reported
from reportgen.review.comparison.verdicts import list_differences
from reportgen.review.model import (
    MOST_BYTES,
    MOST_ENTRIES,
    Counts,
    Generator,
    PageChange,
    ProblemChanges,
    Review,
    ReviewProblem,
    SourceChange,
    StatementChange,
    StatementSide,
    encode_json,
    write_review,
)
from reportgen.review.snapshot import define_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.comparison.identity import Matched
    from reportgen.review.model import Cause, FigureChange, Value
    from reportgen.review.snapshot import Snapshot
    from reportgen.settings.inputs import Source

    Sides: TypeAlias = tuple[tuple[dict[str, Any] | None, dict[str, Any] | None, dict[str, Any]], ...]

# Without the words on what was left out.
_ROOM: Final = MOST_BYTES - 5_000
_LISTS: Final = ("statements", "numbers", "figures", "tables", "pages", "sources")


def compare_reports(base: Snapshot, head: Snapshot) -> Review:
    """What changed from ``base`` to ``head``; the files of drafted states are read where they differ."""
    pages = match_pages(base, head)
    renamed = {was["path"]: now["path"] for was, now in pages.pairs if was["path"] != now["path"]}
    # Settings of sources are known where both states are drafted.
    shared: dict[str, tuple[Source, Source]] = {}
    if base.drafted and head.drafted:
        before, after = base.drafted.sources, head.drafted.sources
        shared = {name: (before[name], after[name]) for name in sorted(before.keys() & after.keys())}
    sources = tuple(_compare_sources(base.files, head.files, shared))
    tools = {base.origin.tool, head.origin.tool} - {""}
    around = _describe_surroundings(sources, shared, renamed=renamed, other_tool=len(tools) > 1)
    if base.drafted and head.drafted:
        numbers, family, same = compare_numbers(base.drafted, head.drafted, renamed)
    else:
        numbers, family, same = compare_reported(base, head, around)
    figures, without_points = compare_figures(base, head, around)
    review = Review(
        generator=Generator(name="reportgen", version=__version__),
        base=base.origin,
        head=head.origin,
        family=family,
        statements=tuple(_compare_statements((*pages.sides, *_match_documents(base, head)), around)),
        numbers=numbers,
        figures=figures,
        tables=tuple(compare_tables(base, head, around)),
        pages=tuple(_compare_pages(pages, base, head)),
        sources=sources,
        problems=_compare_problems(base, head),
    )
    left_out = (f"the series of {without_points:,} of {len(figures):,} figures",) if without_points else ()
    return thin_review(review.replace(counts=count_changes(review, same), truncated=left_out))


def _describe_surroundings(
    sources: Sequence[SourceChange],
    shared: Mapping[str, tuple[Source, Source]],
    *,
    renamed: Mapping[str, str],
    other_tool: bool,
) -> ChangeContext:
    renames = {name: (was.settings.rename, now.settings.rename) for name, (was, now) in shared.items()}
    return ChangeContext(
        renamed=renamed,
        changed_files=frozenset(
            one.name for one in sources if one.files_added or one.files_removed or one.files_changed
        ),
        renamed_series={
            name: {was.get(one, one): now.get(one, one) for one in sorted({*was, *now})}
            for name, (was, now) in renames.items()
        },
        definitions={
            name: list_differences(define_source(was), define_source(now))
            for name, (was, now) in shared.items()
        },
        other_tool=other_tool,
    )


def count_changes(review: Review, same: int = 0) -> Counts:
    """Count what a review lists; ``same`` is how many numbers it does not list."""
    verdicts: Counter[str] = Counter(one.verdict for one in review.numbers)
    broken = [one.kind for one in review.statements if one.is_broken]
    return Counts(
        flipped=broken.count("claim"),
        stale_values=broken.count("value"),
        mended=sum(one.change == "mended" for one in review.statements),
        differences=verdicts["higher"] + verdicts["lower"],
        worse=sum(one.good is False for one in review.numbers),
        unclear=verdicts["unclear"] + verdicts["too few"],
        re_estimated=verdicts["re-estimated"],
        measured_differently=verdicts["measured differently"],
        not_comparable=verdicts["not comparable"],
        new=verdicts["new"],
        gone=verdicts["gone"],
        same=same,
        figures=len(review.figures),
        tables=len(review.tables),
        pages=len(review.pages),
    )


def _match_documents(base: Snapshot, head: Snapshot) -> Sides:
    """Documents by path; reports of earlier versions have none."""
    both = [one.report.get("documents", []) for one in (base, head)]
    return match(*both, lambda document: document["path"]).sides


def _compare_statements(pages: Sides, around: ChangeContext) -> Iterator[StatementChange]:
    for *both, page in pages:
        before, after = (one["statements"] if one else () for one in both)
        for was, now, statement in match_statements(before, after).sides:
            change = "new" if now else "gone"
            causes: tuple[Cause, ...] = ("text",)
            if was and now:
                text = any(
                    was[name] != now[name] for name in ("words", "expression", "of", "expected_to_fail")
                )
                if not text and was["truth"] == now["truth"]:
                    continue
                change = "mended" if now["as_expected"] else "broken"
                change = "changed" if was["as_expected"] == now["as_expected"] else change
                facts = was["facts"] != now["facts"]
                found = around.find_causes(None, numbers=facts, words=text, defined=False)
                # What the page says is its text's doing only where that changed.
                causes = found or (("text",) if text else ("definition",))
            sides = [one and StatementSide.fit(one, expected=one["as_expected"]) for one in (was, now)]
            yield StatementChange.fit(
                statement, page=page["path"], change=change, before=sides[0], after=sides[1], causes=causes
            )


def _compare_pages(pages: Matched[dict[str, Any]], base: Snapshot, head: Snapshot) -> Iterator[PageChange]:
    # Of a report.json no page's text is known.
    both = base.drafted and head.drafted
    texts = [one.drafted.texts if one.drafted and both else {} for one in (base, head)]
    for was, now, page in pages.sides:
        if was is None or now is None:
            yield PageChange.fit(page, change="new" if now else "gone")
            continue
        before, after = texts[0].get(was["path"], ""), texts[1].get(now["path"], "")
        renamed = was["path"] != now["path"]
        if renamed or before != after or was["title"] != now["title"]:
            lines = Counter(before.splitlines()), Counter(after.splitlines())
            yield PageChange.fit(
                now,
                was_path=was["path"] if renamed else "",
                change="renamed" if renamed else "text",
                lines_added=(lines[1] - lines[0]).total(),
                lines_removed=(lines[0] - lines[1]).total(),
            )


def _compare_sources(
    before: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]],
    shared: Mapping[str, tuple[Source, Source]],
) -> Iterator[SourceChange]:
    """Sources by the SHA-256 of their files, and by their settings where these are known."""
    for name in sorted({*before, *after}):
        was, now = before.get(name, {}), after.get(name, {})
        change = "new" if name not in before else "gone" if name not in after else "changed"
        stated = [one.settings.model_dump(mode="json") for one in shared.get(name, ())]
        settings = sorted(key for key in stated[1] if stated[0][key] != stated[1][key]) if stated else []
        if change != "changed" or was != now or settings:
            yield SourceChange.fit(
                name=name,
                change=change,
                files_added=sorted(now.keys() - was.keys()),
                files_removed=sorted(was.keys() - now.keys()),
                files_changed=sorted(path for path in was.keys() & now.keys() if was[path] != now[path]),
                settings_changed=settings,
            )


def _compare_problems(base: Snapshot, head: Snapshot) -> ProblemChanges:
    """Problems by file and message, wherever they stand; those of statements are listed as these."""
    sides = []
    for one in (base, head):
        pages = (*one.report["pages"], *one.report.get("documents", []))
        stated = tuple(f'"{each["words"]}"' for page in pages for each in page["statements"])
        sides.append([each for each in one.report["problems"] if not each["message"].startswith(stated)])
    matched = match(
        sides[0], sides[1], lambda one: (one["file"], one["message"]), lambda one: (one["file"], one["line"])
    )
    new, gone = ([*map(ReviewProblem.fit, problems)] for problems in (matched.new, matched.gone))
    return ProblemChanges.fit(new=new, gone=gone)


def thin_review(review: Review) -> Review:
    """The review within its limits; what is left out, points of figures first, is named in ``truncated``.

    Then lists are cut to as many bytes each as all have room for; what broke or clearly moved stays longest.
    """
    lists: dict[str, tuple[Value, ...]] = {name: getattr(review, name) for name in _LISTS}
    # Our JSON has spaces, which pydantic's has not; it is never twice as long.
    few = all(len(entries) <= MOST_ENTRIES for entries in lists.values())
    if few and 2 * len(review.model_dump_json().encode()) < _ROOM:
        return review
    words = [*review.truncated]
    sizes = {name: list(map(_measure, entries)) for name, entries in lists.items()}
    room = _ROOM - len(write_review(review.replace(**dict.fromkeys(_LISTS, ()))).encode())
    spare = room - sum(map(sum, sizes.values()))
    if spare < 0:
        lists["figures"] = _leave_out_points(review.figures, sizes["figures"], spare, words)
    shortest_first = sorted(lists, key=lambda name: (name != "statements", sum(sizes[name])))
    for place, name in enumerate(shortest_first):
        # Statements have all the room that they need; of the others, short ones leave theirs to long ones.
        share = room if name == "statements" else room // (len(lists) - place)
        entries = lists[name]
        lists[name] = fitting = _shorten(entries, sizes[name], share)
        room -= sum(sizes[name]) if len(fitting) == len(entries) else share
        if len(fitting) < len(entries):
            words.append(f"{len(entries) - len(fitting):,} of {len(entries):,} {name}")
    return review.replace(**lists, truncated=tuple(words[-50:]))


def _measure(entry: Value) -> int:
    """The bytes of an entry of a list, with the separator after it."""
    return len(encode_json(entry.model_dump(mode="json")).encode()) + 2


def _leave_out_points(
    figures: tuple[FigureChange, ...], sizes: list[int], spare: int, words: list[str]
) -> tuple[FigureChange, ...]:
    """The figures without points, from the last, as far as there is no room; updates ``sizes``."""
    light = list(figures)
    for place in range(len(figures) - 1, -1, -1):
        if spare >= 0:
            break
        one = figures[place]
        if one.series:
            light[place] = one.replace(series=tuple(each.replace(before=(), after=()) for each in one.series))
            spare += sizes[place]
            sizes[place] = _measure(light[place])
            spare -= sizes[place]
    changed = sum(was is not now for was, now in zip(figures, light, strict=True))
    if changed:
        words.append(f"the points of {changed:,} of {len(figures):,} figures")
    return tuple(light)


def _shorten(entries: tuple[Value, ...], sizes: list[int], most: int) -> tuple[Value, ...]:
    """The entries that fit into so many bytes, in their order; those that matter most go first."""
    minor = [
        not (getattr(one, "is_broken", False) or getattr(one, "verdict", "") in {"higher", "lower"})
        for one in entries
    ]
    fitting = []
    for place in sorted(range(len(entries)), key=minor.__getitem__)[:MOST_ENTRIES]:
        most -= sizes[place]
        if most < 0:
            break
        fitting.append(place)
    return tuple(entries[place] for place in sorted(fitting))
