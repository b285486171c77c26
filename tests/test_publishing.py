"""A site is built beside the old one and swapped in whole; whatever fails leaves the old one as it was."""

from __future__ import annotations

import errno
import json
import os
import shutil
import struct
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest
from made_projects import PAGE, RUNS, SETTINGS, files_below, share_cache, write_file, write_report

from reportgen.core.cache import cache_folder
from reportgen.core.errors import ReportError
from reportgen.site.publishing import publish
from reportgen.site.replacing.records import record_folder
from reportgen.site.reuse import manifest

if TYPE_CHECKING:
    from collections.abc import Callable

    from reportgen.site.reuse.manifest import Summary


def build(root: Path, *, strict: bool = False, config: str = "mkdocs.yml") -> tuple[Summary, list[str]]:
    """Build a report; what came of it, and every warning."""
    told: list[str] = []
    summary = publish(root / config, strict=strict, progress=lambda _done, _all: None, warn=told.append)
    return summary, told


def refused(root: Path, *, strict: bool = False) -> list[str]:
    """Every problem that stops a build."""
    with pytest.raises(ReportError) as error:
        build(root, strict=strict)
    return [str(problem) for problem in error.value.problems]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report with its site, to be copied."""
    root = write_report(tmp_path_factory.mktemp("built") / "report")
    build(root)
    return root


@pytest.fixture
def report(built: Path, tmp_path: Path) -> Path:
    """A small report with its site."""
    root = Path(shutil.copytree(built, tmp_path / "report"))
    share_cache(built, root)
    return root


@pytest.fixture
def fresh(built: Path, tmp_path: Path) -> Path:
    """A small report that was never built."""
    root = write_report(tmp_path / "fresh")
    share_cache(built, root)
    return root


def test_a_build_makes_a_site(fresh: Path) -> None:
    """Pages, figures and ``report.json``, and a summary of what was made."""
    summary, told = build(fresh)
    assert (summary.pages, summary.figures, summary.warnings) == (1, 1, 0)
    assert told == []
    found = files_below(fresh / "site")
    assert {"index.html", "404.html", "report.json", ".nojekyll", "sitemap.xml"} <= set(found)
    assert {f"figures/index/accuracy.{end}" for end in ("svg", "csv", "vl.json")} <= set(found)


def test_a_pdf_is_written_where_it_is_asked_for(fresh: Path) -> None:
    """For the report or a block; it is linked, listed in ``report.json``, and the same in another build."""
    build(fresh)
    assert not [name for name in files_below(fresh / "site") if name.endswith(".pdf")]
    write_file(fresh / "mkdocs.yml", SETTINGS.replace("[reportgen]", "[reportgen: {pdf: true}]"))
    write_file(fresh / "content/index.md", PAGE + PAGE.replace("title:", "pdf: false\ntitle: Not"))
    build(fresh)
    pdf = fresh / "site/figures/index/accuracy.pdf"
    written = pdf.read_bytes()
    assert written.startswith(b"%PDF")
    assert [path.name for path in pdf.parent.glob("*.pdf")] == ["accuracy.pdf"]
    assert 'href="figures/index/accuracy.pdf" download>PDF</a>' in (fresh / "site/index.html").read_text()
    (page,) = json.loads((fresh / "site/report.json").read_text())["pages"]
    assert [path for one in page["figures"] for path in one["files"] if path.endswith("pdf")] == [
        "figures/index/accuracy.pdf"
    ]
    shutil.rmtree(cache_folder(fresh))
    shutil.rmtree(fresh / "site")
    write_file(fresh / "mkdocs.yml", SETTINGS)
    write_file(fresh / "content/index.md", PAGE.replace("title:", "pdf: true\ntitle:"))
    build(fresh)
    assert pdf.read_bytes() == written


def test_a_block_without_figures_takes_no_pdf(fresh: Path) -> None:
    """Instead of ignoring it."""
    write_file(fresh / "content/index.md", PAGE.replace("```curve", "```table\npdf: true"))
    assert "pdf: true is for blocks that draw figures" in refused(fresh)[0]


def test_a_site_with_an_address_has_cards(fresh: Path) -> None:
    """A link preview shows the first figure as a PNG of the usual size, by its whole address."""
    card = fresh / "site" / "figures" / "index" / "card.png"
    build(fresh)
    assert not card.exists()
    assert "og:image" not in (fresh / "site" / "index.html").read_text("utf-8")
    write_file(fresh / "mkdocs.yml", f"{SETTINGS}site_url: https://example.org/r/\n")
    build(fresh)
    raw = card.read_bytes()
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", raw[16:24]) == (1200, 630)
    address = '<meta property="og:image" content="https://example.org/r/figures/index/card.png">'
    assert address in (fresh / "site" / "index.html").read_text("utf-8")


def test_progress_is_told_after_each_block(fresh: Path) -> None:
    """How many of how many."""
    write_file(fresh / "content" / "index.md", PAGE + PAGE.replace("# Small", ""))
    seen: list[tuple[int, int]] = []
    publish(
        fresh / "mkdocs.yml", strict=False, progress=lambda *counts: seen.append(counts), warn=lambda _: None
    )
    assert seen == [(1, 2), (2, 2)]


def test_nothing_but_the_site_is_written(fresh: Path) -> None:
    """The report's own files stay as they are, and no unfinished folder is left."""
    before = files_below(fresh)
    build(fresh)
    after = files_below(fresh)
    assert {name.split("/")[0] for name in after.keys() - before.keys()} == {"site"}
    assert {name: after[name] for name in before} == before
    assert sorted(path.name for path in fresh.iterdir()) == ["content", "data", "mkdocs.yml", "site"]


