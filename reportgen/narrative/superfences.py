"""Runs superfences and records which lines it takes for fences, and what of them reaches the page."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from pymdownx.superfences import SuperFencesCodeExtension, highlight_validator

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence


_PREFIX: Final = re.compile(r"[> ]*")


@dataclass(frozen=True, slots=True)
class Call:
    """One fence that superfences handed to a formatter.

    Attributes:
        language: its language.
        source: the text between its fences.
        start: 0-based line of the opening fence.
        end: 0-based line of the closing fence.
        ours: whether it came as one of our languages, and not as code to be highlighted.
        bare: whether nothing but the language stands at the opening fence.
    """

    language: str
    source: str
    start: int
    end: int
    ours: bool
    bare: bool


def get_prefix(line: str) -> str:
    """Indentation and quote marks before a line's text."""
    match = _PREFIX.match(line)
    return match.group() if match else ""


class _Lines(list[str]):
    """Lines that know which of them is being looked at."""

    current = 0

    def __iter__(self) -> Iterator[str]:
        for self.current, line in enumerate(super().__iter__()):
            yield line


class FenceRecorder:
    """Stands where superfences calls validators and formatters, and writes down what comes by."""

    def __init__(self, languages: tuple[str, ...], salt: str, probes: dict[int, int]) -> None:
        self.languages = languages
        self.salt = salt
        self.probes = probes
        self.clear()

    def clear(self) -> None:
        """Forget what came by."""
        self.lines = _Lines()
        self.calls: list[Call] = []
        self.opened: list[int] = []
        self.bare = True

    def make_converter(self, extensions: Sequence[str | Extension]) -> Markdown:
        """A converter whose fences are watched."""
        fences = [
            {"name": language, "class": language, "format": self.take, "validator": self.open}
            for language in self.languages
        ]
        highlighted = {"name": "*", "class": "", "format": self.take_code, "validator": self.open_code}
        superfences = SuperFencesCodeExtension(custom_fences=[highlighted, *fences])
        return Markdown(extensions=[*extensions, superfences, _Steps(self)])

    def open(
        self, _language: str, inputs: dict[str, str], _options: object, attrs: dict[str, str], _md: object
    ) -> bool:
        """An opening fence of ours; superfences refuses it itself where ``attrs`` are not in braces."""
        attrs.update(inputs)
        self.bare = not inputs
        self.opened.append(self.lines.current)
        return True

    def open_code(
        self, language: str, inputs: dict[str, str], options: object, attrs: object, md: Markdown
    ) -> bool:
        """An opening fence of code; what superfences would say to it."""
        self.opened.append(self.lines.current)
        return bool(highlight_validator(language, inputs, options, attrs, md))

    def take(
        self,
        source: str,
        language: str,
        _class: str,
        _options: object,
        _md: Markdown,
        **more: Any,  # noqa: ANN401
    ) -> str:
        """A complete fence of ours."""
        bare = self.bare and not more["classes"] and not more["id_value"]
        start, end = self.opened[-1], self.lines.current
        self.calls.append(Call(language, source, start, end, ours=True, bare=bare))
        return f'<div id="{self.salt}-{self.opened[-1]}"></div>'

    def take_code(self, source: str, language: str, *_: object, **__: object) -> str:
        """A complete fence of code."""
        start, end = self.opened[-1], self.lines.current
        self.calls.append(Call(language or "", source, start, end, ours=False, bare=False))
        return "<pre></pre>"


