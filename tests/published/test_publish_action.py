"""The step that collects what is published, against a stand-in for GitHub that forgets, lies and is slow.

What it collects and says stands in ``collecting.md``; here are its page's commands and random work.
"""

from __future__ import annotations

import json
import random
import re
import shlex
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import collect
import pytest
from case_pages import Case, name_case, read_pages
from fake_github import (
    BASE_ID,
    SITE,
    TOKEN,
    Repository,
    make_archive,
    make_preview,
    make_site,
    make_step_variables,
    serve,
)
from made_projects import files_below
from tries import tries

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CASES = read_pages(Path(__file__).parent)


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


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_the_step_collects_what_was_accepted(
    case: Case, github: Repository, run: Run, request: pytest.FixtureRequest
) -> None:
    """What it collects and says is what somebody read and accepted."""
    lines = (line for line in case.expected.splitlines() if line.startswith("$ "))
    found = "".join(f"{line}\n{work(github, run, *shlex.split(line[2:]))}" for line in lines)
    case.compare(found, accept=request.config.getoption("--accept"))


def work(github: Repository, run: Run, name: str, *words: str) -> str:
    """Do what a command of the page says; return what it prints."""
    pulls = {str(one["number"]): one for one in github.pulls}
    if name in CHANGES:
        CHANGES[name](github, *(pulls.get(word, word) for word in words))
        return ""
    if name == "requests":
        lines = (line.partition("?")[0] for line, _ in github.requests)
        return "".join(f"{line}\n" for line in dict.fromkeys(lines))
    assert name == "collect", name
    github.requests.clear()
    done = run(**dict(one.split("=", 1) for one in words))
    left = f"refusals left: {len(github.failures)}\n" if github.failures else ""
    github.failures.clear()
    return describe(done, github) + left


def fail(github: Repository, pattern: str, status: str, times: str = "1") -> None:
    """Refuse the next requests that fit."""
    later = {"Retry-After": "1"} if status in {"429", "502"} else {}
    headers = {"Location": "https://api.example/repositories/1"} if status == "301" else later
    github.failures += int(times) * [(f"GET {pattern}", int(status), headers)]


def change(github: Repository, path: str, value: str) -> None:
    """Change what GitHub says at a place, such as ``artifacts.0.expired``, to JSON or a word."""
    *keys, last = path.split(".")
    place: Any = vars(github)
    for key in keys:
        place = place[
            int(key) if isinstance(place, list) or (keys[0] == "events" and key.isdecimal()) else key
        ]
    place[last] = json.loads(value) if re.match(r"\{|(\d+|true|false|null)$", value) else value


CHANGES: dict[str, Callable[..., object]] = {
    "release": lambda github, tag, *contents: github.release(tag, *(one.encode() for one in contents)),
    "open": lambda github, number, sha, *fork: github.open_pull(int(number), sha * 40, fork=bool(fork)),
    "run": lambda github, pull, content: github.run(pull, content.encode()),
    "push": lambda github, pull, sha: github.push(pull, sha * 40),
    "label": Repository.label,
    "unlabel": Repository.unlabel,
    "reverse": lambda github, entries: getattr(github, entries).reverse(),
    "fail": fail,
    "change": change,
}


def describe(done: Collected, github: Repository) -> str:
    """The arguments for ``assemble``, with the content of each file, and what is said."""
    lines = [] if done.arguments is None else done.arguments[:1]
    lines += [f"--{kind}={name}: {Path(path).read_text('utf-8')}" for kind, name, path in done.files]
    lines += done.words.replace(github.url, "https://api.example").splitlines()
    lines += [f"exit status {done.code}"] * (done.code != 0)
    return "".join(f"{line}\n" for line in lines)


def test_the_token_is_not_sent_to_where_files_lie(github: Repository, run: Run) -> None:
    """Archives and artifacts are stored elsewhere; only the API gets the token."""
    github.release("v1.0", b"one")
    github.run(github.open_pull(3, "a" * 40), b"preview")
    assert run().code == 0
    sent = {line.split("/")[1]: token for line, token in github.requests}
    assert sent == {"repos": f"Bearer {TOKEN}", "storage": None}


def test_all_of_500_releases_are_looked_at(github: Repository, run: Run) -> None:
    """Over all pages."""
    for number in range(500):
        github.release(f"v{number}", *([str(number).encode()] if number % 100 == 0 else []))
    assert run().names == ["v400", "v300", "v200", "v100", "v0"]
    assert sum("/releases?" in line for line, _ in github.requests) == 5


def test_a_size_that_is_a_lie_is_noticed(
    github: Repository, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more is read than may be."""
    monkeypatch.setattr(collect, "MOST_ARCHIVE", 10)
    github.release("v1", b"x" * 11)["assets"][0]["size"] = 5
    done = run()
    assert (done.code, done.names) == (0, [])
    assert 'Release "v1": An answer has more than 10 bytes.' in done.words


def test_the_oldest_of_26_previews_is_left_out(github: Repository, run: Run) -> None:
    """A push makes a preview new, whatever the number of the pull request."""
    pulls = [github.open_pull(number, f"{number:040x}") for number in range(1, 27)]
    for pull in (*pulls[1:], pulls[0]):
        github.run(pull, b"x")
    done = run()
    assert len(done.names) == 25
    assert done.names[0] == "1"
    assert "Pull request 2: 25 others have newer previews." in done.words


# ---- the whole deploy ---------------------------------------------------------------------------


def assemble(main: Path, public: Path, arguments: list[str]) -> dict[str, bytes]:
    """Assemble the site as the action does, and read what is published."""
    command = ["publish", f"--main={main}", f"--to={public}", *arguments]
    cli.main(command, standalone_mode=False)
    return files_below(public)


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
