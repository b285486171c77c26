"""A benchmark that repeats others, or looks like a total over them, is in no average with them."""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from test_score_kinds import compare, write_totals

import reportgen as notebook
from reportgen.notebook.score_frames import MACRO

if TYPE_CHECKING:
    from pathlib import Path


def write_answers(**problems: range) -> tuple[str, dict[str, float]]:
    """Answers of two models to the problems of benchmarks, and the first one's mean over single benchmarks.

    A problem of a range has the same answers in each benchmark.
    """
    rows = [
        f"{model},{name},{'all/' * (len(numbers) > 30)}p-{number},{(number * factor) % 7 % 2}"
        for name, numbers in problems.items()
        for number in numbers
        for model, factor in (("Elm", 5), ("Fir", 11))
    ]
    means = {name: sum(n * 5 % 7 % 2 for n in numbers) / len(numbers) for name, numbers in problems.items()}
    return "\n".join(["model,benchmark,problem,score", *rows]) + "\n", means


@pytest.mark.parametrize(
    ("problems", "repeats"),
    [
        ({"Law": range(15), "Maths": range(15, 40), "All": range(40), "Code": range(50, 68)}, ["All"]),
        (
            {"Everything": range(20), "Law": range(9), "Maths": range(9, 20), "Code": range(30, 45)},
            ["Everything"],
        ),
        (
            {
                "Law": range(9),
                "Maths": range(9, 20),
                "Pair": range(20),
                "Code": range(20, 33),
                "All": range(33),
            },
            ["Pair", "All"],
        ),
        ({"Law": range(20), "Law again": range(20), "Code": range(30, 45)}, ["Law again"]),
        # Problems of their own, and some in common.
        ({"Law": range(15), "Maths": range(15, 40), "All": range(60, 100), "Code": range(50, 58)}, []),
        ({"Law": range(15), "Maths": range(15, 27), "Most": range(29), "Code": range(50, 58)}, []),
    ],
)
def test_a_benchmark_that_repeats_the_problems_of_others_is_in_no_average(
    tmp_path: Path, problems: dict[str, range], repeats: list[str]
) -> None:
    """Whatever it is called: ids and scores say so. A notebook averages over the same benchmarks."""
    text, means = write_answers(**problems)
    macro, caption, found = compare(tmp_path, {"answers.csv": text})
    single = [mean for name, mean in means.items() if name not in repeats]
    assert macro["Elm"] == pytest.approx(sum(single) / len(single))
    assert ("in no average" in caption, found) == (bool(repeats), [])
    frame = notebook.compare(notebook.read(tmp_path / "data/s"), a="Elm", b="Fir")
    (row,) = frame[frame["benchmark"] == MACRO].to_dict("records")
    own = {one["benchmark"]: one["difference"] for one in frame.to_dict("records")}
    assert row["difference"] == pytest.approx(fmean(own[name] for name in problems if name not in repeats))


_MMLU = {"mmlu": (61.3, 55.2), "mmlu_stem": (50.1, 48.0), "mmlu_law": (70.2, 60.3), "gsm8k": (40.2, 30.3)}


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(
    ("changed", "n", "is_total"),
    [
        ({}, None, True),
        ({}, {"mmlu": 900, "mmlu_stem": 400, "mmlu_law": 300, "gsm8k": 50}, True),
        # Not between its parts for each model, over fewer problems, with one part, and without a separator.
        ({"mmlu": (61.3, 47.0)}, None, False),
        ({}, {"mmlu": 500, "mmlu_stem": 400, "mmlu_law": 300, "gsm8k": 50}, False),
        ({"mmlu_law": None, "law": (70.2, 60.3)}, None, False),
        ({"mmlu_law": None, "mmlulaw": (70.2, 60.3)}, None, False),
    ],
)
def test_what_looks_like_a_total_by_name_and_scores_is_a_warning_with_the_lines_that_end_it(
    tmp_path: Path, changed: dict[str, Any], n: dict[str, int] | None, *, is_total: bool, wide: bool
) -> None:
    """In a long or wide table; the lines say that it is one, or none."""
    rows = {name: values for name, values in (_MMLU | changed).items() if values}
    files = write_totals(rows, n=n)
    files["source.yml"] += "score_range: [0, 100]\n"
    if wide:
        lines = [
            f"{model},{','.join(str(v[at]) for v in rows.values())}"
            for at, model in enumerate(("Elm", "Fir"))
        ]
        files["scores.csv"] = "\n".join([f"model,{','.join(rows)}", *lines]) + "\n"
        files["source.yml"] = files["source.yml"].replace("totals", "wide")
    is_total = is_total or (wide and bool(n) and not changed)
    _, caption, found = compare(tmp_path / "a", files)
    assert ("mmlu is a mean or total over others" in caption, len(found)) == (is_total, int(is_total))
    for number, line in enumerate(re.findall(r"benchmarks: \[.*?\]", "".join(found))):
        macro, _, problems = compare(tmp_path / f"b{number}", files, f"{line}\n")
        own = [values[0] for name, values in rows.items() if name != "mmlu" or number]
        assert (macro["Elm"], problems) == (pytest.approx(sum(own) / len(own)), [])
