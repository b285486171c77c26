"""Which outcomes a block about scores asks for: defaults of page and source, and every way to be unclear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.core.model import CurveRequest, ScoreRequest
from reportgen.narrative.requests import fill_defaults, list_sources, make_benchmark_request, make_requests
from reportgen.settings.blocks import CurveSettings
from reportgen.settings.inputs import Block, Page, Source
from reportgen.settings.report import Benchmark, FrontMatter
from reportgen.settings.score_blocks import (
    ComparisonSettings,
    PasskSettings,
    ProblemsSettings,
    RunsSettings,
    ScoresSettings,
)
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from reportgen.settings.block_parts import BlockSettings


def source(name: str, **more: Any) -> Source:  # noqa: ANN401 - fields of every type
    """An opened source of outcomes."""
    place = SourceLocation(f"data/{name}.csv")
    given = {"kind": "outcomes", **more}
    return Source(name, place, SourceSettings(), (), (), (), "digest", **given)


SOURCES = {
    one.name: one
    for one in (
        source("plain"),
        source("suite", benchmarks=("Contest", "Textbook"), slices=("subject", "level")),
        source("single", benchmarks=("Contest",)),
        source("curves", kind="measurements"),
    )
}


def block(settings: BlockSettings, kind: str = "scores") -> Block:
    """A block in line 3 of a page."""
    return Block(kind, "it", settings, SourceLocation("content/a.md", 3), "")


def asked(settings: BlockSettings, benchmark: Benchmark | None = None) -> tuple[ScoreRequest, ...]:
    """The requests of a block."""
    found = make_requests(block(settings), page(benchmark), SOURCES)
    assert all(isinstance(one, ScoreRequest) for one in found)
    return tuple(one for one in found if isinstance(one, ScoreRequest))


def refused(settings: BlockSettings, benchmark: Benchmark | None = None) -> str:
    """What is told of a block that asks for what there is not."""
    with pytest.raises(ReportError) as caught:
        make_requests(block(settings), page(benchmark), SOURCES)
    place, _, said = str(caught.value).partition(": ")
    assert place == "content/a.md:3"
    return said


def test_a_block_that_names_its_source() -> None:
    """Everything else has a default; a filter of one value is one of several."""
    (one,) = asked(ScoresSettings(source="plain", filter={"level": 5, "subject": ("algebra", "geometry")}))
    assert one == ScoreRequest(
        source="plain",
        benchmark=None,
        series=None,
        where=(("level", (5,)), ("subject", ("algebra", "geometry"))),
        metric="mean",
        level=0.95,
        higher_is_better=True,
    )


def test_the_page_s_benchmark_fills_in() -> None:
    """Source, part, metric and direction come from it; what the block says comes first."""
    own = Benchmark(name="Textbook", source="suite", metric="pass@8", higher_is_better=False)
    (one,) = asked(ScoresSettings(), own)
    assert (one.source, one.benchmark, one.metric, one.higher_is_better) == (
        *("suite", "Textbook", "pass@8"),
        False,
    )
    (one,) = asked(ScoresSettings(benchmark="Contest", metric="mean", higher_is_better=True), own)
    assert (one.benchmark, one.metric, one.higher_is_better) == ("Contest", "mean", True)


def test_the_page_s_benchmark_says_nothing_of_another_one() -> None:
    """Which way is better on it is not which way is on the source's others."""
    own = Benchmark(name="Textbook", source="suite", higher_is_better=False)
    assert [one.higher_is_better for one in asked(ScoresSettings(benchmark="Contest"), own)] == [True]
    side_by_side = asked(ComparisonSettings(benchmarks=("Contest", "Textbook")), own)
    assert [one.higher_is_better for one in side_by_side] == [True, False]


def test_a_benchmark_of_another_source_fills_in_nothing() -> None:
    """A page about curves may show outcomes, too."""
    own = Benchmark(name="Training", source="curves", metric="accuracy", higher_is_better=False)
    (one,) = asked(RunsSettings(source="plain"), own)
    assert (one.metric, one.higher_is_better) == ("mean", True)


def test_the_baseline_is_the_benchmark_s() -> None:
    """Unless the block names one, or is about another source."""
    own = Benchmark(name="Contest", source="suite", baseline="Base")
    assert fill_defaults(ComparisonSettings(), own).baseline == "Base"
    assert fill_defaults(ComparisonSettings(baseline="Other"), own).baseline == "Other"
    assert fill_defaults(ComparisonSettings(source="plain"), own).baseline is None


def test_a_part_called_otherwise() -> None:
    """The benchmark's own name may differ from the data's."""
    own = Benchmark(name="Contest, spring", source="suite", benchmark="Contest")
    assert asked(ScoresSettings(), own)[0].benchmark == "Contest"
    assert asked(ScoresSettings(), Benchmark(name="Any", source="single"))[0].benchmark == "Contest"


def test_a_comparison_of_several_benchmarks() -> None:
    """All of the source, those named, or one; several sources stand side by side."""
    assert [one.benchmark for one in asked(ComparisonSettings(source="suite"))] == ["Contest", "Textbook"]
    named = ComparisonSettings(source="suite", benchmarks=("Textbook", "Contest"))
    assert [one.benchmark for one in asked(named)] == ["Textbook", "Contest"]
    assert [one.benchmark for one in asked(ComparisonSettings(source="suite", benchmark="Textbook"))] == [
        "Textbook"
    ]
    several = ComparisonSettings(sources=("plain", "suite"))
    assert [(one.source, one.benchmark) for one in asked(several)] == [
        ("plain", None),
        ("suite", "Contest"),
        ("suite", "Textbook"),
    ]
    assert list_sources(block(several), None) == ("plain", "suite")


