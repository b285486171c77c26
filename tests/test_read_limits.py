"""Files, archives and runs that hold more than fits in memory, or what nobody may follow, are refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
import tracemalloc
import zipfile
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
import zstandard
from command_line import call
from described_sources import list_points, read_run
from made_files import KINDS
from made_logs import DEFLATED, EVENTS, STORED, ZSTANDARD, zipped
from made_projects import write_report
from made_sources import Data
from tries import is_slow, slow_after

from reportgen.formats.registry import read_unit
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

ARCHIVE: Final = "reportgen.formats.archive"
MOST_MB: Final = 700
MIB: Final = 1 << 20
LARGEST_DOCUMENT, LARGEST_PART, LARGEST, MOST_COLUMNS = 256 * MIB, 128 * MIB, 16 * MIB, 2_000
COLUMNS: Final = [f"m{number}" for number in range(MOST_COLUMNS)]
CHECK: Final = """
from reportgen.cli.main import cli
try:
    cli(["check"])
finally:
    print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""
BIG_STRING: Final = """
import sys
import pyarrow as pa
import pyarrow.parquet as pq
table = pa.table({"series": pa.array(["a" * (1 << 30)], pa.large_string()), "step": [1], "accuracy": [1.0]})
pq.write_table(table, sys.argv[1], compression="zstd", use_dictionary=False, write_statistics=False)
"""


