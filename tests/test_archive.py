"""Archives: what is in one, what changes it, and what is found in one that was changed."""

from __future__ import annotations

import ast
import csv
import hashlib
import json
import os
import platform
import random
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call, run
from example_site import copy_example
from made_archives import REPORT, archive, commit, git, invoke, pack, read_provenance, unpack
from made_projects import PAGE, RUNS, SETTINGS, files_below, share_cache, write_file, write_report
from tries import slow_after, tries

from reportgen.archive.contents import Member
from reportgen.archive.packing import hash_members, make_wheel
from reportgen.core import intact
from reportgen.core.errors import ReportError

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A committed report with a citation."""
    return commit(write_report(tmp_path_factory.mktemp("archived") / "report", REPORT))


@pytest.fixture(scope="module")
def packed(root: Path) -> Path:
    """Its archive."""
    return archive(root)


def test_an_archive_holds_the_report_and_all_it_comes_from(packed: Path) -> None:
    """Each file that archive.md names is there, at the top, and only once."""
    with zipfile.ZipFile(packed) as file:
        names = file.namelist()
        assert all(stat.S_IMODE(one.external_attr >> 16) == 0o644 for one in file.infolist())
        assert {one.date_time for one in file.infolist()} == {(2026, 11, 20, 0, 0, 0)}
    assert len(names) == len(set(names))
    assert {
        *("report.html", "report.json", "figures/index/accuracy.svg", "figures/index/accuracy.csv"),
        *("figures/index/accuracy.vl.json", "figures/other/other-accuracy.pdf"),
        *("content/index.md", "content/other.md", "data/runs.csv"),
        *("mkdocs.yml", "requirements.txt", "README.txt", "LICENSE", "CITATION.cff", ".zenodo.json"),
        *("provenance.json", "ro-crate-metadata.json", "manifest-sha256.txt", "verify.py"),
    } <= set(names)
    assert names[:-1] == sorted(names[:-1])


def test_the_commit_and_its_files_have_the_identifiers_of_software_heritage(root: Path, packed: Path) -> None:
    """They are git's own hashes of the two."""
    with zipfile.ZipFile(packed) as file:
        known = json.loads(file.read("provenance.json"))
    assert known["swhid"] == f"swh:1:rev:{git(root, 'rev-parse', 'HEAD')}"
    assert known["swhid_directory"] == f"swh:1:dir:{git(root, 'rev-parse', 'HEAD^{tree}')}"


@pytest.mark.parametrize("start", slow_after(1, [call, run]))
def test_the_same_report_gives_the_same_archive_elsewhere(
    start: Callable[..., subprocess.CompletedProcess[str]], root: Path, packed: Path, tmp_path: Path
) -> None:
    """Not the folder, the locale, the time zone or the cache decides what is in it."""
    copy = shutil.copytree(root, tmp_path / "elsewhere and further", ignore=shutil.ignore_patterns("site"))
    target = tmp_path / "again.zip"
    done = start(copy, "archive", "--to", str(target), LC_ALL="C", TZ="Asia/Tokyo", PYTHONHASHSEED="7")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(target) as again, zipfile.ZipFile(packed) as first:
        assert again.read(intact.MANIFEST) == first.read(intact.MANIFEST)
    assert hashlib.sha256(first_manifest(packed)).hexdigest() in done.stdout


def test_what_wrote_an_archive_is_no_part_of_its_files(packed: Path, tmp_path: Path) -> None:
    """Python, system and packages are the zip file's comment, and verify prints them."""
    with zipfile.ZipFile(packed) as file:
        written = json.loads(file.comment)
        texts = [file.read(name) for name in ("provenance.json", "ro-crate-metadata.json", "README.txt")]
    assert written["python"] == platform.python_version()
    assert written["packages"]["numpy"] == version("numpy")
    assert not [text for text in texts if platform.python_version().encode() in text]
    assert f"Written with: Python {platform.python_version()}, " in invoke("verify", packed)[1]
    code, text = invoke("verify", unpack(packed, tmp_path / "there"))
    assert code == 0
    assert "Written with" not in text


