"""What users read and write: each message is in one list, and each name in a test."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from listed_messages import list_messages, split_template

from reportgen.cli.main import cli
from reportgen.core.facts import FACTS
from reportgen.draft.accepting import make_warning_id
from reportgen.settings.base import Settings
from reportgen.settings.block_parts import Band, Peak, Rule, Statistic
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.hub import HubSettings
from reportgen.settings.report import FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

HERE = Path(__file__).parent
LIST = HERE / "messages.json"
LONGEST = 4  # words that tell a sentence from others; a test may quote no more of it
NOT_YET = {"--no-live", "--open"}  # options that no test writes
SETTINGS = (*BLOCKS.values(), FrontMatter, HubSettings, ProjectSettings, SourceSettings)


@cache
def read_tests() -> str:
    """All pages and modules of the tests as one line, without the marks by which Python continues a text."""
    files = [path for path in HERE.rglob("*") if path.suffix in {".md", ".py"} and path != Path(__file__)]
    text = "\n".join(path.read_text("utf-8", "replace") for path in sorted(files))
    lines = re.sub(r"""(["'])\s*\n\s*[fr]{0,2}\1""", "", text).splitlines()
    return " ".join(" ".join(dict.fromkeys(lines)).split())


def list_spans(message: str) -> list[tuple[str, ...]]:
    """The words of a message between its expressions, or some that follow each other where it has more."""
    words = re.findall(r"\w+", max(split_template(message), key=len))
    return [tuple(words[at : at + LONGEST]) for at in range(max(1, len(words) - LONGEST + 1))]


def find_shown(messages: Iterable[str]) -> set[str]:
    """Return the messages of whose words a test has some, whatever the signs between them."""
    spans = {message: list_spans(message) for message in messages}
    wanted, words = {span for each in spans.values() for span in each}, re.findall(r"\w+", read_tests())
    found = {
        span
        for length in {len(span) for span in wanted}
        for span in wanted.intersection(zip(*(words[at:] for at in range(length)), strict=False))
    }
    return {message for message, each in spans.items() if not found.isdisjoint(each)}


def test_the_messages_are_as_accepted(request: pytest.FixtureRequest) -> None:
    """Every sentence that may become a diagnostic by its id, with next steps; none is new to tests."""
    messages = list_messages()
    by_id: dict[str, dict[str, list[str]]] = {}
    for message, steps in messages.items():
        by_id.setdefault(make_warning_id(" ".join(split_template(message))), {})[message] = steps
    shown = find_shown(messages)
    not_shown = [message for message in messages if message not in shown]
    found = {"messages": dict(sorted(by_id.items())), "shown by no test": not_shown}
    if request.config.getoption("--accept"):
        LIST.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
    accepted = json.loads(LIST.read_text("utf-8"))
    how = "If the change is right: python -m pytest tests/test_messages.py --accept"
    assert found["messages"] == accepted["messages"], how
    assert {*not_shown} <= {*accepted["shown by no test"]}, "Write a case that shows it"


def list_models(annotation: object) -> Iterator[type[Settings]]:
    """Yield a settings model and every model that its fields mention."""
    if isinstance(annotation, type) and issubclass(annotation, Settings):
        yield annotation
        for field in annotation.model_fields.values():
            yield from list_models(field.annotation)
    for argument in get_args(annotation):
        yield from list_models(argument)


def test_every_name_that_users_write_is_in_a_test() -> None:
    """Blocks as fences, keys before a colon, commands, options, facts as calls, and words of statistics."""
    keys = {key for root in SETTINGS for model in list_models(root) for key in model.model_fields}
    options = {word for command in cli.commands.values() for one in command.params for word in one.opts}
    words = {one.value for kind in (Band, Peak, Rule, Statistic) for one in kind}
    named = {
        "blocks": ({*BLOCKS}, r"```([\w-]+) "),
        "keys": (keys, r"\b(\w+)[\"']?[:=]"),
        "commands": ({*cli.commands}, r"(?:\breportgen |\bcall\([^)\"]*\"|\brun\([^)\"]*\")([\w-]+)\b"),
        "options": ({one for one in options if one.startswith("--")} - NOT_YET, r"(?<![\w-])(--[\w-]+)"),
        "facts": ({*FACTS}, r"\b(\w+)\("),
        "words": (words, r"\b(" + "|".join(sorted(words, key=len, reverse=True)) + r")\b"),
    }
    unnamed = {kind: names - {*re.findall(form, read_tests())} for kind, (names, form) in named.items()}
    assert not any(unnamed.values()), unnamed
