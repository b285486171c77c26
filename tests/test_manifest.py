"""Nothing changed is told only where building again would give the same site."""

from __future__ import annotations

import json
import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

import pytest

from reportgen.core.cache import cache_folder
from reportgen.site.replacing.records import record_folder
from reportgen.site.reuse import manifest
from reportgen.site.reuse.manifest import Build, Summary, check_unchanged, list_repository_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MADE = Summary(pages=2, figures=3, cache_hits=4, warnings=0)


def started(root: Path) -> int:
    """The file system's time now."""
    mark = root / "started"
    mark.write_bytes(b"")
    return mark.stat().st_mtime_ns


class Project:
    """A report that was built: content, data, a picture and a site."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.config = root / "mkdocs.yml"
        self.page = root / "content" / "index.md"
        self.data = root / "data" / "runs.csv"
        self.output = root / "site" / "index.html"
        for path in (self.config, self.page, self.data, self.output):
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"text of {path.name}", encoding="utf-8")
            self.age(path)

    def age(self, path: Path, seconds: int = 60) -> None:
        """Make a file look older than the build."""
        then = path.stat().st_mtime_ns - seconds * 10**9
        os.utime(path, ns=(then, then))

    def record(self, summary: Summary = MADE) -> None:
        """Write down a build that began now."""
        build = Build(self.config, self.root / "site", summary, started(self.root))
        record_folder(self.root / "site", cache_folder(self.root))
        manifest.write(build, [self.config, self.page.parent, self.data.parent], {}, {})

    def unchanged(self, *, strict: bool = False) -> bool:
        """Whether the next build would be spared."""
        return check_unchanged(self.config, strict=strict) is not None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A report right after its build."""
    made = Project(tmp_path)
    made.record()
    return made


def test_nothing_changed(project: Project) -> None:
    """The summary of the build comes back, as often as it is asked for."""
    assert check_unchanged(project.config, strict=False) == MADE
    assert check_unchanged(project.config, strict=True) == MADE


def test_without_a_build_there_is_nothing_to_compare(tmp_path: Path) -> None:
    """A fresh clone builds."""
    assert check_unchanged(Project(tmp_path).config, strict=False) is None


CHANGES: dict[str, Callable[[Project], Any]] = {
    "content": lambda p: p.page.write_text("other words", encoding="utf-8"),
    "content of the same size": lambda p: p.page.write_text("text of INDEX.md", encoding="utf-8"),
    "data": lambda p: p.data.write_text("series,step,value\n", encoding="utf-8"),
    "settings": lambda p: p.config.write_text("site_name: other", encoding="utf-8"),
    "a new page": lambda p: (p.page.parent / "new.md").write_text("# New", encoding="utf-8"),
    "a new file deep in the data": lambda p: new_file(p.data.parent / "a" / "b" / "c.csv"),
    "a page that is gone": lambda p: p.page.unlink(),
    "data that are gone": lambda p: p.data.unlink(),
    "a renamed page": lambda p: p.page.rename(p.page.with_name("home.md")),
    "an output that is gone": lambda p: p.output.unlink(),
    "an output that was edited": lambda p: p.output.write_text("mine", encoding="utf-8"),
    "an output that was touched": lambda p: p.age(p.output),
    "a foreign file in the site": lambda p: (p.output.parent / "CNAME").write_text("x", encoding="utf-8"),
    "no site": lambda p: shutil.rmtree(p.output.parent),
}


def new_file(path: Path) -> None:
    """A file in new folders."""
    path.parent.mkdir(parents=True)
    path.write_text("x", encoding="utf-8")


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_asks_for_a_build(project: Project, change: Callable[[Project], Any]) -> None:
    """Of what goes in and of what came out."""
    change(project)
    assert not project.unchanged()


@pytest.mark.parametrize(
    ("name", "value"),
    [("SOURCE_DATE_EPOCH", "86400"), ("python", "4.0"), ("packages", "others")],
)
def test_another_environment_asks_for_a_build(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Another date, another Python, or another version of a package may give another site."""
    here = manifest.describe_environment()
    assert name in here
    monkeypatch.setattr(manifest, "describe_environment", lambda: here | {name: value})
    assert not project.unchanged()


def test_the_date_in_the_environment_is_part_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It decides the dates on the pages."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1")
    one = manifest.describe_environment()
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert manifest.describe_environment() != one


def test_a_package_of_another_version_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upgrade of MkDocs or of a theme is an upgrade of the site."""
    before = manifest.describe_environment()
    (tmp_path / "site-packages" / "mkdocs-9.9.9.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site-packages")])
    assert manifest.describe_environment() != before


def test_a_file_that_was_only_touched_is_hashed(project: Project) -> None:
    """A checkout gives new times to the same content, and after one look they are known."""
    os.utime(project.data)
    assert project.unchanged()
    known = json.loads((cache_folder(project.root) / "manifest.json").read_text(encoding="utf-8"))["inputs"]
    assert known[str(project.data)][1] == project.data.stat().st_mtime_ns
    assert project.unchanged()


