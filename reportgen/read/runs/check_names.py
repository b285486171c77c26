"""Names of series that join or separate rows by mistake: renamed to one, or spelt in two ways."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage
from reportgen.core.words import quote_names
from reportgen.formats import sql
from reportgen.formats.sql import get_engine
from reportgen.read.tables.rows import locate_row, rename_texts
from reportgen.settings.text import shorten
from reportgen.settings.yaml_tree import write_scalar

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.read.tables.distinguish import RowKeys


_LONGEST: Final = 40
# Spaces, underscores, hyphens and dashes; and characters that have no width.
_SEPARATORS: Final = re.compile(r"[\s_\-\u2010-\u2015\u2212]+")
_SIGN: Final = re.compile(r"(?<![^\s_=(,])-(?=[\d.])")
_SPACE: Final = re.compile(r"\s")
_NO_WIDTH: Final = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")


def check_merged_names(keys: RowKeys, rename: Mapping[str, str]) -> None:
    """Refuse series that ``rename`` gives one name, and that have a run and step in common.

    ``keys`` have the names in the data, and runs of one seed are the same.
    """
    if not rename:
        return
    place = 'struct_pack(place := "row", series := series)'
    # Seeds that are the same in all runs of a series do not count, as the default of a configuration.
    seeded = "min(seed) OVER (PARTITION BY series) <> max(seed) OVER (PARTITION BY series)"
    named = f"CASE WHEN {seeded} THEN coalesce(seed, run) ELSE run END AS run"
    renamed = f"{rename_texts('series', rename)} AS name"
    found = get_engine().fetch_rows(
        f'SELECT name, run, step, arg_min({place}, "row"), list({place} ORDER BY "row") '  # noqa: S608 - our own
        f"FROM (SELECT * REPLACE ({named}), {renamed} FROM ({keys.select}) WHERE value IS NOT NULL) "
        f"WHERE name IN ({sql.quote_all(set(rename.values()))}) "
        'GROUP BY name, run, part, step HAVING count(DISTINCT series) > 1 ORDER BY min("row") LIMIT 1'
    )
    for name, run, step, first, every in found:
        second = next(one for one in every if one["series"] != first["series"])
        path, line, _ = locate_row(keys.root, keys.layout, second["place"])
        names = " and ".join(f'"{shorten(one["series"], _LONGEST)}"' for one in (first, second))
        message = f'the series {names} are both called "{shorten(name, _LONGEST)}" by rename:, and have '
        message += f"run {shorten(run, _LONGEST)}" if run else "one run"
        if step != "":
            at = f"step {step:.12g}" if isinstance(step, float) else f"problem {step.partition(chr(31))[0]}"
            message += f" with {shorten(at, _LONGEST)}"
        advice = "Give each a name of its own there, or set repeat: runs if both are of one experiment"
        raise ReportError(Diagnostic(SourceLocation(path, line), message, advice, Stage.DATA))


def warn_similar_names(kind: str, names: Sequence[str], place: SourceLocation) -> Iterator[Diagnostic]:
    """Warn of names that differ only in case, spaces and hyphens: each is read as one of its own."""
    spellings: dict[str, list[str]] = {}
    for name in names:
        folded = unicodedata.normalize("NFKC", _NO_WIDTH.sub("", name)).casefold().strip()
        spellings.setdefault(_SEPARATORS.sub(" ", _SIGN.sub("~", folded)), []).append(name)
    for plain, spelt in spellings.items():
        if len(spelt) > 1 and plain:
            shown = [shorten(name, _LONGEST) for name in spelt]
            if len(set(shown)) < len(shown):
                visible = (_NO_WIDTH.sub("\ufffd", _SPACE.sub("\u2423", name)) for name in spelt)
                shown = [shorten(name, _LONGEST) for name in visible]
            message = f"{kind} {quote_names(shown)} differ only in case, spaces or hyphens, and are read as "
            message += f"{len(spelt)} {kind}"
            advice = "Spell them in one way in the data if they are the same"
            if kind == "series":
                pair = f"{write_scalar(spelt[1])}: {write_scalar(spelt[0])}"
                advice += f", or set rename: {{{pair}}} in source.yml"
            yield Diagnostic(place, message, advice, Stage.DATA, Severity.WARNING)
