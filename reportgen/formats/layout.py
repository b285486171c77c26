"""Layout of a table file: columns, types, a sample, and rows as written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.formats import sql
from reportgen.formats.cells import Kind, Text
from reportgen.formats.files import Content

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


# Names by which a role is recognised, the best first; case does not matter.
ROLE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "series": ("model", "method", "series", "algorithm", "variant", "name", "label"),
    "run": ("run", "run_id", "run_name"),
    "seed": ("seed",),
    "step": ("step", "global_step", "iteration", "iter", "epoch", "_step", "steps", "timesteps", "x"),
    # Exports of Comet have the last of each.
    "metric": ("metric", "variable", "tag", "metricname"),
    "value": ("value", "metricvalue"),
    "low": ("low",),
    "high": ("high",),
    "stderr": ("stderr", "sem", "se"),
    "std": ("std", "sd"),
    "n": ("n", "count"),
}
# Columns of names, which a sample must include even if they are numbers.
NAME_COLUMNS: Final = frozenset((*ROLE_NAMES["series"], *ROLE_NAMES["metric"]))

TIME_NAMES: Final = re.compile(
    r"_?timestamp|(wall|date|log|logged)?[_ ]?time|walltime|date|logged_at", re.IGNORECASE
)
"""Names of columns with the times of rows."""
RUN_SETTINGS: Final = re.compile(r"(config|params|hparams|args|settings|hyperparameters)\.(json|ya?ml)")
"""Names of files with the settings of a run, beside its tables."""


def find_empty_steps(kinds: Mapping[str, Kind]) -> list[str]:
    """Return columns of steps without a value, if another one has values, such as the epoch."""
    steps = [name for name in kinds if name.strip().casefold() in ROLE_NAMES["step"]]
    empty = [name for name in steps if kinds[name] is Kind.EMPTY]
    return empty if len(empty) < len(steps) else []


class FileLayout(Struct, frozen=True):
    """File of a source and how to read it, as far as it is known."""

    path: str  # relative to the project
    format: str  # a key of ``tables.FORMATS``
    compression: str  # ``gzip``, ``zstd`` or empty
    columns: tuple[str, ...] = ()  # names as written, in order; empty for a column without a name
    types: tuple[str, ...] = ()  # SQL types to read them as; ``VARCHAR`` in most text formats
    variant: str = ""  # other details of the format: the delimiter, or the shape of JSON
    skip: int = 0  # bytes to skip at the beginning
    keep: int | None = None  # number of bytes to read if the rest is torn off
    even_ends: bool = True  # False if line ends are mixed
    # Location of the rows if not ``path``, relative to the project or absolute.
    copy: str = ""
    above: int | None = None  # lines above those of the copy, if they are apart as in the file
    # Columns that the file does not have: their names, and one value for every row or, with ``code``, one for
    # each of its codes.
    given: tuple[tuple[str, tuple[Text, ...]], ...] = ()
    # The column of indices into the values of ``given``; empty if one value applies to all rows.
    code: str = ""
    label: str = ""  # name of its rows if no column has one
    shares: bool = False  # whether percentages were written as shares
    # The run of each value of ``given``, as an index into ``Layout.settings``; empty without runs.
    owners: tuple[int, ...] = ()

    def get_content(self, root: Path) -> Content:
        """Return the file's content; ``root`` is the project folder."""
        return Content(root / self.place, self.path, self.compression, self.above or 0)

    @property
    def place(self) -> str:
        """Location of the rows, relative to the project or absolute."""
        return self.copy or self.path

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, including those in ``given``."""
        return tuple(dict.fromkeys((*self.columns, *(name for name, _ in self.given))))

    def get_given(self, name: str) -> tuple[Text, ...] | None:
        """Return the values of a column that the file does not have; None for one of its own."""
        return next((values for given, values in self.given if given == name), None)

    @property
    def as_it_is(self) -> bool:
        """Whether DuckDB can read the file itself rather than a repaired copy."""
        return self.skip == 0 and self.keep is None and self.even_ends

    def type_of(self, name: str) -> str:
        """Return the SQL type of a column."""
        return sql.TEXT if self.get_given(name) is not None else self.types[self.columns.index(name)]


class Row(Struct, frozen=True):
    """Row as written: its line (None in a format without lines), its number, and its cells by column."""

    line: int | None
    number: int
    cells: Mapping[str, Text]


class Look(Struct, frozen=True):
    """Result of a first look at a file."""

    file: FileLayout
    rows: list[tuple[Text, ...]]  # a sample, cells in the order of the columns
    exhaustive: bool  # whether the sample covers the whole file
    warnings: tuple[Diagnostic, ...] = ()  # irregularities that were handled
