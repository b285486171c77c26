"""Archives: what is the same each time, what a damaged or hostile one does, and what runs beside one.

What an archive holds, and what is said of one that was changed, stands in ``transcripts/archiving.md``.
"""

from __future__ import annotations

import ast
import configparser
import hashlib
import inspect
import json
import os
import platform
import random
import shutil
import stat
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call, run
from example_site import copy_example
from made_archives import CITED, REPORT, archive, commit, invoke, pack, read_provenance, unpack
from made_projects import RUNS, files_below, share_cache, write_file, write_report
from mkdocs.structure.pages import Page
from tries import slow_after, tries

from reportgen.core import intact

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

RENDER = "reportgen.archive.one_file.render_template"
PACKAGE = Path(intact.__file__).parents[1]
SAME = "Built again: every figure is the same."
NOT_RUN = f"{SAME} Not built: 1 chart of functions, which are not run."
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
    return commit(write_report(tmp_path_factory.mktemp("archived") / "report", {**REPORT, **scores}))


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


def rebuild(path: Path, python: str = sys.executable) -> tuple[int, str]:
    """The exit code of the last level, and the last line of what it says."""
    code, text = invoke("verify", path, "--level", "rebuild", "--python", python)
    return code, text.splitlines()[-1]


@pytest.mark.parametrize("start", slow_after(1, [call, run]))
def test_the_same_report_gives_the_same_archive_elsewhere(
    start: Callable[..., subprocess.CompletedProcess[str]], root: Path, packed: Path, tmp_path: Path
) -> None:
    """Not the folder, the locale, the time zone or the cache decides what is in it."""
    copy = shutil.copytree(root, tmp_path / "elsewhere and further", ignore=shutil.ignore_patterns("site"))
    target = tmp_path / "again.zip"
    done = start(copy, "archive", "--to", str(target), LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr
    assert read_manifest(target) == read_manifest(packed)
    assert hashlib.sha256(read_manifest(packed)).hexdigest() in done.stdout
    with zipfile.ZipFile(packed) as file:
        assert {stat.S_IMODE(one.external_attr >> 16) for one in file.infolist()} == {0o644}
        assert {one.date_time for one in file.infolist()} == {(2026, 11, 20, 0, 0, 0)}


def read_manifest(path: Path) -> bytes:
    """The manifest of an archive."""
    with zipfile.ZipFile(path) as file:
        return file.read(intact.MANIFEST)


def test_what_wrote_an_archive_is_no_part_of_its_files(packed: Path, tmp_path: Path) -> None:
    """Python, system and packages are the zip file's comment, and verify prints them."""
    with zipfile.ZipFile(packed) as file:
        written = json.loads(file.comment)
        texts = [file.read(name) for name in ("provenance.json", "ro-crate-metadata.json", "README.txt")]
    assert written["python"] == platform.python_version()
    assert written["packages"]["numpy"] == version("numpy")
    assert not [text for text in texts if platform.python_version().encode() in text]
    assert f"Written with: Python {platform.python_version()}, " in invoke("verify", packed)[1]
    # Another comment is anybody's.
    path = shutil.copy(packed, tmp_path / "report.zip")
    for comment in (b"", b"{", b"[1]", b'{"packages": 1}', b"\xff", b"[" * 60_000):
        with zipfile.ZipFile(path, "a") as file:
            file.comment = comment
        code, text = invoke("verify", path, "--level", "intact")
        assert (code, "Written with" in text) == (0, False), comment


def test_a_built_site_is_not_built_again(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is archived as it is, and the archive is the same as that of a report that was not built before.

    Data that would be hard to store are no error, but said.
    """
    size = sum(one.stat().st_size for one in (copy / "data").iterdir())
    monkeypatch.setattr("reportgen.archive.contents._LARGE_DATA", size - 1)
    code, text, target = archive_here(copy)
    assert (code, f"the data have {size} bytes" in text) == (0, True), text
    monkeypatch.setattr("reportgen.archive.contents._LARGE_DATA", size)
    first = target.read_bytes()
    (copy.parent / "cache").mkdir()
    monkeypatch.setenv("REPORTGEN_CACHE_DIR", str(copy.parent / "cache"))
    assert invoke("build", "-f", copy / "mkdocs.yml")[0] == 0

    def build_again(*_: object, **__: object) -> None:
        pytest.fail("the site is up to date")

    with monkeypatch.context() as patch:
        patch.setattr(Page, "render", build_again)
        code, text, target = archive_here(copy)
    assert (code, "the data have" in text) == (0, False), text
    assert target.read_bytes() == first


@pytest.mark.parametrize("times", slow_after(2, [1, 2, 0]))
def test_a_file_that_changes_while_it_is_packed(
    copy: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    """Once, and the archive is of the new data; again, or where a file is gone, and there is none."""
    changes = iter([RUNS.replace("0.84", f"0.8{number}") for number in range(times)])
    render = resolve_name(RENDER)

    def write_meanwhile(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - passed on
        if content := next(changes, None):
            write_file(copy / "data/runs.csv", content)
        elif not times:
            (copy / "data/runs.csv").unlink(missing_ok=True)
        return render(*given, **named)

    monkeypatch.setattr(RENDER, write_meanwhile)
    code, text, target = archive_here(copy)
    if times == 1:
        assert code == 0, text
        assert b"0.80" in unpack(target, copy.parent / "there").joinpath("data/runs.csv").read_bytes()
        assert invoke("verify", target, "--level", "statements")[0] == 0
    else:
        assert (code, target.exists()) == (1, False)
        what = "data/runs.csv: error: the file changed while it was archived"
        assert (what if times else 'content/index.md:3: error: there is no source "runs"') in text


COMPUTED = {
    "statistics/scores.py": {"scores.md"},
    "statistics/intervals.py": {"scores.md"},
    # Means over runs are those of curves and of costs. One query reads steps, one answers.
    "statistics/curves/bands.py": {"scores.md", "index.md", "other.md", "table.md"},
    "read/queries/points.py": {"scores.md", "index.md", "other.md", "table.md"},
    "statistics/verdicts.py": {"scores.md", "index.md", "other.md", "table.md"},
    "claims/run_facts.py": {"table.md"},
    "core/words.py": set(),
}


def test_an_estimator_changes_the_provenance_of_what_it_computes(packed: Path) -> None:
    """And of nothing else: each figure has the SHA-256 of the text of its modules, and of their paths."""
    figures = read_provenance(packed)
    named = {one["module"]: one["sha256"] for figure in figures.values() for one in figure["statistics"]}
    for name, sha256 in named.items():
        files = sorted((PACKAGE / name).glob("*.py")) or [PACKAGE / name]
        texts = [f"{path.relative_to(PACKAGE).as_posix()}\0{path.read_text('utf-8')}\0" for path in files]
        assert hashlib.sha256("".join(texts).encode()).hexdigest() == sha256, name
    for module, pages in COMPUTED.items():
        assert (PACKAGE / module).is_file()
        covers = {module, module.rpartition("/")[0]}
        found = {
            name
            for name, figure in figures.items()
            if covers & {one["module"] for one in figure["statistics"]}
        }
        assert {name.partition("#")[0] for name in found} == pages, module
        assert found == {name for name in figures if name.partition("#")[0] in pages}, module
        assert all(
            one["sha256"] == named[one["module"]] for name in found for one in figures[name]["statistics"]
        )


# Blocks whose statistics differ, with their settings.
BLOCKS = {
    "runs": {
        "curve": "metric: accuracy\nfacet: series",
        "panels": "metrics: [accuracy, loss]\nband: sd",
        "table": "metric: accuracy\ncolumns: [final, best by loss]",
        "runs-table": "metric: accuracy\ncolumns: [final, at 50]",
        "scatter": "metric: accuracy\nx: tokens\nx_higher_is_better: false",
        "distribution": "metric: accuracy",
        "sweep": "metric: accuracy\nx: lr",
    },
    "answers": {
        **dict.fromkeys(
            ["scores", "comparison", "passk", "problems", "run-scores", "distribution", "plan"], ""
        ),
        "scatter": "metric: pass@2\nx: tokens",
    },
}


@pytest.mark.parametrize("source", BLOCKS)
def test_provenance_names_all_that_computes(tmp_path: Path, source: str) -> None:
    """Every function of the statistics that runs while a report is drawn is in a module that is named."""
    root = shutil.copytree(Path(__file__).parent / "cases" / "explore", tmp_path / "report")
    blocks = (f"```{kind}\nsource: {source}\n{given}\n```" for kind, given in BLOCKS[source].items())
    write_file(root / "content/index.md", "\n\n".join(("# All", *blocks)))
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
    computes = {path for path in below if path.startswith(("read/queries/", "statistics/"))}
    assert computes
    assert {path for path in computes if not {path, path.rpartition("/")[0]} & named} == set()


def test_verify_py_runs_with_an_old_python() -> None:
    """Its grammar is that of Python 3.8, and it imports nothing that is not in every Python since."""
    source = Path(intact.__file__).read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    imported |= {name.name for one in ast.walk(tree) if isinstance(one, ast.Import) for name in one.names}
    known = "__future__ collections.abc hashlib pathlib re stat sys typing zipfile zlib"
    assert imported <= {*known.split()}
    assert len(source.splitlines()) <= 150


@pytest.mark.slow
def test_an_archive_is_verified_without_this_program(packed: Path, tmp_path: Path) -> None:
    """By sha256sum, and by the script in it, which imports nothing of ours and waits for no pipe."""
    folder = unpack(packed, tmp_path / "there")
    subprocess.run(["sha256sum", "--check", "--quiet", intact.MANIFEST], cwd=folder, check=True)  # noqa: S607
    words = [sys.executable, "-I", str(folder / "verify.py")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"intact: every file is as it was written\n{hashlib.sha256(read_manifest(packed)).hexdigest()}\n"
    )
    (folder / "README.txt").unlink()
    os.mkfifo(folder / "README.txt")
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = "README.txt: not a file but a link, a pipe or a device\n1 problems\n"
    assert (done.returncode, done.stdout) == (1, said)


@pytest.mark.random
def test_every_flipped_bit_is_found(packed: Path, tmp_path: Path) -> None:
    """One at a time, by each of the three programs."""
    folder, chance = unpack(packed, tmp_path / "there"), random.Random(15)  # noqa: S311 - no secret
    # sha256sum reads the manifest's own hashes in capitals, too.
    files = sorted(one for one in folder.rglob("*") if one.is_file() and one.name != intact.MANIFEST)
    for number in range(tries(30, 500)):
        path = chance.choice(files)
        before = path.read_bytes()
        place = chance.randrange(len(before) * 8)
        after = bytearray(before)
        after[place // 8] ^= 1 << place % 8
        path.write_bytes(after)
        assert intact.check_folder(folder)[1], (path, place)
        if number % 10 == 0:
            words = ["sha256sum", "--check", "--strict", "--status", intact.MANIFEST]
            assert subprocess.run(words, cwd=folder, check=False, capture_output=True).returncode
            assert invoke("verify", folder, "--level", "intact")[0] == 1
        path.write_bytes(before)
    assert intact.check_folder(folder)[1] == []


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


def test_verify_writes_nothing_beside_an_archive(packed: Path, tmp_path: Path) -> None:
    """It may be on a disc that cannot be written."""
    folder = unpack(packed, tmp_path / "media" / "there")
    shutil.copy(packed, tmp_path / "media")
    places = [tmp_path / "media", *(tmp_path / "media").rglob("*")]
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    before = {place: place.stat().st_mtime_ns for place in places}
    for path in (folder, tmp_path / "media" / packed.name):
        assert invoke("verify", path, "--level", "statements")[0] == 0
    assert {place: place.stat().st_mtime_ns for place in places} == before
    assert [tmp_path / "media", *(tmp_path / "media").rglob("*")] == places
    for place in places:
        place.chmod(0o755)


def test_what_no_system_can_unpack_is_no_version(root: Path) -> None:
    """It becomes a part of a name; names of files are in ``archiving.md``."""
    for word in ("a\nb", "\x1b[31m1.0"):
        code, text, target = archive_here(root, f"--version={word}")
        assert (code, "a version is a short word" in text, target.exists()) == (2, True, False)


def test_code_in_a_report_is_listed_and_never_run_by_verify(copy: Path) -> None:
    """A rebuild draws the other figures; a review does not compare what functions draw, and says so."""
    script = f"open({str(copy.parent / 'ran')!r}, 'w').close()\n"
    chart = "import altair as alt\n\ndef draw(frame):\n    return alt.Chart(frame).mark_point()\n"
    write_file(copy / "charts.py", script + chart)
    settings = CITED.replace("      citation:", "      allow_code: true\n      citation:")
    write_file(copy / "mkdocs.yml", settings)
    block = "\n```altair\nfunction: charts.py:draw\nsource: other\ntitle: Points\n```\n"
    write_file(copy / "content/other.md", REPORT["content/other.md"] + block)
    code, text, target = archive_here(copy)
    assert code == 0, text
    assert (copy.parent / "ran").exists()
    (copy.parent / "ran").unlink()
    drawn = read_provenance(target)["other.md#points"]
    assert [one["path"] for one in drawn["inputs"] if one["role"] == "code"] == ["charts.py"]
    assert rebuild(target) == (0, NOT_RUN)
    assert not (copy.parent / "ran").exists()
    code, text = invoke("review", target, "-f", copy / "mkdocs.yml", "--out", copy.parent / "out")
    assert "not the report that is checked out: functions of altair blocks" in text
    assert "Nothing changed" in text


@pytest.mark.slow
def test_the_example_report_agrees_with_itself_and_can_be_built_again(tmp_path: Path) -> None:
    """It has every kind of figure. Frozen tables keep what runs were made with, which blocks filter by."""
    path, settings = tmp_path / "frozen.zip", copy_example(tmp_path / "example") / "mkdocs.yml"
    assert invoke("archive", "-f", settings, "--to", path)[0] == 0
    code, text = invoke("verify", path)
    assert code == 0, text
    assert "Consistent: " in text
    assert invoke("archive", "-f", settings, "--data", "frozen", "--site", "--to", path)[0] == 0
    assert rebuild(path) == (0, NOT_RUN)


CASES = (
    "author-vega-lite hostile-names kinds-of-files recipe-checkpoints recipe-filter templates time-axis "
    "recipe-page-for-each-benchmark recipe-settings-beside-tables wide-tables"
)


@pytest.mark.parametrize("case", CASES.split())
@pytest.mark.parametrize("data", ["all", "frozen"])
@pytest.mark.slow
def test_archives_of_many_kinds_of_data_can_be_built_again(case: str, data: str, tmp_path: Path) -> None:
    """Also where a source is one file with settings, has no step, or one page file makes several pages."""
    root = commit(shutil.copytree(Path(__file__).parent / "cases" / case, tmp_path / case))
    packed = root / "packed.zip"
    assert invoke("archive", "-f", root / "mkdocs.yml", "--data", data, "--to", packed)[0] == 0
    assert rebuild(packed) == (0, SAME)


@pytest.mark.slow
def test_a_rebuild_says_whether_numbers_differ(packed: Path, tmp_path: Path) -> None:
    """As another version of a font or of a library may draw other pictures of the same numbers."""
    folder = unpack(packed, tmp_path / "there")
    ends = {"svg": "only pictures and specifications, no number", "csv": "also files with numbers"}
    for end, words in ends.items():
        path = folder / f"figures/index/accuracy.{end}"
        path.write_text(path.read_text("utf-8").replace("0.8", "0.9"), "utf-8")
        assert rebuild(folder) == (1, f"Not the same when built again: {words}.")


@pytest.mark.slow
def test_the_python_of_a_rebuild_may_have_a_relative_path(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As other programs take it."""
    monkeypatch.chdir(tmp_path)
    assert rebuild(packed, os.path.relpath(sys.executable)) == (0, SAME)


@pytest.mark.slow
def test_the_packed_tool_can_be_installed(root: Path, tmp_path: Path) -> None:
    """By pip, without network."""
    (wheel,) = unpack(archive(root, "wheel.zip", "--tool"), tmp_path / "there").glob("*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "new"], check=True)
    with zipfile.ZipFile(wheel) as file:
        (points,) = (name for name in file.namelist() if name.endswith("entry_points.txt"))
        project = Path(__file__).parents[1] / "pyproject.toml"
        declared = tomllib.loads(project.read_text("utf-8"))["project"]["entry-points"]
        sections = configparser.ConfigParser()
        sections.read_string(file.read(points).decode())
        assert {name: dict(sections[name]) for name in declared} == declared
    python = str(tmp_path / "new/bin/python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install"]
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", str(wheel)], check=True)
    script = "import reportgen.core.intact, reportgen.site_templates as theme; print(*theme.__path__)"
    done = subprocess.run([python, "-I", "-c", script], check=True, capture_output=True, text=True)
    theme = Path(done.stdout.strip())
    assert theme.is_relative_to(tmp_path / "new")
    assert files_below(theme).keys() >= {"main.html", "archive/report.html"}


@pytest.mark.slow
def test_a_rebuild_does_not_run_the_packed_tool(root: Path, tmp_path: Path) -> None:
    """Anybody may have written it; whoever trusts it installs it into the Python that is named."""
    folder = unpack(archive(root, "tool.zip", "--tool"), tmp_path / "there")
    (wheel,) = folder.glob("*.whl")
    members = files_below(unpack(wheel, tmp_path / "wheel"))
    with zipfile.ZipFile(wheel, "w") as file:
        for member, data in members.items():
            other = b"raise SystemExit('by the wheel')"
            file.writestr(member, other if member == "reportgen/__main__.py" else data)
    assert rebuild(folder)[1] == SAME
