"""Variables in pages, and several pages from one file.

``{{ name }}`` stands for a value of the front matter or of ``mkdocs.yml``, and ``for:`` in the front matter
makes a page for each value of a list. Only names are replaced: nothing is computed or run. Values are single
lines, so that every line stays where it is in the file. Code that is not one of our blocks is left alone.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import product
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from reportgen.core.errors import Diagnostic, ReportError, SourceLocation
from reportgen.core.words import quote_names, suggest_name
from reportgen.settings.blocks import list_kinds
from reportgen.settings.text import normalise_text
from reportgen.settings.yaml_tree import Origin, parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.settings.yaml_tree import Node


# The pattern of MkDocs (mkdocs/utils/meta.py), which strips front matter before it renders the page.
_FRONT_MATTER: Final = re.compile(r"---[ \t]*\n(.*?\n)(?:\.{3}|---)[ \t]*\n", re.DOTALL)
# A page may also begin with a rule, so the next line must be a key as people write them.
_OPENED: Final = re.compile(r"---[ \t]*\n\s*[a-z][\w-]*:(?:\s|\Z)")
_KEY: Final = re.compile(r"""^(?:[^\s#'"-][^\n]*|"[^\n]*"|'[^\n]*')?:(?:\s|$)""", re.MULTILINE)
_FOR: Final = re.compile(r"^for[ \t]*:", re.MULTILINE)

# An escaped or foreign mark, a piece of inline code, or a name between marks.
_MARKS: Final = re.compile(
    r"(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))|(?P<escape>\\)?(?<!\$)\{\{(?P<inner>[^{}\n]*)\}\}"
)
_NAME: Final = re.compile(r"[^\W\d][\w-]*(?:\.[\w-]+|\[\d+\])*")
# What is before double braces in LaTeX, and seldom before a variable.
_GLUED: Final = re.compile(r"[\w^}\\]$")
_FENCE: Final = re.compile(r"[> \t]*(?P<marks>`{3,}|~{3,}) *(?:\{ *\.?|\.)?(?P<word>[\w-]*)")
# The name of a file without its ending, and the language that mkdocs-static-i18n reads in it.
_LANGUAGE: Final = re.compile(r"(.*?)((?:\.[a-z]{2}(?:[-_][A-Za-z]{2,4})?)?)", re.DOTALL)
_MOST_PAGES: Final = 500


class ExpandedPage(Struct, frozen=True):
    """The text of a page with its variables replaced."""

    path: str
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)
    template: str = ""  # path of the file that several pages are made of; empty for a page of its own


def split_front_matter(text: str, file: str) -> tuple[str, str, int]:
    """Return the front matter, the Markdown after it, and the line at which that begins.

    Raises:
        ReportError: the front matter has no end, or does not begin in the first line.
    """
    match, moved = _FRONT_MATTER.match(text), text.lstrip()
    if moved != text and _OPENED.match(moved) and _FRONT_MATTER.match(moved):
        message = "this front matter is shown as text, since it does not begin in the first line"
        line = text.count("\n", 0, len(text) - len(moved)) + 1
        step = "Remove what is before it, or write *** instead of --- for a rule"
        raise ReportError(Diagnostic(SourceLocation(file, line), message, step))
    if match is None and _OPENED.match(text):
        message = "the front matter that begins here has no end"
        step = "End it with a line of three dashes, and begin the text on the next line"
        raise ReportError(Diagnostic(SourceLocation(file, 1), message, step))
    if match is None or not _KEY.search(match[1]):
        # MkDocs does not read two rules with words between them as front matter either.
        return "", text, 1
    body = text[match.end() :].lstrip("\n")
    return match[1], body, text.count("\n", 0, len(text) - len(body)) + 1


def list_variables(value: object, name: str = "") -> dict[str, str]:
    """Return the values of one line in a tree, by names such as ``team.lead`` and ``authors[0]``.

    A list of such values is also one variable, joined by commas; longer texts are left out.
    """
    found: dict[str, str] = {}
    if isinstance(value, dict):
        for key, item in value.items():
            found |= list_variables(item, f"{name}.{key}" if name else str(key))
        return found
    if isinstance(value, list | tuple):
        return _list_items([list_variables(item, f"{name}[{n}]") for n, item in enumerate(value)], name)
    if isinstance(value, bool):
        return {name: str(value).lower()}
    text = str(value).strip() if isinstance(value, str | int | float) else "\n"
    return {} if "\n" in text else {name: text}


def _list_items(items: Sequence[Mapping[str, str]], name: str) -> dict[str, str]:
    """Return the variables of the items of a list, and the list itself if each item is one value."""
    found = {key: text for item in items for key, text in item.items()}
    is_flat = len(items) > 0 and all(list(item) == [f"{name}[{n}]"] for n, item in enumerate(items))
    return found | ({name: ", ".join(found.values())} if is_flat else {})


def _list_node_variables(node: Node, name: str = "") -> dict[str, str]:
    """Return what ``list_variables`` does of a YAML tree, with numbers as they are written."""
    if node.kind == "mapping":
        found: dict[str, str] = {}
        for key, item in node.entries.items():
            found |= _list_node_variables(item, f"{name}.{key}" if name else key)
        return found
    if node.kind == "list":
        items = enumerate(node.items)
        return _list_items([_list_node_variables(item, f"{name}[{n}]") for n, item in items], name)
    text = node.text.strip() if node.value is not None else "\n"
    return {} if "\n" in text else {name: text}


def replace_variables(
    text: str,
    variables: Mapping[str, str],
    place: SourceLocation,
    *,
    others: bool = False,
) -> str:
    """Replace ``{{ name }}`` outside of code; ``place`` is the first line of the text.

    With ``others``, another plugin replaces what is left:
    unknown names are not an error.

    Raises:
        ReportError: every name that is unknown, and everything between marks that is no name.
    """
    if "{{" not in text:
        return text
    problems: list[Diagnostic] = []
    lines, closing, foreign = text.split("\n"), "", False
    for number, line in enumerate(lines):
        fence, bare = _FENCE.match(line), line.strip("> \t")
        if closing and bare.startswith(closing) and not bare.strip(closing[0]):
            closing, foreign = "", False
        elif not closing and fence and "`" not in line[fence.end() :]:
            closing, foreign = fence["marks"], fence["word"] not in list_kinds()
        elif "{{" in line and not foreign:
            here = SourceLocation(place.file, (place.line or 1) + number)
            lines[number] = _replace_in_line(line, variables, here, problems, others=others)
    if problems:
        raise ReportError(*problems)
    return "\n".join(lines)


def _replace_in_line(
    line: str,
    variables: Mapping[str, str],
    here: SourceLocation,
    problems: list[Diagnostic],
    *,
    others: bool,
) -> str:
    def write(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        if match["escape"]:
            return match[0] if others else match[0][1:]
        name = match["inner"].strip()
        if name in variables:
            return variables[name]
        is_name = _NAME.fullmatch(name) is not None
        is_glued = _GLUED.search(line[: match.start()]) is not None
        # Double braces may be of another language, such as those of LaTeX in ``x^{{2}}``.
        if not others and (match["inner"] != name or (is_name and not is_glued)):
            place = SourceLocation(here.file, here.line, match.start() + 1)
            message, step = f'there is no variable "{name}"', _list_known(name, variables)
            if inner := [one for one in variables if one.startswith((f"{name}.", f"{name}["))]:
                message = f'"{name}" has several values, and only values of one line are replaced'
                step = f"Write one of them, as in {{{{ {inner[0]} }}}}"
            if not is_name:
                message = f'"{name}" is no name of a variable, and nothing is computed between {{{{ and }}}}'
                step = "Write a name, or put a backslash in front to show it as it is"
            problems.append(Diagnostic(place, message, step))
        return match[0]

    return _MARKS.sub(write, line)


def _list_known(name: str, variables: Mapping[str, str]) -> str:
    """Return the nearest names and all; items of a list only for one that has fewer."""
    whole, _, index = name.partition("[")
    items = [one for one in variables if index and one.startswith(f"{whole}[")]
    known = items or [one for one in variables if "[" not in one]
    there = f"There are {quote_names(known)}" if known else "Define it in the front matter, or under extra:"
    return f"{suggest_name(name, known)}{there}"


def expand_page(
    path: str, text: str, file: str, given: Mapping[str, str], *, others: bool = False
) -> tuple[ExpandedPage, ...]:
    """Return a page with its variables replaced, or each page that its ``for:`` makes of it.

    ``given`` are the variables of the report, which those of the page override. ``others`` is as in
    ``replace_variables``.

    Raises:
        ReportError: every unknown variable, or what is wrong with ``for:``.
    """
    text = normalise_text(text)
    front, body, first_line = split_front_matter(text, file)
    if "{{" not in text and not _FOR.search(front):
        return (ExpandedPage(path, text),)
    head = text[: len(text) - len(body)]
    node = parse(_MARKS.sub(lambda match: "x" * len(match[0]), front), Origin(file, first_line=2))
    looped = node.entries.get("for") if node else None
    pages = []
    for own in _list_combinations(looped) if looped else ({},):
        known = {**given, **own}
        changed = replace_variables(head, known, SourceLocation(file, 1), others=others)
        tree = parse(split_front_matter(changed + body, file)[0], Origin(file, first_line=2))
        variables = known | (_list_node_variables(tree) if tree else {}) | own
        variables = {name: value for name, value in variables.items() if not name.startswith("for.")}
        place = SourceLocation(file, first_line)
        whole = changed + replace_variables(body, variables, place, others=others)
        if not looped:
            return (ExpandedPage(path, whole, variables),)
        # Next to the file, so that its links stay right: scores-aime.md for scores.md.
        firsts = {name.partition(".")[0]: value for name, value in reversed(list(own.items()))}
        words = "-".join(firsts[name] for name in reversed(firsts))
        folded = unicodedata.normalize("NFKD", words.casefold()).encode("ascii", "ignore").decode("ascii")
        slug = re.sub(r"[^a-z0-9]+", "-", folded).strip("-") or "page"
        stem, language = _LANGUAGE.fullmatch(PurePosixPath(path).stem).groups()  # type: ignore[union-attr]  # matches any text
        stem = "" if stem.lower() in {"index", "readme"} else f"{stem}-"
        name = str(PurePosixPath(path).with_name(f"{stem}{slug}{language}.md"))
        pages.append(ExpandedPage(name, whole, variables, path))
    paths = [page.path for page in pages]
    twice = [one for one in paths if paths.count(one) > 1]
    if twice and looped:
        step = "Make the first values differ in a digit or a letter from a to z, which names of pages have"
        raise ReportError(Diagnostic(looped.place, f"for makes two pages {twice[0]}", step))
    return tuple(pages)


def _list_combinations(looped: Node) -> Iterator[dict[str, str]]:
    """Yield the variables of each page: every combination of a value of each list."""
    lists: list[list[dict[str, str]]] = []
    for key, values in looped.entries.items() if looped.kind == "mapping" else ():
        if values.kind == "list" and values.items:
            items = values.items
            lists.append([{} if one.kind == "list" else _list_node_variables(one, key) for one in items])
    if not lists or len(lists) != len(looped.entries) or not all(all(values) for values in lists):
        step = "Write it as in for: {benchmark: [AIME, HMMT]}"
        raise ReportError(Diagnostic(looped.place, "for must give each name a list of values", step))
    combinations = product(*lists)
    for number, parts in enumerate(combinations):
        if number == _MOST_PAGES:
            message = f"for makes more than {_MOST_PAGES} pages of this file"
            raise ReportError(Diagnostic(looped.place, message, "Make the lists shorter"))
        yield {name: value for part in parts for name, value in part.items()}
