"""The sites whose pages the browser tests open, by name: each is built once for all test processes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from example_site import ROOT, build, write_small_report
from hostile_report import write_hostile_report
from made_archives import CITED, REPORT, archive, commit, invoke
from made_projects import PAGE, RUNS, SETTINGS, files_below, share_cache, write_report
from made_reviews import EVERYTHING, NOTHING, make_hostile, make_long, make_many_figures, write_state
from made_sites import list_hub, make_page, make_report, make_score, pack_site, update, write_site
from made_states import make_review_page
from theme_site import PAGES, build_site

from browser.figure_pages import HOSTILE, chart, results, write_assets, write_figures, write_page
from browser.score_pages import NAMES, heat_stack, pairs_stack, write_scores
from reportgen.archive.one_file import write_one_file
from reportgen.core.errors import SourceLocation
from reportgen.core.model import Cell, ResultTable
from reportgen.settings.loading import load_block

if TYPE_CHECKING:
    from collections.abc import Callable

# Material would otherwise ask another place for its fonts.
MATERIAL = "{name: material, font: false}"
OWN = "{name: reportgen}"
ADDRESS = "https://example.org/lab/"


class Made(NamedTuple):
    """How a site is made: in a folder that is not there yet, from the folders of the sites that it needs."""

    make: Callable[..., Path]
    needs: tuple[str, ...] = ()


# ---- the theme, and a report where room is short --------------------------------------------------

_THEME = {
    "hostile.md": "# Hostile\n\nThe run </script><img src=x onerror=alert(1)> won.\n",
    "endless.md": f"# {'Endless' * 40}\n\n## {'Section' * 40}\n\n{'letters' * 40}\n\n## B\n\n"
    f"- `{'code' * 60}`\n",
    "far.md": f"# Far\n\n{'filler ' * 20_000}\n\n## End\n\nA rare kestrel.\n",
}
SECTIONS = (
    "MATH500",
    "AIME Pass@1",
    "Model comparison",
    "Training accuracy",
    "Training diagnostics",
    "Ablations",
    "Guide",
)


def make_theme(folder: Path) -> Path:
    """The theme's site, to be served below ``/reports/``, where its 404 page looks for what it needs."""
    return build_site(folder, PAGES | _THEME, site_dir=str(folder / "reports"))


def make_edges(folder: Path) -> Path:
    """A report with seven sections and a long data table, without ``site_url``."""
    rows = "".join(f"{name},0,{step},0.{step}\n" for name in ("MEL", "GRPO") for step in range(10, 50))
    pages = {f"content/{n}.md": f"# {title}\n" for n, title in enumerate(SECTIONS)}
    files = {"content/index.md": PAGE, "data/runs.csv": f"series,seed,step,accuracy\n{rows}", **pages}
    site = build(write_report(folder, {"mkdocs.yml": SETTINGS, **files}))
    (site / "a/b").mkdir(parents=True)
    shutil.copy(site / "404.html", site / "a/b/404.html")
    return site


# ---- what is cited --------------------------------------------------------------------------------

NASTY = (
    r"50% & $x_1$ #3 ~a ^b {c} \input{d}",
    "a--b ''c'' <d> |e| \"f\" `g`,,",
    "[0.1]",
    "* 模型",
    "=1+1",
    "plain\u202e\u200b",
)


def make_cited(folder: Path) -> Path:
    """The small report with authors and an address, the same in one file, and pages of nasty words."""
    write_small_report(folder)
    settings = folder / "mkdocs.yml"
    citation = "      citation: {title: Small & new, authors: [{name: Ada Lovelace}]}"
    text = settings.read_text("utf-8").replace("  - reportgen:\n", f"  - reportgen:\n{citation}\n")
    settings.write_text(text.replace('!ENV [SITE_URL, ""]', ADDRESS), "utf-8")
    site = build(folder, environment={"SOURCE_DATE_EPOCH": "1790000000"})
    one_files = write_one_file(site, links="embedded"), write_one_file(site, links="relative")
    for name, html in zip(("embedded", "relative"), one_files, strict=True):
        (site / f"{name}.html").write_text(html, "utf-8", newline="\n")
    write_assets(site / "pages")
    write_page(site / "pages", "heat", heat_stack(folder, NAMES))
    write_page(site / "pages", "pairs", pairs_stack(folder, HOSTILE))
    rows = tuple(
        (Cell(name), Cell(f"−{n}.5 ± 0.1", -n - 0.5), Cell(f"{n}\n[−0.1, 2.0]", n), Cell("x 10⁻⁴"))
        for n, name in enumerate(NASTY)
    )
    nasty = ResultTable("nasty", "50% of {it}", ("a_b", "score", "against B", "n"), rows, "", "")
    write_page(site / "pages", "tables", results(), nasty)
    return site


