"""Stands beside superfences while it scans a text, and writes down which lines it takes for a fence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from pymdownx.superfences import SuperFencesCodeExtension, highlight_validator

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
        fences = [self._fence(language) for language in self.languages]
        highlighted = {"name": "*", "class": "", "format": self.take_code, "validator": self.open_code}
        superfences = SuperFencesCodeExtension(custom_fences=[highlighted, *fences])
        return Markdown(extensions=[*extensions, superfences, _Steps(self)])

    def _fence(self, language: str) -> dict[str, Any]:
        return {"name": language, "class": language, "format": self.take, "validator": self.open}

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
        self._write_down(language, source, ours=True, bare=bare)
        return f'<div id="{self.salt}-{self.opened[-1]}"></div>'

    def take_code(self, source: str, language: str, *_: object, **__: object) -> str:
        """A complete fence of code."""
        self._write_down(language or "", source, ours=False, bare=False)
        return "<pre></pre>"

    def _write_down(self, language: str, source: str, *, ours: bool, bare: bool) -> None:
        self.calls.append(Call(language, source, self.opened[-1], self.lines.current, ours, bare))


class _Steps(Extension):
    """Steps before and after superfences, which works at priority 25; HTML is taken out at 20."""

    def __init__(self, watch: FenceRecorder) -> None:
        super().__init__()
        self.watch = watch

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802  # Python-Markdown's name
        """Register both steps."""
        md.preprocessors.register(_Count(md, self.watch), "reportgen_lines", 25.5)
        md.preprocessors.register(_Probe(md, self.watch), "reportgen_probes", 24.5)


class _Count(Preprocessor):
    """Hands superfences lines that know which of them it looks at."""

    def __init__(self, md: Markdown, watch: FenceRecorder) -> None:
        super().__init__(md)
        self.watch = watch

    def run(self, lines: list[str]) -> list[str]:
        self.watch.lines = _Lines(lines)
        return self.watch.lines


class _Probe(Preprocessor):
    """Puts a word that can be found again where superfences left a line as it was."""

    def __init__(self, md: Markdown, watch: FenceRecorder) -> None:
        super().__init__(md)
        self.watch = watch

    def run(self, lines: list[str]) -> list[str]:
        for place, line in self.watch.probes.items():
            lines[place] = f"{get_prefix(lines[place])}{self.watch.salt}-{line}-"
        return lines
