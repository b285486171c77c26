"""``pictures: branch``: what the comment shows is there, and nothing else of the repository changes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import post_comment
import pytest
import store_pictures
from fake_github import HEAD_SHA, TOKEN, GitHub, make_pull, make_variables, make_zip, serve
from shown_reviews import make_everything, make_hostile

from reportgen.review.comment import CommentContext, name_pictures, write_comment
from reportgen.review.images import draw_pictures
from reportgen.review.model import write_review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from reportgen.review.model import Review

ROOT = Path(__file__).parents[1]
REF = "refs/heads/reportgen-pictures"
LINK = re.compile(r'(?:src|srcset)="https://github\.example/lab/report/blob/(\w{40})/([^"?]+)\?raw=true"')
README = "README.md"


def turn_to_head(review: Review) -> Review:
    """A review of the commit that the run was for."""
    return review.model_copy(update={"head": review.head.model_copy(update={"commit": HEAD_SHA})})


REVIEW = turn_to_head(make_everything())


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A stand-in with a pull request whose run left a review of four changed figures."""
    with serve(GitHub()) as one:
        one.add_artifact(make_zip(("review.json", write_review(REVIEW))))
        yield one


@pytest.fixture
def post(
    github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the step with pictures; returns its exit code and words. Waiting takes no time."""

    def run(pictures: str = "branch", **variables: str) -> tuple[int, str]:
        known = make_variables(github, tmp_path / "event.json") | {"REPORTGEN_PICTURES": pictures}
        code = post_comment.main(known | variables, lambda _seconds: None)
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw in no time, where it is not about the drawing."""
    names = (f"{name}-{ground}.png" for name in name_pictures(REVIEW) for ground in ("light", "dark"))
    files = dict.fromkeys(names, b"\x89PNG")
    monkeypatch.setattr(post_comment, "draw_pictures", lambda _content: files)


Post = Any


def list_linked(github: GitHub, comment: int = 0) -> list[tuple[str, str]]:
    """Commit and path of each picture that a comment shows; each has to be there."""
    links = LINK.findall(github.comments[comment]["body"])
    for commit, path in links:
        assert path in github.git.list_files(commit), path
    return links


def commit(github: GitHub, *paths: str, parent: str = "") -> str:
    """A commit with these files in place of the branch's; returns its hash."""
    git = github.git
    blob = git.answer("POST", ["blobs"], {"content": ""})[2]["sha"]
    entries = [{"path": path, "mode": "100644", "type": "blob", "sha": blob} for path in paths]
    base = {"base_tree": git.objects[parent]["commit"]["tree"]} if parent else {}
    tree = git.answer("POST", ["trees"], {"tree": entries} | base)[2]["sha"]
    body = {"message": "x", "tree": tree, "parents": [parent] if parent else []}
    sha: str = git.answer("POST", ["commits"], body)[2]["sha"]
    git.refs[REF] = sha
    return sha


def test_the_comment_shows_what_was_drawn_here(github: GitHub, post: Post) -> None:
    """Light and dark, from the numbers of the review, at one commit of a branch without a history."""
    assert post() == (0, "Posted a comment of pull request 7.\n")
    links = list_linked(github)
    assert len(links) == 8
    ((commit_, *_),) = {(one,) for one, _path in links}
    assert github.git.refs == {REF: commit_}
    assert github.git.objects[commit_]["commit"]["parents"] == []
    files = github.git.list_files(commit_)
    assert b"reportgen writes this branch" in files.pop(README)
    folder = {path.rpartition("/")[0] for path in files}
    assert [re.fullmatch(r"pr/7/bbbbbbbb/[0-9a-f]{8}", one) is not None for one in folder] == [True]
    assert {path.rpartition("/")[2]: content for path, content in files.items()} == dict(
        draw_pictures(REVIEW, 4)
    )
    around = CommentContext(
        link="https://github.example/lab/report/actions/runs/5",
        from_fork=True,
        picture_base=f"https://github.example/lab/report/blob/{commit_}/{folder.pop()}?raw=true",
    )
    assert github.comments[0]["body"] == write_comment(REVIEW, surroundings=around)


def test_hostile_names_lead_nowhere_else(github: GitHub, post: Post) -> None:
    """Every file is a picture in the folder of this report."""
    figures = make_hostile().figures
    twins = tuple(one.model_copy(update={"page": "../../x", "id": ".."}) for one in figures)
    review = turn_to_head(make_hostile().model_copy(update={"figures": twins}))
    github.add_artifact(make_zip(("review.json", write_review(review))))
    assert post()[0] == 0
    assert len(list_linked(github)) == 8
    paths = github.git.list_files(github.git.refs[REF]).keys() - {README}
    assert all(re.fullmatch(r"pr/7/bbbbbbbb/[0-9a-f]{8}/x(-\d)?-(light|dark)\.png", path) for path in paths)


@pytest.mark.parametrize("pictures", ["none", "branch"])
def test_without_pictures_no_content_is_touched(pictures: str, github: GitHub, post: Post) -> None:
    """Also if there is nothing to draw: the job of the default workflow may not even read contents."""
    if pictures == "branch":
        review = REVIEW.model_copy(update={"figures": ()})
        github.add_artifact(make_zip(("review.json", write_review(review))))
    assert post(pictures) == (0, "Posted a comment of pull request 7.\n")
    assert "<picture>" not in github.comments[0]["body"]
    assert not [line for line, _ in github.requests if "/git/" in line]


def test_another_word_than_these_is_a_mistake(github: GitHub, post: Post) -> None:
    """Instead of a comment without what was asked for."""
    code, words = post("yes")
    assert (code, "has to be one of none, branch" in words) == (1, True)
    assert not github.comments


@pytest.mark.usefixtures("quick")
def test_a_second_run_makes_no_commit(github: GitHub, post: Post) -> None:
    """The same pictures are there, and the comment says so already."""
    post()
    before = dict(github.git.refs)
    assert post() == (0, "The comment already says so of pull request 7.\n")
    assert github.git.refs == before


@pytest.mark.usefixtures("quick")
def test_two_reports_keep_each_others_pictures(github: GitHub, post: Post) -> None:
    """Though their figures have one name; the newest commit holds both."""
    post()
    post(REPORTGEN_CONFIG_FILE="other/mkdocs.yml")
    (first, path), (second, other) = list_linked(github)[0], list_linked(github, 1)[0]
    assert first != second
    assert path != other
    assert {path, other} <= github.git.list_files(second).keys()
    assert github.git.is_after(second, first)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("first", [True, False])
def test_who_comes_second_tries_again(times: int, first: bool, github: GitHub, post: Post) -> None:  # noqa: FBT001
    """Another run moves the branch, or makes it, between our look at it and our change."""
    if not first:
        commit(github, "pr/8/c/d/x.png")
    github.pulls = [make_pull(7), make_pull(8, sha="c" * 40), make_pull(9, sha="d" * 40)]
    moves = iter(range(times))

    def move(line: str) -> None:
        if re.match(r"(PATCH|POST) .*/git/refs", line) and (number := next(moves, None)) is not None:
            commit(github, f"pr/9/c/d/{number}.png", parent=github.git.refs.get(REF, ""))

    github.before = move
    assert post() == (0, "Posted a comment of pull request 7.\n")
    assert len(list_linked(github)) == 8
    paths = github.git.list_files(github.git.refs[REF]).keys()
    assert {f"pr/9/c/d/{number}.png" for number in range(times)} <= paths
    assert first or "pr/8/c/d/x.png" in paths


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [409, 422])
@pytest.mark.parametrize("failures", [4, 5])
def test_it_gives_up_after_five_tries(status: int, failures: int, github: GitHub, post: Post) -> None:
    """Then the comment has no pictures, and the log says why."""
    github.failures = [("POST .*/git/refs", status, {})] * failures
    code, words = post()
    assert code == 0
    assert len(github.comments) == 1
    assert len(list_linked(github)) == (8 if failures < 5 else 0)
    warned = words.startswith(
        "::warning title=The comment has no pictures::The branch reportgen-pictures moved"
    )
    assert warned == (failures == 5)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("line", ["POST .*/git/blobs", "POST .*/git/refs"])