# ---- versions, previews, reviews, hubs ------------------------------------------------------------

LISTED = [
    {"version": "1.1", "title": "1.1", "aliases": ["latest"]},
    {"version": "1.0+b", "title": "1.0, second build", "aliases": []},
    {"version": "0.9", "title": "0.9", "aliases": []},
]


def write_versions(folder: Path, listed: object = LISTED) -> None:
    """Write ``versions.js`` as publishing does."""
    text = f"globalThis.reportgenVersions = {json.dumps(listed)};\n"
    (folder / "versions.js").write_text(text, encoding="utf-8")


def make_versions(folder: Path) -> Path:
    """The theme's site as main, which is marked, as versions and a preview, and once more alone."""
    built, repo = build_site(folder / "source"), folder / "repo"
    for place in ("", "v/1.1/", "v/1.0+b/", "v/0.9/", "pr/12/", "alone"):
        shutil.copytree(built, repo / place, dirs_exist_ok=True)
    for page in built.rglob("*.html"):
        text = page.read_text("utf-8").replace("<title>", '<meta name="reportgen-versions"><title>', 1)
        (repo / page.relative_to(built)).write_text(text, encoding="utf-8")
    write_versions(repo)
    return repo


def make_published(folder: Path, *, untrusted: bool = False) -> Path:
    """A report that is published with a version and a preview, with either policy of its pages."""
    folder.mkdir()
    files = REPORT | {"content/third.md": "# Third\n\nNobody changes it.\n"}
    if untrusted:
        files["mkdocs.yml"] = CITED.replace("  - reportgen:\n", "  - reportgen:\n      untrusted: true\n")
    report = commit(write_report(folder / "report", files))
    packed = archive(report, "1.zip", "--site")
    other = write_report(folder / "changed", files | {"data/other.csv": RUNS.replace("0.84", "0.90")})
    share_cache(report, other)
    assert invoke("build", "--config-file", commit(other) / "mkdocs.yml")[0] == 0
    changed = pack_site(folder / "12.zip", files_below(other / "site"))
    options = (f"--version=1.0={packed}", f"--preview=12={changed}", "--to", folder / "repo")
    assert invoke("publish", "--main", report / "site", *options)[0] == 0
    return folder / "repo"


def make_reviews(folder: Path) -> Path:
    """A file for each kind of review."""
    folder.mkdir()
    reviews = {
        "nothing": NOTHING,
        "everything": EVERYTHING,
        "hostile": make_hostile(),
        "long": make_long(),
        "many": make_many_figures(8),
    }
    for name, review in reviews.items():
        (folder / f"{name}.html").write_text(
            make_review_page(folder / "states" / name, review), encoding="utf-8"
        )
    shutil.copyfile(ROOT / "content/guide/example-review.html", folder / "example.html")
    return folder


def make_changed(folder: Path, theme: str) -> Path:
    """A site that says what changed since another state, in a theme."""
    own, end = {"mkdocs.yml": (OWN, theme)}, "title: Accuracy\n```\n"
    base = write_state(folder / "base", own)
    text = f"{end}\n## Setup\n\n[Changed](#accuracy) with {'a-long-name-' * 9}.\n"
    changes = {"content/training.md": (end, text), "data/training.csv": ("20,0.7", "20,0.9")}
    root = write_state(folder / "report", own | changes)
    code, said = invoke("build", "-f", root / "mkdocs.yml", "--since", base)
    assert code == 0, said
    return root / "site"


LONG = "A very long title of a report with the name_of_a_configuration_file_that_has_no_space_anywhere.yaml"


def make_hub(folder: Path) -> Path:
    """A hub of a real report and of two others, one with a long title, and one that is broken."""
    folder.mkdir()
    searched = CITED.replace("plugins:\n", "plugins:\n  - search\n")
    report = commit(write_report(folder / "report", REPORT | {"mkdocs.yml": searched}))
    assert invoke("build", "--config-file", report / "mkdocs.yml")[0] == 0
    scores = make_page(make_score("MEL", 0.8), title="Ablations", statements=(True, False))
    write_site(folder / "long", make_report(LONG, scores, version="1.0"))
    write_site(folder / "short", make_report("Short", make_page(make_score("GRPO", 0.7)), version="2"))
    listed = [
        {"name": "small", "from": "report/site", "team": "Foundation models"},
        {"name": "long", "from": "long", "team": "Foundation models"},
        {"name": "short", "from": "short", "team": "Post-training"},
        {"name": "lost", "from": "lost.zip", "team": "Post-training"},
    ]
    list_hub(folder, listed, description="What our teams have measured.")
    assert update(folder, "served/hub")[0] == 3
    return folder / "served/hub"


