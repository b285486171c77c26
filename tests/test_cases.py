"""Golden cases: whole reports through the real build, compared with what was looked at and accepted.

``tests/cases/<name>/`` is a report of its own; ``expected/`` beside it holds its numbers (``report.json``
and CSV) apart from its pictures and its pages' fragments, so that a change of either is seen by itself.
"""

from __future__ import annotations

import csv
import difflib
import io
import itertools
import json
import re
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_projects import share_cache
from scipy import stats
from scipy.special import expit, logit

from reportgen.site.publishing import publish

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
MOST_LINES = 60
# A figure, a table, panels, cards, sentences and so on: from its opening to the end of its outermost element.
NAMES_OF_BLOCKS = "figure|panels|stack|table|overview|benchmark|observations|checked"
BLOCKS = re.compile(rf'<(figure|div|section) class="rg-(?:{NAMES_OF_BLOCKS})[" ]')


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built report, whose cache spares the others what they share with it."""
    return build("minimal", tmp_path_factory.mktemp("cases"), None)


def build(case: str, folder: Path, warm: Path | None) -> Path:
    """Build a case in a folder of its own; returns that folder."""
    root = folder / case
    shutil.copytree(CASES / case, root, ignore=shutil.ignore_patterns("expected"))
    if warm:
        share_cache(warm, root)
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return root


def outputs(site: Path) -> dict[str, str]:
    """What a case is known by: its numbers, its pictures and its pages' fragments."""
    found = {"report.json": (site / "report.json").read_text("utf-8")}
    for path in sorted((site / "figures").rglob("*")):
        if path.suffix in {".csv", ".svg", ".js"} and not drawn_by_vega(path):
            found[path.relative_to(site).as_posix()] = path.read_bytes().decode()
    for path in sorted(site.rglob("index.html")):
        fragments = [fragment(part) for part in blocks(path.read_text("utf-8"))]
        if fragments:
            page = path.relative_to(site).parent.as_posix()
            found[f"pages/{'index' if page == '.' else page}.html"] = "\n".join(fragments) + "\n"
    return found


def drawn_by_vega(path: Path) -> bool:
    """Whether a picture is Vega's own, which another version of it draws a little otherwise."""
    return path.suffix == ".svg" and 'class="marks"' in path.read_text("utf-8")


def blocks(html: str) -> list[str]:
    """Each block of a page, with what stands inside."""
    found, end = [], 0
    for start in BLOCKS.finditer(html):
        if start.start() >= end:
            end = closing(html, start[1], start.start())
            found.append(html[start.start() : end])
    return found


def closing(html: str, tag: str, start: int) -> int:
    """The end of the element that begins at ``start``."""
    depth = 0
    for mark in re.compile(rf"<(/?){tag}\b[^>]*>").finditer(html, start):
        depth += -1 if mark[1] else 1
        if not depth:
            return mark.end()
    raise AssertionError(f"<{tag}> is not closed")


def fragment(html: str) -> str:
    """A block without the live view's data, which repeat the numbers, and without pictures of Vega."""
    html = re.sub(
        r'<script type="application/json" class="rg-payload">.*?</script>', "", html, flags=re.DOTALL
    )
    if 'data-kind="vega-lite"' in html or 'data-kind="altair"' in html:
        html = re.sub(r'<svg class="rg-picture".*</svg>', "", html, flags=re.DOTALL)
    return re.sub(r"\n\s*\n+", "\n", html)


