"""The step that comments on a pull request, against a stand-in for GitHub that is slow, moody and lied to."""

from __future__ import annotations

import hashlib
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
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
from made_comments import make_everything, make_number, make_review

from reportgen.review.comment import CommentContext, make_marker, write_comment
from reportgen.review.model import MOST_BYTES, Origin, write_review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
REVIEW = make_review(numbers=(make_number(),))
GOOD = write_review(REVIEW)
MARKER = make_marker("mkdocs.yml")


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A stand-in with one pull request of a fork, whose run left a good review."""
    with serve(GitHub()) as one:
        one.add_artifact(make_zip(("review.json", GOOD)))
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
    """It is written here, from numbers, and says whose they are."""
    github.add_artifact(b"<html>", "report-review.html")
    assert post() == (0, "Posted a comment of pull request 7.\n")
    link = "https://github.example/lab/report/actions/runs/5/artifacts/2"
    (comment,) = github.comments
    assert comment["body"] == write_comment(REVIEW, surroundings=CommentContext(link=link, from_fork=True))
    assert "computed in the fork's own run" in comment["body"]


def test_a_branch_of_the_repository_gets_one_too(github: GitHub, post: Post) -> None:
    """Then nothing is said of a fork; without a page the link leads to the run."""
    github.pulls = [make_pull(repository=1)]
    assert post(head_repository={"id": 1, "owner": {"login": "stranger"}})[0] == 0
    assert "fork" not in github.comments[0]["body"]
    assert "(https://github.example/lab/report/actions/runs/5)" in github.comments[0]["body"]


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
    assert post() == (0, "The comment already says so of pull request 7.\n")
    assert len(github.comments) == 1


def test_each_report_has_a_comment(github: GitHub, post: Post) -> None:
    """Two reports of a repository do not overwrite each other's."""
    post()
    post({"REPORTGEN_CONFIG_FILE": "other/mkdocs.yml"})
    assert len(github.comments) == 2


def test_nothing_changed_is_said_only_where_more_was_said(github: GitHub, post: Post) -> None:
    """No comment is posted for it, but an older one is updated."""
    github.add_artifact(make_zip(("review.json", write_review(make_review()))))
    assert post()[1].startswith("Nothing to post. Nothing changed")
    github.comments = [make_comment(1, f"2 numbers moved\n{MARKER}")]
    assert post()[0] == 0
    assert github.comments[0]["body"].startswith("Nothing changed: every")


def test_the_newest_artifact_of_a_rerun_counts(github: GitHub, post: Post) -> None:
    """Artifacts of other names, and a hundred before them, do not hide it."""
    for number in range(120):
        github.add_artifact(b"", f"other {number}")
    newer = make_review(numbers=(make_number("newer"),))
    github.add_artifact(make_zip(("review.json", write_review(newer))))
    assert post()[0] == 0
    assert "`newer`" in github.comments[0]["body"]


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
    assert code == 0
    assert told.startswith("Nothing to post.")
    assert words in told
    assert not github.comments


@pytest.mark.parametrize(
    "change", [{"state": "closed"}, {"head": {"sha": "c" * 40, "repo": {"id": FORK_ID}}}]
)
def test_what_happens_meanwhile_counts(change: dict[str, Any], github: GitHub, post: Post) -> None:
    """Closed or pushed to while the artifact is read, it gets no comment."""
    github.before = lambda line: github.pulls[0].update(change) if line.endswith("/zip") else None
    assert post() == (0, "Nothing to post. The pull request was closed or has newer commits.\n")
    assert not github.comments


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


def make_member(name: str = "review.json", kind: int = stat.S_IFREG) -> zipfile.ZipInfo:
    """A member of a zip with the mode of a kind of file."""
    member = zipfile.ZipInfo(name)
    member.external_attr = (kind | 0o644) << 16
    return member


def make_bomb(size: int) -> bytes:
    """A zip whose only member is of this size, and says that it is small."""
    content = make_zip(("review.json", b" " * size))
    return content.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))


