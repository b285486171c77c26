"""Blocks about scores in a whole draft: numbers, defaults, colours, the cache, problems with their lines."""

from __future__ import annotations

import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

import pytest
from made_projects import RUNS, write_file, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError
from reportgen.core.model import Figure, Stack
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from reportgen.core.model import Shown
    from reportgen.draft.report import Report

PAGE = """---
benchmark: {name: Contest, source: suite, baseline: base}
---

# Contest

```scores
```

```passk
```

```comparison
```

```comparison
id: both
benchmarks: [Contest, Textbook]
```

```problems
slices: [subject]
```

```runs
```
"""
PROTOCOL = """
protocol: {samples: 2, temperature: 0.7}
protocols: {tuned: {temperature: 0}}
"""


def answers(benchmarks: Iterable[str] = ("Contest", "Textbook"), *, more: str = "") -> str:
    """Two samples of each of eight problems: tuned solves two in three, base one in two, runs differ."""
    rows = ["benchmark,series,seed,problem,subject,sample,answer,score"]
    for benchmark in benchmarks:
        for series, wrong in (("base", 2), ("tuned", 3)):
            for seed in (1, 2):
                for problem in range(8):
                    for sample in (1, 2):
                        score = int((problem + sample + seed) % wrong > 0)
                        rows.append(
                            f"{benchmark},{series},{seed},{benchmark[0]}{problem},"
                            f"{'algebra' if problem < 4 else 'geometry'},{sample},{score + 4},{score}"
                        )
    return "\n".join(rows) + "\n" + more


def files(page: str = PAGE, **more: str | None) -> dict[str, str | bytes | None]:
    """A report about the suite."""
    said: dict[str, str | bytes | None] = {
        "content/index.md": page,
        "data/suite/outcomes.csv": answers(),
        "data/suite/source.yml": f"title: The suite{PROTOCOL}",
        "data/runs.csv": None,
    }
    return said | more


def drafted(root: Path, *pages: str, elsewhere: Any = None, **settings: Any) -> Report:  # noqa: ANN401
    """Draft the report in a folder."""
    project = Project(root, "content", pages or ("index.md",), ProjectSettings.model_validate(settings))
    folder = cache_folder(root)
    return draft(project, Cache(folder), FileHashes(folder), start_worker=elsewhere)


def problems(root: Path, *pages: str, **settings: Any) -> list[str]:  # noqa: ANN401
    """What stops a draft."""
    with pytest.raises(ReportError) as error:
        drafted(root, *pages, **settings)
    return [str(problem) for problem in error.value.problems]


def block(*lines: str, kind: str = "scores") -> str:
    """A page with one block, whose fence is in line 3."""
    return "\n".join(["# Page", "", f"```{kind}", *lines, "```", ""])


def numbers(shown: Shown) -> dict[str, Any]:
    """The numbers of a block about scores, as report.json will have them."""
    assert isinstance(shown, Stack | Figure)
    found: dict[str, Any] = json.loads(json.dumps(shown.numbers, allow_nan=False))
    return found


def test_every_block_about_scores_is_shown(tmp_path: Path) -> None:
    """On a benchmark's page they need not say anything; each has its numbers and how they were measured."""
    report = drafted(write_report(tmp_path, files()))
    kinds = {name: type(shown) for (_, name), shown in report.shown.items()}
    assert kinds == {
        "scores": Stack,
        "passk": Figure,
        "comparison": Stack,
        "both": Stack,
        "problems": Stack,
        "runs": Stack,
    }
    for (_, name), shown in report.shown.items():
        told = numbers(shown)
        for part in told["benchmarks"].values() if name == "both" else [told]:
            assert set(part["protocol"]) == {"base", "tuned"}
            assert part["mixed_protocol"] == {"temperature": {"0.7": ["base"], "0": ["tuned"]}}
            assert part["found"]["rows"] == 64


