"""Readers of other packages: the package of the guide, and packages that fail or claim what others read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import command_line
import pytest
from command_line import call, run
from made_projects import write_file, write_report

if TYPE_CHECKING:
    from made_projects import Install

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "content/guide/own-format.md").read_text(encoding="utf-8")
LOG, SETTINGS, CODE = (
    re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
    for kind in ("text", "toml", "python")
)
ENTRY = "[reportgen.readers]\nacme = acme_reports:READER\n"
RUNS = {f"data/logs/{seed}.acme": LOG.replace('"seed": 1', f'"seed": {seed}') for seed in (1, 2)}


def describe(root: Path, path: str = "data/logs") -> dict[str, Any]:
    """Return what is said of the runs."""
    return command_line.describe(root, path)


def test_the_package_of_the_guide_reads(tmp_path: Path, install: Install) -> None:
    """Runs, seeds and values of its files, by ``describe`` and by a page that ``add`` wrote."""
    install(CODE, ENTRY)
    root = write_report(tmp_path / "report", RUNS)
    described = describe(root)
    assert (described["format"], described["series"]) == ("acme", ["MEL"])
    assert [(run["seed"], run["values"]) for run in described["runs"]] == [("1", 2), ("2", 2)]
    assert call(root, "add", "data/logs", "--page").returncode == 0
    done = call(root, "check")
    assert (done.returncode, done.stderr.count("warning")) == (0, 0), done.stdout + done.stderr


def test_a_torn_file_of_the_package_is_named(tmp_path: Path, install: Install) -> None:
    """What it leaves out is a warning with the line; a file without values leaves the others."""
    install(CODE, ENTRY)
    files = {"data/logs/1.acme": LOG + "20 accuracy\n", "data/logs/2.acme": '{"acme": 1}\n'}
    problems = describe(write_report(tmp_path, files))["problems"]
    assert [(one["file"], one.get("line")) for one in problems] == [
        ("data/logs/2.acme", None),
        ("data/logs/1.acme", 4),
    ]


PLAIN = """from reportgen.readers import Evaluation, LoggedRun, Points, Reader, Total
def read(unit):
    if unit.path.stem != "m":
        metrics = {"a": Points([0, 1], [1, 0.5])}
        yield LoggedRun(unit.path, config={"seed": 2, "b": {"c": [1]}}, metrics=metrics)
    else:
        yield Evaluation(unit.path, unit.path.stem, "gsm8k", totals=[Total("acc", 1)])
