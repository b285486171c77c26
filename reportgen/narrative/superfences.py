"""What superfences (pymdownx) makes of a text: the fences that it hands over and the lines that it leaves."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from pymdownx.superfences import SuperFencesCodeExtension, highlight_validator

from reportgen.settings.blocks import BLOCKS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


def make_salt(text: str) -> str:
    """A word that no author can have written into the text by chance or on purpose."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def make_step(run: Callable[[list[str]], list[str]]) -> Preprocessor:
    """A step of Markdown over all lines."""
    step = Preprocessor()
    step.run = run  # type: ignore[assignment, method-assign]
    return step


class Call(NamedTuple):
    """A fence that superfences handed to a formatter; lines are counted from 0."""

    language: str
    source: str
    start: int
    end: int
    ours: bool  # whether it came as one of our languages, and not as code to be highlighted
    bare: bool  # whether nothing but the language stands at the opening fence


class _Lines(list[str]):
    """Lines that know which of them is being looked at."""

    current = 0

    def __iter__(self) -> Iterator[str]:
        for self.current, line in enumerate(super().__iter__()):
            yield line


class _FenceRecorder(Extension):
    """Stands where superfences calls validators and formatters, and records what they are given."""

    def __init__(self, salt: str = "", probes: dict[int, int] | None = None) -> None:
        super().__init__()
        self.salt = salt
        # Where lines to be found again stand behind superfences, and where they stand in the text.
        self.probes = probes or {}
        self.clear()

    def clear(self) -> None:
        self.lines = _Lines()
        self.calls: list[Call] = []
        self.opened: list[int] = []
        self.bare = True

    def make_converter(self, *extensions: str | Extension) -> Markdown:
        take, take_code = partial(self.take, ours=True), partial(self.take, ours=False)
        fences = [{"name": kind, "class": kind, "format": take, "validator": self.open} for kind in BLOCKS]
        code = {"name": "*", "class": "", "format": take_code, "validator": self.open_code}
        superfences = SuperFencesCodeExtension(custom_fences=[code, *fences])
        return Markdown(extensions=[*extensions, superfences, self])

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        # superfences works at priority 25; HTML is taken out at 20.
        md.preprocessors.register(make_step(self.count_lines), "reportgen_lines", 25.5)
        md.preprocessors.register(make_step(self.put_probes), "reportgen_probes", 24.5)

    def count_lines(self, lines: list[str]) -> list[str]:
        self.lines = _Lines(lines)
        return self.lines

    def put_probes(self, lines: list[str]) -> list[str]:
        """Put a word that can be found again where superfences left a line as it was."""
        for index, line in self.probes.items():
            text = lines[index]
            lines[index] = f"{text[: len(text) - len(text.lstrip('> '))]}{self.salt}-{line}-"
        return lines

    def open(
        self, _language: str, inputs: dict[str, str], _options: object, attrs: dict[str, str], _md: object
    ) -> bool:
        """An opening fence of ours; superfences refuses it itself where ``attrs`` are not in braces."""
        attrs.update(inputs)
        self.bare = not inputs
        self.opened.append(self.lines.current)
        return True

    def open_code(self, *arguments: Any) -> bool:  # noqa: ANN401
        """An opening fence of code, which superfences itself would take or not."""
        self.opened.append(self.lines.current)
        return bool(highlight_validator(*arguments))

    def take(self, source: str, language: str, *_: object, ours: bool, **more: Any) -> str:  # noqa: ANN401
        bare = ours and self.bare and not more["classes"] and not more["id_value"]
        start = self.opened[-1]
        self.calls.append(Call(language or "", source, start, self.lines.current, ours, bare))
        return f'<div id="{self.salt}-{start}"></div>' if ours else "<pre></pre>"


# What may hold an indented fence. Where a site leaves one of these out, its indented text is code, and
# superfences restores it.
_CONTAINERS: Final = (
    *("abbr", "admonition", "attr_list", "def_list", "footnotes", "md_in_html", "tables"),
    *("pymdownx.details", "pymdownx.tabbed"),
)
# Lines that may make code, a comment or a link's target of what follows; elsewhere every fence is shown.
_HARD: Final = re.compile(r"^[> ]*    |<[A-Za-z!?/]|\]:")
# Browsers let an unclosed comment or script run to the end of the page.
_NEVER_SHOWN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_HIDES: Final = re.compile(r"<!--|<script|<style", re.IGNORECASE)
_CODE: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Walk:
    """What superfences made of a text; lines are counted from 0."""

    text: str
    lines: list[str]  # of the text, with white space as Python-Markdown sees it
    calls: list[Call]
    opened: list[int]  # the lines that it took for an opening fence, closed or not
    left: list[str]  # what every later step of Markdown sees: a line stands for each fence

    def find_column(self, line: int) -> int:
        """The 1-based column at which the text of a line begins."""
        return len(self.lines[line]) - len(self.lines[line].lstrip("> ")) + 1

    def get_original_lines(self) -> list[int]:
        """The line of the text for each line that is left; for a fence that of its opening."""
        gone = {line for call in self.calls for line in range(call.start + 1, call.end + 1)}
        return [line for line in range(len(self.lines)) if line not in gone]

    def render(self, extension: Extension) -> str:
        """The page with one more extension, as a site with all containers shows it."""
        return _FenceRecorder().make_converter(*_CONTAINERS, extension).convert(self.text)

    def find_shown(self, probes: Collection[int]) -> frozenset[int]:
        """The lines of our fences that reach the page outside comments and code.

        Those of ``probes``, lines that superfences left as they are, are looked for too.
        """
        ours = [call.start for call in self.calls if call.ours]
        if not probes and not any(_HARD.search(line) for line in self.left):
            return frozenset(ours)
        salt = make_salt(self.text)
        # superfences puts one line in place of each fence.
        lost = {
            line: sum(call.end - call.start for call in self.calls if call.start < line) for line in probes
        }
        recorder = _FenceRecorder(salt, {line - lost[line]: line for line in probes})
        page = _NEVER_SHOWN.sub("", recorder.make_converter(*_CONTAINERS).convert(self.text))
        prose = _CODE.sub("", page)
        shown = {line for line in ours if f'"{salt}-{line}"' in page}
        return frozenset(shown | {line for line in probes if f"{salt}-{line}-" in prose})

    def find_swallowed(self, shown: Collection[int]) -> tuple[int, ...]:
        """Lines of our fences that stand at the margin and yet do not reach the page, for no other reason."""
        if _HIDES.search(self.text):
            return ()
        ours = (call.start for call in self.calls if call.ours)
        return tuple(line for line in ours if line not in shown and not _HARD.match(self.lines[line]))


def walk(text: str) -> Walk:
    """Let superfences look for fences in Markdown, with nothing else of Markdown's work done."""
    recorder, markdown = _make_scanner()
    recorder.clear()
    markdown.reset()
    lines = text.split("\n")
    for name in ("normalize_whitespace", "reportgen_lines", "fenced_code_block"):
        lines = markdown.preprocessors[name].run(lines)
    return Walk(text, list(recorder.lines), recorder.calls, recorder.opened, lines)


@cache  # to make a converter takes as long as to scan a page
def _make_scanner() -> tuple[_FenceRecorder, Markdown]:
    recorder = _FenceRecorder()
    return recorder, recorder.make_converter()
