"""What a block shows as Markdown: its words, its table, and the numbers that ``report.json`` has of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from reportgen.core.model import Figure, Observations, Overview, Panels, ResultTable, Stack
from reportgen.site.outputs import join_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from reportgen.core.model import BenchmarkResult, Shown

_MOST_ROWS: Final = 40  # of a table; its CSV file has all of them
_NAMES: Final = ("name", "series", "a", "b", "benchmark", "label", "problem")  # the first columns of a table
_UNUSUAL: Final = ("dropped", "missing", "replaced", "smooth")  # said if there are any
_BY_NAME: Final = ("benchmarks", "macro", "series")  # objects whose keys are names


def write_block(shown: Shown, label: str, link: Callable[[str], str]) -> str:
    """Write what a block shows; ``label`` is its number on the page, such as ``Figure 1``.

    ``link`` turns the name of a file of its page's figures, or the path of a page, into an address.
    """
    return "\n\n".join(filter(None, _list_parts(shown, label, link)))


def _list_parts(shown: Shown, label: str, link: Callable[[str], str]) -> Iterator[str]:
    if isinstance(shown, Figure):
        yield from _describe_figure(shown, label, link)
    elif isinstance(shown, ResultTable):
        yield _write_title(shown.title, label)
        yield from _describe_table(shown, link)
    elif isinstance(shown, Panels):
        yield _write_title(shown.title, label)
        for figure in shown.figures:
            yield from _describe_figure(figure, "", link)
        yield join_words(shown)
    elif isinstance(shown, Stack):
        yield _write_title(shown.title, label, shown.subtitle)
        yield from _describe_stack(shown, "" if shown.title else label, link)
    elif isinstance(shown, Observations):
        yield _write_title(shown.title)
        yield "\n".join(f"- {' '.join([one.text, *map(_bracket, one.evidence)])}" for one in shown.items)
        yield join_words(shown)
    elif isinstance(shown, Overview):
        yield _write_title(shown.title)
        yield "\n".join(_describe_result(one, link(one.page)) for one in shown.results)


def _write_title(title: str, label: str = "", subtitle: str = "") -> str:
    words = ": ".join(filter(None, [label.replace("\N{NO-BREAK SPACE}", " "), clean(title)]))
    return " ".join(filter(None, [f"**{words}**" if words else "", clean(subtitle)]))


def _describe_figure(
    figure: Figure, label: str, link: Callable[[str], str], *, above: str = "", with_table: bool = True
) -> Iterator[str]:
    yield _write_title("" if figure.title == above else figure.title, label, figure.subtitle)
    yield clean(figure.summary)
    yield join_words(figure)
    if with_table:
        table = figure.table
        yield write_table(table.header, table.rows[:_MOST_ROWS])
        yield clean(table.note)
        yield _name_rows(len(table.rows), link(f"{figure.id}.csv"))
    yield from write_numbers(figure.numbers)


def _describe_table(table: ResultTable, link: Callable[[str], str]) -> Iterator[str]:
    yield write_table(table.header, [[cell.text for cell in row] for row in table.rows[:_MOST_ROWS]])
    yield _name_rows(len(table.rows), link(f"{table.id}.csv"))
    yield join_words(table)


def _name_rows(count: int, address: str) -> str:
    more = f"The first {_MOST_ROWS} of {count} rows; all are in" if count > _MOST_ROWS else "As a file:"
    return f"{more} [CSV]({address})"


def _describe_stack(stack: Stack, label: str, link: Callable[[str], str]) -> Iterator[str]:
    complete = any(isinstance(part, ResultTable) and part.complete for part in stack.parts)
    for part in stack.parts:
        if isinstance(part, str):
            yield clean(part)
            continue
        if isinstance(part, Figure):
            yield from _describe_figure(part, label, link, above=stack.title, with_table=not complete)
        else:
            yield _write_title("" if part.title == stack.title else part.title, label)
            yield from _describe_table(part, link)
        label = ""
    yield join_words(stack)
    yield from write_numbers(stack.numbers)


def _describe_result(result: BenchmarkResult, address: str) -> str:
    facts = [f"{name}: {text}" for name, text in result.facts]
    words = "; ".join(filter(None, [result.measure, *facts]))
    return f"- [{clean(result.title or result.name)}]({address}): {clean(words)}"


def clean(text: str) -> str:
    """Return a text on one line in which no HTML or cell of a table can begin."""
    return " ".join(text.split()).replace("|", "\\|").replace("<", "\\<")


def _bracket(text: str) -> str:
    return f"({clean(text)})"


def write_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table of texts."""
    head, *lines = (f"| {' | '.join(map(clean, line))} |" for line in (header, *rows))
    return "\n".join([head, "|---" * len(header) + "|", *lines])


