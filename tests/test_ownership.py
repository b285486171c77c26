"""A folder that a report did not make is never cleared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reportgen.core.errors import ReportError
from reportgen.site.files import refuse_foreign_folder

if TYPE_CHECKING:
    from pathlib import Path


OURS = '{"format": 1, "generator": {"name": "reportgen", "version": "0.1.0"}}'


def told(site: Path, root: Path) -> str:
    """Why a folder is refused; what stood in it stands there afterwards."""
    before = sorted(path for path in root.rglob("*"))
    with pytest.raises(ReportError) as error:
        refuse_foreign_folder(site, root)
    assert sorted(path for path in root.rglob("*")) == before
    return str(error.value)


def test_a_folder_that_is_not_there_or_empty_is_fine(tmp_path: Path) -> None:
    """The first build."""
    refuse_foreign_folder(tmp_path / "site", tmp_path)
    (tmp_path / "site").mkdir()
    refuse_foreign_folder(tmp_path / "site", tmp_path)


def test_our_own_folder_is_fine(tmp_path: Path) -> None:
    """An earlier build left its mark, whatever else stands there by now."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "report.json").write_text(OURS, encoding="utf-8")
    (tmp_path / "site" / "CNAME").write_text("example.org", encoding="utf-8")
    refuse_foreign_folder(tmp_path / "site", tmp_path)


@pytest.mark.parametrize("name", ["thesis.tex", ".git", "index.html"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, name: str) -> None:
    """One file of somebody else's is enough, a hidden one as well."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / name).write_text("mine", encoding="utf-8")
    assert told(tmp_path / "docs", tmp_path) == (
        'mkdocs.yml: the folder "docs" holds files that reportgen did not write. Move them away, or choose '
        "another site_dir; a build replaces the whole folder."
    )


def test_a_mark_that_is_a_folder_is_none(tmp_path: Path) -> None:
    """Only a file of that name is a build's."""
    (tmp_path / "site" / "report.json").mkdir(parents=True)
    assert "did not write" in told(tmp_path / "site", tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", '{"generator": "reportgen"}', '{"generator": {"name": "other"}}', "{torn"],
)
def test_another_program_s_report_is_no_mark(tmp_path: Path, text: str) -> None:
    """``report.json`` is a common name: only one that says reportgen made it is ours."""
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "report.json").write_text(text, encoding="utf-8")
    assert "did not write" in told(tmp_path / "results", tmp_path)


@pytest.mark.parametrize("up", [".", "..", "../.."])
def test_the_report_itself_is_refused(tmp_path: Path, up: str) -> None:
    """``site_dir: .`` would clear the report, ``..`` all that is next to it."""
    root = tmp_path / "a" / "report"
    root.mkdir(parents=True)
    (root / "report.json").write_text(OURS, encoding="utf-8")
    assert "holds the report itself" in told((root / up).resolve(), root)


def test_a_file_is_refused(tmp_path: Path) -> None:
    """A site is a folder."""
    (tmp_path / "site").write_text("mine", encoding="utf-8")
    assert (
        told(tmp_path / "site", tmp_path) == 'mkdocs.yml: site_dir "site" is a file. Choose another site_dir.'
    )


def test_a_folder_elsewhere_is_named_in_full(tmp_path: Path) -> None:
    """The reader has to find it."""
    root, site = tmp_path / "report", tmp_path / "www"
    for folder in (root, site):
        folder.mkdir()
    (site / "index.html").write_text("mine", encoding="utf-8")
    with pytest.raises(ReportError, match=str(site)):
        refuse_foreign_folder(site, root)


@pytest.mark.parametrize("inside", ["content", "data"])
def test_the_folders_of_the_report_are_refused(tmp_path: Path, inside: str) -> None:
    """Pages and data are files that reportgen did not write."""
    (tmp_path / inside).mkdir()
    (tmp_path / inside / "index.md").write_text("# Mine", encoding="utf-8")
    assert "did not write" in told(tmp_path / inside, tmp_path)