def test_the_numbers_are_those_of_the_data(tmp_path: Path) -> None:
    """By hand: of base's answers half are right, of tuned's two thirds but for the ends of the count."""
    report = drafted(write_report(tmp_path, files()))
    (base, tuned) = numbers(report.shown["index.md", "scores"])["scores"]
    right = [
        (problem + sample + seed) % 3 > 0 for problem in range(8) for sample in (1, 2) for seed in (1, 2)
    ]
    assert (base["series"], base["estimate"], base["runs"], base["problems"]) == ("base", 0.5, 2, 8)
    assert tuned["estimate"] == pytest.approx(sum(right) / len(right))
    assert (base["samples"], base["group"]) == ([2, 2], 1)
    (pair,) = numbers(report.shown["index.md", "comparison"])["comparisons"]
    assert (pair["a"], pair["b"], pair["shared"]) == ("base", "tuned", 8)
    assert pair["difference"] == pytest.approx(base["estimate"] - tuned["estimate"])
    both = numbers(report.shown["index.md", "both"])
    assert both["baseline"] == "base"
    assert set(both["series"]["tuned"]) == {"Contest", "Textbook"}
    assert both["macro"]["tuned"]["against"]["b"] == "base"
    runs = numbers(report.shown["index.md", "runs"])["spreads"]
    assert [len(one["runs"]) for one in runs] == [2, 2]
    sliced = numbers(report.shown["index.md", "problems"])["slices"]["subject"]
    assert {value: one[0]["problems"] for value, one in sliced.items()} == {"algebra": 4, "geometry": 4}
    curves = numbers(report.shown["index.md", "passk"])["scores"]
    assert {one["metric"] for one in curves} == {"pass@1", "pass@2"}


def test_the_benchmark_s_key_results(tmp_path: Path) -> None:
    """From the same scores as its page's blocks; the card of an overview is this."""
    report = drafted(write_report(tmp_path, files()))
    result = report.benchmarks["index.md"]
    facts = dict(result.facts)
    assert result.name == "Contest"
    assert result.leader == ""
    assert result.score.startswith("No clear winner; highest score: tuned ")
    assert result.others == (("Textbook", "No clear winner"),)  # which the page compares too
    assert facts["Problems"] == "8 × 2 samples, 2 series"
    assert facts["Protocol"] == "samples 2"
    assert facts["Caution"] == "mixed protocols: temperature differs"


