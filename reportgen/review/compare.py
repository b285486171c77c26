"""Two states of a report to what changed between them: a pure function of both."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from reportgen.core import __version__
from reportgen.review.comparison.figures import ChangeContext, compare_figures, compare_tables
from reportgen.review.comparison.identity import match, match_pages, match_statements
from reportgen.review.comparison.numbers import compare_numbers
from reportgen.review.comparison.reported import compare_reported
from reportgen.review.comparison.verdicts import list_differences
from reportgen.review.limits import thin_review
from reportgen.review.model import (
    LONGEST_NAME,
    MOST_ENTRIES,
    Counts,
    Family,
    Generator,
    PageChange,
    ProblemChanges,
    Review,
    ReviewProblem,
    SourceChange,
    StatementChange,
    StatementSide,
    clip,
)
from reportgen.review.snapshot import define_source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.review.comparison.identity import Matched
    from reportgen.review.model import Cause, SourceOutcome, StatementOutcome
    from reportgen.review.snapshot import Snapshot
    from reportgen.settings.inputs import Source


def compare_reports(base: Snapshot, head: Snapshot) -> Review:
    """What changed from ``base`` to ``head``; the files of drafted states are read where they differ."""
    pages = match_pages(base, head)
    renamed = {was["path"]: now["path"] for was, now in pages.pairs if was["path"] != now["path"]}
    shared = _list_shared_sources(base, head)
    sources = tuple(_compare_sources(base.files, head.files, shared))
    around = ChangeContext(
        renamed=renamed,
        changed_files=frozenset(
            one.name for one in sources if one.files_added or one.files_removed or one.files_changed
        ),
        renamed_series={name: _list_renames(*pair) for name, pair in shared.items()},
        definitions={
            name: list_differences(define_source(was), define_source(now))
            for name, (was, now) in shared.items()
        },
        other_tool=bool(base.origin.tool and head.origin.tool) and base.origin.tool != head.origin.tool,
    )
    if base.drafted and head.drafted:
        numbers, family, same = compare_numbers(base.drafted, head.drafted, renamed)
    else:
        (numbers, same), family = compare_reported(base, head, around), Family()
    figures, without_points = compare_figures(base, head, around)
    review = Review(
        generator=Generator(name="reportgen", version=__version__),
        base=base.origin,
        head=head.origin,
        family=family,
        statements=tuple(_compare_statements(pages, around)),
        numbers=numbers,
        figures=figures,
        tables=tuple(compare_tables(base, head, around)),
        pages=tuple(_compare_pages(pages, base, head)),
        sources=sources,
        problems=_compare_problems(base, head),
    )
    update: dict[str, Any] = {"counts": count_changes(review, same)}
    if without_points:
        update["truncated"] = (f"the series of {without_points:,} of {len(figures):,} figures",)
    return thin_review(review.model_copy(update=update))


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


def _compare_statements(pages: Matched[dict[str, Any]], around: ChangeContext) -> Iterator[StatementChange]:
    for before, after in pages.pairs:
        matched = match_statements(before["statements"], after["statements"])
        partners = {id(now): was for was, now in matched.pairs}
        for now in after["statements"]:
            if change := _compare_statement(after["path"], partners.get(id(now)), now, around):
                yield change
        for was in matched.gone:
            yield _describe_statement(after["path"], "gone", was, None)
    for page in pages.new:
        yield from (_describe_statement(page["path"], "new", None, one) for one in page["statements"])
    for page in pages.gone:
        yield from (_describe_statement(page["path"], "gone", one, None) for one in page["statements"])


def _compare_statement(
    page: str, was: Mapping[str, Any] | None, now: Mapping[str, Any], around: ChangeContext
) -> StatementChange | None:
    if was is None:
        return _describe_statement(page, "new", None, now)
    text = any(was[name] != now[name] for name in ("words", "expression", "of", "expected_to_fail"))
    if not text and was["truth"] == now["truth"]:
        return None
    change: StatementOutcome = "changed"
    if was["as_expected"] != now["as_expected"]:
        change = "mended" if now["as_expected"] else "broken"
    facts = was["facts"] != now["facts"]
    found = around.find_causes(None, numbers=facts, words=text, defined=False)
    # What the page says is its text's doing only where that changed.
    causes = found or (("text",) if text else ("definition",))
    return _describe_statement(page, change, was, now, causes)


def _describe_statement(
    page: str,
    change: StatementOutcome,
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
    causes: tuple[Cause, ...] = ("text",),
) -> StatementChange:
    def describe(one: Mapping[str, Any]) -> StatementSide:
        return StatementSide(
            line=one["line"],
            words=clip(one["words"]),
            expression=clip(one["expression"]),
            truth=one["truth"],
            expected=one["as_expected"],
            found=clip(one["found"]),
            evidence=tuple(map(clip, one["evidence"][:20])),
        )

    known = after or before or {}
    return StatementChange(
        page=clip(page, LONGEST_NAME),
        kind=known["kind"],
        change=change,
        before=describe(before) if before else None,
        after=describe(after) if after else None,
        causes=causes,
    )


def _compare_pages(pages: Matched[dict[str, Any]], base: Snapshot, head: Snapshot) -> Iterator[PageChange]:
    # Of a report.json no page's text is known.
    both = base.drafted and head.drafted
    texts = [one.drafted.texts if one.drafted and both else {} for one in (base, head)]
    for was, now in pages.pairs:
        before, after = texts[0].get(was["path"], ""), texts[1].get(now["path"], "")
        renamed = was["path"] != now["path"]
        if renamed or before != after or was["title"] != now["title"]:
            lines = Counter(before.splitlines()), Counter(after.splitlines())
            yield PageChange(
                path=clip(now["path"], LONGEST_NAME),
                was_path=clip(was["path"], LONGEST_NAME) if renamed else "",
                title=clip(now["title"]),
                change="renamed" if renamed else "text",
                lines_added=(lines[1] - lines[0]).total(),
                lines_removed=(lines[0] - lines[1]).total(),
            )
    for page in pages.new:
        yield PageChange(path=clip(page["path"], LONGEST_NAME), title=clip(page["title"]), change="new")
    for page in pages.gone:
        yield PageChange(path=clip(page["path"], LONGEST_NAME), title=clip(page["title"]), change="gone")


def _compare_sources(
    before: Mapping[str, Mapping[str, str]],
    after: Mapping[str, Mapping[str, str]],
    shared: Mapping[str, tuple[Source, Source]],
) -> Iterator[SourceChange]:
    """Sources by the SHA-256 of their files, and by their settings where these are known."""
    for name in sorted({*before, *after}):
        short = clip(name, LONGEST_NAME)
        if name not in before or name not in after:
            files = _clip_names(sorted(before.get(name) or after[name]))
            added, removed = (files, ()) if name in after else ((), files)
            change: SourceOutcome = "new" if name in after else "gone"
            yield SourceChange(name=short, change=change, files_added=added, files_removed=removed)
            continue
        was, now = before[name], after[name]
        changed = [path for path in sorted(was.keys() & now.keys()) if was[path] != now[path]]
        settings = _list_settings(*shared[name]) if name in shared else []
        if was != now or settings:
            yield SourceChange(
                name=short,
                files_added=_clip_names(sorted(now.keys() - was.keys())),
                files_removed=_clip_names(sorted(was.keys() - now.keys())),
                files_changed=_clip_names(changed),
                settings_changed=_clip_names(settings),
            )


def _clip_names(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(clip(name, LONGEST_NAME) for name in names[:MOST_ENTRIES])


def _list_shared_sources(base: Snapshot, head: Snapshot) -> dict[str, tuple[Source, Source]]:
    """Sources before and after, by name; none where one state is not drafted."""
    if not base.drafted or not head.drafted:
        return {}
    before, after = base.drafted.sources, head.drafted.sources
    return {name: (before[name], after[name]) for name in sorted(before.keys() & after.keys())}


def _list_settings(was: Source, now: Source) -> list[str]:
    """The keys of a ``source.yml`` that differ."""
    before, after = (one.settings.model_dump(mode="json") for one in (was, now))
    return sorted(key for key in after if before[key] != after[key])


def _list_renames(was: Source, now: Source) -> dict[str, str]:
    """New names of the series of a source by their old ones."""
    before, after = was.settings.rename, now.settings.rename
    return {before.get(one, one): after.get(one, one) for one in sorted({*before, *after})}


def _compare_problems(base: Snapshot, head: Snapshot) -> ProblemChanges:
    """Problems by file and message, wherever they stand; those of statements are listed as these."""

    def describe(problems: Sequence[Mapping[str, Any]]) -> tuple[ReviewProblem, ...]:
        return tuple(
            ReviewProblem(
                file=clip(one["file"], LONGEST_NAME),
                line=one["line"],
                severity=one["severity"],
                message=clip(one["message"]),
            )
            for one in problems[:MOST_ENTRIES]
        )

    sides = []
    for one in (base, head):
        stated = tuple(f'"{each["words"]}"' for page in one.report["pages"] for each in page["statements"])
        sides.append([each for each in one.report["problems"] if not each["message"].startswith(stated)])
    matched = match(
        sides[0], sides[1], lambda one: (one["file"], one["message"]), lambda one: (one["file"], one["line"])
    )
    return ProblemChanges(new=describe(matched.new), gone=describe(matched.gone))
