"""What can go wrong around an archive, one test each: files that change, names, dates, versions and media."""

from __future__ import annotations

import inspect
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from made_archives import CITED, REPORT, archive, commit, git, invoke, pack, read_provenance, unpack
from made_projects import RUNS, share_cache, write_file, write_report
from tries import is_slow

from reportgen.archive import archiving, provenance
from reportgen.archive.contents import Member, check_members, check_size
from reportgen.archive.one_file import write_one_file
from reportgen.core import intact
from reportgen.core.errors import Severity

if TYPE_CHECKING:
    from types import CodeType, FrameType

PACKAGE = Path(archiving.__file__).parents[1]
SCORES = "series,problem,score\n" + "".join(
    f"{name},{problem},{(problem + shift) % 3 > 0:d}\n"
    for shift, name in enumerate(("MEL", "GRPO"))
    for problem in range(9)
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed report with a curve, scores and a citation."""
    scores = {
        "content/scores.md": "# Scores\n\n```scores\nsource: answers\n```\n",
        "data/answers.csv": SCORES,
        "content/table.md": "# Table\n\n```table\nsource: other\ncolumns: [final, n]\n```\n",
    }
    return commit(write_report(tmp_path_factory.mktemp("faults") / "report", {**REPORT, **scores}))


@pytest.fixture(scope="module")
def packed(root: Path) -> Path:
    """Its archive."""
    return archive(root)


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """The report in a folder of the test's own."""
    folder = shutil.copytree(root, tmp_path / "report")
    share_cache(root, folder)
    return folder


def archive_here(root: Path, *options: str) -> tuple[int, str, Path]:
    """The exit code of the command, what it says, and the archive that it may have written."""
    target = root.parent / "written.zip"
    return (*invoke("archive", "-f", root / "mkdocs.yml", "--to", target, *options), target)


@pytest.mark.parametrize("name", ["content/notes.txt", "data/other.csv"])
def test_a_link_out_of_the_report_is_refused(copy: Path, name: str) -> None:
    """What it leads to would be packed unseen."""
    write_file(copy.parent / "outside", RUNS)
    (copy / name).unlink(missing_ok=True)
    (copy / name).symlink_to(copy.parent / "outside")
    code, text, target = archive_here(copy)
    assert code == 1
    assert "outside" in text or "leads out" in text
    assert not target.exists()


@pytest.mark.random
@pytest.mark.parametrize("name", ["README.txt", "report.json", "provenance.json", "new"])
def test_a_pipe_among_the_files_is_named_and_not_read(packed: Path, tmp_path: Path, name: str) -> None:
    """Whoever opened it would wait for ever."""
    folder = unpack(packed, tmp_path / "there")
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    words = f"{name}: not a file but a link, a pipe or a device"
    code, text = invoke("verify", folder)
    assert code == 1
    assert words in text
    if is_slow():
        command = [sys.executable, "-I", str(folder / "verify.py")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout) == (1, f"{words}\n1 problems\n")


@pytest.mark.parametrize("version", ["", "1 0", "a\nb", "\x1b[31m1.0", "1\\0", "a" * 101])
def test_a_version_is_a_short_word(root: Path, version: str) -> None:
    """It becomes part of file names, and a line of citations."""
    code, text, target = archive_here(root, f"--version={version}")
    assert code == 2
    assert "a version is a short word, such as 1.0" in text
    assert not target.exists()


def test_a_version_may_be_a_tag_with_a_slash(copy: Path) -> None:
    """As repositories with several reports have; the file's name has none."""
    code, text = invoke("archive", "-f", copy / "mkdocs.yml", "--version", "report/v1.0")
    assert code == 0, text
    with zipfile.ZipFile(copy / "report-report-v1.0.zip") as file:
        assert b"version: report/v1.0" in file.read("CITATION.cff")


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_changes_while_it_is_packed(
    copy: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Once, and the archive is of the new data; again, and there is none."""
    changes = iter([RUNS.replace("0.84", f"0.8{number}") for number in range(times)])

    def write_meanwhile(site: Path, **options: Any) -> str:  # noqa: ANN401 - as the function's own
        if content := next(changes, None):
            write_file(copy / "data/runs.csv", content)
        return write_one_file(site, **options)

    monkeypatch.setattr(archiving, "write_one_file", write_meanwhile)
    code, text, target = archive_here(copy)
    if times == 1:
        assert code == 0, text
        with zipfile.ZipFile(target) as file:
            assert b"0.80" in file.read("data/runs.csv")
        assert invoke("verify", target, "--level", "statements")[0] == 0
    else:
        assert code == 1
        assert "data/runs.csv: error: the file changed while it was archived. Wait until" in text
        assert not target.exists()


def test_a_built_site_is_not_built_again(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is archived as it is, and the archive is the same as that of a report that was not built before."""
    code, text, target = archive_here(copy)
    assert code == 0, text
    first = target.read_bytes()
    (copy.parent / "cache").mkdir()
    monkeypatch.setenv("REPORTGEN_CACHE_DIR", str(copy.parent / "cache"))
    assert invoke("build", "-f", copy / "mkdocs.yml")[0] == 0

    def build_again(*_: object, **__: object) -> None:
        pytest.fail("the site is up to date")

    with monkeypatch.context() as patch:
        patch.setattr(archiving, "publish", build_again)
        code, text, target = archive_here(copy)
    assert code == 0, text
    assert target.read_bytes() == first


def test_fifty_gigabytes_of_data_are_better_frozen(tmp_path: Path) -> None:
    """That is said before they are read."""
    path = tmp_path / "runs.csv"
    path.touch()
    assert not list(check_size([Member("data/runs.csv", path)]))
    os.truncate(path, 50_000_000_000)
    (said,) = check_size([Member("data/runs.csv", path)])
    assert said == "the data have 50 GB; --data frozen packs each source as one small table"


@pytest.mark.parametrize(
    ("names", "said", "severity"),
    [
        (["data/a:b.txt"], "Windows cannot unpack this name", Severity.WARNING),
        (["a\nb.txt"], "not every system can unpack this name", Severity.ERROR),
        (["é" * 150], "its name has more than 255 bytes", Severity.ERROR),
        (["Data.txt", "data.txt"], "on some systems this is the same name as data.txt", Severity.WARNING),
        (["\u00e9.txt", "e\u0301.txt"], "on some systems this is the same name as", Severity.WARNING),
    ],
    ids=["colon", "newline", "300 bytes", "case", "Unicode form"],
)
def test_a_name_that_some_systems_do_not_have(
    tmp_path: Path, names: list[str], said: str, severity: Severity
) -> None:
    """It is an error where unpacking would fail, otherwise a warning."""
    (found,) = check_members([Member(name, b"x") for name in names], tmp_path)
    assert said in found.message
    assert found.severity is severity


def test_files_that_are_not_committed_are_named(copy: Path) -> None:
    """The archive says so, too: its commit does not have them."""
    write_file(copy / "data/other.csv", RUNS.replace("0.84", "0.85"))
    code, text, target = archive_here(copy)
    assert code == 0, text
    assert "files differ from the last commit" in text
    with zipfile.ZipFile(target) as file:
        assert json.loads(file.read("provenance.json"))["modified"] is True
    target.unlink()
    assert archive_here(copy, "--strict")[0] == 1
    assert not target.exists()


def test_code_in_a_report_is_listed_and_never_run_by_verify(copy: Path) -> None:
    """A rebuild draws the other figures; a review does not compare what functions draw, and says so."""
    script = f"open({str(copy.parent / 'ran')!r}, 'w').close()\n"
    chart = "import altair as alt\n\ndef draw(frame):\n    return alt.Chart(frame).mark_point()\n"
    write_file(copy / "charts.py", script + chart)
    write_file(
        copy / "mkdocs.yml", CITED.replace("      citation:", "      allow_code: true\n      citation:")
    )
    block = "\n```altair\nfunction: charts.py:draw\nsource: other\ntitle: Points\n```\n"
    write_file(copy / "content/other.md", REPORT["content/other.md"] + block)
    code, text, target = archive_here(copy)
    assert code == 0, text
    assert (copy.parent / "ran").exists()
    (copy.parent / "ran").unlink()
    drawn = read_provenance(target)["other.md#points"]
    assert [one["path"] for one in drawn["inputs"] if one["role"] == "code"] == ["charts.py"]
    code, text = invoke("verify", target, "--level", "rebuild", "--python", sys.executable)
    assert code == 0, text
    assert "Statements: 1 of 1 statement are as they were" in text
    assert "every figure is the same. Not built: 1 chart of functions, which are not run." in text
    assert not (copy.parent / "ran").exists()
    code, text = invoke("review", target, "-f", copy / "mkdocs.yml", "--out", copy.parent / "out")
    assert "not the report that is checked out: functions of altair blocks" in text
    assert "Nothing changed" in text


def test_a_report_without_a_licence_says_so(copy: Path) -> None:
    """In its metadata, where a catalogue looks."""
    write_file(copy / "mkdocs.yml", CITED.replace("        license: CC-BY-4.0\n", ""))
    code, text, target = archive_here(copy)
    assert code == 0, text
    assert "the report's citation names no licence" in text
    with zipfile.ZipFile(target) as file:
        graph = json.loads(file.read("ro-crate-metadata.json"))["@graph"]
    assert [one["license"] for one in graph if one["@id"] == "./"] == ["No licence is stated."]


@pytest.mark.parametrize("name", ["provenance.json", "report.json"])
def test_a_later_format_is_left_to_a_later_reportgen(packed: Path, tmp_path: Path, name: str) -> None:
    """Its hashes can be checked all the same."""
    folder = unpack(packed, tmp_path / "there")
    value = json.loads((folder / name).read_text("utf-8"))
    (folder / name).write_text(json.dumps(value | {"format": 2}), "utf-8")
    path = pack(folder, tmp_path / "later.zip")
    assert invoke("verify", path, "--level", "intact")[0] == 0
    code, text = invoke("verify", path)
    assert code == 2
    assert (
        f"{name}: error: format 2 is not known. Verify it with the version of reportgen that wrote it" in text
    )


def test_an_archive_cut_at_any_byte_is_not_intact(tmp_path: Path) -> None:
    """Also one byte before its end."""
    folder = tmp_path / "there"
    write_file(folder / "report.html", "<p>A</p>")
    whole = pack(folder, tmp_path / "whole.zip")
    assert intact.check_zip(whole)[1] == []
    content, path = whole.read_bytes(), tmp_path / "cut.zip"
    for size in range(len(content)):
        path.write_bytes(content[:size])
        identity, problems = intact.check_zip(path)
        assert not identity, size
        assert len(problems) == 1, size


@pytest.mark.parametrize("level", ["intact", "consistent", "statements"])
def test_verify_writes_nothing_beside_an_archive(packed: Path, tmp_path: Path, level: str) -> None:
    """It may be on a disc that cannot be written."""
    folder = unpack(packed, tmp_path / "media" / "there")
    shutil.copy(packed, tmp_path / "media")
    places = [tmp_path / "media", *(tmp_path / "media").rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    before = {place: place.stat().st_mtime_ns for place in places}
    for path in (folder, tmp_path / "media" / packed.name):
        assert invoke("verify", path, "--level", level)[0] == 0
    assert {place: place.stat().st_mtime_ns for place in places} == before
    assert [tmp_path / "media", *(tmp_path / "media").rglob("*")] == places
    for place in places:
        place.chmod(0o755)


def test_a_clock_in_2099(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files and a commit of then are archived, and verified now."""
    then = 4_070_908_800  # 2099-01-01
    for path in copy.rglob("*"):
        if not {".git", "site"} & {*path.parts}:
            os.utime(path, (then, then))
    for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        monkeypatch.setenv(name, f"@{then} +0000")
    git(copy, "commit", "--quiet", "--amend", "--reset-author", "--no-edit", "--date", f"@{then} +0000")
    code, text, target = archive_here(copy)
    assert code == 0, text
    with zipfile.ZipFile(target) as file:
        assert {one.date_time[0] for one in file.infolist()} == {
            2026
        }  # git's own date is when it was committed
    assert invoke("verify", target)[0] == 0


@pytest.mark.parametrize(
    ("module", "changed"),
    [
        ("statistics/scores.py", {"scores.md"}),
        ("statistics/intervals.py", {"scores.md"}),
        ("statistics/curves/bands.py", {"index.md", "other.md", "table.md"}),
        # Points are read of answers, too, and verdicts name the leader of curves.
        ("statistics/curves/points.py", {"scores.md", "index.md", "other.md", "table.md"}),
        ("statistics/verdicts.py", {"scores.md", "index.md", "other.md", "table.md"}),
        ("claims/run_facts.py", {"table.md"}),
        ("core/words.py", set()),
    ],
)
def test_an_estimator_changes_the_provenance_of_what_it_computes(
    copy: Path,
    packed: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    changed: set[str],
) -> None:
    """And of nothing else."""
    before = read_provenance(packed)
    package = copy.parent / "package"
    for name in ("statistics", "claims", "core"):
        shutil.copytree(PACKAGE / name, package / name)
    with (package / module).open("a", encoding="utf-8") as file:
        file.write("# another estimator\n")
    monkeypatch.setattr(provenance, "_PACKAGE", package)
    provenance._hash_code.cache_clear()
    try:
        code, text, target = archive_here(copy)
    finally:
        provenance._hash_code.cache_clear()
    assert code == 0, text
    after = read_provenance(target)
    assert after.keys() == before.keys()
    assert {name.partition("#")[0] for name in before if before[name] != after[name]} == changed


OF_CURVES = """# Of runs

```curve
source: runs
metric: accuracy
facet: series
```

```panels
source: runs
metrics: [accuracy, loss]
band: sd
```

```table
source: runs
metric: accuracy
columns: [final, best by loss]
```

```runs-table
source: runs
metric: accuracy
columns: [final, at 50]
```

```scatter
source: runs
metric: accuracy
x: tokens
x_higher_is_better: false
```

```distribution
source: runs
metric: accuracy
```

```sweep
source: runs
metric: accuracy
x: lr
```
"""
OF_SCORES = "# Of answers\n" + "".join(
    f"\n```{kind}\nsource: answers\n{settings}```\n"
    for kind, settings in [
        *((kind, "") for kind in ("scores", "comparison", "passk", "problems", "runs", "distribution")),
        ("scatter", "metric: pass@2\nx: tokens\n"),
        ("plan", ""),
    ]
)


@pytest.mark.parametrize("content", [OF_CURVES, OF_SCORES], ids=["curves", "scores"])
def test_provenance_names_all_that_computes(tmp_path: Path, content: str) -> None:
    """Every function of the statistics that runs while a report is drawn is in a module that is named."""
    root = shutil.copytree(Path(__file__).parent / "cases" / "explore", tmp_path / "report")
    write_file(root / "content/index.md", content)
    ran: set[CodeType] = set()

    def note(frame: FrameType, _event: str, _: object) -> None:
        ran.add(frame.f_code)

    sys.setprofile(note)
    try:
        code, text, target = archive_here(root)
    finally:
        sys.setprofile(None)
    assert code == 0, text
    named = {one["module"] for figure in read_provenance(target).values() for one in figure["statistics"]}
    # Bodies of modules and classes run when they are imported.
    paths = {Path(one.co_filename) for one in ran if one.co_flags & inspect.CO_OPTIMIZED}
    below = {path.relative_to(PACKAGE).as_posix() for path in paths if path.is_relative_to(PACKAGE)}
    computes = {path for path in below if path.startswith("statistics/")}
    assert computes
    assert {path for path in computes if not {path, path.rpartition("/")[0]} & named} == set()