def test_what_was_drawn_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second draft opens no table, and shows the same."""
    root = write_report(tmp_path, files())
    first = drafted(root)

    def never(*_: object) -> None:
        pytest.fail("outcomes were read")

    monkeypatch.setattr(sys.modules["reportgen.read"], "read_outcomes", never)
    second = drafted(root)
    assert list(second.shown.items()) == list(first.shown.items())
    assert second.benchmarks == first.benchmarks
    assert second.keys == first.keys


def test_a_protocol_decides_what_is_shown(tmp_path: Path) -> None:
    """It stands in source.yml, which counts as much as the data."""
    root = write_report(tmp_path, files())
    before = drafted(root)
    write_file(root / "data/suite/source.yml", "title: The suite\n")
    after = drafted(root)
    told = numbers(after.shown["index.md", "scores"])
    assert told["mixed_protocol"] == {}
    assert list(told["protocol"]["base"]) == ["problem set"]
    assert before.keys["index.md", "scores"] != after.keys["index.md", "scores"]


def test_a_series_has_one_colour_in_curves_and_scores(tmp_path: Path) -> None:
    """Drawn together with GRPO on one page, MEL keeps its slot among scores on another."""
    names = {"base": "GRPO", "tuned": "MEL"}
    said = answers()
    for old, new in names.items():
        said = said.replace(f",{old},", f",{new},")
    more = {
        "content/curve.md": "# Curve\n\n```curve\nid: it\nsource: runs\n```\n",
        "data/runs.csv": RUNS,
        "data/suite/outcomes.csv": said,
    }
    page = block("source: suite", "benchmark: Contest")
    report = drafted(write_report(tmp_path, {**files(page), **more}), "index.md", "curve.md")
    curve, stack = report.shown["curve.md", "it"], report.shown["index.md", "scores"]
    assert isinstance(curve, Figure)
    assert isinstance(stack, Stack)
    (dots,) = [part for part in stack.parts if isinstance(part, Figure)]
    slots = dict(curve.legend)
    assert len(set(slots.values())) == 2
    for name, slot in slots.items():
        assert dict(dots.legend).get(name, slot) == slot
        assert f"var(--rg-series-{(slot or 0) + 1})" in str(dots.inline_svg)


def test_several_sources_stand_side_by_side(tmp_path: Path) -> None:
    """Each by its title; parts of one name by their source, too."""
    more = {
        "data/other/outcomes.csv": answers(["Contest"]),
        "data/other/source.yml": "title: Another\n",
    }
    page = block("sources: [suite, other]", "baseline: base", kind="comparison")
    report = drafted(write_report(tmp_path, files(page, **more)))
    told = numbers(report.shown["index.md", "comparison"])
    assert list(told["benchmarks"]) == ["Contest (suite)", "Textbook", "Contest (other)"]


def test_a_benchmark_without_a_page_gets_scores(tmp_path: Path) -> None:
    """Its data decide what its generated page shows."""
    declared = [{"name": "Textbook", "source": "suite", "metric": "pass@2", "baseline": "base"}]
    report = drafted(write_report(tmp_path, files("# Empty\n")), benchmarks=declared)
    assert [name for page, name in report.shown if page == "textbook.md"] == [
        *("scores", "comparison", "problems")
    ]
    told = numbers(report.shown["textbook.md", "scores"])
    assert {one["metric"] for one in told["scores"]} == {"pass@2"}
    assert report.benchmarks["textbook.md"].score.endswith("pass@2")
    (page,) = [page for page in report.pages if page.generated]
    assert "```scores" in page.text


def test_majority_votes_share_rows_with_means(tmp_path: Path) -> None:
    """Answers are counted where one block needs them, and the other's scores stay."""
    page = PAGE + "\n```scores\nid: votes\nmetric: maj@2\n```\n"
    report = drafted(write_report(tmp_path, files(page)))
    plain = drafted(write_report(tmp_path / "plain", files()))
    assert report.shown["index.md", "scores"] == plain.shown["index.md", "scores"]
    assert {one["metric"] for one in numbers(report.shown["index.md", "votes"])["scores"]} == {"maj@2"}


def test_only_these_series_in_this_order(tmp_path: Path) -> None:
    """A filter and a choice of series reach the data; groups are those of what is shown."""
    page = block("source: suite", "benchmark: Contest", "series: [tuned]", "filter: {subject: algebra}")
    report = drafted(write_report(tmp_path, files(page)))
    (one,) = numbers(report.shown["index.md", "scores"])["scores"]
    assert (one["series"], one["problems"]) == ("tuned", 4)
    page = block("source: suite", "benchmark: Contest", "series: [tuned, base]", "order: given")
    report = drafted(write_report(tmp_path / "two", files(page)))
    told = numbers(report.shown["index.md", "scores"])["scores"]
    assert [one["series"] for one in told] == ["tuned", "base"]