def pieces(beginning: bytes, unit: bytes, size: int) -> Iterator[bytes]:
    """A beginning, and then a unit again and again: some MiB more than ``size`` bytes."""
    yield beginning
    piece = unit * (MIB // len(unit))
    yield from (piece for _ in range(size // len(piece) + 8))


def gzipped(path: Path, beginning: bytes, unit: bytes, size: int) -> None:
    """Write a small gzip file that unpacks to more than ``size`` bytes."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.writelines(pieces(beginning, unit, size))


def zstandardised(path: Path, beginning: bytes, unit: bytes, size: int) -> None:
    """As ``gzipped``, with zstd."""
    with path.open("wb") as packed, zstandard.ZstdCompressor(level=1).stream_writer(packed) as file:
        for piece in pieces(beginning, unit, size):
            file.write(piece)


ROW: Final = b'{"series":"A","step":1,"accuracy":1}'
HEADER: Final = b"series,step,accuracy\n"
TOO_LARGE: Final = "error: the file is larger than 256 MiB, which is more than is read at once"
TOO_LONG: Final = "error: the line is longer than 128 MiB"
TOO_WIDE: Final = f"columns, and at most {MOST_COLUMNS:,} are read"
BOMBS: Final[dict[str, tuple[str, Callable[[Path], object]]]] = {
    "runs.json.gz": (
        f"data/runs.json.gz: {TOO_LARGE}",
        lambda path: gzipped(path, b"[" + ROW, b"," + ROW, LARGEST_DOCUMENT),
    ),
    "runs.json.zst": (
        f"data/runs.json.zst: {TOO_LARGE}",
        lambda path: zstandardised(path, b"[", b" ", LARGEST_DOCUMENT),
    ),
    "runs.jsonl.gz": (
        f"data/runs.jsonl.gz:1: {TOO_LONG}",
        lambda path: gzipped(path, b'{"series":"', b"a", LARGEST_PART),
    ),
    "runs.jsonl.zst": (
        f"data/runs.jsonl.zst:20001: {TOO_LONG}",
        lambda path: zstandardised(path, (ROW + b"\n") * 20_000 + b'{"series":"', b"a", LARGEST_PART),
    ),
    "runs.csv.zst": (
        f"data/runs.csv.zst:2: {TOO_LONG}",
        lambda path: zstandardised(path, HEADER, b"a", LARGEST_PART),
    ),
    "runs.csv.gz": (
        "data/runs.csv.gz:3: error: the row cannot be read: field larger than field limit",
        lambda path: gzipped(path, HEADER + b'A,1,2\n"', b"a" * 1023 + b"\n", LARGEST_PART),
    ),
    "runs.tsv": (
        f"data/runs.tsv:1: {TOO_LONG}",
        lambda path: open_sparse(path, 2 * LARGEST_PART),
    ),
    "runs.csv": (
        TOO_WIDE,
        lambda path: path.write_text(f"series,step,{','.join(COLUMNS)}\nA,1{',1' * MOST_COLUMNS}\n"),
    ),
    "runs.jsonl": (
        TOO_WIDE,
        lambda path: path.write_text(json.dumps({"series": "A", "step": 1, **dict.fromkeys(COLUMNS, 1)})),
    ),
    "runs.parquet": (
        "data/runs.parquet: error: a row, or a page of a column, unpacks to more than fits in memory",
        lambda path: run_python(BIG_STRING, str(path)),
    ),
    "runs.source.yml": (
        "data/runs.source.yml: error: this file is larger than 16 MiB",
        lambda path: path.write_text(f"title: {'a' * LARGEST}\n"),
    ),
    "../mkdocs.yml": (
        "mkdocs.yml: error: this file is larger than 16 MiB",
        lambda path: path.write_text(f"site_name: A\n# {'a' * LARGEST}\n"),
    ),
    "../content/long.md": (
        "content/long.md: error: this file is larger than 16 MiB",
        lambda path: path.write_text(f"---\ntitle: a\n---\n{'words and words ' * (LARGEST // 16)}\n"),
    ),
}


def open_sparse(path: Path, size: int) -> None:
    """Make a file of zeros that takes no room on the disk."""
    with path.open("wb") as file:
        file.truncate(size)


def run_python(code: str, *words: str) -> None:
    """Run code in a process of its own, which takes its memory along when it ends."""
    subprocess.run([sys.executable, "-c", code, *words], check=True)


def write_bomb(folder: Path, name: str) -> Path:
    """A report with one of these files."""
    data = {} if name == "runs.source.yml" or name.startswith("../") else {"data/runs.csv": None}
    root = write_report(folder, data)
    (root / "data").mkdir(exist_ok=True)
    BOMBS[name][1](root / "data" / name)
    return root


FAST: Final = {"runs.csv", "runs.jsonl", "runs.source.yml", "../mkdocs.yml", "../content/long.md"}


@pytest.mark.parametrize("name", slow_after(len(FAST), sorted(BOMBS, key=lambda name: name not in FAST)))
def test_a_file_beyond_a_limit_is_refused(tmp_path: Path, name: str) -> None:
    """With its place and the limit; the process never holds much of it, which is measured with ``--slow``."""
    root = write_bomb(tmp_path, name)
    if not is_slow():
        done = call(root, "check")
    else:
        command = [sys.executable, "-c", CHECK]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
        assert int(done.stdout.splitlines()[-1]) <= MOST_MB << 10
    assert done.returncode == 1
    assert BOMBS[name][0] in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def write_log(folder: Path, kind: str, metrics: int, steps: int) -> Path:
    """A log of a run with so many metrics on so many steps."""
    rows = [{f"m{place}": step / 2 for place in range(metrics)} for step in range(steps)]
    history = [{"step": step, **row} for step, row in enumerate(rows)]
    lines = "".join(f"{json.dumps(row)}\n" for row in history)
    data = (f'{{"step": {step}, "data": {json.dumps(row)}}}\n' for step, row in enumerate(rows))
    words = (" - ".join(f"{name}:{value}" for name, value in row.items()) for row in rows)
    cells = [(name, step, value) for step, row in enumerate(rows) for name, value in row.items()]
    values = [f"('{name}', {value}, 1, 'a', {step}, 0)" for name, step, value in cells]
    objects = [f"('a', 'x', '', {step}, '{json.dumps(row)}')" for step, row in enumerate(rows)]
    run = "INSERT INTO runs VALUES ('a', 'x', 'FINISHED', 'active', 1);\nINSERT INTO metrics VALUES"
    insert = "INSERT INTO metrics (run_id, run_name, timestamp, step, metrics) VALUES"
    name, text = {
        "tensorboard": (EVENTS, lines),
        "wandb": ("run-a.wandb", '{"config": {}}\n' + lines.replace('"step"', '"_step"') + "0\n"),
        "mlflow": ("mlflow.db", f"{run} {', '.join(values)};\n"),
        "trackio": ("p.db", f"{insert} {', '.join(objects)};\n"),
        "step_json": ("a.jsonl", "".join(data)),
        "trainer_state": ("trainer_state.json", json.dumps({"log_history": history})),
        "console": ("a.log", "".join(f"step:{step} - {one}\n" for step, one in enumerate(words))),
    }[kind]
    path = folder / name
    path.write_bytes(KINDS.get(kind, str.encode)(text))
    return path


LOGS = ("tensorboard", "wandb", "mlflow", "trackio", "step_json", "trainer_state", "console")


@pytest.mark.parametrize("kind", LOGS)
def test_too_many_metrics_and_values_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """As where a step is in a name; those that are chosen can be read."""
    monkeypatch.setattr("reportgen.formats.run_data.MOST_POINTS", 5)
    monkeypatch.setattr("reportgen.formats.run_data.MOST_METRICS", 3)
    assert list(read_run(write_log(tmp_path, kind, 3, 5)).metrics) == ["m0", "m1", "m2"]
    path = write_log(tmp_path, kind, 4, 2)
    with pytest.raises(UnreadableError, match="the run has more than 3 metrics") as raised:
        read_run(path)
    assert raised.value.problem.location.file == str(path)
    assert "metrics: in source.yml" in raised.value.problem.next_step
    assert list_points(read_run(path, selected=["m3"])) == {"m3": [(0, 0), (1, 0.5)]}
    path = write_log(tmp_path, kind, 1, 6)
    with pytest.raises(UnreadableError, match='"m0" has more than 5 values') as raised:
        read_run(path)
    assert raised.value.problem.next_step == "Thin it out before it is read"


# ---- archives ------------------------------------------------------------------------------------------

METHODS: Final = [STORED, DEFLATED, ZSTANDARD]


def read_eval(path: Path) -> Evaluation:
    """What an archive of Inspect says, whatever the file is called."""
    (found,) = read_unit(Unit(path, (path,), "inspect"))
    assert isinstance(found, Evaluation)
    return found


@pytest.mark.parametrize("method", METHODS)
def test_an_archive_cut_at_any_byte_has_its_whole_members(tmp_path: Path, method: int) -> None:
    """The list of members is lost, and made again of those that are whole; how many is known."""
    contents = {"_journal/start.json": b'{"eval": {}}'}
    for name in "ab":
        contents[f"samples/{name}_epoch_1.json"] = (
            b'{"id": "%b", "scores": {"m": {"value": 1}}}' % name.encode()
        )
    whole, path, counts = zipped(contents, method), tmp_path / "a.eval", list[int]()
    for length in range(10, len(whole)):
        path.write_bytes(whole[:length])
        try:
            found = read_eval(path)
        except UnreadableError:
            counts.append(0)
            continue
        assert [answer.problem for answer in found.answers] == [*"ab"][: len(found.answers)]
        counts.append(1 + len(found.answers))
        word = "member is" if counts[-1] == 1 else "members are"
        assert found.findings[0].message.endswith(f" lost: {counts[-1]} whole {word} read")
    assert counts == sorted(counts)
    assert set(counts) == {0, 1, 2, 3}


def test_members_come_back_as_they_were(tmp_path: Path) -> None:
    """Of several pieces, by Python's own writer with sizes behind the content, and beside any name."""
    path, task = tmp_path / "in/a.eval", os.urandom(100_000).hex()
    path.parent.mkdir()
    header = json.dumps({"eval": {"task": task}}).encode()
    for method in METHODS:
        path.write_bytes(
            zipped({"../header.json": b"1", "/header.json": b"2", "header.json": header}, method)
        )
        assert read_eval(path).benchmark == task
    path.write_bytes(zipped({"../header.json": header, "in/header.json": header}))
    with pytest.raises(UnreadableError, match=r"the archive has no header\.json"):
        read_eval(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written:
        for name, content in (("ж.json", b"[1]"), ("header.json", header)):
            with written.open(name, "w") as file:
                file.write(content)
    assert read_eval(path).benchmark == task
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.eval", "in"]


@pytest.mark.parametrize("method", METHODS)
def test_what_counts_is_what_is_unpacked(
    tmp_path: Path, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a member and of all of them; members are counted, too."""
    path, header = tmp_path / "a.eval", b'{"eval": {}, "more": "%b"}' % bytes([32] * 200_000)
    path.write_bytes(zipped({"header.json": header}, method))
    monkeypatch.setattr(f"{ARCHIVE}.LARGEST_PART", 100_000)
    with pytest.raises(UnreadableError, match=r"header\.json in the archive unpacks to more than"):
        read_eval(path)
    monkeypatch.setattr(f"{ARCHIVE}.LARGEST_PART", 1 << 20)
    monkeypatch.setattr(f"{ARCHIVE}.LARGEST_TOTAL", 300_000)
    assert read_eval(path).answers == ()
    path.write_bytes(
        zipped({"header.json": header, "summaries.json": b"[%b]" % bytes([32] * 200_000)}, method)
    )
    with pytest.raises(UnreadableError, match="with what was read before"):
        read_eval(path)
    monkeypatch.setattr(f"{ARCHIVE}.MOST_MEMBERS", 2)
    path.write_bytes(zipped({str(place): b"" for place in range(3)}))
    with pytest.raises(UnreadableError, match="more than 2 members"):
        read_eval(path)
    # The list of members of a large torn archive would have to be made of all of it.
    torn = zipped({"header.json": b'{"eval": {}}'})[:-30]
    path.write_bytes(torn)
    assert "1 whole member is read" in read_eval(path).findings[0].message
    monkeypatch.setattr(f"{ARCHIVE}.LARGEST_PART", len(torn) - 1)
    with pytest.raises(UnreadableError, match="no whole zip archive"):
        read_eval(path)
    with pytest.raises(UnreadableError, match="cannot be read"):
        read_eval(tmp_path / "gone.eval")


@pytest.mark.slow
def test_a_member_beyond_the_limit_fits_into_memory(tmp_path: Path) -> None:
    """What was unpacked is held twice at most, and a program with it has 500 MB."""
    path = tmp_path / "a.eval"
    with zipfile.ZipFile(path, "w") as written, written.open("header.json", "w", force_zip64=True) as file:
        for _ in range(140):
            file.write(bytes(MIB))
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="unpacks to more than 128 MiB"):
        read_eval(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6


def pack_tar(**members: bytes | tarfile.TarInfo) -> bytes:
    """A tar archive of members ``.csv``: contents, or headers without any."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(f"{name}.csv") if isinstance(content, bytes) else content
            info.size = len(content) if isinstance(content, bytes) else info.size
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    return file.getvalue()


def test_links_and_devices_are_no_members(tmp_path: Path) -> None:
    """Neither symbolic nor hard links are followed; those that look like data are named."""
    rows, kinds = b"step,loss\n1,2\n", {"b.csv": tarfile.SYMTYPE, "c.csv": tarfile.LNKTYPE}
    infos = {}
    for name, kind in {**kinds, "d.csv": tarfile.FIFOTYPE}.items():
        infos[name[0]] = tarfile.TarInfo(name)
        infos[name[0]].type, infos[name[0]].linkname = kind, "/etc/passwd"
    data = Data(tmp_path)
    data.write("s.tar", pack_tar(a=rows, **infos))
    assert data.warnings("s") == ["data/s.tar: links in the archive are not followed: b.csv and c.csv."]
    with zipfile.ZipFile(tmp_path / "data/z.zip", "w") as file:
        link = zipfile.ZipInfo("b.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("a.csv", rows)
    assert data.warnings("z") == ["data/z.zip: links in the archive are not followed: b.csv."]
    assert list(data.frame("z")["value"]) == [2.0]
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data", "s.tar", "z.zip"]


def test_sparse_and_large_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header may claim any size; what counts is what is unpacked, and large data are an error."""
    data, rows = Data(tmp_path), b"step,loss\n1,2\n"
    with monkeypatch.context() as patch:
        patch.setattr(f"{ARCHIVE}.LARGEST_PART", 1000)
        data.write("s.tar", pack_tar(a=rows, b=b"step,loss\n" + os.urandom(2000).hex().encode()))
        assert "for b.csv" in data.problems("s")[0]
    claimed, info = bytearray(pack_tar(a=rows)), tarfile.TarInfo("a.csv")
    info.size = 8 << 30
    claimed[:512] = info.tobuf(tarfile.GNU_FORMAT)
    data.write("c.tar", bytes(claimed))
    assert "data/c.tar: the archive unpacks to more than 128 MiB for a.csv" in data.problems("c")[0]


def test_arrays_of_two_axes_are_tables_of_limited_size(tmp_path: Path) -> None:
    """Ten million answers beside two columns are refused before they are written as text."""
    answers = np.zeros((1000, 10_000), bool)
    np.savez(tmp_path / "large.npz", step=np.arange(1000), right=answers, loss=np.arange(1000) % 7)
    said = call(tmp_path, "describe", "large.npz")
    assert (said.returncode, "two axes are a table of more than 20,000,000 cells" in said.stdout) == (1, True)
