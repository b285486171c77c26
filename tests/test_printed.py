"""What commands print: no order to a terminal or a workflow, what fits a terminal, all of long tables."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import command_line
import duckdb
import jsonschema  # type: ignore[import-untyped]
import pytest
from click.testing import CliRunner
from command_line import ask, call, run_on_terminal
from made_files import KINDS
from made_projects import PAGE, RUNS, SETTINGS, files_below, write_file, write_report
from tries import slow_after, tries

from reportgen.cli.main import cli
from reportgen.core.cache import cache_folder

if TYPE_CHECKING:
    from pathlib import Path

# Parts of names, each with what a terminal or a log would obey.
HOSTILE: Final = (
    "\n::error::x",
    "\n ::add-mask::a",
    "::warning file=a::b",
    "##[error]x",
    "##vso[task.setvariable]x",
    "\x1b[31mred",
    "\x1b]8;;https://example.org\x07link\x1b]8;;\x07",
    "\x9b2J",
    "a\rb",
    "a\u2028::error::b",
    "\u202eright to left\u2066",
    "\u2029b",
    "\x7f\x85",
)
OWN_CODES: Final = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r(?=[\x1b\n]|\Z)")
# A folder on a path takes at most 255 bytes, and no slash; what a line begins with comes first in one.
FILE_NAMES: Final = tuple(
    "".join(names).replace("/", "_")
    for names in (HOSTILE[:2], HOSTILE[2:3], HOSTILE[3:4], HOSTILE[4:9], HOSTILE[9:])
)


def assert_harmless(output: str, *, commands: bool = False) -> None:
    """No line that a workflow obeys, and no character that a terminal obeys.

    Args:
        output: what was printed.
        commands: whether annotations are what was asked for.
    """
    for line in output.split("\n"):
        if not commands:
            assert not line.lstrip().startswith("::"), line
        assert not re.search(r"##\w*\[", line), line
        kinds = {character: unicodedata.category(character) for character in line}
        obeyed = {character for character, kind in kinds.items() if kind in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
        assert not obeyed, line
    assert "Traceback" not in output


def hostile_report(root: Path) -> Path:
    """A report with a hostile name in every place that a pull request can give one."""
    rows = [
        f'"{name}",{seed},{step},{0.1 + 0.05 * number + 0.01 * step + 0.001 * seed}'
        for number, name in enumerate(HOSTILE)
        for seed in (1, 2)
        for step in (0, 10, 20)
    ]
    answers = [
        f'"{name}",{problem},{(number + problem) % 2}'
        for number, name in enumerate(HOSTILE)
        for problem in range(9)
    ]
    links = "\n\n".join(f"[q](a{quote(name)}.md)" for name in HOSTILE)
    blocks = "```curve\nid: c\nsource: runs\n```\n\n```scores\nsource: answers\n```\n"
    files = {
        "data/runs.csv": "\n".join(["series,seed,step,accuracy", *rows, ""]),
        "data/answers.csv": "\n".join(["series,problem,score", *answers, ""]),
        "content/index.md": f"# A\n\n{links}\n\n{blocks}",
    }
    for name in FILE_NAMES:
        statement = '[0.5]{value="peak(MEL)" of="plain"}'
        link = f"[q](no{quote(name)}.md)"
        block = "```curve\nsource: plain\n```\n"
        files[f"content/{name}/{name}.md"] = f"# B\n\n{statement}\n\n{link}\n\n{block}"
        files[f"data/{name}/{name}.csv"] = "series,step,accuracy\nA,0,1\nA,1,x\n"
    files["data/plain.csv"] = RUNS
    return write_report(root, files)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report, which nobody changes but by building it."""
    return hostile_report(tmp_path_factory.mktemp("printed"))


CALLS: Final = (
    ("build", "--force", "--strict"),
    ("check",),
    ("check", "--format", "github"),
    ("check", "--format", "json"),
    ("check", "--format", "sarif"),
    ("facts", "runs"),
    ("facts", "answers"),
    ("facts", "--observations", "runs"),
    ("facts", "--observations", "answers"),
    ("describe", "data"),
    ("describe", "data/runs.csv"),
    ("describe", "data/answers.csv"),
    ("describe", "data/runs.csv", "--format", "json"),
    ("describe", "content"),
    ("fix",),
    ("context",),
)


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_names_of_a_report(report: Path, words: tuple[str, ...]) -> None:
    """Of files, folders, links, series and columns, as every command prints them into a pipe."""
    done = call(report, *words)
    assert_harmless(done.stdout, commands="github" in words)
    assert_harmless(done.stderr)
    assert done.returncode in {0, 1}
    assert len(done.stdout + done.stderr) > 60


