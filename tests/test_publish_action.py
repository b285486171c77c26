"""The step that collects what is published, against a stand-in for GitHub that forgets, lies and is slow."""

from __future__ import annotations

import hashlib
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import collect
import pytest
from fake_github import BASE_ID, TOKEN, serve
from fake_publishing import SITE, Repository, make_archive, make_preview, make_site, make_step_variables
from tries import tries

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

A, B, C = ("a" * 40, "b" * 40, "c" * 40)
FROM_FORK = "is of a fork"
TOO_LATE = "Its newest commit came after the label"


@pytest.fixture
def github() -> Iterator[Repository]:
    """A repository without releases and pull requests."""
    with serve(Repository()) as one:
        assert isinstance(one, Repository)
        yield one


class Collected:
    """What the step wrote and said."""

    def __init__(self, code: int, folder: Path, words: str) -> None:
        self.code, self.words = code, words
        file = folder / "report-collected/arguments"
        self.arguments = file.read_text("utf-8").split("\0")[:-1] if file.exists() else None
        self.files = [one.removeprefix("--").split("=") for one in (self.arguments or [])[1:]]

    @property
    def names(self) -> list[str]:
        """Versions and previews, in their order."""
        return [name for _, name, _ in self.files]

    @property
    def contents(self) -> dict[str, bytes]:
        """The file of each."""
        return {name: Path(path).read_bytes() for _, name, path in self.files}


@pytest.fixture
def run(github: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Collected]:
    """Run the step as often as one likes. Waiting takes no time."""

    def step(**changes: str) -> Collected:
        shutil.rmtree(tmp_path / "report-collected", ignore_errors=True)
        variables = make_step_variables(github, tmp_path)
        code = collect.main(variables | changes, lambda _seconds: None)
        return Collected(code, tmp_path, capsys.readouterr().out)

    return step


Run = Any


def test_everything_that_exists_is_collected(github: Repository, run: Run) -> None:
    """The address, versions with the newest first, and previews as their runs left them."""
    github.release("v1.0", b"one")
    github.release("v1.1", b"two")
    for number in (3, 12):
        github.run(github.open_pull(number, f"{number:040x}"), f"preview {number}".encode())
    done = run()
    assert done.code == 0
    assert done.arguments[0] == f"--base-url={SITE}"
    assert [kind for kind, _, _ in done.files] == ["version", "version", "preview", "preview"]
    assert done.names == ["v1.1", "v1.0", "12", "3"]
    assert done.contents == {"v1.1": b"two", "v1.0": b"one", "12": b"preview 12", "3": b"preview 3"}
    assert "::" not in done.words


def test_the_token_is_not_sent_to_where_files_lie(github: Repository, run: Run) -> None:
    """Archives and artifacts are stored elsewhere; only the API gets the token."""
    github.release("v1.0", b"one")
    github.run(github.open_pull(3, A), b"preview")
    assert run().code == 0
    sent = {line.split("/")[1]: token for line, token in github.requests}
    assert sent == {"repos": f"Bearer {TOKEN}", "storage": None}


def test_nothing_is_no_problem(run: Run) -> None:
    """A new repository has neither."""
    done = run()
    assert (done.code, done.arguments) == (0, [f"--base-url={SITE}"])


# ---- releases -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"draft": True}, ""),
        ({"prerelease": True}, 'Release "v2" is a pre-release.'),
        ({"assets": []}, 'Release "v2" has no archive.'),
    ],
)
def test_what_is_not_released_is_no_version(
    changes: dict[str, Any], words: str, github: Repository, run: Run
) -> None:
    """Drafts, pre-releases, and releases without an archive; the last two are named."""
    github.release("v1", b"one")
    github.release("v2", b"two", **changes)
    done = run()
    assert done.names == ["v1"]
    assert words in done.words
    assert "::" not in done.words


