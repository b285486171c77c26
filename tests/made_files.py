"""Files of cases from readable text: what no editor shows, and formats that are not text."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import made_wandb_log as wandb
import openpyxl
import pandas as pd
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


def _write_sqlite(text: str) -> bytes:
    """Statements of SQL as the database that they make."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "one.db"
        connection = sqlite3.connect(path)
        connection.executescript(text)
        connection.close()
        return path.read_bytes()


def _write_notebook(text: str) -> bytes:
    """Cells, each behind a line ``%% markdown`` or ``%% code``, as the file that Jupyter saves."""
    cells = re.findall(r"^%% (\w+)\n(.*?)\n?(?=^%%|\Z)", text, re.MULTILINE | re.DOTALL)
    return write_notebook(*((body,) if kind == "code" else body for kind, body in cells)).encode()


def _write_workbook(text: str) -> bytes:
    """Sheets of Excel: a line ``[Name]``, and rows of JSON lists below it."""
    workbook, content = openpyxl.Workbook(), io.BytesIO()
    workbook.remove(workbook.worksheets[0])
    for line in text.splitlines():
        if line.startswith("[") and line[1:-1].isidentifier():
            sheet = workbook.create_sheet(line[1:-1])
        else:
            sheet.append(json.loads(line))
    workbook.save(content)
    return content.getvalue()


def _write_wandb(text: str) -> bytes:
    """A log of W&B: a line of JSON for the run, one for each row, and a number where it ends."""
    first, *rows = map(json.loads, text.splitlines())
    named = {"id_" if key == "id" else key: value for key, value in first.items() if key != "config"}
    records = [wandb.run(first.get("config", {}), **named)]
    for number, row in enumerate(rows):
        if isinstance(row, int):
            records.append(wandb.ended(row))
        elif "define" in row:
            records.append(wandb.metric(**row["define"]))
        else:
            records.append(wandb.history(row, row.get("_step", number)))
    return wandb.log(wandb.numbered(records))


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


# How the text of a fence becomes a file, by the word behind its mark.
KINDS: dict[str, Callable[[str], bytes]] = {
    "": str.encode,
    "answers": _write_answers,
    "escaped": _unescape,
    "notebook": _write_notebook,
    "gzip": lambda text: gzip.compress(text.encode(), mtime=0),
    "parquet": _write_parquet,
    "sqlite": _write_sqlite,
    "wandb": _write_wandb,
    "xlsx": _write_workbook,
}


def write_escaped(content: bytes) -> tuple[str, str]:
    """Return the kind and text of a fence that holds some content."""
    try:
        text = content.decode()
        plain = not text or (text.endswith("\n") and all(c.isprintable() or c in "\n\t" for c in text))
    except UnicodeDecodeError:
        plain = False
    if plain:
        return "", text
    escaped = content.decode("latin-1").encode("unicode_escape").decode("ascii")
    return "escaped", escaped.replace("\\n", "\\n\n").removesuffix("\n") + "\n"