@pytest.mark.parametrize("comment", [b"", b"{", b"[1]", b'{"packages": 1}', b"\xff", b"[" * 60_000])
def test_another_comment_is_left_out(packed: Path, tmp_path: Path, comment: bytes) -> None:
    """It is anybody's: verify says nothing of it."""
    path = tmp_path / "report.zip"
    shutil.copy(packed, path)
    with zipfile.ZipFile(path, "a") as file:
        file.comment = comment
    code, text = invoke("verify", path)
    assert code == 0
    assert "Written with" not in text


def test_verify_py_runs_with_an_old_python() -> None:
    """Its grammar is that of Python 3.8, and it imports nothing that is not in every Python since."""
    source = Path(intact.__file__).read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 8))
    imported = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom)}
    imported |= {name.name for one in ast.walk(tree) if isinstance(one, ast.Import) for name in one.names}
    assert imported <= {
        *(
            "__future__",
            "collections.abc",
            "hashlib",
            "pathlib",
            "re",
            "stat",
            "sys",
            "typing",
            "zipfile",
            "zlib",
        )
    }


def first_manifest(path: Path) -> bytes:
    """The manifest of an archive."""
    with zipfile.ZipFile(path) as file:
        return file.read(intact.MANIFEST)


@pytest.mark.slow
def test_an_archive_is_verified_without_this_program(packed: Path, tmp_path: Path) -> None:
    """By sha256sum, and by the script in it, which imports nothing of ours."""
    folder = unpack(packed, tmp_path / "there")
    subprocess.run(["sha256sum", "--check", "--quiet", intact.MANIFEST], cwd=folder, check=True)  # noqa: S607
    words = [sys.executable, "-I", str(folder / "verify.py")]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == (
        f"intact: every file is as it was written\n{hashlib.sha256(first_manifest(packed)).hexdigest()}\n"
    )
    assert len(Path(intact.__file__).read_text().splitlines()) <= 150


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


def _edit_html(folder: Path) -> None:
    page = folder / "report.html"
    text = page.read_text("utf-8")
    assert "<td>0.820" in text or "0.82" in text
    page.write_text(text.replace("0.82", "0.92"), "utf-8")


def _edit_csv(folder: Path) -> None:
    path = folder / "figures/index/accuracy.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    rows[-1][3] = "0.99"
    path.write_text("".join(",".join(row) + "\n" for row in rows))


def _edit_json(folder: Path) -> None:
    path = folder / "report.json"
    text = path.read_text("utf-8")
    assert '"value": 0.82' in text
    path.write_text(text.replace('"value": 0.82', '"value": 0.92'), "utf-8")


def _edit_reading(folder: Path) -> None:
    """Edit a number that report.json does not have: a reading in the middle of a curve."""
    path = folder / "figures/index/accuracy.csv"
    rows = list(csv.reader(path.read_text().splitlines()))
    steps = [row[2] for row in rows]
    rows[steps.index("10")][3] = "0.99"
    path.write_text("".join(",".join(row) + "\n" for row in rows))


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (_edit_html, "report.html: not the file that ro-crate-metadata.json names"),
        (_edit_csv, "figures/index/accuracy.csv: not the file that was written for index.md#accuracy"),
        (
            _edit_reading,
            "figures/index/accuracy.csv: not the file that was written for index.md#accuracy",
        ),
        (_edit_json, "report.json: not the file that provenance.json names"),
    ],
    ids=["html", "csv", "one reading", "json"],
)
def test_an_edited_number_contradicts_the_rest_without_a_new_manifest_too(
    packed: Path, tmp_path: Path, edit: Callable[[Path], None], named: str
) -> None:
    """The level consistent does not rely on the level intact."""
    folder = unpack(packed, tmp_path / "there")
    edit(folder)
    code, text = invoke("verify", folder)
    assert code == 1
    assert named in text
    assert "Not intact: 1 problem." in text
    assert "Not consistent: " in text


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (_edit_html, "report.html: the table of index.md#accuracy or other.md#other-accuracy is not the one"),
        (_edit_csv, "figures/index/accuracy.csv: the last reading of GRPO is not the 0.72 of report.json"),
        (
            _edit_reading,
            "figures/index/accuracy.csv: not the file that was written for index.md#accuracy",
        ),
        (_edit_json, "report.json: not the file that provenance.json names"),
        (_edit_json, "figures/index/accuracy.csv: the last reading of MEL is not the 0.92 of report.json"),
    ],
    ids=["html", "csv", "one reading", "json", "json against csv"],
)
def test_a_number_edited_in_one_place_is_named(
    packed: Path, tmp_path: Path, edit: Callable[[Path], None], named: str
) -> None:
    """Also by somebody who writes a new manifest."""
    folder = unpack(packed, tmp_path / "there")
    edit(folder)
    path = pack(folder, tmp_path / "edited.zip")
    code, text = invoke("verify", path)
    assert code == 1
    assert named in text
    assert "Intact: " in text
    assert "Not consistent: " in text


