"""A report whose every name is hostile: series, runs, metrics, titles, sources, files, settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

NAMES = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "__proto__",
    "constructor",
    "\u202eright to left",
    "zero\u200bwidth\u2060",
    "x" * 500,
    "=cmd|' /C calc'!A0",
    "{{7*7}}",
    "${x}",
    "var(--rg-bg)",
    'var(--rg-none) fill="var(--rg-bg)"',
    "<b>",
    "bell\x07 escape\x1b[31m",
    "]]> <!-- &amp; -->",
    "</title></style></textarea>",
    "' onmouseover='alert(1)",
    "[link](javascript:alert(1)) **bold** `code`",
)
WRITABLE = tuple(name for name in NAMES if "\x07" not in name)
"""Names that a page may mention: a control character in a block is refused with its place."""
SOURCE = '"><img src=x onerror=alert(1)>'
"""A folder's name; also ``__proto__`` and ``constructor`` are sources."""
OUTCOMES = "answers"
PARTS = (NAMES[0], NAMES[1])
"""Two benchmarks of the source of outcomes."""
LAST = "The last heading"
RAW = """<div class="rg-block" data-rg-block="nope">of no block</div>

<div class="rg-block" data-rg-block="all">of another page</div>

<div class="rg-block" data-rg-block="0123456789abcdef-nope">with a salt</div>

<rg-bound n="0123456789abcdef-0">bound to nothing</rg-bound> <rg-bound>nor</rg-bound>

<p class="rg-badge"></p> <section class="rg-checked"></section>
"""
"""What a page may hold that looks like the marks of blocks and statements."""


def write_hostile_report(folder: Path, *, untrusted: bool = False) -> Path:
    """Write the report, or one of fewer pages that trusts nobody, and return its folder."""
    for number, source in enumerate((SOURCE, "__proto__", "constructor")):
        _write_source(folder / "data" / source, NAMES[number])
    _write_outcomes(folder / "data" / OUTCOMES)
    pages = {
        "index.md": _page(NAMES[0], None, _fence("overview", {}), *(() if untrusted else (RAW,))),
        "series.md": _page(
            NAMES[1],
            SOURCE,
            _fence("curve", {"id": "all", "metric": NAMES[1], "title": NAMES[0], "caption": NAMES[0]}),
            _fence("table", {"id": "results", "metric": NAMES[1], "title": NAMES[1], "caption": NAMES[1]}),
            _fence("panels", {"id": "side", "metrics": NAMES[:3], "title": NAMES[10]}),
            _fence("vega-lite", {"id": "own", "title": NAMES[1], "summary": NAMES[0]} | _specification()),
        ),
        "metrics.md": _page(
            NAMES[9],
            "__proto__",
            *(
                _fence("curve", {"id": f"metric-{n}", "metric": name, "title": name, "y_title": name})
                for n, name in enumerate(WRITABLE)
            ),
        ),
        "words.md": _page(NAMES[8], "constructor", *map(_wordy, WRITABLE)),
        "scores.md": _page(
            NAMES[5],
            OUTCOMES,
            _fence("scores", {"id": "dots", "title": NAMES[0], "caption": NAMES[1]}),
            _fence("passk", {"id": "tries", "highlight": [NAMES[1]]}),
            _fence("comparison", {"id": "pairs", "title": NAMES[1]}),
            _fence("comparison", {"id": "both", "benchmarks": PARTS}),
            _fence("problems", {"id": "map", "slices": [NAMES[10]], "caption": NAMES[0]}),
            _fence("run-scores", {"id": "seeds"}),
            said={"metric": "mean", "benchmark": PARTS[0], "baseline": NAMES[2]},
        ),
    }
    if untrusted:
        del pages["metrics.md"], pages["words.md"]
    (folder / "content").mkdir()
    for name, text in pages.items():
        (folder / "content" / name).write_text(text, "utf-8")
    settings = {
        "site_name": NAMES[0],
        "site_description": NAMES[1],
        "docs_dir": "content",
        "theme": {"name": "reportgen"},
        "plugins": ["search", {"reportgen": {"untrusted": untrusted}}],
        "markdown_extensions": ["admonition", "tables", "pymdownx.superfences"],
    }
    (folder / "mkdocs.yml").write_text(json.dumps(settings), "utf-8")
    return folder


def _write_source(folder: Path, title: str) -> None:
    folder.mkdir(parents=True)
    rows = [
        {"series": name, "run": f"{name} {seed}", "seed": seed, "step": step}
        | {metric: step * place + seed + at for at, metric in enumerate(NAMES)}
        for place, name in enumerate(NAMES)
        for seed in (0, 1)
        for step in range(4)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / '"><img src=x onerror=alert(2)>.jsonl').write_text(lines, "utf-8")
    said = {
        "title": title,
        "description": NAMES[0],
        "approximate": NAMES[1],
        "provenance": {"code": "javascript:alert(1)", "licence": NAMES[0], "note": NAMES[1]},
    }
    (folder / "source.yml").write_text(json.dumps(said), "utf-8")


def _write_outcomes(folder: Path) -> None:
    """Answers of every series to seven problems of two benchmarks: the later series know more of them."""
    folder.mkdir(parents=True)
    rows = [
        {"benchmark": part, "series": name, "run": f"{name} {seed}", "seed": seed, "problem": problem}
        | {"sample": sample, "answer": name, "gold": problem, NAMES[10]: NAMES[at % 2]}
        | {"score": int((place + at * 5 + seed + sample) % 16 < place), "tokens": place}
        for part in PARTS
        for place, name in enumerate(NAMES)
        for seed in (0, 1)
        for at, problem in enumerate(NAMES[:7])
        for sample in (0, 1)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    said = {
        "title": NAMES[0],
        "approximate": NAMES[1],
        "protocol": {"prompt": NAMES[0], "harness": NAMES[1], "grader": NAMES[9]},
        "protocols": {NAMES[1]: {"prompt": NAMES[3]}},
    }
    (folder / "source.yml").write_text(json.dumps(said), "utf-8")


def _page(title: str, source: str | None, *blocks: str, said: Mapping[str, object] | None = None) -> str:
    front: dict[str, object] = {"title": title, "description": title}
    if source is not None:
        words = {"name": title, "description": title, "protocol": title, "source": source}
        front["benchmark"] = words | dict(said or {"metric": NAMES[0]})
    return "\n\n".join(
        ["---", json.dumps(front), "---", "# Hostile", *blocks, f"## {LAST}", "It is there.", ""]
    )


def _wordy(name: str) -> str:
    """A curve of one series with everything that an author may write in words."""
    return _fence(
        "curve",
        {
            "metric": NAMES[2],
            "series": [name],
            "title": name,
            "caption": name.replace("](", "] ("),
            "x_title": name,
            "highlight": [name],
            "reference": [{"y": 2, "label": name}],
            "annotations": [{"x": 1, "text": name}],
        },
    )


def _specification() -> dict[str, object]:
    def of(field: str, kind: str) -> dict[str, str]:
        return {"field": field, "type": kind, "title": NAMES[0]}

    x, y = of("step", "quantitative"), of("seed", "quantitative")
    encoding = {"x": x, "y": y, "color": of("series", "nominal"), "tooltip": of("series", "nominal")}
    return {"data": {"source": SOURCE}, "mark": "point", "encoding": encoding}


def _fence(kind: str, body: Mapping[str, object]) -> str:
    return f"```{kind}\n{json.dumps(body)}\n```" if body else f"```{kind}\n```"
