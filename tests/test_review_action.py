"""The step that comments on a pull request, against a stand-in for GitHub that is slow, moody and lied to."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import github_api
import post_comment
import pytest
from fake_github import (
    FORK_ID,
    HEAD_SHA,
    TOKEN,
    GitHub,
    make_comment,
    make_pull,
    make_variables,
    make_zip,
    serve,
)
from made_reviews import EVERYTHING, make_hostile, make_review, rewrite

from reportgen.review.comment import CommentContext, make_marker, name_pictures, write_comment
from reportgen.review.model import Origin, Review, read_review, write_review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEAD = Origin(kind="revision", name="HEAD", commit=HEAD_SHA)
REVIEW = EVERYTHING.model_copy(update={"head": HEAD})
MARKER = make_marker("mkdocs.yml")
RUN = "https://github.example/lab/report/actions/runs/5"
SAME = "The comment already says so of pull request 7.\n"
POSTED = "Posted a comment of pull request 7.\n"


def pack(review: Review) -> bytes:
    """The artifact of a review."""
    return make_zip(("review.json", write_review(review)))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw in no time; the drawing is tried in ``test_action_steps``."""

    def draw(content: bytes) -> dict[str, bytes]:
        names = name_pictures(read_review(content.decode()))
        return {f"{name}-{ground}.png": b"\x89PNG" for name in names for ground in ("light", "dark")}

    monkeypatch.setattr(post_comment, "draw_pictures", draw)


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A stand-in with one pull request of a fork, whose run left a good review."""
    with serve(GitHub()) as one:
        one.add_artifact(pack(REVIEW))
        yield one


@pytest.fixture
def post(
    github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Run the step; returns its exit code and words. Waiting takes no time."""

    def run(variables: dict[str, str] | None = None, **changes: object) -> tuple[int, str]:
        known = make_variables(github, tmp_path / "event.json", **changes)
        code = post_comment.main(known | (variables or {}), lambda _seconds: None)
        return code, capsys.readouterr().out

    return run


Post = Any


def test_a_fork_gets_a_comment(github: GitHub, post: Post) -> None:
    """It is written here, from numbers, and says whose they are; where artifacts lie gets no token."""
    github.add_artifact(b"<html>", "report-review.html")
    assert post() == (0, POSTED)
    (comment,) = github.comments
    around = CommentContext(link=f"{RUN}/artifacts/2", from_fork=True)
    assert comment["body"] == write_comment(REVIEW, surroundings=around)
    assert "computed in the fork's own run" in comment["body"]
    tokens = {line.split("?")[0].split("/")[1]: token for line, token in github.requests}
    assert tokens == {"repos": f"Bearer {TOKEN}", "storage": None}


def test_a_branch_of_the_repository_gets_one_too(github: GitHub, post: Post) -> None:
    """Then nothing is said of a fork; without a page the link leads to the run. Each report has a comment."""
    github.pulls = [make_pull(repository=1)]
    assert post(head_repository={"id": 1, "owner": {"login": "stranger"}})[0] == 0
    assert "fork" not in github.comments[0]["body"]
    assert f"({RUN})" in github.comments[0]["body"]
    github.pulls = [make_pull()]
    post({"REPORTGEN_CONFIG_FILE": "other/mkdocs.yml"})
    assert len(github.comments) == 2


PREVIEW = "[preview](https://lab.example/report/pr/7/) in a few minutes"


