"""Links that lead out of the repository in ways that no page of cases can show: any tree, and any length."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import RUNS, write_file, write_report
from tries import tries

if TYPE_CHECKING:
    from pathlib import Path

LEAKED = "only-on-this-machine"
PAGE = """# Rows

```curve
source: runs
metric: accuracy
```
"""
TABLE = f"series,seed,step,accuracy\n{LEAKED},1,0,0.5\n{LEAKED},1,1,0.6\n"


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


@pytest.mark.parametrize("places", [["content/x.txt"], ["content/x"], ["data/more", "data/runs.csv"]])
def test_a_way_beyond_the_longest_path_leads_out(tmp_path: Path, places: list[str]) -> None:
    """A link that ``realpath`` takes for a file inside, and the system follows to one outside."""
    (tmp_path / "repository/.git").mkdir(parents=True)
    page = {"content/index.md": PAGE.replace("runs", "[runs, more]"), "data/runs.csv": None}
    report = write_report(tmp_path / "repository/report", page)
    for name in ("x.txt", "runs.csv"):
        write_file(tmp_path / "machine" / name, TABLE)
    way = _link_beyond_the_longest_path(report / "deep", "../../../machine")
    for place in places:
        link = report / place
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(f"../{way}/{link.name}" if link.suffix else f"../{way}")
        assert link.exists()
    done = call(report, "build")
    assert done.returncode == 1
    named = [line.partition(":")[0] for line in done.stderr.splitlines() if "leads out" in line]
    assert named == places
    assert LEAKED not in done.stdout + done.stderr
    assert not (report / "site").exists()


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
    write_file(outside / "runs.csv", TABLE)
    write_file(outside / "page.md", f"# {LEAKED}")
    write_file(outside / "deep/er/page.md", f"# {LEAKED}")
    built, trees = 0, tries(6, 80)
    for seed in range(trees):
        chance = random.Random(seed)  # noqa: S311 - no secret
        report = write_report(
            tmp_path / f"r{seed}", {"content/index.md": PAGE, "data/runs.csv": None, "data/runs/a.csv": RUNS}
        )
        _random_tree(chance, [report / "content"], outside)
        _random_tree(chance, [report / "data/runs"], outside)
        if chance.random() < 0.3:
            write_file(report / "data/runs/source.yml", "files: '**/*.csv'")
        done = call(report, "build")
        assert LEAKED not in done.stdout + done.stderr, seed
        built += done.returncode == 0
        site = (path for path in (report / "site").rglob("*") if path.is_file())
        assert not [path for path in site if LEAKED.encode() in path.read_bytes()], seed
    assert built / trees > 0.05