def test_a_comparison_on_a_benchmark_s_page_is_about_it() -> None:
    """Its matrix, unless it names several."""
    own = Benchmark(name="Textbook", source="suite")
    assert [one.benchmark for one in asked(ComparisonSettings(), own)] == ["Textbook"]
    several = ComparisonSettings(benchmarks=("Contest", "Textbook"))
    assert len(asked(several, own)) == 2


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ScoresSettings(),
            (
                "this scores block names no source and its page has no benchmark. Add a line such "
                'as "source: NAME".'
            ),
        ),
        (
            ScoresSettings(source="suite"),
            (
                'this scores block names no benchmark and "suite" has 2. Its benchmarks are '
                '"Contest", "Textbook".'
            ),
        ),
        (
            PasskSettings(source="suite", benchmark="Contets"),
            (
                '"Contets" is no benchmark of source "suite". Did you mean "Contest"? Its '
                'benchmarks are "Contest", "Textbook".'
            ),
        ),
        (
            ScoresSettings(source="plain", benchmark="Contest"),
            (
                'source "plain" has no column that names benchmarks, so none is called "Contest". '
                "Leave out benchmark, or name the column under columns in data/plain.source.yml."
            ),
        ),
        (
            ProblemsSettings(source="suite", benchmark="Contest", slices=("levle",)),
            (
                '"levle" is no column of source "suite" to slice by. Did you mean "level"? There '
                'are "subject", "level".'
            ),
        ),
        (
            ScoresSettings(source="curves"),
            (
                'a scores block shows scores of problems, and "curves" has none. Its data need a '
                "column problem and a column score; where they are called otherwise, say so under columns in "
                "data/curves.source.yml; a table of scores of whole benchmarks is form: totals "
                "there, and form: wide with a column for each benchmark or model."
            ),
        ),
        (
            CurveSettings(source="plain"),
            ('a scores block draws measurements, and "plain" holds scores. Write a scores block instead.'),
        ),
        (
            ComparisonSettings(source="plain", sources=("suite",)),
            "this scores block names a source and sources. Write them all under sources.",
        ),
    ],
)
def test_what_is_unclear_is_told_with_its_line(settings: BlockSettings, said: str) -> None:
    """Never guessed: the names that there are stand beside."""
    assert refused(settings) == said


def page(benchmark: Benchmark | None) -> Page:
    """A benchmark's page."""
    return Page("a.md", "content/a.md", "A", FrontMatter(benchmark=benchmark), (), "")


def ranked(**said: Any) -> CurveRequest | ScoreRequest:  # noqa: ANN401
    """The request that ranks a benchmark of the suite."""
    benchmark = Benchmark(**{"name": "Contest", "source": "suite", **said})
    return make_benchmark_request(benchmark, SOURCES[benchmark.source_name], page(benchmark))


def test_a_benchmark_of_outcomes_is_ranked_by_its_metric() -> None:
    """The mean, if nothing is said."""
    one = ranked()
    assert isinstance(one, ScoreRequest)
    assert (one.benchmark, one.metric, one.level, one.higher_is_better) == ("Contest", "mean", 0.95, True)
    assert ranked(metric="maj@4", higher_is_better=False) == ScoreRequest(
        *("suite", "Contest", None, (), "maj@4", 0.95), higher_is_better=False
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"metric": "accuracy"},
            (
                '"accuracy" is no metric of scores, and "suite" holds scores. Write mean, or such '
                "as avg@16, pass@8, maj@8, pass^8."
            ),
        ),
        (
            {"name": "Quiz"},
            (
                'benchmark "Quiz" is none of the benchmarks of source "suite". '
                'Add benchmark: with one of "Contest", "Textbook".'
            ),
        ),
        (
            {"benchmark": "Textbok"},
            (
                '"Textbok" is no benchmark of source "suite". Did you mean "Textbook"? Its '
                'benchmarks are "Contest", "Textbook".'
            ),
        ),
        (
            {"source": "plain", "benchmark": "Contest"},
            (
                'source "plain" has no column that names benchmarks, so none is called "Contest". '
                "Leave out benchmark, or name the column under columns in data/plain.source.yml."
            ),
        ),
    ],
)
def test_a_benchmark_that_does_not_fit_its_data(said: dict[str, str], told: str) -> None:
    """Told at its page."""
    with pytest.raises(ReportError) as caught:
        ranked(**said)
    assert str(caught.value) == f"content/a.md: {told}"


def test_blocks_of_a_page_can_be_one_family() -> None:
    """Those that say so know how many they are; the others stand for themselves."""
    joined = [
        ScoresSettings(source="single", family="page"),
        ComparisonSettings(source="single", family="page"),
    ]
    alone = ScoresSettings(source="single")
    blocks = [block(settings) for settings in (*joined, alone)]
    whole = Page("a.md", "content/a.md", "A", FrontMatter(), tuple(blocks), "")
    found = [make_requests(one, whole, SOURCES)[0] for one in blocks]
    assert [one.family_blocks for one in found if isinstance(one, ScoreRequest)] == [2, 2, 1]
