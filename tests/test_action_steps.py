"""Steps of the actions: their inputs are words, and so is what strangers leave in an artifact."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import post_comment
import pytest
import store_pictures
import yaml
from fake_github import HEAD_SHA, TOKEN, GitHub, make_variables, make_zip, serve
from made_archives import REPORT, commit
from made_projects import write_report
from made_reviews import EVERYTHING, make_review

from reportgen.review.comment import CommentContext, write_comment
from reportgen.review.images import draw_pictures
from reportgen.review.model import MOST_BYTES, Origin, write_review

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


ROOT = Path(__file__).parents[1]


# ---- scripts


def read_action(name: str) -> dict[str, Any]:
    """An action, as it is written."""
    action: dict[str, Any] = yaml.safe_load((ROOT / "action" / name / "action.yml").read_text("utf-8"))
    return action


@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "action").glob("*/action.yml")))
def test_values_reach_scripts_through_the_environment(name: str) -> None:
    """No expression stands in a script, and each script stops at its first failure."""
    scripts = [step["run"] for step in read_action(name)["runs"]["steps"] if "run" in step]
    assert scripts
    for script in scripts:
        assert script.startswith("set -euo pipefail\n")
        assert "${{" not in script
        subprocess.run(["bash", "-n", "-c", script], check=True)  # noqa: S607 - on PATH everywhere


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """The temporary folder of a runner, with a reportgen that notes its arguments and a page, and fails."""
    for name in ("review", "publish"):
        folder = tmp_path / f"reportgen-{name}/bin"
        folder.mkdir(parents=True)
        program = folder / "reportgen"
        program.write_text(
            '#!/usr/bin/env bash\nprintf "%s\\n" "$@" ${SITE_URL:+"$SITE_URL"} >> "$RUNNER_TEMP/arguments"\n'
            'mkdir -p "$RUNNER_TEMP/report-review"\n'
            'echo page > "$RUNNER_TEMP/report-review/review.html"\n[ "$1" = build ] || [ "$1" = publish ]\n',
            encoding="utf-8",
        )
        program.chmod(0o755)
        (folder / "python").write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', "utf-8")
        (folder / "python").chmod(0o755)
    return tmp_path


def run_step(
    runner: Path,
    name: str,
    variables: dict[str, str],
    action: str = "review",
    *,
    folder: Path | None = None,
    more: dict[str, str] | None = None,
) -> int:
    """The exit code of a step of an action."""
    (step,) = [one for one in read_action(action)["runs"]["steps"] if one.get("name") == name]
    assert set(step["env"]) == set(variables)
    environment = {
        "PATH": os.environ["PATH"],
        "RUNNER_TEMP": str(runner),
        "GITHUB_OUTPUT": str(runner / "output"),
        "GITHUB_RUN_ATTEMPT": "2",
    }
    words = ["bash", "-c", step["run"]]
    return subprocess.run(
        words, env=environment | variables | (more or {}), cwd=folder or runner, check=False
    ).returncode


def test_the_review_is_red_and_its_page_is_kept(runner: Path) -> None:
    """Inputs are words and nothing else, and the page gets the name of its artifact."""
    hostile = '$(touch "$RUNNER_TEMP/ran"); `touch ran` --help'
    variables = {"CONFIG_FILE": hostile, "FAIL_ON": "flips"}
    assert run_step(runner, "Review the report", variables) == 1
    first, *others = (runner / "arguments").read_text("utf-8").splitlines()
    assert first == "review"
    assert f"--config-file={hostile}" in others
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "-n a/b"}) == 0
    assert [path.name for path in (runner / "report-review-page").iterdir()] == ["-n a-b.html"]
    assert not (runner / "ran").exists()
    # Without a page there is nothing to name.
    shutil.rmtree(runner / "report-review")
    shutil.rmtree(runner / "report-review-page")
    assert run_step(runner, "Name review.html after its artifact", {"ARTIFACT": "report-review"}) == 0
    assert not (runner / "report-review-page").exists()


@pytest.fixture
def report(runner: Path) -> Path:
    """The settings of a report whose name and site_dir are no plain words."""
    path = runner / "$(touch ran) mkdocs.yml"
    (runner / "docs").mkdir()
    path.write_text("site_name: x\nsite_dir: the site\n", "utf-8")
    return path


def test_a_report_that_fails_is_built_for_its_preview(runner: Path, report: Path) -> None:
    """The job is red, since a statement fails, and the page can be looked at."""
    assert run_step(runner, "Check and build the report", {"CONFIG_FILE": str(report)}) == 1
    arguments = (runner / "arguments").read_text("utf-8").splitlines()
    config = f"--config-file={report}"
    assert arguments == ["check", config, "--format=github", "build", config]
    assert (runner / "output").read_text("utf-8") == f"site={runner}/the site\n"
    assert not (runner / "ran").exists()


@pytest.mark.parametrize(("strict", "options"), [("true", ["--strict"]), ("false", [])])
def test_the_default_branch_is_built_strictly(strict: str, options: list[str], runner: Path) -> None:
    """Unless the input says otherwise; and it may know its address."""
    (runner / "report-collected").mkdir()
    (runner / "report-collected/arguments").write_text("--base-url=https://x/a/\0--version=1=b\0", "utf-8")
    variables = {"CONFIG_FILE": "a b.yml", "STRICT": strict}
    assert run_step(runner, "Build the site", variables, "publish") == 0
    arguments = (runner / "arguments").read_text("utf-8").splitlines()
    assert arguments == ["build", "--config-file=a b.yml", *options, "https://x/a/"]


@pytest.mark.parametrize("collected", [[], ["--base-url=https://x/", "--version=$(touch ran) `x` *=a b.zip"]])
def test_what_was_collected_is_assembled(collected: list[str], runner: Path, report: Path) -> None:
    """Each argument is a word, and the artifact has a name of its own in each attempt of a run."""
    (runner / "report-collected").mkdir()
    file = runner / "report-collected/arguments"
    file.write_text("".join(f"{one}\0" for one in collected), "utf-8")
    step = "Assemble the site with its versions and previews"
    assert run_step(runner, step, {"CONFIG_FILE": str(report)}, "publish") == 0
    arguments = (runner / "arguments").read_text("utf-8").splitlines()
    known = ["publish", f"--main={runner}/the site", f"--to={runner}/report-site"]
    assert arguments == [*known, *collected]
    assert (runner / "output").read_text("utf-8") == "artifact=github-pages-2\n"
    assert not (runner / "ran").exists()


def test_only_what_asks_github_has_the_token() -> None:
    """Neither the build nor what unpacks files of others."""
    for name in ("publish", "comment"):
        steps = [step for step in read_action(name)["runs"]["steps"] if "inputs.token" in str(step)]
        assert len(steps) == 1
        assert "reportgen " not in steps[0]["run"]


ARCHIVING = "Archive and verify the report"


def write_program(path: Path, script: str) -> None:
    """Write a program that stands for another."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/usr/bin/env bash\n{script}\n", "utf-8")
    path.chmod(0o755)