# ---- statements, samples, charts, one file ----------------------------------------------------------------

_PROSE = "Nothing is bound in these words, which fill a line or two of the page. " * 12
STATED = f"""---
title: Small
---

# Small

MEL peaks at [0.82]{{value="peak(MEL)"}}, [and ends above
GRPO]{{claim="final(MEL) > final(GRPO)"}}; some say [0.99]{{value="peak(MEL)"}}, and
[GRPO wins]{{claim="better(GRPO, MEL)" fails="an old belief"}}. As [one of 0.82](#scores) says.

```curve
id: scores
source: runs
title: Accuracy
```

{_PROSE}

- ends at [0.72]{{value="final(GRPO)"}} in a list, at the very end of a line that is long enough to wrap

{_PROSE}
"""


def make_stated(folder: Path, theme: str) -> Path:
    """A page with statements that hold, fail or cannot be decided, in a theme."""
    write_report(folder, {"mkdocs.yml": SETTINGS.replace(OWN, theme), "content/index.md": STATED})
    invoke("build", "--config-file", folder / "mkdocs.yml")
    return folder / "site"


def make_samples(folder: Path) -> Path:
    """The site of a case with samples, and all of it in one file."""
    shutil.copytree(Path(__file__).parents[1] / "cases" / "problem-samples", folder)
    site = build(folder)
    (site / "report.html").write_text(write_one_file(site), "utf-8", newline="\n")
    return site


# What an author may write, as near to what is refused as it gets.
ALLOWED = json.loads((Path(__file__).parent / "allowed_charts.json").read_text("utf-8"))


def make_bare(folder: Path) -> Path:
    """A page of charts that the checks let pass and no policy, as another theme may serve them."""
    write_assets(folder)
    (folder / "favicon.ico").write_bytes(b"")  # a picture alone has none, and the browser asks
    charts = []
    for name, specification in ALLOWED["charts"].items():
        settings = load_block("vega-lite", json.dumps(specification), SourceLocation("content/a.md", 1))
        charts.append(chart(name, settings.model_dump()["spec"], ALLOWED["rows"]))
    page = write_page(folder, "charts", *charts)
    text = page.read_text("utf-8")
    assert "Content-Security-Policy" in text
    page.write_text(text.replace("Content-Security-Policy", "none"), "utf-8")
    return folder


# All pages of the example would take a busy machine ten seconds to lay out, and axe a minute.
_MOST = ("index", "math500", "model-comparison", "training-diagnostics", "problems", "vega-lite", "aime")
_ONE_FILES = (("report", _MOST, True), ("still", _MOST, False), ("few", ("index", "math500", "aime"), True))


def make_one_file(folder: Path, example: Path) -> Path:
    """Parts of the example report in one file each: most, the same without live figures, and few pages."""
    folder.mkdir()
    for name, pages, live in _ONE_FILES:
        copied = shutil.copytree(example, folder / f"whole-{name}")
        for page in copied.rglob("index.html"):
            if (page.parent.name if page.parent != copied else "index") not in pages:
                page.unlink()
        html = write_one_file(copied, live=live, links="embedded")
        (folder / f"{name}.html").write_text(html, "utf-8", newline="\n")
        shutil.rmtree(copied)
    return folder


MADE = {
    "figures": Made(write_figures),
    "scores": Made(write_scores),
    "theme": Made(make_theme),
    "edges": Made(make_edges),
    "cited": Made(make_cited),
    "versions": Made(make_versions),
    "published": Made(make_published),
    "published-untrusted": Made(lambda folder: make_published(folder, untrusted=True)),
    "reviews": Made(make_reviews),
    "changed": Made(lambda folder: make_changed(folder, OWN)),
    "changed-material": Made(lambda folder: make_changed(folder, MATERIAL)),
    "hub": Made(make_hub),
    "stated": Made(lambda folder: make_stated(folder, OWN)),
    "stated-material": Made(lambda folder: make_stated(folder, MATERIAL)),
    "samples": Made(make_samples),
    "bare": Made(make_bare),
    "one-file": Made(make_one_file, ("example",)),
    "hostile": Made(lambda folder: build(write_hostile_report(folder))),
    "untrusted": Made(lambda folder: build(write_hostile_report(folder, untrusted=True))),
}