@pytest.mark.parametrize("words", [CALLS[0], CALLS[7], CALLS[10], ("fix",)], ids=" ".join)
def test_names_on_a_terminal(report: Path, words: tuple[str, ...]) -> None:
    """Where colours and progress are shown, nothing but these gives the terminal orders."""
    shown = run_on_terminal(report, *words)
    assert_harmless(OWN_CODES.sub("", shown))


@pytest.mark.parametrize("name", FILE_NAMES, ids=ascii)
def test_names_on_the_command_line(report: Path, tmp_path: Path, name: str) -> None:
    """A path that is described, frozen, begun or missing; what click says of a call is printed as well."""
    (tmp_path / name).write_text("not a folder", encoding="utf-8")
    calls = (
        ("describe", f"data/{name}"),
        ("describe", f"data/{name}/{name}.csv"),
        ("describe", f"data/{name}/{name}.csv", "--format", "json"),
        ("describe", f"no{name}"),
        ("freeze", f"data/{name}/{name}.csv", "--to", str(tmp_path / f"to{name}")),
        ("freeze", "data/plain.csv", "--to", str(tmp_path / f"plain{name}")),
        ("facts", name),
        ("facts", "plain", "-m", name),
        ("facts", "--observations", name),
        ("build", "-f", name),
        (name,),
        ("build", f"--{name}"),
        ("build", name),
        ("schema", name),
        ("init", str(tmp_path / f"new{name}")),
        ("init", str(tmp_path / name)),
        ("init", str(tmp_path / name / "below")),
    )
    runner = CliRunner()
    with contextlib.chdir(report):
        for call in calls:
            done = runner.invoke(cli, call)
            assert_harmless(done.output)
            assert done.exception is None or isinstance(done.exception, SystemExit), call


