"""Links that lead out of the repository publish what whoever builds can read: they are refused by name."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from click.testing import CliRunner, Result
from made_projects import RUNS, SETTINGS, write_file, write_report
from tries import tries

from reportgen.cli.main import cli

Way: TypeAlias = Callable[[Path, Path], Path]
LEAKED = "only-on-this-machine"
PAGE = """# Rows

```vega-lite
data: {source: runs}
mark: point
encoding: {x: {field: step, type: quantitative}}
```
"""
FOLLOWING = SETTINGS.replace("plugins: [reportgen]", "plugins: [{reportgen: {follow_links: true}}]")
STEP = (
    "Put what it leads to into the repository, or set follow_links: true for the reportgen plugin in "
    "mkdocs.yml if you trust everyone who may change the data."
)


def call(root: Path, *words: str) -> Result:
    """A command on a report, in this process."""
    return CliRunner().invoke(cli, [*words, "--config-file", str(root / "mkdocs.yml")])


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of the machine that builds, with a table."""
    folder = tmp_path / "machine"
    write_file(folder / "runs.csv", f"series,seed,step,accuracy\n{LEAKED},1,0,0.5\n{LEAKED},1,1,0.6\n")
    write_file(folder / "deep/a/runs.csv", RUNS)
    return folder


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report in a sub-folder of a git repository, without data."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    return write_report(tmp_path / "repository/report", {"content/index.md": PAGE, "data/runs.csv": None})


def _to_file(data: Path, outside: Path) -> Path:
    (data / "runs.csv").symlink_to(outside / "runs.csv")
    return data / "runs.csv"


def _to_folder(data: Path, outside: Path) -> Path:
    (data / "runs").symlink_to(outside)
    return data / "runs"