TUNED = "series,seed,lr,optimizer,step,train,test\n" + "".join(
    f"{name},{seed},{lr},{optimizer},{step},{2 - step / 20 + lr + seed / 9},{3 - step / 20 + lr - seed / 9}\n"
    for name, lr, optimizer in (("a", 0.125, "SGD"), ("b", 0.5, "Adam"))
    for seed in (1, 2)
    for step in (0, 10, 20)
)
TUNING = """# Tuning

```curve
id: both
source: tuned
metric: [train, test]
```

```curve
id: coloured
source: tuned
metric: test
colour: lr
```

```sweep
id: rates
source: tuned
metric: test
x: lr
```

```sweep
id: optimizers
source: tuned
metric: test
x: optimizer
```

```scatter
id: trade-off
source: tuned
metric: test
x: train
```

```distribution
id: finals
source: tuned
metric: test
```
"""


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive of a report with lines that have names of their own, and with settings."""
    files = {**REPORT, "data/tuned.csv": TUNED, "content/tuning.md": TUNING}
    return archive(commit(write_report(tmp_path_factory.mktemp("tuned") / "report", files)))


@pytest.mark.parametrize(
    ("figure", "part", "what"),
    [
        ("both", ("series", 3, "last", "value"), "the last reading of b · test"),
        ("coloured", ("series", 0, "first", "value"), "the first reading of a · lr=0.125"),
        ("rates", ("points", 1, "mean"), "the mean of lr=0.5"),
        ("rates", ("points", 0, "high"), "the high of lr=0.125"),
        ("optimizers", ("points", 0, "runs", 1), "a run of "),
        ("trade-off", ("points", 0, "x", 1), "x_low of a"),
        ("finals", ("series", 1, "mean"), "the mean of b"),
    ],
    ids=["metrics", "colour", "mean", "interval", "words", "scatter", "distribution"],
)
def test_numbers_of_settings_and_metrics_agree_too(
    tuned: Path, tmp_path: Path, figure: str, part: tuple[str | int, ...], what: str
) -> None:
    """Every figure is checked, and one number that differs is named."""
    assert invoke("verify", tuned)[0] == 0
    folder = unpack(tuned, tmp_path / "there")
    path = folder / "report.json"
    report = json.loads(path.read_text("utf-8"))
    listed = next(one["figures"] for one in report["pages"] if one["path"] == "tuning.md")
    numbers: Any = next(one["numbers"] for one in listed if one["id"] == figure)
    for step in part[:-1]:
        numbers = numbers[step]
    numbers[part[-1]] = 77.5
    path.write_text(json.dumps(report), "utf-8")
    code, text = invoke("verify", pack(folder, tmp_path / "edited.zip"))
    assert code == 1
    assert f"figures/tuning/{figure}.csv: {what}" in text
    assert "is not the 77.5 of report.json" in text


@pytest.mark.slow
def test_the_example_report_agrees_with_itself(tmp_path: Path) -> None:
    """It has every kind of figure."""
    path, settings = tmp_path / "example.zip", copy_example(tmp_path / "example") / "mkdocs.yml"
    assert invoke("archive", "-f", settings, "--to", path)[0] == 0
    code, text = invoke("verify", path)
    assert code == 0, text
    assert "Consistent: " in text


@pytest.mark.slow
def test_the_frozen_example_report_can_be_built_again(tmp_path: Path) -> None:
    """Frozen tables keep what runs were made with, which blocks filter, group and sweep by."""
    path, settings = tmp_path / "frozen.zip", copy_example(tmp_path / "example") / "mkdocs.yml"
    assert invoke("archive", "-f", settings, "--data", "frozen", "--site", "--to", path)[0] == 0
    code, text = invoke("verify", path, "--level", "rebuild", "--python", sys.executable)
    assert (code, text.splitlines()[-1]) == (
        0,
        "Built again: every figure is the same. Not built: 1 chart of functions, which are not run.",
    )


@pytest.mark.parametrize(
    "case",
    [
        "author-vega-lite",
        "hostile-names",
        "kinds-of-files",
        "recipe-checkpoints",
        "recipe-filter",
        "recipe-page-for-each-benchmark",
        "recipe-settings-beside-tables",
        "templates",
        "time-axis",
        "wide-tables",
    ],
)
@pytest.mark.parametrize("data", ["all", "frozen"])
@pytest.mark.slow
def test_archives_of_many_kinds_of_data_can_be_built_again(case: str, data: str, tmp_path: Path) -> None:
    """Also where a source is one file with settings, has no step, or one page file makes several pages."""
    root = shutil.copytree(Path(__file__).parent / "cases" / case, tmp_path / case)
    git(root, "init", "--quiet")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "-m", "Report")
    packed = root / "packed.zip"
    assert invoke("archive", "-f", root / "mkdocs.yml", "--data", data, "--to", packed)[0] == 0
    code, text = invoke("verify", packed, "--level", "rebuild", "--python", sys.executable)
    assert (code, text.splitlines()[-1]) == (0, "Built again: every figure is the same.")


def test_words_with_markup_are_found_in_the_page(tmp_path: Path) -> None:
    """Pages that ``add`` writes have escaped names."""
    words = "[MEL\\_1 ends **above** `GRPO` &amp; wins]{claim='final(MEL) > final(GRPO)'}"
    root = commit(write_report(tmp_path / "report", REPORT | {"content/index.md": f"{PAGE}\n{words}.\n"}))
    assert invoke("verify", archive(root))[0] == 0


def test_statements_are_judged_again(packed: Path, tmp_path: Path) -> None:
    """A changed number in the data says which sentence is no longer true."""
    folder = unpack(packed, tmp_path / "there")
    assert invoke("verify", folder, "--level", "statements")[0] == 0
    data = folder / "data/runs.csv"
    data.write_text(data.read_text().replace("0.84", "0.54"))
    code, text = invoke("verify", folder, "--level", "statements")
    assert code == 1
    assert 'index.md:8: "above GRPO": holds then' in text
    assert "data/runs.csv: changed" in text
    assert "Statements: 0 of 1 statement are as they were" in text


def test_a_rebuild_gives_the_same_figures(packed: Path) -> None:
    """With the Python that has the archive's packages."""
    code, text = invoke("verify", packed, "--level", "rebuild", "--python", sys.executable)
    assert (code, text.splitlines()[-1]) == (0, "Built again: every figure is the same.")
    assert invoke("verify", packed, "--level", "rebuild")[0] == 2


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("figures/index/accuracy.svg", "only pictures and specifications, no number"),
        ("figures/index/accuracy.csv", "also files with numbers"),
    ],
)
@pytest.mark.slow
def test_a_rebuild_says_whether_numbers_differ(packed: Path, tmp_path: Path, name: str, words: str) -> None:
    """As another version of a font or of a library may draw other pictures of the same numbers."""
    folder = unpack(packed, tmp_path / "there")
    path = folder / name
    path.write_text(path.read_text("utf-8").replace("0.8", "0.9"), "utf-8")
    code, text = invoke("verify", folder, "--level", "rebuild", "--python", sys.executable)
    assert code == 1
    assert f"{name}: other bytes" in text
    assert text.splitlines()[-1] == f"Not the same when built again: {words}."


