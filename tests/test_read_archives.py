"""Archives of data and what is unpacked from them."""

from __future__ import annotations

import gzip
import io
import os
import stat
import tarfile
import tracemalloc
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard
from made_evaluations import DEFLATED, STORED, ZSTANDARD, zipped
from made_sources import LONG, Data
from mutated_bytes import VARIANTS, mutations
from tries import tries

from reportgen.core.cache import Cache
from reportgen.core.errors import Diagnostics
from reportgen.formats import archive
from reportgen.formats.archive import open_archive
from reportgen.formats.runs import UnreadableError
from reportgen.read import make_frame, open_source, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

METHODS = [STORED, DEFLATED, ZSTANDARD]


def member(path: Path, name: str = "a.json") -> bytes:
    """The content of a member."""
    with open_archive(path) as found:
        return found.read(name)


@pytest.mark.parametrize("method", METHODS)
def test_members_come_back_as_they_were(tmp_path: Path, method: int) -> None:
    """Empty, short and of several pieces."""
    contents = {"a.json": b"", "b/c.json": b"{}", "d": bytes(range(256)) * 1000}
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(contents, method))
    with open_archive(path) as found:
        assert {name: found.read(name) for name in sorted(found.names)} == contents


def test_an_archive_by_another_program_is_read_too(tmp_path: Path) -> None:
    """Python's own, with sizes behind the content and a name in another alphabet."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as written, written.open("ж.json", "w") as file:
        file.write(b"[1]")
    assert member(path, "ж.json") == b"[1]"


@pytest.mark.parametrize("method", [DEFLATED, ZSTANDARD])
def test_a_member_that_expands_hugely_is_refused(tmp_path: Path, method: int) -> None:
    """Forty megabytes of zeros are a few kilobytes; reading ends soon after sixteen."""
    path = tmp_path / "bomb.eval"
    path.write_bytes(zipped({"a.json": bytes(40 << 20)}, method))
    assert path.stat().st_size < 100_000
    with pytest.raises(UnreadableError, match="unpacks to more than 200 times its size"):
        member(path)


@pytest.mark.parametrize("method", METHODS)
def test_a_member_that_lies_about_its_size_is_measured(
    tmp_path: Path, method: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What counts is what is unpacked, a member and all of them."""
    monkeypatch.setattr(archive, "LARGEST_PART", 100_000)
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.json": bytes(200_000)}, method))
    with pytest.raises(UnreadableError, match="unpacks to more than"):
        member(path)
    monkeypatch.setattr(archive, "LARGEST_PART", 1 << 20)
    monkeypatch.setattr(archive, "LARGEST_TOTAL", 300_000)
    with open_archive(path) as found:
        found.read("a.json")
        with pytest.raises(UnreadableError, match="with what was read before"):
            found.read("a.json")


def test_a_member_beyond_the_limit_fits_into_memory(tmp_path: Path) -> None:
    """What was unpacked is held twice at most, and a program with it has 500 MB."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as written, written.open("a.json", "w", force_zip64=True) as file:
        for _ in range(300):
            file.write(bytes(1 << 20))
    tracemalloc.start()
    with pytest.raises(UnreadableError, match="unpacks to more than 128 MiB"):
        member(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400e6


def test_a_name_leads_nowhere(tmp_path: Path) -> None:
    """Nothing is unpacked to a disk, and a name is only a name."""
    path = tmp_path / "in" / "a.zip"
    path.parent.mkdir()
    path.write_bytes(zipped({"../out.json": b"1", "/out.json": b"2"}))
    assert member(path, "../out.json") == b"1"
    assert sorted(file.name for file in tmp_path.rglob("*")) == ["a.zip", "in"]
    with pytest.raises(UnreadableError, match=r"the archive has no out\.json"):
        member(path, "out.json")


def test_what_cannot_be_unpacked_says_why(tmp_path: Path) -> None:
    """A password, a method that nobody here reads, and a checksum that is another."""
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.json": b"{}"}, flags=1))
    with pytest.raises(UnreadableError, match="is encrypted"):
        member(path)
    path.write_bytes(zipped({"a.json": b"{}"}, method=12))
    with pytest.raises(UnreadableError, match="packed by method 12"):
        member(path)
    for method in METHODS:
        content = zipped({"a.json": b"0123456789" * 9}, method)
        place = content.index(b"a.json") + len(b"a.json") + (12 if method == ZSTANDARD else 3)
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(UnreadableError, match="is damaged"):
            member(path)


def test_too_many_members_and_no_archive_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A limit on members, a pointer of Git LFS, a text, and no file at all."""
    monkeypatch.setattr(archive, "MOST_MEMBERS", 2)
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({str(place): b"" for place in range(3)}))
    with pytest.raises(UnreadableError, match="more than 2 members"):
        member(path)
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(UnreadableError, match="Git LFS pointer") as pointer:
        member(path)
    assert pointer.value.next_step == "Run git lfs pull"
    path.write_bytes(b"PK\x03\x04 and then nothing")
    with pytest.raises(UnreadableError, match="no whole zip archive"):
        member(path)
    with pytest.raises(UnreadableError, match="cannot be read"):
        member(tmp_path / "gone.zip")


