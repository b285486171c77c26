"""How a report is cited: one block of settings, and every form that follows from it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from click.testing import CliRunner
from made_projects import SETTINGS, write_report

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
site_name: Small
site_url: https://example.org/small/
site_description: Two methods.
docs_dir: content
theme: {name: reportgen}
plugins:
  - reportgen:
      citation:
        title: Half of 100 % & more_{x}
        authors:
          - {name: Ada Lovelace, orcid: https://orcid.org/0000-0002-1825-0097, affiliation: Engines}
          - {name: "de Beauvoir, Simone"}
          - {name: Plato}
          - {name: Example Lab, kind: organization}
        license: cc-by-4.0
        version: "1.0"
        doi: https://doi.org/10.5281/zenodo.1234567
        abstract: Zürich 😀
        keywords: [evals, rl]
        related:
          - {relation: isSupplementTo, id: "10.1000/xyz"}
          - {relation: cites, id: https://example.org/paper}
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A report that says everything of its citation."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1763640000")
    return write_report(tmp_path / "report", {"mkdocs.yml": WHOLE})


def cite(root: Path, *options: str) -> str:
    """What the command prints."""
    done = CliRunner().invoke(cli, ["cite", "-f", str(root / "mkdocs.yml"), *options], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_bibtex(root: Path) -> None:
    """What LaTeX would read as a command is text, and an organization is one name."""
    assert cite(root) == (
        "@misc{lovelace2025half,\n"
        "  author = {Lovelace, Ada and de Beauvoir, Simone and Plato and {Example Lab}},\n"
        "  title = {{Half of 100 \\% \\& more\\_\\{x\\}}},\n"
        "  year = {2025},\n"
        "  version = {1.0},\n"
        "  doi = {10.5281/zenodo.1234567},\n"
        "  url = {https://doi.org/10.5281/zenodo.1234567},\n"
        "}\n"
    )


def test_apa(root: Path) -> None:
    """A reference for a text."""
    assert cite(root, "--format", "apa") == (
        "Lovelace, A., de Beauvoir, S., Plato, & Example Lab. (2025). Half of 100 % & more_{x} (Version 1.0)"
        " [Report]. https://doi.org/10.5281/zenodo.1234567\n"
    )


def test_cff(root: Path) -> None:
    """As Citation File Format 1.2.0 has it, in which dates are texts."""
    value = yaml.load(cite(root, "--format", "cff"), yaml.BaseLoader)  # noqa: S506 - only texts
    assert value == {
        "cff-version": "1.2.0",
        "message": "If you use this report, please cite it as below.",
        "type": "dataset",
        "title": "Half of 100 % & more_{x}",
        "abstract": "Zürich 😀",
        "authors": [
            {
                "family-names": "Lovelace",
                "given-names": "Ada",
                "affiliation": "Engines",
                "orcid": "https://orcid.org/0000-0002-1825-0097",
            },
            {"family-names": "de Beauvoir", "given-names": "Simone"},
            {"name": "Plato"},
            {"name": "Example Lab"},
        ],
        "version": "1.0",
        "doi": "10.5281/zenodo.1234567",
        "date-released": "2025-11-20",
        "license": "CC-BY-4.0",
        "keywords": ["evals", "rl"],
        "url": "https://example.org/small/",
    }


def test_datacite(root: Path) -> None:
    """The members that a registry of DOIs reads."""
    value: dict[str, Any] = json.loads(cite(root, "--format", "datacite"))
    assert value["publicationYear"] == "2025"
    assert [one["name"] for one in value["creators"]] == [
        "Lovelace, Ada", "de Beauvoir, Simone", "Plato", "Example Lab",
    ]  # fmt: skip
    assert value["relatedIdentifiers"] == [
        {
            "relationType": "IsSupplementTo",
            "relatedIdentifier": "10.1000/xyz",
            "relatedIdentifierType": "DOI",
        },
        {
            "relationType": "Cites",
            "relatedIdentifier": "https://example.org/paper",
            "relatedIdentifierType": "URL",
        },
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "0000-0002-1825-0097",
            "0000-0002-1825-0096",
            "this ORCID iD ends in 6, and by its other",
        ),
        ("0000-0002-1825-0097", "12", "an ORCID iD has 16 digits in groups of four"),
        ("cc-by-4.0", "Creative", '"Creative" is not the SPDX identifier of a licence'),
        ("cc-by-4.0", "MIT OR Apache-2.0", "is not the SPDX identifier of a licence"),
        ("https://doi.org/10.5281/zenodo.1234567", "zenodo 12", "is neither a DOI"),
        ("isSupplementTo", "belongsTo", "belongsTo"),
        ("kind: organization", "kind: organization, affiliation: X", '"Example Lab" is an organization'),
    ],
)
def test_what_is_wrong_is_named_with_its_line(root: Path, old: str, new: str, said: str) -> None:
    """At build, check and cite alike."""
    text = WHOLE.replace(old, new)
    (root / "mkdocs.yml").write_text(text)
    done = CliRunner().invoke(cli, ["cite", "-f", str(root / "mkdocs.yml")])
    assert done.exit_code == 1
    assert said in done.output
    assert "mkdocs.yml:" in done.output


def test_without_a_citation_the_next_step_is_named(tmp_path: Path) -> None:
    """Rather than an invented author."""
    root = write_report(tmp_path / "report", {"mkdocs.yml": SETTINGS})
    done = CliRunner().invoke(cli, ["cite", "-f", str(root / "mkdocs.yml")])
    assert done.exit_code == 1
    assert 'Add citation: to the reportgen plugin, with authors: [{name: "Given Family"}]' in done.output


def test_files_that_contradict_it_fail_the_check(root: Path) -> None:
    """A stale version in a file of the repository is what a catalogue would show."""
    (root / "CITATION.cff").write_text(cite(root, "--format", "cff"))
    words = ["check", "-f", str(root / "mkdocs.yml")]
    assert CliRunner().invoke(cli, words).exit_code == 0
    stale = (root / "CITATION.cff").read_text().replace('version: "1.0"', 'version: "0.9"')
    (root / "CITATION.cff").write_text(stale)
    (root / ".zenodo.json").write_text('{"license": "mit", "title": "Half of 100 % & more_{x}"}')
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == 1
    assert 'version is "0.9" here, and citation: in mkdocs.yml "1.0"' in done.output
    assert '.zenodo.json:1:13: error: license is "mit" here' in done.output
