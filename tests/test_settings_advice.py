"""A line that an error in settings proposes is accepted, whatever the key and whatever was written there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

import pytest
from command_line import call
from made_projects import write_report
from pydantic import BaseModel

from reportgen.core.errors import ReportError
from reportgen.settings.blocks import BLOCKS
from reportgen.settings.hub import HubSettings
from reportgen.settings.report import FrontMatter, ProjectSettings
from reportgen.settings.source import SourceSettings
from reportgen.settings.validation_errors import validate_tree
from reportgen.settings.yaml_tree import Origin, parse

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


def list_models(annotation: object) -> dict[str, type[BaseModel]]:
    """Return the models that an annotation mentions, and those inside them, by name."""
    if not (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        parts = get_args(annotation)
        return {name: model for part in parts for name, model in list_models(part).items()}
    inner = [list_models(field.annotation) for field in annotation.model_fields.values()]
    return {annotation.__name__: annotation, **{key: one for models in inner for key, one in models.items()}}


TOP = (*BLOCKS.values(), SourceSettings, FrontMatter, ProjectSettings, HubSettings)
MODELS = {name: model for top in TOP for name, model in list_models(top).items()}
WRITTEN = ("Ada", "0.8", "100", "true", "a, b", "50%", "percentt", "fals", "[0.8]", "[Ada]", "{Ada: Bob}")


def find_problems(model: type[BaseModel], text: str) -> list[Diagnostic]:
    """Return what is wrong with settings."""
    node = parse(text, Origin("settings.yml"))
    assert node
    try:
        validate_tree(model, node, "it")
    except ReportError as error:
        return list(error.problems)
    return []


def follow(text: str, problem: Diagnostic) -> list[str]:
    """Return the settings that the next step proposes, each as a whole."""
    key, _, value = text.partition(": ")
    if near := re.match(r'Did you mean "(.+?)"\?', problem.next_step):
        wrong = re.search(r'"(.+?)"|: (.+?)"', problem.message)
        assert wrong
        is_key = "is not a key" in problem.message
        return [] if is_key else [f"{key}: {near[1]}" if value == wrong[1] or key in wrong[1] else ""]
    proposed = re.fullmatch(r"Write ((?:\w+: |\{\w+: ).+)", problem.next_step)
    lines = proposed[1].split(" or ") if proposed else []
    # Braces stand for an item of the list, and another key for one inside this.
    return [
        f"{key}: [{line}]" if line.startswith("{") else line if line.startswith(key) else f"{key}: {{{line}}}"
        for line in lines
    ]


@pytest.mark.parametrize("name", MODELS)
def test_proposed_lines_are_accepted(name: str) -> None:
    """Nothing is wrong any more, but for what was wrong elsewhere."""
    model, followed = MODELS[name], 0
    for key in model.model_fields:
        for written in WRITTEN:
            problems = find_problems(model, text := f"{key}: {written}")
            others = {one.message for one in problems if f'"{key}' not in one.message}
            for line in (line for problem in problems for line in follow(text, problem)):
                left = {one.message for one in find_problems(model, line)}
                assert left <= others, (text, line, left)
                followed += 1
    assert followed or name not in {"CurveSettings", "SourceSettings", "Citation"}


def test_a_reference_line_is_proposed_as_it_works(tmp_path: Path) -> None:
    """Each step of the way from a bare number leads on, down to a page that builds."""
    page = "# Small\n\n```curve\nsource: runs\nx_domain: 100\nreference: 0.8\n```\n"
    root = write_report(tmp_path, {"content/index.md": page})
    found = call(root, "check").stdout
    assert "Write reference: [{x: 0.8}] or reference: [{y: 0.8}]" in found
    assert "[100]" not in found
    mended = page.replace("reference: 0.8", "reference: [{y: 0.8}]").replace("100", "[0, 100]")
    write_report(tmp_path, {"content/index.md": mended})
    assert call(root, "check").returncode == 0
