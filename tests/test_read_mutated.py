"""Accidents in files of every format, and files made to do harm: each is read, or refused with its name.

Memory is measured with ``--slow`` only: it needs processes of their own.

    python tests/test_read_mutated.py FORMAT FOLDER COUNT SCRATCH

With ``commands`` in place of a format every variant is described and frozen, as by the command line. Prints
JSON: how many variants were read and how many refused, the values read, what broke the reader, and the
largest memory that the process ever held, in MB.
"""

from __future__ import annotations

import io
import json
import math
import resource
import shutil
import subprocess
import sys
import traceback
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import openpyxl
import pytest
from command_line import call, describe
from made_files import KINDS, copy_kept
from made_logs import zipped
from made_sources import VARIANTS, Data, flips, mutations
from tries import is_slow, tries

from reportgen.core.errors import Diagnostics, ReportError
from reportgen.formats.registry import find_units, list_readers, read_unit
from reportgen.formats.runs import Evaluation, LoggedRun, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.formats.runs import Unit

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests/data"
# Of each format the files that its writer left, or such as it leaves.
FOLDERS = {
    **{path.name: path for path in KEPT.iterdir()},
    **{path.name: path for path in (ROOT / "tests/shapes").iterdir() if path.is_dir()},
    "trainer_state": ROOT / "data/trainer-example",
    "metrics_csv": ROOT / "data/lightning-example",
    "step_json": ROOT / "data/verl-example",
    "console": ROOT / "data/verl-console-example",
    "lm_eval": ROOT / "data/lm-eval-example",
    "lighteval": ROOT / "data/lighteval-checkpoints",
    "helm": ROOT / "data/helm-example",
}
LISTS = {"answer_lists"}
COUNT = tries(*VARIANTS)
MOST_MB = 500


_KB_OF_A_MB = 1024
_BY_PLACE = {".parquet", ".db"}


def read_all(form: str, units: Sequence[Unit], files: Sequence[Path]) -> int:
    """Read units, and look for such among files; how many values and scores there are."""
    find_units(files, form)
    found = 0
    for unit in units:
        for one in read_unit(unit):
            if isinstance(one, LoggedRun):
                assert all(len(points.steps) == len(points.values) for points in one.metrics.values())
                found += sum(len(points.values) for points in one.metrics.values())
            else:
                assert isinstance(one, Evaluation)
                check_values(one)
                found += len(one.answers) + len(one.totals)
    return found


def check_values(one: Evaluation) -> None:
    """Fail unless values are whole: no NaN, no negative error, nothing that cannot be written as UTF-8."""
    messages = [finding.message for finding in one.findings]
    texts = [one.model, one.benchmark, one.run, *one.protocol, *one.protocol.values(), *messages]
    for answer in one.answers:
        assert answer.score is None or math.isfinite(answer.score)
        texts += [answer.problem, answer.sample, answer.metric, answer.answer or "", answer.gold or ""]
        texts += [*answer.slices, *answer.slices.values()]
    for total in one.totals:
        assert math.isfinite(total.value)
        assert total.stderr is None or 0 <= total.stderr < math.inf
        assert total.n is None or total.n >= 1
        texts.append(total.metric)
    assert "\n" not in "".join(messages)
    "".join(texts).encode()


def describe_and_freeze(folder: Path) -> int:
    """Describe a folder and freeze it next to it; how many values and answers are frozen.

    Raises:
        UnreadableError: it cannot be read; then the description says so, too.
    """
    found = describe(folder.parent, folder.name, "--cache-dir", "cache")
    done = call(folder.parent, "freeze", folder.name, "--to", "frozen", "--cache-dir", "cache")
    if done.returncode:
        if found["kind"]:
            assert found["fails"]
            assert any(problem["severity"] == "error" for problem in found["problems"])
        raise UnreadableError(folder, done.stderr)
    assert (folder.parent / "frozen/data.parquet").is_file()
    counts = [one["values"] for one in found["runs"]] + [one["answers"] for one in found["evaluations"]]
    return sum(map(int, counts))