def test_the_second_build_is_spared(report: Path) -> None:
    """The manifest stands for it until something changes."""
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=True) is None, "a copy is another report"
    build(report)
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=True) is not None
    write_file(report / "data" / "runs.csv", RUNS.replace("0.84", "0.85"))
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=True) is None


BREAKS: dict[str, Callable[[Path], Any]] = {
    "a key": lambda r: write_file(r / "content" / "index.md", PAGE.replace("title", "titel")),
    "a source": lambda r: (r / "data" / "runs.csv").unlink(),
    "a number": lambda r: write_file(r / "data" / "runs.csv", RUNS.replace("0.84", "O.84")),
    "the settings": lambda r: write_file(
        r / "mkdocs.yml", SETTINGS.replace("[reportgen]", "[{reportgen: {dat: x}}]")
    ),
    "the theme": lambda r: write_file(r / "mkdocs.yml", SETTINGS.replace("name: reportgen", "name: none")),
    "the YAML": lambda r: write_file(r / "mkdocs.yml", "site_name: [\n"),
    "the plugin": lambda r: write_file(r / "mkdocs.yml", SETTINGS.replace("[reportgen]", "[search]")),
    "the content folder": lambda r: shutil.rmtree(r / "content"),
}


@pytest.mark.parametrize("break_it", BREAKS.values(), ids=BREAKS)
def test_a_failed_build_leaves_the_old_site(report: Path, break_it: Callable[[Path], Any]) -> None:
    """Byte for byte, and without a trace of the attempt."""
    before = files_below(report / "site")
    break_it(report)
    assert refused(report)
    assert files_below(report / "site") == before
    assert not list(report.glob(".*"))


def test_a_failed_first_build_leaves_no_site(fresh: Path) -> None:
    """Half a site would look like one."""
    write_file(fresh / "data" / "runs.csv", "")
    assert refused(fresh)
    assert not (fresh / "site").exists()


def test_an_error_in_a_template_leaves_the_old_site(report: Path) -> None:
    """Even one that MkDocs meets after most pages were written."""
    before = files_below(report / "site")
    write_file(report / "mkdocs.yml", SETTINGS.replace("name: reportgen", "name: reportgen, custom_dir: own"))
    write_file(report / "own" / "404.html", "{{ nobody.defined.this }}")
    with pytest.raises(Exception, match="nobody"):
        build(report)
    assert files_below(report / "site") == before


def test_after_a_repair_the_next_build_works(report: Path) -> None:
    """A failure leaves nothing behind that stands in the way."""
    write_file(report / "data" / "runs.csv", "series\n")
    assert refused(report)
    write_file(report / "data" / "runs.csv", RUNS.replace("0.84", "0.90"))
    build(report)
    assert "0.9" in (report / "site" / "figures" / "index" / "accuracy.csv").read_text("utf-8")


def test_strict_tells_a_warning_at_its_own_place(report: Path) -> None:
    """A torn last line is handled and told; under strict it stops the build, with file and line."""
    write_file(report / "data" / "runs.csv", RUNS + "GRPO,2,20")
    summary, told = build(report)
    assert summary.warnings == 1
    assert told == [
        "data/runs.csv:10: the last line is torn off and was left out. [last-line-torn-off-left-out]"
    ]
    before = files_below(report / "site")
    assert refused(report, strict=True) == told
    assert files_below(report / "site") == before


