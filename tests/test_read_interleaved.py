"""Words that change along one line: train and val rows that take turns, phases of a run, and remarks."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHANCE = [random.Random(step).random() for step in range(60)]  # noqa: S311 - values, not secrets
PAGE = "# A\n\n```curve\nsource: s\nmetric: loss\n```\n"
PASSED = "0 statements"


def write_log(words: Callable[[int], str], gap: float, *, several: bool) -> str:
    """A log, of several runs or of one, with a word at each step; rows of some words are higher by a gap."""
    runs = ("A,1,", "A,2,", "B,1,") if several else ("",)
    higher = {"val", "True", "oak"}
    rows = [
        f"{run}{step},{word},{3 / (step + 5) + gap * (word in higher) + CHANCE[-step - number] / 9:.4f}"
        for number, run in enumerate(runs)
        for step in range(50)
        for word in [words(step)]
    ]
    return "\n".join([f"{'model,seed,' if several else ''}step,word,loss", *rows]) + "\n"


def check(root: Path, log: str, settings: str = "", block: str = "") -> str:
    """What ``check`` reports of a curve of a log."""
    page = PAGE.replace("loss\n", f"loss\n{block}")
    files = {
        "data/s.csv": log,
        "data/s.source.yml": settings,
        "data/runs.csv": None,
        "content/index.md": page,
    }
    return call(write_report(root, files), "check").stdout


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    ("words", "gap"),
    [
        (lambda step: "val" if step % 5 == 4 else "train", 0.5),
        (lambda step: "val" if step % 5 == 4 else "train", 0.0),
        (lambda step: "test" if step % 12 == 11 else "val" if step % 6 == 5 else "train", 0.2),
        (lambda step: str(step % 5 == 4), 0.5),
        (lambda step: "oak" if CHANCE[step] < 0.5 else "yew", 0.9),
    ],
    ids=["splits", "equal values", "three", "truth value", "irregular"],
)
def test_words_that_take_turns_along_a_line_are_an_error(
    tmp_path: Path, words: Callable[[int], str], gap: float, *, several: bool
) -> None:
    """Though series and seeds are known; each suggested key tells them apart, or a filter of the block."""
    log = write_log(words, gap, several=several)
    found = check(tmp_path, log)
    assert 'error: rows that differ in "word" take turns along one line' in found
    series = "[model, word]" if several else "word"
    assert f"Set columns: {{series: {series}}}" in found
    one = f"filter: {{word: {words(0)}}}\n"
    for said in (f"columns: {{series: {series}}}", one, "repeat: last"):
        assert PASSED in check(tmp_path, log, said)
    assert PASSED in check(tmp_path, log, block=one)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(
    "words",
    [
        lambda step: "warmup" if step < 10 else "main",
        lambda step: "hard" if 20 < step < 40 else "easy",
        lambda step: "restart" if step == 25 else "none",
        lambda step: "saved" if CHANCE[step] < 0.3 else "ok",
        lambda step: str(CHANCE[step] < 0.3),
        lambda step: "lr drop" if step in {20, 40} else "",
        lambda step: f"out/{step // 10}.pt",
        lambda step: "abcdefghijklmno"[int(15 * CHANCE[step])],
        lambda _: "cuda",
    ],
    ids=[
        "phases",
        "phases that come back",
        "one remark",
        "remarks",
        "truth value",
        "events",
        "checkpoints",
        "noise",
        "constant",
    ],
)
def test_words_that_describe_rows_are_no_lines(
    tmp_path: Path, words: Callable[[int], str], *, several: bool
) -> None:
    """They follow each other, or come at random and do not change the values."""
    assert PASSED in check(tmp_path, write_log(words, 0.0, several=several))
