"""Measures what a reader downloads: a page of three figures of 5 series × 5 seeds × 150 or 1000 steps.

    python benchmarks/page_weight.py [--steps 150] [--folder DIR]

Sizes are gzip, level 9, of what the site holds. A page and its data come first; scripts come once a site.
"""

from __future__ import annotations

import argparse
import gzip
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measure import run, table
from workload import Size, write_report

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = {
    "inline SVG": r"<svg\b.*?</svg>",
    "data for the live view": r'<script type="application/json".*?</script>',
    "data tables": r"<details\b.*?</details>",
}
_LIMITS = {150: "75", 1000: "110"}
_LINKED = re.compile(r'<(?:script|link)\b[^>]*\b(?:src|href)="([^"#?]+)"')


def page_rows(page: Path, steps: int) -> Iterator[tuple[str, ...]]:
    """The page, and what each kind of content in it weighs alone."""
    html = page.read_text(encoding="utf-8")
    yield _row("page with its data", html.encode(), limit=_LIMITS.get(steps, ""))
    for name, pattern in _PARTS.items():
        yield _row(f"  {name}", "".join(re.findall(pattern, html, re.DOTALL)).encode())


def asset_rows(site: Path, page: Path) -> Iterator[tuple[str, ...]]:
    """Scripts and styles, marked where the page asks for them at once."""
    linked = {(page.parent / name).resolve() for name in _LINKED.findall(page.read_text(encoding="utf-8"))}
    for kind, limit in (("js", "310"), ("css", ""), ("woff2", "")):
        files = sorted(path for path in site.rglob(f"*.{kind}") if path.name != "search_index.js")
        yield _row(f"all .{kind}", *(path.read_bytes() for path in files), limit=limit)
        for path in files:
            when = "" if path.resolve() in linked or kind == "woff2" else ", when needed"
            yield _row(f"  {path.relative_to(site).as_posix()}{when}", path.read_bytes())


def _row(what: str, *contents: bytes, limit: str = "") -> tuple[str, ...]:
    small = sum(len(gzip.compress(content, 9)) for content in contents)
    return what, f"{sum(map(len, contents)) / 1000:.1f}", f"{small / 1000:.1f}", limit


def main() -> None:
    """Build the page, weigh it, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--steps", type=int, default=150, help="steps of a run")
    parser.add_argument("--folder", type=Path, help="write the workload here and keep it")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = chosen.folder or Path(scratch)
        write_report(folder, Size(pages=1, steps=chosen.steps))
        run([sys.executable, "-m", "reportgen", "build"], folder)
        site = folder / "site"
        page = site / "page-000" / "index.html"
        header = ("", "kB", "kB gzip", "limit")
        print(table(header, page_rows(page, chosen.steps)))
        print(f"\n{table(header, asset_rows(site, page))}")


if __name__ == "__main__":
    main()
