"""The cache: what was put is found, damage is a miss; and what is remembered of the last build.

Which changes of a report ask for a build stands in ``transcripts/building.md``.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.site.replacing.records import record_folder
from reportgen.site.reuse.manifest import (
    Build,
    Summary,
    check_unchanged,
    describe_environment,
    list_repository_files,
)
from reportgen.site.reuse.manifest import remove as remove_manifest
from reportgen.site.reuse.manifest import write as write_manifest

PARTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), max_size=4)
MANIFEST = "reportgen.site.reuse.manifest"
MADE = Summary(pages=2, figures=3, cache_hits=4, warnings=0)


def test_what_was_put_is_found(tmp_path: Path) -> None:
    """Bytes, also none at all, come back as they were, also in the next process; hits and misses count."""
    cache = Cache(tmp_path)
    key = cache.make_key("block", "a")
    assert cache.get(key) is None
    for value in (b"\x00value", b"other", b""):
        cache.put(key, value)
        assert cache.get(key) == value
    assert Cache(tmp_path).get(key) == b""
    assert (cache.hits, cache.misses) == (3, 1)
    assert len([path for path in tmp_path.glob("*/*") if path.is_file()]) == 1  # no temporary file is left


@given(PARTS, PARTS)
def test_other_parts_give_another_key(one: list[str], other: list[str]) -> None:
    """No two lists of parts share a key, however they are cut."""
    assert (Cache.make_key(*one) == Cache.make_key(*other)) == (one == other)


def test_the_version_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """What another version computed is not taken."""
    before = Cache.make_key("a")
    monkeypatch.setattr("reportgen.core.cache.identify_code", lambda: "another version")
    assert Cache.make_key("a") != before


def test_a_damaged_entry_is_a_missing_one(tmp_path: Path) -> None:
    """A torn or changed file, or a folder in its place, is computed anew, and a file can be put again."""
    cache = Cache(tmp_path)
    key = cache.make_key("a")
    cache.put(key, b"value")
    (entry,) = (path for path in tmp_path.rglob("*") if path.is_file())
    for broken in (b"", b"short", b"x" * 100, entry.read_bytes()[:-1]):
        entry.write_bytes(broken)
        assert cache.get(key) is None
    cache.put(key, b"value")
    assert cache.get(key) == b"value"
    entry.unlink()
    entry.mkdir()
    assert cache.get(key) is None


WRITER = """
import sys
from functools import partial
from pathlib import Path
from reportgen.core.cache import Cache
cache, me = Cache(Path(sys.argv[1])), sys.argv[2].encode() * 50_000
for _ in range(60):
    cache.put(cache.make_key("shared"), me)
    if (found := cache.get(cache.make_key("shared"))) not in (b"a" * 50_000, b"b" * 50_000):
        sys.exit(f"torn: {found!r:.80}")
