"""Zip archives within limits: bombs, passwords, names that lead away, and members that are damaged."""

from __future__ import annotations

import tracemalloc
import zipfile
from typing import TYPE_CHECKING

import pytest
from made_evaluations import DEFLATED, STORED, ZSTANDARD, zipped

from reportgen.formats import archive
from reportgen.formats.archive import open_archive
from reportgen.formats.runs import UnreadableError

if TYPE_CHECKING:
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