def test_names_while_serving(report: Path) -> None:
    """What MkDocs says while it serves is printed by us; then a browser is opened."""
    command = [sys.executable, "-u", "-m", "reportgen", "serve", "--open", "-a", "127.0.0.1:0"]
    surroundings = {**os.environ, "BROWSER": "sh -c 'echo a browser opened' %s"}
    said = ""
    with subprocess.Popen(
        command, cwd=report, env=surroundings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as serving:
        assert serving.stdout is not None
        for line in serving.stdout:
            said += line
            if "a browser opened" in line:
                break
        serving.terminate()
    assert "contains a link" in said
    assert "Serving on" in said
    assert_harmless(said)


def test_a_patch_names_its_page_as_git_does(tmp_path: Path) -> None:
    """A line feed in the name of a page begins no line of the patch, and git applies it."""
    name = 'a\n::error::é "b\\.md'
    page = '# A\n\n[0.5]{value="peak(MEL)"}\n\n```curve\nsource: runs\n```\n'
    root = write_report(tmp_path, {f"content/{name}": page})
    done = call(root, "fix")
    assert_harmless(done.stdout)
    subprocess.run(["git", "apply"], cwd=root, input=done.stdout, text=True, check=True)  # noqa: S607 - any git
    assert "[0.8]" in (root / "content" / name).read_text(encoding="utf-8")


# ---- what describe shows, keeps and counts -----------------------------------------------------------------

TABLE = "model,seed,step,loss,acc\nA,1,0,2.5,\nA,1,10,1.25,0.2\nB,1,0,2,0.1\nB,1,10,1,0.2\n"
SHAPES = {
    "long": ("model,step,metric,value", ("A,0,loss,1", "A,1,loss,2")),
    "wide": ("model,step,loss", ("A,0,1", "A,1,2")),
    "outcomes": ("model,problem,correct", ("A,p,1", "A,q,0")),
    "totals": ("model,benchmark,score", ("A,x,1", "B,x,0")),
    "chart": ("Step,A - acc,A - acc__MIN,A - acc__MAX", ("0,1,1,1", "1,2,2,2")),
}


def describe(folder: Path, path: str) -> dict[str, Any]:
    """What is said of a path, as JSON."""
    return command_line.describe(folder, path)


def test_a_narrow_terminal_keeps_what_matters(tmp_path: Path) -> None:
    """What is read is shown; columns that have no room are named, and those that stay are not squeezed."""
    for name in ("a-name-that-goes-on-and-on", "another-name-that-goes-on"):
        rows = [{"acc": row, "_timestamp": 1_767_225_600 + 60 * row} for row in (0, 1)]
        lines = [json.dumps(line) for line in ({"id": name, "name": name, "config": {"seed": 1}}, *rows, 0)]
        log = tmp_path / "deep/folder" / name / f"run-{name}/run-{name}.wandb"
        write_file(log, KINDS["wandb"]("\n".join(lines)))
    said = run_on_terminal(tmp_path, "describe", "deep", COLUMNS="200")
    assert "Reading file 2: run-another" in said
    assert "wider" not in said
    said = run_on_terminal(tmp_path, "describe", "deep", NO_COLOR="1", TERM="dumb", COLUMNS="64")
    (line,) = (line for line in said.split("\n") if line.startswith("a-name-that"))
    assert line.split()[-3:] == ["0", "to", "1"]
    assert "A wider terminal has room for: metrics, logged (UTC) and where." in said
    assert "Reading" not in call(tmp_path, "describe", "deep").stdout


@pytest.mark.parametrize("place", ["mine", "report/data/deep/mine"])
def test_what_was_counted_is_not_counted_again(tmp_path: Path, place: str) -> None:
    """In the cache of the report or folder; no file is written there, and a changed one is read again."""
    root = write_report(tmp_path / "report")
    table = tmp_path / place / "a.csv"
    write_file(table, TABLE)
    cache = cache_folder(root if "report" in place else table.parent)
    before = files_below(tmp_path)
    first = describe(tmp_path, f"{place}/a.csv")
    stored = sorted(cache.glob("??/*"))
    assert stored
    assert describe(tmp_path, f"{place}/a.csv") == first
    assert sorted(cache.glob("??/*")) == stored
    assert files_below(tmp_path) == before
    table.write_text(table.read_text("utf-8").replace("loss", "mass"), "utf-8")
    assert describe(tmp_path, f"{place}/a.csv")["metrics"] != first["metrics"]


def test_every_series_of_a_long_file_is_counted(tmp_path: Path) -> None:
    """Also those that a sample of the rows does not meet, and metrics that few rows have."""
    names = [f"series {place:04}" for place in range(400)]
    rows = [f"{name},{step},loss,1\n" for name in names for step in range(60)]
    rows.insert(len(rows) * 2 // 3 + 7, "series 0007,0,once,1\n")
    write_file(tmp_path / "long.csv", "model,step,metric,value\n" + "".join(rows))
    cells = (f"{name},{step},1\n" for name in names for step in range(60))
    write_file(tmp_path / "wide.csv", "model,step,loss\n" + "".join(cells))
    for name, metrics in (("long.csv", {"loss": 24_000, "once": 1}), ("wide.csv", {"loss": 24_000})):
        described = describe(tmp_path, name)
        assert described["series"] == names
        assert len(described["runs"]) == 400
        assert {one["name"]: one["values"] for one in described["metrics"]} == metrics
    far = "".join(
        json.dumps({"model": "A", "step": step, "metric": "loss", "value": 1}) + "\n"
        for step in range(60_000)
    )
    write_file(
        tmp_path / "far.jsonl",
        far.replace('"step": 30000, "metric": "loss"', '"step": 30000, "metric": "lo\\u0000ss"'),
    )
    assert "NUL" in call(tmp_path, "describe", "far.jsonl").stdout


@pytest.mark.parametrize("ending", slow_after(1, ["csv", "parquet", "jsonl", "json"]))
@pytest.mark.parametrize("shape", SHAPES)
def test_a_column_without_values(tmp_path: Path, shape: str, ending: str) -> None:
    """In all rows or in the last one; whatever column it is, it is read and frozen, or refused in words."""
    header, full = SHAPES[shape]
    options = {"jsonl": "FORMAT json", "json": "FORMAT json, ARRAY true", "parquet": "FORMAT parquet"}
    for place in range(header.count(",") + 1):
        for first, word in ((0, ""), (1, "nan"), (1, ""), (0, "nan"))[: tries(2, 4)]:
            rows = [row.split(",") for row in full]
            for row in rows[first:]:
                row[place] = word
            path = tmp_path / f"{place}{first}{word}" / f"a.{ending}"
            table = path.with_suffix(".csv")
            write_file(table, "\n".join([header, *map(",".join, rows), ""]))
            write_file(path.with_name("a.source.yml"), "form: totals\n" if shape == "totals" else "")
            if ending != "csv":
                duckdb.sql(f"COPY (FROM read_csv('{table}', header=true)) TO '{path}' ({options[ending]})")
                table.unlink()
            described = describe(path.parent, path.name)
            assert described["kind"] in {"", "measurements", "outcomes", "totals"}
            errors = [
                one
                for one in described["problems"]
                if one["severity"] == "error" and ("repeat:" not in one["next"] or shape == "totals")
            ]
            done = call(path.parent, "freeze", path.name, "--to", "cold")
            assert (done.returncode != 0) == bool(errors), done.stderr


# ---- one envelope for every command ------------------------------------------------------------------------

STATED: Final = {
    "data/runs.csv": f"{RUNS}GRPO,2,20",
    "data/answers.csv": "series,problem,score\n"
    + "".join(f"A,{item},{item % 2}\nB,{item},{item // 2 % 2}\n" for item in range(9)),
    "content/index.md": PAGE + '\nMEL ends at [0.5]{value="final(MEL)"}. GRPO ends at 0.72.\n',
    "hub.yml": "title: All\nreports: [{name: one, from: site}]\n",
    "other/b.csv": RUNS,
}
# Of each command a call that answers, how many diagnostics that has at least, and a call that is refused.
ANSWERS: Final = {
    "init": ("init new", 0, "init data"),
    "add": ("add other/b.csv", 0, "add nothing"),
    "build": ("build", 2, "build --strict"),
    "check": ("check --unbound", 2, "check --fast"),
    "fix": ("fix", 0, "fix -f no.yml"),
    "bind": ("bind", 0, "bind -f no.yml"),
    "facts": ("facts runs --find 0.82", 0, "facts nothing"),
    "skills": ("skills add", 0, "skills add --to data/runs.csv"),
    "plan": ("plan answers", 0, "plan runs"),
    "review": ("review site site", 0, "review nothing"),
    "publish": ("publish --main site --to public", 0, "publish --main data --to public"),
    "hub": ("hub --to all", 0, "hub no.yml --to all"),
    "archive": ("archive --to a.zip --no-live", 2, "archive --to a.zip --strict"),
    "verify": ("verify a.zip", 0, "verify a.zip --in hub.yml"),
    "cite": ("cite", 0, "cite -f no.yml"),
    "export": ("export --as csv --to out", 1, "export --as eee --to out"),
    "context": ("context", 0, "context nothing"),
    "describe": ("describe data/runs.csv", 1, "describe nothing"),
    "freeze": ("freeze data/runs.csv --to frozen", 1, "freeze nothing"),
    "schema": ("schema curve", 0, "schema nothing"),
}
NO_ENVELOPE: Final = {"serve"}  # it answers until it is stopped


@pytest.fixture(scope="module")
def stated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with a torn line and a wrong number."""
    settings = SETTINGS.replace("[reportgen]", "[{reportgen: {citation: {authors: [{name: Ann Lee}]}}}]")
    return write_report(tmp_path_factory.mktemp("stated"), {**STATED, "mkdocs.yml": settings})


def test_every_command_prints_its_envelope(stated: Path) -> None:
    """Whether it answers, warns or is refused; it follows its schema, and nothing else is printed."""
    assert {*ANSWERS} == {*cli.commands} - NO_ENVELOPE
    schemas = json.loads(call(stated, "schema").stdout)
    assert {"curve", "panels", "table", "overview", "vega-lite", "altair", "source"} <= schemas.keys()
    assert ask(stated, "schema", "curve")["result"]["schemas"] == {"curve": schemas["curve"]}
    for command, (answered, found, refused) in ANSWERS.items():
        schema = jsonschema.Draft202012Validator(schemas[f"envelope {command}"])
        for words in (answered, refused):
            done = call(stated, *words.split(), "--format", "json")
            said = json.loads(done.stdout)
            schema.validate(said)
            assert (done.stderr, said["command"]) == ("", command), words
            assert said["ok"] == (done.returncode == 0), words
            assert (said["result"] is None) == (words == refused), words
            assert len(said["diagnostics"]) >= (found if words == answered else 1), words


def test_a_context_has_two_thousand_tokens(tmp_path: Path) -> None:
    """Of four characters each, however much a report has; what is cut is counted, and the same each time."""
    many = {f"content/{number}.md": f"# Page {number} {'long ' * 20}\n" for number in range(200)}
    root = write_report(tmp_path, {**many, **{f"data/unused{number}.csv": RUNS for number in range(200)}})
    said, envelope = call(root, "context").stdout, call(root, "context", "--format", "json").stdout
    assert len(said) <= 8_000
    assert len(envelope) <= 8_000
    found = json.loads(envelope)["result"]
    whole = {name: len(found[name]) + count for name, count in found["left_out"].items()}
    assert whole == {"pages": 201, "unused": 200}
    assert "more: reportgen" in said
    assert call(root, "context").stdout == said
