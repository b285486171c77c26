"""The command line: its help, what it writes to a terminal, what it imports, and what README says of it."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command_line import call
from hypothesis import example, given, settings
from hypothesis import strategies as st
from made_projects import PAGE, RUNS, write_file, write_report
from take_screenshots import MOST_BYTES, ROOT, SCHEMES, SHOWN, readme_picture
from tries import slow_after, tries

from reportgen import __version__
from reportgen.cli.main import cli
from reportgen.core.errors import SourceLocation
from reportgen.core.facts import FACTS
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
    facts = re.findall(
        r'^(?:fact =|     \|) "(\w+)" "\("', everything["expression"]["$comment"], re.MULTILINE
    )
    assert facts == [fact.name for fact in FACTS.values() if not fact.instead]


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


BOUND = '[x]{value="y"}'
EXCERPT = re.compile(r"\n( +\d+ \|(?:.*\S)?)(?:\n(      \|  *\^+))?")


def check_lines(root: Path, page: str, width: int = 120) -> list[tuple[str, str]]:
    """Each line that check shows of a page with problems, without its number, and the carets below it."""
    write_report(root, {"content/index.md": page, "data/runs.csv": RUNS})
    done = call(root, "check", COLUMNS=str(width))
    return [(line.partition("| ")[2], carets[8:]) for line, carets in EXCERPT.findall(f"\n{done.stdout}")]


def test_carets_stand_where_the_problem_is(tmp_path: Path) -> None:
    """Never beyond the end of the line, and nowhere if the column is not known."""
    assert check_lines(tmp_path, "```curve\n\n```\n") == [("```curve", "")]
    # A column behind the line is its end, as where a bracket is not closed.
    assert check_lines(tmp_path, "```curve\ntitle: [\n```\n") == [("title: [", "        ^")]
    assert check_lines(tmp_path, "```curve\n? [\n\n```\n") == [("", "^")]


BEFORE = {"a\t": 4, "ab\t": 4, "数据": 4, "é": 1, "e\u0301": 1, "\u200b": 0, "🙂": 2, "\x1b": 1}


def test_carets_count_cells_of_the_terminal(tmp_path: Path) -> None:
    """Tabs, wide characters and those that take no room, before the words and in them."""
    claims = [f'{before}[数é]{{claim="final(MEL) < 0" of="runs"}}' for before in BEFORE]
    shown = check_lines(tmp_path, "\n\n".join(["# A", *claims, ""]))
    assert [carets for _, carets in shown] == [" " * cells + "^" * 5 for cells in BEFORE.values()]
    assert all("[数é]" in line for line, _ in shown)


def test_a_line_that_gives_orders_to_the_terminal_gives_none(tmp_path: Path) -> None:
    """Escape sequences and marks that turn text around are not passed on."""
    ((line, _),) = check_lines(tmp_path, f"a\x1b[31mb\u202ec\x07d\x9be\u2028f{BOUND}\n")
    assert line == f"a?[31mbc?d?e?f{BOUND}".replace("?", "\N{REPLACEMENT CHARACTER}")


def test_a_long_line_is_cut_around_its_caret(tmp_path: Path) -> None:
    """An ellipsis stands for what is left out, and the caret under the right character."""
    columns = (1, 40, 150, 287)
    whole = "".join(chr(ord("a") + n % 26) for n in range(300 - len(BOUND)))
    lines = [f"{whole[: column - 1]}{BOUND}{whole[column - 1 :]}" for column in columns]
    shown = check_lines(tmp_path, "\n\n".join(lines) + "\n", 60)
    for column, (line, carets) in zip(columns, shown, strict=True):
        assert len(line) <= 60 - len("   12 | ")
        assert line[carets.index("^") :].startswith("[x]{")
        assert line.startswith("…") == (column > 20)
        assert line.endswith("…") == (column < 280)
        assert line.strip("…") in f"{lines[columns.index(column)]}"


@given(st.text(max_size=200), st.text(max_size=80), st.integers(20, 90))
@settings(max_examples=tries(10, 300))
def test_no_line_breaks_an_excerpt(before: str, after: str, width: int) -> None:
    """Two lines of printable text, carets in the second, whatever was written."""
    with TemporaryDirectory() as folder:
        root = write_report(Path(folder), {"content/index.md": f"{before}{BOUND}{after}\n\n{BOUND}\n"})
        printed = call(root, "check", COLUMNS=str(width)).stdout.split("\n")
    *lines, summary, end = printed
    assert re.fullmatch(r"\d+ problems?; .*", summary)
    assert end == ""
    for place, line in enumerate(lines):
        assert not any(unicodedata.category(character) in {"Cc", "Cf"} for character in line)
        if line.startswith("      |"):
            assert re.fullmatch(r"      \|  *\^+", line)
            assert re.match(r" +\d+ \|", lines[place - 1])
        else:
            assert re.match(r"content/index\.md:\d|mkdocs\.yml| +\d+ \|", line)
    assert any(line.startswith("      |") for line in lines)


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


LOGGED = {
    "::error::a": ": :error::a",
    "\u3000\u202e::error::a": "\u3000: :error::a",
    "a ::error::": "a ::error::",
    "a ##[error]b": "a ## [error]b",
    "##vso[x]": "##vso [x]",
}


def test_the_log_of_a_workflow_obeys_nothing(tmp_path: Path) -> None:
    """Where a line begins as a command of GitHub does, or holds one of Azure, a space is put in."""
    lines = check_lines(tmp_path, "\n\n".join(f"{text} {BOUND}" for text in LOGGED) + "\n")
    assert [line for line, _ in lines] == [f"{shown} {BOUND}" for shown in LOGGED.values()]
    # What follows a line feed is on a line of its own here, and in a table it is not.
    said = call(tmp_path, "schema", "\n".join(["a", *LOGGED, "z"])).stderr
    assert "\n".join(["a", *LOGGED.values(), "z"]) in said
    names = [json.dumps({"series": f"a\n{text}", "step": 0, "loss": 1}) for text in LOGGED]
    write_file(tmp_path / "a.jsonl", "\n".join([*names, ""]))
    said = call(tmp_path, "describe", "a.jsonl").stdout
    for text in ("::error::a", "a ## [error]b", "##vso [x]"):
        assert f"\na\N{REPLACEMENT CHARACTER}{text} " in said


TEXTS = st.text() | st.text('#[]vso:\\"\n\x1b\u202e')


@given(st.lists(TEXTS.map(lambda text: f"<{text}>"), unique=True, min_size=2, max_size=9))
@example(["<##vso[x]>", "<#>"])
@settings(max_examples=tries(4, 100))
def test_printable_json_says_the_same(names: list[str]) -> None:
    """Escapes change no text, and leave nothing that a terminal or a log obeys."""
    names = [name.replace("\0", "") for name in names]
    rows = [json.dumps({"series": name, "step": 0, "loss": 1}) for name in names]
    with TemporaryDirectory() as folder:
        write_file(Path(folder, "a.jsonl"), "\n".join([*rows, ""]))
        shown = call(Path(folder), "describe", "a.jsonl", "--format", "json").stdout
    assert sorted(json.loads(shown)["result"]["series"]) == sorted(set(names))
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
