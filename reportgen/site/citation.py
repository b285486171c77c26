"""How to cite a report, in the forms that people and catalogues read."""

from __future__ import annotations

import html
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.core.errors import Diagnostic, Stage
from reportgen.settings.text import normalise_text, read_text
from reportgen.settings.yaml_tree import Origin, parse, write_yaml
from reportgen.site.reuse.manifest import find_provenance

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.settings.citation import Author, Citation
    from reportgen.settings.report import ProjectSettings

LATEX: Final = str.maketrans(
    {
        **{char: f"\\{char}" for char in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\\": r"\textbackslash{}",
    }
)
# DataCite's word for a value that is not available.
_UNAVAILABLE: Final = ":unav"
_DOI_ADDRESS: Final = "https://doi.org/"


class CitedReport(Struct, frozen=True):
    """A report as it is cited; ``date`` is ``2026-11-20`` or empty; ``url`` is that of its site."""

    title: str
    abstract: str
    citation: Citation
    date: str = ""
    commit: str = ""
    url: str = ""

    @property
    def year(self) -> str:
        """The year of its date, or empty."""
        return self.date[:4]

    @property
    def address(self) -> str:
        """The address of its DOI, otherwise of its site, or empty."""
        return f"{_DOI_ADDRESS}{self.citation.doi}" if self.citation.doi else self.url


def find_cited_report(settings: ProjectSettings, config: MkDocsConfig, root: Path) -> CitedReport | None:
    """Find how the report in ``root`` is cited, with what else it says of itself; None if it says nothing."""
    citation, provenance = settings.citation, find_provenance(root)
    if citation is None:
        return None
    title, abstract = citation.title or config.site_name, citation.abstract or config.site_description
    url = config.site_url or ""
    return CitedReport(title, abstract or "", citation, provenance.date, provenance.commit, url)


def describe_citation(report: CitedReport | None) -> dict[str, object]:
    """Describe in ``report.json`` how the report is cited, if that is known."""
    if report is None:
        return {}
    citation = report.citation
    stated: dict[str, object] = {"authors": [author.name for author in citation.authors]}
    return stated | {name: text for name in ("version", "doi") if (text := getattr(citation, name))}


def format_bibtex(report: CitedReport) -> str:
    """Format a BibTeX entry of type ``misc``, which every style knows."""
    citation = report.citation
    names = (
        f"{{{one.family.translate(LATEX)}}}"
        if one.kind == "organization"
        else ", ".join(part.translate(LATEX) for part in (one.family, one.given) if part)
        for one in citation.authors
    )
    fields = {
        "author": " and ".join(names),
        "title": f"{{{report.title.translate(LATEX)}}}",
        "year": report.year,
        "version": (citation.version or "").translate(LATEX),
        "doi": citation.doi or "",
        "url": report.address,
    }
    lines = [f"  {name} = {{{value}}},\n" for name, value in fields.items() if value]
    # A key such as ``lovelace2026scaling``; BibTeX reads ASCII only.
    words = (citation.authors[0].family, report.year, *report.title.split())
    latin = (unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode() for word in words)
    plain = [re.sub("[^a-z0-9]", "", word.lower()) for word in latin]
    title = next((word for word in plain[2:] if len(word) > 3), "")  # noqa: PLR2004 - not "the"
    key = f"{plain[0]}{plain[1]}{title}" or "report"
    return f"@misc{{{key},\n{''.join(lines)}}}\n"


def format_apa(report: CitedReport) -> str:
    """Format a reference in the style of the American Psychological Association, 7th edition, 10.4."""

    def shorten(author: Author) -> str:
        initials = " ".join(f"{part[0]}." for part in author.given.split())
        return f"{author.family}, {initials}" if initials else author.family

    names = [shorten(one) for one in report.citation.authors]
    authors = names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, & {names[-1]}"
    version = f" (Version {report.citation.version})" if report.citation.version else ""
    parts = [f"{authors}{'' if authors.endswith('.') else '.'}", f"({report.year or 'n.d.'})."]
    parts += [f"{report.title}{version} [Report].", report.address]
    return f"{' '.join(part for part in parts if part)}\n"


def format_cff(report: CitedReport) -> str:
    """Format ``CITATION.cff``, Citation File Format 1.2.0."""
    citation = report.citation

    def describe(author: Author) -> dict[str, Any]:
        if author.kind == "organization" or not author.given:
            return {"name": author.name}
        value = {"family-names": author.family, "given-names": author.given}
        orcid = {"orcid": f"https://orcid.org/{author.orcid}"} if author.orcid else {}
        return value | ({"affiliation": author.affiliation} if author.affiliation else {}) | orcid

    value = {
        "cff-version": "1.2.0",
        "message": "If you use this report, please cite it as below.",
        "type": "dataset",
        "title": report.title,
        "abstract": report.abstract,
        "authors": [describe(one) for one in citation.authors],
        "version": citation.version,
        "doi": citation.doi,
        "date-released": report.date,
        "license": citation.license,
        "keywords": list(citation.keywords),
        "url": report.url,
        "commit": report.commit,
    }
    return write_yaml({name: one for name, one in value.items() if one})


def format_zenodo(report: CitedReport) -> str:
    """Format ``.zenodo.json``, which Zenodo reads in place of ``CITATION.cff``."""
    citation = report.citation

    def describe(author: Author) -> dict[str, str]:
        name = ", ".join(part for part in (author.family, author.given) if part)
        own = {"affiliation": author.affiliation, "orcid": author.orcid}
        return {"name": name} | {key: one for key, one in own.items() if one}

    value = {
        "upload_type": "publication",
        "publication_type": "report",
        "title": report.title,
        "description": f"<p>{html.escape(report.abstract or report.title)}</p>",
        "creators": [describe(one) for one in citation.authors],
        "license": (citation.license or "").lower(),
        "version": citation.version,
        "doi": citation.doi,
        "publication_date": report.date,
        "keywords": list(citation.keywords),
        "related_identifiers": [{"relation": one.relation, "identifier": one.id} for one in citation.related],
    }
    return _encode({name: one for name, one in value.items() if one})


def format_datacite(report: CitedReport) -> str:
    """Format metadata of DataCite, schema 4.5, as the members of its JSON."""
    citation = report.citation

    def identify(related: str) -> str:
        return "URL" if "://" in related else "DOI"

    value = {
        "schemaVersion": "http://datacite.org/schema/kernel-4",
        "types": {"resourceTypeGeneral": "Report", "resourceType": "Report"},
        "identifiers": [{"identifierType": "DOI", "identifier": citation.doi}] if citation.doi else [],
        "creators": [_describe_creator(one) for one in citation.authors],
        "titles": [{"title": report.title}],
        "publisher": {"name": _UNAVAILABLE},
        "publicationYear": report.year,
        "dates": [{"date": report.date, "dateType": "Issued"}] if report.date else [],
        "version": citation.version,
        "rightsList": [{"rightsIdentifier": citation.license, "rightsIdentifierScheme": "SPDX"}]
        if citation.license
        else [],
        "descriptions": [{"description": report.abstract, "descriptionType": "Abstract"}]
        if report.abstract
        else [],
        "subjects": [{"subject": one} for one in citation.keywords],
        "relatedIdentifiers": [
            {
                "relationType": one.relation[0].upper() + one.relation[1:],
                "relatedIdentifier": one.id,
                "relatedIdentifierType": identify(one.id),
            }
            for one in citation.related
        ],
        "url": report.url,
    }
    return _encode({name: one for name, one in value.items() if one})


def _describe_creator(author: Author) -> dict[str, Any]:
    if author.kind == "organization":
        return {"name": author.name, "nameType": "Organizational"}
    name = ", ".join(part for part in (author.family, author.given) if part)
    value: dict[str, Any] = {"name": name, "nameType": "Personal", "familyName": author.family}
    value |= {"givenName": author.given} if author.given else {}
    if author.orcid:
        scheme = {"nameIdentifierScheme": "ORCID", "schemeUri": "https://orcid.org"}
        value["nameIdentifiers"] = [{"nameIdentifier": f"https://orcid.org/{author.orcid}", **scheme}]
    return value | ({"affiliation": [{"name": author.affiliation}]} if author.affiliation else {})


_COMPARED: Final = ("title", "version", "doi", "license")


def compare_files(report: CitedReport, root: Path) -> Iterator[Diagnostic]:
    """Find where ``CITATION.cff`` and ``.zenodo.json`` of the report's folder contradict its citation."""
    own: dict[str, str | None] = {"title": report.title}
    own |= {name: getattr(report.citation, name) for name in _COMPARED[1:]}
    for name in ("CITATION.cff", ".zenodo.json"):
        path = root / name
        if not path.is_file():
            continue
        # JSON is YAML, too.
        node = parse(normalise_text(read_text(path, name, Stage.SETTINGS)), Origin(name))
        for key, written in node.entries.items() if node else ():
            expected = own.get(key)
            if (
                key in own
                and written.kind == "scalar"
                and written.text.casefold() != (expected or "").casefold()
            ):
                says = (
                    f'and citation: in mkdocs.yml "{expected}"'
                    if expected
                    else "and citation: in mkdocs.yml nothing"
                )
                step = "Correct one of them; reportgen cite --format cff prints the file anew"
                yield Diagnostic(
                    written.place, f'{key} is "{written.text}" here, {says}', step, Stage.SETTINGS
                )


def _encode(value: object) -> str:
    return f"{json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)}\n"


FORMATS: Final = {
    "bibtex": format_bibtex,
    "cff": format_cff,
    "apa": format_apa,
    "datacite": format_datacite,
}
"""By the name of each form of ``reportgen cite``."""