def test_of_two_archives_none_is_taken(github: Repository, run: Run) -> None:
    """Nobody knows which; the input says so, which is how two reports share a repository."""
    release = github.release("v1", b"one", b"two")
    release["assets"].append({"id": 1, "name": "data.csv", "state": "uploaded", "size": 1})
    release["assets"].append({"id": 2, "name": "half.zip", "state": "starter", "size": 1})
    done = run()
    assert done.names == []
    first, second = (one["name"] for one in release["assets"][:2])
    assert f'Release "v1": It has 2 archives: "{first}", "{second}". The input archive says' in done.words
    assert run(REPORTGEN_ARCHIVE=f"*{second[-7:]}").contents == {"v1": b"two"}


def test_all_of_500_releases_are_looked_at(github: Repository, run: Run) -> None:
    """Over all pages."""
    for number in range(500):
        github.release(f"v{number}", *([str(number).encode()] if number % 100 == 0 else []))
    assert run().names == ["v400", "v300", "v200", "v100", "v0"]
    assert sum("/releases?" in line for line, _ in github.requests) == 5


def test_an_archive_that_is_too_large_is_not_loaded(github: Repository, run: Run) -> None:
    """Its size is known before, and the others are published."""
    github.release("v1", b"one")
    github.release("v2", b"two")["assets"][0]["size"] = collect.MOST_ARCHIVE + 1
    done = run()
    assert done.names == ["v1"]
    assert 'Release "v2": Its archive has more than 500,000,000 bytes.' in done.words


def test_the_newest_versions_are_published_where_all_are_too_large(github: Repository, run: Run) -> None:
    """GitHub Pages has a limit for the whole site."""
    for number in range(4):
        github.release(f"v{number}", b"x")["assets"][0]["size"] = collect.MOST_ARCHIVES // 3
    done = run()
    assert done.names == ["v3", "v2", "v1"]
    assert 'Release "v0": It and newer ones have more than 1,000,000,000 bytes together.' in done.words