@pytest.mark.parametrize(
    ("pages", "build_type", "size", "repository", "is_linked"),
    [
        ("https://lab.example/report", "workflow", 30_000_000, 1, True),
        ("https://lab.example/report/", "workflow", 1, 1, True),
        ("https://lab.example/report/", "workflow", 30_000_001, 1, False),
        ("https://lab.example/report/", "legacy", 1, 1, False),
        ("https://lab.example/report/", "workflow", 1, FORK_ID, False),
        ("", "", 1, 1, False),
    ],
    ids=["published", "slash", "too large", "Pages publishes a branch", "fork", "Pages not switched on"],
)
def test_the_comment_links_to_the_preview_that_will_be_published(
    *, pages: str, build_type: str, size: int, repository: int, is_linked: bool, github: GitHub, post: Post
) -> None:
    """And only to that: a link that leads nowhere is worse than none."""
    github.pulls = [make_pull(repository=repository)]
    github.add_artifact(b"site", "report-preview", size_in_bytes=size)
    github.pages = {"html_url": pages, "build_type": build_type} if pages else 404
    assert post(head_repository={"id": repository, "owner": {"login": "stranger"}})[0] == 0
    assert (PREVIEW in github.comments[0]["body"]) == is_linked
    assert ("preview" in github.comments[0]["body"]) == is_linked


def test_our_comment_is_found_on_any_page(github: GitHub, post: Post) -> None:
    """The 251st is updated, and none is added; quotations of the marker and other people's are let alone."""
    github.comments = [make_comment(number, f"{MARKER} was here") for number in range(250)]
    github.comments += [
        make_comment(250, f"old\r\n\r\n{MARKER}\r\n"),
        make_comment(251, f"x\n{MARKER}", "you"),
    ]
    before = [one["body"] for one in github.comments]
    assert post() == (0, "Updated the comment of pull request 7.\n")
    changed = [one["id"] for one, was in zip(github.comments, before, strict=True) if one["body"] != was]
    assert changed == [250]


def test_a_second_run_changes_nothing(github: GitHub, post: Post) -> None:
    """A rerun finds its own words, though GitHub ends lines in its own way."""
    post()
    github.comments[0]["body"] = github.comments[0]["body"].strip().replace("\n", "\r\n")
    assert post() == (0, SAME)
    assert len(github.comments) == 1


def test_nothing_changed_is_said_only_where_more_was_said(github: GitHub, post: Post) -> None:
    """No comment is posted for it, but an older one is updated."""
    github.add_artifact(pack(make_review(head=HEAD)))
    assert post()[1].startswith("Nothing to post. Nothing changed")
    github.comments = [make_comment(1, f"2 numbers moved\n{MARKER}")]
    assert post()[0] == 0
    assert github.comments[0]["body"].startswith("Nothing changed.")


def test_the_newest_artifact_of_a_rerun_counts(github: GitHub, post: Post) -> None:
    """Artifacts of other names, and a hundred before them, do not hide it.

    What is posted is what ``write_comment`` makes of a review that follows the schema, whatever it says.
    """
    for number in range(120):
        github.add_artifact(b"", f"other {number}")
    newer = rewrite(EVERYTHING, lambda text: f"newer</details>\n@all {text}").model_copy(
        update={"head": HEAD}
    )
    github.add_artifact(pack(newer))
    assert post()[0] == 0
    around = CommentContext(link=RUN, from_fork=True)
    assert github.comments[0]["body"] == write_comment(newer, surroundings=around)
    assert github.comments[0]["body"].endswith(f"\n\n{MARKER}\n")


@pytest.mark.parametrize(
    ("pulls", "words"),
    [
        ([], "It was closed."),
        ([make_pull(sha="c" * 40)], "It has newer commits"),
        ([make_pull(repository=3)], "It was closed."),
        ([make_pull(repository=None)], "It was closed."),
        ([make_pull(7), make_pull(8)], "Several pull requests"),
    ],
    ids=["closed", "force-push", "another fork of the owner", "deleted fork", "two pull requests"],
)
def test_without_one_open_pull_request_it_stops_quietly(
    pulls: list[dict[str, Any]], words: str, github: GitHub, post: Post
) -> None:
    """A newer push has a run of its own; a guess would comment on the wrong pull request."""
    github.pulls = pulls
    code, told = post()
    assert (code, told.startswith("Nothing to post."), words in told, github.comments) == (0, True, True, [])


