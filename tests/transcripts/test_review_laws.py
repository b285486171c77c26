"""Laws of reviews, and that nothing of a stranger's repository is changed, runs, or leads out of it.

What reviews say stands in ``reviews.md`` and ``review_states.md``, whose steps the laws are tried on.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from case_pages import Case, read_pages
from command_line import ask, call, run_until
from html_tree import classed, read_html
from made_archives import commit, git
from made_projects import write_file, write_report
from pydantic import ValidationError
from transcript import run_transcript

from reportgen.review.model import Review, read_review, write_review

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = {case.name: case for case in read_pages(Path(__file__).parent) if case.page.stem == "reviews"}
QUICK = ("Runs come, go, and are replaced", "Scores fall, or are measured in another way")
PAIRS = (("higher", "lower"), ("new", "gone"), ("broken", "mended"))
OPPOSITE = dict(PAIRS) | {after: before for before, after in PAIRS}


def review(root: Path, *words: str) -> Review:
    """A review that can be made."""
    said = ask(root, "review", *words, "--fail-on", "never")
    assert said["ok"], said["diagnostics"]
    return read_review(json.dumps(said["result"]))


def list_steps(case: Case, root: Path) -> Iterator[str]:
    """Make the changes of a case one after the other, and stop where a review is made of each."""
    case.write_files(root)
    for line in case.expected.splitlines():
        if line == "$ reportgen review HEAD":
            yield line
        elif line.startswith("$ ") and line.split()[1] in {"git", "rm", "sed"}:
            run_transcript(root, line)


def mirror(number: dict[str, Any]) -> dict[str, Any]:
    """A number as the reverse comparison has it, without names and words, which are of the new state."""
    delta = number["delta"] and {
        "value": 0 - number["delta"]["value"],
        "low": number["delta"]["high"] and 0 - number["delta"]["high"],
        "high": number["delta"]["low"] and 0 - number["delta"]["low"],
        "p": number["delta"]["p"],
        "p_adjusted": number["delta"]["p_adjusted"],
    }
    runs, items = (number[name] and dict(number[name]) for name in ("runs", "problems"))
    if runs:
        runs["added"], runs["removed"] = runs["removed"], runs["added"]
    if items:
        items["only_base"], items["only_head"] = items["only_head"], items["only_base"]
    good = None if number["good"] is None else not number["good"]
    own = {"before": number["after"], "after": number["before"], "delta": delta, "runs": runs, "good": good}
    verdict = OPPOSITE.get(number["verdict"], number["verdict"])
    return own | {"problems": items, "method": number["method"], "verdict": verdict}


@pytest.mark.parametrize(
    "name",
    [name if name == QUICK[1] else pytest.param(name, marks=pytest.mark.slow) for name in CASES],
)
def test_the_reverse_review_mirrors(name: str, tmp_path: Path) -> None:
    """To the last digit, in a file that fits the printed schema; and no state differs from itself."""
    schema = json.loads(call(tmp_path, "schema", "review").stdout)
    for _ in list_steps(CASES[name], tmp_path):
        there, back = review(tmp_path, "HEAD", "."), review(tmp_path, ".", "HEAD")
        jsonschema.validate(json.loads(write_review(there)), schema)
        assert there.counts.same + len(there.numbers) >= 4
        numbers, found = (json.loads(write_review(one))["numbers"] for one in (there, back))
        # What is new stands in another place than what is gone.
        expected, found = (
            sorted(listed, key=lambda one: json.dumps([one["before"], one["after"]]))
            for listed in (map(mirror, numbers), found)
        )
        assert [{key: one[key] for key in mirror(one)} for one in found] == expected
        assert [(one.change, one.before, one.after) for one in back.statements] == [
            (OPPOSITE.get(one.change, one.change), one.after, one.before) for one in there.statements
        ]
        assert back.counts.same == there.counts.same
        assert [(one.files_added, one.files_changed) for one in back.sources] == [
            (one.files_removed, one.files_changed) for one in there.sources
        ]
        sides: list[Counter[str]] = []
        for one in (there, back):
            changes = [
                change.change for name in ("figures", "tables", "pages") for change in getattr(one, name)
            ]
            sides.append(
                Counter(
                    [*changes, *(f"line {line.change}" for figure in one.figures for line in figure.series)]
                )
            )
        turned = {one: f"line {OPPOSITE[one[5:]]}" for one in ("line new", "line gone")} | OPPOSITE
        assert sides[1] == Counter({turned.get(one, one): count for one, count in sides[0].items()})
    same = review(tmp_path, ".", ".")
    assert (same.is_empty, same.family.tests, same.counts.same > 0) == (True, 0, True)


@pytest.fixture(scope="module")
def fallen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in whose working tree a claim became false, and a figure and a table changed."""
    root = tmp_path_factory.mktemp("falls")
    next(list_steps(CASES[QUICK[1]], root))
    return root


