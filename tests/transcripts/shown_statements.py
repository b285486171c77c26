"""The statements of a drafted report, as readers have them explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.site.checking import draft_report

if TYPE_CHECKING:
    from pathlib import Path


def show_statements(root: Path) -> str:
    """Return for each statement its words, its truth with sentences, what is written, and its evidence."""
    report, _ = draft_report(root / "mkdocs.yml", progress=lambda _done, _all: None)
    lines = []
    for statements in report.statements.values():
        for one in statements:
            judged = one.judgement
            lines += [f"{one.binding.words}: {judged.truth}. {'. '.join(judged.sentences)}."]
            lines += [f"  {text}" for text in (judged.written, *judged.evidence)]
    return "".join(f"{line}\n" for line in lines)
