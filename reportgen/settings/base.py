"""The base of every settings model: frozen, unknown keys refused, names in the user's spelling."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from reportgen.core.words import join_names, suggest_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Sources = Name | Annotated[tuple[Name, ...], Field(min_length=1)]
"""One source, or several whose series are shown together."""
Number = Annotated[float, Field(allow_inf_nan=False)]


class Settings(BaseModel):
    """Frozen, strict about keys; every field's description is shown in the guide and in editors."""

    # Validators are built when first needed: no report needs all of them.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


def _read_accepted(value: object) -> object:
    """Read ``[ID, reason]``, a list of such pairs or a mapping as a mapping."""
    if not isinstance(value, list | tuple):
        return value
    pairs = [value] if all(isinstance(one, str) for one in value) else value
    if any(not isinstance(pair, list | tuple) or len(pair) != 2 for pair in pairs):  # noqa: PLR2004 - a pair
        raise ValueError("accept takes the id of a warning and the reason, as in accept: [ID, reason]")
    return {pair[0]: pair[1] for pair in pairs}


Accepted = Annotated[
    dict[Name, Name],
    BeforeValidator(_read_accepted, json_schema_input_type=dict[Name, Name] | list[Name] | list[list[Name]]),
]
"""Warnings that are accepted: a pair of id and reason, several pairs, or a mapping."""
ACCEPT = "Warnings that arise here and are accepted: [ID, reason], or several as ID: reason."
PDF = "Write each figure as a PDF, too."


PALETTE = ("blue", "orange", "green", "purple", "red", "sky", "olive", "pink")
"""The colours of the palette, from place 1 on."""


def _check_colour(name: str) -> str:
    if name.lower() in PALETTE:
        return name.lower()
    near = suggest_name(name.lower(), PALETTE)
    there = f"The colours, which can be distinguished in light and dark, are {', '.join(PALETTE)}"
    raise ValueError(f'"{name}" is no colour of the palette. {near}{there}')


Colours = dict[Name, Annotated[Name, AfterValidator(_check_colour)]]
"""Series and their colours."""
COLOURS = f"Series and their colours: {', '.join(PALETTE)}."


def _check_labels(labels: dict[str, str]) -> dict[str, str]:
    names = list(labels.values())
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f'labels gives two series the name "{twice[0]}"')
    return labels


Labels = Annotated[dict[str, Name], AfterValidator(_check_labels)]
"""Series and their short names."""
LABELS = "Series and the short names by which figures, prose and claims call them."


CellValue: TypeAlias = str | int | float | bool


def list_accepted(accepted: CellValue | tuple[CellValue, ...]) -> tuple[CellValue, ...]:
    """Return the values that a filter accepts, which may be a single one."""
    return accepted if isinstance(accepted, tuple) else (accepted,)


def describe_filter(where: Mapping[str, CellValue | tuple[CellValue, ...]]) -> str:
    """Return a sentence for readers about the rows that pass a filter, or "" without one."""
    words = [f"{name} {' or '.join(map(str, list_accepted(cell)))}" for name, cell in where.items()]
    return f"Only rows with {join_names(words)}." if words else ""


def name_joined(names: Sequence[str]) -> str:
    """Return the name of sources that are shown together: ``ours + baseline``."""
    return " + ".join(names)


def refuse_repeated_source(names: Sequence[str]) -> None:
    """Raise a ``ValueError`` if a source is named twice."""
    if twice := [name for name in dict.fromkeys(names) if names.count(name) > 1]:
        raise ValueError(f'source names "{twice[0]}" twice')


# Words of SQL, pandas, matplotlib, seaborn and W&B for keys, the first of which that is there is suggested.
_SYNONYMS: Final = {
    "filter": "where filters having query select subset",
    "by": "group groupby group_by",
    "series": "model models method methods labels top limit head nlargest",
    "metric metrics": "y value values key keys metric metrics",
    "source": "data dataset from table csv file path",
    "step": "x iteration epoch",
    "x": "x_axis xaxis",
    "order": "sort sort_by sort_values order_by orderby",
    "colour colours": "color hue c",
    "colours": "colors palette cmap",
    "highlight": "emphasize emphasise focus",
    "x_title": "xlabel x_label",
    "y_title": "ylabel y_label",
    "x_domain": "xlim x_lim x_range xrange xmin xmax",
    "y_domain": "ylim y_lim y_range yrange ymin ymax",
    "x_scale": "xscale",
    "y_scale": "yscale scale",
    "band": "ci error err yerr errorbar errorbars error_bars error_band fill_between interval uncertainty "
    "std sd stderr se sem shade fill spread",
    "level": "confidence confidence_level ci_level alpha",
    "smooth": "smoothing ema ewm ewma rolling window",
    "max_points": "bins downsample",
    "runs": "units show_runs individual_runs",
    "annotations": "annotation text texts notes",
    "value columns": "stat stats statistic statistics aggregate agg estimator",
    "facet": "col row subplots small_multiples",
    "mark": "kind type chart_type plot_type",
    "format": "fmt tickformat number_format percent unit",
    "caption": "description note footnote",
    "height": "figsize size",
    "title": "name suptitle",
    "fit": "trend trendline regression reg lowess",
    "baseline": "compare against reference delta vs versus ref control",
}
# Words whose value is written in another way, and the line that says the same.
_LINES: Final = {
    "vline vlines axvline": "reference: {{x: {}}}",
    "hline hlines axhline": "reference: {{y: {}}}",
    "logx log_x semilogx": "x_scale: log",
    "logy log_y semilogy log_scale": "y_scale: log",
}
# Words for what an author cannot choose, and a sentence on who does.
_DECIDED: Final = {
    "legend show_legend legend_position grid ticks xticks yticks marker markers linestyle linewidth "
    "width theme style font fontsize dpi orient rotation tooltip interactive ncols sharex sharey opacity": (
        "Figures of reportgen choose it themselves; a vega-lite block leaves it to you"
    ),
    "digits decimals round precision": (
        "Digits follow the interval or the data; precision: in source.yml says what readings are accurate to"
    ),
    "agg aggregate estimator": "The line is the mean of the runs, and with band: iqr their median",
}


def list_meant(word: str) -> list[str]:
    """List the keys that a usual word stands for."""
    return list(chain(*(keys.split() for keys, words in _SYNONYMS.items() if word.lower() in words.split())))


def suggest_key(word: str, value: str, known: Collection[str]) -> str | None:
    """Suggest the key that an unknown one means, or the line to write, in a sentence that ends in a space.

    It is empty if such a block has nothing of the kind, and None for a word that is no usual one.
    """
    word = word.lower()
    line = next((line for words, line in _LINES.items() if word in words.split()), "")
    if "x_domain" not in known:  # the values of rows are y, wherever they are drawn
        line = line.replace("{x:", "{y:").replace("x_scale", "y_scale")
    if line and line.partition(":")[0] in known:
        return f"Write {line.format(value or 'NUMBER')}. "
    meant = list_meant(word)
    for key in (*meant, word, *(f"y{key[1:]}" for key in (*meant, word) if key.startswith("x_"))):
        if key in known:
            return suggest_name(key, known)
    said = next((said for words, said in _DECIDED.items() if word in words.split()), "")
    return f"{said}. " if said else "" if meant or line else None
