"""Make the fonts that reportgen ships, and the table of their advance widths.

Run by hand, only when the letters or the source fonts change; the results are committed::

    python site_templates/fonts/make_fonts.py INTER_DIR JETBRAINS_MONO_REGULAR

INTER_DIR holds ``Inter-Regular``, ``Inter-Italic`` and ``Inter-SemiBold`` (4.1), JETBRAINS_MONO_REGULAR
is the file of that font (2.242); both as ``.woff2``, ``.ttf`` or ``.otf``. Needs ``fonttools[woff]``.
The same sources give the same bytes.

What is changed, and why:

- Figures (0 to 9) are the tabular ones for everybody, so that numbers stand under each other in text,
  table, SVG and canvas alike, also where OpenType features cannot be asked for.
- Only Latin, Greek, punctuation, arrows, mathematical and a few geometric characters are kept.
- Contextual forms are dropped, so that a text is as wide as the sum of its advances and its kerning.
- The family is renamed, so that a copy of the original on the reader's machine never takes its place.
"""  # noqa: INP001 - a folder of fonts, not of modules

from __future__ import annotations

import json
import sys
from itertools import groupby
from pathlib import Path

from fontTools import subset
from fontTools.ttLib import TTFont

HERE = Path(__file__).resolve().parent
FIGURES = HERE.parent.parent / "reportgen" / "figures"

RANGES = (
    (0x20, 0x7E),  # Basic Latin
    (0xA0, 0x17F),  # Latin-1, Latin Extended-A
    (0x218, 0x21B),  # Romanian
    (0x2BC, 0x2DD),  # modifier letters
    (0x370, 0x3FF),  # Greek
    (0x1E9E, 0x1E9E),  # capital sharp s
    (0x2002, 0x2064),  # punctuation and spaces
    (0x2070, 0x209C),  # superscripts and subscripts
    (0x20AC, 0x20AC),  # euro
    (0x2113, 0x2126),  # letterlike
    (0x2190, 0x2199),  # arrows
    (0x21D0, 0x21D4),  # double arrows
    (0x2200, 0x2265),  # mathematical operators
    (0x25A0, 0x25CF),  # geometric shapes
    (0x2713, 0x2717),  # check marks
)
SANS = (
    ("Inter-Regular", 400, "Regular"),
    ("Inter-SemiBold", 600, "SemiBold"),
    ("Inter-Italic", 400, "Italic"),
)
DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def main(inter: Path, mono: Path) -> None:
    """Write every font and the table of widths."""
    advances = {}
    for stem, weight, style in SANS:
        font = small(find(inter, stem), features=("ccmp", "kern", "mark", "mkmk"))
        rename(font, "Reportgen Sans", style, weight)
        name = f"reportgen-sans-{weight}{'-italic' * (style == 'Italic')}"
        save(font, HERE / f"{name}.woff2")
        if style != "Italic":
            save(font, FIGURES / "fonts" / f"{name}.ttf")
            advances[weight] = widths(font)
    font = small(mono, features=("ccmp", "mark", "mkmk"))
    rename(font, "Reportgen Mono", "Regular", 400)
    save(font, HERE / "reportgen-mono-400.woff2")
    (FIGURES / "fonts" / "advances.json").write_text(table(advances), encoding="utf-8")


def find(folder: Path, stem: str) -> Path:
    """Return the file of a font by its name without ending."""
    return next(path for ending in ("woff2", "ttf", "otf") if (path := folder / f"{stem}.{ending}").exists())


def small(source: Path, *, features: tuple[str, ...]) -> TTFont:
    """Open a font, make its figures tabular, and keep only what a report needs."""
    font = TTFont(source, recalcTimestamp=False)
    for cmap in font["cmap"].tables:
        for code, glyph in cmap.cmap.items():
            tabular = f"{glyph}.tf"
            if glyph in DIGITS and tabular in font.getGlyphOrder():
                cmap.cmap[code] = tabular
    options = subset.Options(layout_features=list(features), hinting=False, name_IDs=[0, 7, 13, 14])
    options.drop_tables += ["DSIG", "meta"]
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[code for first, last in RANGES for code in range(first, last + 1)])
    subsetter.subset(font)
    return font


def rename(font: TTFont, family: str, style: str, weight: int) -> None:
    """Give a font our family name; the licence and copyright stay."""
    styled = style in {"Regular", "Italic"}
    names = {
        1: family if styled else f"{family} {style}",
        2: style if styled else "Regular",
        3: f"reportgen: {family} {style}",
        4: f"{family} {style}",
        5: "Version 1.0",
        6: f"{family.replace(' ', '')}-{style}",
    } | ({} if styled else {16: family, 17: style})
    table = font["name"]
    for number, text in names.items():
        table.setName(text, number, 3, 1, 0x409)
    font["OS/2"].usWeightClass = weight


def save(font: TTFont, path: Path) -> None:
    """Write a font as its file name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    font.flavor = "woff2" if path.suffix == ".woff2" else None
    font.save(path, reorderTables=True)


def widths(font: TTFont) -> dict[int, int]:
    """Return the advance of every character, in units of 1/2048 em."""
    return {code: font["hmtx"][glyph][0] for code, glyph in sorted(font.getBestCmap().items())}


def table(advances: dict[int, dict[int, int]]) -> str:
    """Write the advances as JSON: by weight and first character, those of consecutive characters."""
    weights = []
    for weight, of in advances.items():
        runs = []
        for _, group in groupby(enumerate(sorted(of)), key=lambda pair: pair[1] - pair[0]):
            codes = [code for _, code in group]
            run = json.dumps([of[code] for code in codes], separators=(",", ":"))
            runs.append(f'  "{codes[0]}": {run}')
        weights.append(f'"{weight}": {{\n' + ",\n".join(runs) + "\n}")
    return "{\n" + ",\n".join(weights) + "\n}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
