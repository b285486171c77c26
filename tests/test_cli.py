"""The command line: its help, what it writes to a terminal, what it imports, and what README says of it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from command_line import call
from hypothesis import given
from hypothesis import strategies as st
from made_projects import PAGE, write_file, write_report
from take_screenshots import MOST_BYTES, ROOT, SCHEMES, SHOWN, readme_picture
from tries import slow_after

from reportgen import __version__
from reportgen.cli.main import cli
from reportgen.core.errors import SourceLocation
from reportgen.core.terminal import clean_json, clean_lines, clean_text, format_excerpt
from reportgen.site.checking import read_source_line

MODULE = (sys.executable, "-m", "reportgen")
SCRIPT = (str(Path(sys.executable).with_name("reportgen")),)
README = (ROOT / "README.md").read_text("utf-8")


def start(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Start a process in a folder, as a user does."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small report that was built by the command, without control characters in what it printed."""
    root = write_report(tmp_path_factory.mktemp("cli") / "report")
    done = call(root, "build")
    assert (done.returncode, done.stderr) == (0, "")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stdout)
    return root


def test_help_has_an_example_for_every_command(tmp_path: Path) -> None:
    """A newcomer reads these before anything else; short options are as everywhere."""
    whole = call(tmp_path, "--help").stdout
    assert "reportgen init my-report" in whole
    for command in cli.commands:
        page = call(tmp_path, command, "--help")
        assert page.returncode == 0
        assert re.search(rf"Examples?:\n +reportgen {command}", page.stdout), page.stdout
        assert command in whole
    assert call(tmp_path, "-h").stdout == whole
    version = f"reportgen, version {__version__}\n"
    assert {call(tmp_path, option).stdout for option in ("-V", "--version")} == {version}


def test_schemas_are_json(tmp_path: Path) -> None:
    """All of them, or one by its name."""
    everything = json.loads(call(tmp_path, "schema").stdout)
    assert {"curve", "panels", "table", "overview", "vega-lite", "altair", "source"} <= set(everything)
    assert json.loads(call(tmp_path, "schema", "curve").stdout) == everything["curve"]


@pytest.mark.parametrize("command", slow_after(1, [SCRIPT, MODULE]))
def test_nothing_changed_is_said(built: Path, command: tuple[str, ...]) -> None:
    """Both ways to call it tell it; the site is not touched."""
    before = {path: path.stat().st_mtime_ns for path in (built / "site").rglob("*")}
    done = start(built, *command, "build")
    assert done.returncode == 0
    assert re.fullmatch(r"Nothing changed: 1 page, 1 figure; checked in 0\.\d\d s\n", done.stdout)
    assert {path: path.stat().st_mtime_ns for path in (built / "site").rglob("*")} == before


def test_a_path_that_may_not_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told; a folder above it that cannot be looked into is that of no report."""
    plain, closed = Path.stat, tmp_path / "closed"
    write_file(closed / "a.csv", "step,loss\n0,1\n")

    def stat(path: Path, **more: bool) -> object:
        if path in barred:
            raise PermissionError(13, "Permission denied", str(path))
        return plain(path, **more)

    monkeypatch.setattr(Path, "stat", stat)
    barred = {closed / "mkdocs.yml"}
    assert call(tmp_path, "describe", str(closed)).returncode == 0
    barred.add(closed / "a.csv")
    done = call(tmp_path, "describe", str(closed / "a.csv"))
    assert "it may not be looked at: Permission denied" in done.stdout + done.stderr


# ---- what is imported ---------------------------------------------------------------------------

IMPORTED = """
import os, sys
os._exit = sys.exit
sys.argv = ["reportgen", *{words!r}]
try:
    import reportgen.__main__ as command
    command.main()
finally:
    print(" ".join(sorted({{name.partition(".")[0] for name in sys.modules}})), file=sys.stderr)
    print(" ".join(name for name in sys.modules if name.startswith("reportgen.")), file=sys.stderr)
