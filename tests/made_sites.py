"""Small built sites, archives and hubs of them, written as reportgen writes them, without a build."""

from __future__ import annotations

import hashlib
import json
import zipfile
from typing import TYPE_CHECKING, Any

from made_archives import invoke
from made_projects import write_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MANIFEST = "manifest-sha256.txt"
PAGE = """<!doctype html>
<html lang="en" data-theme="auto">
<head>
<meta charset="utf-8">
<title>{title}</title>
<link rel="stylesheet" href="{root}css/theme.css">
</head>
<body>
<a class="rg-skip" href="#content">Skip to content</a>
<nav><a href="{root}.">Home</a> {nav}</nav>
<main id="content"><article class="rg-prose">
{text}
</article></main>
<footer>commit {commit}</footer>
<script src="{root}js/theme.js" defer></script>
</body>
</html>
"""
TEXTS = {
    "": '<h1>Home</h1><p><a href="a/">A</a></p>',
    "a/": '<h1>A</h1><p><img src="../figures/a/curve.svg" alt=""><a href="../b/#state">B</a></p>',
    "b/": '<h1>B</h1><p><a href="../figures/b/curve.csv" download>CSV</a></p>',
}
FILES = {
    "css/theme.css": "body { margin: 0 }\n",
    "js/theme.js": '"use strict";\n',
    "figures/a/curve.svg": "<svg xmlns='http://www.w3.org/2000/svg'/>\n",
    "figures/b/curve.csv": "step,value\n0,1\n",
    "sitemap.xml": "<urlset/>\n",
}


def make_site(
    texts: Mapping[str, str | None] | None = None,
    files: Mapping[str, str | bytes | None] | None = None,
    *,
    commit: str = "a" * 40,
    date: str = "2026-11-20",
) -> dict[str, bytes]:
    """The files of a site; pages by their addresses, and whatever is None is left out."""
    said = {address: text for address, text in {**TEXTS, **(texts or {})}.items() if text is not None}
    made: dict[str, bytes] = {}
    for address, text in said.items():
        root = "../" * address.count("/")
        nav = " ".join(f'<a href="{root}{other}">{other}</a>' for other in said if other)
        title = "Small" if not address else f"{address.rstrip('/').upper()} · Small"
        html = PAGE.format(title=title, root=root, nav=nav, text=text, commit=commit)
        made[f"{address}index.html"] = html.encode()
    made["404.html"] = made["index.html"]
    report = {"format": 1, "generator": {"name": "reportgen"}, "commit": commit, "date": date, "pages": []}
    made["report.json"] = json.dumps(report).encode()
    for path, content in {**FILES, **(files or {})}.items():
        if content is None:
            made.pop(path, None)
        else:
            made[path] = content if isinstance(content, bytes) else content.encode()
    return made


def write_site(folder: Path, site: Mapping[str, bytes]) -> Path:
    """Write a site into a folder."""
    for path, content in site.items():
        write_file(folder / path, content)
    return folder


def pack_site(path: Path, site: Mapping[str, bytes]) -> Path:
    """Pack a site into a zip file."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in site.items():
            file.writestr(zipfile.ZipInfo(name), content)
    return path


def pack_archive(path: Path, site: Mapping[str, bytes], **others: bytes) -> Path:
    """Pack a site as an archive with its manifest; ``others`` stand in place of files, by their names."""
    members = {f"site/{name}": content for name, content in sorted(site.items())} | {"README.txt": b"Read.\n"}
    lines = (f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in sorted(members.items()))
    return pack_site(path, members | {MANIFEST: "".join(lines).encode()} | others)


# ---- hubs

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
