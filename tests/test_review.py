"""Reviews of planted changes: counts, verdicts, causes, exit codes, and the laws of two comparisons.

What a review of each case says in full is in ``tests/review_cases/``, looked at and accepted.
"""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import jsonschema  # type: ignore[import-untyped]
import pytest
from made_reviews import BEFORE, CHANGES, SETTINGS, TRAINING, write_state
from pydantic import ValidationError

from reportgen.core.cache import Cache
from reportgen.core.model import Figure
from reportgen.review.compare import compare_reports, thin_review
from reportgen.review.model import Origin, is_met, make_review_schema, read_review, write_review
from reportgen.review.snapshot import Snapshot, read_snapshot, take_snapshot
from reportgen.review.text import list_lines
from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.review.model import Review

    Take: TypeAlias = Callable[[str], Snapshot]

ACCEPTED = Path(__file__).parent / "review_cases"
DATA, TEXT, DEFINITION = ("data",), ("text",), ("definition",)


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Take:
    """The state of a case by its name, drafted once; ``base`` and ``before NAME`` are those before."""
    states: dict[str, Snapshot] = {}
    cache = tmp_path_factory.mktemp("cache")

    def take_state(name: str) -> Snapshot:
        if name not in states:
            case = name.removeprefix("before ")
            files = {**BEFORE.get(case, {}), **(CHANGES.get(case, {}) if case == name else {})}
            root = write_state(tmp_path_factory.mktemp("state"), files)
            report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None, folder=cache)
            origin = Origin(kind="folder", name=name, tool="0.1.0")
            states[name] = take_snapshot(origin, report, root, Cache(cache))
        return states[name]

    return take_state


def review_case(take: Take, case: str, *, back: bool = False) -> Review:
    """What a planted change, or taking it ``back``, does."""
    base, head = take(f"before {case}" if case in BEFORE else "base"), take(case)
    return compare_reports(head, base) if back else compare_reports(base, head)


class Expected(NamedTuple):
    """What a case gives: counts without equal numbers, numbers, statements, figures, and what fails on it."""

    counts: dict[str, int]
    # series, verdict, whether it is good, method, causes
    numbers: tuple[tuple[str, str, bool | None, str, tuple[str, ...]], ...] = ()
    # kind, change, causes
    statements: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    # id, change, causes
    figures: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    fails_on: tuple[str, ...] = ("any",)