@pytest.mark.parametrize("case", NAMES)
def test_the_case_is_as_accepted(
    case: str, warm: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every file of a case is what somebody looked at and accepted."""
    found = outputs(build(case, tmp_path, warm) / "site")
    expected = CASES / case / "expected"
    if request.config.getoption("--accept"):
        accept(expected, found)
    accepted = {
        path.relative_to(expected).as_posix(): path.read_bytes().decode()
        for path in sorted(expected.rglob("*"))
        if path.is_file()
    }
    how = (
        f'Look at the change; if it is right:\n    python -m pytest tests/test_cases.py -k "{case}" --accept'
    )
    for name in sorted(found.keys() | accepted.keys()):
        was, now = accepted.get(name, ""), found.get(name, "")
        assert was == now, f"{case}/expected/{name}\n{difference(was, now)}\n{how}"


def accept(expected: Path, found: dict[str, str]) -> None:
    """Make what was found what is expected."""
    shutil.rmtree(expected, ignore_errors=True)
    for name, text in found.items():
        path = expected / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def difference(was: str, now: str) -> str:
    """The first lines that differ, each cut to what a terminal shows."""
    lines = difflib.unified_diff(was.splitlines(), now.splitlines(), "accepted", "now", lineterm="", n=1)
    return "\n".join(line[:300] for line, _ in zip(lines, range(MOST_LINES), strict=False))


# ---- what was accepted is right: the same numbers, computed another way -----------------------------


def rows(case: str, file: str) -> list[dict[str, str]]:
    """A CSV file of a case."""
    text = (CASES / case / file).read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_the_accepted_bands_are_student_s() -> None:
    """Mean and 95 % interval of five runs at every step, by scipy, from the data of the case."""
    values = defaultdict(list)
    for row in rows("five-runs-with-bands", "data/runs.csv"):
        values[row["model"], float(row["step"])].append(float(row["accuracy"]))
    drawn = rows("five-runs-with-bands", "expected/figures/index/accuracy-during-training.csv")
    assert len(drawn) == len(values) == 12
    for row in drawn:
        runs = np.array(values[row["series"], float(row["step"])])
        interval = stats.t.interval(0.95, runs.size - 1, runs.mean(), stats.sem(runs))
        assert float(row["value"]) == pytest.approx(runs.mean())
        assert (float(row["low"]), float(row["high"])) == pytest.approx(interval)
        assert row["n"] == "5"


def test_the_accepted_irregular_data_are_what_is_left_of_them() -> None:
    """The last of two rows of a step, no value that is not finite, no run beyond its end, by hand."""
    drawn = rows("irregular-data", "expected/figures/index/figure.csv")
    mel = [(row["step"], row["n"]) for row in drawn if row["series"] == "MEL"]
    assert mel == [("0", "2"), ("10", "2"), ("20", "2"), ("40", "1")]
    # Run 1: 0.1, 0.3, 0.5, 0.6 at 0, 10, 20, 40; run 2: 0.14, 0.45 at 0, 20, so 0.295 at 10.
    values = [float(row["value"]) for row in drawn if row["series"] == "MEL"]
    assert values == pytest.approx([0.12, (0.3 + 0.295) / 2, 0.475, 0.6])
    assert {row["series"] for row in drawn} == {"MEL", "GRPO, tuned"}


def told(case: str, page: str, block: str) -> dict[str, Any]:
    """The accepted numbers of a block about scores."""
    report = json.loads((CASES / case / "expected" / "report.json").read_text("utf-8"))
    (found,) = [one for one in report["pages"] if one["path"] == page]
    stacks = {stack["id"]: stack["numbers"] for stack in found["stacks"]}
    numbers: dict[str, Any] = stacks[block]
    return numbers


def by_problem(case: str, file: str, benchmark: str) -> dict[str, dict[str, float]]:
    """Mean score of each series on each problem, the last of repeated rows counts."""
    samples: dict[tuple[str, str, str], float] = {}
    for row in rows(case, file):
        if row["benchmark"] == benchmark and row["score"]:
            samples[row["model"], row["problem"], row["sample"]] = float(row["score"])
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (series, problem, _), score in samples.items():
        found[series][problem].append(score)
    return {
        series: {problem: float(np.mean(scores)) for problem, scores in of_series.items()}
        for series, of_series in found.items()
    }


def test_the_accepted_scores_are_student_s_over_problems() -> None:
    """Mean and interval of every series, by scipy, on the logit scale.

    Where half of the problems are at one end of the range, and the bound on unseen problems reaches at least
    half as far as t, the limit on that side leaves out 5 % by itself.
    """
    case = "scores-two-benchmarks"
    means = by_problem(case, "data/suite/outcomes.csv", "contest")
    scores = told(case, "contest.md", "scores-on-the-contest")["scores"]
    assert {one["series"] for one in scores} == set(means) == {"base", "tuned", "large, greedy"}
    for one in scores:
        values = np.array(list(means[one["series"]].values()))
        mean, bound = values.mean(), 1 - 0.025 ** (1 / values.size)
        scale = stats.sem(values) / (mean * (1 - mean))
        tails = [0.025, 0.025]
        law = stats.t(values.size - 1, logit(mean), scale)
        low, high = (float(expit(law.ppf(tail))) for tail in (0.025, 0.975))
        wrong, right = np.count_nonzero(values == 0), np.count_nonzero(values == 1)
        if 2 * wrong >= values.size and wrong > right and high - mean <= 2 * bound * (1 - mean):
            tails[0] = 0.05
        elif 2 * right >= values.size and right > wrong and mean - low <= 2 * bound * mean:
            tails[1] = 0.05
        ends = tuple(float(expit(law.ppf(tail))) for tail in (tails[0], 1 - tails[1]))
        assert one["problems"] == values.size
        assert one["estimate"] == pytest.approx(mean)
        assert (one["low"], one["high"]) == pytest.approx(ends)


def test_the_accepted_comparison_is_the_exact_permutation_test() -> None:
    """Each pair on the problems that both answered: every flip of signs, by enumeration."""
    case = "scores-two-benchmarks"
    means = by_problem(case, "data/suite/outcomes.csv", "contest")
    pairs = told(case, "contest.md", "against-base")["comparisons"]
    expected = []
    for one in pairs:
        a, b = means[one["a"]], means[one["b"]]
        differences = np.array([a[problem] - b[problem] for problem in sorted(a.keys() & b.keys())])
        flips = np.array(list(itertools.product((-1, 1), repeat=differences.size)))
        sums = np.abs(flips @ differences)
        expected.append(float(np.mean(sums >= abs(differences.sum()) - 1e-9)))
        assert (one["shared"], one["difference"]) == (differences.size, pytest.approx(differences.mean()))
    assert [one["p"] for one in pairs] == pytest.approx(expected)
    assert all(one["p"] <= one["adjusted_p"] <= 1 for one in pairs)


def test_the_accepted_report_says_what_is_missing_and_what_is_mixed() -> None:
    """A repeated row, a problem that one lacks, a series without a benchmark, protocols that differ."""
    case = "scores-two-benchmarks"
    contest = told(case, "contest.md", "scores-on-the-contest")
    assert (contest["found"]["replaced"], contest["found"]["lacking"]) == (1, [["large, greedy", ["c2"]]])
    assert set(contest["mixed_protocol"]) == {"temperature", "problem set"}
    assert contest["mixed_protocol"]["temperature"] == {"0.7": ["base", "tuned"], "0": ["large, greedy"]}
    both = told(case, "index.md", "both")
    assert both["benchmarks"]["textbook"]["found"]["missing"] == 1
    assert both["series"]["unranked"]["contest"]["score"]["estimate"] is None
    assert both["macro"]["unranked"]["score"]["estimate"] is None
    assert both["macro"]["unranked"]["reason"] or both["macro"]["unranked"]["score"]["reason"]
    assert "unranked" not in json.dumps(both["benchmarks"]["contest"])


def test_the_accepted_errors_are_better_where_they_are_fewer() -> None:
    """Groups and verdicts turn with the direction; runs have Student's interval, one run has none."""
    case = "scores-lower-is-better"
    groups = told(case, "word-errors.md", "comparison")
    estimates = {one["series"]: one["estimate"] for one in groups["scores"]}
    assert sorted(estimates, key=lambda name: estimates[name]) == ["reader-2", "reader-3", "reader-1"]
    assert groups["groups"] == [["reader-2"], ["reader-3"], ["reader-1"]]
    for one in groups["comparisons"]:
        assert one["verdict"] == ("better" if one["difference"] < 0 else "worse")
    lines = (CASES / case / "data/errors/outcomes.jsonl").read_text("utf-8").splitlines()
    runs: dict[tuple[str, str], list[float]] = defaultdict(list)
    for answer in map(json.loads, lines):
        runs[answer["series"], answer["run"]].append(answer["score"])
    for one in told(case, "index.md", "three-runs-of-each-reader")["spreads"]:
        means = [float(np.mean(scores)) for (series, _), scores in runs.items() if series == one["series"]]
        assert one["mean"] == pytest.approx(np.mean(means))
        if len(means) == 1:
            assert (one["sd"], one["low"], one["high"]) == (None, None, None)
            continue
        interval = stats.t.interval(0.95, len(means) - 1, np.mean(means), stats.sem(means))
        assert (one["low"], one["high"]) == pytest.approx(interval)


def test_no_accepted_file_holds_a_machine_s_trace() -> None:
    """No folder of the test, no time, no number that is none."""
    for path in CASES.rglob("expected/**/*"):
        if path.is_file():
            text = path.read_text("utf-8")
            assert not re.search(r"pytest-of|/tmp/|\bNaN\b|\bInfinity\b", text), path


def test_every_case_is_accepted() -> None:
    """A case without expectations would hold nothing."""
    assert len(NAMES) >= 13
    assert all((CASES / name / "expected" / "report.json").is_file() for name in NAMES)
