"""Archives of data: what pages of cases cannot say of packing, sizes, links and damage."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest
from made_logs import DEFLATED, STORED, ZSTANDARD, packed_zstandard, zipped
from made_sources import LONG, Data

from reportgen.core.cache import Cache
from reportgen.formats import archive
from reportgen.formats.archive import open_archive
from reportgen.formats.runs import UnreadableError
from reportgen.read import make_frame, open_source, read_measurements
from reportgen.settings.loading import load_source_settings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

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


def pack(ending: str, members: Mapping[str, str | bytes | tarfile.TarInfo]) -> bytes:
    """An archive of these members, in tar also links."""
    file = io.BytesIO()
    if ending == "zip":
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, content in members.items():
                packed.writestr(name, content)  # type: ignore[arg-type]
        return file.getvalue()
    with tarfile.open(fileobj=file, mode="w") as tar:
        for name, content in members.items():
            if isinstance(content, tarfile.TarInfo):
                tar.addfile(content)
                continue
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return packed_zstandard(file.getvalue()) if ending.endswith("zst") else file.getvalue()


def write(root: Path, name: str, content: bytes) -> Data:
    """A file as it is: ``Data.write`` would compress it once more."""
    path = root / "data" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return Data(root)


def test_an_archive_is_the_file_of_its_source(tmp_path: Path) -> None:
    """With its size, and nothing is written beside it, whatever names its members have."""
    write(tmp_path, "s.zip", pack("zip", RUNS))
    data = write(tmp_path, "t.zip", pack("zip", {"a.csv": LONG, "../out.csv": LONG}))
    (file,) = data.open("s").files
    assert (file.path, file.size) == ("data/s.zip", (tmp_path / "data/s.zip").stat().st_size)
    assert len(data.problems("t")) == 1
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["data", "s.zip", "t.zip"]


def test_members_are_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the cache they come as long as the archive is the same and all of them are there."""
    cache = Cache(tmp_path / "cache")
    write(tmp_path, "s.zip", pack("zip", RUNS))
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


def test_links_are_not_followed(tmp_path: Path) -> None:
    """Neither symbolic nor hard links nor devices are members; those that look like data are named."""
    members: dict[str, str | bytes | tarfile.TarInfo] = {"a.csv": "step,loss\n1,2\n"}
    kinds = {"b.csv": tarfile.SYMTYPE, "c.csv": tarfile.LNKTYPE, "d.csv": tarfile.FIFOTYPE}
    for name, kind in kinds.items():
        info = tarfile.TarInfo(name)
        info.type, info.linkname = kind, "/etc/passwd"
        members[name] = info
    data = write(tmp_path, "s.tar", pack("tar", members))
    assert data.warnings("s") == ["data/s.tar: links in the archive are not followed: b.csv and c.csv."]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        link = zipfile.ZipInfo("b.csv")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        file.writestr(link, "/etc/passwd")
        file.writestr("a.csv", "step,loss\n1,2\n")
    write(tmp_path, "z.zip", packed.getvalue())
    assert data.warnings("z") == ["data/z.zip: links in the archive are not followed: b.csv."]
    assert list(data.frame("z")["value"]) == [2.0]


@pytest.mark.parametrize("ending", ["zip", "tar.zst"])
def test_bombs(tmp_path: Path, ending: str) -> None:
    """What unpacks to far more than it is, is refused before it fills memory or disk."""
    rows = b"step,loss\n" + b"1,2\n" * (16 << 20)
    (problem,) = write(tmp_path, f"s.{ending}", pack(ending, {"a.csv": rows})).problems("s")
    assert "unpacks to more than 200 times its size" in problem


def test_sparse_and_large_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A header may claim any size; what counts is what is unpacked, and large data are an error."""
    monkeypatch.setattr(archive, "LARGEST_PART", 1000)
    members: dict[str, str | bytes | tarfile.TarInfo] = {
        "a.csv": "step,loss\n1,2\n",
        "b.csv": b"step,loss\n" + os.urandom(2000).hex().encode(),
    }
    data = write(tmp_path, "s.tar", pack("tar", members))
    assert "for b.csv" in data.problems("s")[0]
    monkeypatch.undo()
    claimed = bytearray(pack("tar", {"a.csv": "step,loss\n1,2\n"}))
    info = tarfile.TarInfo("a.csv")
    info.size = 8 << 30
    claimed[:512] = info.tobuf(tarfile.GNU_FORMAT)
    write(tmp_path, "c.tar", bytes(claimed))
    assert "data/c.tar: the archive unpacks to more than 128 MiB for a.csv" in data.problems("c")[0]