def test_strict_tells_what_mkdocs_found_at_its_page(report: Path) -> None:
    """A link to a page that is not there."""
    write_file(report / "content" / "index.md", f"{PAGE}\n[gone](gone.md)\n")
    (said,) = refused(report, strict=True)
    assert said.startswith("content/index.md: ")
    assert "'gone.md'" in said


def test_a_settings_problem_is_told_with_its_line(report: Path) -> None:
    """With the nearest known name, as everywhere."""
    write_file(report / "mkdocs.yml", SETTINGS.replace("[reportgen]", "\n  - reportgen:\n      dat_dir: x"))
    (said,) = refused(report)
    assert "mkdocs.yml:7" in said
    assert 'Did you mean "data_dir"?' in said


def test_without_the_plugin_there_is_a_next_step(report: Path) -> None:
    """A person who forgot to switch it on learns how."""
    write_file(report / "mkdocs.yml", SETTINGS.replace("[reportgen]", "[search]"))
    assert refused(report) == [
        "mkdocs.yml: the reportgen plugin is not switched on. Add a line with - reportgen under plugins:."
    ]


def test_old_pages_do_not_stay_in_the_site(report: Path) -> None:
    """What the report no longer has, its site no longer has."""
    write_file(report / "content" / "second.md", "# Second\n")
    build(report)
    assert (report / "site" / "second" / "index.html").is_file()
    (report / "content" / "second.md").unlink()
    build(report)
    assert not (report / "site" / "second").exists()


def test_a_site_elsewhere_is_put_there(report: Path, tmp_path: Path) -> None:
    """``site_dir`` may lie outside the report, also below a link there."""
    (tmp_path / "www").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "www")
    write_file(report / "mkdocs.yml", SETTINGS + f"site_dir: {tmp_path / 'link/site'}\n")
    for _ in range(2):
        build(report)
        assert (tmp_path / "www/site/report.json").is_file()
    assert not list(tmp_path.glob(".*"))


def record_build(report: Path, process: int) -> tuple[Path, Path]:
    """What a build that was killed leaves: its record, and the folders for the new and for the old site."""
    site = report / "site"
    new, old = (report / f".site.{kind}-{process}" for kind in ("new", "old"))
    record = cache_folder(report) / f"build-{process}.json"
    record.write_text(json.dumps([str(site), str(new), str(old)]), "utf-8")
    return new, old


def test_a_build_that_was_killed_between_its_renames_is_restored(report: Path) -> None:
    """The old site was put aside: it comes back before the next build begins, even one that fails."""
    before = files_below(report / "site")
    _, old = record_build(report, 999999999)
    (report / "site").rename(old)
    write_file(report / "data" / "runs.csv", "")
    assert refused(report)
    assert files_below(report / "site") == before


def test_what_a_killed_build_left_is_removed(report: Path) -> None:
    """The folder of a process that is no more; one that still runs keeps its own."""
    gone, _ = record_build(report, 999999999)
    runs, _ = record_build(report, os.getppid())
    for folder in (gone, runs):
        write_file(folder / "index.html", "half")
    build(report)
    assert not gone.exists()
    assert runs.is_dir()


def test_folders_that_came_with_a_checkout_are_no_earlier_build(fresh: Path) -> None:
    """A site put aside, a manifest, a cache: whoever commits them has nothing published or believed."""
    write_file(fresh / ".site.old-1" / "index.html", "foreign")
    write_file(fresh / ".reportgen" / "manifest.json", "{}")
    write_file(fresh / "data" / "runs.csv", "")
    assert refused(fresh)
    assert not (fresh / "site").exists()


def test_names_that_are_taken_are_left_alone(report: Path) -> None:
    """What a build with this number left in another container, which nothing here remembers."""
    write_file(report / f".site.new-{os.getpid()}-0" / "index.html", "half")
    write_file(report / f".site.old-{os.getpid()}-1" / "index.html", "old")
    build(report)
    assert sorted(path.name for path in report.glob(".site.*")) == [
        f".site.new-{os.getpid()}-0",
        f".site.old-{os.getpid()}-1",
    ]