"""


@pytest.mark.slow
def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    """Whoever reads while another writes sees the whole of one value."""
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), me]) for me in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]


def test_pruning_measures_from_the_last_use_of_anything(tmp_path: Path) -> None:
    """Entries go when they were unused for long before the newest; the clock has no say, and using helps."""
    cache = Cache(tmp_path)
    keys = [cache.make_key(name) for name in ("old", "used", "new")]
    for key in keys:
        cache.put(key, b"value")
    for path in tmp_path.rglob("*"):
        if path.is_file():
            os.utime(path, (1000, 1000))
    assert cache.prune(10) == 0
    cache.get(keys[1])
    assert cache.has_entry(keys[2])
    assert cache.prune(10) == 1
    assert [cache.get(key) for key in keys] == [None, b"value", b"value"]
    assert Cache(tmp_path / "none").prune() == 0


def test_pruning_is_for_once_a_day(tmp_path: Path) -> None:
    """A build in between looks at no entry; the first one and that of the next day do."""
    cache = Cache(tmp_path)
    for name in ("old", "new"):
        cache.put(cache.make_key(name), b"value")
    old = tmp_path / cache.make_key("old")[:2] / cache.make_key("old")[2:]
    cache.prune_daily()
    os.utime(old, (1000, 1000))
    cache.prune_daily()
    assert old.exists()
    os.utime(tmp_path / "pruned", (1000, 1000))
    cache.prune_daily()
    assert not old.exists()
    Cache(tmp_path / "none").prune_daily()
    assert not (tmp_path / "none").exists()


def sha256(content: bytes) -> str:
    """A digest computed without the code under test."""
    return hashlib.sha256(content).hexdigest()


def test_hashes_are_remembered_by_size_and_time(tmp_path: Path) -> None:
    """A file is read again only when its size or its time of change differs."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"first")
    hashes = FileHashes(tmp_path / "cache")
    assert hashes(file) == sha256(b"first")
    hashes.save()
    found = file.stat()
    file.write_bytes(b"other")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"first")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns + 1))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"other")
    file.write_bytes(b"longer")
    os.utime(file, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert FileHashes(tmp_path / "cache")(file) == sha256(b"longer")


def test_hashes_of_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    """The list does not grow with every file there ever was."""
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    hashes = FileHashes(tmp_path)
    hashes(tmp_path / "a")
    hashes.save()
    hashes = FileHashes(tmp_path)
    hashes(tmp_path / "b")
    hashes.save()
    assert list(json.loads((tmp_path / "hashes.json").read_text())) == [str(tmp_path / "b")]


def test_damaged_memory_is_no_memory(tmp_path: Path) -> None:
    """Whatever hashes.json holds, a file's hash is its own; that there is no file is the reader's to say."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"x")
    for content in ("", "[]", "{", "5", '{"FILE": 5}', '{"FILE": [1]}', '{"FILE": ["a", 1, 2]}', "\x00"):
        (tmp_path / "hashes.json").write_text(content.replace("FILE", str(file)))
        assert FileHashes(tmp_path)(file) == sha256(b"x"), content
    with pytest.raises(FileNotFoundError):
        FileHashes(tmp_path)(tmp_path / "none.csv")


def test_a_file_that_changes_while_it_is_read_is_not_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hash is kept only when the file stood still."""
    file = tmp_path / "runs.csv"
    file.write_bytes(b"x")
    marks = iter([(1, 1), (1, 2)])
    monkeypatch.setattr("reportgen.core.cache.get_stamp", lambda _: next(marks))
    hashes = FileHashes(tmp_path)
    hashes(file)
    hashes.save()
    assert not (tmp_path / "hashes.json").exists()


def test_a_kept_text_is_read_when_asked_for(tmp_path: Path) -> None:
    """From a file beside its value, which a site may link to."""
    cache = Cache(tmp_path)
    text = cache.put_text(cache.make_key("figure"), "0.csv", "a,b\n1,ä\n")
    assert str(text) == "a,b\n1,ä\n"
    assert text.stands
    assert text.sha256 == sha256("a,b\n1,ä\n".encode())
    assert text.path == cache.get_text_path(cache.make_key("figure"), "0.csv")


@pytest.mark.parametrize("harm", ["x", "a,b\n1,2\n", None])
def test_a_kept_text_that_somebody_wrote_into_does_not_stand(tmp_path: Path, harm: str | None) -> None:
    """As may happen through a link in the site: longer, as long, or gone."""
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    os.utime(text.path, (1000, 1000))
    before = Path(text.path).stat().st_mtime_ns
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    assert text.changed != before
    if harm is None:
        Path(text.path).unlink()
    else:
        Path(text.path).write_text(harm)
        os.utime(text.path, (2000, 2000))
    assert not text.stands


def test_a_kept_text_that_was_restored_stands(tmp_path: Path) -> None:
    """A backup may round times of change; the bytes count then."""
    text = Cache(tmp_path).put_text("ab" * 32, "0.csv", "a,b\n1,1\n")
    os.utime(text.path, (1000, 1000))
    assert text.stands


def test_texts_are_pruned_with_their_value(tmp_path: Path) -> None:
    """Not before it, though nobody marks their use."""
    cache = Cache(tmp_path)
    used, old = cache.make_key("used"), cache.make_key("old")
    for key in (used, old):
        cache.put(key, b"value")
        os.utime(cache.put_text(key, "0.csv", "text").path, (1000, 1000))
    os.utime(tmp_path / old[:2] / old[2:], (1000, 1000))
    assert cache.prune(10) == 2
    assert Path(cache.get_text_path(used, "0.csv")).exists()
    assert not Path(cache.get_text_path(old, "0.csv")).exists()


# ---- what is remembered of the last build


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

    def record(self) -> None:
        """Write down a build that began now."""
        build = Build(self.config, self.root / "site", MADE, started(self.root))
        record_folder(self.root / "site", cache_folder(self.root))
        write_manifest(build, [self.config, self.page.parent, self.data.parent], {}, {})

    def unchanged(self) -> bool:
        """Whether the next build would be spared."""
        return check_unchanged(self.config, strict=False) is not None


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A report right after its build."""
    made = Project(tmp_path)
    made.record()
    return made


def test_nothing_changed(project: Project) -> None:
    """The summary of the build comes back, as often as it is asked for, until it is forgotten."""
    assert check_unchanged(project.config, strict=False) == MADE
    assert check_unchanged(project.config, strict=True) == MADE
    for _ in range(2):
        remove_manifest(project.root)
    assert not project.unchanged()


def test_a_changed_site_asks_for_a_build(project: Project) -> None:
    """A file that was touched may be another one."""
    project.age(project.output)
    assert not project.unchanged()


def test_another_environment_asks_for_a_build(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another Python, or another version of a package, such as of a theme, may give another site."""
    here = describe_environment()
    for name, value in (("SOURCE_DATE_EPOCH", "86400"), ("python", "4.0"), ("packages", "others")):
        assert name in here
        with monkeypatch.context() as patch:
            patch.setattr(f"{MANIFEST}.describe_environment", partial(dict, here, **{name: value}))
            assert not project.unchanged()
    (tmp_path / "site-packages" / "mkdocs-9.9.9.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "site-packages")])
    assert describe_environment() != here
    assert not project.unchanged()


def read_inputs(project: Project) -> dict[str, list[object]]:
    """What the manifest has of each file."""
    text = (cache_folder(project.root) / "manifest.json").read_text(encoding="utf-8")
    inputs: dict[str, list[object]] = json.loads(text)["inputs"]
    return inputs


def test_a_file_that_was_only_touched_is_hashed(project: Project) -> None:
    """A checkout gives new times to the same content, and after one look they are known."""
    os.utime(project.data)
    assert project.unchanged()
    assert read_inputs(project)[str(project.data)][1] == project.data.stat().st_mtime_ns
    assert project.unchanged()


def test_a_file_that_is_saved_during_the_build_is_no_input_of_it(project: Project) -> None:
    """The build may have read what stood there before; the next one is a real one."""
    build = Build(project.config, project.root / "site", MADE, started(project.root))
    project.page.write_text("saved in the middle of the build", encoding="utf-8")
    write_manifest(build, [project.page.parent], {}, {})
    assert not project.unchanged()


def test_a_damaged_manifest_is_none(project: Project) -> None:
    """Another version's, or one that somebody edited: whatever stands there, the answer is to build."""
    path = cache_folder(project.root) / "manifest.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    keys = ("format", "environment", "config", "site", "roots", "inputs", "summary")
    wrong: tuple[object, ...] = (None, 6, [], {}, "x")
    texts = [json.dumps(whole | {key: value}) for key in keys for value in wrong]
    texts += ["", "{", "[]", "null", '"x"', "{}", '{"format": 2}', '{"format": 1, "environment": {}}', "\x00"]
    for text in texts:
        path.write_text(text, encoding="utf-8")
        assert not project.unchanged(), text
    path.write_text(json.dumps(whole), encoding="utf-8")
    assert project.unchanged()


def test_hashes_that_are_known_are_not_computed_again(project: Project) -> None:
    """Data of gigabytes were hashed when they were read."""
    build = Build(project.config, project.root / "site", MADE, started(project.root))
    write_manifest(build, [project.data.parent], {str(project.data): "known"}, {})
    assert read_inputs(project)[str(project.data)][2] == "known"


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
        patch.setattr(f"{MANIFEST}.open", closed, raising=False)
        patch.setattr(os, "access", lambda path, _: str(path) != str(project.data))
        project.record()
    assert not project.unchanged()
    project.record()
    assert project.unchanged()


def new_file(path: Path) -> None:
    """A file in new folders."""
    path.parent.mkdir(parents=True)
    path.write_text("x", encoding="utf-8")


def test_a_new_commit_is_seen(tmp_path: Path) -> None:
    """The pages name the commit, so the files that say which one it is are inputs."""
    git = tmp_path / ".git"
    new_file(git / "refs" / "heads" / "main")
    (git / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    assert list(list_repository_files(tmp_path.parent)) == []
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