@pytest.fixture(scope="module")
def falls(fallen: Path) -> Review:
    """Its review, whose page is in ``review/whole``."""
    return review(fallen, "HEAD", "--out", "review/whole")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"format": 1', '"format": 2'),
        ('"format": 1', '"format": 1, "extra": 1'),
        ('"level": 0.95', '"level": NaN'),
        ('"level": 0.95', '"level": "0.95"'),
        ('"verdict": "lower"', '"verdict": "splendid"'),
        ('"series": "tuned"', f'"series": "{"G" * 301}"'),
        ('"merge": ""', '"merge": "main"'),
        ('"truncated": []', f'"truncated": {json.dumps(["x"] * 51)}'),
    ],
)
def test_what_is_no_review_is_refused(before: str, after: str, falls: Review) -> None:
    """A program with rights reads reviews of strangers: nothing unknown, unbounded or not a number passes."""
    text = write_review(falls)
    assert before in text
    with pytest.raises(ValidationError):
        read_review(text.replace(before, after))


@pytest.mark.usefixtures("falls")
def test_only_a_known_direction_is_coloured_and_it_is_said_too(fallen: Path) -> None:
    """Colour is never alone."""
    example = Path(__file__).parents[2] / "content/guide/example-review.html"
    for path, directions in ((example, ["better"]), (fallen / "review/whole/review.html", ["worse"])):
        html = path.read_text("utf-8")
        rows = re.findall(r'<tr role="row" class="rg-(better|worse|unclear)">(.*?)</tr>', html, re.DOTALL)
        for good, row in rows:
            assert re.findall(r">(?:higher|lower), (better|worse)[ <]", row) == [good] * (good != "unclear")
        assert [good for good, _ in rows if good != "unclear"] == directions


ROOM = "reportgen.review.compare._ROOM"