def write_archived(folder: Path) -> Path:
    """A committed report, and the command that archives it."""
    write_program(folder / "reportgen-archive/bin/reportgen", f'exec "{sys.executable}" -m reportgen "$@"')
    return commit(write_report(folder / "some report", REPORT))


@pytest.mark.parametrize(
    ("version", "name"),
    [
        pytest.param("1.0", "some-report-1.0.zip", marks=pytest.mark.slow),
        pytest.param("", "some-report.zip", marks=pytest.mark.slow),
        ("a/$(touch${IFS}ran)*", "some-report-a---touch--IFS-ran--.zip"),
    ],
    ids=["version", "none", "hostile"],
)
def test_the_archive_is_where_the_output_says(tmp_path: Path, version: str, name: str) -> None:
    """The step runs the command itself: the archive has the site, and was verified."""
    root = write_archived(tmp_path)
    variables = {"CONFIG_FILE": "mkdocs.yml", "VERSION": version}
    assert run_step(tmp_path, ARCHIVING, variables, action="archive", folder=root) == 0
    path = tmp_path / "report-archive" / name
    assert (tmp_path / "output").read_text("utf-8") == f"archive={path}\n"
    with zipfile.ZipFile(path) as file:
        assert {"report.html", "site/index.html"} <= set(file.namelist())
        metadata = json.loads(file.read(".zenodo.json"))
    assert metadata["version"] == (version or "1.0")
    assert not list(tmp_path.rglob("ran"))


