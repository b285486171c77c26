"""Publishing: the folder follows from main, versions and previews alone, whatever they are and however many.

What it holds and what is said of each fault stand in ``transcripts/assembling.md``. Hostile archives are
tried on all that reads archives.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from hypothesis import given, settings
from hypothesis import strategies as st
from limited_disk import NO_SPACE, limited_disk
from made_archives import REPORT, archive, commit, invoke, list_hostile, unpack, write_zip
from made_projects import RUNS, files_below, share_cache, write_file, write_report
from made_sites import make_site, pack_archive, pack_site, write_site
from tries import tries

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SIGN = b'<meta name="reportgen-versions">\n'


def publish(folder: Path, *options: object) -> tuple[int, str]:
    """Assemble a folder's ``main`` and what is in it into its ``public``."""
    return invoke("publish", "--main", folder / "main", "--to", folder / "public", *options)


def preview(folder: Path, number: int, **site: Any) -> str:  # noqa: ANN401 - as make_site takes them
    """An option that names a pull request's packed site, which is of another commit."""
    content = make_site(**({"commit": "b" * 40, "date": "2026-11-21"} | site))
    return f"--preview={number}={pack_site(folder / f'{number}.zip', content)}"


def read_record(folder: Path) -> dict[str, Any]:
    """What publish.json says."""
    record: dict[str, Any] = json.loads((folder / "public" / "publish.json").read_bytes())
    return record