READER = Reader("logs", files=("*.acme",), read=read)
"""
APART = """from reportgen.readers import Reader
READER = Reader("logs of Acme", files=("*.acme",), series_from="model")
"""
FAILING = {
    "import": ("import nowhere_to_be_found", "cannot be loaded: ModuleNotFoundError"),
    "syntax": ("def read(:", "cannot be loaded: SyntaxError"),
    "name": ("reader = 1", "cannot be loaded: AttributeError"),
    "type": ("READER = {'files': ['*.acme']}", "no Reader of reportgen.readers"),
    "other version": (
        CODE.replace('Reader("logs', 'Reader(logs=1, title="logs'),
        "Unexpected keyword argument 'logs'",
    ),
    "pattern": (CODE.replace('files=("*.acme",)', 'files="*.acme"'), "files is a tuple of patterns"),
    "read": (CODE.replace("metrics.build()", "metrics.make()"), 'failed: AttributeError: .*"?make'),
    "yield": (CODE.replace("yield LoggedRun", "yield dict"), "failed: "),
    "values": (CODE.replace("metrics.build()", "{'a': [1.0]}"), "failed: "),
    "length": (PLAIN.replace("[1, 0.5]", "[1]"), "not of one length"),
    "exit": (CODE.replace("(path,) = unit.files", "raise SystemExit(3)"), "failed: SystemExit: 3"),
    "find": (CODE.replace("read=read", "read=read, find=lambda files: files"), "failed: "),
}


def test_what_a_package_yields_may_be_plain(tmp_path: Path, install: Install) -> None:
    """Lists of numbers, nested settings, and totals of an evaluation."""
    install(PLAIN, ENTRY)
    described = describe(write_report(tmp_path / "a", {"data/logs/2.acme": "x"}))
    assert described["runs"][0] | {"config": {"seed": 2, "b.c": "[1]"}, "values": 2} == described["runs"][0]
    described = describe(write_report(tmp_path / "b", {"data/logs/m.acme": "x"}))
    assert [(one["series"], one["value"]) for one in described["totals"]] == [("m", 1.0)]


@pytest.mark.parametrize(("name", "code"), [("acme", ""), ("reading", ', code=".reading"')])
def test_what_reads_may_be_a_module_of_its_own(
    name: str, code: str, tmp_path: Path, install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named after the entry point or by ``code``, and imported only if a file has the name."""
    install("", ENTRY.replace("acme_reports", "acme_apart"), "acme-apart")
    folder = tmp_path / "environment"
    (folder / "acme_apart.py").unlink()
    write_file(folder / "acme_apart/__init__.py", APART.replace(', series_from="model"', code))
    write_file(folder / f"acme_apart/{name}.py", CODE.partition("READER =")[0])
    for module in ("acme_apart", f"acme_apart.{name}"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    root = write_report(tmp_path / "report", {**RUNS, "data/a.csv": "step,loss\n1,0.5\n"})
    assert describe(root, "data/a.csv")["problems"] == []
    assert f"acme_apart.{name}" not in sys.modules
    assert [run["values"] for run in describe(root)["runs"]] == [2, 2]


@pytest.mark.parametrize("kind", FAILING)
def test_a_package_that_fails_is_one_error(kind: str, tmp_path: Path, install: Install) -> None:
    """It names the package, and nothing is printed of how reportgen works inside."""
    code, expected = FAILING[kind]
    install(code, ENTRY)
    root = write_report(
        tmp_path / "report", {**RUNS, "content/index.md": "```curve\nsource: logs\ntitle: A\n```\n"}
    )
    for words in (("check",), ("describe", "data/logs")):
        done = call(root, *words)
        said = done.stdout + done.stderr
        assert done.returncode == 1
        assert "Traceback" not in said
        assert said.count("acme-reports 1.0") >= 1, said
        assert re.search(expected, " ".join(said.split())), said


def test_a_file_that_two_readers_take_is_an_error(tmp_path: Path, install: Install) -> None:
    """It names both, and the line that it says to write is followed."""
    install(CODE.replace("*.acme", "*.jsonl").replace('keys=("acme",)', 'keys=("step",)'), ENTRY)
    row = '{"step": 1, "data": {"accuracy": 0.5}}\n'
    root = write_report(tmp_path / "report", {"data/logs/a.jsonl": row, "content/index.md": "# Empty\n"})
    (problem,) = describe(root)["problems"]
    assert problem["file"] == "data/logs/a.jsonl"
    both = "JSON Lines of trainers (verl and others) (step_json) and logs of Acme (acme, of acme-reports 1.0)"
    assert problem["message"] == f"two readers take this file: {both}"
    assert problem["next"] == "Write format: step_json or format: acme in source.yml"
    write_file(root / "data/logs/source.yml", "format: step_json\n")
    assert [describe(root)[key] for key in ("format", "problems")] == ["step_json", []]


def test_two_packages_with_one_name_are_an_error(tmp_path: Path, install: Install) -> None:
    """Neither takes the place of the other, nor that of a reader of reportgen."""
    install(CODE, ENTRY)
    install(CODE, ENTRY.replace("acme_reports", "other_reports"), "other-reports")
    done = call(write_report(tmp_path / "report"), "check")
    assert done.returncode == 1
    expected = (
        '"acme" is provided by two packages, acme-reports 1.0 and other-reports 1.0. Uninstall one of the two'
    )
    assert expected in " ".join((done.stdout + done.stderr).split())


def test_a_format_is_a_name_of_a_reader(tmp_path: Path, install: Install) -> None:
    """A name that is none is an error in its line, with the nearest."""
    install(CODE, ENTRY)
    root = write_report(tmp_path, {**RUNS, "data/logs/source.yml": "# Runs\nformat: acne\n"})
    (problem,) = describe(root)["problems"]
    assert (problem["file"], problem["line"]) == ("data/logs/source.yml", 2)
    assert "acme" in problem["next"]


def test_an_archive_names_the_packages_with_readers(tmp_path: Path, install: Install) -> None:
    """Whoever builds it again needs them."""
    install(CODE, ENTRY)
    page = "# Logs\n\n```curve\nsource: logs\ntitle: Accuracy\n```\n"
    root = write_report(tmp_path / "report", {**RUNS, "content/index.md": page})
    assert call(root, "archive", "--to", str(tmp_path / "a.zip")).returncode == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("requirements.txt"))
        assert "may need the readers and blocks of acme-reports 1.0" in packed.read(name).decode()


