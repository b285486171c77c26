"""``reportgen freeze``: a source as one Parquet file that says the same, with where it came from."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_folders import KINDS, TABLE, made
from made_projects import write_file, write_report
from test_describe_command import known

from reportgen.settings.loading import load_source_settings
from reportgen.site.sources.freezing import TOOL

if TYPE_CHECKING:
    from pathlib import Path

OUTCOMES = "model,benchmark,problem,sample,correct,level\n" + "".join(
    f"{model},{benchmark},p{problem:03},{sample},{'' if problem == 3 else problem % 7 < skill},{problem % 2}"
    "\n"
    for model, skill in (("Aspen", 6), ("Birch", 2))
    for benchmark in ("maths", "code")
    for problem in range(20)
    for sample in range(2)
).replace("True", "correct").replace("False", "incorrect")
LONG = "name,run,step,metric,value\n" + "".join(
    f"{series},{run},{step},{metric},{(step + 1) * rate}\n"
    for series, rate in (("A", 0.5), ("B", 0.25))
    for run in (1, 2, 3)
    for metric in ("loss", "eval/acc")
    for step in (0, 10, 10, 20)
)
DATED = "series,date,value\n" + "".join(f"A,2024-05-{day:02},{day}\n" for day in range(1, 29))
CHART = '"trainer/global_step","A - acc","A - acc__MIN","A - acc__MAX"\n' + "".join(
    f'"{step}","{step / 7}","{step / 8}","{step / 6}"\n' for step in range(9)
)
GIVEN = "method,step,acc,acc_stderr\n" + "".join(f"M,{step},{step / 9},0.01\n" for step in range(9))


def frozen(folder: Path, *words: str) -> str:
    """What a freezing that goes well prints."""
    done = call(folder, "freeze", *words)
    assert (done.returncode, "error: " in done.stderr) == (0, False), done.stderr
    return done.stdout


SOURCES = {
    "wide": ({"a.csv": TABLE}, ("--metric", "acc")),
    "long": ({"a.csv": LONG}, ("--metric", "eval/acc")),
    "several": (
        {"A.csv": TABLE[:60], "sub/B.csv": TABLE, "source.yml": "repeat: last\n"},
        ("--metric", "loss"),
    ),
    "renamed": (
        {
            "a.csv": LONG,
            "source.yml": "rename: {A: Aspen}\nrename_metrics: {loss: training loss}\n"
            "filter: {run: [1, 2]}\n",
        },
        ("--metric", "training loss"),
    ),
    "dated": ({"a.csv": DATED, "source.yml": "columns: {step: date}\n"}, ()),
    "given": ({"a.csv": GIVEN}, ()),
    "chart": ({"a.csv": CHART}, ("--metric", "acc")),
    "maths": ({"a.csv": OUTCOMES}, ("--benchmark", "maths")),
}


@pytest.mark.parametrize("name", SOURCES)
def test_facts_of_a_frozen_source_are_the_same(tmp_path: Path, name: str) -> None:
    """Every fact, to the last digit that is told."""
    files, asked = SOURCES[name]
    root = write_report(tmp_path / "report", {f"data/{name}/{file}": text for file, text in files.items()})
    frozen(root, f"data/{name}", "--to", "data/cold")
    own = call(root, "facts", name, *asked)
    other = call(root, "facts", "cold", *asked)
    assert (own.returncode, other.returncode) == (0, 0), own.stderr + other.stderr
    assert own.stdout.count("\n") > 10
    assert other.stdout.split("\n", 1)[1] == own.stdout.split("\n", 1)[1]
    assert other.stdout.startswith("cold: ")


ASKED = {
    **dict.fromkeys(("chart", "mapped", "wandb"), ("--metric", "acc")),
    "trainer_state": ("--metric", "loss"),
    "console": ("--metric", "val-core/acc/mean@4"),
    **dict.fromkeys(("outcomes", "lm_eval", "answers"), ()),
}


@pytest.mark.parametrize("kind", ASKED)
def test_facts_of_what_was_imported_are_the_same(tmp_path: Path, kind: str) -> None:
    """Also of charts of W&B, mapped files, loggers and harnesses."""
    root = write_report(tmp_path / "report")
    made(root / "data", kind)
    frozen(root, f"data/{kind}", "--to", "data/cold")
    own, other = call(root, "facts", kind, *ASKED[kind]), call(root, "facts", "cold", *ASKED[kind])
    assert (own.returncode, other.returncode) == (0, 0), own.stderr + other.stderr
    assert own.stdout.count("\n") > 3
    assert other.stdout.split("\n", 1)[1] == own.stdout.split("\n", 1)[1]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_described_is_the_same(tmp_path: Path, kind: str) -> None:
    """Runs, metrics and evaluations with all counts, also of repeated and missing values."""
    path = made(tmp_path, kind)
    if kind == "reported":
        (tmp_path / path / "source.yml").write_text("form: totals\n")
    frozen(tmp_path, path, "--to", "cold")
    before, after = known(tmp_path, path), known(tmp_path, "cold")
    for run_told in (*before["runs"], *after["runs"]):
        del run_told["path"], run_told["config"]
    for key in ("kind", "series", "runs", "metrics", "evaluations"):
        assert after[key] == before[key], key
    # Of answers the totals of their harness are not kept, and of totals only those that were chosen.
    assert all(one in before["totals"] for one in after["totals"])
    assert bool(after["totals"]) == (kind in {"totals", "reported"})
    assert after["problems"] == []


def test_the_chosen_score_of_an_evaluation_is_the_one_that_is_left(tmp_path: Path) -> None:
    """What chose it names nothing any more, and is gone."""
    path = made(tmp_path, "lm_eval")
    (tmp_path / path / "source.yml").write_text("metrics: [exact_match (flexible-extract)]\n")
    frozen(tmp_path, path, "--to", "cold")
    assert known(tmp_path, "cold")["evaluations"] == known(tmp_path, path)["evaluations"]
    assert [one["mean"] for one in known(tmp_path, "cold")["evaluations"]] == [0.5]
    said = load_source_settings(tmp_path / "cold/source.yml", "source.yml")
    assert (said.metrics, said.score_name) == (None, "exact_match (flexible-extract)")


def test_settings_say_where_it_came_from(tmp_path: Path) -> None:
    """The original files with their hashes, the tool, and what was said before."""
    top = tmp_path / "runs"
    (top / "deep").mkdir(parents=True)
    (top / "deep" / "a.csv").write_text(TABLE)
    (top / "source.yml").write_text(
        "title: 'Two: runs'\nfiles: deep/*.csv\nprovenance: {licence: MIT, note: 'yes'}\n"
    )
    frozen(tmp_path, "runs", "--to", "cold")
    said = load_source_settings(tmp_path / "cold" / "source.yml", "source.yml")
    digest = hashlib.sha256(TABLE.encode()).hexdigest()
    assert said.title == "Two: runs"
    assert said.files is None
    assert (said.provenance.licence, said.provenance.note) == ("MIT", "yes")
    assert (said.provenance.tool, said.provenance.files) == (TOOL, {"runs/deep/a.csv": digest})
    frozen(tmp_path, "cold", "--to", "colder")
    again = load_source_settings(tmp_path / "colder" / "source.yml", "source.yml")
    assert again.provenance == said.provenance


def test_the_same_source_gives_the_same_bytes(tmp_path: Path) -> None:
    """Twice into two folders, and once more over the first."""
    rows = "".join(f"A,{run},{step},{step / 7}\n" for run in range(20) for step in range(10_000))
    (tmp_path / "runs.csv").write_text(f"series,run,step,value\n{rows}")
    assert re.search(r"\n1 file \(.* MB\) frozen into .* [kM]B\n$", frozen(tmp_path, "runs.csv"))
    # Another process has other hashes.
    assert call(tmp_path, "freeze", "runs.csv", "--to", "other").returncode == 0
    first = {path.name: path.read_bytes() for path in (tmp_path / "runs-frozen").iterdir()}
    assert set(first) == {"data.parquet", "source.yml"}
    assert {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()} == first
    frozen(tmp_path, "runs.csv", "--to", "other")
    assert {path.name: path.read_bytes() for path in (tmp_path / "other").iterdir()} == first


FOREIGN = {
    "a file": ({"to": "text"}, "there is already a file with this name"),
    "other data": ({"to/data.parquet": "text"}, "holds files that reportgen freeze did not write"),
    "other settings": ({"to/source.yml": "title: mine\n"}, "holds files that reportgen freeze did not write"),
    "a folder of others": ({"to/notes.md": "text"}, "holds files that reportgen freeze did not write"),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_nothing_foreign_is_overwritten(tmp_path: Path, kind: str) -> None:
    """What the user has there stays as it is."""
    files, said = FOREIGN[kind]
    (tmp_path / "runs.csv").write_text(TABLE)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    done = call(tmp_path, "freeze", "runs.csv", "--to", "to")
    assert done.returncode == 1
    assert said in done.stderr
    assert all((tmp_path / name).read_text() == text for name, text in files.items())


def test_what_a_killed_freezing_left_is_in_nobodys_way(tmp_path: Path) -> None:
    """Neither of a first one, nor of one over an earlier one; both are whole afterwards, and alone."""
    (tmp_path / "runs.csv").write_text(TABLE)
    for _ in range(2):
        (tmp_path / "to").mkdir(exist_ok=True)
        (tmp_path / "to" / ".data.parquet.part").write_bytes(b"PAR1 and no more")
        (tmp_path / "to" / ".source.yml.part").write_text("form: wi")
        frozen(tmp_path, "runs.csv", "--to", "to")
        assert {path.name for path in (tmp_path / "to").iterdir()} == {"data.parquet", "source.yml"}
        assert known(tmp_path, "to")["metrics"] == known(tmp_path, "runs.csv")["metrics"]


def test_a_source_is_not_frozen_into_itself(tmp_path: Path) -> None:
    """Nor into the folder around it."""
    made(tmp_path, "table")
    for target in ("table", "."):
        done = call(tmp_path, "freeze", "table", "--to", target)
        assert (done.returncode, "the source itself is there" in done.stderr) == (1, True)


def test_a_broken_source_leaves_what_was_frozen(tmp_path: Path) -> None:
    """The files of an earlier freezing stay, and no folder is left where there was none."""
    source = tmp_path / "runs.csv"
    source.write_text(TABLE)
    frozen(tmp_path, "runs.csv", "--to", "cold")
    before = (tmp_path / "cold" / "data.parquet").read_bytes()
    source.write_text(TABLE.replace("2.5", "much"))
    for target in ("cold", "new"):
        done = call(tmp_path, "freeze", "runs.csv", "--to", target)
        assert (done.returncode, "runs.csv:2: error" in done.stderr) == (1, True), done.stderr
    assert (tmp_path / "cold" / "data.parquet").read_bytes() == before
    assert not (tmp_path / "new").exists()


def test_which_way_totals_are_better_is_kept(tmp_path: Path) -> None:
    """A name that told it may be gone in the frozen table."""
    write_file(tmp_path / "speech/totals.csv", "model,task,wer\nA,x,0.2\nB,x,0.1\n")
    write_file(tmp_path / "speech/source.yml", "form: totals\ncolumns: {score: wer}\n")
    frozen(tmp_path, "speech", "--to", "cold")
    assert "lower_is_better: true\n" in (tmp_path / "cold/source.yml").read_text(encoding="utf-8")


def test_what_was_irregular_is_still_told(tmp_path: Path) -> None:
    """In source.yml, and under the figures of a frozen source, also of one that is frozen again."""
    root = write_report(tmp_path / "report")
    made(root / "data", "lm_eval")
    for path in (root / "data/lm_eval").rglob("samples_*.jsonl"):
        path.write_text(path.read_text() + '{"doc_id": 7, "tor')
    frozen(root, "data/lm_eval", "--to", "data/cold")
    frozen(root, "data/cold", "--to", "data/colder")
    torn = "the last line is torn off: left out"
    for name in ("cold", "colder"):
        said = load_source_settings(root / f"data/{name}/source.yml", "source.yml").provenance
        assert said.found is not None
        assert sum(torn in one for one in said.found) == 1
    pages = {f"content/{name}.md": f"# A\n```scores\nsource: {name}\n```\n" for name in ("cold", "lm_eval")}
    for name, text in pages.items():
        write_file(root / name, text)
    assert call(root, "build").returncode == 0
    for name in ("cold", "lm_eval"):
        assert torn in (root / f"site/{name}/index.html").read_text(encoding="utf-8")


CONTENTS = {
    "runs": (
        LONG,
        [
            "A (run 1): 2 metrics, 8 values, steps 0 to 20",
            "B (run 3): 2 metrics, 8 values, steps 0 to 20",
            "metric loss: 6 runs, 24 values from 0.25 to 10.5, steps 0 to 20, 6 repeated",
        ],
    ),
    "answers": (
        OUTCOMES,
        ["Birch on code: 20 problems, 40 answers, mean 0.315789, 2 without a score"],
    ),
    "totals": (
        "model,benchmark,score,stderr,n\nA,maths,0.25,0.125,12\nB,maths,0.5,,\n",
        [
            "A on maths: score 0.25, standard error 0.125, 12 problems",
            "B on maths: score 0.5, no standard error",
        ],
    ),
}


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_reviewer_reads_what_the_table_holds(tmp_path: Path, kind: str) -> None:
    """A line each, in the order of the data."""
    text, lines = CONTENTS[kind]
    write_file(tmp_path / "a.csv", text)
    if kind == "totals":
        write_file(tmp_path / "a.source.yml", "form: totals\n")
    frozen(tmp_path, "a.csv", "--to", "cold")
    told = load_source_settings(tmp_path / "cold/source.yml", "source.yml").provenance.contents
    assert told is not None
    assert [line for line in told if line in lines] == lines, told
    written = (tmp_path / "cold/source.yml").read_text(encoding="utf-8").splitlines()
    assert len(told) == sum(line.startswith("    - ") for line in written)


def test_a_second_freezing_says_that_it_replaces(tmp_path: Path) -> None:
    """Also where nobody named the folder."""
    (tmp_path / "runs.csv").write_text(TABLE)
    assert "in place of" not in frozen(tmp_path, "runs.csv")
    assert frozen(tmp_path, "runs.csv").endswith(", in place of what was frozen there before\n")