def list_left_out(folder: Path) -> list[str]:
    """Names of what was left out."""
    return [one["name"] for one in read_record(folder)["left_out"]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a small site in ``main``."""
    write_site(tmp_path / "main", make_site())
    return tmp_path


def test_real_reports_are_published_byte_for_byte(tmp_path: Path) -> None:
    """A version as its release has it, main but for a sign, a preview of what differs; no file is a link.

    A build links unchanged files, which GitHub Pages refuses. Commit and date differ on every page of the
    pull request: only pages whose text or figures do are there.
    """
    report = commit(write_report(tmp_path / "report", REPORT))
    shutil.move(archive(report, "1.zip", "--site"), tmp_path / "1.0.zip")
    (report / "site").rename(tmp_path / "main")
    new = {"data/other.csv": RUNS.replace("0.84", "0.90"), "content/new.md": "# New\n\nSee [](other.md).\n"}
    other = write_report(tmp_path / "changed", REPORT | new)
    share_cache(report, other)
    assert invoke("build", "--config-file", commit(other) / "mkdocs.yml")[0] == 0
    pack_site(tmp_path / "12.zip", files_below(other / "site"))
    assert any(path.stat().st_nlink > 1 for path in (tmp_path / "main").rglob("*") if path.is_file())
    options = (f"--version=1.0={tmp_path / '1.0.zip'}", f"--preview=12={tmp_path / '12.zip'}")
    assert publish(tmp_path, *options)[0] == 0

    main, public = files_below(tmp_path / "main"), tmp_path / "public"
    assert not [
        one for one in public.rglob("*") if one.is_symlink() or (one.is_file() and one.stat().st_nlink > 1)
    ]
    published = files_below(public)
    for path, content in main.items():
        if not path.startswith("sitemap.xml"):
            end = SIGN + b"</head>" if path.endswith(".html") else b"</head>"
            assert published[path] == content.replace(b"</head>", end)
    assert files_below(public / "v/1.0") == files_below(
        unpack(tmp_path / "1.0.zip", tmp_path / "there") / "site"
    )
    assert {path.removeprefix("pr/12/") for path in published if path.startswith("pr/")} == {
        *("index.html", "new/index.html", "other/index.html", "assets/reportgen/preview.css"),
        *("llms.txt", "new/index.md", "other/index.md"),
        *(f"figures/other/other-accuracy.{end}" for end in ("svg", "csv", "vl.json", "pdf")),
    }
    page = published["pr/12/other/index.html"]
    for address in (b"../../../js/theme.js", b"../figures/other/other-accuracy.csv", b"../new/"):
        assert b'"' + address + b'"' in page
    assert b'"../../figures/index/accuracy.csv"' in published["pr/12/index.html"]
    # So do links of Markdown: to main where only main has the file.
    assert all(link in published["pr/12/llms.txt"] for link in (b"](../../index.md)", b"](new/index.md)"))

    record = read_record(tmp_path)
    assert record["previews"][0]["changed"] == ["new/", "other/"]
    assert record["versions"][0]["identity"] in invoke("verify", tmp_path / "1.0.zip", "--level", "intact")[1]
    for one in (*record["versions"], *record["previews"]):  # as sha256sum finds it, too
        files = files_below(public / one["path"])
        lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(files.items())]
        assert one["tree"] == hashlib.sha256("".join(lines).encode()).hexdigest()
        assert (one["files"], one["bytes"]) == (len(files), sum(map(len, files.values())))


def test_of_many_previews_the_newest_pull_requests_stay(folder: Path) -> None:
    """A broken one takes nobody's place; a zip file may list its folders, too."""
    options = [preview(folder, number) for number in range(1, 29)]
    (folder / "28.zip").write_bytes(b"no zip")
    with zipfile.ZipFile(folder / "27.zip", "a") as file:
        file.writestr("a/", b"")
    assert publish(folder, *options)[0] == 0
    assert [one["number"] for one in read_record(folder)["previews"]] == [*range(27, 2, -1)]
    assert sorted(list_left_out(folder)) == ["1", "2", "28"]


def test_a_large_preview_is_left_out(folder: Path) -> None:
    """What differs may have 30 MB; a file that main has as well does not count."""
    large = os.urandom(29_000_000)
    write_file(folder / "main/data.bin", large)
    assert publish(folder, preview(folder, 1, files={"data.bin": large, "b.bin": b"0" * 2_000_000}))[0] == 0
    assert list_left_out(folder) == []
    assert (
        publish(folder, preview(folder, 1, files={"data.bin": large[::-1], "b.bin": b"0" * 2_000_000}))[0]
        == 0
    )
    assert list_left_out(folder) == ["1"]
    size = "what differs from the published report has 31 MB, more than 30 MB"
    assert size in json.dumps(read_record(folder)["left_out"])
    assert not (folder / "public/pr").exists()


def test_a_hundred_and_more_versions(folder: Path) -> None:
    """They are all there, and in order."""
    one = pack_archive(folder / "one.zip", make_site())
    assert publish(folder, *(f"--version=1.{number}={one}" for number in range(120)))[0] == 0
    listed = json.loads((folder / "public/versions.json").read_bytes())
    assert [entry["version"] for entry in listed] == [f"1.{number}" for number in range(119, -1, -1)]


def test_a_site_that_is_too_large(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of 10 GB is refused before anything is written, and one that GitHub Pages may refuse is named."""
    with (folder / "main/large.bin").open("wb") as file:
        file.truncate(10_000_000_001)
    code, said = publish(folder)
    assert (code, "it is larger than 10 GB" in said, (folder / "public").exists()) == (1, True, False)
    (folder / "main/large.bin").unlink()
    monkeypatch.setattr("reportgen.archive.publishing.assembling.LARGE", 1000)
    code, said = publish(folder)
    assert (code, "GitHub Pages takes 1 GB" in said) == (0, True)
    monkeypatch.setattr("reportgen.archive.publishing.assembling.LARGEST", 1000)
    code, said = publish(folder)
    assert code == 1
    assert re.search(r"public: error: it would have [\d.]+ kB, more than 10 GB", said)


def test_what_is_published_stays_until_the_next_is_complete(folder: Path) -> None:
    """A full disk in the middle leaves the old site, and nothing beside it."""
    assert publish(folder)[0] == 0
    before, option = files_below(folder / "public"), preview(folder, 1, files={"b.bin": b"0" * 100_000})
    with limited_disk(50_000):
        code, said = publish(folder, option)
    assert code == 1
    assert NO_SPACE.search(said)
    assert files_below(folder / "public") == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".public")]


VERSIONS = ("0.9", "1.0", "1.0 beta", "1.1rc1", "cut", "flipped", "latest")
PREVIEWS = ("1", "2", "3")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A main site, archives of which some are no good, and sites of pull requests."""
    folder = tmp_path_factory.mktemp("store")
    write_site(folder / "main", make_site())
    for name in VERSIONS:
        pack_archive(folder / f"v{name}.zip", make_site({"": f"<h1>{name}</h1>"}))
    (folder / "vcut.zip").write_bytes((folder / "vcut.zip").read_bytes()[:-50])
    flipped = bytearray((folder / "vflipped.zip").read_bytes())
    flipped[len(flipped) // 2] ^= 1
    (folder / "vflipped.zip").write_bytes(flipped)
    for number in PREVIEWS:
        pack_site(folder / f"p{number}.zip", make_site({"a/": number}, commit=number * 40))
    pack_site(folder / "p2.zip", {"index.html": b"no report"})
    return folder


def assemble_some(store: Path, names: Sequence[str], numbers: Sequence[str]) -> dict[str, bytes]:
    """What is published of some of the versions and previews, in place of what was before."""
    options = [f"--version={name}={store / f'v{name}.zip'}" for name in names]
    assert publish(store, *options, *(f"--preview={n}={store / f'p{n}.zip'}" for n in numbers))[0] == 0
    return files_below(store / "public")


@pytest.fixture(scope="module")
def whole(store: Path) -> dict[str, bytes]:
    """What is published of all of them."""
    return assemble_some(store, VERSIONS, PREVIEWS)


@settings(max_examples=tries(2, 30))
@given(names=st.permutations(VERSIONS), numbers=st.permutations(PREVIEWS))
def test_the_order_of_what_is_given_does_not_matter(
    store: Path, whole: dict[str, bytes], names: list[str], numbers: list[str]
) -> None:
    """The same inputs give the same bytes."""
    assert assemble_some(store, names, numbers) == whole


@settings(max_examples=tries(2, 30))
@given(names=st.sets(st.sampled_from(VERSIONS)), numbers=st.sets(st.sampled_from(PREVIEWS)))
def test_what_is_left_out_leaves_the_rest_as_it_is(
    store: Path, whole: dict[str, bytes], names: set[str], numbers: set[str]
) -> None:
    """Every version and preview has the bytes that it has among all others, or none."""
    part = assemble_some(store, sorted(names), sorted(numbers))
    good = [name for name in ("0.9", "1.0", "1.1rc1") if name in names]
    for place in (*(f"v/{name}/" for name in good), *(f"pr/{n}/" for n in numbers if n != "2")):
        found = {path: content for path, content in part.items() if path.startswith(place)}
        assert found
        assert found == {path: content for path, content in whole.items() if path.startswith(place)}
    assert {path.split("/")[1] for path in part if path.startswith("v/")} == set(good)
    text = part["a/index.html"].replace(SIGN, b"")
    assert text == (store / "main/a/index.html").read_bytes()
    assert (text != part["a/index.html"]) == bool(good)


# ---- archives that were damaged, or written to do harm


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nothing but a folder of a hundred and more hostile archives."""
    folder = tmp_path_factory.mktemp("hostile") / "zips"
    folder.mkdir()
    assert len({path.name for path in list_hostile(folder)}) >= 100
    return folder


def test_a_hundred_hostile_archives_are_refused(hostile: Path) -> None:
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


def test_reviewing_a_hostile_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is unpacked only if every name in it stays inside, and it is whole and fits into what is free."""
    path = write_zip(tmp_path / "x.zip", {"../../evil": b"x", "report.json": b"{}"})
    code, text = invoke("review", path, path, "-f", __file__)
    assert (code, "a name that leads elsewhere" in text) == (2, True)
    assert not (tmp_path.parent / "evil").exists()
    write_zip(path, {"torn": b"some words", "report.json": b"{}"})
    path.write_bytes(path.read_bytes().replace(b"some", b"more"))
    code, text = invoke("review", path, path, "-f", __file__)
    assert (code, "torn: error: it cannot be unpacked (Bad CRC-32 for file 'torn')" in text) == (2, True)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
    code, text = invoke("review", path, path, "-f", __file__)
    assert (code, "bytes unpacked, which is too much for the 100 that are free" in text) == (2, True), text


def test_none_of_them_is_published(folder: Path, hostile: Path) -> None:
    """As a version or as a preview; nothing is written elsewhere, and main is there."""
    paths = sorted(path for path in hostile.iterdir() if path.name != "good.zip")
    options = [f"--version=1.{number}={path}" for number, path in enumerate(paths)]
    options += [f"--preview={number}={path}" for number, path in enumerate(paths, 1)]
    assert publish(folder, *options)[0] == 0
    assert len(list_left_out(folder)) == 2 * len(paths) >= 200
    assert sorted(path.name for path in folder.iterdir()) == ["main", "public"]
    assert not {"v", "pr"} & {path.name for path in (folder / "public").iterdir()}
    assert not (folder.parent / "evil").exists()