def test_without_the_right_the_log_names_it(line: str, status: int, github: GitHub, post: Post) -> None:
    """The comment is posted all the same."""
    github.failures = [(line, status, {})]
    code, words = post()
    assert code == 0
    assert words.splitlines()[-1] == "Posted a comment of pull request 7."
    assert '"contents: write" among the permissions of the job' in words
    assert "<picture>" not in github.comments[0]["body"]


@pytest.mark.usefixtures("quick")
def test_a_token_that_may_only_read_changes_nothing(github: GitHub, post: Post) -> None:
    """It learns so from its first request."""
    github.git.writable = False
    assert post()[0] == 0
    assert github.git.objects == {}
    assert sum("/git/" in line for line, _ in github.requests) == 1


@pytest.mark.usefixtures("quick")
def test_pictures_of_closed_pull_requests_go(github: GitHub, post: Post) -> None:
    """Those of open ones stay, on whichever page of the list they are, and so does all else."""
    old = commit(github, "pr/3/c/d/x.png", "pr/250/c/d/x.png", "pr/7/c/d/x.png", "pr/note.txt", "LICENSE")
    github.pulls = [make_pull(number, sha="c" * 40) for number in range(100, 300)] + [make_pull(7)]
    assert post()[0] == 0
    tip = github.git.refs[REF]
    paths = github.git.list_files(tip).keys()
    assert {"pr/250/c/d/x.png", "pr/7/c/d/x.png", "LICENSE", README} <= paths
    assert not [path for path in paths if path.startswith(("pr/3/", "pr/note"))]
    # An older comment still finds its own.
    assert github.git.is_after(tip, old)
    assert "pr/3/c/d/x.png" in github.git.list_files(old)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    "line",
    [
        *("POST .*/git/blobs", "GET .*/git/ref/.*", "GET .*/git/commits/.*", "GET .*/git/trees/.*"),
        *("POST .*/git/trees", "POST .*/git/commits", "PATCH .*/git/refs/.*", "GET .*/pulls"),
    ],
)
def test_passing_failures_pass(line: str, github: GitHub, post: Post) -> None:
    """Every request may be made again, since equal content has equal hashes."""
    commit(github, "pr/8/c/d/x.png")
    github.failures = [(line, 502, {}), (line, 429, {"Retry-After": "1"}), (line, 403, {"Retry-After": "1"})]
    assert post() == (0, "Posted a comment of pull request 7.\n")
    assert len(list_linked(github)) == 8
    assert github.failures == []