def test_two_swaps_at_once_leave_one_whole_site(report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another build may put its site in place after ours has put the old one aside."""
    rename = os.rename

    def overtaken(source: str, target: str, **descriptors: int) -> None:
        if ".site.new-" in source:
            monkeypatch.undo()
            write_file(report / "site" / "index.html", "by another build")
            record_folder(report / "site", cache_folder(report))
        rename(source, target, **descriptors)

    before = files_below(report / "site")
    monkeypatch.setattr(os, "rename", overtaken)
    build(report)
    assert files_below(report / "site").keys() == before.keys()
    assert not list(report.glob(".site.*"))


@pytest.mark.parametrize("call", ["os.mkdir", "os.rename", "pathlib.Path.open"])
def test_a_disk_that_takes_no_more_leaves_the_old_site(
    report: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Whichever step of staging or swapping meets it, and it is said in words."""
    real = resolve_name(call)

    def full(path: Path, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - as the real one
        if ".site.new-" in str(path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, *arguments, **named)

    write_file(report / "content" / "index.md", f"{PAGE}\nOther words.\n")
    before = files_below(report / "site")
    monkeypatch.setattr(call, full)
    (said,) = refused(report)
    assert '"site" cannot be written: No space left on device. Free some space.' in said
    assert files_below(report / "site") == before
    assert not list(report.glob(".site.*"))


@pytest.mark.parametrize(
    "lines",
    [
        "extra: {x: !ENV [HOME, none]}\n",
        'site_url: !ENV [SITE_URL, OTHER, ""]\n',
        "INHERIT: base.yml\n",
        "markdown_extensions: [pymdownx.snippets]\n",
        "markdown_extensions: [pymdownx.b64]\n",
        "hooks: [hook.py]\n",
    ],
)
def test_where_not_all_inputs_are_known_every_build_is_real(report: Path, lines: str) -> None:
    """A variable, another file, an extension or a hook that may read files: they may change unseen."""
    write_file(report / "base.yml", "site_author: me\n")
    write_file(report / "hook.py", "")
    write_file(report / "mkdocs.yml", SETTINGS + lines)
    build(report)
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=False) is None


@pytest.mark.parametrize("value", ["SITE_URL", '[SITE_URL, ""]', '[SITE_URL, "https://lab.example/"]'])
def test_the_address_from_the_environment_is_known(
    report: Path, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A site is up to date for as long as the variable has the same value."""
    monkeypatch.setenv("SITE_URL", "https://example.org/")
    write_file(report / "mkdocs.yml", f"{SETTINGS}site_url: !ENV {value}\n")
    build(report)
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=False) is not None
    monkeypatch.setenv("SITE_URL", "https://example.com/")
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=False) is None


def test_what_is_written_into_a_site_does_not_come_back(report: Path) -> None:
    """Figure files share their bytes with the cache, which sees that these are no longer its own."""
    (csv,) = (report / "site" / "figures").rglob("*.csv")
    before = csv.read_bytes()
    with csv.open("a") as file:
        file.write("mine\n")
    assert csv.name in refused(report)[0]
    shutil.rmtree(report / "site")
    build(report)
    assert csv.read_bytes() == before


def test_figure_files_are_copied_where_they_cannot_be_linked(
    report: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on another file system."""

    def refuse(*_: object) -> None:
        raise OSError

    before = files_below(report / "site")
    monkeypatch.setattr(os, "link", refuse)
    build(report)
    (csv,) = (report / "site" / "figures").rglob("*.csv")
    assert csv.stat().st_nlink == 1
    assert files_below(report / "site") == before


def test_templates_are_inputs(report: Path) -> None:
    """A change of an own template is a change of the site."""
    settings = SETTINGS.replace("name: reportgen", "name: reportgen, custom_dir: own")
    write_file(report / "mkdocs.yml", settings)
    write_file(report / "own" / "extra.txt", "x")
    build(report)
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=False) is not None
    write_file(report / "own" / "extra.txt", "y")
    assert manifest.check_unchanged(report / "mkdocs.yml", strict=False) is None


def test_the_numbers_in_report_json_are_those_of_the_data(report: Path) -> None:
    """Means over runs at the first, best and last step."""
    said = json.loads((report / "site" / "report.json").read_text("utf-8"))
    (made,) = said["pages"][0]["figures"]
    last = {row["name"]: row["last"]["value"] for row in made["numbers"]["series"]}
    assert last == {"MEL": pytest.approx(0.82), "GRPO": pytest.approx(0.72)}
