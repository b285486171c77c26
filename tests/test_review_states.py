"""The states that a review compares: revisions, folders, sites and report.json, and what is wrong with them.

The repository under review belongs to somebody else: it stays as it was, and nothing of it runs.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from command_line import call
from made_projects import share_cache
from made_reviews import BASE, CHANGES, EXAM, write_state

from reportgen.cli.main import cli
from reportgen.core.errors import ReportError
from reportgen.review.compare import compare_reports
from reportgen.review.git import find_repository
from reportgen.review.model import is_met, read_review
from reportgen.review.states import open_states
from reportgen.site.checking import draft_report
from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FALSE = CHANGES["claim-becomes-false"]


def git(root: Path, *words: str) -> str:
    """A git command whose outcome is expected."""
    done = subprocess.run(
        ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", *words],  # noqa: S607 - on PATH everywhere
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


@pytest.fixture(autouse=True)
def no_workflow(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the workflow around the tests says of its own pull request must not decide."""
    for name in ("GITHUB_REF", "GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report whose cache has what the states of all tests share."""
    root = write_state(tmp_path_factory.mktemp("drafted") / "report")
    draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)
    return root


@pytest.fixture
def repository(tmp_path: Path, drafted: Path) -> Path:
    """A report in a folder of a repository: a commit on main, then one on a branch that breaks a claim."""
    root = tmp_path / "repository"
    share_cache(drafted, root / "reports")
    write(root)
    git(root.parent, "init", "--quiet", "--initial-branch=main", str(root))
    commit(root, "Begin")
    git(root, "checkout", "--quiet", "-b", "change")
    write(root, FALSE)
    commit(root, "Change")
    return root


def write(root: Path, changes: Mapping[str, str | None] | None = None) -> None:
    """Write a state into the repository, with times of now: git goes by them."""
    for path in write_state(root / "reports", changes).rglob("*"):
        os.utime(path)


def commit(root: Path, message: str) -> str:
    """Commit all files; returns the hash."""
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(root, "rev-parse", "HEAD")


def fingerprint(root: Path) -> str:
    """Of every file of a repository and its git folder, with their times."""
    lines = []
    for path in sorted(root.rglob("*")):
        if path.is_file() and not path.is_symlink():
            stamp = path.stat().st_mtime_ns
            lines.append(f"{path} {stamp} {hashlib.sha256(path.read_bytes()).hexdigest()}")
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def review(root: Path, *words: str, code: int = 1) -> dict[str, list[str]]:
    """The statements and numbers that ``reportgen review`` finds in a report."""
    out = root.parent / f"out-{root.name}"
    config = ["-f", str(root / "reports/mkdocs.yml"), "--out", str(out)]
    done = CliRunner().invoke(cli, ["review", *words, *config])
    assert done.exit_code == code, done.output
    found = read_review((out / "review.json").read_text("utf-8"))
    return {
        "statements": [f"{one.kind} {one.change}" for one in found.statements],
        "numbers": [f"{one.series} {one.verdict}" for one in found.numbers],
        "names": [found.base.name, found.head.name],
        "commits": [found.base.commit, found.head.commit, found.head.merge],
    }


BROKEN = {"statements": ["claim broken"], "numbers": ["GRPO higher"]}


def test_a_branch_is_compared_with_where_it_began(repository: Path) -> None:
    """Not with what the default branch has become since; and the repository stays as it was."""
    start, head = git(repository, "rev-parse", "main"), git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "--quiet", "main")
    write(repository, CHANGES["scores-fall"])
    commit(repository, "Go on")
    git(repository, "checkout", "--quiet", "change")
    before = fingerprint(repository)
    found = review(repository)
    assert fingerprint(repository) == before
    assert {name: found[name] for name in BROKEN} == BROKEN
    assert found["names"] == [f"{start[:8]}, where this branch left main", "working tree"]
    assert found["commits"] == [start, head, ""]


def test_the_working_tree_is_reviewed_with_what_is_not_committed(repository: Path) -> None:
    """And the review says that it differs from its commit."""
    states = open_states("change", None, repository / "reports/mkdocs.yml")
    assert not states.head.origin.modified
    write(repository, CHANGES["claim-becomes-true"])
    states = open_states("change", None, repository / "reports/mkdocs.yml")
    assert states.head.origin.modified
    assert compare_reports(*states).counts.mended == 2


def test_a_change_in_the_second_of_a_checkout_is_seen(repository: Path, tmp_path: Path) -> None:
    """Of a file that keeps its size, git knows this by the time of its index alone."""
    page, head = repository / "reports/content/training.md", git(repository, "rev-parse", "HEAD")
    known, text = find_repository(repository), page.read_text("utf-8")
    assert known
    for name in "abcde":
        page.write_text("other", "utf-8")
        time.sleep(1 - time.time() % 1)
        git(repository, "checkout", "--quiet", "--", "reports")
        page.write_text(text.replace("Accuracy", "accuracy"), "utf-8")
        time.sleep(1 - time.time() % 1)
        (tmp_path / name).mkdir()
        assert known.is_modified(head, tmp_path / name)


