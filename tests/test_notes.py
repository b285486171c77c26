"""What is told under a figure of the source that it is drawn from."""

from __future__ import annotations

import pytest

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.core.model import SourceFile
from reportgen.draft.blocks.draw_inputs import list_notes
from reportgen.settings.inputs import Source
from reportgen.settings.source import Provenance, SourceSettings

TORN = "record 129, the last one, is torn"


def notes(
    *warnings: Diagnostic,
    place: str = "data/le",
    found: tuple[str, ...] | None = None,
    files: tuple[SourceFile, ...] = (),
) -> tuple[str, ...]:
    """Those of a source of which this is told."""
    settings = SourceSettings(provenance=Provenance(found=found))
    return list_notes(Source("le", SourceLocation(place), settings, files, (), (), "", warnings))


@pytest.mark.parametrize(
    "advice",
    [
        'the run draws "*" over "epoch": steps here are _step, and "x: epoch" in a block does the same',
        'the run draws "loss" over "epoch": steps here are _step, and metrics: leaves "epoch" out',
        'rename: there is no series "grpo"',
        "series_from: 2 of 6 runs have no such thing",
    ],
)
def test_advice_is_for_the_author(advice: str) -> None:
    """Readers of a figure write no blocks and no source.yml."""
    assert notes(Diagnostic(SourceLocation("data/le/a.wandb"), advice)) == ()


def test_what_a_block_could_do_is_left_out_of_what_is_irregular() -> None:
    """The irregularity stays, and so does where else it was found."""
    found = 'all values of "loss" stand at step 0'
    advice = f'{found}: "x: time" in a block draws them one after the other'
    others = "; the same in 5 more: b and c"
    assert notes(Diagnostic(SourceLocation("data/le/a"), f"{advice}{others}")) == (f"a: {found}{others}.",)
    assert notes(Diagnostic(SourceLocation("data/le/a"), advice)) == (f"a: {found}.",)


def test_what_is_irregular_is_told_without_the_next_step() -> None:
    """And files by their paths below the source."""
    problem = Diagnostic(
        SourceLocation("data/le/s1/events.out", 3), f"{TORN}; data/le/s2/x too", "Name it with files:"
    )
    assert notes(problem) == (f"s1/events.out:3: {TORN}; s2/x too.",)
    assert notes(problem, place="data/le/source.yml") == (f"s1/events.out:3: {TORN}; s2/x too.",)


def test_a_file_elsewhere_is_told_by_its_name() -> None:
    """Where data lie concerns its author."""
    assert notes(Diagnostic(SourceLocation("/disk/runs/a.csv"), TORN)) == (f"a.csv: {TORN}.",)


def test_a_source_of_one_file_keeps_its_line() -> None:
    """So that it can be looked up."""
    problem = Diagnostic(SourceLocation("data/le.csv", 7), TORN)
    assert notes(problem, place="data/le.csv", files=(SourceFile("data/le.csv", 1, ""),)) == (
        f"le.csv:7: {TORN}.",
    )


@pytest.mark.parametrize("place", ["data/le", "data/le/source.yml"])
def test_the_whole_source_has_its_name(place: str) -> None:
    """Its settings and its folder are the same to readers."""
    guessed = "series were distinguished by their folders: A and B"
    assert notes(Diagnostic(SourceLocation(place), guessed), place=place) == (f"le: {guessed}.",)


def test_what_is_alike_is_told_once() -> None:
    """With every file of it, as long as they are few."""
    alike = [
        Diagnostic(SourceLocation(f"data/le/{name}.json"), "all is a score over others") for name in "abcde"
    ]
    assert notes(*alike[:2]) == ("a.json and b.json: all is a score over others.",)
    assert notes(*alike) == ("a.json, b.json, c.json and 2 more: all is a score over others.",)


def test_a_frozen_source_still_has_what_was_found() -> None:
    """Before what is found in it now."""
    assert notes(Diagnostic(SourceLocation("data/le"), "now"), found=("s1: then.",)) == (
        "s1: then.",
        "le: now.",
    )