CURVE: Final = (("accuracy", "data", DATA),)
SCORES: Final = (("scores", "data", DATA),)
FLIPPED: Final = ("flips", "worse", "any")
EXPECTED: Final[dict[str, Expected]] = {
    "nothing": Expected({}, fails_on=()),
    "one-value": Expected(
        {"stale_values": 1, "differences": 1, "worse": 1, "figures": 1},
        (("MEL", "lower", False, "welch", DATA),),
        (("value", "broken", DATA),),
        CURVE,
        FLIPPED,
    ),
    "claim-becomes-false": Expected(
        {"flipped": 1, "differences": 1, "figures": 1},
        (("GRPO", "higher", True, "welch", DATA),),
        (("claim", "broken", DATA),),
        CURVE,
        FLIPPED,
    ),
    "claim-becomes-true": Expected(
        {"mended": 1, "differences": 1, "worse": 1, "figures": 1},
        (("GRPO", "lower", False, "welch", DATA),),
        (("claim", "mended", DATA),),
        CURVE,
        ("worse", "any"),
    ),
    "two-seeds-added": Expected(
        {"re_estimated": 1, "figures": 1}, (("GRPO", "re-estimated", None, "nested runs", DATA),), (), CURVE
    ),
    "run-replaced": Expected(
        {"stale_values": 1, "unclear": 1, "figures": 1},
        (("MEL", "unclear", None, "welch", DATA),),
        (("value", "broken", DATA),),
        CURVE,
        FLIPPED,
    ),
    "scores-fall": Expected(
        {"flipped": 1, "differences": 1, "worse": 1, "figures": 1, "tables": 1},
        (("tuned", "lower", False, "paired", DATA),),
        (("claim", "broken", DATA),),
        SCORES,
        FLIPPED,
    ),
    "k-changed": Expected(
        {"not_comparable": 2, "figures": 1, "tables": 1, "pages": 1},
        tuple((name, "not comparable", None, "none", DEFINITION) for name in ("base", "tuned")),
        (),
        (("scores", "definition", DEFINITION),),
    ),
    "protocol-changed": Expected(
        {"measured_differently": 2, "figures": 1, "tables": 1},
        (
            ("base", "measured differently", None, "none", DEFINITION),
            ("tuned", "measured differently", None, "paired", (*DATA, *DEFINITION)),
        ),
        (),
        SCORES,
    ),
    "series-renamed": Expected(
        {"figures": 1, "tables": 1, "pages": 1},
        (),
        (("claim", "changed", (*TEXT, *DEFINITION)),),
        (("scores", "looks", DEFINITION),),
    ),
    "page-renamed": Expected({"pages": 1}),
    "series-gone": Expected(
        {"gone": 1, "figures": 1, "tables": 1, "pages": 1},
        (("base", "gone", None, "none", DATA),),
        (("claim", "gone", TEXT),),
        SCORES,
    ),
    "text-only": Expected({"pages": 1}),
    "page-renamed-and-changed": Expected(
        {"flipped": 1, "differences": 1, "worse": 1, "figures": 1, "tables": 1, "pages": 1},
        (("tuned", "lower", False, "paired", DATA),),
        (("claim", "broken", (*DATA, *TEXT)),),
        SCORES,
        FLIPPED,
    ),
    "figure-id-changed": Expected(
        {"stale_values": 1, "differences": 1, "worse": 1, "figures": 1, "pages": 1},
        (("MEL", "lower", False, "welch", DATA),),
        (("value", "broken", DATA),),
        (("by-step", "data", DATA),),
        FLIPPED,
    ),
    "runs-renamed": Expected({}),
    "three-runs-replaced-and-two-added": Expected(
        {"stale_values": 1, "unclear": 1, "figures": 1},
        (("MEL", "unclear", None, "welch", DATA),),
        (("value", "broken", DATA),),
        CURVE,
        FLIPPED,
    ),
    "one-of-equal-titles-removed": Expected({"figures": 1, "pages": 1}, figures=(("accuracy", "gone", ()),)),
    "filter-added": Expected(
        {"stale_values": 1, "not_comparable": 2, "figures": 1, "pages": 1},
        tuple((name, "not comparable", None, "none", DEFINITION) for name in ("MEL", "GRPO")),
        (("value", "broken", DEFINITION),),
        (("accuracy", "definition", DEFINITION),),
        FLIPPED,
    ),
    "metric-of-the-report-changed": Expected(
        {"not_comparable": 2, "figures": 2, "tables": 2},
        tuple((name, "not comparable", None, "none", DEFINITION) for name in ("base", "tuned")),
        (),
        tuple((name, "definition", DEFINITION) for name in ("scores", "comparison-differences")),
    ),
    "baseline-changed": Expected(
        {"figures": 1, "pages": 1}, figures=(("pairs-differences", "definition", DEFINITION),)
    ),
    "observations-change": Expected(
        {"flipped": 1, "differences": 1, "figures": 1, "tables": 1},
        (("GRPO", "higher", True, "welch", DATA),),
        (("claim", "broken", DATA),),
        CURVE,
        FLIPPED,
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_planted_change_is_found_and_nothing_else(case: str, take: Take) -> None:
    """Exact counts, verdicts, methods and causes, and which conditions fail."""
    review, expected = review_case(take, case), EXPECTED[case]
    counts = {name: count for name, count in review.counts if count and name != "same"}
    assert counts == expected.counts
    numbers = tuple((n.series, n.verdict, n.good, n.method, n.causes) for n in review.numbers)
    assert numbers == expected.numbers
    assert tuple((s.kind, s.change, s.causes) for s in review.statements) == expected.statements
    assert tuple((f.id, f.change, f.causes) for f in review.figures) == expected.figures
    assert tuple(one for one in FLIPPED if is_met(review, one)) == expected.fails_on
    assert not is_met(review, "never")
    assert case in BEFORE or review.counts.same + len(review.numbers) == 4


@pytest.mark.parametrize("case", CHANGES)
def test_a_review_is_as_accepted(case: str, take: Take, request: pytest.FixtureRequest) -> None:
    """The whole of each review, as JSON and in lines for the terminal."""
    review = review_case(take, case)
    found = {
        f"{case}.json": re.sub(r'"report_sha256": "[0-9a-f]+"', '"report_sha256": ""', write_review(review)),
        f"{case}.txt": "".join(f"{line}\n" for line in list_lines(review)),
    }
    for name, text in found.items():
        if request.config.getoption("--accept"):
            ACCEPTED.mkdir(exist_ok=True)
            (ACCEPTED / name).write_text(text, "utf-8")
        how = f"python -m pytest {Path(__file__).relative_to(Path.cwd())} -k {case} --accept"
        assert (ACCEPTED / name).read_text("utf-8") == text, f"look at it; if it is right: {how}"


@pytest.mark.parametrize("case", ["base", *CHANGES, *(f"before {case}" for case in BEFORE)])
def test_a_state_does_not_differ_from_itself(case: str, take: Take) -> None:
    """``review A A`` is empty, and every number is the same."""
    review = compare_reports(take(case), take(case))
    assert review.is_empty
    assert review.counts.same > 0
    assert review.family.tests == 0


def mirror_number(number: dict[str, Any]) -> dict[str, Any]:
    """A number as the reverse comparison has it, without names and words, which are of the new state."""
    opposite = {"higher": "lower", "lower": "higher", "new": "gone", "gone": "new"}
    delta = dict(number["delta"]) if number["delta"] else None
    if delta:
        ends = delta["high"], delta["low"]
        delta["low"], delta["high"] = (None if end is None else 0 - end for end in ends)
        delta["value"] = 0 - delta["value"]
    runs, problems = (dict(number[name]) if number[name] else None for name in ("runs", "problems"))
    if runs:
        runs["added"], runs["removed"] = runs["removed"], runs["added"]
    if problems:
        problems["only_base"], problems["only_head"] = problems["only_head"], problems["only_base"]
    return {
        "before": number["after"],
        "after": number["before"],
        "delta": delta,
        "runs": runs,
        "problems": problems,
        "method": number["method"],
        "verdict": opposite.get(number["verdict"], number["verdict"]),
        "good": None if number["good"] is None else not number["good"],
    }


@pytest.mark.parametrize("case", CHANGES)
def test_the_reverse_review_mirrors(case: str, take: Take) -> None:
    """``review B A`` says the reverse of ``review A B``, to the last digit."""
    there, back = review_case(take, case), review_case(take, case, back=True)
    numbers = [json.loads(one.model_dump_json()) for one in there.numbers]
    found = [json.loads(one.model_dump_json()) for one in back.numbers]
    expected = [mirror_number(one) for one in numbers]
    assert [{key: one[key] for key in expected[0]} for one in found] == expected if expected else not found
    opposite = {"broken": "mended", "mended": "broken", "new": "gone", "gone": "new"}
    changes = [opposite.get(one.change, one.change) for one in there.statements]
    assert [one.change for one in back.statements] == changes
    assert [one.before for one in back.statements] == [one.after for one in there.statements]
    assert back.counts.same == there.counts.same
    assert [(one.files_added, one.files_changed) for one in back.sources] == [
        (one.files_removed, one.files_changed) for one in there.sources
    ]
    for name in ("figures", "tables", "pages"):
        ways = [Counter(one.change for one in getattr(side, name)) for side in (there, back)]
        assert ways[1] == Counter({opposite.get(one, one): count for one, count in ways[0].items()})
    lines = [Counter(line.change for one in side.figures for line in one.series) for side in (there, back)]
    assert lines[1] == Counter({opposite.get(one, one): count for one, count in lines[0].items()})


def test_series_have_the_colours_of_the_report(tmp_path: Path) -> None:
    """Of the palette's places, also those that the author fixed, and none for what ``highlight`` greys."""
    settings = SETTINGS.replace("[reportgen]", "[{reportgen: {series: {GRPO: 5}}}]")
    page = TRAINING.replace("title: Accuracy", "title: Accuracy\nhighlight: [GRPO]")
    states = []
    for name in ("base", "claim-becomes-false"):
        changes = {**CHANGES.get(name, {}), "mkdocs.yml": settings, "content/training.md": page}
        root = write_state(tmp_path / name, changes)
        report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None, folder=tmp_path)
        states.append(take_snapshot(Origin(kind="folder", name=name), report, root, Cache(tmp_path)))
    (figure,) = compare_reports(*states).figures
    legend = [one.legend for one in report.shown.values() if isinstance(one, Figure)]
    assert {one.name: one.slot for one in figure.series} == {"MEL": None, "GRPO": 4}
    assert legend == [(("MEL", None), ("GRPO", 4))]


def test_a_review_is_the_same_bytes_twice(take: Take, tmp_path: Path) -> None:
    """From other folders and other caches, too."""
    texts = []
    for name in ("first", "second"):
        states = []
        for case in ("base", "scores-fall"):
            root = write_state(tmp_path / name / case, CHANGES.get(case))
            cache = tmp_path / name / "cache"
            report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None, folder=cache)
            origin = Origin(kind="folder", name=case, tool="0.1.0")
            states.append(take_snapshot(origin, report, root, Cache(cache)))
        texts.append(write_review(compare_reports(*states)))
    assert texts[0] == texts[1] == write_review(compare_reports(take("base"), take("scores-fall")))