def test_a_review_that_is_too_large_loses_points_first(
    fallen: Path, falls: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then rows, figures and all else; what is left out is named, and what is left is a review."""
    size = len(write_review(falls).encode())
    left = []
    for most in (size, size - 100, size * 3 // 4, 1200):
        monkeypatch.setattr(ROOM, most)
        thinned = review(fallen, "HEAD")
        left.append((len(thinned.figures), len(thinned.statements), thinned.truncated))
        assert thinned.counts == falls.counts
        page = (fallen / "review/review.html").read_text("utf-8")
        assert [one in page for one in ("Left out for size", *thinned.truncated)] == [
            *(bool(thinned.truncated),),
            *(True for _ in thinned.truncated),
        ]
    points, table = "the points of 1 of 1 figures", "1 of 1 tables"
    assert left[:2] == [(1, 1, ()), (1, 1, (points,))]
    assert left[2][1:] == (1, (points, table, *left[2][2][2:]))
    assert (left[3][0], "1 of 1 figures" in left[3][2]) == (0, True)


MANY = """# Many

[The last stays above the first]{claim="final(last) > final(s0)" of="curve"}.

```curve
source: many
```

```table
source: few
columns: [final]
```
"""


@pytest.mark.slow
def test_many_unclear_numbers_leave_room_for_all_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the longest list the entries that matter least go first, wherever they stand."""
    for state, moved, end in (("before", 0.0, 0.8), ("after", 0.01, 0.1)):
        root = write_report(tmp_path / state, {"content/index.md": MANY, "data/runs.csv": None})
        ends = {f"s{place}": 0.4 + moved for place in range(60)} | {"last": end}
        for name, listed in {"many": ends, "few": {"a": 0.3 + moved, "b": 0.5}}.items():
            rows = (f"{one},{run},1,{at + run / 50:.3f}\n" for one, at in listed.items() for run in (1, 2, 3))
            write_file(root / f"data/{name}.csv", "series,seed,step,accuracy\n" + "".join(rows))
    whole = review(tmp_path, "before", "after")
    verdicts = [one.verdict for one in whole.numbers]
    assert verdicts == ["unclear"] * 60 + ["lower", "unclear"]
    most = len(write_review(whole).encode()) // 2
    monkeypatch.setattr(ROOM, most)
    thinned = review(tmp_path, "before", "after")
    kept = len(thinned.numbers)
    assert 20 < kept < 40
    assert thinned.numbers == (*whole.numbers[: kept - 1], whole.numbers[60])
    assert (len(thinned.figures), thinned.statements, thinned.tables) == (1, whole.statements, whole.tables)
    assert (len(thinned.statements), len(thinned.tables)) == (1, 1)
    assert thinned.truncated == ("the points of 1 of 1 figures", f"{62 - kept} of 62 numbers")
    assert len(write_review(thinned).encode()) <= most + 200


def test_names_of_strangers_are_bounded(tmp_path: Path) -> None:
    """Whatever titles, series, pages and problems are called, their review can be read, a line for each."""
    root = shutil.copytree(Path(__file__).parents[1] / "cases/hostile-names", tmp_path / "report")
    run_transcript(root, "$ git init -q -b main\n$ git commit -q --allow-empty -m Empty\n")
    found = review(root, "HEAD")
    assert {one.change for one in found.figures} == {"new"}
    said = call(root, "review", "HEAD").stdout
    assert [line for line in said.splitlines() if not re.match("  |$|[A-Z]", line)] == []


def test_long_texts_of_a_report_are_cut(tmp_path: Path) -> None:
    """What a file may not hold is cut before it is written: titles, and names of series on one line."""
    CASES[QUICK[0]].write_files(tmp_path)
    assert call(tmp_path, "build").returncode == 0
    text, long = (tmp_path / "site/report.json").read_text("utf-8"), json.dumps(f"A\n{'b ' * 3_000}")
    for name in ('"Scores"', '"tuned"'):
        assert name in text
        text = text.replace(name, long)
    (tmp_path / "long.json").write_text(text, "utf-8")
    found = review(tmp_path, "site/report.json", "long.json")
    titles = [one.title for one in found.figures] + [one.title for one in found.tables]
    assert {len(one) for one in titles} == {2_000}
    (number,) = [one for one in found.numbers if one.verdict == "new"]
    assert (len(number.series), number.series[:5], number.series[-1]) == (300, "A b b", "…")


def test_series_have_the_colours_of_the_report(tmp_path: Path) -> None:
    """Of the palette's places, also those that the author fixed, and none for what ``highlight`` greys."""
    next(list_steps(CASES[QUICK[0]], tmp_path))
    run_transcript(
        tmp_path, "$ sed -i 's/^title: Accuracy/title: Accuracy\\nhighlight: [GRPO]/' content/training.md"
    )
    settings = tmp_path / "mkdocs.yml"
    text = settings.read_text("utf-8").replace("[reportgen]", "[{reportgen: {series: {GRPO: 5}}}]")
    settings.write_text(text, "utf-8")
    (figure,) = review(tmp_path, "HEAD").figures
    assert {one.name: one.slot for one in figure.series} == {"MEL": None, "GRPO": 4}
    (view,) = classed(read_html((tmp_path / "review/review.html").read_text("utf-8")), "rg-of-after")
    lines = [one for one in view.iter("path") if one.get("class") == "rg-line"]
    assert [one.get("stroke") for one in lines] == ["var(--rg-series-muted)", "var(--rg-series-5)"]


# ---- the repository of somebody else


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A report in a repository, with a commit on main, and one on a branch that breaks a claim."""
    root = tmp_path / "repository"
    CASES[QUICK[0]].write_files(root)
    commands = ["git init -q -b main", "git add .", "git commit -q -m Begin", "git checkout -q -b change"]
    commands += [r"sed -i -E 's/(GRPO,.,20,0).7/\1.9/' data/training.csv", "git commit -q -a -m Change"]
    run_transcript(root, "".join(f"$ {one}\n" for one in commands))
    return root


def fingerprint(root: Path) -> list[tuple[Path, int, str]]:
    """Every file of a repository and its git folder, with its time, but what a review writes."""
    files = (path for path in sorted(root.rglob("*")) if path.is_file() and "review" not in path.parts)
    return [(one, one.stat().st_mtime_ns, hashlib.sha256(one.read_bytes()).hexdigest()) for one in files]


def list_broken(found: Review) -> list[tuple[str, str]]:
    """The claims whose truth changed, and how."""
    return [(one.kind, one.change) for one in found.statements]


BROKEN = [("claim", "broken"), ("claim", "broken")]


def write_trap(folder: Path) -> tuple[Path, Path]:
    """A program that leaves a mark when it runs, and the mark."""
    mark, program = folder / "it-ran", folder / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    return program, mark


def test_the_repository_stays_as_it_was_and_nothing_of_it_runs(repository: Path) -> None:
    """No filter, hook, monitor, alias or pager of its settings, and no attribute changes a file."""
    attributes = "*.csv filter=evil\n*.md export-ignore\n*.yml export-subst\n* text eol=crlf\n"
    (repository / ".gitattributes").write_text(attributes)
    run_transcript(repository, "$ git add .\n$ git commit -q -m Traps\n")
    program, mark = write_trap(repository.parent)
    filters = (f"filter.evil.{name}" for name in ("smudge", "clean", "process"))
    for name in (*filters, "core.fsmonitor", "core.pager"):
        git(repository, "config", name, str(program))
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        shutil.copy2(program, repository / ".git/hooks" / name)
    before = fingerprint(repository)
    assert list_broken(review(repository, "main")) == BROKEN
    assert review(repository, "HEAD", "HEAD").is_empty
    assert fingerprint(repository) == before
    assert not mark.exists()


def test_nothing_of_a_submodule_runs(repository: Path) -> None:
    """Git compares its files by the filters of its own settings; what differs there is known all the same."""
    program, mark = write_trap(repository.parent)
    inner = repository / "data/inner"
    inner.mkdir()
    (inner / ".gitattributes").write_text("*.csv filter=evil\n")
    (inner / "more.csv").write_text("a,b\n")
    commit(inner)
    run_transcript(repository, "$ git add .\n$ git commit -q -m Submodule\n")
    for name in ("filter.evil.clean", "core.fsmonitor"):
        git(inner, "config", name, str(program))
    os.utime(inner / "more.csv", (1, 1))
    assert not review(repository, "main").head.modified
    (inner / "more.csv").write_text("b,a\n")
    assert review(repository, "main").head.modified
    said = call(repository, "archive", "--to", str(repository.parent / "x.zip")).stderr
    assert "files differ from the last commit" in said
    assert not mark.exists()
    for name in ("filter.evil.clean", "core.fsmonitor"):
        git(inner, "config", "--unset", name)
    run_transcript(inner, "$ git commit -q -a -m More\n")
    assert review(repository, "main").head.modified


def test_a_change_in_the_second_of_a_checkout_is_seen(repository: Path) -> None:
    """Of a file that keeps its size, git knows this by the time of its index alone."""
    page, index, then = repository / "content/training.md", repository / ".git/index", (10**9, 10**9)
    # As changes of an inode take the time of now, they have to be let alone.
    git(repository, "config", "core.trustctime", "false")
    os.utime(page, then)
    git(repository, "update-index", "--refresh")
    os.utime(index, then)
    page.write_text(page.read_text("utf-8").replace("Accuracy", "accuracy"), "utf-8")
    os.utime(page, then)
    assert review(repository, "HEAD").head.modified


def test_what_the_working_tree_has_is_not_unpacked_again(repository: Path) -> None:
    """Once its content is known, the object is not even needed; another content is not taken for it."""
    # The first draft of this folder learns which files are data, the next review their hashes and objects.
    found = [review(repository, "main") for _ in range(2)]
    blob = git(repository, "rev-parse", "main:data/exam/outcomes.csv")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    assert found[0] == found[1] == review(repository, "main")
    assert list_broken(found[0]) == BROKEN
    data = repository / "data/exam/outcomes.csv"
    lines = data.read_text("utf-8").splitlines(keepends=True)
    data.write_text("".join([*lines[:1], *reversed(lines[1:])]), "utf-8")
    done = call(repository, "review", "main")
    assert (done.returncode, "git cannot read all files" in done.stderr) == (2, True)


def test_a_tree_of_links_and_folders_writes_nothing_outside(repository: Path) -> None:
    """A commit that git would not make: a link and a folder of one name."""
    outside = repository.parent / "outside"
    outside.mkdir()

    def write_object(kind: str, content: bytes) -> str:
        words = ["git", "hash-object", "-w", "--literally", "--stdin", "-t", kind]
        done = subprocess.run(words, input=content, cwd=repository, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def write_tree(*entries: tuple[str, str, str]) -> str:
        listed = (f"{mode} {name}\0".encode() + bytes.fromhex(sha) for mode, name, sha in entries)
        return write_object("tree", b"".join(listed))

    link = write_object("blob", str(outside).encode())
    inner = write_tree(("100644", "x.csv", write_object("blob", b"x")))
    listed = (line.split() for line in git(repository, "ls-tree", "change").splitlines())
    tree = ((mode.lstrip("0"), name, sha) for mode, _kind, sha, name in listed)
    made = write_tree(("120000", "a", link), ("40000", "a", inner), *tree)
    base = review(repository, git(repository, "commit-tree", "-m", "Hostile", made)).base
    assert base.built, base.why
    assert not list(outside.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("moment", "calls"),
    [("subprocess.Popen.__init__", 1), ("subprocess.Popen.__init__", 3), ("os.mkdir", 4), ("os.replace", 1)],
)
def test_a_killed_review_leaves_the_repository_alone(repository: Path, moment: str, calls: int) -> None:
    """Whenever it is killed; what it unpacked goes with a later review's cleaning."""
    before = fingerprint(repository)
    words = ("review", "main", "--out", str(repository.parent / "out"))
    assert run_until(repository, *words, at=[moment], calls=calls).returncode == -signal.SIGKILL
    assert fingerprint(repository) == before
