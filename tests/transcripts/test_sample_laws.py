"""Texts of samples are written in parts: never in memory together, and the same from any folder."""

from __future__ import annotations

import json
import shutil
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING

from file_commands import read_samples
from made_projects import files_below, write_report

from reportgen.site.publishing import publish

if TYPE_CHECKING:
    from collections.abc import Mapping

BLOCK = "# Samples\n\n```problems\nsource: answers\nid: map\nsamples: true\n```\n"
MAP = "figures/index/map-map"
NAMED = {"answers/source.yml": "columns: {prompt: prompt, response: response}\n"}


def build(root: Path, data: Mapping[str, str | bytes], page: str = BLOCK) -> Path:
    """Build a report of one page with this data; returns the site."""
    files = {f"data/{name}": content for name, content in data.items()}
    write_report(root, {"content/index.md": page, "data/runs.csv": None, **files})
    publish(root / "mkdocs.yml", strict=False, progress=lambda _done, _all: None, warn=lambda _: None)
    return root / "site"


def test_same_data_same_scripts(tmp_path: Path) -> None:
    """From another folder and from the cache; without the setting no file has a text."""
    logs = files_below(Path(__file__).parents[2] / "data/lm-eval-example")
    data = {f"answers/{name}": text for name, text in logs.items() if not name.endswith((".py", ".yml"))}
    sites = [build(tmp_path / name, data) for name in "ab"]
    shutil.rmtree(sites[1])
    sites[1] = build(tmp_path / "b", {})
    one, other = (files_below(site / "figures") for site in sites)
    assert one == other
    assert [name for name in one if ".samples-" in name]
    site = build(tmp_path / "b", {}, BLOCK.replace("samples: true\n", ""))
    assert not [name for name, content in files_below(site).items() if b"85 + 26" in content]


def test_many_problems_have_several_scripts(tmp_path: Path) -> None:
    """Each of a bounded size, together with every problem; a column of several problems names them all."""
    rows = [
        {
            "id": f"q{n}",
            "question": f"{n}? " + "w" * 900,
            "answer": str(n),
            "responses": [f"r{n}"],
            "correct": [n % 2 == 0],
        }
        for n in range(1300)
    ]
    site = build(tmp_path, {"answers/model.jsonl": "".join(json.dumps(row) + "\n" for row in rows)})
    scripts = sorted(site.glob(f"{MAP}.samples-*.js"))
    assert len(scripts) > 10
    assert max(path.stat().st_size for path in scripts) < 200_000
    assert read_samples(site / MAP).keys() == {row["id"] for row in rows}
    page = (site / "index.html").read_text("utf-8")
    payload = json.loads(page.partition('class="rg-heat-data">')[2].partition("</script>")[0])
    places = payload["texts"]["places"]
    assert len(places) == len(payload["problems"]) == 434
    assert sum(map(len, places)) == 1300


def test_texts_are_never_in_memory_together(tmp_path: Path) -> None:
    """They are read and written in parts: a build takes less memory than its texts, and mixes none up."""
    series, problems, samples = "AB", range(400), range(16)
    texts = {(s, n, k): f"{s}{n}.{k} " + "w" * 3000 for k in samples for n in problems for s in series}
    lines = [f"{s},q{n},{k},{(n + k) % 2},{n}?,{text}" for (s, n, k), text in texts.items()]
    table = "\n".join(["series,problem,sample,score,prompt,response", *lines])
    files = {"answers/a.csv": table, **NAMED}
    build(tmp_path / "imports", {**files, "answers/a.csv": table[:4000].rpartition("\n")[0]})
    build(tmp_path / "report", files, "# Nothing yet\n")
    tracemalloc.start()
    site = build(tmp_path / "report", {})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < len(table) * 2 / 3, f"{peak:,} of {len(table):,}"
    assert {name: [row["response"] for row in rows] for name, rows in read_samples(site / MAP).items()} == {
        f"q{n}": [texts[s, n, k] for k in samples for s in series] for n in problems
    }