def tell(form: str, folder: Path, count: int, scratch: Path) -> dict[str, Any]:
    """Mutate each file of the format in turn."""
    shutil.copytree(folder, scratch)
    own = files = sorted(path for path in scratch.rglob("*") if path.is_file())
    read: Callable[[], int] = partial(describe_and_freeze, scratch)
    if form != "commands":
        units = find_units(files, form).units
        own = [path for unit in units for path in unit.files]
        read = partial(read_all, form, units, files)
    told: dict[str, Any] = {"read": 0, "refused": 0, "values": 0, "broken": []}
    for place, path in enumerate(own):
        whole = path.read_bytes()
        accidents = flips if path.suffix in _BY_PLACE else mutations
        for variant in accidents(whole, -(-count // len(own)), seed=place):
            path.write_bytes(variant)
            try:
                told["values"] += read()
                told["read"] += 1
            except (UnreadableError, ReportError) as error:
                told["refused"] += bool(str(error))
            except Exception:  # noqa: BLE001 - told, with all the others
                told["broken"].append(f"{path.name}: {traceback.format_exc()[-800:]}")
        path.write_bytes(whole)
    return {**told, "peak": get_peak()}


def get_peak() -> float:
    """The largest memory that this process ever held, in MB, without what its parent held when it began."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = status.read_text(encoding="utf-8").splitlines()
        (line,) = (line for line in lines if line.startswith("VmHWM"))
        return int(line.split()[1]) / _KB_OF_A_MB
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KB_OF_A_MB


def test_every_format_is_among_them() -> None:
    """Each reader has a folder here, but for the one that needs a pattern."""
    assert {*FOLDERS, *LISTS, "lines"} == {reader.name for reader in list_readers()}


def files_of(form: str, room: Path) -> Path:
    """Small files of a format."""
    if form in LISTS:
        rows = [
            {"problem": f"p{number}", "gold": number, "answers": [number, 2], "correct": [True, False]}
            for number in range(8)
        ]
        folder = room / "lists"
        folder.mkdir()
        (folder / "model.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
        return folder
    if FOLDERS[form].parent != KEPT:
        return FOLDERS[form]
    copy_kept(f"tests/data/{form}", room / "data")
    return room / "data"


def read_mutated(form: str, folder: Path, count: int, scratch: Path) -> dict[str, Any]:
    """Read variants of files in this process, or with ``--slow`` in one of its own."""
    if not is_slow():
        return {**tell(form, folder, count, scratch), "peak": 0}
    command = [sys.executable, "tests/test_read_mutated.py", form, str(folder), str(count), str(scratch)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.mark.random
@pytest.mark.parametrize("form", [*FOLDERS, *LISTS])
def test_accidents(form: str, tmp_path: Path) -> None:
    """Each format is read or refused, in little memory."""
    told = read_mutated(form, files_of(form, tmp_path), COUNT, tmp_path / "scratch")
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= COUNT
    assert told["values"] > tries(COUNT // 2, COUNT)
    assert told["peak"] <= MOST_MB


TABLES = {
    "a.parquet": "FORMAT parquet",
    "a.csv": "FORMAT csv, HEADER",
    "a.jsonl": "FORMAT json",
    "a.json": "FORMAT json, ARRAY true",
}
FEW = tries(8, 80)


@pytest.mark.random
@pytest.mark.parametrize("name", [*TABLES, "trainer_state.json"])
def test_accidents_on_the_command_line(name: str, tmp_path: Path) -> None:
    """Tables, and what a logger wrote, are described and frozen, or refused in words."""
    folder = tmp_path / "s"
    folder.mkdir()
    if name in TABLES:
        rows = """
            SELECT 'AB'[1 + i % 2:1 + i % 2] AS model, i % 3 AS seed, i // 6 AS step,
                ['loss', 'acc'][1 + i // 3 % 2] AS metric, i / 7 AS value FROM range(400) rows(i)
        """
        duckdb.sql(f"COPY ({rows}) TO '{folder / name}' ({TABLES[name]})")
    else:
        history = [{"step": step, "loss": 1 / (step + 1), "epoch": step / 9} for step in range(90)]
        state = {"log_history": history, "global_step": 90, "max_steps": 90, "epoch": 9.0}
        (folder / name).write_text(json.dumps(state), encoding="utf-8")
    told = read_mutated("commands", folder, FEW, tmp_path / "scratch")
    assert told["broken"] == []
    assert told["read"] + told["refused"] >= FEW
    assert min(told["read"], told["values"]) > 0


def test_parquet_with_damaged_statistics_or_names(tmp_path: Path) -> None:
    """What the file says of its columns is looked at before it is used, and the file is named."""
    data = Data(tmp_path)
    path = data.parquet("a.parquet", "SELECT 'A' AS model, i AS step, i / 7 AS loss FROM range(9) t(i)")
    whole = path.read_bytes()
    smallest = b"\x18\x08" + bytes(8) + b"\x11"
    # The size of a smallest value, the name of a column beside its values, and that of one in the schema.
    damaged = (
        (whole.rindex(smallest) + 1, 0x01),
        (whole.rindex(b"\x05model"), 0x02),
        (whole.rindex(b"\x05model") + 1, 0x80),
        (whole.index(b"loss"), 0x80),
    )
    for place, bit in damaged:
        changed = bytearray(whole)
        changed[place] ^= bit
        path.write_bytes(changed)
        assert data.problems("a") == [
            "data/a.parquet: the file is not Parquet, or damaged. Write or copy it again."
        ], place


# ---- Excel, arrays, archives and queries -------------------------------------------------------------------

SHEET = KINDS["xlsx"]('[S]\n["model", "seed", "step", "loss"]\n["A", 1, 0, 1.0]\n["A", 1, 10, 0.5]\n')
PART = "xl/worksheets/sheet1.xml"
ARRAYS = KINDS["npz"]('step int64 [0, 1, 2]\nloss float32 [1, 1, 1]\nword str ["a", "b", "c"]\n')
RUNS = "".join(f"%% runs/base_seed{seed}.csv\nstep,loss\n1,{seed}.5\n2,{seed}.25\n" for seed in (1, 2, 3))


def unpack(content: bytes) -> dict[str, bytes]:
    """The members of an archive."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        return {info.filename: packed.read(info) for info in packed.infolist()}


def edit(content: bytes, member: str, old: bytes, new: bytes) -> bytes:
    """An archive with other bytes in a member, and the right checksums."""
    members = unpack(content)
    assert old in members[member]
    return zipped(members | {member: members[member].replace(old, new, 1)})


def find_problem(root: Path, name: str, content: bytes) -> str:
    """The one problem, or warning, of a source."""
    data = Data(root)
    data.write(name, content)
    found = Diagnostics()
    with found.collecting():
        found.add(data.open(name.partition(".")[0]).warnings)
    (problem,) = found.found
    return str(problem)


def test_hostile_sheets_and_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entities, rows without end, bombs, wide empty rows, and claims that do not fit are refused in words."""
    monkeypatch.setattr("reportgen.formats.tables.excel.MOST_ROWS", 1000)
    monkeypatch.setattr("reportgen.formats.tables.excel.MOST_CELLS", 50_000)
    workbook, wide = openpyxl.Workbook(), io.BytesIO()
    for row in range(1, 6):
        workbook.worksheets[0].cell(row, 16_384, 1)
    workbook.save(wide)
    words = io.BytesIO()
    np.savez(words, loss=np.ones(2), model=np.array([65, 0x110000], np.uint32).view("<U1"))
    damaged = (
        (b"<worksheet", b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet', "declares entities"),
        (b'<row r="2"', b'<row r="999999999999"', "more than 1,000 rows"),
        (b"</sheetData>", b"<row></sheetData>", "no Excel workbook, or damaged"),
        (b"<sheetData>", b"<sheetData>" + b" " * (20 << 20), "unpacks to more than 200 times"),
    )
    cases = [("s.xlsx", edit(SHEET, PART, old, new), said) for old, new, said in damaged]
    claimed = edit(KINDS["npz"]("loss float64 [1, 1, 1]\n"), "loss.npy", b"(3,), }      ", b"(3000000000,)")
    cases += [
        ("s.xlsx", wide.getvalue(), "more than 1,000 rows or 50,000 cells"),
        ("s.npz", words.getvalue(), "the array model is left out: it holds numbers that are no characters"),
        ("s.npz", claimed, "no array can be read (loss: "),
    ]
    for place, (name, content, said) in enumerate(cases):
        assert said in find_problem(tmp_path / str(place), name, content), said


# ---- tables of Markdown and LaTeX --------------------------------------------------------------------------

PRINTED = {
    "md": "# T\n\n| Model | AIME | MATH |\n|:--|--:|--:|\n| **Elm** | 51% ± 0.4% | 76% |\n"
    "| [Fir](https://a.org) | `40%` | 66% |\n",
    "tex": "\\begin{tabular}{l*{2}{c}}\n\\toprule\nModel & AIME & MATH \\\\ \\midrule\n"
    "\\multirow{1}{*}{Elm} & \\textbf{51\\%} & $76\\% \\pm 1\\%$ \\\\\n"
    "Fir & 40\\% & \\multicolumn{1}{c}{66\\%} \\\\\n\\bottomrule\n\\end{tabular}\n",
}
LONG = 20_000  # often enough that what takes the square of it takes minutes
# What a cell repeats: signs that begin something, also in the middle of it.
REPEATED = {
    "md": (
        "*",
        "[",
        "[a](",
        "[^",
        "` ",
        "_a",
        "&amp",
        "\\",
        "<br",
        "&#0;",
        "<!--",
        " ",
        "|",
        "\n| a | 1 | 2 |",
    ),
    "tex": (
        *("{}", "{", "}", " ", "%", "&", "1^", "a\\cite[", "a\\cite{", "\\cmidrule(", "\\caption{", "\\\\["),
        *("\\endhead ", "\\begin{tabular}", "\\multirow{9}{*}", "\\multicolumn{9999}{c}{1}"),
    ),
}


def open_printed(root: Path, ending: str, content: bytes) -> list[str]:
    """The problems of a table, all of its own file; none if it is read."""
    data = Data(root)
    data.write("s.source.yml", "interval: se\nform: wide\nwide: benchmarks\n")
    data.write(f"s.{ending}", content)
    found = Diagnostics()
    with found.collecting():
        data.open("s")
    assert {problem.location.file for problem in found.found} <= {f"data/s.{ending}"}
    return [str(problem) for problem in found.found]


@pytest.mark.random
@pytest.mark.parametrize("ending", PRINTED)
def test_accidents_in_printed_tables(tmp_path: Path, ending: str) -> None:
    """They are a problem of that file, or change a cell."""
    assert open_printed(tmp_path, ending, PRINTED[ending].encode()) == []
    variants = mutations(PRINTED[ending].encode(), count := tries(*VARIANTS))
    refused = sum(bool(open_printed(tmp_path, ending, variant)) for variant in variants)
    assert 0.05 < refused / count < 1


@pytest.mark.parametrize("ending", PRINTED)
def test_hostile_printed_tables(tmp_path: Path, ending: str) -> None:
    """Signs that begin something without end are read once, or refused in words."""
    for sign in REPEATED[ending]:
        content = PRINTED[ending].replace("Fir", f"Fir{sign * LONG}", 1)
        assert all(len(problem) < LONG for problem in open_printed(tmp_path, ending, content.encode())), sign


def test_numbers_without_end_are_too_many_columns(tmp_path: Path) -> None:
    """Python converts no more than 4,300 digits."""
    number = PRINTED["tex"].replace("multicolumn{1}", f"multicolumn{{{'9' * LONG}}}")
    (problem,) = open_printed(tmp_path, "tex", number.encode())
    assert "999,999,999,999,999 columns" in problem
    assert len(problem) < LONG


@pytest.mark.random
@pytest.mark.parametrize("name", ["s.xlsx", "z.npz"])
def test_accidents_in_members(tmp_path: Path, name: str) -> None:
    """Packed with the right checksum, they are a problem of that file or change nothing."""
    members, refused, data = unpack(SHEET if name == "s.xlsx" else ARRAYS), 0, Data(tmp_path)
    for member, content in members.items():
        for damaged in mutations(content, tries(8, 100)):
            data.write(name, zipped({**members, member: damaged}))
            found = Diagnostics()
            with found.collecting():
                found.add(data.open(name[0]).warnings)
            refused += bool(found.found)
            assert {problem.location.file for problem in found.found} <= {f"data/{name}"}
    assert refused


@pytest.mark.random
@pytest.mark.parametrize("ending", ["zip", "tar", "tar.gz", "tar.zst"])
def test_accidents_in_archives(tmp_path: Path, ending: str) -> None:
    """They are a problem of that file or of a member, and never end in another exception."""
    path, refused, count = tmp_path / f"data/s.{ending}", 0, tries(*VARIANTS)
    path.parent.mkdir()
    for damaged in mutations(KINDS[ending.replace(".", "_")](RUNS), count):
        path.write_bytes(damaged)
        try:
            Data(tmp_path).open("s")
        except ReportError as error:
            refused += 1
            names = [problem.location.file for problem in error.problems]
            assert all(name.startswith(f"data/s.{ending}") for name in names)
    assert refused / count > 0.05


def test_statements_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of SQLite and rows are counted; the database stays as it is, and nothing is written beside it."""
    monkeypatch.setattr("reportgen.formats.tables.queries.MOST_INSTRUCTIONS", 3_000_000)
    monkeypatch.setattr("reportgen.formats.tables.queries.MOST_ROWS", 1000)
    database = KINDS["sqlite"](
        "CREATE TABLE logs (step INTEGER, loss REAL);\nINSERT INTO logs VALUES (1, 0.5);\n"
    )
    endless = "WITH RECURSIVE a(step) AS (SELECT 1 UNION ALL SELECT step + 1 FROM a) SELECT"
    messages = {"count(*)": "needs more than 3,000,000 steps of SQLite", "step": "gives more than 1,000 rows"}
    for name, message in messages.items():
        data = Data(tmp_path / name[0])
        data.write("s.source.yml", f"query: {endless} {name} FROM a\n")
        assert message in find_problem(data.root, "s.db", database)
    data.write("s.source.yml", "query: SELECT step, loss FROM logs\n")
    assert list(data.frame("s")["value"]) == [0.5]
    files = {path.name: path.read_bytes() for path in (data.root / "data").iterdir()}
    assert files.keys() == {"s.db", "s.source.yml"}
    assert files["s.db"] == database


if __name__ == "__main__":
    form_, folder_, count_, scratch_ = sys.argv[1:]
    sys.stdout.write(json.dumps(tell(form_, Path(folder_), int(count_), Path(scratch_))))