def test_another_version_of_a_package_reads_again(tmp_path: Path, install: Install) -> None:
    """What is cached is what this code has read."""
    install(CODE, ENTRY)
    root = write_report(tmp_path / "report", RUNS)
    assert describe(root)["series"] == ["MEL"]
    install(CODE.replace("flatten(config)", 'flatten({**config, "model": "GRPO"})'), ENTRY)
    os.utime(tmp_path / "environment/acme_reports.py")
    assert describe(root)["series"] == ["GRPO"]


@pytest.mark.parametrize("path", [{}, {"PYTHONPATH": "."}], ids=["module", "path"])
def test_a_checkout_brings_no_reader(path: dict[str, str], tmp_path: Path) -> None:
    """What lies in the working folder is not installed, whether the report is untrusted or not."""
    root = write_report(tmp_path, RUNS)
    write_file(root / "acme_reports.py", "raise SystemExit('it ran')\n")
    write_file(root / "acme_reports-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: a\nVersion: 1\n")
    write_file(root / "acme_reports-1.0.dist-info/entry_points.txt", ENTRY)
    done = run(root, "describe", "data/logs", **path)
    assert "it ran" not in done.stdout + done.stderr
    assert "acme" not in run(root, "describe", "data/runs.csv", "--format", "json", **path).stdout


def write_wheel(folder: Path) -> Path:
    """Write what a build of the guide's package makes of its two files, for which a network is needed."""
    project = tomllib.loads(SETTINGS)["project"]
    groups = project["entry-points"].items()
    lines = [f"[{group}]\n{name} = {value}" for group, points in groups for name, value in points.items()]
    information = f"acme_reports-{project['version']}.dist-info"
    members = {
        "acme_reports.py": CODE,
        f"{information}/METADATA": "Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n".format(
            **project
        ),
        f"{information}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{information}/entry_points.txt": "\n".join(lines),
    }
    members[f"{information}/RECORD"] = "".join(f"{name},,\n" for name in members)
    wheel = folder / f"acme_reports-{project['version']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return wheel


@pytest.mark.slow
def test_the_package_of_the_guide_installs(tmp_path: Path) -> None:
    """Into a new environment beside reportgen, without a network; there a report of its files is built."""
    root = write_report(tmp_path / "report", RUNS)
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=True)
    python = environment / "bin/python"
    # Everything else comes from where the tests run, also what a file of paths puts there.
    outer = [path for path in map(Path, sys.path) if path.name == "site-packages"]
    (libraries,) = environment.glob("lib/*/site-packages")
    write_file(
        libraries / "outer.pth", "\n".join(f"import site; site.addsitedir({str(one)!r})" for one in outer)
    )
    pip = (str(python), "-m", "pip", "install", "--quiet", "--no-index", "--no-deps")
    subprocess.run([*pip, str(write_wheel(tmp_path))], check=True)

    def call_there(*words: str) -> subprocess.CompletedProcess[str]:
        command = (str(python), "-m", "reportgen", *words)
        return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)

    said = json.loads(call_there("describe", "data/logs", "--format", "json").stdout)
    assert (said["result"]["format"], said["diagnostics"]) == ("acme", [])
    assert call_there("add", "data/logs", "--page").returncode == 0
    done = call_there("build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "0.84" in (root / "site/logs/index.html").read_text(encoding="utf-8")