@pytest.mark.slow
def test_a_report_that_is_not_committed_is_not_archived(tmp_path: Path) -> None:
    """A release that nobody can build again is no release."""
    root = write_archived(tmp_path)
    (root / "data/other.csv").write_text(REPORT["data/other.csv"] + "MEL,3,0,0.2\n")
    variables = {"CONFIG_FILE": "mkdocs.yml", "VERSION": "1.0"}
    assert run_step(tmp_path, ARCHIVING, variables, action="archive", folder=root) == 1
    assert not (tmp_path / "output").exists()


def test_the_signature_is_stored_beside_the_archive(tmp_path: Path) -> None:
    """With what it is checked by, so that no service has to be there then."""
    write_program(tmp_path / "programs/gh", '[ "$*" = "attestation trusted-root" ] && echo "{}"')
    (tmp_path / "bundle.json").write_text("signed", "utf-8")
    archive = tmp_path / "report-archive/-n 1.zip"
    archive.parent.mkdir()
    variables = {"ARCHIVE": str(archive), "BUNDLE": str(tmp_path / "bundle.json"), "GH_TOKEN": "x"}
    path = {"PATH": f"{tmp_path / 'programs'}:{os.environ['PATH']}"}
    step = "Store the signature and what it is checked by"
    assert run_step(tmp_path, step, variables, action="archive", more=path) == 0
    assert (archive.parent / "-n 1.zip.sigstore.json").read_text("utf-8") == "signed"
    assert (archive.parent / "trusted_root.jsonl").read_text("utf-8") == "{}\n"


def test_only_an_archive_that_is_to_be_signed_is_signed() -> None:
    """Both steps that need the permissions of a signature depend on the input, which is off by default."""
    action = read_action("archive")
    assert action["inputs"]["attest"]["default"] == "false"
    signing = [step for step in action["runs"]["steps"] if "attest" in json.dumps(step)]
    assert [step["if"] for step in signing] == ["${{ inputs.attest == 'true' }}"] * 2


def test_actions_publish_the_previews_that_the_program_takes() -> None:
    """What a runner collects and links to has the limits that ``test_publish_assemble.py`` shows of it."""
    for name in ("publish/collect.py", "comment/post_comment.py"):
        text = (ROOT / "action" / name).read_text("utf-8")
        stated = {
            key: int(number) for key, number in re.findall(r"^(MOST_\w+) = ([\d_]+)$", text, re.MULTILINE)
        }
        assert stated["MOST_PREVIEW"] == 30_000_000
        assert stated.get("MOST_PREVIEWS", 25) == 25


# ---- what strangers leave

HEAD = Origin(kind="revision", name="HEAD", commit=HEAD_SHA)
REVIEW = EVERYTHING.model_copy(update={"head": HEAD})
GOOD = write_review(REVIEW)
REF = "refs/heads/reportgen-pictures"
LINK = re.compile(r'(?:src|srcset)="https://github\.example/lab/report/blob/(\w{40})/([^"?]+)\?raw=true"')


@pytest.fixture
def github() -> Iterator[GitHub]:
    """A stand-in with a pull request of a fork, whose run left a good review of figures."""
    with serve(GitHub()) as one:
        one.add_artifact(
            make_zip(("review.json", write_review(EVERYTHING.model_copy(update={"head": HEAD}))))
        )
        yield one


Step = Any


