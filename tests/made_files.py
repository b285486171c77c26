"""Files of cases from readable text: what no editor shows, and formats that are not text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import made_logs
import numpy as np
import openpyxl
import pandas as pd
from made_logs import ARCHIVES, MLFLOW, TRACKIO, packed_zstandard, read_events, read_wandb, write_database
from made_notebooks import write_notebook

if TYPE_CHECKING:
    from collections.abc import Callable


def _unescape(text: str) -> bytes:
    """Text with the escapes of Python, whose own line ends are left out."""
    return text.replace("\n", "").encode("ascii").decode("unicode_escape").encode("latin-1")


def _write_parquet(text: str) -> bytes:
    """A table in CSV as Parquet, with the types that pandas finds."""
    content = io.BytesIO()
    pd.read_csv(io.StringIO(text)).to_parquet(content)
    return content.getvalue()


def _write_notebook(text: str) -> bytes:
    """Cells, each behind a line ``%% markdown`` or ``%% code``, as the file that Jupyter saves."""
    cells = re.findall(r"^%% (\w+)\n(.*?)\n?(?=^%%|\Z)", text, re.MULTILINE | re.DOTALL)
    return write_notebook(*((body,) if kind == "code" else body for kind, body in cells)).encode()


def _write_selected(text: str) -> bytes:
    """Rows that a statement of SQL selects, as Parquet."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.parquet"
        duckdb.sql(f"COPY ({text}) TO '{path}' (FORMAT parquet)")
        return path.read_bytes()


def _write_arrays(text: str) -> bytes:
    """Arrays of NumPy: a line each, with its name, type and values as JSON."""
    content, lines = io.BytesIO(), [line.split(maxsplit=2) for line in text.splitlines()]
    save: Callable[..., None] = np.savez
    save(content, **{name: np.array(json.loads(values), kind) for name, kind, values in lines})
    return content.getvalue()


def _write_workbook(text: str) -> bytes:
    """Sheets of Excel: a line ``[Name]``, and rows of JSON lists below it; ``"@"`` begins a time."""
    workbook, content = openpyxl.Workbook(), io.BytesIO()
    workbook.remove(workbook.worksheets[0])
    for line in text.splitlines():
        if line.startswith("[") and line[1:-1].isidentifier():
            sheet = workbook.create_sheet(line[1:-1])
        else:
            sheet.append([_read_time(cell) for cell in json.loads(line)])
    workbook.save(content)
    return content.getvalue()


def copy_kept(name: str, target: Path) -> None:
    """Copy a file or folder of the repository, as ``data/helm-example``; what is packed there is unpacked."""
    kept = Path(__file__).parents[1] / name
    if kept.is_file():
        shutil.copyfile(kept, target)
        return
    shutil.copytree(kept, target, ignore=shutil.ignore_patterns("README.md"), dirs_exist_ok=True)
    for path in list(target.rglob("*.gz")):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))
        path.unlink()


def _read_time(cell: Any) -> Any:  # noqa: ANN401 - of a sheet
    is_time = isinstance(cell, str) and cell.startswith("@")
    return datetime.fromisoformat(cell[1:]) if is_time else cell


def _write_answers(text: str) -> bytes:
    """Scores of samples as CSV: a line for each series, a word for each problem, a mark for each sample.

    ``A seed=1: 110*20 0-0 0.25`` is a series with 20 problems of which two of three samples are right, one of
    which the second sample is missing, and one of a single sample with this score.
    """
    columns: list[str] = []
    rows: list[dict[str, str]] = []
    for line in text.splitlines():
        head, _, words = line.partition(": ")
        series, *more = head.split()
        named = dict(one.split("=") for one in more)
        columns += [name for name in named if name not in columns]
        cells = [word.partition("*") for word in words.split()]
        problems = [cell for cell, _, count in cells for _ in range(int(count or 1))]
        rows += [
            {"series": series, **named, "problem": f"p{place}", "sample": f"{sample}", "score": score}
            for place, cell in enumerate(problems, 1)
            for sample, score in enumerate([cell] if "." in cell else cell, 1)
            if score != "-"
        ]
    content = io.StringIO()
    writer = csv.DictWriter(content, ["series", *columns, "problem", "sample", "score"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return content.getvalue().encode()


def _evaluate(text: str) -> bytes:
    """The value of an expression of Python: for what is too long to be written."""
    value = eval(text, {**vars(made_logs), **globals()})  # noqa: S307 - a test's own
    return value if isinstance(value, bytes) else str(value).encode()


# How the text of a fence becomes a file, by the word behind its mark.
KINDS: dict[str, Callable[[str], bytes]] = {
    "": str.encode,
    "answers": _write_answers,
    "escaped": _unescape,
    "evaluated": _evaluate,
    "notebook": _write_notebook,
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
    "parquet": _write_parquet,
    "npz": _write_arrays,
    "select": _write_selected,
    "sqlite": write_database,
    "mlflow": lambda text: write_database(MLFLOW + text),
    "trackio": lambda text: write_database(TRACKIO + text),
    "tensorboard": read_events,
    "wandb": read_wandb,
    "wandb_nested": lambda text: read_wandb(text, nested=True),
    "xlsx": _write_workbook,
    "zstd": lambda text: packed_zstandard(text.encode()),
    **ARCHIVES,
}