@pytest.mark.parametrize("method", METHODS)
def test_an_archive_cut_at_any_byte_has_its_whole_members(tmp_path: Path, method: int) -> None:
    """The list of members is lost, and made again of those that are whole; how many is known."""
    contents = {"a.json": b"[1, 2]", "b/c.json": b"0123456789" * 9, "d": b""}
    whole = zipped(contents, method)
    path = tmp_path / "a.zip"
    found: list[int] = []
    for length in range(10, len(whole)):
        path.write_bytes(whole[:length])
        try:
            with open_archive(path) as torn:
                read = {name: torn.read(name) for name in torn.names}
                assert torn.torn == len(read)
        except UnreadableError:
            read = {}
        assert read == dict(list(contents.items())[: len(read)])
        found.append(len(read))
    assert found == sorted(found)
    assert set(found) == {0, 1, 2, 3}


def test_sizes_behind_the_content_tell_no_end(tmp_path: Path) -> None:
    """An archive that was written as a stream cannot be mended."""
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.json": b"{}"}, flags=8)[:-30])
    with pytest.raises(UnreadableError, match="no whole zip archive"):
        member(path)


def test_a_large_torn_archive_is_not_taken_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its list would have to be made of all of it."""
    monkeypatch.setattr(archive, "LARGEST_PART", 20)
    path = tmp_path / "a.zip"
    path.write_bytes(zipped({"a.json": b"{}"})[:-30])
    with pytest.raises(UnreadableError, match="no whole zip archive"):
        member(path)


RUNS = {f"runs/base_seed{seed}.csv": f"step,loss\n1,{seed}.5\n2,{seed}.25\n" for seed in (1, 2, 3)}
ENDINGS = ("zip", "tar", "tar.gz", "tgz", "tar.zst")


def pack(ending: str, members: Mapping[str, str | bytes]) -> bytes:
    """An archive of these members."""
    file = io.BytesIO()
    if ending == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)
        return file.getvalue()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    if ending.endswith("gz"):
        return gzip.compress(file.getvalue(), mtime=0)
    return zstandard.ZstdCompressor().compress(file.getvalue()) if ending.endswith("zst") else file.getvalue()


def write(data: Data, name: str, content: bytes) -> Data:
    """A file as it is: ``Data.write`` would compress it once more."""
    path = data.root / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return data


@contextmanager
def watched(folder: Path) -> Iterator[None]:
    """Nothing but the cache and the data of a report changes."""
    before = {path for path in folder.rglob("*") if "cache" not in path.relative_to(folder).parts}
    yield
    assert {path for path in folder.rglob("*") if "cache" not in path.relative_to(folder).parts} == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_members_are_read_as_files(tmp_path: Path, ending: str) -> None:
    """Seeds come from the names of members, and the source has one file: the archive."""
    data = write(Data(tmp_path), f"s.{ending}", pack(ending, {**RUNS, "runs/notes.md": "# Notes\n"}))
    frame = data.frame("s", "loss")
    assert sorted(frame["value"]) == [1.25, 1.5, 2.25, 2.5, 3.25, 3.5]
    assert set(frame["seed"]) == {"1", "2", "3"}
    source = data.open("s")
    assert [file.path for file in source.files] == [f"data/s.{ending}"]
    assert source.files[0].size == (tmp_path / f"data/s.{ending}").stat().st_size
    (problem,) = source.warnings
    assert "series and seeds come from the names of files" in problem.message


def test_members_by_a_pattern(tmp_path: Path) -> None:
    """``files:`` chooses members as it does files, also with groups that are columns."""
    data = write(Data(tmp_path), "s.zip", pack("zip", {**RUNS, "long.csv": LONG, "model.bin": b"\0" * 100}))
    data.write("s.source.yml", "files: runs/*.csv\n")
    assert len(data.frame("s", "loss")) == 6
    data.write("s.source.yml", "files: runs/(?P<series>[a-z]+)_seed(?P<seed>[0-9])\\.csv\n")
    assert set(data.frame("s", "loss")["series"]) == {"base"}
    data.write("s.source.yml", "files: other/*.csv\n")
    (problem,) = data.problems("s")
    assert problem.startswith('data/s.source.yml: files: "other/*.csv" matches no file in data/s.zip.')


def test_logs_of_a_logger_in_an_archive(tmp_path: Path) -> None:
    """What loggers and harnesses wrote is found in an archive, too."""
    root = next(path for path in sorted((Path(__file__).parent / "data").rglob("*tfevents*")))
    data = write(Data(tmp_path), "s.tar", pack("tar", {f"run-1/{root.name}": root.read_bytes()}))
    plain = Data(tmp_path / "plain")
    write(plain, f"s/run-1/{root.name}", root.read_bytes())
    metrics = plain.open("s").metrics
    assert data.open("s").metrics == metrics
    assert list(data.frame("s")["value"]) == list(plain.frame("s")["value"])


def test_a_folder_of_archives(tmp_path: Path) -> None:
    """Where there is nothing but archives, all of them are read; beside a table they are no data."""
    data = Data(tmp_path)
    for number, (name, text) in enumerate(RUNS.items()):
        write(data, f"s/part{number}.zip", pack("zip", {name: text}))
    assert len(data.frame("s", "loss")) == 6
    assert len(data.open("s").files) == 3
    data.write("s/own.csv", "step,loss\n1,0.5\n")
    assert [file.path for file in data.open("s").files] == ["data/s/own.csv"]


def test_problems_name_archive_member_and_line(tmp_path: Path) -> None:
    """As in a folder, with the name of the archive."""
    data = write(Data(tmp_path), "s.zip", pack("zip", {"a.csv": "step,loss\n1,0.5\n2,high\n3,0.25\n4,0.1\n"}))
    (problem,) = data.problems("s", "loss")
    assert problem.startswith('data/s.zip/a.csv:3: "high"')


def test_members_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cache they come as long as the archive is the same and all of them are there."""
    cache = Cache(tmp_path / "cache")
    write(Data(tmp_path), "s.zip", pack("zip", RUNS))
    reads: list[str] = []
    real = archive.Archive.read

    def read(self: archive.Archive, name: str) -> bytes:
        reads.append(name)
        return real(self, name)

    monkeypatch.setattr(archive.Archive, "read", read)

    def count() -> int:
        source = open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
        assert len(make_frame(read_measurements(tmp_path, source, source.metrics))) == 6
        return len(reads)

    assert (count(), count()) == (3, 3)
    next((tmp_path / "cache").rglob("base_seed1.csv")).unlink()
    assert count() == 6
    cache.prune(-1)
    assert not list((tmp_path / "cache").rglob("*.csv"))


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("name", ["../out.csv", "/out.csv", "a/../../out.csv", "..\\out.csv", "C:\\out.csv"])
def test_names_that_lead_out(tmp_path: Path, ending: str, name: str) -> None:
    """The whole archive is refused, and nothing is written anywhere."""
    members = {"a.csv": "step,loss\n1,2\n", name: "step,loss\n1,3\n"}
    data = write(Data(tmp_path), f"s.{ending}", pack(ending, members))
    with watched(tmp_path):
        (problem,) = data.problems("s")
    assert f"data/s.{ending}: the name {name!a} in the archive leads out of it" in problem


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Neither symbolic nor hard links nor devices are members; those that look like data are named."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, kind in (
            ("b.csv", tarfile.SYMTYPE),
            ("c.csv", tarfile.LNKTYPE),
            ("d.csv", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            tar.addfile(info)
        text = b"step,loss\n1,2\n"
        info = tarfile.TarInfo("a.csv")
        info.size = len(text)
        tar.addfile(info, io.BytesIO(text))
    data = write(Data(tmp_path), "s.tar", file.getvalue())
    assert data.warnings("s") == ["data/s.tar: links in the archive are not followed: b.csv and c.csv."]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as zipped:
        link = zipfile.ZipInfo("b.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        zipped.writestr(link, "/etc/passwd")
        zipped.writestr("a.csv", text)
    write(data, "z.zip", packed.getvalue())
    assert data.warnings("z") == ["data/z.zip: links in the archive are not followed: b.csv."]
    assert list(data.frame("z")["value"]) == [2.0]


@pytest.mark.parametrize("ending", ["zip", "tar.gz", "tar.zst"])
def test_bombs(tmp_path: Path, ending: str) -> None:
    """What unpacks to far more than it is, is refused before it fills memory or disk."""
    data = write(
        Data(tmp_path), f"s.{ending}", pack(ending, {"a.csv": b"step,loss\n" + b"1,2\n" * (16 << 20)})
    )
    (problem,) = data.problems("s")
    assert "unpacks to more than 200 times its size" in problem


def test_sparse_and_large_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header may claim any size; weights beside data are left out, and large data are an error."""
    monkeypatch.setattr(archive, "LARGEST_PART", 1000)
    members: dict[str, str | bytes] = {
        "a.csv": "step,loss\n1,2\n",
        "b.csv": b"step,loss\n" + os.urandom(2000).hex().encode(),
    }
    data = write(Data(tmp_path), "s.tar", pack("tar", members))
    assert "for b.csv" in data.problems("s")[0]
    monkeypatch.undo()
    claimed = bytearray(pack("tar", {"a.csv": "step,loss\n1,2\n"}))
    info = tarfile.TarInfo("a.csv")
    info.size = 8 << 30
    claimed[:512] = info.tobuf(tarfile.GNU_FORMAT)
    write(data, "c.tar", bytes(claimed))
    assert "data/c.tar: the archive unpacks to more than 128 MiB for a.csv" in data.problems("c")[0]


def test_archives_without_data(tmp_path: Path) -> None:
    """Empty, or with files that nobody reads; a file in place of a folder."""
    data = write(Data(tmp_path), "e.zip", pack("zip", {}))
    assert "the archive has no file that may be data" in data.problems("e")[0]
    write(data, "g.zip", pack("zip", RUNS))
    data.write("g.source.yml", 'files: ["*.parquet"]\n')
    assert data.problems("g") == [
        (
            'data/g.zip: files: "*.parquet" matches nothing in the archive. '
            "It holds runs/base_seed1.csv, runs/base_seed2.csv and runs/base_seed3.csv."
        )
    ]
    write(data, "n.tar", pack("tar", {"notes.md": "# Notes\n"}))
    assert "data/n.tar: the folder has no data file: it holds 1 .md" in data.problems("n")[0]
    write(data, "d.zip", pack("zip", {"a.csv": "step,loss\n1,2\n", "a.csv/b.csv": "step,loss\n1,2\n"}))
    assert "data/d.zip: the archive cannot be unpacked: File exists" in data.problems("d")[0]


@pytest.mark.random
@pytest.mark.parametrize("ending", ENDINGS)
def test_damaged_archives(tmp_path: Path, ending: str) -> None:
    """A damaged archive is a problem of that file or of a member; it never ends in another exception."""
    data, whole = Data(tmp_path), pack(ending, RUNS)
    refused, count = 0, tries(*VARIANTS)
    for damaged in mutations(whole, count):
        write(data, f"s.{ending}", damaged)
        found = Diagnostics()
        with found.collecting():
            data.open("s")
        refused += bool(found.found)
        assert all(problem.location.file.startswith(f"data/s.{ending}") for problem in found.found)
    assert refused / count > 0.05


def test_archives_that_end_between_members_are_not_read_as_whole(tmp_path: Path) -> None:
    """A zip without its list of members is an error; a tar may lack the mark at its end, and is a warning."""
    data = Data(tmp_path)
    text = "step,loss\n0,2\n1,1\n"
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as packed:
        packed.writestr("s0.csv", text)
        packed.writestr("s1.csv", text)
    whole = (tmp_path / "whole.zip").read_bytes()
    for name, size in (("a", whole.index(b"PK\x03\x04", 4)), ("b", whole.index(b"PK\x01\x02"))):
        data.write(f"{name}.zip", whole[:size])
        (problem,) = data.problems(name)
        assert problem == (f"data/{name}.zip: the archive is damaged or cut off. Copy or write it again.")
    with tarfile.open(tmp_path / "whole.tar", "w") as archive:
        for name in ("s0.csv", "s1.csv"):
            info = tarfile.TarInfo(name)
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    marked = (tmp_path / "whole.tar").read_bytes()
    cut = "data/c.tar: the archive has no mark at its end, so it may be cut off and files may be missing"
    for size, is_cut in ((1024, True), (2048, True), (2048 + 512, False), (len(marked), False)):
        data.write("c.tar", marked[:size])
        assert any(one.startswith(cut) for one in data.warnings("c")) == is_cut