@pytest.mark.usefixtures("quick")
def test_a_branch_made_though_the_answer_got_lost_is_found(github: GitHub, post: Post) -> None:
    """The second try finds our own commit there."""

    def lose(line: str) -> None:
        if line.endswith("/git/refs") and REF not in github.git.refs:
            github.failures = [("POST .*/git/refs", 502, {})]
            made = [
                sha for sha, one in github.git.objects.items() if isinstance(one, dict) and "commit" in one
            ]
            github.git.refs[REF] = made[-1]

    github.before = lose
    assert post() == (0, "Posted a comment of pull request 7.\n")
    assert len(list_linked(github)) == 8


@pytest.mark.usefixtures("quick")
def test_a_newer_push_stores_nothing(github: GitHub, post: Post) -> None:
    """It has a run of its own."""
    github.before = lambda line: github.pulls[0].update(state="closed") if line.endswith("/zip") else None
    assert post()[1].startswith("Nothing to post.")
    assert github.git.objects == {}


def test_drawing_that_takes_too_long_leaves_a_comment(
    github: GitHub, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a stranger's numbers do to the program that draws."""
    monkeypatch.setattr(store_pictures, "SECONDS", 0.01)
    why = "::warning title=The comment has no pictures::Drawing took more than 0.01 seconds."
    assert post() == (0, f"{why}\nPosted a comment of pull request 7.\n")
    assert github.git.objects == {}


def test_drawing_that_ends_early_leaves_a_comment(
    github: GitHub, post: Post, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So does a program that cannot even begin."""
    monkeypatch.setattr(sys, "executable", shutil.which("false"))
    why = "::warning title=The comment has no pictures::Drawing ended with 1."
    assert post() == (0, f"{why}\nPosted a comment of pull request 7.\n")
    assert github.git.objects == {}


def test_the_process_that_draws_has_no_token(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither in its environment nor in its arguments, and nothing of the runner's either."""
    for name in ("REPORTGEN_TOKEN", "GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "GITHUB_ENV", "PYTHONPATH"):
        monkeypatch.setenv(name, TOKEN)
    seen: list[tuple[Any, Any]] = []

    def draw(command: list[str], **options: Any) -> None:  # noqa: ANN401 - as subprocess has them
        seen.append((command, options))
        Path(options["cwd"], "pictures").mkdir()

    monkeypatch.setattr(subprocess, "run", draw)
    assert store_pictures.draw_pictures(b"{}") == {}
    ((command, options),) = seen
    assert TOKEN not in json.dumps([command, options["env"]])
    assert options["env"].keys() <= {"PATH", "HOME", "TMPDIR", "PYTHONPATH"}


@pytest.mark.slow
def test_drawing_needs_little(tmp_path: Path) -> None:
    """The job that may write installs what the lock has of what drawing needs, and no more than that."""
    names = set()
    lock = {*(ROOT / "reportgen/site/starter/requirements.txt").read_text("utf-8").splitlines()}
    for file in ("requirements.txt", "pictures.txt"):
        lines = (ROOT / "action/comment" / file).read_text("utf-8").splitlines()
        assert {*lines} <= lock
        names |= {line.split("==")[0].replace("-", "_") for line in lines if "==" in line}
    names = names - {"vl_convert_python"} | {"vl_convert"}
    packages = Path(pytest.__file__).parents[1]
    for one in packages.iterdir():
        if one.name.removesuffix(".py") in names | {"numpy.libs"}:
            (tmp_path / one.name).symlink_to(one)
    (tmp_path / "review.json").write_text(write_review(REVIEW), encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "PATH": os.environ["PATH"]}
    words = ["-S", "-P", "-m", "reportgen", "pictures", "review.json", "--to", "pictures"]
    done = subprocess.run(
        [sys.executable, *words], env=path, cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len([*(tmp_path / "pictures").iterdir()]) == 8
