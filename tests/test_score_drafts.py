"""Drafts of blocks about scores: what is kept, what goes to a second process, and colours across pages."""

from __future__ import annotations

import json
import pickle
import re
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest
from made_figures import HOSTILE
from made_files import KINDS
from made_projects import RUNS, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.model import Figure, Stack
from reportgen.draft.report import draft
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.draft.report import Report

ANSWERS = KINDS["answers"](
    "GRPO benchmark=Contest: 10*8\nMEL benchmark=Contest: 11 01 10 11 01 10 11 01\n"
    "GRPO benchmark=Textbook: 10*8\nMEL benchmark=Textbook: 11*4 10*4\n"
)
PAGE = """---
benchmark: {{name: B{0}, benchmark: Contest, source: s{0}, baseline: GRPO}}
---
# Contest

```scores
```

```passk
```

```comparison
source: s{0}
benchmarks: [Contest, Textbook]
```

```problems
```

```runs
```
"""


def drafted(root: Path, *pages: str, elsewhere: Any = None) -> Report:  # noqa: ANN401 - as of a draft
    """Draft the report in a folder."""
    project, folder = Project(root, "content", pages, ProjectSettings()), cache_folder(root)
    return draft(project, Cache(folder), FileHashes(folder), start_worker=elsewhere)


def write_pages(root: Path, count: int) -> Path:
    """A report with so many pages about scores, each with a source of its own."""
    files = {f"content/p{one}.md": PAGE.format(one) for one in range(count)}
    data = {f"data/s{one}/outcomes.csv": ANSWERS for one in range(count)}
    return write_report(root, {**files, **data})


def test_what_was_drawn_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second draft opens no table, and shows the same."""
    root = write_pages(tmp_path, 1)
    first = drafted(root, "p0.md")

    def never(*_: object) -> None:
        pytest.fail("outcomes were read")

    monkeypatch.setattr(sys.modules["reportgen.read"], "read_outcomes", never)
    second = drafted(root, "p0.md")
    assert list(second.shown.items()) == list(first.shown.items())
    assert (second.benchmarks, second.keys) == (first.benchmarks, first.keys)


def test_a_series_has_one_colour_in_curves_and_scores(tmp_path: Path) -> None:
    """Drawn together with GRPO on one page, MEL keeps its slot among scores on another."""
    page = "# Curve\n\n```curve\nid: it\nsource: runs\n```\n"
    root = write_report(write_pages(tmp_path, 1), {"content/index.md": page, "data/runs.csv": RUNS})
    report = drafted(root, "p0.md", "index.md")
    curve, stack = report.shown["index.md", "it"], report.shown["p0.md", "scores"]
    assert isinstance(curve, Figure)
    assert isinstance(stack, Stack)
    (dots,) = [part for part in stack.parts if isinstance(part, Figure)]
    slots = dict(curve.legend)
    assert len(set(slots.values())) == 2
    for name, slot in slots.items():
        assert dict(dots.legend).get(name, slot) == slot
        assert f"var(--rg-series-{(slot or 0) + 1})" in str(dots.inline_svg)


class Travelling:
    """Does the work here, on what would arrive in another process, and sends the result back."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
        """As ``Elsewhere``."""
        self.asked.append(work.__name__)
        result = pickle.dumps(work(*pickle.loads(pickle.dumps(arguments))))  # noqa: S301 - made one line before
        return lambda: pickle.loads(result)  # noqa: S301 - as above


def test_a_large_report_s_scores_are_shared_with_a_second_process(tmp_path: Path) -> None:
    """Pages about scores may go there as well as others, and come back the same."""
    pages = tuple(f"p{number}.md" for number in range(8))
    alone = drafted(write_pages(tmp_path / "alone", 8), *pages)
    elsewhere = Travelling()
    together = drafted(write_pages(tmp_path / "two", 8), *pages, elsewhere=elsewhere)
    assert elsewhere.asked == ["_read", "_draw"]
    assert list(together.shown.items()) == list(alone.shown.items())
    assert together.benchmarks == alone.benchmarks


def test_the_spark_line_survives_any_name(tmp_path: Path) -> None:
    """A small picture with the series' colours, one image, no style, whatever the names."""
    names = [name.replace("\0", "") for name in HOSTILE]  # which no series may hold
    pages = [f"p{place}.md" for place in range(len(names))]
    for place, name in enumerate(names):
        rows = [{"series": one, "step": x, "acc": x} for one in (name, "b") for x in (1, 2)]
        said = name if name.isprintable() and "{{" not in name else f"B{place}"
        named = {"name": said, "source": f"s{place}"}
        front = f"---\nbenchmark: {json.dumps(named)}\n---\n# One\n"
        data = "".join(f"{json.dumps(row)}\n" for row in rows)
        write_report(tmp_path, {f"content/p{place}.md": front, f"data/s{place}.jsonl": data})
    results = drafted(tmp_path, *pages).benchmarks
    assert len(results) == len(names)
    for result in results.values():
        root = ET.fromstring(result.spark)  # noqa: S314 - our own
        assert root.get("role") == "img"
        assert [path.get("stroke") for path in root] == ["var(--rg-series-1)", "var(--rg-series-2)"]
        assert not re.search(r"\sstyle=|\son\w+=", re.sub(r'aria-label="[^"]*"', "", result.spark))