@pytest.fixture
def step(github: GitHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[[], tuple[int, str]]:
    """The step that comments, with pictures; returns its exit code and words."""

    def run() -> tuple[int, str]:
        variables = make_variables(github, tmp_path / "event.json") | {"REPORTGEN_PICTURES": "branch"}
        return post_comment.main(variables, lambda _seconds: None), capsys.readouterr().out

    return run


def test_the_comment_shows_what_was_drawn_here(step: Step, github: GitHub) -> None:
    """Light and dark, from the numbers of the review, at one commit of a branch without a history."""
    assert step() == (0, "Posted a comment of pull request 7.\n")
    links = LINK.findall(github.comments[0]["body"])
    assert len(links) == 8
    (made,) = {one for one, _path in links}
    assert github.git.refs == {REF: made}
    assert github.git.objects[made]["commit"]["parents"] == []
    files = github.git.list_files(made)
    assert b"reportgen writes this branch" in files.pop("README.md")
    folder = {path.rpartition("/")[0] for path in files}
    assert [re.fullmatch(r"pr/7/bbbbbbbb/[0-9a-f]{8}", one) is not None for one in folder] == [True]
    drawn = {path.rpartition("/")[2]: content for path, content in files.items()}
    assert drawn == dict(draw_pictures(REVIEW, 4))
    around = CommentContext(
        link="https://github.example/lab/report/actions/runs/5",
        from_fork=True,
        picture_base=f"https://github.example/lab/report/blob/{made}/{folder.pop()}?raw=true",
    )
    assert github.comments[0]["body"] == write_comment(REVIEW, surroundings=around)


def make_member(name: str = "review.json", kind: int = stat.S_IFREG) -> zipfile.ZipInfo:
    """A member of a zip with the mode of a kind of file."""
    member = zipfile.ZipInfo(name)
    member.external_attr = (kind | 0o644) << 16
    return member


def make_bomb(size: int) -> bytes:
    """A zip whose only member is of this size, and says that it is small."""
    content = make_zip(("review.json", b" " * size))
    return content.replace(size.to_bytes(4, "little"), (100).to_bytes(4, "little"))


OTHER = write_review(make_review(head=HEAD.model_copy(update={"commit": "d" * 40})))
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
    "NaN": (make_zip(("review.json", GOOD.replace("0.281", "NaN"))), SCHEMA),
    "infinite": (make_zip(("review.json", GOOD.replace("0.281", "1e999"))), SCHEMA),
    "huge string": (make_zip(("review.json", GOOD.replace("GRPO", "G" * 3_000_000, 1))), SCHEMA),
    "deep": (make_zip(("review.json", "[" * 1_000_000)), SCHEMA),
    "another commit": (make_zip(("review.json", OTHER)), "is not about the commit"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_artifact_is_refused(kind: str, step: Step, github: GitHub) -> None:
    """With one line, in which nothing of it is repeated, and without a comment."""
    content, words = HOSTILE[kind]
    # Its size is a lie of the list.
    github.add_artifact(content() if callable(content) else content, size_in_bytes=100)
    code, told = step()
    assert code == 1
    assert words in told
    assert told.startswith("::error title=No comment was posted::")
    assert told.count("\n") == 1
    assert len(told) < 200
    assert not github.comments


@pytest.mark.parametrize("fault", ["too long", "early"])
def test_drawing_that_fails_leaves_a_comment(
    fault: str,
    github: GitHub,
    monkeypatch: pytest.MonkeyPatch,
    step: Step,
) -> None:
    """Whatever a stranger's numbers do to the program that draws; so does one that cannot even begin."""
    why = "Drawing took more than 0.01 seconds." if fault == "too long" else "Drawing ended with 1."
    if fault == "too long":
        monkeypatch.setattr(store_pictures, "SECONDS", 0.01)
    else:
        monkeypatch.setattr(sys, "executable", shutil.which("false"))
    assert step() == (
        0,
        f"::warning title=The comment has no pictures::{why}\nPosted a comment of pull request 7.\n",
    )
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
    (tmp_path / "review.json").write_text(GOOD, encoding="utf-8")
    path = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)]), "PATH": os.environ["PATH"]}
    words = ["-S", "-P", "-m", "reportgen", *store_pictures.DRAW]
    done = subprocess.run(
        [sys.executable, *words],
        env=path,
        cwd=tmp_path,
        input=GOOD,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len([*(tmp_path / "pictures").iterdir()]) == 8


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
