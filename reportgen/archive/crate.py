"""The metadata of an archive as an RO-Crate 1.2 that follows Process Run Crate 0.5.

Each figure is a file that an action of reportgen made from its inputs. Sources: https://w3id.org/ro/crate/1.2
and https://w3id.org/ro/wfrun/process/0.5.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from msgspec import Struct

from reportgen.core import __version__

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.settings.citation import Author
    from reportgen.site.citation import CitedReport

NAME: Final = "ro-crate-metadata.json"
_CRATE: Final = "https://w3id.org/ro/crate/1.2"
_PROFILE: Final = "https://w3id.org/ro/wfrun/process/0.5"
_SPDX: Final = "https://spdx.org/licenses/"
_TOOL: Final = "#reportgen"
_TYPES: Final = {
    "cff": "application/yaml",
    "csv": "text/csv",
    "html": "text/html",
    "json": "application/json",
    "md": "text/markdown",
    "parquet": "application/vnd.apache.parquet",
    "pdf": "application/pdf",
    "png": "image/png",
    "py": "text/x-python",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "yml": "application/yaml",
}

_PROFILE_ENTITY: Final = {
    "@id": _PROFILE,
    "@type": ["CreativeWork", "Profile"],
    "name": "Process Run Crate",
    "version": "0.5",
}
_TOOL_ENTITY: Final = {
    "@id": _TOOL,
    "@type": "SoftwareApplication",
    "name": "reportgen",
    "version": __version__,
    "url": {"@id": "README.txt"},  # which says how to install it
}


class PackedFile(Struct, frozen=True):
    """A file of an archive: size in bytes, SHA-256 in hex."""

    size: int
    sha256: str


def describe_crate(
    files: Mapping[str, PackedFile],
    figures: Sequence[Mapping[str, Any]],
    *,
    title: str,
    abstract: str,
    date: str,
    cited: CitedReport | None,
) -> str:
    """Format ``ro-crate-metadata.json`` of the files of an archive, by path.

    ``figures`` are the entries of ``provenance.json``, ``date`` is ``2026-11-20`` or empty.
    """
    people = [_describe_author(one, n) for n, one in enumerate(cited.citation.authors, 1)] if cited else []
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": title,
        "description": abstract or title,
        "conformsTo": _refer(_PROFILE),
        "hasPart": [_refer(_make_id(path)) for path in files],
        "mentions": _shorten([_refer(_name_action(one)) for one in figures]),
        "author": _shorten([_refer(one["@id"]) for one in people]),
        "datePublished": date,
        **_describe_terms(cited),
    }
    graph = [
        {"@id": NAME, "@type": "CreativeWork", "about": _refer("./"), "conformsTo": _refer(_CRATE)},
        {name: value for name, value in root.items() if value},
        _PROFILE_ENTITY,
        _TOOL_ENTITY,
        *people,
        *_list_files(files, figures),
        *(_describe_action(one, files, date) for one in figures),
    ]
    if cited and (name := cited.citation.license):
        words = f"The licence {name} of the SPDX License List"
        graph.append({"@id": f"{_SPDX}{name}", "@type": "CreativeWork", "name": name, "description": words})
    crate = {"@context": f"{_CRATE}/context", "@graph": graph}
    return f"{json.dumps(crate, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)}\n"


def _describe_terms(cited: CitedReport | None) -> dict[str, Any]:
    """Describe under which terms and names a report is known."""
    citation = cited.citation if cited else None
    if cited is None or citation is None:
        return {"license": "No licence is stated."}
    name = citation.license
    return {
        "license": _refer(f"{_SPDX}{name}") if name else "No licence is stated.",
        "identifier": f"https://doi.org/{citation.doi}" if citation.doi else "",
        "version": citation.version,
        "keywords": ", ".join(citation.keywords),
        "url": cited.url,
    }


def _refer(name: str) -> dict[str, str]:
    return {"@id": name}


def _shorten(values: list[dict[str, str]]) -> list[dict[str, str]] | dict[str, str]:
    """Return a single value as itself, as the JSON-LD of a crate has it."""
    return values[0] if len(values) == 1 else values


def _make_id(path: str) -> str:
    return quote(path)


def _name_absent(path: str) -> str:
    """Name an input that is not in the archive."""
    return f"#input-{quote(path)}"


def _name_action(figure: Mapping[str, Any]) -> str:
    return f"#make-{quote(figure['id'], safe='/')}"


def _describe_author(author: Author, number: int) -> dict[str, Any]:
    if author.kind == "organization":
        return {"@id": f"#author-{number}", "@type": "Organization", "name": author.name}
    name = f"https://orcid.org/{author.orcid}" if author.orcid else f"#author-{number}"
    value = {"@id": name, "@type": "Person", "name": " ".join(filter(None, (author.given, author.family)))}
    value |= {"familyName": author.family} | ({"givenName": author.given} if author.given else {})
    return value | ({"affiliation": author.affiliation} if author.affiliation else {})


def _list_files(
    files: Mapping[str, PackedFile], figures: Sequence[Mapping[str, Any]]
) -> Iterator[dict[str, str]]:
    """List the files of the archive, and then those that figures are drawn from and that are not in it."""
    for path, file in files.items():
        value = {"@id": _make_id(path), "@type": "File", "name": path}
        value |= {"contentSize": str(file.size), "sha256": file.sha256}
        kind = _TYPES.get(path.rpartition(".")[2].lower(), "" if "." in path else "text/plain")
        yield value | ({"encodingFormat": kind} if kind else {})
    inputs = (one for figure in figures for one in figure["inputs"])
    absent = {one["path"]: one["sha256"] for one in inputs if one["path"] not in files}
    for path, sha256 in sorted(absent.items()):
        yield {"@id": _name_absent(path), "@type": "CreativeWork", "name": path, "sha256": sha256}


def _describe_action(figure: Mapping[str, Any], files: Mapping[str, PackedFile], date: str) -> dict[str, Any]:
    inputs = (one["path"] for one in figure["inputs"])
    action = {
        "@id": _name_action(figure),
        "@type": "CreateAction",
        "name": f"Draw {figure['id']}",
        "instrument": _refer(_TOOL),
        "description": f"reportgen draws {figure['id']} from its data, as its block asks",
        "object": _shorten(
            [_refer(_make_id(path) if path in files else _name_absent(path)) for path in inputs]
        ),
        "result": _shorten([_refer(_make_id(one["path"])) for one in figure["outputs"]]),
    }
    return action | ({"endTime": date} if date else {})