OTHER = write_review(make_review(head=Origin(kind="revision", name="HEAD", commit="d" * 40)))
NO_ZIP, ONE, KIND = "is no zip", "hold review.json and nothing else", "is no regular file"
SIZE, SCHEMA = "has more than 5,000,000 bytes", "does not follow the schema"
HOSTILE: dict[str, tuple[bytes | Callable[[], bytes], str]] = {
    "no zip": (b"review", NO_ZIP),
    "empty": (b"", NO_ZIP),
    "no member": (make_zip(), ONE),
    "other name": (make_zip(("other.json", GOOD)), ONE),
    "path": (make_zip(("../review.json", GOOD)), ONE),
    "absolute path": (make_zip(("/review.json", GOOD)), ONE),
    "two members": (make_zip(("review.json", GOOD), ("x", "")), ONE),
    "link": (make_zip((make_member(kind=stat.S_IFLNK), "/etc/passwd")), KIND),
    "device": (make_zip((make_member(kind=stat.S_IFCHR), "")), KIND),
    "folder": (make_zip((make_member("review.json/"), "")), ONE),
    # Packed when they are needed: it takes seconds.
    "bomb": (lambda: make_zip(("review.json", b" " * 200_000_000)), SIZE),
    "lying bomb": (lambda: make_bomb(50_000_000), NO_ZIP),
    "torn": (make_zip(("review.json", GOOD))[:-30], NO_ZIP),
    "bytes changed": (make_zip(("review.json", GOOD), packed=False).replace(b"GRPO", b"XXXX"), NO_ZIP),
    "large": (make_zip(("review.json", b"x" * (MOST_BYTES + 1)), packed=False), SIZE),
    "no JSON": (make_zip(("review.json", "::set-output name=x::y")), SCHEMA),
    "other schema": (make_zip(("review.json", "{}")), SCHEMA),
    "Markdown": (make_zip(("review.json", GOOD.replace('"base"', '"markdown": "x", "base"', 1))), SCHEMA),
    "another number": (make_zip(("review.json", GOOD.replace('"base"', '"pr": 8, "base"', 1))), SCHEMA),
    "NaN": (make_zip(("review.json", GOOD.replace("0.28", "NaN"))), SCHEMA),
    "infinite": (make_zip(("review.json", GOOD.replace("0.28", "1e999"))), SCHEMA),
    "huge string": (make_zip(("review.json", GOOD.replace("GRPO", "G" * 3_000_000))), SCHEMA),
    "deep": (make_zip(("review.json", "[" * 1_000_000)), SCHEMA),
    "another commit": (make_zip(("review.json", OTHER)), "is not about the commit"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_artifact_is_refused(kind: str, github: GitHub, post: Post) -> None:
    """With one line, in which nothing of it is repeated, and without a comment."""
    content, words = HOSTILE[kind]
    # Its size is a lie of the list.
    github.add_artifact(content() if callable(content) else content, size_in_bytes=100)
    code, told = post()
    assert code == 1
    assert words in told
    assert told.startswith("::error title=No comment was posted::")
    assert told.count("\n") == 1
    assert len(told) < 200
    assert not github.comments


def test_a_digest_has_to_fit(github: GitHub, post: Post) -> None:
    """What was uploaded is what is read."""
    good = github.content[1]
    github.artifacts[0]["digest"] = f"sha256:{hashlib.sha256(good).hexdigest()}"
    assert post()[0] == 0
    github.content[1] = make_zip(("review.json", write_review(make_review())))
    assert post()[0] == 1


def test_hostile_words_reach_the_comment_only_as_words(github: GitHub, post: Post) -> None:
    """A review that follows the schema may say anything; what is posted is what write_comment makes of it."""
    head = Origin(kind="revision", name="HEAD", commit=HEAD_SHA)
    github.add_artifact(
        make_zip(("review.json", write_review(make_everything().model_copy(update={"head": head}))))
    )
    assert post()[0] == 0
    assert github.comments[0]["body"].endswith(f"\n\n{MARKER}\n")


def test_the_token_is_not_sent_to_where_artifacts_lie(github: GitHub, post: Post) -> None:
    """That is another host, which needs none."""
    post()
    tokens = {line.split("?")[0].split("/")[1]: token for line, token in github.requests}
    assert tokens == {"repos": f"Bearer {TOKEN}", "storage": None}


@pytest.mark.parametrize("status", [429, 500, 502, 503])
@pytest.mark.parametrize("line", ["GET .*/pulls", "GET .*/zip", "GET /storage/1", "GET .*/comments"])
def test_passing_failures_pass(line: str, status: int, github: GitHub, post: Post) -> None:
    """It asks again."""
    github.failures = [(line, status, {"Retry-After": "1"})] * 3
    assert post()[0] == 0
    assert len(github.comments) == 1


def test_a_comment_that_was_posted_though_the_answer_got_lost_is_not_posted_twice(
    github: GitHub, post: Post
) -> None:
    """After a failed POST it looks for its comment again."""
    text = write_comment(
        REVIEW,
        surroundings=CommentContext(link="https://github.example/lab/report/actions/runs/5", from_fork=True),
    )
    github.failures = [("POST .*", 502, {})]
    github.before = lambda line: (
        github.comments.append(make_comment(9, text)) if line.startswith("POST") else None
    )
    assert post() == (0, "The comment already says so of pull request 7.\n")
    assert len(github.comments) == 1


def test_a_comment_deleted_meanwhile_is_posted_anew(github: GitHub, post: Post) -> None:
    """Whoever deletes it gets another with the next change."""
    github.comments = [make_comment(1, f"old\n{MARKER}")]
    github.before = lambda line: github.comments.clear() if line.startswith("PATCH") else None
    assert post() == (0, "Posted a comment of pull request 7.\n")


def test_it_gives_up_after_some_tries(github: GitHub, post: Post) -> None:
    """With a status, and not a traceback."""
    github.failures = [("GET .*/pulls", 502, {})] * 99
    assert post() == (
        1,
        "::error title=No comment was posted::GitHub answered 502 to each of several requests\n",
    )
    assert len(github.requests) == github_api.TRIES


@pytest.mark.parametrize("line", ["POST .*", "GET .*/comments", "GET .*/pulls", "GET .*/zip"])
def test_a_read_only_token_is_told_what_it_needs(line: str, github: GitHub, post: Post) -> None:
    """The message names the permissions."""
    github.failures = [(line, 403, {})]
    code, told = post()
    assert code == 1
    assert "permissions: {actions: read, pull-requests: write}" in told
    assert len(github.requests) < 10


def test_a_rate_limit_is_waited_for(github: GitHub, post: Post) -> None:
    """GitHub says 403 for it, too."""
    github.failures = [
        ("GET .*/pulls", 403, {"X-RateLimit-Remaining": "0"}),
        ("POST .*", 403, {"Retry-After": "60"}),
    ]
    assert post()[0] == 0


def test_a_host_that_is_not_there_is_a_message(post: Post) -> None:
    """Nothing listens at the first port."""
    code, told = post({"GITHUB_API_URL": "http://127.0.0.1:1"})
    assert code == 1
    assert "cannot be reached" in told


@pytest.mark.slow
def test_reading_a_review_needs_little(tmp_path: Path) -> None:
    """The job that may write installs what reads a review as the lock has it, and no more than that."""
    lines = (ROOT / "action/comment/requirements.txt").read_text("utf-8").splitlines()
    lock = (ROOT / "reportgen/site/starter/requirements.txt").read_text("utf-8").splitlines()
    assert set(lines) <= set(lock)
    allowed = {line.split("==")[0].replace("-", "_") for line in lines if "==" in line}
    code = (
        "import sys; before = {*sys.modules}; import post_comment; "
        "print(*{name.partition('.')[0] for name in {*sys.modules} - before} - sys.stdlib_module_names)"
    )
    path = {"PYTHONPATH": f"{ROOT}:{ROOT / 'action/comment'}"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=path, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    imported = {name for name in done.stdout.split() if not name.startswith("_")}
    scripts = {path.stem for path in (ROOT / "action/comment").glob("*.py")}
    assert imported - scripts - {"reportgen"} <= allowed