def test_files_that_decide_nothing_are_passed_over(project: Project) -> None:
    """Caches of Python and of git, and environments."""
    for name in ("__pycache__", ".git", ".venv"):
        new_file(project.data.parent / name / "x")
    assert project.unchanged()


def test_a_file_outside_the_listed_folders_changes_nothing(project: Project) -> None:
    """A README beside the report is no input."""
    (project.root / "README.md").write_text("x", encoding="utf-8")
    assert project.unchanged()


def test_warnings_are_not_spared_by_strict(project: Project) -> None:
    """A build with warnings stands for a plain build, but a strict one has to fail."""
    project.record(Summary(2, 3, 4, warnings=1))
    assert project.unchanged()
    assert not project.unchanged(strict=True)


def test_another_settings_file_is_another_report(project: Project) -> None:
    """Two files in one folder do not stand for each other."""
    other = project.root / "other.yml"
    other.write_text(project.config.read_text(encoding="utf-8"), encoding="utf-8")
    assert check_unchanged(other, strict=False) is None


def test_a_file_that_is_saved_during_the_build_is_no_input_of_it(project: Project) -> None:
    """The build may have read what stood there before; the next one is a real one."""
    build = Build(project.config, project.root / "site", MADE, started(project.root))
    project.page.write_text("saved in the middle of the build", encoding="utf-8")
    manifest.write(build, [project.page.parent], {}, {})
    assert not project.unchanged()


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"x"', "{}", '{"format": 2}', '{"format": 1, "environment": {}}', "\x00"],
)
def test_a_damaged_manifest_is_none(project: Project, text: str) -> None:
    """Whatever stands there, the answer is to build."""
    (cache_folder(project.root) / "manifest.json").write_text(text, encoding="utf-8")
    assert not project.unchanged()


PARTS = ["format", "environment", "config", "site", "roots", "inputs", "summary"]


@pytest.mark.parametrize("key", PARTS)
@pytest.mark.parametrize("value", [None, 6, [], {}, "x"])
def test_a_manifest_with_one_wrong_part_is_none(project: Project, key: str, value: object) -> None:
    """Another version's manifest, or one that somebody edited."""
    path = cache_folder(project.root) / "manifest.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(whole | {key: value}), encoding="utf-8")
    assert not project.unchanged()


def test_forgetting_asks_for_a_build(project: Project) -> None:
    """And forgetting twice is no error."""
    manifest.remove(project.root)
    manifest.remove(project.root)
    assert not project.unchanged()


def test_hashes_that_are_known_are_not_computed_again(project: Project) -> None:
    """Data of gigabytes were hashed when they were read."""
    build = Build(project.config, project.root / "site", MADE, started(project.root))
    manifest.write(build, [project.data.parent], {str(project.data): "known"}, {})
    known = json.loads((cache_folder(project.root) / "manifest.json").read_text(encoding="utf-8"))["inputs"]
    assert known[str(project.data)][2] == "known"


def test_a_link_in_a_loop_is_walked_once(project: Project) -> None:
    """A folder that links to the one above it has an end."""
    (project.data.parent / "loop").symlink_to(project.data.parent)
    (project.data.parent / "self").symlink_to("self")
    (project.data.parent / "disk").symlink_to("/")
    project.record()
    assert project.unchanged()


def test_a_file_that_could_not_be_read_asks_for_a_build(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be readable by now, and shows that neither by its size nor by its time."""
    plain = open

    def closed(path: str, mode: str = "r", **more: str) -> object:
        if str(path) == str(project.data):
            raise PermissionError(13, "Permission denied", path)
        return plain(path, mode, **more)  # type: ignore[call-overload]

    with monkeypatch.context() as patch:
        patch.setattr(manifest, "open", closed, raising=False)
        patch.setattr(os, "access", lambda path, _: str(path) != str(project.data))
        project.record()
    assert not project.unchanged()
    project.record()
    assert project.unchanged()


def test_a_new_commit_is_seen(tmp_path: Path) -> None:
    """The pages name the commit, so the files that say which one it is are inputs."""
    git = tmp_path / ".git"
    new_file(git / "refs" / "heads" / "main")
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    found = list(list_repository_files(tmp_path / "docs"))
    assert found == [git / "HEAD", git / "packed-refs", git / "refs" / "heads" / "main"]


def test_a_new_commit_in_a_second_work_tree_is_seen(tmp_path: Path) -> None:
    """There ``.git`` is a file that names a folder, which names the shared one."""
    git = tmp_path / "first" / ".git"
    own = git / "worktrees" / "second"
    new_file(git / "refs" / "heads" / "side")
    new_file(own / "index")
    (own / "HEAD").write_text("ref: refs/heads/side\n", encoding="utf-8")
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    found = [path.resolve() for path in list_repository_files(tmp_path / "second")]
    assert found == [own / "HEAD", git / "packed-refs", git / "refs" / "heads" / "side"]


def test_a_folder_without_a_repository_has_no_commit(tmp_path: Path) -> None:
    """Nothing to watch."""
    assert list(list_repository_files(tmp_path)) == []
