"""Golden cases: whole reports through the real build, compared with what was looked at and accepted.

``tests/cases/<name>/`` is a report of its own; ``expected/`` beside it holds its numbers (``report.json``
and CSV) apart from its pictures and its pages' fragments, so that a change of either is seen by itself.
"""

from __future__ import annotations

import difflib
import json
import re
import shutil
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
from command_line import ask
from made_projects import share_cache

from reportgen.site.publishing import publish

CASES = Path(__file__).parent / "cases"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())
MOST_LINES = 60
# A figure, a table, panels, cards, sentences and so on: from its opening to the end of its outermost element.
NAMES_OF_BLOCKS = "figure|panels|stack|table|overview|benchmark|observations|checked"
BLOCKS = re.compile(rf'<(figure|div|section) class="rg-(?:{NAMES_OF_BLOCKS})[" ]')


@pytest.fixture(scope="module")
def warm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built report, whose cache spares the others what they share with it."""
    return build("minimal", tmp_path_factory.mktemp("cases"), None)


def build(case: str, folder: Path, warm: Path | None) -> Path:
    """Build a case in a folder of its own; returns that folder."""
    root = folder / case
    shutil.copytree(CASES / case, root, ignore=shutil.ignore_patterns("expected"))
    if warm:
        share_cache(warm, root)
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return root


def outputs(site: Path) -> dict[str, str]:
    """What a case is known by: its numbers, its pictures and its pages' fragments."""
    found = {"report.json": (site / "report.json").read_text("utf-8")}
    for path in sorted((site / "figures").rglob("*")):
        if path.suffix in {".csv", ".svg", ".js"} and not drawn_by_vega(path):
            found[path.relative_to(site).as_posix()] = path.read_bytes().decode()
    for path in sorted(site.rglob("index.html")):
        fragments = [fragment(part) for part in blocks(path.read_text("utf-8"))]
        if fragments:
            page = path.relative_to(site).parent.as_posix()
            found[f"pages/{'index' if page == '.' else page}.html"] = "\n".join(fragments) + "\n"
    return found


def drawn_by_vega(path: Path) -> bool:
    """Whether a picture is Vega's own, which another version of it draws a little otherwise."""
    return path.suffix == ".svg" and 'class="marks"' in path.read_text("utf-8")


def blocks(html: str) -> list[str]:
    """Each block of a page, with what stands inside."""
    found, end = [], 0
    for start in BLOCKS.finditer(html):
        if start.start() >= end:
            end = closing(html, start[1], start.start())
            found.append(html[start.start() : end])
    return found


def closing(html: str, tag: str, start: int) -> int:
    """The end of the element that begins at ``start``."""
    depth = 0
    for mark in re.compile(rf"<(/?){tag}\b[^>]*>").finditer(html, start):
        depth += -1 if mark[1] else 1
        if not depth:
            return mark.end()
    raise AssertionError(f"<{tag}> is not closed")


def fragment(html: str) -> str:
    """A block without the live view's data, which repeat the numbers, and without pictures of Vega."""
    html = re.sub(
        r'<script type="application/json" class="rg-payload">.*?</script>', "", html, flags=re.DOTALL
    )
    if 'data-kind="vega-lite"' in html or 'data-kind="altair"' in html:
        html = re.sub(r'<svg class="rg-picture[ "].*</svg>', "", html, flags=re.DOTALL)
    return re.sub(r"\n\s*\n+", "\n", html)


@pytest.mark.parametrize("case", NAMES)
def test_the_case_is_as_accepted(
    case: str, warm: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Every file of a case is what somebody looked at and accepted."""
    found = outputs(build(case, tmp_path, warm) / "site")
    expected = CASES / case / "expected"
    if request.config.getoption("--accept"):
        accept(expected, found)
    accepted = {
        path.relative_to(expected).as_posix(): path.read_bytes().decode()
        for path in sorted(expected.rglob("*"))
        if path.is_file()
    }
    how = (
        f'Look at the change; if it is right:\n    python -m pytest tests/test_cases.py -k "{case}" --accept'
    )
    for name in sorted(found.keys() | accepted.keys()):
        was, now = accepted.get(name, ""), found.get(name, "")
        assert was == now, f"{case}/expected/{name}\n{difference(was, now)}\n{how}"


def accept(expected: Path, found: dict[str, str]) -> None:
    """Make what was found what is expected."""
    shutil.rmtree(expected, ignore_errors=True)
    for name, text in found.items():
        path = expected / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def difference(was: str, now: str) -> str:
    """The first lines that differ, each cut to what a terminal shows."""
    lines = difflib.unified_diff(was.splitlines(), now.splitlines(), "accepted", "now", lineterm="", n=1)
    return "\n".join(line[:300] for line, _ in zip(lines, range(MOST_LINES), strict=False))


def test_no_accepted_file_holds_a_machine_s_trace() -> None:
    """No folder of the test, no time, no number that is none."""
    for path in CASES.rglob("expected/**/*"):
        if path.is_file():
            text = path.read_text("utf-8")
            assert not re.search(r"pytest-of|/tmp/|\bNaN\b|\bInfinity\b", text), path


def test_every_case_is_accepted(tmp_path: Path) -> None:
    """A case without expectations would hold nothing; its ``report.json`` follows the schema."""
    assert len(NAMES) >= 13
    schema = ask(tmp_path, "schema", "report")["result"]["schemas"]["report"]
    follows = jsonschema.Draft202012Validator(schema).validate
    for name in NAMES:
        follows(json.loads((CASES / name / "expected/report.json").read_text("utf-8")))
