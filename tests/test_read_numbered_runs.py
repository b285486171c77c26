"""Runs that only a number tells apart: a pattern that makes them runs of a few series, or none."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.read.runs.file_names import detect_numbered_runs

NAMES = st.lists(st.text("ab1(+$[]^\\", min_size=1, max_size=4), min_size=1, max_size=2)


@pytest.mark.parametrize(
    ("paths", "files", "series"),
    [
        ("strict/run_1 strict/run_3", "(?P<series>strict)/run_(?P<run>[0-9]+)", ["strict", "strict"]),
        ("A/run_1 B/run_1 B/run_2", "(?P<series>[^/]+)/run_(?P<run>[0-9]+)", ["A", "B", "B"]),
        ("x/A/1 x/A/2 x/B/1", "x/(?P<series>[^/]+)/(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("A/Hop-v1_1 A/Hop-v1_2 B/Hop-v1_1", "(?P<series>[^/]+)/Hop-v1_(?P<run>[0-9]+)", ["A", "A", "B"]),
        ("ppo_run1.csv ppo_run7.csv", "(?P<series>.+)_run(?P<run>[0-9]+)[.]csv", ["ppo", "ppo"]),
        ("ppo-0/log.txt dqn-0/log.txt dqn-1/log.txt", "(?P<series>.+)-(?P<run>[0-9]+)/log[.]txt", None),
        ("version_2 version_4", "(?P<series>version)_(?P<run>[0-9]+)", ["version", "version"]),
    ],
)
def test_repetitions_have_a_pattern(paths: str, files: str, series: list[str] | None) -> None:
    """It fits every path and takes series and run out of it."""
    found = detect_numbered_runs(paths.split(), "mine")
    assert found is not None
    assert found.files == files
    matches = [re.fullmatch(found.files, path) for path in paths.split()]
    told = [match["series"] for match in matches if match]
    assert told == (series or ["ppo", "dqn", "dqn"])
    assert found.series == len(set(told))


def test_a_series_without_a_name_gets_that_of_the_source() -> None:
    """What stands in its place says nothing."""
    named = {
        "run1.csv run2.csv": {"run": "mine"},
        "lightning_logs/version_0 lightning_logs/version_1": {"lightning_logs": "mine"},
        "A/run_1 A/run_2": {},
    }
    for paths, rename in named.items():
        found = detect_numbered_runs(paths.split(), "mine")
        assert found is not None
        assert found.rename == rename


@pytest.mark.parametrize(
    "paths",
    [
        "bert-512 bert-768",  # sizes
        "gpt-2 gpt-3",
        "lr_1 lr_10",
        "A/run_1 B/run_2",  # no series has two
        "A/run_1 run_2",  # not of one form
        "a1 a2",  # part of a name
        "1 2",  # nothing to call the series
        "A/x_1/b A/y_2/c",  # more than numbers differ
        "A/run_1 A/run_01",  # one number twice
        "A/gpt-512 A/gpt-768 B/gpt-512",  # sizes again
        "A/Hop-v1 A/Hop-v2 B/Hop-v1",  # versions
        "only",
        "",
    ],
)
def test_other_numbers_are_no_repetitions(paths: str) -> None:
    """Sizes, rates and parts of names stay what they are."""
    assert detect_numbered_runs(paths.split(), "mine") is None


@given(NAMES, st.integers(2, 4))
def test_a_pattern_fits_whatever_names_hold(parts: list[str], count: int) -> None:
    """Signs of regular expressions in names are names."""
    paths = ["/".join([*parts, f"run_{number}"]) for number in range(count)]
    found = detect_numbered_runs(paths, "mine")
    assert found is not None
    assert [match["run"] for path in paths if (match := re.fullmatch(found.files, path))] == [
        str(number) for number in range(count)
    ]
