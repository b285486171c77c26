"""Small multiples: a panel for each series, on axes that all share, with numbers of its own series."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from made_projects import write_report
from test_report import drafted, figure, problems

from reportgen.core.model import Panels

if TYPE_CHECKING:
    from pathlib import Path

NAMES = [f"s{number}" for number in range(6)]


def write_runs(names: list[str], spread: float) -> str:
    """Three runs of each series at five steps, ``spread`` apart."""
    rows = (
        f"{name},{seed},{step},{step / 10 + index * spread + seed / 100},{step}\n"
        for index, name in enumerate(names)
        for seed in range(3)
        for step in range(5)
    )
    return "series,seed,step,score,other\n" + "".join(rows)


def write_page(folder: Path, block: str, runs: str) -> Path:
    """A report of one curve."""
    page = f"# Small\n\n```curve\nid: one\nsource: runs\n{block}\n```\n"
    return write_report(folder, {"content/index.md": page, "data/runs.csv": runs})


def test_each_panel_has_its_series_and_the_axes_of_all(tmp_path: Path) -> None:
    """Other series are drawn without bands, and are in neither table nor file."""
    root = write_page(tmp_path, "metric: score\nfacet: series\norder: name", write_runs(NAMES, 0.2))
    panels = drafted(root).shown["index.md", "one"]
    assert isinstance(panels, Panels)
    assert [panel.title for panel in panels.figures] == NAMES
    domains = set()
    for name, panel in zip(NAMES, panels.figures, strict=True):
        payload = json.loads(str(panel.payload))
        domains.add((*payload["x"]["domain"], *payload["y"]["domain"]))
        assert {one["name"]: "low" in one for one in payload["series"]} == {n: n == name for n in NAMES}
        assert {one["name"]: one["muted"] for one in payload["series"]} == {n: n != name for n in NAMES}
        assert {row.split(",")[0] for row in str(panel.csv).splitlines()[1:]} == {name}
        assert panel.table.header == ("step", name)
    assert len(domains) == 1


def test_overlapping_bands_suggest_it(tmp_path: Path) -> None:
    """Only where more than four bands overlap at most steps."""
    for folder, names, spread, expected in (
        ("apart", NAMES, 0.2, False),
        ("few", NAMES[:4], 0.0, False),
        ("together", NAMES, 0.001, True),
    ):
        root = write_page(tmp_path / folder, "metric: score", write_runs(names, spread))
        assert ("facet: series" in figure(drafted(root).shown["index.md", "one"]).caption) is expected


def test_what_cannot_be_drawn_is_explained(tmp_path: Path) -> None:
    """A panel needs one metric, no colours of the author's, and a few series."""
    for number, (block, message) in enumerate(
        (
            ("metric: score\nfacet: series\nhighlight: [s1]", "so leave out highlight"),
            ("metric: score\nfacet: run", "facet"),
            ("metric: [score, other]\nfacet: series", "facet: series draws one metric, and these are 2"),
            ("metric: score\nseries: [s1]\nfacet: series", "draws 2 to 24 panels, and this figure has 1"),
        )
    ):
        (found,) = problems(write_page(tmp_path / str(number), block, write_runs(NAMES, 0.2)))
        assert message in found
        assert found.startswith("content/index.md:")
