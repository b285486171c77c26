"""The review that the guide shows: it is made of two states of the example report, and said as accepted."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from command_line import call
from example_site import ROOT, made_once
from made_example_review import AFTER, BEFORE, write_states
from take_comment_picture import COMMENT, MOST_BYTES, PICTURE, read_digest, sign

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = ROOT / "content/guide/review.md"
PRINTED = re.compile(r"(?<=^```text\n)Before: .*?(?=^```$)", re.MULTILINE | re.DOTALL)
MOST_ENTRIES = 3
"""Of one kind, in what the guide shows of what is printed."""


def review_states(folder: Path) -> Path:
    """Both states, and beside them what the commands write about them."""
    write_states(folder)
    settings = ("-f", f"{BEFORE}/mkdocs.yml")
    reviewed = call(folder, "review", BEFORE, AFTER, *settings)
    assert reviewed.returncode == 1
    assert re.fullmatch(r"warning: \S+: not run, as .*: functions of altair blocks\n", reviewed.stderr)
    (folder / "printed.txt").write_text(reviewed.stdout, "utf-8")
    link = "https://example.org/review.html"
    commented = call(folder, "comment", "review/review.json", "--link", link)
    (folder / "comment.md").write_text(commented.stdout, "utf-8")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands write; nobody may change it."""
    return made_once(tmp_path_factory, "example-review", review_states)


def shorten(printed: str) -> str:
    """The first entries of each kind, and how many more there are."""
    blocks = []
    for block in printed.rstrip("\n").split("\n\n"):
        title, *entries = re.split(r"\n(?=  \S)", block)
        rest = len(entries) - MOST_ENTRIES
        blocks.append("\n".join((title, *entries[:MOST_ENTRIES], *[f"  … {rest} more"][: max(rest, 0)])))
    return "\n\n".join(blocks) + "\n"


@pytest.mark.parametrize("name", ["example-review.html", "comment.md", "review.md"])
def test_the_example_is_as_accepted(name: str, made: Path, request: pytest.FixtureRequest) -> None:
    """The page that the guide links to, the comment behind its picture, and what it says is printed."""
    file = COMMENT if name == COMMENT.name else GUIDE.with_name(name)
    if name == GUIDE.name:
        printed = shorten((made / "printed.txt").read_text("utf-8"))
        found, count = PRINTED.subn(lambda _: printed, GUIDE.read_text("utf-8"))
        assert count == 1
    else:
        found = (made / {"example-review.html": "review/review.html"}.get(name, name)).read_text("utf-8")
    if request.config.getoption("--accept"):
        file.write_text(found, "utf-8")
    how = "Look at the change; if it is right:\n    python -m pytest tests/test_example_review.py --accept"
    assert file.read_text("utf-8") == found, how


def test_the_example_shows_one_of_each(made: Path) -> None:
    """A false statement, a number that moved, one within noise and one with more runs; nothing hides them."""
    counts = json.loads((made / "review/review.json").read_text("utf-8"))["counts"]
    shown = ("flipped", "stale_values", "differences", "worse", "unclear", "re_estimated")
    assert [counts[name] for name in shown] == [1, 0, 1, 0, 1, 1]
    assert GUIDE.with_name("example-review.html").stat().st_size < 300_000


def test_the_picture_is_of_this_comment() -> None:
    """It holds the digest of what it was drawn from, and is small."""
    how = "the comment has changed: run python tests/take_comment_picture.py and look at the picture"
    assert read_digest(PICTURE.read_bytes()) == sign(COMMENT.read_text("utf-8")), how
    assert PICTURE.stat().st_size <= MOST_BYTES
