"""What a table format finds in a file: its columns and types, a sample, rows as they are written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reportgen.formats import sql
from reportgen.formats.cells import Text  # noqa: TC001 - the schema of stored surveys needs it at run time
from reportgen.formats.files import Content

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


# Names by which a part is recognised, the best first; capital letters make no difference.
ROLE_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "series": ("model", "method", "series", "algorithm", "variant", "name", "label"),
    "run": ("run", "run_id", "run_name"),
    "seed": ("seed",),
    "step": ("step", "global_step", "iteration", "iter", "epoch", "_step", "steps", "x"),
    "metric": ("metric", "variable", "tag"),
    **{role: (role,) for role in ("value", "low", "high", "stderr", "std", "n")},
}
# Columns whose cells are names, which a sample has to hold even where they are numbers.
NAME_COLUMNS: Final = frozenset((*ROLE_NAMES["series"], *ROLE_NAMES["metric"]))


@dataclass(frozen=True, slots=True)
class FileLayout:
    """A file of a source, and how it is read, as far as it was looked at."""

    path: str  # relative to the project
    format: str  # a key of ``formats.FORMATS``
    compression: str  # ``gzip``, ``zstd`` or nothing
    columns: tuple[str, ...] = ()  # names as written, in order; empty where a column has no name
    types: tuple[str, ...] = ()  # the SQL types that they are read as; ``VARCHAR`` in most text formats
    variant: str = ""  # what else the format needs: the delimiter, or the shape of JSON
    skip: int = 0  # bytes left out at the beginning
    keep: int | None = None  # bytes that count from the beginning, when the rest is torn off
    even_ends: bool = True  # False where lines end now with one sign, now with two
    # Where its rows lie if another place than ``path`` is read, relative to the project or absolute.
    copy: str = ""
    # Columns that the file does not have: their names, and for each a value of every row or, with ``code``,
    # one for each of its codes.
    given: tuple[tuple[str, tuple[Text, ...]], ...] = ()
    # The column with the place in the values of ``given``; empty where one value holds for all rows.
    code: str = ""
    label: str = ""  # the name that it gives its rows where no column does

    def get_content(self, root: Path) -> Content:
        """Its bytes; ``root`` is the folder of the project."""
        return Content(root / self.place, self.path, self.compression)

    @property
    def place(self) -> str:
        """Where the rows lie, relative to the project or absolute."""
        return self.copy or self.path

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, with those that are given."""
        return tuple(dict.fromkeys((*self.columns, *(name for name, _ in self.given))))

    def get_given(self, name: str) -> tuple[Text, ...] | None:
        """The values of a column that the file does not have; None where it is one of its own."""
        return next((values for given, values in self.given if given == name), None)

    @property
    def as_it_is(self) -> bool:
        """Whether DuckDB can read the file itself, not a copy that was put right."""
        return self.skip == 0 and self.keep is None and self.even_ends

    def type_of(self, name: str) -> str:
        """The SQL type of a column."""
        return sql.TEXT if self.get_given(name) is not None else self.types[self.columns.index(name)]


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it is written: its line or, in a format without lines, its number, and cells by column."""

    line: int | None
    number: int
    cells: Mapping[str, Text]


@dataclass(frozen=True, slots=True)
class Look:
    """What a first look at a file found."""

    file: FileLayout
    rows: list[tuple[Text, ...]]  # a sample, cells in the order of the columns
    exhaustive: bool  # whether the sample is the whole file
    warnings: tuple[Diagnostic, ...] = ()  # what was found and handled