@pytest.mark.parametrize("pictures", ["none", "branch"])
@pytest.mark.parametrize(
    "change", [{"state": "closed"}, {"head": {"sha": "c" * 40, "repo": {"id": FORK_ID}}}]
)
def test_what_happens_meanwhile_counts(
    change: dict[str, Any], pictures: str, github: GitHub, post: Post
) -> None:
    """Closed or pushed to while the artifact is read, it gets no comment, and no picture is stored."""
    github.before = lambda line: github.pulls[0].update(change) if line.endswith("/zip") else None
    told = "Nothing to post. The pull request was closed or has newer commits.\n"
    assert post({"REPORTGEN_PICTURES": pictures}) == (0, told)
    assert not github.comments
    assert github.git.objects == {}


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"event": "push"}, "not for a pull request"), ({"head_repository": None}, "fork was deleted")],
)
def test_other_runs_are_none_of_its_business(changes: dict[str, Any], words: str, post: Post) -> None:
    """It says so and is content."""
    code, told = post(**changes)
    assert (code, words in told) == (0, True)


def test_a_missing_or_expired_artifact_is_no_fault(github: GitHub, post: Post) -> None:
    """The other run has failed for a reason that it told itself, or is old."""
    github.artifacts[0]["expired"] = True
    assert post()[0] == 0
    github.artifacts.clear()
    code, told = post()
    assert (code, "left no review" in told) == (0, True)
    github.add_artifact(b"")
    github.failures = [("GET .*/zip", 410, {})]
    assert post() == (0, "Nothing to post. The artifact has expired.\n")


def test_a_digest_has_to_fit(github: GitHub, post: Post) -> None:
    """What was uploaded is what is read."""
    github.artifacts[0]["digest"] = f"sha256:{hashlib.sha256(github.content[1]).hexdigest()}"
    assert post()[0] == 0
    github.content[1] = pack(make_review(head=HEAD))
    assert post()[0] == 1


@pytest.mark.parametrize("status", [429, 500, 502, 503])
@pytest.mark.parametrize("line", ["GET .*/pulls", "GET .*/zip", "GET /storage/1", "GET .*/comments"])
def test_passing_failures_pass(line: str, status: int, github: GitHub, post: Post) -> None:
    """It asks again."""
    github.failures = [(line, status, {"Retry-After": "1"})] * 3
    assert post()[0] == 0
    assert len(github.comments) == 1


def test_a_comment_is_neither_lost_nor_posted_twice(github: GitHub, post: Post) -> None:
    """After a failed POST it looks for its comment again; whoever deletes it gets another one."""
    text = write_comment(REVIEW, surroundings=CommentContext(link=RUN, from_fork=True))
    github.failures = [("POST .*", 502, {})]
    github.before = lambda line: (
        github.comments.append(make_comment(9, text)) if line.startswith("POST") else None
    )
    assert post() == (0, SAME)
    assert len(github.comments) == 1
    github.comments = [make_comment(1, f"old\n{MARKER}")]
    github.before = lambda line: github.comments.clear() if line.startswith("PATCH") else None
    assert post() == (0, POSTED)


def test_it_gives_up_after_some_tries(github: GitHub, post: Post) -> None:
    """With a status, and not a traceback; a host that is not there is a message, too."""
    github.failures = [("GET .*/pulls", 502, {})] * 99
    told = "::error title=No comment was posted::GitHub answered 502 to each of several requests\n"
    assert post() == (1, told)
    assert len(github.requests) == github_api.TRIES
    # Nothing listens at the first port.
    code, told = post({"GITHUB_API_URL": "http://127.0.0.1:1"})
    assert (code, "cannot be reached" in told) == (1, True)


