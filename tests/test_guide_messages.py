"""The messages that the guide's pages about tools quote are those that users read."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from guide_accidents_curves import ACCIDENTS as CURVES
from guide_accidents_records import ACCIDENTS as RECORDS
from guide_accidents_scores import ACCIDENTS as SCORES
from guide_messages import ROOT, Accident, drawn, guesses, quotes, told

if TYPE_CHECKING:
    from pathlib import Path

ACCIDENTS = {**CURVES, **RECORDS, **SCORES}
PAGES = sorted(path.stem for path in (ROOT / "content/guide/tools").glob("*.md") if path.stem != "index")
EVERY = [(page, accident) for page, accidents in ACCIDENTS.items() for accident in accidents]


@pytest.mark.parametrize("page", PAGES)
def test_every_quoted_message_is_held(page: str) -> None:
    """An accident for each message, and no accident without one."""
    assert sorted(quotes(page)) == sorted(accident.quote for accident in ACCIDENTS.get(page, ()))


@pytest.mark.parametrize(("page", "accident"), EVERY, ids=[f"{page}-{one.quote[:40]}" for page, one in EVERY])
def test_the_message_is_what_is_told(page: str, accident: Accident, tmp_path: Path) -> None:
    """After the accident to a copy of the folder that the page shows."""
    name = accident.source or f"{page}-example"
    folder = tmp_path / "data" / name
    shutil.copytree(ROOT / "data" / name, folder)
    accident.happens(folder)
    found = drawn(tmp_path, accident.block) if accident.block else told(tmp_path, name)
    assert accident.quote in found


@pytest.mark.parametrize(("source", "guess"), guesses())
def test_what_is_guessed_is_what_is_told(source: str, guess: str, tmp_path: Path) -> None:
    """Where source.yml does not say what series and seeds are called by."""
    folder = tmp_path / "data" / source
    shutil.copytree(ROOT / "data" / source, folder)
    settings = (folder / "source.yml").read_text(encoding="utf-8").splitlines()
    left = [line for line in settings if not line.startswith(("series_from:", "seed_from:"))]
    assert left != settings
    (folder / "source.yml").write_text("\n".join(left), encoding="utf-8")
    assert guess in told(tmp_path, source)
