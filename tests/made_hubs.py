"""Hubs of small reports, written as reportgen writes them, without a build."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from made_archives import invoke
from made_projects import write_file
from made_sites import make_site, write_site

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

PROTOCOL = {"harness": "lm-eval 0.4.9", "problem set": "c1206e5c6b53"}
URL = "https://lab.example/reports/"


def make_score(series: str, value: float, half: float | None = 0.1, **changes: object) -> dict[str, Any]:
    """A score as ``report.json`` has it."""
    ends = {"low": None, "high": None} if half is None else {"low": value - half, "high": value + half}
    known = {"series": series, "estimate": value, "metric": "mean", "level": 0.95, "problems": 30}
    return {**known, **ends, "samples": [1, 1], **changes}


def make_page(
    *scores: dict[str, Any],
    benchmark: str = "Contest",
    protocol: Mapping[str, str] | None = None,
    title: str = "A",
    higher: bool | None = True,
    statements: Iterable[bool] = (),
) -> dict[str, Any]:
    """A page of ``report.json`` with a block of scores; ``statements`` say whether each is as expected."""
    stated = dict(PROTOCOL if protocol is None else protocol)
    numbers = {
        "benchmark": benchmark,
        "higher_is_better": higher,
        "protocol": {one["series"]: stated for one in scores},
        "scores": list(scores),
    }
    facts = {"Best": f"{scores[0]['series']} leads"} if scores else {}
    return {
        "path": "a.md",
        "title": title,
        "benchmark": {"name": benchmark, "facts": facts} if scores else None,
        "figures": [],
        "stacks": [{"id": "scores", "title": "Scores", "numbers": numbers}] if scores else [],
        "statements": [{"as_expected": one} for one in statements],
    }


def make_report(
    title: str,
    *pages: dict[str, Any],
    version: str = "",
    files: Mapping[str, str] | None = None,
    **said: Any,  # noqa: ANN401 - as report.json has them
) -> dict[str, bytes]:
    """The files of a report of this title."""
    site = make_site(files=files, **{one: said.pop(one) for one in ("commit", "date") if one in said})
    site["index.html"] = site["index.html"].replace(b"<title>Small", f"<title>{title}".encode())
    report = json.loads(site["report.json"])
    report |= {"pages": list(pages), **({"version": version} if version else {}), **said}
    return site | {"report.json": json.dumps(report).encode()}


def write_hub(
    folder: Path,
    reports: Mapping[str, Mapping[str, bytes]],
    teams: Mapping[str, str] | None = None,
    **keys: Any,  # noqa: ANN401 - as hub.yml has them
) -> Path:
    """Write reports into folders of their names, and a ``hub.yml`` that lists them."""
    listed = []
    for name, site in reports.items():
        write_site(folder / name, site)
        listed.append({"name": name, "from": name} | ({"team": teams[name]} if teams else {}))
    return list_hub(folder, listed, **keys)


def list_hub(folder: Path, reports: list[dict[str, str]], **keys: Any) -> Path:  # noqa: ANN401 - as hub.yml has them
    """Write a ``hub.yml``; JSON is YAML."""
    text = json.dumps({"title": "Lab", "site_url": URL, **keys, "reports": reports}, indent=1)
    write_file(folder / "hub.yml", text)
    return folder / "hub.yml"


def update(folder: Path, public: str = "public") -> tuple[int, str]:
    """Run ``reportgen hub`` on a folder's ``hub.yml``."""
    return invoke("hub", folder / "hub.yml", "--to", folder / public)


def read_record(folder: Path, public: str = "public") -> dict[str, dict[str, Any]]:
    """The reports in ``hub.json``, by name."""
    record = json.loads((folder / public / "hub.json").read_bytes())
    assert record["format"] == 1
    return {one["name"]: one for one in record["reports"]}