"""


HEAVY = {*("altair", "duckdb", "jinja2", "markdown", "mkdocs", "narwhals", "numpy", "pandas", "pydantic")}
HEAVY |= {*("scipy", "vl_convert", "yaml")}
HEAVY |= {"rich", "pymdownx", "multiprocessing", "asyncio"}
QUICK = [("build",), ("--help",), ("--version",), *((name, "--help") for name in ("build", "check", "facts"))]


@pytest.mark.parametrize("words", slow_after(1, QUICK))
def test_quick_commands_import_nothing_heavy(built: Path, words: tuple[str, ...]) -> None:
    """Help, and telling that nothing changed, take milliseconds because almost nothing is loaded."""
    done = start(built, sys.executable, "-c", IMPORTED.format(words=words))
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-2].split())
    assert {"reportgen", "click"} <= loaded
    assert loaded.isdisjoint(HEAVY)


@pytest.mark.slow
def test_changed_words_import_nothing_that_reads_or_draws(tmp_path: Path) -> None:
    """Where all sources and figures come from the cache, their pages included."""
    statement = '\n\n[0.84]{value="peak(MEL)"}\n\n```observations\n```\n'
    root = write_report(tmp_path / "report", {"content/index.md": PAGE + statement})
    for words in ("", "More words.\n"):
        write_file(root / "content" / "index.md", f"{PAGE}{statement}\n{words}")
        done = start(root, sys.executable, "-c", IMPORTED.format(words=("build",)))
        assert done.returncode == 0, done.stderr
    libraries, own = (set(line.split()) for line in done.stderr.splitlines()[-2:])
    assert libraries.isdisjoint({"altair", "duckdb", "narwhals", "numpy", "pandas", "vl_convert"})
    rooms = tuple(f"reportgen.{room}" for room in ("read", "formats", "statistics", "figures.curves"))
    assert {name for name in own if name.startswith(rooms)} == set()
    assert "reportgen.draft.blocks.charts" not in own


@pytest.mark.slow
def test_importing_the_package_imports_nothing_heavy(tmp_path: Path) -> None:
    """``import reportgen`` is free; a notebook pays for what it calls."""
    code = "import reportgen, sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = start(tmp_path, sys.executable, "-c", code)
    assert set(done.stdout.split()).isdisjoint(HEAVY | {"click"})


# ---- lines with carets ---------------------------------------------------------------------------


def at(column: int | None, line: int = 12) -> SourceLocation:
    """A place in some page."""
    return SourceLocation("content/index.md", line, column)


LINE = 'MEL peaks at [0.84]{value="peak(MEL)"}.'


def test_carets_stand_under_the_part_that_is_meant() -> None:
    """Below the line with its number, never beyond its end, and nowhere if the column is not known."""
    line = f"   12 | {LINE}"
    assert format_excerpt(LINE, at(14)) == (line, "      |              ^")
    assert format_excerpt(LINE, at(14), 6)[1] == "      |              ^^^^^^"
    assert format_excerpt("[0.8", at(1), 60)[1] == "      | ^^^^"
    assert format_excerpt(LINE, at(None)) == (line,)
    # A column behind the line is its end, as where a quote is not closed.
    assert format_excerpt("[a]{", at(5)) == ("   12 | [a]{", "      |     ^")
    assert format_excerpt("", at(1)) == ("   12 |", "      | ^")


@pytest.mark.parametrize(
    ("before", "cells"),
    [("\t", 4), ("ab\t", 4), ("数据", 4), ("é", 1), ("e\u0301", 1), ("\u200b", 0), ("🙂", 2), ("\x1b", 1)],
)
def test_carets_count_cells_of_the_terminal(before: str, cells: int) -> None:
    """Tabs, wide characters and those that take no room."""
    line, carets = format_excerpt(f"{before}[x]", at(len(before) + 1), 3)
    assert carets == "      | " + " " * cells + "^^^"
    assert line.endswith("[x]")


def test_a_line_that_gives_orders_to_the_terminal_gives_none() -> None:
    """Escape sequences and marks that turn text around are not passed on."""
    (line,) = format_excerpt("a\x1b[31mb\u202ec\x07", at(None))
    assert line == "   12 | a\N{REPLACEMENT CHARACTER}[31mbc\N{REPLACEMENT CHARACTER}"
    assert clean_text("a\x9bb\u2028c") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"


@pytest.mark.parametrize("column", [1, 40, 150, 299, 300])
def test_a_long_line_is_cut_around_its_caret(column: int) -> None:
    """An ellipsis stands for what is left out, and the caret under the right character."""
    whole = "".join(chr(ord("a") + n % 26) for n in range(300))
    line, carets = format_excerpt(whole, at(column), width=60)
    assert len(line) <= 60
    assert line[carets.index("^")] == whole[column - 1]
    assert ("…" in line[:10]) == (column > 20)
    assert line.endswith("…") == (column < 280)


@given(st.text(max_size=200), st.integers(1, 210), st.integers(1, 30), st.integers(20, 90))
def test_no_line_breaks_an_excerpt(line: str, column: int, length: int, width: int) -> None:
    """Two lines of printable text, carets in the second, whatever was written."""
    shown, carets = format_excerpt(line, at(column), length, width=width)
    assert re.fullmatch(r"      \|  *\^+", carets)
    assert not any(unicodedata.category(character) in {"Cc", "Cf"} for character in shown)
    assert shown.startswith("   12 |")


def test_lines_are_those_of_the_text(tmp_path: Path) -> None:
    """A byte order mark is no character, and any line end ends a line."""
    (tmp_path / "a.md").write_bytes("\ufeffone\r\ntwo\rthree\n".encode())
    assert [read_source_line(tmp_path, SourceLocation("a.md", n)) for n in (1, 2, 3, 4)] == [
        "one",
        "two",
        "three",
        None,
    ]


def test_what_is_no_text_has_no_line(tmp_path: Path) -> None:
    """Packed data, other encodings, endless lines, missing files, and places without a line."""
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"step,value\n"))
    (tmp_path / "latin.csv").write_bytes("caf\xe9\n".encode("latin-1"))
    (tmp_path / "one.json").write_text("x" * 2_000_000, encoding="utf-8")
    (tmp_path / "a.md").write_text("one\n", encoding="utf-8")
    for place in (
        SourceLocation("a.csv.gz", 1),
        SourceLocation("latin.csv", 1),
        SourceLocation("one.json", 1),
        SourceLocation("none.md", 1),
    ):
        assert read_source_line(tmp_path, place) is None
    assert read_source_line(tmp_path, SourceLocation("a.md")) is None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::a", ": :error::a"),
        ("\u3000\u202e::error::a", "\u3000: :error::a"),
        ("a ::error::", "a ::error::"),
        ("a ##[error]b", "a ## [error]b"),
        ("##vso[x]", "##vso [x]"),
        ("a\n::error::b", "a\N{REPLACEMENT CHARACTER}::error::b"),
    ],
)
def test_the_log_of_a_workflow_obeys_nothing(text: str, shown: str) -> None:
    """Where a line begins as a command of GitHub does, or holds one of Azure, a space is put in."""
    assert clean_text(text) == shown
    assert clean_lines(f"a\n{text}").split("\n")[1] == shown.split("\N{REPLACEMENT CHARACTER}", maxsplit=1)[0]
    assert not re.search(r"##\w*\[", format_excerpt(text, at(1))[0])


@given(st.text() | st.text('#[]vso:\\"\n\x1b\u202e\ud800'))
def test_printable_json_says_the_same(text: str) -> None:
    """Escapes change no text, and leave nothing that a terminal or a log obeys."""
    shown = clean_json(json.dumps({"text": text}, ensure_ascii=False, indent=2))
    assert json.loads(shown) == {"text": text}
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert not re.search(r"##\w*\[", shown)


# ---- README --------------------------------------------------------------------------------------


def test_pictures_of_readme_are_there_and_small() -> None:
    """Two pages in both schemes, described for who does not see them; ``make screenshots`` takes them."""
    files = [readme_picture(name, scheme) for name in SHOWN for scheme in SCHEMES]
    shown = re.findall(r'(?:srcset|src)="([^"]+)"', README)
    assert sorted(shown) == sorted(file.relative_to(ROOT).as_posix() for file in files)
    assert sum(file.stat().st_size for file in files) <= MOST_BYTES
    assert all(file.read_bytes()[8:12] == b"WEBP" for file in files)
    assert len(re.findall(r'<img alt="[^"]{40,}"', README)) == len(SHOWN)


def test_links_of_readme_and_make_targets_exist() -> None:
    """Nothing in it leads nowhere."""
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert links
    assert [link for link in links if not Path(ROOT, link).exists()] == []
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"make (\w+)", README))
    assert {"site", "test"} <= targets
    assert [target for target in targets if not re.search(rf"^{target}:", makefile, re.MULTILINE)] == []
