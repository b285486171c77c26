"""Archives that were damaged, or written to do harm: a clear answer, and nothing outside them is touched."""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from command_line import call

from reportgen.cli.main import cli
from reportgen.core import intact

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINE = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  empty.txt\n"
NAMES = (
    *("../x", "/etc/x", "a/../../x", "..", "C:\\x", "a\\..\\x", "a//b", "./x", "a/./b", "x/"),
    *("\x00x", "a\nb", "con", "a" * 300, "\u202egpj.exe", "é", "e\u0301", "~/x", "$HOME/x", "-rf"),
)
MANIFESTS = (
    *("", "x", LINE * 2, LINE[:-1], LINE.upper(), LINE.replace("  ", " "), f"\ufeff{LINE}", "\n" * 100),
    *(LINE.replace("empty.txt", name) for name in ("../x", "/x", "manifest-sha256.txt", "a\\b", "")),
)


def write_zip(path: Path, members: dict[str, bytes], manifest: str | bytes = LINE) -> Path:
    """A small archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(zipfile.ZipInfo(name), content)
        file.writestr(intact.MANIFEST, manifest)
    return path


def list_hostile(folder: Path) -> Iterator[Path]:
    """A hundred and more of them."""
    good = write_zip(folder / "good.zip", {"empty.txt": b""})
    for number, name in enumerate(NAMES):
        yield write_zip(folder / f"name{number}.zip", {"empty.txt": b"", name: b"x"})
    for number, manifest in enumerate(MANIFESTS):
        yield write_zip(folder / f"manifest{number}.zip", {"empty.txt": b""}, manifest)
    whole = good.read_bytes()
    chance = random.Random(15)  # noqa: S311 - no secret
    for number in range(40):
        path = folder / f"cut{number}.zip"
        path.write_bytes(whole[: chance.randrange(len(whole))])
        yield path
    for number in range(40):
        path, torn = folder / f"torn{number}.zip", bytearray(whole)
        for _ in range(3):
            torn[chance.randrange(len(torn))] = chance.randrange(256)
        path.write_bytes(torn)
        yield path
    yield from _list_special(folder, whole)


def _list_special(folder: Path, whole: bytes) -> Iterator[Path]:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    path = folder / "link.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr(link, "/etc/passwd")
        file.writestr(intact.MANIFEST, LINE)
    yield path
    path = folder / "twice.zip"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("empty.txt", "")
        with pytest.warns(UserWarning, match="Duplicate"):
            file.writestr("empty.txt", "x")
        file.writestr(intact.MANIFEST, LINE)
    yield path
    # The flag of encryption, in both headers of the first member.
    path, locked = folder / "encrypted.zip", bytearray(whole)
    locked[6] |= 1
    locked[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(locked)
    yield path
    # A size that is not the member's own.
    path, larger = folder / "size.zip", bytearray(whole)
    struct.pack_into("<I", larger, whole.index(b"PK\x01\x02") + 24, 0xFFFFFFF0)
    path.write_bytes(larger)
    yield path
    yield write_zip(folder / "bomb.zip", {"empty.txt": b"\0" * 300_000_000})
    for name in ("report.json", "provenance.json", "ro-crate-metadata.json", "report.html"):
        deep = "[" * 100_000
        yield write_zip(folder / f"deep-{name}.zip", {name: deep.encode(), "empty.txt": b""})


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder of a hundred and more hostile archives."""
    folder = tmp_path / "zips"
    folder.mkdir()
    assert len({path.name for path in list_hostile(folder)}) >= 100
    return folder


def test_a_hundred_hostile_archives(hostile: Path) -> None:
    """Each is refused with a sentence at every level, and nothing is written beside them."""
    for path in sorted(hostile.iterdir()):
        for level in ("intact", "statements"):
            done = call(hostile.parent, "verify", str(path), "--level", level)
            assert done.stdout + done.stderr, path.name
            # What differs may be no file: a date, or the size that a header gives.
            is_header = path.name.startswith(("torn", "size", "good"))
            expected = {0, 1, 2} if is_header and level == "intact" else {1, 2}
            assert done.returncode in expected, (path.name, done.stdout, done.stderr)
    assert list(hostile.parent.iterdir()) == [hostile]


# Verifies each archive of a folder, and prints the largest memory of its own process.
VERIFY = """
import re, sys
from pathlib import Path
from click.testing import CliRunner
from reportgen.cli.main import cli
for path in sorted(Path(sys.argv[1]).iterdir()):
    for level in ("intact", "statements"):
        CliRunner().invoke(cli, ["verify", str(path), "--level", level])
# Unlike that of getrusage, it begins with this program, not with the process that started it.
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
def test_hostile_archives_take_little_memory(hostile: Path) -> None:
    """In 200 MB all of them are refused."""
    words = [sys.executable, "-c", VERIFY, str(hostile)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 <= 200_000_000


OTHER_TYPES = [("figures", "x"), ("figures", [{"files": 1}]), ("statements", [None]), ("statements", True)]


@pytest.mark.parametrize(("key", "value"), OTHER_TYPES)
def test_a_report_json_of_other_types_is_inconsistent(key: str, value: object, tmp_path: Path) -> None:
    """With a sentence at each level, whatever stands there."""
    page = {"path": "a.md", "generated": False, "figures": [], "tables": [], "statements": []} | {key: value}
    report = {"format": 1, "generator": {"name": "reportgen", "version": "1"}, "date": None, "pages": [page]}
    members = {
        "report.json": report,
        "provenance.json": {"format": 1, "data": "all", "figures": []},
        "ro-crate-metadata.json": {"@graph": []},
        "mkdocs.yml": {"plugins": ["reportgen"]},
        "report.html": "",
    }
    content = {name: json.dumps(one).encode() for name, one in members.items()}
    path = write_zip(tmp_path / "x.zip", content)
    said = {
        "consistent": "report.json or provenance.json: not as",
        "statements": "report.json: error: it cannot",
    }
    for level, words in said.items():
        done = CliRunner().invoke(cli, ["verify", str(path), "--level", level])
        assert isinstance(done.exception, SystemExit), done.exception
        assert words in done.output


def test_reviewing_a_hostile_archive_is_refused(tmp_path: Path) -> None:
    """It is unpacked only if every name in it stays inside."""
    path = write_zip(tmp_path / "x.zip", {"../../evil": b"x", "report.json": b"{}"})
    done = CliRunner().invoke(cli, ["review", str(path), str(path), "-f", __file__])
    assert done.exit_code == 2
    assert "a name that leads elsewhere" in done.output
    assert not (tmp_path.parent / "evil").exists()