@pytest.mark.slow
def test_the_python_of_a_rebuild_may_have_a_relative_path(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one that cannot be run is named."""
    monkeypatch.chdir(tmp_path)
    python = os.path.relpath(sys.executable)
    code, text = invoke("verify", packed, "--level", "rebuild", "--python", python)
    assert (code, text.splitlines()[-1]) == (0, "Built again: every figure is the same.")
    Path("text").write_text("no program", "utf-8")
    code, text = invoke("verify", packed, "--level", "rebuild", "--python", "text")
    assert code == 2
    assert "--python: error: text cannot be run (Permission denied)" in text


def test_a_downloaded_figure_is_found_in_its_archive(packed: Path, tmp_path: Path) -> None:
    """By its bytes."""
    folder = unpack(packed, tmp_path / "there")
    for name in ("figures/other/other-accuracy.svg", "figures/other/other-accuracy.pdf"):
        code, text = invoke("verify", folder / name, "--in", packed)
        assert (code, text) == (0, f"other.md#other-accuracy: this is {name}, drawn from data/other.csv\n")
        assert f'href="{name}" download' in (folder / "report.html").read_text("utf-8")
    assert invoke("verify", folder / "mkdocs.yml", "--in", packed)[0] == 1


SMOOTH = REPORT["content/other.md"].replace("title:", "smooth: 0.5\ntitle:")
IS_FIGURE = "According to its metadata, it is other/other-accuracy"
SAME = "drawn from the same inputs with the same definition as other.md#other-accuracy"
OTHER = "other.md#other-accuracy"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, f"{IS_FIGURE}, {SAME}"),
        (
            {"data/other.csv": RUNS.replace("0.84", "0.85")},
            f"{IS_FIGURE}, and was drawn from other inputs than other.md#other-accuracy",
        ),
        (
            {"content/other.md": SMOOTH},
            f"{IS_FIGURE}, and was drawn with another definition than other.md#other-accuracy",
        ),
        (
            {"data/other.csv": RUNS.replace("0.84", "0.85"), "content/other.md": SMOOTH},
            f"{IS_FIGURE}, and was drawn from other inputs with another definition than {OTHER}",
        ),
        (
            {"content/other.md": None, "content/new & <b>.md": REPORT["content/other.md"]},
            f"According to its metadata, it is new & <b>/other-accuracy, {SAME}",
        ),
    ],
    ids=["nothing", "a row", "a setting", "both", "the page's name"],
)
def test_a_figure_names_what_it_is_drawn_from(
    root: Path, packed: Path, tmp_path: Path, changes: dict[str, str | None], said: str
) -> None:
    """A figure with other bytes is compared by its metadata, which prove nothing, so the command fails."""
    copy = shutil.copytree(root, tmp_path / "changed", ignore=shutil.ignore_patterns("site"))
    for name, content in changes.items():
        (copy / name).unlink() if content is None else write_file(copy / name, content)
    assert call(copy, "build").returncode == 0
    (picture,) = copy.glob("site/figures/*/other-accuracy.svg")
    text = picture.read_text("utf-8")
    # As another version may draw it.
    picture.write_text(text.replace('font-size="12"', 'font-size="13"'), "utf-8")
    code, printed = invoke("verify", picture, "--in", packed)
    assert (code, printed) == (
        1,
        f"other-accuracy.svg: no figure of {packed.name} has these bytes\n{said}\n",
    )


def test_a_figure_that_names_another_origin_is_found(packed: Path, tmp_path: Path) -> None:
    """What the SVG files of an archive say is what its provenance says."""
    folder = unpack(packed, tmp_path / "there")
    picture = folder / "figures/other/other-accuracy.svg"
    written = picture.read_text("utf-8")
    changed = re.sub("inputs=[0-9a-f]{16}", f"inputs={'0' * 16}", written)
    assert changed != written
    picture.write_text(changed, "utf-8")
    code, text = invoke("verify", pack(folder, tmp_path / "changed.zip"))
    assert code == 1
    named = "figures/other/other-accuracy.svg: it does not name the origin of other.md#other-accuracy"
    assert f"{named} in provenance.json" in text


@pytest.mark.slow
def test_a_frozen_archive_can_be_built_again(root: Path) -> None:
    """Its figures are the same but for the hashes of the data that they were drawn from."""
    frozen = archive(root, "frozen-again.zip", "--data", "frozen")
    code, text = invoke("verify", frozen, "--level", "rebuild", "--python", sys.executable)
    assert (code, text.splitlines()[-1]) == (0, "Built again: every figure is the same.")


@pytest.mark.parametrize(
    ("changes", "changed"),
    [
        ({"data/other.csv": RUNS.replace("0.84", "0.85")}, {"other.md#other-accuracy"}),
        ({"data/other/source.yml": None}, set()),
        ({"content/other.md": REPORT["content/other.md"] + "\nMore.\n"}, set()),
        (
            {"content/other.md": REPORT["content/other.md"].replace("title:", "smooth: 0.5\ntitle:")},
            {"other.md#other-accuracy"},
        ),
    ],
    ids=["a row", "nothing", "words", "a setting"],
)
def test_provenance_changes_with_what_is_behind_a_figure(
    root: Path, packed: Path, tmp_path: Path, changes: dict[str, str | None], changed: set[str]
) -> None:
    """And with nothing else."""
    copy = shutil.copytree(root, tmp_path / "changed")
    share_cache(root, copy)
    for name, content in changes.items():
        if content is not None:
            write_file(copy / name, content)
    git(copy, "commit", "--quiet", "--allow-empty", "-am", "Change")
    before, after = read_provenance(packed), read_provenance(archive(copy))
    assert {name for name in before if before[name] != after[name]} == changed


OBSERVED = {
    "mkdocs.yml": REPORT["mkdocs.yml"],
    "content/index.md": """# Observed

```curve
source: runs
metric: accuracy
id: line
```

```panels
source: runs
metrics: [accuracy, loss]
id: sides
```

```table
source: runs
metric: accuracy
id: ends
```

```scores
source: answers
id: dots
```

```comparison
source: answers
id: pairs
```

```passk
source: answers
id: tries
```

```comparison
sources: [answers, harder]
id: both
```

```scores
source: totals
id: reported
```
""",
    # A value that is missing, and a row that the last one replaces.
    "data/runs.csv": "model,seed,step,accuracy,loss\n"
    "A,0,1,0.1,2\nA,0,2,0.2,1\nA,1,1,0.2,2\nA,1,2,nan,1\nB,0,1,0.3,2\nB,0,2,0.4,1\nB,0,2,0.5,\n",
    "data/runs.source.yml": "repeat: last\n",
    # A quoted line end is no end of a row.
    "data/answers.csv": "model,problem,sample,score,answer\n"
    'A,p1,0,1,"one\nline"\nA,p1,1,0,x\nA,p2,0,1,x\nA,p2,1,1,x\n'
    "B,p1,0,0,x\nB,p1,1,0,x\nB,p2,0,,x\nB,p2,1,1,x\nB,p2,1,0,y\n",
    "data/harder.jsonl": "".join(
        f'{{"model": "{model}", "problem": "{problem}", "score": {score}}}\n'
        for model, problem, score in [("A", "h1", 1), ("A", "h2", 0), ("A", "h3", 0), ("B", "h1", 1)]
    ),
    "data/totals.csv": "model,benchmark,score,n\nA,Sums,0.5,20\nB,Sums,0.6,20\nC,Sums,0.7,20\n",
    "data/totals.source.yml": "form: totals\n",
}


def test_provenance_says_how_much_each_figure_was_computed_from(tmp_path: Path) -> None:
    """Rows of files, and series, runs, problems and what was left out, for every kind of figure and table."""
    root = write_report(tmp_path / "observed", OBSERVED)
    packed = tmp_path / "observed.zip"
    assert call(root, "archive", "--to", str(packed)).returncode == 0
    found = read_provenance(packed)
    files = {"runs.csv": 7, "answers.csv": 9, "harder.jsonl": 4, "totals.csv": 3}
    for one in found.values():
        tables = {file["path"]: file["rows"] for file in one["inputs"] if file["role"] == "data"}
        assert tables
        assert tables.items() <= {f"data/{name}": rows for name, rows in files.items()}.items()
    curves = {"series": 2, "runs": 3, "dropped": 1, "replaced": 1}
    answers = {"series": 2, "runs": 2, "problems": 2, "dropped": 1, "replaced": 1}
    expected = {
        "line": curves,
        "sides-1": curves,
        # The last loss of B is an empty cell of a wide table, so there is no row that replaces another.
        "sides-2": {"series": 2, "runs": 3, "dropped": 0, "replaced": 0},
        "ends": curves,
        "dots": answers,
        "dots-table": answers,
        "pairs-pairs": answers,
        "tries": answers,
        "both-table": {"series": 2, "runs": 4, "problems": 5, "dropped": 1, "replaced": 1},
        "reported": {"series": 3, "runs": 3},
        "reported-table": {"series": 3, "runs": 3},
    }
    assert {name: found[f"index.md#{name}"]["observed"] for name in expected} == expected


def test_data_can_be_frozen_or_left_out(root: Path) -> None:
    """A frozen archive still knows its statements; one without data says that it cannot."""
    frozen = archive(root, "frozen.zip", "--data", "frozen")
    with zipfile.ZipFile(frozen) as file:
        assert {"data/runs/data.parquet", "data/runs/source.yml"} <= set(file.namelist())
        assert "data/runs.csv" not in file.namelist()
    assert invoke("verify", frozen, "--level", "statements")[0] == 0
    bare = archive(root, "bare.zip", "--data", "none")
    with zipfile.ZipFile(bare) as file:
        assert not [name for name in file.namelist() if name.startswith("data/")]
    assert invoke("verify", bare)[0] == 0
    code, text = invoke("verify", bare, "--level", "statements")
    assert code == 2
    assert "it was archived without its data" in text


def test_the_site_can_be_packed_too(root: Path) -> None:
    """As it was built, for a release that is published."""
    whole = archive(root, "site.zip", "--site")
    with zipfile.ZipFile(whole) as file:
        assert {"site/index.html", "site/.nojekyll", "site/report.json"} <= set(file.namelist())


def test_the_tool_can_be_packed_too(root: Path, tmp_path: Path) -> None:
    """As a wheel, the same each time."""
    folder = unpack(archive(root, "tool.zip", "--tool"), tmp_path / "there")
    (wheel,) = folder.glob("*.whl")
    assert make_wheel() == (wheel.name, wheel.read_bytes())
    assert "pip install --no-index --no-deps mkdocs_reportgen-*.whl" in (folder / "README.txt").read_text()


@pytest.mark.slow
def test_the_packed_tool_can_be_installed(tmp_path: Path) -> None:
    """By pip, without network."""
    name, content = make_wheel()
    wheel = tmp_path / name
    wheel.write_bytes(content)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "new"], check=True)
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
    _, text = invoke("verify", folder, "--level", "rebuild", "--python", sys.executable)
    assert text.splitlines()[-1] == "Built again: every figure is the same."


def test_an_archive_is_a_state_for_a_review(root: Path, packed: Path, tmp_path: Path) -> None:
    """With its data it is read again; without them its numbers are compared."""
    copy = shutil.copytree(root, tmp_path / "changed")
    write_file(copy / "data/runs.csv", RUNS.replace("0.84", "0.64"))
    done = call(copy, "review", str(packed), "--out", "out", "--fail-on", "never")
    assert done.returncode == 0, done.stderr
    assert f"Before: {packed.stem}" in done.stdout
    assert "0.82" in done.stdout
    same = call(root, "review", str(packed), str(packed), "--out", str(tmp_path / "same"))
    assert "Nothing changed." in same.stdout


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"data/runs/source.yml": "x"}, ""),
        ({"content/.env": "TOKEN=1"}, ""),
        ({"content/deploy.key": "x"}, "content/deploy.key: error: by its name, this file holds credentials"),
        (
            {"content/notes.txt": "a\nghp_" + "a1" * 18 + "\n"},
            "content/notes.txt:2: error: this looks like a token of GitHub",
        ),
        (
            {"content/big.png": "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"},
            "content/big.png: error: it is a Git LFS pointer, not the file itself. Run git lfs pull.",
        ),
        ({"content/a\nb.txt": "x"}, "not every system can unpack this name"),
    ],
    ids=["unused", "hidden", "key", "token", "pointer", "newline"],
)
def test_what_may_not_be_packed_is_named(
    root: Path, tmp_path: Path, files: dict[str, str], said: str
) -> None:
    """And nothing is written then. Hidden files are not published, and so not archived either."""
    copy = shutil.copytree(root, tmp_path / "report")
    share_cache(root, copy)
    for name, content in files.items():
        if name != "data/runs/source.yml":
            write_file(copy / name, content)
    git(copy, "add", "-A")
    git(copy, "commit", "--quiet", "--allow-empty", "-m", "More")
    target = tmp_path / "out.zip"
    done = call(copy, "archive", "--to", str(target))
    assert (said in done.stderr) if said else (done.returncode == 0)
    assert target.exists() is not bool(said)
    if "--allow" in done.stderr:
        again = call(copy, "archive", "--to", str(target), "--allow", next(iter(files)))
        assert again.returncode == 0, again.stderr


def test_what_is_not_certain_is_a_warning(tmp_path: Path) -> None:
    """No repository, no date, no citation; --strict refuses it."""
    root = write_report(tmp_path / "bare", {"mkdocs.yml": SETTINGS})
    done = call(root, "archive", SOURCE_DATE_EPOCH="")
    assert done.returncode == 0
    assert "the report is in no git repository" in done.stderr
    assert "the report has no date" in done.stderr
    assert "Add citation: to the reportgen plugin" in done.stderr
    with zipfile.ZipFile(root / "bare.zip") as file:
        assert "CITATION.cff" not in file.namelist()
    assert call(root, "archive", "--strict").returncode == 1


def test_one_file_is_written_alone(root: Path, tmp_path: Path) -> None:
    """Without an archive around it."""
    done = call(root, "archive", "--one-file", str(tmp_path / "report.html"))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html"]


def test_data_outside_of_the_report_are_named(tmp_path: Path) -> None:
    """They cannot be unpacked to where they were; without data the archive can be made."""
    files = {name: content for name, content in REPORT.items() if not name.startswith("data/")}
    settings = SETTINGS.replace("[reportgen]", "[{reportgen: {data_dir: ../shared}}]")
    root = write_report(tmp_path / "report", {**files, "mkdocs.yml": settings, "data/runs.csv": None})
    write_file(tmp_path / "shared" / "runs.csv", RUNS)
    write_file(tmp_path / "shared" / "other.csv", RUNS)
    done = call(root, "archive")
    assert done.returncode == 1
    assert "../shared/runs.csv: error: it lies outside the folder of the report" in done.stderr
    assert not (root / "report.zip").exists()
    assert call(root, "archive", "--data", "none").returncode == 0


def test_a_file_that_changes_meanwhile_is_named(tmp_path: Path) -> None:
    """What is packed is what the report was drawn from."""
    path = tmp_path / "runs.csv"
    path.write_text(RUNS)
    with pytest.raises(ReportError, match=r"data/runs\.csv: the file changed while it was archived"):
        hash_members([Member("data/runs.csv", path, hashlib.sha256(b"other").hexdigest())])


@pytest.mark.parametrize("date", ["0", "1", "4294967295"], ids=["none", "1970", "2106"])
def test_no_date_is_too_early_or_too_late(tmp_path: Path, date: str) -> None:
    """Zip files know years from 1980 to 2107."""
    root = write_report(tmp_path / "report", {"mkdocs.yml": SETTINGS})
    done = call(root, "archive", SOURCE_DATE_EPOCH=date)
    assert done.returncode == 0, done.stderr
    assert invoke("verify", root / "report.zip")[0] == 0