def test_a_size_that_is_a_lie_is_noticed(
    github: Repository, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more is read than may be."""
    monkeypatch.setattr(collect, "MOST_ARCHIVE", 10)
    github.release("v1", b"x" * 11)["assets"][0]["size"] = 5
    done = run()
    assert (done.code, done.names) == (0, [])
    assert 'Release "v1": An answer has more than 10 bytes.' in done.words


def test_a_file_that_is_not_what_its_digest_says_is_left_out(github: Repository, run: Run) -> None:
    """Of a release and of a run; with the right digest it is taken."""
    github.release("v1", b"one")["assets"][0]["digest"] = f"sha256:{'0' * 64}"
    github.run(github.open_pull(3, A), b"preview")["digest"] = f"sha256:{'0' * 64}"
    right = hashlib.sha256(b"one").hexdigest()
    github.release("v2", b"one")["assets"][0]["digest"] = f"sha256:{right}"
    done = run()
    assert done.names == ["v2"]
    assert done.words.count("It is not what its digest says.") == 2


@pytest.mark.parametrize("status", [404, 410])
def test_what_goes_while_it_is_collected_is_left_out(status: int, github: Repository, run: Run) -> None:
    """A release that is deleted, an artifact that expires; the rest is published."""
    github.release("v1", b"one")
    github.run(github.open_pull(3, A), b"preview")
    github.failures += [(".*/releases/assets/.*", status, {}), (".*/artifacts/1/zip", status, {})]
    done = run()
    assert (done.code, done.names) == (0, [])
    assert done.words.count("::warning title=Not published::") == 2


@pytest.mark.parametrize(
    "tag", ['1.0 "beta"', "../x", "latest", "v1%0A::error::x", "-rf", "é", "$(id)", "a" * 300]
)
def test_a_tag_stays_a_word(tag: str, github: Repository, run: Run) -> None:
    """The log obeys no tag, and it is one argument; whether it can be published is for assemble to say."""
    github.release(tag, b"one")
    done = run()
    assert done.names == [tag]
    assert done.arguments[1].startswith(f"--version={tag}=")
    assert all(not line.startswith("::") for line in done.words.splitlines())
    assert "%0A" not in done.words


def test_a_tag_with_an_equals_sign_is_left_out(github: Repository, run: Run) -> None:
    """It would be taken for another name."""
    github.release("a=b", b"one")
    done = run()
    assert done.names == []
    assert 'Release "a=b": There is a "=" in its tag.' in done.words


# ---- previews -----------------------------------------------------------------------------------


def test_a_preview_of_an_older_commit_is_not_used(github: Repository, run: Run) -> None:
    """The newest one's run failed or goes on; the older one is not what the pull request is."""
    pull = github.open_pull(12, A)
    github.run(pull, b"old")
    github.push(pull, B)
    done = run()
    assert done.names == []
    assert "Pull request 12 has no preview of its newest commit." in done.words
    github.run(pull, b"new")
    github.artifacts.reverse()
    assert run().contents == {"12": b"new"}


def test_the_newest_of_two_runs_of_a_commit_counts(github: Repository, run: Run) -> None:
    """Such as after the run was made again."""
    pull = github.open_pull(12, A)
    github.run(pull, b"first")
    github.run(pull, b"second")
    assert run().contents == {"12": b"second"}
    github.artifacts.reverse()
    assert run().contents == {"12": b"second"}


def test_a_run_of_a_fork_for_the_same_commit_is_not_used(github: Repository, run: Run) -> None:
    """A fork has all commits of the repository, too, and may run what it likes for them."""
    github.run(github.open_pull(12, A), b"ours")
    theirs = github.open_pull(13, A, fork=True)
    github.run(theirs, b"theirs")
    done = run()
    assert done.contents == {"12": b"ours"}
    assert f"Pull request 13 {FROM_FORK}" in done.words


def test_an_expired_preview_is_not_used(github: Repository, run: Run) -> None:
    """After 90 days, unless the repository says otherwise."""
    github.run(github.open_pull(12, A), b"old")["expired"] = True
    done = run()
    assert done.names == []
    assert "Pull request 12: Its preview has expired. A new commit makes another." in done.words


def test_a_preview_that_is_too_large_is_not_loaded(github: Repository, run: Run) -> None:
    """Its size is known before."""
    github.run(github.open_pull(12, A), b"x")["size_in_bytes"] = collect.MOST_PREVIEW + 1
    done = run()
    assert done.names == []
    assert "Pull request 12: Its preview has more than 30,000,000 bytes." in done.words
    assert not any("/zip" in line for line, _ in github.requests)


def test_the_oldest_of_26_previews_is_left_out(github: Repository, run: Run) -> None:
    """A push makes a preview new, whatever the number of the pull request."""
    pulls = [github.open_pull(number, f"{number:040x}") for number in range(1, 27)]
    for pull in (*pulls[1:], pulls[0]):
        github.run(pull, b"x")
    done = run()
    assert len(done.names) == 25
    assert done.names[0] == "1"
    assert "Pull request 2: 25 others have newer previews." in done.words


def test_a_deleted_fork_has_no_preview(github: Repository, run: Run) -> None:
    """GitHub does not know any more whose branch it was."""
    pull = github.open_pull(12, A, fork=True)
    github.run(pull, b"x")
    github.label(pull)
    pull["head"]["repo"] = None
    done = run()
    assert (done.code, done.names) == (0, [])


def test_two_reports_have_artifacts_of_their_own(github: Repository, run: Run) -> None:
    """By the name that the input says."""
    pull = github.open_pull(12, A)
    github.run(pull, b"one")
    github.run(pull, b"two")["name"] = "other-preview"
    assert run().contents == {"12": b"one"}
    assert run(REPORTGEN_PREVIEW="other-preview").contents == {"12": b"two"}


# ---- forks --------------------------------------------------------------------------------------


@pytest.fixture
def fork(github: Repository) -> dict[str, Any]:
    """A pull request of a fork, built and not labelled."""
    pull = github.open_pull(12, A, fork=True)
    github.run(pull, b"theirs")
    return pull


def test_a_fork_needs_the_label(fork: dict[str, Any], github: Repository, run: Run) -> None:
    """And loses the preview with it."""
    assert f"Pull request 12 {FROM_FORK}" in run().words
    github.label(fork, "documentation")
    assert FROM_FORK in run().words
    github.label(fork)
    assert run().contents == {"12": b"theirs"}
    github.unlabel(fork)
    assert run().names == []


def test_a_later_commit_of_a_fork_needs_the_label_again(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """Whoever set it has not read that one. Dates of commits are the fork's, and not looked at."""
    github.label(fork)
    github.push(fork, B)
    github.run(fork, b"worse")
    done = run()
    assert done.names == []
    assert f"Pull request 12: {TOO_LATE}" in done.words
    github.unlabel(fork)
    github.label(fork)
    assert run().contents == {"12": b"worse"}
    assert not any("/commits" in line for line, _ in github.requests)


def test_a_commit_that_was_there_before_needs_the_label_again(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """Pushed, built, taken back before anybody reads it, and pushed again once something else is labelled."""
    github.push(fork, B)
    github.run(fork, b"worse")
    github.push(fork, C)
    github.run(fork, b"harmless")
    github.label(fork)
    assert run().contents == {"12": b"harmless"}
    github.push(fork, B)
    assert TOO_LATE in run().words
    assert run().names == []


def test_a_preview_that_was_built_after_the_label_needs_it_again(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """A new run of the same commit may have made something else."""
    github.label(fork)
    github.run(fork, b"other")
    assert TOO_LATE in run().words


def test_a_label_of_the_same_second_does_not_count(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """Nobody reads so fast."""
    github.label(fork)
    github.events[12][-1]["created_at"] = github.runs[-1]["created_at"]
    assert TOO_LATE in run().words


@pytest.mark.parametrize("kind", ["Bot", None])
def test_a_label_of_a_program_does_not_count(
    kind: str | None, fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """It labels by the names of files, for instance, and reads nothing; nor does an account that is gone."""
    github.label(fork, kind=str(kind))
    if kind is None:
        github.events[12][-1]["actor"] = None
    assert run().names == []


@pytest.mark.parametrize("status", [403, 404])
def test_a_private_fork_has_no_preview(
    status: int, fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """Nobody can know when its commits were pushed."""
    github.label(fork)
    github.failures.append((".*/activity", status, {}))
    done = run()
    assert (done.code, done.names) == (0, [])
    assert "GitHub does not say when its newest commit was pushed." in done.words


def test_a_branch_that_moves_meanwhile_is_left_out(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """The next run sees the new commit."""
    github.label(fork)
    github.push(fork, B)
    fork["head"]["sha"] = A
    assert "GitHub does not say when" in run().words


def test_an_artifact_of_another_kind_of_run_is_not_used(
    fork: dict[str, Any], github: Repository, run: Run
) -> None:
    """Only runs of pull requests are without rights."""
    github.runs[0]["event"] = "pull_request_target"
    github.label(fork)
    assert run().names == []


# ---- GitHub itself ------------------------------------------------------------------------------


@pytest.mark.parametrize("pages", [404, 403, {"html_url": SITE, "build_type": "legacy"}])
def test_pages_that_are_not_switched_on_need_two_clicks(
    pages: int | dict[str, Any], github: Repository, run: Run
) -> None:
    """In the words of GitHub's menus; and nothing else is asked for."""
    github.pages = pages
    done = run()
    assert (done.code, done.arguments) == (1, None)
    assert 'choose "GitHub Actions" in the menu "Source"' in done.words
    assert len(github.requests) == 1
    assert ("pages: read" in done.words) == (pages == 403)


def test_an_address_that_is_given_is_not_asked_for(github: Repository, run: Run) -> None:
    """Such as behind a proxy of one's own."""
    github.pages = 403
    assert run(REPORTGEN_BASE_URL="https://else.example/").arguments == ["--base-url=https://else.example/"]


@pytest.mark.parametrize(
    "address",
    ["https://lab.github.io/", "https://results.lab.example/", "https://renamed.github.io/new-name/"],
)
def test_the_address_is_what_pages_says_now(address: str, github: Repository, run: Run) -> None:
    """Of a user's site, of a custom domain, and after the repository was renamed."""
    github.pages = {"html_url": address, "build_type": "workflow"}
    assert run().arguments == [f"--base-url={address}"]


PATHS = [
    "/pages",
    "/releases",
    "/pulls",
    "/actions/artifacts",
    "/releases/assets/.*",
    "/actions/artifacts/1/zip",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("status", [429, 502])
def test_a_failure_that_passes_is_tried_again(status: int, path: str, github: Repository, run: Run) -> None:
    """Nothing is left out because GitHub had a bad moment."""
    github.run(github.open_pull(12, A), b"x")
    github.release("v1", b"one")
    github.failures += 3 * [(f"GET /repos/lab/report{path}", status, {"Retry-After": "1"})]
    assert run().names == ["v1", "12"]
    assert github.failures == []


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("status", [403, 500])
def test_a_failure_that_lasts_publishes_nothing(status: int, path: str, github: Repository, run: Run) -> None:
    """The site stays as it is; half of it would look as if the rest was gone."""
    github.run(github.open_pull(12, A), b"x")
    github.release("v1", b"one")
    github.failures += 9 * [(f"GET /repos/lab/report{path}", status, {})]
    done = run()
    assert (done.code, done.arguments) == (1, None)
    assert "::error title=The site was not published::" in done.words
    assert ("permissions: {contents: read, actions: read" in done.words) == (status == 403)


def test_a_repository_that_is_renamed_meanwhile_is_said(github: Repository, run: Run) -> None:
    """The API redirects to another address."""
    github.failures.append((".*/releases", 301, {"Location": "https://api.example/repositories/1/releases"}))
    done = run()
    assert done.code == 1
    assert "The repository was renamed or moved. Run the workflow again." in done.words


# ---- the whole deploy ---------------------------------------------------------------------------


def assemble(main: Path, public: Path, arguments: list[str]) -> dict[str, bytes]:
    """Assemble the site as the action does, and read what is published."""
    command = ["publish", "assemble", f"--main={main}", f"--to={public}", *arguments]
    cli.main(command, standalone_mode=False)
    return {p.relative_to(public).as_posix(): p.read_bytes() for p in public.rglob("*") if p.is_file()}


class Work:
    """People, a fork among them, who work on a repository at random; and what has to be published of it.

    ``previews`` has the newest content for each pull request and commit, ``approved`` the content that
    somebody has seen and labelled since it was pushed.
    """

    def __init__(self, github: Repository, seed: int) -> None:
        self.github, self.random = github, random.Random(seed)  # noqa: S311 - no secret
        self.previews: dict[tuple[int, str], bytes] = {}
        self.approved: dict[int, bytes | None] = {}
        self.versions: dict[str, bytes] = {}
        self.opened = 0

    def act(self) -> None:
        """Do something that is possible now."""
        actions = [self.open, self.release]
        if self.github.pulls:
            actions += [self.push, self.take_back, self.rerun, self.unlabel, self.close, *4 * [self.label]]
        self.random.choice(actions)()

    def choose(self) -> dict[str, Any]:
        """An open pull request."""
        chosen: dict[str, Any] = self.random.choice(self.github.pulls)
        return chosen

    def build(self, pull: dict[str, Any]) -> None:
        """Run the workflow; one run in four is lost."""
        words = f"preview {len(self.github.runs)}"
        content = None if self.random.random() < 0.25 else make_preview(words)
        self.github.run(pull, content)
        if content is not None:
            self.previews[pull["number"], pull["head"]["sha"]] = content
            self.approved[pull["number"]] = None

    def open(self) -> None:
        """Open a pull request."""
        self.opened += 1
        sha = f"{self.random.getrandbits(160):040x}"
        self.build(self.github.open_pull(self.opened, sha, fork=self.random.random() < 0.6))

    def push(self) -> None:
        """Push a new commit."""
        pull = self.choose()
        self.github.push(pull, f"{self.random.getrandbits(160):040x}")
        self.approved[pull["number"]] = None
        self.build(pull)

    def take_back(self) -> None:
        """Push a commit that was there before, whose workflow does not run again."""
        pull = self.choose()
        known = [sha for number, sha in self.previews if number == pull["number"]]
        if known:
            self.github.push(pull, self.random.choice(known))
            self.approved[pull["number"]] = None

    def rerun(self) -> None:
        """Run the workflow for a commit again."""
        self.build(self.choose())

    def label(self) -> None:
        """Read what is there, and label it, anew if need be."""
        pull = self.choose()
        if pull["labels"]:
            self.github.unlabel(pull)
        self.github.label(pull)
        self.approved[pull["number"]] = self.previews.get((pull["number"], pull["head"]["sha"]))

    def unlabel(self) -> None:
        """Change one's mind."""
        pull = self.choose()
        self.github.unlabel(pull)
        self.approved[pull["number"]] = None

    def close(self) -> None:
        """Close a pull request, merged or not."""
        self.github.pulls.remove(self.choose())

    def release(self) -> None:
        """Release a version, or delete one."""
        if self.versions and self.random.random() < 0.3:
            gone = self.random.choice(sorted(self.versions))
            del self.versions[gone]
            self.github.releases = [one for one in self.github.releases if one["tag_name"] != gone]
            return
        tag = f"v{self.github.seconds}"
        self.versions[tag] = make_archive(f"version {tag}")
        self.github.release(tag, self.versions[tag])

    def find_published(self) -> dict[str, bytes]:
        """Content by version and by number of each pull request that has to be published."""
        found = dict(self.versions)
        for pull in self.github.pulls:
            number, head = pull["number"], pull["head"]
            content = self.previews.get((number, head["sha"]))
            if content and (head["repo"]["id"] == BASE_ID or self.approved[number] == content):
                found[str(number)] = content
        return found


@pytest.mark.random
def test_lost_runs_lose_nothing(github: Repository, run: Run, tmp_path: Path) -> None:
    """After random histories, with runs lost anywhere, the site is that of what exists, byte for byte."""
    main = tmp_path / "main"
    main.mkdir()
    for name, text in make_site("main").items():
        (main / name).write_text(text, encoding="utf-8")
    forks = 0
    histories = tries(10, 200)
    for seed in range(histories):
        for name, empty in vars(Repository()).items():
            if name not in {"url", "pages"}:
                setattr(github, name, empty)
        work, public = Work(github, seed), tmp_path / f"public-{seed}"
        for _ in range(work.random.randrange(1, 20)):
            work.act()
            # Of the runs that publish, too, most are lost: a newer one takes the place of one that waits.
            if work.random.random() < 0.05:
                assemble(main, public, run().arguments)
        done = run()
        published, expected = assemble(main, public, done.arguments), work.find_published()
        assert done.contents == expected, seed
        given = []
        for name, content in expected.items():
            path = tmp_path / f"given-{seed}-{name}.zip"
            path.write_bytes(content)
            given.append(f"--{'preview' if name.isdecimal() else 'version'}={name}={path}")
        fresh = assemble(main, tmp_path / f"fresh-{seed}", [f"--base-url={SITE}", *given])
        assert published == fresh, seed
        names = {name.split("/")[1] for name in published if name.startswith(("v/", "pr/"))}
        assert names == set(expected), seed
        forks += sum(
            str(pull["number"]) in expected and pull["head"]["repo"]["id"] != BASE_ID for pull in github.pulls
        )
    assert forks / histories > 0.15