@pytest.mark.parametrize(
    ("lines", "kind", "said"),
    [
        (
            ["source: suite", "benchmark: Contest", "metric: pass@3"],
            "scores",
            "pass@k with k = 3 needs 3 samples of each problem",
        ),
        (
            ["source: suite", "benchmark: Contest", "baseline: bsae"],
            "comparison",
            'there is no series "bsae" in these outcomes. Did you mean "base"? Its series are "base", ',
        ),
        (
            ["source: suite", "baseline: other"],
            "comparison",
            'there is no series "other" in these outcomes. Its series are "base", "tuned".',
        ),
        (["source: suite", "benchmark: Contest", "series: [none]"], "scores", '"none"'),
        (["source: suite", "benchmark: Contest", "highlight: [none]"], "passk", '"none"'),
        (["source: suite", "benchmark: Contest", "filter: {subject: music}"], "runs", ""),
    ],
)
def test_what_the_outcomes_cannot_give_is_told_at_the_block(
    tmp_path: Path, lines: list[str], kind: str, said: str
) -> None:
    """With the line of its fence, once."""
    (told,) = problems(write_report(tmp_path, files(block(*lines, kind=kind))))
    assert told.startswith("content/index.md:3: ")
    assert said in told


def test_scores_outside_of_their_range_are_told(tmp_path: Path) -> None:
    """With the line of the data, once, and what to do."""
    said = answers(["Contest"], more="Contest,base,1,C0,algebra,3,7,7\n")
    page = block("source: suite", "benchmark: Contest")
    told = problems(write_report(tmp_path, files(page, **{"data/suite/outcomes.csv": said})))
    assert len(told) == 1
    assert told[0].startswith('data/suite/outcomes.csv:66: "7" in column "score" is outside 0 to 1.')


def test_a_benchmark_that_cannot_be_scored_is_told_at_its_page(tmp_path: Path) -> None:
    """Its metric asks for more samples than there are; nothing of it is drawn."""
    page = "---\nbenchmark: {name: Contest, source: suite, metric: pass@9}\n---\n# Contest\n"
    (told,) = problems(write_report(tmp_path, files(page)))
    assert told.startswith("content/index.md:2: pass@k with k = 9 needs 9 samples of each problem")


class Travelling:
    """Does the work here, on what would arrive in another process, and sends the result back."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
        """As ``Elsewhere``."""
        self.asked.append(work.__name__)
        result = pickle.dumps(work(*pickle.loads(pickle.dumps(arguments))))  # noqa: S301 - made one line before
        return lambda: pickle.loads(result)  # noqa: S301 - as above


def test_a_large_report_s_scores_are_shared_with_a_second_process(tmp_path: Path) -> None:
    """Pages about scores may go there as well as others, and come back the same."""
    page = PAGE.replace("source: suite", "source: s{}").replace(
        "name: Contest", "name: B{}, benchmark: Contest"
    )
    more: dict[str, str | None] = {}
    for number in range(8):
        more[f"content/p{number}.md"] = page.replace("{}", str(number)).replace(
            "benchmarks: [Contest, Textbook]", f"source: s{number}\nbenchmarks: [Contest, Textbook]"
        )
        more[f"data/s{number}/outcomes.csv"] = answers()
    pages = tuple(f"p{number}.md" for number in range(8))
    alone = drafted(write_report(tmp_path / "alone", files("# Empty\n", **more)), *pages)
    elsewhere = Travelling()
    together = drafted(
        write_report(tmp_path / "two", files("# Empty\n", **more)), *pages, elsewhere=elsewhere
    )
    assert elsewhere.asked == ["_read", "_draw"]
    assert list(together.shown.items()) == list(alone.shown.items())
    assert together.benchmarks == alone.benchmarks


def test_pairs_with_few_problems_are_drawn_beside_others(tmp_path: Path) -> None:
    """No difference on 6 problems could be clear among so many pairs: their critical value is no number."""
    rows = ["series,problem,score"]
    for row, problems in enumerate((*[40] * 9, 6)):
        rows += [f"s{row},p{one},{(one * (row + 3) // 5) % 2}" for one in range(problems)]
    page = "# Small\n\n```comparison\nsource: answers\n```\n"
    root = write_report(tmp_path, {"content/index.md": page, "data/answers.csv": "\n".join(rows)})
    (shown,) = drafted(root, "index.md").shown.values()
    critical = [one["critical"] for one in numbers(shown)["comparisons"]]
    assert None in critical
    assert any(critical)