class _Steps(Extension):
    """Steps before and after superfences, which works at priority 25; HTML is taken out at 20."""

    def __init__(self, watch: FenceRecorder) -> None:
        super().__init__()
        self.watch = watch

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register both steps."""
        md.preprocessors.register(_Step(md, self.count_lines), "reportgen_lines", 25.5)
        md.preprocessors.register(_Step(md, self.put_probes), "reportgen_probes", 24.5)

    def count_lines(self, lines: list[str]) -> list[str]:
        """Lines that know which of them superfences looks at."""
        self.watch.lines = _Lines(lines)
        return self.watch.lines

    def put_probes(self, lines: list[str]) -> list[str]:
        """Lines with a word that can be found again where superfences left a line as it was."""
        for place, line in self.watch.probes.items():
            lines[place] = f"{get_prefix(lines[place])}{self.watch.salt}-{line}-"
        return lines


class _Step(Preprocessor):
    def __init__(self, md: Markdown, step: Callable[[list[str]], list[str]]) -> None:
        super().__init__(md)
        self.step = step

    def run(self, lines: list[str]) -> list[str]:
        return self.step(lines)


# What may hold an indented fence. Where a site leaves one of these out, its indented text is code, and
# superfences restores it.
_CONTAINERS: Final = (
    "abbr",
    "admonition",
    "attr_list",
    "def_list",
    "footnotes",
    "md_in_html",
    "tables",
    "pymdownx.details",
    "pymdownx.tabbed",
)
# Lines that may make code, a comment or a link's target of what follows; elsewhere every fence is shown.
_HARD: Final = re.compile(r"^[> ]*    |<[A-Za-z!?/]|\]:")
# Browsers let an unclosed comment or script run to the end of the page.
_NEVER_SHOWN: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_HIDES: Final = re.compile(r"<!--|<script|<style", re.IGNORECASE)
_CODE: Final = re.compile(r"<pre\b.*?</pre>", re.DOTALL | re.IGNORECASE)


@dataclass(slots=True)
class Walk:
    """What superfences made of a text.

    Attributes:
        lines: the text's lines with white space as Python-Markdown sees it.
        calls: every fence it took, in order.
        opened: 0-based lines that it took for an opening fence, closed or not.
        left: the lines that it left, with a line for each fence: what every later step of Markdown sees.
    """

    text: str
    languages: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    opened: list[int] = field(default_factory=list)
    left: list[str] = field(default_factory=list)

    def find_column(self, line: int) -> int:
        """The 1-based column at which the text of a line begins."""
        return len(get_prefix(self.lines[line])) + 1

    def get_original_lines(self) -> list[int]:
        """The 0-based line of the text for each line that is left; for a fence that of its opening."""
        gone = {line for call in self.calls for line in range(call.start + 1, call.end + 1)}
        return [line for line in range(len(self.lines)) if line not in gone]

    def render(self, extension: Extension) -> str:
        """The page with one more extension, as a site with all containers shows it."""
        watch = FenceRecorder(self.languages, "", {})
        return watch.make_converter((*_CONTAINERS, extension)).convert(self.text)

    def find_shown(self, probes: Collection[int]) -> frozenset[int]:
        """The lines of our fences, and of ``probes``, that reach the page outside comments and code.

        Args:
            probes: 0-based lines that superfences left as they are.
        """
        ours = [call.start for call in self.calls if call.ours]
        if not probes and not any(_HARD.search(line) for line in self.left):
            return frozenset(ours)
        # No author can have written this by chance or on purpose.
        salt = hashlib.sha256(self.text.encode("utf-8", "replace")).hexdigest()[:16]
        watch = FenceRecorder(self.languages, salt, self._places_left(probes))
        page = _NEVER_SHOWN.sub("", watch.make_converter(_CONTAINERS).convert(self.text))
        prose = _CODE.sub("", page)
        found = {line for line in ours if f'"{salt}-{line}"' in page}
        return frozenset(found | {line for line in probes if f"{salt}-{line}-" in prose})

    def find_swallowed(self, shown: Collection[int]) -> tuple[int, ...]:
        """Lines of our fences that stand at the margin and yet do not reach the page, for no other reason."""
        if _HIDES.search(self.text):
            return ()
        at_margin = (
            call.start for call in self.calls if call.ours and not _HARD.match(self.lines[call.start])
        )
        return tuple(line for line in at_margin if line not in shown)

    def _places_left(self, probes: Collection[int]) -> dict[int, int]:
        """Where lines stand once superfences has put one line in place of each fence: new line to old."""
        gone = [(call.start, call.end - call.start) for call in self.calls]
        return {line - sum(lost for start, lost in gone if start < line): line for line in probes}


def walk(text: str, languages: tuple[str, ...]) -> Walk:
    """Let superfences look for fences, with nothing else of Markdown's work done.

    Args:
        text: Markdown, its lines ended by a line feed.
        languages: those for which superfences calls a formatter of ours.
    """
    watch, markdown = _make_scanner(languages)
    watch.clear()
    markdown.reset()
    lines = text.split("\n")
    for name in ("normalize_whitespace", "reportgen_lines", "fenced_code_block"):
        lines = markdown.preprocessors[name].run(lines)
    return Walk(text, languages, list(watch.lines), watch.calls, watch.opened, lines)


@cache
def _make_scanner(languages: tuple[str, ...]) -> tuple[FenceRecorder, Markdown]:
    """A converter for all texts: to make one takes as long as to scan a page."""
    watch = FenceRecorder(languages, "", {})
    return watch, watch.make_converter(())