@pytest.mark.parametrize("line", ["POST .*", "GET .*/comments", "GET .*/pulls", "GET .*/zip"])
def test_a_read_only_token_is_told_what_it_needs(line: str, github: GitHub, post: Post) -> None:
    """The message names the permissions. A rate limit, for which GitHub says 403, too, is waited for."""
    github.failures = [(line, 403, {})]
    code, told = post()
    assert code == 1
    assert "permissions: {actions: read, pull-requests: write}" in told
    assert len(github.requests) < 10
    limits = {"X-RateLimit-Remaining": "0"}, {"Retry-After": "60"}
    github.failures = [(line, 403, limit) for limit in limits]
    assert post()[0] == 0


# ---- pictures

PICTURES = {"REPORTGEN_PICTURES": "branch"}
REF = "refs/heads/reportgen-pictures"
LINK = re.compile(r'(?:src|srcset)="https://github\.example/lab/report/blob/(\w{40})/([^"?]+)\?raw=true"')
README = "README.md"


def list_linked(github: GitHub, comment: int = 0) -> list[tuple[str, str]]:
    """Commit and path of each picture that a comment shows; each has to be there."""
    links = LINK.findall(github.comments[comment]["body"])
    assert all(path in github.git.list_files(made) for made, path in links)
    return links


def push(github: GitHub, *paths: str, parent: str = "") -> str:
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


@pytest.mark.parametrize("times", [1, 4])
@pytest.mark.parametrize("first", [True, False])
def test_who_comes_second_tries_again(times: int, first: bool, github: GitHub, post: Post) -> None:  # noqa: FBT001
    """Another run moves the branch, or makes it, between our look at it and our change."""
    if not first:
        push(github, "pr/8/c/d/x.png")
    github.pulls = [make_pull(7), make_pull(8, sha="c" * 40), make_pull(9, sha="d" * 40)]
    moves = iter(range(times))

    def move(line: str) -> None:
        if re.match(r"(PATCH|POST) .*/git/refs", line) and (number := next(moves, None)) is not None:
            push(github, f"pr/9/c/d/{number}.png", parent=github.git.refs.get(REF, ""))

    github.before = move
    assert post(PICTURES) == (0, POSTED)
    assert len(list_linked(github)) == 8
    paths = github.git.list_files(github.git.refs[REF]).keys()
    assert {f"pr/9/c/d/{number}.png" for number in range(times)} <= paths
    assert first or "pr/8/c/d/x.png" in paths


def test_pictures_of_closed_pull_requests_go(github: GitHub, post: Post) -> None:
    """Those of open ones stay, on whichever page of the list they are, and so does all else."""
    old = push(github, "pr/3/c/d/x.png", "pr/250/c/d/x.png", "pr/7/c/d/x.png", "pr/note.txt", "LICENSE")
    github.pulls = [make_pull(number, sha="c" * 40) for number in range(100, 300)] + [make_pull(7)]
    assert post(PICTURES)[0] == 0
    tip = github.git.refs[REF]
    paths = github.git.list_files(tip).keys()
    assert {"pr/250/c/d/x.png", "pr/7/c/d/x.png", "LICENSE", README} <= paths
    assert not [path for path in paths if path.startswith(("pr/3/", "pr/note"))]
    # An older comment still finds its own.
    assert github.git.is_after(tip, old)
    assert "pr/3/c/d/x.png" in github.git.list_files(old)


@pytest.mark.parametrize(
    "line",
    [
        *("POST .*/git/blobs", "GET .*/git/ref/.*", "GET .*/git/commits/.*", "GET .*/git/trees/.*"),
        *("POST .*/git/trees", "POST .*/git/commits", "PATCH .*/git/refs/.*", "GET .*/pulls"),
    ],
)
def test_passing_failures_of_git_pass(line: str, github: GitHub, post: Post) -> None:
    """Every request may be made again, since equal content has equal hashes."""
    push(github, "pr/8/c/d/x.png")
    github.failures = [(line, 502, {}), (line, 429, {"Retry-After": "1"}), (line, 403, {"Retry-After": "1"})]
    assert post(PICTURES) == (0, POSTED)
    assert len(list_linked(github)) == 8
    assert github.failures == []


