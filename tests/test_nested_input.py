"""What is nested without end is told, whoever reads it: settings, pages, data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from made_projects import PAGE, SETTINGS, write_report

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

DEEP = 2_000
NEST = "[" * DEEP + "]" * DEEP
LIST = "".join("    " * depth + "- a\n" for depth in range(300))
BOUND = '[0.82]{value="peak(MEL)"}'

FLATTER = "this is nested more than 50 deep. Write it flatter."
TOO_DEEP = "content/index.md: error: this page is nested too deep. Indent and quote less."
CASES: dict[str, tuple[dict[str, str | bytes | None], str]] = {
    "mkdocs.yml": (
        {"mkdocs.yml": SETTINGS + f"extra: {NEST}\n"},
        "mkdocs.yml: error: this file is nested too deep.",
    ),
    "option": (
        {"mkdocs.yml": SETTINGS.replace("[reportgen]", f"[{{reportgen: {{series: {NEST}}}}}]")},
        "mkdocs.yml: error: this file is nested too deep.",
    ),
    "front matter": ({"content/index.md": f"---\nother: {NEST}\n---\n# x\n"}, FLATTER),
    "source.yml": ({"data/runs.source.yml": f"title: {NEST}\n"}, FLATTER),
    "block": ({"content/index.md": f"# x\n\n```curve\ntitle: {NEST}\n```\n"}, FLATTER),
    "data": (
        {"data/runs.csv": None, "data/runs.json": f'{{"a": {NEST}}}'},
        "data/runs.json: error: the JSON is nested",
    ),
    "list": ({"content/index.md": f"# x\n\n{LIST}"}, TOO_DEEP),
    "items": ({"content/index.md": "# x\n\n" + "- " * DEEP + "a\n"}, TOO_DEEP),
    "bound list": (
        {"content/index.md": f"{PAGE}\n{LIST}\n{BOUND}\n"},
        "error: this page is nested too deep.",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_nested_too_deep_is_told(tmp_path: Path, case: str) -> None:
    """With its file and no traceback, and no site is written."""
    files, said = CASES[case]
    report = write_report(tmp_path, files)
    told = CliRunner().invoke(cli, ["build", "--config-file", str(report / "mkdocs.yml")])
    assert told.exit_code == 1
    assert isinstance(told.exception, SystemExit), told.exception
    assert said in told.output
    assert not (report / "site").exists()


def test_an_id_is_no_longer_than_a_file_name(tmp_path: Path) -> None:
    """Figures are written into files of that name."""
    page = PAGE.replace("title: Accuracy", f"id: {'a' * 101}")
    report = write_report(tmp_path, {"content/index.md": page})
    words = ["build", "--config-file", str(report / "mkdocs.yml")]
    told = CliRunner().invoke(cli, words)
    assert 'content/index.md:5:1: error: "id" is longer than 100 characters. Shorten it.' in told.output
    (report / "content/index.md").write_text(page.replace("a" * 101, "a" * 100), "utf-8")
    assert CliRunner().invoke(cli, words).exit_code == 0
    assert (report / f"site/figures/index/{'a' * 100}.vl.json").is_file()