def _within_folder(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a/b/c/d.csv", RUNS)
    (data / "runs/a/b/c/x.csv").symlink_to(outside / "runs.csv")
    return data / "runs/a/b/c/x.csv"


def _folder_within_folder(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a.csv", RUNS)
    (data / "runs/deep").symlink_to(outside / "deep/a")
    return data / "runs/deep"


def _chain(data: Path, outside: Path) -> Path:
    (data.parent / "one.csv").symlink_to(data.parent / "two.csv")
    (data.parent / "two.csv").symlink_to(outside / "runs.csv")
    (data / "runs.csv").symlink_to("../one.csv")
    return data / "runs.csv"


def _chosen_by_pattern(data: Path, outside: Path) -> Path:
    write_file(data / "runs/source.yml", "files: '*/*/runs.csv'")
    (data / "runs/deep").symlink_to(outside / "deep")
    return data / "runs/deep"


def _hidden_and_chosen(data: Path, outside: Path) -> Path:
    write_file(data / "runs/source.yml", "files: .h/*.csv")
    (data / "runs/.h").symlink_to(outside)
    return data / "runs/.h"


def _settings(data: Path, outside: Path) -> Path:
    write_file(data / "runs/a.csv", RUNS)
    write_file(outside / "settings", f"description: {LEAKED}")
    (data / "runs/source.yml").symlink_to(outside / "settings")
    return data / "runs/source.yml"


def _settings_of_a_file(data: Path, outside: Path) -> Path:
    write_file(data / "runs.csv", RUNS)
    write_file(outside / "settings", f"description: {LEAKED}")
    (data / "runs.source.yml").symlink_to(outside / "settings")
    return data / "runs.source.yml"


def _data_folder(data: Path, outside: Path) -> Path:
    data.rmdir()
    data.symlink_to(outside)
    return data


def _git(data: Path, outside: Path) -> Path:
    write_file(data.parents[1] / ".git/runs.csv", (outside / "runs.csv").read_bytes())
    (data / "runs.csv").symlink_to("../../.git/runs.csv")
    return data / "runs.csv"


WAYS = (
    *(_to_file, _to_folder, _within_folder, _folder_within_folder, _chain, _chosen_by_pattern),
    *(_hidden_and_chosen, _settings, _settings_of_a_file, _data_folder, _git),
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_a_link_out_of_the_repository_is_refused(report: Path, outside: Path, way: Way) -> None:
    """Named with where it leads and the line that would allow it; nothing behind it is told or written."""
    (report / "data").mkdir()
    link = way(report / "data", outside)
    told = call(report, "build", "--strict")
    assert told.exit_code == 1
    assert not isinstance(told.exception, Exception)
    (line,) = [one for one in told.output.splitlines() if "leads out" in one]
    named = f"{link.relative_to(report)}: error: this link"
    if link == report / "data":
        named = 'content/index.md:3: error: the link "data"'
    assert line.startswith(f"{named} leads out of the repository, to {str(link.resolve())!r}. ")
    assert line.endswith(STEP)
    assert LEAKED not in told.output
    assert not (report / "site").exists()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__.strip("_"))
def test_follow_links_allows_them(report: Path, outside: Path, way: Way) -> None:
    """Whoever trusts everybody who may change the data says so in one line."""
    (report / "data").mkdir()
    way(report / "data", outside)
    write_file(report / "mkdocs.yml", FOLLOWING)
    told = call(report, "check")
    assert told.exit_code == 0, told.output


def test_many_links_are_one_problem(report: Path, outside: Path) -> None:
    """A folder of checkpoints, each of them a link to one place, is told once."""
    (report / "data/runs").mkdir(parents=True)
    for number in range(20):
        (report / f"data/runs/r{number}.csv").symlink_to(outside / "runs.csv")
    told = call(report, "check")
    assert told.output.count("this link leads out of the repository") == 1
    assert "the same in 19 more" in told.output


def test_a_name_of_a_target_is_printed_not_obeyed(report: Path, tmp_path: Path) -> None:
    """A terminal and a workflow's log obey escapes and line breaks."""
    target = tmp_path / "x\n::error::\x1b[31m"
    write_file(target / "runs.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs").symlink_to(target)
    told = call(report, "check")
    assert "\\n::error::\\x1b[31m" in told.output
    assert "\x1b[31m" not in told.output


def test_links_within_the_repository_are_followed(report: Path) -> None:
    """Also to folders beside the report, and above the folder of the page."""
    write_file(report.parent / "results/runs/a.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs").symlink_to("../../results/runs")
    told = call(report, "check")
    assert told.exit_code == 0, told.output


def test_without_git_the_repository_is_the_report(tmp_path: Path) -> None:
    """A link to the folder around it is refused."""
    report = write_report(tmp_path / "report", {"content/index.md": PAGE, "data/runs.csv": None})
    write_file(tmp_path / "runs.csv", RUNS)
    (report / "data").mkdir()
    (report / "data/runs.csv").symlink_to("../../runs.csv")
    assert "this link leads out of the repository" in call(report, "check").output


def test_a_data_folder_named_outside_may_be_read(report: Path, outside: Path) -> None:
    """Whoever writes ``data_dir`` means it; links in it lead no further."""
    settings = SETTINGS.replace("[reportgen]", f"[{{reportgen: {{data_dir: {str(outside)!r}}}}}]")
    write_file(report / "mkdocs.yml", settings)
    assert call(report, "check").exit_code == 0
    (outside / "runs.csv").rename(outside.parent / "runs.csv")
    (outside / "runs.csv").symlink_to(outside.parent / "runs.csv")
    assert "this link leads out of the repository" in call(report, "check").output


def test_a_path_that_was_typed_may_be_a_link(report: Path, outside: Path) -> None:
    """``describe`` and ``freeze`` read what it leads to, and in a report no further link out of it."""
    (report / "data").mkdir()
    (report / "data/runs").symlink_to(outside)
    typed = str(report / "data/runs")
    assert CliRunner().invoke(cli, ["describe", typed]).exit_code == 0
    frozen = str(report / "data/frozen")
    assert CliRunner().invoke(cli, ["freeze", typed, "--to", frozen]).exit_code == 0
    write_file(outside.parent / "other.csv", RUNS)
    (outside / "other.csv").symlink_to(outside.parent / "other.csv")
    for words in (["describe", typed], ["freeze", typed, "--to", frozen]):
        told = CliRunner().invoke(cli, words)
        assert told.exit_code == 1
        assert "data/runs/other.csv: error: this link leads out of the repository" in told.output
    # Elsewhere links are the business of whoever typed the path.
    assert CliRunner().invoke(cli, ["describe", str(outside)]).exit_code == 0


def test_the_data_folder_described_names_links_that_lead_out(report: Path, outside: Path) -> None:
    """They are no sources, and nothing behind them is listed."""
    write_file(report / "data/runs/a.csv", RUNS)
    (report / "data/elsewhere").symlink_to(outside)
    told = CliRunner().invoke(cli, ["describe", str(report / "data")])
    assert "it holds 1 source." in told.output
    assert "data/elsewhere: warning: this link leads out of the repository" in told.output
    assert "deep" not in told.output


def test_folders_nested_without_end_are_told(report: Path) -> None:
    """So deep that nobody means it; Python itself goes no deeper than 1,000."""
    write_file(report / "data/runs" / "/".join("d" * 150) / "a.csv", RUNS)
    told = call(report, "check")
    assert told.exit_code == 1
    assert (
        "data/runs: error: its folders are nested more than 100 deep. Move the data further up."
        in told.output
    )


def _content(tmp_path: Path, **files: str | None) -> Path:
    """A report in a git repository, with a page and a table."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    write_file(tmp_path / "repository/.git/config", LEAKED)
    return write_report(tmp_path / "repository/report", files)


OUT = "Put a copy of what it leads to in its place; no setting allows such links here."
IN_CONTENT = {
    "env.txt": ("/proc/self/environ", "out"),
    "environ.md": ("/proc/self/environ", "out"),
    "zero.md": ("/dev/zero", "out"),
    "zero.bin": ("/dev/zero", "out"),
    "git.txt": ("../../.git/config", "out"),
    "usr": ("/usr", "out"),
    "a/b/c.txt": ("/etc/hostname", "out"),
    "gone.png": ("nowhere.png", "this link leads to nothing: there is no 'nowhere.png'. Mend the link"),
    "self.png": ("self.png", "this link leads to nothing: there is no 'self.png'. Mend the link"),
    "up": ("..", "this link leads to a folder that contains it"),
    "a/back": ("../..", "this link leads to a folder that contains it"),
}


@pytest.mark.parametrize("name", IN_CONTENT)
@pytest.mark.parametrize("settings", [SETTINGS, FOLLOWING], ids=["default", "follow_links"])
def test_content_has_no_link_out_and_no_circle(tmp_path: Path, name: str, settings: str) -> None:
    """With or without ``follow_links``: named, nothing behind it read, the old site as it was."""
    report = _content(tmp_path, **{"mkdocs.yml": settings})
    assert call(report, "build").exit_code == 0
    before = {path: path.read_bytes() for path in (report / "site").rglob("*") if path.is_file()}
    target, said = IN_CONTENT[name]
    link = report / "content" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)
    told = call(report, "build", "--force")
    assert told.exit_code == 1
    assert not isinstance(told.exception, Exception)
    if said == "out":
        real = "/proc/" if "proc" in target else os.path.realpath(link)
        assert f"content/{name}: error: this link leads out of the repository, to '{real}" in told.output
        assert OUT in told.output
    else:
        assert f"content/{name}: error: {said}" in told.output
    assert LEAKED not in told.output
    assert {path: path.read_bytes() for path in (report / "site").rglob("*") if path.is_file()} == before


def _link_beyond_the_longest_path(start: Path, target: str) -> str:
    """Nested folders with short links to each; the way through them, which realpath gives up half way.

    The names are short enough for the system, which resolves one link after another.
    """
    folder, way = start, list[str]()
    while len(str(folder)) < 3_800:
        name = f"{len(way):x}" * 10 + "d" * 200
        (folder / name).mkdir(parents=True)
        (folder / f"{len(way):x}").symlink_to(name)
        way.append(f"{len(way):x}")
        folder /= name
    # Where this one is, its path has more characters than a path may have.
    short = start / "/".join(way)
    back = "/".join([".."] * len(way))
    os.symlink(f"{back}/{target}", short / ("l" * 250))  # noqa: PTH211 - its parent's path is too long, too
    return f"{start.name}/{'/'.join(way)}/{'l' * 250}"


@pytest.mark.parametrize("place", ["content/x.txt", "content/x", "data/runs.csv", "data/runs"])
def test_a_way_beyond_the_longest_path_leads_out(report: Path, outside: Path, place: str) -> None:
    """A link that ``realpath`` takes for a file inside, and the system follows to one outside."""
    (report / "data").mkdir()
    write_file(outside / "x.txt", LEAKED)
    way = _link_beyond_the_longest_path(report / "deep", f"../../../{outside.name}")
    link = report / place
    link.parent.mkdir(exist_ok=True)
    end = {"content/x.txt": "/x.txt", "data/runs.csv": "/runs.csv"}.get(place, "")
    link.symlink_to(f"../{way}{end}")
    assert link.exists()
    told = call(report, "build")
    assert told.exit_code == 1
    assert f"{place}: error: this link leads out of the repository" in told.output
    assert LEAKED not in told.output
    assert not (report / "site").exists()


def test_pipes_and_sockets_in_content_are_told(tmp_path: Path) -> None:
    """Whoever opens a pipe waits for ever; a socket cannot be opened."""
    report = _content(tmp_path)
    os.mkfifo(report / "content/pipe.md")
    os.mkfifo(report / "content/pipe.png")
    with socket.socket(socket.AF_UNIX) as unix:
        before = Path.cwd()
        os.chdir(report / "content")  # a socket's whole path may have 107 letters
        unix.bind("s.txt")
        os.chdir(before)
        told = call(report, "build")
    assert told.exit_code == 1
    for name, kind in (("pipe.md", "a pipe"), ("pipe.png", "a pipe"), ("s.txt", "a socket")):
        assert f"content/{name}: error: this is {kind}, no file. Remove it." in told.output


def test_what_a_site_leaves_out_may_lead_anywhere(tmp_path: Path) -> None:
    """Such as the lock of an editor, which is a link to nothing."""
    report = _content(tmp_path, **{"mkdocs.yml": SETTINGS + "exclude_docs: notes/*\n"})
    (report / "content/notes").mkdir()
    (report / "content/.#index.md").symlink_to("somebody@machine.1234")
    (report / "content/notes/paper.txt").symlink_to("/etc/hostname")
    told = call(report, "build", "--strict")
    assert told.exit_code == 0, told.output


def test_links_within_the_repository_are_published(tmp_path: Path) -> None:
    """A file and a folder beside the report."""
    report = _content(tmp_path)
    write_file(report.parent / "docs/notes.md", "# Notes")
    write_file(report.parent / "logo.png", "png")
    (report / "content/docs").symlink_to("../../docs")
    (report / "content/logo.png").symlink_to("../../logo.png")
    told = call(report, "build")
    assert told.exit_code == 0, told.output
    assert (report / "site/logo.png").read_bytes() == b"png"
    assert (report / "site/docs/notes/index.html").is_file()


def test_the_content_folder_itself_may_not_lead_out(tmp_path: Path) -> None:
    """Neither as a link nor by its name; a link within the repository is followed."""
    report = _content(tmp_path)
    (report / "content").rename(tmp_path / "content")
    (report / "content").symlink_to(tmp_path / "content")
    told = call(report, "build")
    assert told.exit_code == 1
    target = str(tmp_path / "content")
    assert f"mkdocs.yml: error: docs_dir leads out of the folder of mkdocs.yml, to {target!r}" in told.output
    write_file(report / "mkdocs.yml", SETTINGS.replace("docs_dir: content", "docs_dir: ../../content"))
    assert "mkdocs.yml: error: docs_dir leads out of the folder of mkdocs.yml" in call(report, "build").output
    (tmp_path / "content").rename(report.parent / "pages")
    (report / "content").unlink()
    (report / "content").symlink_to("../pages")
    write_file(report / "mkdocs.yml", SETTINGS)
    told = call(report, "build", "--strict")
    assert told.exit_code == 0, told.output


def test_the_folder_of_a_theme_publishes_nothing_from_elsewhere(tmp_path: Path) -> None:
    """MkDocs copies it as it copies the content."""
    settings = SETTINGS.replace("{name: reportgen}", "{name: reportgen, custom_dir: own}")
    report = _content(tmp_path, **{"mkdocs.yml": settings, "own/img/logo.txt": "logo"})
    assert call(report, "build").exit_code == 0
    (report / "own/img/env.txt").symlink_to("/proc/self/environ")
    told = call(report, "build")
    assert "own/img/env.txt: error: this link leads out of the repository, to '/proc/" in told.output


def test_content_nested_without_end_is_told(tmp_path: Path) -> None:
    """Folders within folders end at a hundred."""
    report = _content(tmp_path)
    write_file(report / "content" / "/".join("d" * 150) / "a.md", "# Deep")
    told = call(report, "build")
    assert "content: error: its folders are nested more than 100 deep. Move the pages up." in told.output


@pytest.mark.parametrize("name", ["parts/env.txt", "parts/config", ".git/config", "elsewhere/config"])
def test_snippets_come_from_the_repository(tmp_path: Path, name: str) -> None:
    """No page includes a file through a link that leads out, nor one of git's own."""
    base = str(tmp_path / "repository")
    settings = SETTINGS + f"markdown_extensions: [{{pymdownx.snippets: {{base_path: [{base!r}]}}}}]\n"
    report = _content(tmp_path, **{"mkdocs.yml": settings})
    write_file(report.parent / "parts/good.md", "A good part.")
    write_file(tmp_path / "machine/config", LEAKED)
    (report.parent / "parts/env.txt").symlink_to("/proc/self/environ")
    (report.parent / "parts/config").symlink_to("../.git/config")
    (report.parent / "elsewhere").symlink_to(tmp_path / "machine")
    page = report / "content/index.md"
    write_file(page, '# Small\n\n--8<-- "parts/good.md"\n')
    told = call(report, "build", "--strict")
    assert told.exit_code == 0, told.output
    assert "A good part." in (report / "site/index.html").read_text("utf-8")
    write_file(page, f'# Small\n\n--8<-- "{name}"\n')
    told = call(report, "build", "--strict", "--force")
    assert told.exit_code == 1
    assert f'content/index.md: error: the snippet "{name}" leads out of the repository, to ' in told.output
    assert LEAKED not in told.output
    assert "A good part." in (report / "site/index.html").read_text("utf-8")


def _random_tree(chance: random.Random, folders: list[Path], outside: Path) -> None:
    """Folders, files, and links to anything, in a folder of data and one of content."""
    for number in range(chance.randint(0, 8)):
        folder = chance.choice(folders)
        path = (
            folder / f"{chance.choice(('n', 'm', '.h'))}{number}{chance.choice(('', '.csv', '.md', '.png'))}"
        )
        kind = chance.choice(("folder", "file", "link", "link", "link", "pipe"))
        if kind == "folder":
            path.mkdir()
            folders.append(path)
        elif kind == "file":
            write_file(path, RUNS if path.suffix == ".csv" else "# A page")
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            near = [path.name, "..", "../..", "gone", *(os.path.relpath(one, folder) for one in folders)]
            far = [outside, outside / "runs.csv", outside / "page.md", outside / "deep", "/proc/self/environ"]
            path.symlink_to(chance.choice([*near, *map(str, far), str(outside.parent), "/", "/dev/zero"]))


@pytest.mark.random
def test_no_tree_of_links_lets_anything_in(tmp_path: Path) -> None:
    """Whatever leads to whatever: a build ends by itself, and nothing of the machine is written or told."""
    outside = tmp_path / "machine"
    write_file(outside / "runs.csv", f"series,seed,step,accuracy\n{LEAKED},1,0,0.5\n{LEAKED},1,1,0.6\n")
    write_file(outside / "page.md", f"# {LEAKED}")
    write_file(outside / "deep/er/page.md", f"# {LEAKED}")
    built, trees = 0, tries(8, 80)
    for seed in range(trees):
        chance = random.Random(seed)  # noqa: S311 - no secret
        report = write_report(
            tmp_path / f"r{seed}", {"content/index.md": PAGE, "data/runs.csv": None, "data/runs/a.csv": RUNS}
        )
        _random_tree(chance, [report / "content"], outside)
        _random_tree(chance, [report / "data/runs"], outside)
        if chance.random() < 0.3:
            write_file(report / "data/runs/source.yml", "files: '**/*.csv'")
        told = call(report, "build")
        assert told.exception is None or isinstance(told.exception, SystemExit), (seed, told.exception)
        assert LEAKED not in told.output, seed
        built += told.exit_code == 0
        site = (path for path in (report / "site").rglob("*") if path.is_file())
        assert not [path for path in site if LEAKED.encode() in path.read_bytes()], seed
    assert built / trees > 0.05


def test_a_link_to_a_missing_figure_is_reported_with_its_line_and_the_ids_there_are(tmp_path: Path) -> None:
    """Ids of figures and headings count, on the same page and on others."""
    links = "[here](#mine), [there](#mien), [on](two.md#curv)"
    page = f"# Rows\n\n```curve\nid: mine\nsource: runs\n```\n\n{links}\n"
    root = write_report(tmp_path, {"content/index.md": page, "content/two.md": "# Two\n"})
    output = call(root, "build").output
    assert (
        'content/index.md:8: "#mien" leads to no figure or heading: index.md has no id "mien". '
        'Did you mean "mine"? It has mine and rows' in output
    ), output
    assert 'two.md has no id "curv". It has two' in output
    assert '"#mine"' not in output