@pytest.mark.parametrize("case", CHANGES)
def test_a_review_fits_its_schema(case: str, take: Take) -> None:
    """Pydantic's models and the printed JSON Schema accept what is written, and it is read back whole."""
    review = review_case(take, case)
    text = write_review(review)
    assert read_review(text) == review
    jsonschema.validate(json.loads(text), make_review_schema())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"format": 1', '"format": 2'),
        ('"format": 1', '"format": 1, "extra": 1'),
        ('"level": 0.95', '"level": NaN'),
        ('"level": 0.95', '"level": "0.95"'),
        ('"verdict": "higher"', '"verdict": "splendid"'),
        ('"series": "GRPO"', f'"series": "{"G" * 301}"'),
        ('"commit": ""', '"commit": "main"'),
        ('"truncated": []', f'"truncated": {json.dumps(["x"] * 51)}'),
    ],
)
def test_what_is_no_review_is_refused(before: str, after: str, take: Take) -> None:
    """A program with rights reads reviews of strangers: nothing unknown, unbounded or not a number passes."""
    text = write_review(compare_reports(take("base"), take("claim-becomes-false")))
    assert before in text
    with pytest.raises(ValidationError):
        read_review(text.replace(before, after))


def test_a_review_that_is_too_large_loses_points_first(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then rows, figures and all else; what is left out is named, and what is left is a review."""
    whole = compare_reports(take("base"), take("scores-fall"))
    size = len(write_review(whole).encode())
    left = []
    for most in (size, size - 100, size * 3 // 4, 1200):
        monkeypatch.setattr("reportgen.review.compare._ROOM", most)
        thinned = thin_review(whole)
        left.append((len(thinned.figures), len(thinned.statements), thinned.truncated))
        assert read_review(write_review(thinned)) == thinned
        assert thinned.counts == whole.counts
    assert left[0] == (1, 1, ())
    assert left[1] == (1, 1, ("the points of 1 of 1 figures",))
    assert left[2][1] == 1
    assert left[2][2][:2] == ("the points of 1 of 1 figures", "1 of 1 tables")
    assert left[3][0] == 0
    assert "1 of 1 figures" in left[3][2]


def test_many_unclear_numbers_leave_room_for_all_else(take: Take, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the longest list the entries that matter least go first, wherever they stand."""
    whole = compare_reports(take("base"), take("scores-fall"))
    (lower,) = whole.numbers
    numbers = [lower.model_copy(update={"verdict": "unclear", "series": f"{place}"}) for place in range(300)]
    large = whole.model_copy(update={"numbers": (*numbers, lower)})
    monkeypatch.setattr("reportgen.review.compare._ROOM", len(write_review(large).encode()) // 2)
    thinned = thin_review(large)
    kept = len(thinned.numbers)
    assert 100 < kept < 200
    assert thinned.numbers == (*numbers[: kept - 1], lower)
    assert (len(thinned.figures), thinned.statements, thinned.tables) == (1, whole.statements, whole.tables)
    assert thinned.truncated == ("the points of 1 of 1 figures", f"{301 - kept} of 301 numbers")
    assert len(write_review(thinned).encode()) <= len(write_review(large).encode()) // 2 + 200


def test_names_of_strangers_are_bounded(tmp_path: Path) -> None:
    """Whatever series, pages and problems are called, the review of a new report is one that is accepted."""
    root = tmp_path / "hostile"
    shutil.copytree(Path(__file__).parent / "cases/hostile-names", root)
    report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)
    state = take_snapshot(Origin(kind="folder", name="hostile"), report, root, Cache(tmp_path / "cache"))
    review = compare_reports(Snapshot(Origin(kind="revision", name="none", built=False)), state)
    assert review.figures
    assert {one.change for one in review.figures} == {"new"}
    assert read_review(write_review(review)) == review
    assert all("\n" not in line for line in list_lines(review))


def reread(snapshot: Snapshot, *changes: tuple[str, str]) -> Snapshot:
    """The same state from its report.json alone, with texts in it replaced."""
    text = json.dumps(snapshot.report)
    for was, now in changes:
        assert was in text
        text = text.replace(was, now)
    return read_snapshot(Origin(kind="report.json", name="report.json"), text)


def compare_texts(before: Snapshot, after: Snapshot) -> Review:
    """A review of two states of which only report.json is left."""
    return compare_reports(reread(before), reread(after))


def test_long_texts_of_a_report_are_cut(take: Take) -> None:
    """What a file may not hold is cut before it is written: titles, and names of series on one line."""
    long = json.dumps(f"A\n{'b ' * 3_000}")[1:-1]
    titled = reread(take("scores-fall"), ('"title": "Scores"', f'"title": "{long}"'))
    named = reread(titled, ('"tuned"', f'"{long}"'))
    review = compare_reports(reread(take("base")), named)
    assert [len(one.title) for one in review.figures] == [2_000]
    assert [len(one.title) for one in review.tables] == [2_000]
    (number,) = [one for one in review.numbers if one.verdict == "new"]
    assert (len(number.series), number.series[:5], number.series[-1]) == (300, "A b b", "…")
    assert read_review(write_review(review)) == review


def test_report_json_gives_numbers_and_statements(take: Take) -> None:
    """Without data nothing is paired, and the review says so."""
    review = compare_texts(take("base"), take("scores-fall"))
    (number,) = review.numbers
    assert (number.series, number.verdict, number.good) == ("tuned", "too few", None)
    assert number.why == "cannot be paired from report.json"
    assert number.delta is not None
    assert number.delta.value == pytest.approx(5 / 12 - 0.75)
    assert number.delta.low is None
    assert review.counts.flipped == 1
    assert review.sources[0].files_changed == ("data/exam/outcomes.csv",)
    assert compare_texts(take("base"), take("base")).is_empty


def test_another_version_of_the_tool_is_a_cause_of_its_own(take: Take) -> None:
    """The same data and definition, another number: neither better nor worse."""
    other = ('"version": "0.1.0"', '"version": "0.0.9"'), ('"value": 0.7975', '"value": 0.7976')
    review = compare_reports(reread(take("base"), *other), reread(take("base")))
    assert [(one.series, one.verdict, one.causes) for one in review.numbers] == [
        ("MEL", "measured differently", ("tool",))
    ]
    assert [(one.id, one.change, one.causes) for one in review.figures] == [("accuracy", "data", ("tool",))]
    assert (review.base.tool, review.head.tool) == ("0.0.9", "0.1.0")
