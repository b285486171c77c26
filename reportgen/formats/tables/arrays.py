"""NumPy archives (``.npz``) as tab-separated text: an array is a column, and its first axis are the rows.

Format: "numpy.lib.format" in NumPy's documentation, versions 1.0 to 3.0, in a zip archive. Arrays of Python
objects are pickles, which run code as they are read, so they are never read. Headers are parsed by NumPy, as
literals of at most 10,000 characters; the size of an array is that of the member, whatever its header says.
"""

from __future__ import annotations

import io
import warnings
from collections import Counter
from tokenize import TokenError
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.lib import format as npy

from reportgen.core.score_names import is_result
from reportgen.core.words import format_count
from reportgen.formats.archive import open_archive
from reportgen.formats.decode import MOST_COLUMNS
from reportgen.formats.layout import ROLE_NAMES
from reportgen.formats.messages import list_names
from reportgen.formats.runs import UnreadableError
from reportgen.formats.tables.delimited import write_separated
from reportgen.formats.tables.excel import MOST_CELLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.formats.archive import Archive
    from reportgen.formats.layout import Content


_ROWS_AT_ONCE: Final = 20_000
_KINDS: Final = frozenset("biufUSM")
_TWO_AXES: Final = 2
_ADVICE: Final = "Save it again with numpy.savez, from arrays of numbers of one length"


def write_arrays(content: Content) -> tuple[str, tuple[str, ...]]:
    """Return the arrays as tab-separated text, and a warning for each array that is left out.

    An array of two axes is a column with several rows for each of the first, as of the episodes of a step;
    names and axes are repeated in them, metrics are not. One without an axis is the same in every row. Raises
    ``ReportError`` if no array can be read.
    """
    content.check()
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    left_out: dict[str, str] = {}
    try:
        with open_archive(content.path) as archive:
            for name in sorted(archive.names):
                try:
                    arrays[name.removesuffix(".npy")] = _read_array(archive, name)
                except ValueError as error:
                    left_out[name.removesuffix(".npy")] = str(error)
    except UnreadableError as error:
        fault = error.problem
        raise content.make_error(f"it is no .npz archive: {fault.message}", fault.next_step) from None
    lengths = Counter(len(array) for array in arrays.values() if array.ndim)
    rows = lengths.most_common(1)[0][0] if lengths else 1
    columns: dict[str, np.ndarray[Any, Any]] = {}
    for name, array in arrays.items():
        if array.ndim and len(array) != rows:
            left_out[name] = f"it has {format_count(len(array), 'row')} where others have {rows:,}"
        elif array.shape[1:] != (0,):
            columns[name] = array if array.ndim else np.full(rows, array)
    if not columns or not rows:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise content.make_error(f"no array can be read{f' ({reasons})' if reasons else ''}", _ADVICE)
    if len(columns) > MOST_COLUMNS:
        raise content.make_columns_error(len(columns))
    several = max(array.shape[1] if array.ndim == _TWO_AXES else 1 for array in columns.values())
    if several > 1 and rows * several * len(columns) > MOST_CELLS:
        message = f"its arrays of two axes are a table of more than {MOST_CELLS:,} cells"
        raise content.make_error(message, "Save fewer arrays together, or the mean over one axis")
    by_reason = {
        reason: [name for name, one in left_out.items() if one == reason] for reason in left_out.values()
    }
    said = tuple(
        f"the array {list_names(names)} is left out: {reason}" for reason, names in by_reason.items()
    )
    return write_separated(content, _iterate_rows(columns, rows, several)), said


def _read_array(archive: Archive, name: str) -> np.ndarray[Any, Any]:
    """Return an array of at most two axes, or raise ``ValueError`` with the reason why it is not read."""
    data = archive.read(name)
    file = io.BytesIO(data)
    version = npy.read_magic(file)
    read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    try:
        with warnings.catch_warnings():
            # Of headers as Python 2 wrote them.
            warnings.simplefilter("ignore")
            shape, is_fortran, dtype = read_header(file)
    except (SyntaxError, TokenError, TypeError, LookupError, RecursionError, MemoryError) as error:
        raise ValueError("its header is damaged") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which cannot be read without running code")
    if dtype.names or dtype.kind not in _KINDS:
        raise ValueError(f"it holds {dtype}, which is neither numbers nor words")
    if len(shape) > _TWO_AXES:
        raise ValueError(f"it has {len(shape)} axes, and at most {_TWO_AXES} are read")
    count = 1
    for length in shape:
        count *= length
    if count * dtype.itemsize != len(data) - file.tell() or not dtype.itemsize:
        raise ValueError("its header does not fit its size")
    array = np.frombuffer(data, dtype, count, file.tell()).reshape(shape, order="F" if is_fortran else "C")
    if dtype.kind != "U":
        return array
    try:
        return np.array(array.tolist())
    except SystemError as error:  # how Python refuses numbers beyond the last character
        raise ValueError("it holds numbers that are no characters") from error


def _iterate_rows(
    columns: Mapping[str, np.ndarray[Any, Any]], rows: int, several: int
) -> Iterator[Sequence[object]]:
    """Yield the names of the columns, then every row as texts, ``several`` for each of the first axis."""
    yield [" ".join(name.split()) for name in columns]
    repeated = {name for name, array in columns.items() if array.ndim == 1 and _is_no_metric(name, array)}
    for begin in range(0, rows, _ROWS_AT_ONCE):
        parts = [
            _write_texts(array[begin : begin + _ROWS_AT_ONCE], several, is_repeated=name in repeated)
            for name, array in columns.items()
        ]
        yield from zip(*parts, strict=True)


def _is_no_metric(name: str, array: np.ndarray[Any, Any]) -> bool:
    """Return whether values are words or one number, have the name of a role, or increase as a step does."""
    is_role = any(name.casefold() in names for names in ROLE_NAMES.values())
    if is_role or array.dtype.kind not in "iuf" or len(np.unique(array)) == 1:
        return True
    return bool((array[1:] > array[:-1]).all()) and not is_result(name)


def _write_texts(array: np.ndarray[Any, Any], several: int, *, is_repeated: bool) -> list[str]:
    """Return an array as ``several`` texts for each of its first axis, repeated or with empty ones behind."""
    texts = np.char.decode(array, "utf-8", "replace") if array.dtype.kind == "S" else array
    # NumPy writes the fewest digits that give the same number in the array's own precision.
    texts = texts.astype(str)
    if is_repeated:
        return np.repeat(texts, several).tolist()
    texts = texts.reshape(len(texts), -1)
    return np.pad(texts, ((0, 0), (0, several - texts.shape[1])), constant_values="").ravel().tolist()
