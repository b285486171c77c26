"""What a ``hub.yml`` says: the reports that are published together."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlsplit

from msgspec import Struct
from pydantic import AfterValidator, Field, create_model

from reportgen.core.errors import Diagnostics, SourceLocation, Stage
from reportgen.settings.base import Name, Settings
from reportgen.settings.text import make_settings_problem, read_text
from reportgen.settings.validation_errors import validate_tree
from reportgen.settings.yaml_tree import Node, Origin, parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reportgen.core.errors import Diagnostic

FOLDER_NAME: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._+-]{0,98}[A-Za-z0-9_+-])?")
"""A name that can be that of a folder on every system, and stand in an address as it is."""


def _check_name(name: str) -> str:
    if not FOLDER_NAME.fullmatch(name):
        raise ValueError(
            f'"{name}" cannot be the name of a folder: use at most 100 letters, digits and . _ + -, with a '
            "letter or digit first and no . at the end"
        )
    return name


def _check_address(text: str) -> str:
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").encode("idna")
    except ValueError:
        host = b""
    if not host or parts.scheme not in {"http", "https"} or parts.query or parts.fragment:
        raise ValueError(f'"{text}" is not an address such as https://lab.github.io/reports/')
    return f"{text.rstrip('/')}/"


class _Named(Settings):
    """A report of a hub."""

    name: Annotated[Name, AfterValidator(_check_name)] = Field(
        description="Its folder, and the last part of its address: scaling is published at r/scaling/."
    )
    team: Name | None = Field(None, description="The team that it is listed under.")


# In a class body, the name would be a syntax error.
_FROM: Any = {"from": (Name, Field(description="Its built site, or its archive with the site."))}
HubReport = create_model("HubReport", __base__=_Named, __doc__=_Named.__doc__, **_FROM)


class HubSettings(Settings):
    """A hub of reports."""

    title: Name = Field(description="The title of the hub.")
    description: Name | None = Field(None, description="What the hub is, in a sentence.")
    site_url: Annotated[Name, AfterValidator(_check_address)] | None = Field(
        None, description="Where the hub is published; without it there is no feed."
    )
    keep_versions: int = Field(
        5, ge=0, le=1000, description="How many earlier versions of each report stay published."
    )
    reports: tuple[HubReport, ...] = Field(
        min_length=1, description="The reports, each with its name and where it comes from."
    )


class ListedReport(Struct, frozen=True):
    """A report that a hub lists: where it comes from, also as written, and where ``hub.yml`` says so."""

    name: str
    team: str
    source: str
    path: Path
    location: SourceLocation


class Hub(Struct, frozen=True):
    """A ``hub.yml``: what it says of the hub, and its reports in the order of the file."""

    settings: HubSettings
    reports: tuple[ListedReport, ...]


def load_hub(path: Path) -> Hub:
    """Load a ``hub.yml``; raise a ReportError with everything that is wrong with it."""
    node = parse(read_text(path, path.name, Stage.SETTINGS), Origin(path.name))
    node = node or Node(SourceLocation(path.name, 1), "mapping")
    problems = Diagnostics()
    problems.add(_find_twins(node))
    with problems.collecting():
        settings = validate_tree(HubSettings, node, path.name)
    problems.raise_errors()
    listed = []
    for report, item in zip(settings.reports, node.entries["reports"].items, strict=True):
        given: dict[str, Any] = report.model_dump()
        name, source, team = given["name"], given["from"], given["team"] or ""
        listed.append(ListedReport(name, team, source, path.parent / source, item.entries["name"].place))
    return Hub(settings, tuple(listed))


def _find_twins(node: Node) -> Iterator[Diagnostic]:
    """Find reports whose names are the same, or would be the same folder on some systems."""
    seen: dict[str, Node] = {}
    reports = node.entries.get("reports")
    for item in reports.items if reports else ():
        name = item.entries.get("name")
        if name is None or name.kind != "scalar":
            continue
        first = seen.setdefault(name.text.strip().casefold(), name)
        if first is not name:
            same = "is" if first.text == name.text else f'is the same on some systems as "{first.text}"'
            also = f"{same} also the name of the report on line {first.place.line}"
            if first.text != name.text:
                also = f"{same}, the name of the report on line {first.place.line}"
            step = "Give one of the two another name"
            yield make_settings_problem(name.place, f'"{name.text}" {also}', step)
