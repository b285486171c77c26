"""Blocks of other packages: the package of the guide, packages that fail, and names that are taken."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_report

from reportgen.settings.blocks import BlockKind, BlockSettings  # type: ignore[attr-defined]

if TYPE_CHECKING:
    from made_projects import Install

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "content/guide/own-block.md").read_text(encoding="utf-8")
BLOCK, SETTINGS, CODE = (
    re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[0]
    for kind in ("ecdf", "toml", "python")
)
ORIGIN = re.compile(r"inputs=(\w+) definition=(\w+)<")
ENTRY = "[reportgen.blocks]\necdf = acme_blocks:BLOCK\n"


def write_wind(root: Path, block: str = BLOCK) -> Path:
    """Write a report with the data and the block of the guide."""
    write_report(root, {"data/runs.csv": None, "content/index.md": f"# Wind\n\n```ecdf\n{block}```\n"})
    shutil.copytree(ROOT / "data/seattle-weather", root / "data/seattle-weather")
    return root


def build(root: Path) -> tuple[str, str]:
    """Build the report; return its page, and the picture of its figure."""
    done = call(root, "build", "--strict")
    assert done.returncode == 0, done.stdout + done.stderr
    (picture,) = root.glob("site/figures/*/*.svg")
    return (root / "site/index.html").read_text("utf-8"), picture.read_text("utf-8")


def check(root: Path) -> str:
    """Return the errors of a report on one line."""
    done = call(root, "check")
    assert done.returncode == 1
    assert "Traceback" not in done.stdout + done.stderr
    return " ".join((done.stdout + done.stderr).split())


def test_the_package_of_the_guide_draws(tmp_path: Path, install: Install) -> None:
    """Its title, its picture and the rows of the source; its entry point is that of the guide's project."""
    points = tomllib.loads(SETTINGS)["project"]["entry-points"]
    assert points == {"reportgen.blocks": {"ecdf": "acme_blocks:BLOCK"}}
    install(CODE, ENTRY, "acme-blocks")
    root = write_wind(tmp_path / "report")
    page, picture = build(root)
    assert "How windy the days were" in page
    assert "Source: Seattle weather" in page
    assert "Share at or below" in picture
    assert {"by", "source"} <= json.loads(call(root, "schema", "ecdf").stdout)["properties"].keys()


def test_a_change_of_the_package_draws_again(tmp_path: Path, install: Install) -> None:
    """The same report has another definition of its figure then, so that a review shows it."""
    install(CODE, ENTRY, "acme-blocks")
    root = write_wind(tmp_path / "report")
    before = ORIGIN.findall(build(root)[1])
    install(CODE.replace("step-after", "linear"), ENTRY, "acme-blocks")
    os.utime(tmp_path / "environment/acme_blocks.py")
    after = ORIGIN.findall(build(root)[1])
    assert len(before) == len(after) == 1
    assert before[0][0] == after[0][0]
    assert before[0][1] != after[0][1]


def test_what_an_author_gets_wrong_is_named_at_its_line(tmp_path: Path, install: Install) -> None:
    """A key, a value that the package refuses, no source; and the block where the package is missing."""
    install(CODE, ENTRY, "acme-blocks")
    said = check(write_wind(tmp_path / "key", BLOCK.replace("by:", "bye:")))
    assert 'content/index.md:6:1: error: "bye" is not a key of an ecdf block. Did you mean "by"?' in said
    said = check(write_wind(tmp_path / "column", BLOCK.replace("wind (m/s)", "wnd")))
    assert (
        'content/index.md:3: error: the block "ecdf" of the package acme-blocks 1.0 failed: KeyError' in said
    )
    assert re.search(r"\(acme_blocks\.py, line \d+\)", said)
    said = check(write_wind(tmp_path / "source", BLOCK.replace("source: seattle-weather\n", "")))
    assert "content/index.md:3: error: this ecdf block names no source" in said
    install(CODE, "", "acme-blocks")
    assert 'there is no block called "ecdf"' in check(write_wind(tmp_path / "missing", f"{BLOCK}id: wind\n"))


FAILING = {
    "import": ("import nowhere_to_be_found", "cannot be loaded: ModuleNotFoundError"),
    "name": ("block = 1", "cannot be loaded: AttributeError"),
    "type": ("BLOCK = dict", "is no ChartBlock of reportgen.blocks"),
    "settings": (
        CODE.replace("EcdfSettings, draw", "dict, draw"),
        "its settings are no ChartSettings of reportgen.blocks",
    ),
    "exit": (CODE.replace("    column, by =", "    raise SystemExit(3)\n    column, by ="), "SystemExit: 3"),
    "nothing": (CODE.replace("    return (", "    _ = ("), "returned NoneType, not an Altair chart"),
    "address": (
        CODE.replace("alt.Chart(rows.drop_duplicates())", 'alt.Chart("https://example.org/a.csv")'),
        '"url" would load something from outside the report',
    ),
}


@pytest.mark.parametrize("kind", FAILING)
def test_a_package_that_fails_is_one_error(kind: str, tmp_path: Path, install: Install) -> None:
    """It is named, and nothing is printed of how reportgen works inside."""
    code, expected = FAILING[kind]
    install(code, ENTRY, "acme-blocks")
    said = check(write_wind(tmp_path / "report"))
    assert expected in said
    assert "1 problem;" in said


@pytest.mark.parametrize("name", ["curve", "Ecdf.x"])
def test_a_name_that_cannot_be_is_an_error(name: str, tmp_path: Path, install: Install) -> None:
    """A package does not take the place of a block of reportgen."""
    install(CODE, f"[reportgen.blocks]\n{name} = acme_blocks:BLOCK\n", "acme-blocks")
    said = check(write_wind(tmp_path / "report"))
    assert f'the package acme-blocks 1.0 cannot call a block "{name}"' in said


def test_an_archive_names_the_package(tmp_path: Path, install: Install) -> None:
    """Whoever builds it again needs it."""
    install(CODE, ENTRY, "acme-blocks")
    root = write_wind(tmp_path / "report")
    assert call(root, "archive", "--to", str(tmp_path / "a.zip")).returncode == 0
    with zipfile.ZipFile(tmp_path / "a.zip") as packed:
        (name,) = (name for name in packed.namelist() if name.endswith("requirements.txt"))
        assert "readers and blocks of acme-blocks 1.0" in packed.read(name).decode()


def test_a_kind_that_leaves_a_decision_open_is_an_error_at_import() -> None:
    """Whether a block judges invented data has no default that a new kind could fall back to."""
    with pytest.raises(TypeError, match="does not say whether such a block judges"):
        BlockKind(BlockSettings, None, "module:draw")