def test_what_the_working_tree_has_is_not_unpacked_again(repository: Path) -> None:
    """Once its content is known, the object is not even needed; another content is not taken for it."""
    data = repository / "reports/data/exam/outcomes.csv"
    # The first draft of this folder learns which files are data, the next review their hashes and objects.
    found = [review(repository) for _ in range(2)]
    blob = git(repository, "rev-parse", "main:reports/data/exam/outcomes.csv")
    (repository / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found.append(review(repository))
    assert found[0] == found[1] == found[2]
    assert {name: found[0][name] for name in BROKEN} == BROKEN
    lines = data.read_text("utf-8").splitlines(keepends=True)
    data.write_text("".join([*lines[:1], *reversed(lines[1:])]), "utf-8")
    config = ["-f", str(repository / "reports/mkdocs.yml"), "--out", str(repository.parent / "out")]
    done = CliRunner().invoke(cli, ["review", *config])
    assert done.exit_code == 2
    assert "git cannot read all files" in done.output


def test_revisions_may_be_named_in_both_places(repository: Path) -> None:
    """Also the wrong way round, with names that git understands."""
    assert review(repository, "main", "change")["statements"] == ["claim broken"]
    assert review(repository, "change", "HEAD~1", code=0)["statements"] == ["claim mended"]
    assert review(repository, "HEAD", "HEAD", code=0)["numbers"] == []


def test_a_trial_merge_is_compared_with_its_first_parent(repository: Path) -> None:
    """As actions/checkout has it with fetch-depth: 2; the head's commit is the pull request's own."""
    base, head = git(repository, "rev-parse", "main"), git(repository, "rev-parse", "change")
    git(repository, "checkout", "--quiet", "--detach", "main")
    git(repository, "merge", "--quiet", "--no-ff", "-m", f"Merge {head} into {base}", "change")
    merge = git(repository, "rev-parse", "HEAD")
    found = review(repository)
    assert found["statements"] == ["claim broken"]
    assert found["commits"] == [base, head, merge]
    clones = repository.parent
    git(clones, "clone", "--quiet", "--depth=2", "--no-local", f"file://{repository}", "deep")
    assert review(clones / "deep")["commits"] == [base, head, merge]
    git(clones, "clone", "--quiet", "--depth=1", "--no-local", f"file://{repository}", "shallow")
    done = call(clones / "shallow", "review", "-f", "reports/mkdocs.yml")
    assert done.returncode == 2
    assert "not in the clone" in done.stderr
    assert "fetch-depth: 2" in done.stderr
    assert not (clones / "shallow" / "review").exists()


def test_a_base_without_the_report_says_so(repository: Path) -> None:
    """Everything is new then, and no statement has flipped."""
    git(repository, "checkout", "--quiet", "--orphan", "before")
    git(repository, "rm", "--quiet", "-r", "--force", ".")
    (repository / "README").write_text("Nothing yet.\n")
    commit(repository, "Before reportgen")
    git(repository, "checkout", "--quiet", "change")
    states = open_states("before", None, repository / "reports/mkdocs.yml")
    assert not states.base.origin.built
    assert "there is no such file in before" in states.base.origin.why
    found = compare_reports(*states)
    assert {one.verdict for one in found.numbers} == {"new"}
    assert {one.change for one in found.figures} == {"new"}
    assert not is_met(found, "flips")


def test_a_base_that_cannot_be_drafted_says_why(repository: Path) -> None:
    """The head is reviewed all the same; a head that cannot be drafted is an error."""
    write(repository, {"content/exam.md": EXAM.replace("metric: pass@1", "metric: pass@9")})
    commit(repository, "Ask for too many samples")
    config = repository / "reports/mkdocs.yml"
    states = open_states("HEAD", "main", config)
    assert not states.base.origin.built
    assert "content/exam.md" in states.base.origin.why
    assert len(compare_reports(*states).figures) == 2
    done = call(repository, "review", "main", "-f", "reports/mkdocs.yml")
    assert done.returncode == 2
    assert "reports/content/exam.md" in done.stderr or "content/exam.md" in done.stderr
    assert "no review was written" in done.stderr


def test_a_pointer_of_lfs_is_filled_or_named(repository: Path) -> None:
    """From the repository's own store where it has the file; otherwise the base says which file lacks."""
    config, data = repository / "reports/mkdocs.yml", repository / "reports/data/training.csv"
    content = BASE["data/training.csv"].encode()
    oid = hashlib.sha256(content).hexdigest()
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
    data.write_text(pointer)
    commit(repository, "Put the data into LFS")
    states = open_states("HEAD", "main", config)
    assert not states.base.origin.built
    assert "data/training.csv: it is a Git LFS pointer" in states.base.origin.why
    stored = repository / ".git/lfs/objects" / oid[:2] / oid[2:4] / oid
    stored.parent.mkdir(parents=True)
    stored.write_bytes(content)
    assert compare_reports(*open_states("HEAD", "main", config)).numbers == ()


def test_nothing_of_the_repository_runs(repository: Path) -> None:
    """No filter, hook, monitor, alias or pager of its settings, and no attribute changes a file."""
    mark = repository.parent / "it-ran"
    attributes = "*.csv filter=evil\n*.md export-ignore\n*.yml export-subst\n* text eol=crlf\n"
    (repository / ".gitattributes").write_text(attributes)
    git(repository, "add", "--all")
    commit(repository, "Set traps")
    program = repository.parent / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    for name in (
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "core.fsmonitor",
        "core.pager",
    ):
        git(repository, "config", name, str(program))
    hooks = repository / ".git/hooks"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_bytes(program.read_bytes())
        (hooks / name).chmod(0o755)
    mark.unlink(missing_ok=True)
    assert review(repository, "main")["statements"] == ["claim broken"]
    assert review(repository, "HEAD", "HEAD", code=0)["numbers"] == []
    assert not mark.exists()


def _trap(folder: Path) -> tuple[str, Path]:
    """A program that leaves a mark when it runs, and the mark."""
    mark, program = folder / "it-ran", folder / "trap.sh"
    program.write_text(f"#!/bin/sh\ntouch {mark}\ncat\n")
    program.chmod(0o755)
    return str(program), mark


def test_nothing_of_a_submodule_runs(repository: Path) -> None:
    """Git compares its files by the filters of its own settings; what differs there is known all the same."""
    program, mark = _trap(repository.parent)
    inner = repository / "reports/data/inner"
    inner.mkdir()
    git(inner, "init", "--quiet", "--initial-branch=main")
    (inner / ".gitattributes").write_text("*.csv filter=evil\n")
    (inner / "more.csv").write_text("a,b\n")
    commit(inner, "Begin")
    commit(repository, "Add a submodule")
    for name in ("filter.evil.clean", "core.fsmonitor"):
        git(inner, "config", name, program)
    os.utime(inner / "more.csv", (1, 1))
    config, archived = repository / "reports/mkdocs.yml", str(repository.parent / "x.zip")
    assert not open_states("main", None, config).head.origin.modified
    (inner / "more.csv").write_text("b,a\n")
    assert open_states("main", None, config).head.origin.modified
    done = CliRunner().invoke(cli, ["archive", "-f", str(config), "--to", archived])
    assert "files differ from the last commit" in done.output
    assert not mark.exists()
    for name in ("filter.evil.clean", "core.fsmonitor"):
        git(inner, "config", "--unset", name)
    commit(inner, "More")
    assert open_states("main", None, config).head.origin.modified


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

    blob, link = write_object("blob", b"x"), write_object("blob", str(outside).encode())
    inner = write_tree(("100644", "x.csv", blob))
    head = git(repository, "rev-parse", "change^{tree}:reports")
    tree = write_tree(("120000", "a", link), ("40000", "a", inner), ("40000", "reports", head))
    made = git(repository, "commit-tree", "-m", "Hostile", tree)
    states = open_states(made, None, repository / "reports/mkdocs.yml")
    assert states.base.origin.built, states.base.origin.why
    assert not list(outside.iterdir())


def test_links_of_a_revision_lead_nowhere(repository: Path) -> None:
    """A committed link out of the repository is left out, one within it is followed."""
    (repository.parent / "secret.csv").write_text(BASE["data/training.csv"])
    data = repository / "reports/data/training.csv"
    data.rename(repository / "shared.csv")
    data.symlink_to("../../shared.csv")
    commit(repository, "Link within")
    assert review(repository, "main", "HEAD")["statements"] == ["claim broken"]
    data.unlink()
    data.symlink_to("../../../secret.csv")
    commit(repository, "Link out")
    states = open_states("HEAD", "main", repository / "reports/mkdocs.yml")
    assert not states.base.origin.built


@pytest.mark.slow
def test_a_killed_review_leaves_the_repository_alone(repository: Path) -> None:
    """Whenever it is killed; what it unpacked goes with a later review's cleaning."""
    before = fingerprint(repository)
    for moment in (0.5, 1.5, 2.5):
        words = [sys.executable, "-m", "reportgen", "review", "main", "-f", "reports/mkdocs.yml"]
        words += ["--out", str(repository.parent / "out")]
        with subprocess.Popen(
            words, cwd=repository, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as one:
            time.sleep(moment)
            one.send_signal(signal.SIGKILL)
        assert fingerprint(repository) == before


def test_sites_and_their_report_json_are_states(tmp_path: Path) -> None:
    """A site gives the points of its figures, report.json alone does not; a folder beside them is drafted."""
    for name, changes in (("before", {}), ("after", FALSE)):
        root = write_state(tmp_path / name, changes)
        publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    config = tmp_path / "after/mkdocs.yml"
    sites = [str(tmp_path / name / "site") for name in ("before", "after")]
    found = compare_reports(*open_states(sites[0], sites[1], config))
    assert [one.change for one in found.statements] == ["broken"]
    assert [len(one.before) for one in found.figures[0].series] == [0, 4]
    assert (found.base.kind, found.base.name) == ("site", "site")
    files = [f"{site}/report.json" for site in sites]
    found = compare_reports(*open_states(files[0], None, config))
    assert [one.verdict for one in found.numbers] == ["too few"]
    assert [one.before for one in found.figures[0].series] == [(), ()]
    assert [one.change for one in found.statements] == ["broken"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("report.json", "{", "this is no report.json of reportgen"),
        ("report.json", '{"format": 2}', "this is no report.json of reportgen"),
        ("report.json", json.dumps({"format": 1, "pages": [{}]}), "this is no report.json of reportgen"),
        ("report.json", "[" * 100_000, "this is no report.json of reportgen"),
        ("nowhere", None, "this is no revision of the report's repository"),
        ("--upload-pack=x", None, "this is no revision of the report's repository"),
    ],
)
def test_what_is_no_state_is_refused(name: str, content: str | None, said: str, tmp_path: Path) -> None:
    """With its name and a next step."""
    config = write_state(tmp_path / "report") / "mkdocs.yml"
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    with pytest.raises(ReportError) as caught:
        open_states(str(path) if content is not None else name, None, config)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert problem.location.file == (name if content is None else path.name)


@pytest.mark.parametrize(("key", "value"), [("sources", [{"name": "x"}]), ("pages", [{"figures": []}])])
def test_a_report_json_of_other_types_is_refused(key: str, value: object, tmp_path: Path) -> None:
    """Also where only the comparison finds that something is not as reportgen writes it."""
    root = write_state(tmp_path / "report")
    page = {"path": "x.md", "figures": [], "tables": [], "observations": []}
    known = {"format": 1, "generator": {"version": "1"}, "pages": [page], "sources": [], "problems": []}
    (root / "old.json").write_text(json.dumps(known | {key: value}))
    done = CliRunner().invoke(cli, ["review", str(root / "old.json"), "-f", str(root / "mkdocs.yml")])
    assert isinstance(done.exception, SystemExit), done.exception
    assert "old.json: error: this is no report.json of reportgen" in done.output


def test_a_report_outside_of_a_repository_needs_two_names(tmp_path: Path) -> None:
    """The message says what can be named."""
    root = write_state(tmp_path / "alone")
    done = call(root, "review")
    assert done.returncode == 2
    assert "in no git repository" in done.stderr
    write_state(tmp_path / "other", FALSE)
    assert call(root, "review", "../other", ".", "--fail-on", "flips").returncode == 0
    assert call(root, "review", ".", "../other").returncode == 1
    assert call(root, "review", ".", "../other", "--fail-on", "never").returncode == 0
    printed = call(root, "review", ".", "../other", "--format", "json").stdout
    assert read_review(printed).counts.flipped == 1
    assert sorted(os.listdir(root / "review")) == ["review.html", "review.json"]  # noqa: PTH208 - nothing half-written


def test_what_a_workflow_names_is_the_target(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``GITHUB_BASE_REF`` goes before the default branch: pull requests may be against another one."""
    git(repository, "branch", "release", "change")
    monkeypatch.setenv("GITHUB_BASE_REF", "release")
    config = repository / "reports/mkdocs.yml"
    assert open_states(None, None, config).base.origin.commit == git(repository, "rev-parse", "change")


def test_a_review_is_printed_as_a_comment_and_for_github(tmp_path: Path) -> None:
    """The comment goes to the terminal, or besides annotations to the summary of the job."""
    root = write_state(tmp_path / "alone")
    write_state(tmp_path / "other", FALSE)
    comment = call(root, "review", ".", "../other", "--format", "markdown").stdout
    assert "<!-- reportgen:review:" in comment
    summary = tmp_path / "summary.md"
    printed = call(root, "review", ".", "../other", "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert printed.stdout.startswith("::error file=content/")
    assert summary.read_text("utf-8") == comment
