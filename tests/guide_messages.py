"""What the guide's pages about tools say goes wrong: an accident to a folder, and the message it quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from made_projects import SETTINGS, write_file

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError
from reportgen.core.model import Figure, Stack
from reportgen.draft.report import draft
from reportgen.read import open_source
from reportgen.settings.loading import load_source_settings
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
_SECTION = re.compile(r"^## What goes wrong\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_GUESS = re.compile(r"^> (series were distinguished .*\n(?:> .*\n)*)", re.MULTILINE)
_QUOTE = re.compile(r"(?<![*\w])\*(?![*\s])(.+?)(?<![*\s])\*(?![*\w])")


@dataclass(frozen=True)
class Accident:
    """Something that goes wrong in a folder.

    Attributes:
        quote: the message as the page has it, between its asterisks.
        happens: does it, given a copy of the folder that the page shows.
        source: the folder below ``data/``; that of the page if empty.
        block: the fenced block under whose figure the message stands; empty where opening tells it.
    """

    quote: str
    happens: Callable[[Path], None]
    source: str = ""
    block: str = ""


def quotes(page: str) -> list[str]:
    """What a page quotes under "What goes wrong", as a reader sees it."""
    text = (ROOT / f"content/guide/tools/{page}.md").read_text(encoding="utf-8")
    sections = _SECTION.findall(text)
    return [quote.replace("\\|", "|") for section in sections for quote in _QUOTE.findall(section)]


def guesses() -> list[tuple[str, str]]:
    """What pages quote of a guess, each behind its source; the list of tools shows that of TensorBoard."""
    found = []
    for path in sorted((ROOT / "content/guide/tools").glob("*.md")):
        source = f"{'tensorboard' if path.stem == 'index' else path.stem}-example"
        texts = _GUESS.findall(path.read_text(encoding="utf-8"))
        found += [(source, " ".join(text.replace("\n> ", " ").split())) for text in texts]
    return found


def told(root: Path, name: str) -> str:
    """Everything that is told when a source is opened, whether it can be read or not."""
    try:
        problems = open_source(root, "data", name, load_settings=load_source_settings).warnings
    except ReportError as error:
        problems = error.problems
    return "\n".join(map(str, problems))


def drawn(root: Path, block: str) -> str:
    """The caption under the figure of a block."""
    write_file(root / "mkdocs.yml", SETTINGS)
    write_file(root / "content/index.md", f"# Page\n\n{block}\n")
    folder = cache_folder(root)
    project = Project(root, "content", ("index.md",), ProjectSettings())
    report = draft(project, Cache(folder), FileHashes(folder))
    (shown,) = report.shown.values()
    figures = shown.parts if isinstance(shown, Stack) else (shown,)
    return "\n".join(str(figure.caption) for figure in figures if isinstance(figure, Figure))
