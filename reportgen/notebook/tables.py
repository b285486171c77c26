"""Run data in a notebook: files and folders that are opened, and data frames that hold the same."""

from __future__ import annotations

import json
import re
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypeAlias, TypeVar

import narwhals as nw
from msgspec import Struct
from msgspec.structs import replace
from narwhals.dependencies import is_pandas_dataframe

from reportgen.core.cache import Cache, replace_file
from reportgen.core.errors import Diagnostics, ReportError, SourceLocation, Stage, make_error
from reportgen.core.words import quote_names
from reportgen.settings.inputs import Source  # noqa: TC001 - help() evaluates the types of a struct's fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from narwhals.typing import IntoDataFrame

    from reportgen.core.errors import Diagnostic

Data: TypeAlias = "Table | IntoDataFrame"
"""The result of ``read``, or a data frame with the columns of a data file."""
_FRAME: Final = "frame"
_P = ParamSpec("_P")
_R = TypeVar("_R")
_NOTEBOOK: Final = SourceLocation("notebook")


class Table(Struct, frozen=True):
    """A file, a folder or a frame of run data that is opened but not yet computed from.

    ``source`` describes its contents.
    """

    root: Path
    source: Source
    of_frame: bool = False

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self.source.metrics

    def __repr__(self) -> str:
        """Name what is in the table in a line."""
        source = self.source
        names = source.benchmarks if source.kind == "outcomes" else source.metrics
        what = "benchmarks" if source.kind == "outcomes" else "metrics"
        listed = f", {what} {quote_names(names, most=4)}" if names else ""
        return f'<reportgen.Table "{source.name}": {source.kind}{listed}>'


def explain_frames(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function whose errors about a frame name its rows, not those of the file it is written to.

    Tracebacks of errors end at the function, since they are about data and not about what is below.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        problems = Diagnostics()
        with problems.collecting():
            return function(*args, **kwargs)
        data = args[0] if args else kwargs.get("data")
        if isinstance(data, str | Path) or (isinstance(data, Table) and not data.of_frame):
            raise ReportError(*problems.found)
        raise ReportError(*map(_name_frame, problems.found))

    return call


def _name_frame(problem: Diagnostic) -> Diagnostic:
    """Return a problem of a frame with its row in place of the line, and arguments in place of keys."""
    if not problem.location.file.startswith(f"{_FRAME}."):
        return problem
    line = problem.location.line
    place = SourceLocation(f"row {line - 1} of the frame" if line and line > 1 else "the frame")
    message = problem.message.replace(f"is not a key of {_FRAME}.source.yml", "is no argument of rg.read")
    message = re.sub(r"\bline (\d+)", lambda found: f"row {int(found[1]) - 1}", message)
    step = problem.next_step.replace(f"{_FRAME}.source.yml", "source.yml").replace("x: of the block", "x")
    step = re.sub(r"Say (\w+): in source\.yml", r"Say it in rg.read(frame, \1=…)", step)
    step = step.replace(" in source.yml", " as an argument of rg.read")
    named = re.sub(f'the source "{_FRAME}"|^"{_FRAME}"(?= has )', "the frame", message)
    return replace(problem, location=place, message=named, next_step=step)


@explain_frames
def read(data: str | Path | IntoDataFrame, **settings: object) -> Table:
    """Open a file or folder of run data, with its ``source.yml`` if it has one, or a data frame.

    Args:
        data: a data file, a folder of data files, or a frame of pandas or Polars with the columns of a data
            file. Of a pandas frame, an index with names becomes columns, and so do names of its columns, as
            ``pivot`` makes them.
        settings: of a frame, keys of a ``source.yml``, such as ``interval="se"`` or
            ``columns={"series": "algo"}``.

    Raises:
        ReportError: the path does not exist or cannot be read, or the frame is none; the error lists every
            problem.
    """
    from reportgen.read import open_path  # noqa: PLC0415 - imports the database
    from reportgen.settings.loading import load_source_settings  # noqa: PLC0415

    if isinstance(data, str | Path):
        if settings:
            message = f"{quote_names(list(settings))} are settings of a frame, and {data} is a path"
            raise make_error(_NOTEBOOK, message, "Write them into its source.yml", Stage.DATA)
        return Table(*open_path(data, load_settings=load_source_settings))
    frame: Any = data
    # Named columns of a pivot table become rows, and a named index columns.
    if is_pandas_dataframe(data):
        if twice := [str(name) for name in data.columns[data.columns.duplicated()].unique()]:
            message = f"more than one column of the frame is called {quote_names(twice)}"
            raise make_error(_NOTEBOOK, message, "Give each column a name of its own", Stage.DATA)
        if all(name is not None for name in data.columns.names):
            frame = data.melt(ignore_index=False)
        elif data.columns.nlevels > 1:
            message = "the columns of the frame have several levels without names"
            step = 'Name them, as in frame.columns.names = ["series", "seed"]'
            raise make_error(_NOTEBOOK, message, step, Stage.DATA)
        frame = frame.reset_index() if any(name is not None for name in frame.index.names) else frame
    frame = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        message = f"{type(data).__name__} is neither a path, the result of rg.read, nor a data frame"
        raise make_error(_NOTEBOOK, message, "Give one of them", Stage.DATA)
    if not len(frame):
        raise make_error(_NOTEBOOK, "the frame has no rows", "", Stage.DATA)
    return _open_frame(frame, settings)


def _open_frame(frame: nw.DataFrame[Any], settings: Mapping[str, object]) -> Table:
    """Write a frame with its settings as files, so that it is read by the rules for these, and open them."""
    from reportgen.read import open_path  # noqa: PLC0415 - imports the database
    from reportgen.read.runs.stored import get_temporary_cache  # noqa: PLC0415 - as above
    from reportgen.settings.loading import load_source_settings  # noqa: PLC0415

    text, keys = frame.write_csv().encode(), json.dumps(settings, default=str)
    folder = get_temporary_cache().get_text_path(Cache.make_key(_FRAME, text, keys), _FRAME)
    path = Path(folder, f"{_FRAME}.csv")
    if not path.exists():
        if settings:
            replace_file(str(path.with_suffix(".source.yml")), keys.encode())
        replace_file(str(path), text)
    _, source = open_path(path, load_settings=load_source_settings)
    return Table(path.parent, source, of_frame=True)


def open_data(data: Data) -> Table:
    """Return a table as it is, and a frame as a table; raise as ``read``."""
    return data if isinstance(data, Table) else read(data)
