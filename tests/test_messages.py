"""What users read and write: each message is in one list, and each name in a test."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from listed_messages import list_messages, split_template
from listed_settings import list_keys

from reportgen.cli.main import cli
from reportgen.core.facts import FACTS
from reportgen.draft.accepting import make_warning_id
from reportgen.settings.block_parts import Band, Peak, Rule, Statistic
from reportgen.settings.blocks import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

HERE = Path(__file__).parent
LIST = HERE / "messages.json"
LONGEST = 4  # words that tell a sentence from others; a test may quote no more of it
NOT_YET = {"--no-live", "--open", "--picture-base"}  # options that no test writes
KINDS = {".md", ".py", ".json", ".html", ".csv", ".yml", ".svg", ".txt"}


@cache
def read_tests() -> str:
    """All text of the tests as one line, without the marks by which Python continues a text."""
    files = [path for path in HERE.rglob("*") if path.suffix in KINDS and path not in {LIST, Path(__file__)}]
    text = "\n".join(path.read_text("utf-8", "replace") for path in sorted(files))
    return " ".join(re.sub(r"""(["'])\s*\n\s*[fr]{0,2}\1""", "", text).split())


def is_shown(message: str) -> bool:
    """Whether a test has the words of a message, or some that follow each other where it has more."""
    words = max((" ".join(part.split()) for part in split_template(message)), key=len).split()
    spans = (words[first : first + LONGEST] for first in range(max(1, len(words) - LONGEST + 1)))
    return any(" ".join(span) in read_tests() for span in spans)


def test_the_messages_are_as_accepted(request: pytest.FixtureRequest) -> None:
    """Every sentence that may become a diagnostic by its id, with next steps; none is new to tests."""
    messages = list_messages()
    by_id: dict[str, dict[str, list[str]]] = {}
    for message, steps in messages.items():
        by_id.setdefault(make_warning_id(" ".join(split_template(message))), {})[message] = steps
    not_shown = [message for message in messages if not is_shown(message)]
    found = {"messages": dict(sorted(by_id.items())), "shown by no test": not_shown}
    if request.config.getoption("--accept"):
        LIST.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    accepted = json.loads(LIST.read_text("utf-8"))
    how = "If the change is right: python -m pytest tests/test_messages.py --accept"
    assert found["messages"] == accepted["messages"], how
    assert {*not_shown} <= {*accepted["shown by no test"]}, "Write a case that shows it"


def find_unnamed(names: Iterable[str], pattern: str) -> list[str]:
    """Return those of some names that no test writes as a user does; ``pattern`` has {} for the name."""
    text = read_tests()
    return [name for name in names if not re.search(pattern.format(re.escape(name)), text)]


def test_every_name_that_users_write_is_in_a_test() -> None:
    """Blocks as fences, keys before a colon, commands, options, facts as calls, and words of statistics."""
    options = {word for command in cli.commands.values() for one in command.params for word in one.opts}
    words = {one.value for kind in (Band, Peak, Rule, Statistic) for one in kind}
    unnamed = {
        "blocks": find_unnamed(BLOCKS, r"```{} "),
        "keys": find_unnamed(list_keys(), r"\b{}\b[\"']?[:=]"),
        "commands": find_unnamed(cli.commands, r"(reportgen |call\([^)]*\"|run\([^)]*\"){}\b"),
        "options": find_unnamed((one for one in options - NOT_YET if one.startswith("--")), r"{}\b"),
        "facts": find_unnamed(FACTS, r"\b{}\("),
        "words": find_unnamed(words, r"\b{}\b"),
    }
    assert not any(unnamed.values()), unnamed