def test_a_branch_made_though_the_answer_got_lost_is_found(github: GitHub, post: Post) -> None:
    """The second try finds our own commit there."""

    def lose(line: str) -> None:
        if line.endswith("/git/refs") and REF not in github.git.refs:
            github.failures = [("POST .*/git/refs", 502, {})]
            github.git.refs[REF] = [
                sha for sha, one in github.git.objects.items() if isinstance(one, dict) and "commit" in one
            ][-1]

    github.before = lose
    assert post(PICTURES) == (0, POSTED)
    assert len(list_linked(github)) == 8


def test_hostile_names_lead_nowhere_else(github: GitHub, post: Post) -> None:
    """Every file is a picture in the folder of this report."""
    figures = tuple(one.model_copy(update={"page": "../../x", "id": ".."}) for one in make_hostile().figures)
    review = make_hostile().model_copy(update={"figures": figures, "head": HEAD})
    github.add_artifact(pack(review))
    assert post(PICTURES)[0] == 0
    assert len(list_linked(github)) == 8
    paths = github.git.list_files(github.git.refs[REF]).keys() - {README}
    assert all(re.fullmatch(r"pr/7/bbbbbbbb/[0-9a-f]{8}/x(-\d)?-(light|dark)\.png", path) for path in paths)


def test_without_pictures_no_content_is_touched(github: GitHub, post: Post) -> None:
    """Also if there is nothing to draw: the job of the default workflow may not even read contents."""
    code, words = post({"REPORTGEN_PICTURES": "yes"})
    assert (code, "has to be one of none, branch" in words, github.comments) == (1, True, [])
    assert post() == (0, POSTED)
    review = REVIEW.model_copy(update={"figures": ()})
    github.add_artifact(pack(review))
    post(PICTURES)
    assert "<picture>" not in github.comments[0]["body"]
    assert not [line for line, _ in github.requests if "/git/" in line]


def test_two_reports_keep_each_others_pictures(github: GitHub, post: Post) -> None:
    """Though their figures have one name; the newest commit holds both, and a second run makes none."""
    post(PICTURES)
    before = dict(github.git.refs)
    assert post(PICTURES) == (0, SAME)
    assert github.git.refs == before
    post({**PICTURES, "REPORTGEN_CONFIG_FILE": "other/mkdocs.yml"})
    (first, path), (second, other) = list_linked(github)[0], list_linked(github, 1)[0]
    assert (first != second, path != other) == (True, True)
    assert {path, other} <= github.git.list_files(second).keys()
    assert github.git.is_after(second, first)


@pytest.mark.parametrize("status", [409, 422])
@pytest.mark.parametrize("failures", [4, 5])
def test_it_gives_up_after_five_tries(status: int, failures: int, github: GitHub, post: Post) -> None:
    """Then the comment has no pictures, and the log says why."""
    github.failures = [("POST .*/git/refs", status, {})] * failures
    code, words = post(PICTURES)
    assert (code, len(github.comments), len(list_linked(github))) == (0, 1, 8 if failures < 5 else 0)
    why = "::warning title=The comment has no pictures::The branch reportgen-pictures moved"
    assert words.startswith(why) == (failures == 5)


@pytest.mark.parametrize("status", [403, 404])
@pytest.mark.parametrize("line", ["POST .*/git/blobs", "POST .*/git/refs", ""])
def test_without_the_right_the_log_names_it(line: str, status: int, github: GitHub, post: Post) -> None:
    """The comment is posted all the same; a token that may only read learns so from its first request."""
    github.failures = [(line, status, {})] if line else []
    github.git.writable = bool(line)
    code, words = post(PICTURES)
    assert (code, words.splitlines()[-1]) == (0, POSTED.strip())
    assert '"contents: write" among the permissions of the job' in words
    assert "<picture>" not in github.comments[0]["body"]
    assert line or (github.git.objects, sum("/git/" in one for one, _ in github.requests)) == ({}, 1)