def write_numbers(numbers: Mapping[str, Any], about: str = "") -> Iterator[str]:
    """Write all that ``report.json`` says in ``numbers``: each list as a table, everything else on a line.

    ``about`` says what the numbers are of, unless they are those of a whole block.
    """
    single, lists = _sort_values(numbers)
    yield _write_line(about or "Numbers", single)
    for key, items in _join_lists(lists).items():
        title = ", ".join(filter(None, [about, _name_path(key)]))
        if all(isinstance(item, list) for item in items):
            yield _write_line(title, {"": "; ".join(_sort_values(item)[0].get("", "none") for item in items)})
            continue
        found = [_sort_values(item) for item in items]
        yield from _describe_rows([row for row, _ in found], title)
        for place, (row, inner) in enumerate(found, 1):
            name = row.get("name", row.get("series", f"{place}"))
            for deep, values in inner.items():
                yield from write_numbers({deep: values}, f"{title} {name}")


def _describe_rows(rows: Sequence[Mapping[str, str]], title: str) -> Iterator[str]:
    """Write what rows have as a table, names first; what is equal in all of them is said once, below it."""
    columns = dict.fromkeys(column for row in rows for column in row)
    equal = {one: rows[0][one] for one in columns if len({row.get(one) for row in rows}) == 1}
    own = sorted(columns.keys() - equal, key=lambda one: (one not in _NAMES, [*columns].index(one)))
    if own:
        cells = [[row.get(column, "") for column in own] for row in rows]
        yield f"{_open(title)}:\n\n{write_table([*map(_name_path, own)], cells)}"
    yield _write_line(f"The same for all {title}" if own else title, equal)


def _join_lists(lists: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Join what the lines of a figure are with what is known of their series."""
    lines, series = lists.get("lines", []), lists.get("series", [])
    if not series or [one.get("name") for one in lines] != [one.get("name") for one in series]:
        return dict(lists)
    own = [{key: one[key] for key in one if one[key] != one["name"]} for one in lines]
    joined = [{"name": one["name"], **line, **one} for line, one in zip(own, series, strict=True)]
    return {key: joined if key == "series" else value for key, value in lists.items() if key != "lines"}


def _name_path(path: str) -> str:
    return path.replace("_", " ").replace(".", " ")


def _open(title: str) -> str:
    """Let a title begin with a capital letter."""
    return clean(f"{title[:1].upper()}{title[1:]}")


def _write_line(title: str, values: Mapping[str, str]) -> str:
    said = "; ".join(f"{_name_path(key)} {text}".strip() for key, text in values.items())
    return f"{_open(title)}: {clean(said)}." if said else ""


_Sorted: TypeAlias = tuple[dict[str, str], dict[str, list[Any]]]
"""Single values as text, and lists of objects, both by path."""


def _sort_values(value: object, path: str = "") -> _Sorted:
    if isinstance(value, dict) and path in _BY_NAME and len(value) > 1:
        return {}, {path: [{"name": name, **inner} for name, inner in value.items()]}
    if isinstance(value, dict):
        single, lists = dict[str, str](), dict[str, list[Any]]()
        for name, inner in value.items():
            if name == "protocol" or (name in _UNUSUAL and not inner):  # the caption has the former
                continue
            texts, more = _sort_values(inner, f"{path}.{name}" if path else name)
            single |= texts
            lists |= more
        return single, lists
    if isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        return {}, {path: value}
    text = ", ".join(map(format_number, value)) if isinstance(value, list) else format_number(value)
    return ({path: text} if text else {}), {}


def format_number(value: object) -> str:
    """Return a value of ``report.json`` as text: a whole number exactly, any other with four digits."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.4g}"  # noqa: PLR2004
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)
