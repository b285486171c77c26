"""Repairs in pages: the words alone change, whatever lines end with, and no page is lost or overwritten."""

from __future__ import annotations

import os
import random
import re
import shutil
import stat
import subprocess
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from command_line import ask, call
from example_site import ROOT
from made_projects import SETTINGS, files_below, share_cache, write_file, write_report
from markdown_it import MarkdownIt
from tries import tries

OLD = '# Small\n\nat [0.81]{value="final(MEL)" of="runs"}.\n'
NEW = OLD.replace("0.81", "0.82")
PIECES = (
    *("a", "É 😀", " ", "0.81", "`", "> ", "- ", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n"),
    *('[0.81]{value="final(MEL)" of="runs"}', '[**70 %**]{value="final(GRPO)" of="runs"}'),
    *('[70\r\n%]{value="final(GRPO)" of="runs"}', '[70\r%]{value="final(GRPO)" of="runs"}'),
)


VALUE = '<!-- rg value="final(MEL)" of="runs" -->'
END = "<!-- /rg -->"
MARKS = re.compile(r"<!-- /?rg.*?-->")
# No mark is left open, and none begins a line.
IN_MARKDOWN = (
    *("a", "É 😀", " ", "0.81", "** ", "> ", "- ", "\n", "\r\n", "\n\n", "\r\n\r\n", "{{ x }}", "| a | "),
    *(f"a {VALUE}0.81{END}", f"a **{VALUE}0.81{END}** ", f"[{VALUE} **81 %**\t{END}](a.md)"),
    *(
        f"\n\n`{VALUE}0.81{END}`\n\n",
        f"\n\n```\n{VALUE}0.81\n```\n\n",
        "a <!-- b -->",
    ),
    f'a <!-- rg value="final(GRPO)" of="runs" -->70\r\n%{END}',
)
IN_TEX = (
    *(
        "a",
        "É 😀",
        " ",
        "0.81",
        "\n",
        "\r\n",
        "\n\n",
        "{{}}",
        r"\%",
        r"\\",
        "\n% \\rgvalue{\n",
        r"\verb|\rgvalue{|",
    ),
    *(r"\rgvalue{final(MEL)}{runs}{0.81}", r"\textbf{\rgvalue{final(MEL)}{runs}{$0.81$}}"),
    *("\\rgvalue{final(GRPO)}{runs}{70\r\n\\%}", r"\rgvalue{final(GRPO)}{runs}{\emph{70\,\%}}"),
    "\n\\begin{verbatim}\n\\rgvalue{\n\\end{verbatim}\n",
)


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with one value to type anew, that was drafted."""
    root = write_report(tmp_path_factory.mktemp("fix") / "report", {"content/index.md": OLD})
    assert call(root, "fix").returncode == 1
    return root


@pytest.fixture
def report(drafted: Path, tmp_path: Path) -> Path:
    """A copy of it that a test may change."""
    root = write_report(tmp_path / "report", {"content/index.md": OLD})
    share_cache(drafted, root)
    return root


def make_edits(text: str, edits: list[dict[str, Any]]) -> str:
    """A text after edits by line and column, as a program makes them."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = re.split(r"(?<=\n)|(?<=\r)(?!\n)", text.removeprefix("\ufeff"))
    for one in reversed(edits):
        at, line = one["column"] - 1, "".join(lines[one["line"] - 1 :])
        assert line[at:].startswith(one["old"])
        rest = line[at + len(one["old"]) :]
        lines[one["line"] - 1 :] = [line[:at] + one["new"] + rest]
    return mark + "".join(lines)


@pytest.mark.random
def test_of_any_text_with_any_line_ends_bound_words_alone_change(tmp_path: Path) -> None:
    """All else is the same bytes, and a second time nothing changes. What is code or broken stays, too.

    Whatever renders a document shows its words alone.
    """
    chance = random.Random(7)  # noqa: S311 - the same pages every time

    def draw(pieces: tuple[str, ...]) -> bytes:
        text = "".join(chance.choices(pieces, k=chance.randint(1, 12)))
        return (chance.choice(("", "\ufeff")) + text).encode()

    pages = {f"content/p{number}.md": draw(PIECES) for number in range(tries(25, 800))}
    # After a word, since a mark that begins a line is refused, and so is the whole report.
    texts = {f"docs/p{number}.md": draw(IN_MARKDOWN) for number in range(tries(25, 800))}
    texts |= {f"docs/p{number}.tex": draw(IN_TEX) for number in range(tries(12, 400))}
    table = b'\xef\xbb\xbfA\r\n\r\n<!-- rg table="n" of="runs" -->\r\n|\r\n<!-- /rg -->\n'
    settings = SETTINGS.replace("[reportgen]", '[{reportgen: {documents: ["docs/*"]}}]')
    root = write_report(tmp_path, {**pages, **texts, "docs/table.md": table, "mkdocs.yml": settings})
    edits = ask(root, "fix")["result"]["edits"]
    assert call(root, "fix", "--write").returncode == 0
    rows = b"\r\n\r\n| accuracy | n |\r\n| --- | --- |\r\n| MEL | 2 |\r\n| GRPO | 2 |\r\n\r\n"
    assert (root / "docs/table.md").read_bytes() == table.replace(b"\r\n|\r\n", rows)
    changed = 0
    bound = re.compile(rb"\[([^][]*)\](?=\{value)|(?<= -->)([^<]*)(?=<!-- /rg)|(?<=\}\{runs\}\{)([^}]*)")
    for name, before in (pages | texts).items():
        after = (root / name).read_bytes()
        changed += after != before
        assert make_edits(before.decode(), [one for one in edits if one["file"] == name]) == after.decode()
        assert bound.sub(b"", after) == bound.sub(b"", before), name
        for old, new in zip(bound.findall(before), bound.findall(after), strict=True):
            olds, news = b"".join(old), b"".join(new)
            assert news in {olds, olds.replace(b"81", b"82").replace(b"70", b"72")}, name
        if name.startswith("docs/") and name.endswith("md"):
            marked = after.decode().removeprefix("\ufeff")
            assert show_words(marked) == show_words(MARKS.sub("", marked)), name
    assert changed > len(pages | texts) / 3
    kept = files_below(root / "content") | files_below(root / "docs")
    assert call(root, "fix", "--write").returncode == 0
    assert files_below(root / "content") | files_below(root / "docs") == kept


def test_every_drift_in_documents_is_named(tmp_path: Path) -> None:
    """Of 400 bindings in 20 documents, the 200 that are wrong, each with its line and column."""
    bound = {
        "final(MEL)": ("0.82", "0.81"),
        "final(GRPO)": ("72%", "71%"),
        "peak_step(MEL)": ("step 10", "step 5"),
    }
    texts, drifted = dict[str, str](), set[tuple[str, int, int]]()
    for document in range(20):
        name = f"docs/d{document}.{'tex' if document % 2 else 'md'}"
        lines = []
        for number in range(20):
            fact, typed = [*bound.items()][(number + document) % 3]
            words = typed[(number + document // 3) % 2]
            before = f"line {number} has " + "é" * document
            if document % 2:
                before, after = f"{before}\\rgvalue{{{fact}}}{{runs}}{{", "}"
                shown = words.replace("%", "\\%")
            else:
                before, after, shown = f'{before}<!-- rg value="{fact}" of="runs" -->', END, words
            lines.append(f"{before}{shown}{after} at the end")
            if words == typed[1]:
                drifted.add((name, number + 1, len(before) + 1))
        texts[name] = "\n".join(lines)
    settings = SETTINGS.replace("[reportgen]", '[{reportgen: {documents: ["docs/*"]}}]')
    root = write_report(tmp_path, {**texts, "mkdocs.yml": settings})
    found = ask(root, "check")
    assert len(drifted) == 200
    assert {(one["file"], one["line"], one["column"]) for one in found["diagnostics"]} == drifted


LABEL = re.compile(r"\[([^][]+)\]\{([^{}]*)\}")
WRITTEN = re.compile(r'\[([^][]+)\]\{value="([^"]*)"\}')
SENTENCES = Path(__file__).parent / "sentences"
BENCHMARKS = {
    "curves": ("math500", "{name: MATH500, source: math500, metric: validation score}"),
    "scores": ("model-comparison", "{name: Contest, source: model-comparison}"),
    "versions": ("aime", "{name: AIME, source: aime, metric: pass@1}"),
}


def list_bound(line: str, pattern: re.Pattern[str]) -> dict[int, str]:
    """What is bound in a line, by its place without any binding."""
    found, extra = dict[int, str](), 0
    for match in pattern.finditer(line):
        found[match.start() - extra] = match[2]
        extra += len(match[0]) - len(match[1])
    return found


def test_bindings_of_labelled_sentences_are_right(tmp_path: Path) -> None:
    """Of 551 sentences, half of them traps, no binding is wrong, and four in five numbers are found.

    The last 150 were written in three parts without the rules, which were then made to fit: of the numbers of
    the second part 84 % had been found with one binding wrong, of the third, mostly traps, 83 % with three.
    """
    texts = {name: (SENTENCES / f"{name}.txt").read_text("utf-8").splitlines() for name in BENCHMARKS}
    files = dict[str, str]()
    for name, lines in texts.items():
        first = f"---\nbenchmark: {BENCHMARKS[name][1]}\n---\n# Sentences"
        files[f"content/{name}.md"] = "\n\n".join((first, *(LABEL.sub(r"\1", line) for line in lines)))
    root = write_report(tmp_path, {**files, "data/runs.csv": None, "content/index.md": "# Home\n"})
    for source, _ in BENCHMARKS.values():
        shutil.copytree(ROOT / "data" / source, root / "data" / source)
    assert call(root, "bind", "--write").returncode == 0
    right, wrong, labelled = 0, list[str](), 0
    for name, lines in texts.items():
        written = (root / f"content/{name}.md").read_text("utf-8").split("\n\n")[1:]
        for line, now in zip(lines, written, strict=True):
            known, bound = list_bound(line, LABEL), list_bound(now, WRITTEN)
            hits = [call for place, call in bound.items() if call in known.get(place, "").split("|")]
            wrong += [] if len(hits) == len(bound) else [now]
            right, labelled = right + len(hits), labelled + len(known)
    assert wrong == []
    assert right / labelled > 0.8


def test_sentences_propose_the_claims_that_they_make(tmp_path: Path) -> None:
    """With a condition, a negation or another name, they propose nothing."""
    lines = (SENTENCES / "claims.txt").read_text("utf-8").splitlines()
    first = f"---\nbenchmark: {BENCHMARKS['curves'][1]}\n---\n# Sentences"
    bound = "[MEL is better than GRPO]{claim='better(MEL, GRPO)' fails='one run each'}"
    text = "\n\n".join((first, *(LABEL.sub(r"\1", line) for line in lines), bound))
    root = write_report(tmp_path, {"content/index.md": text, "data/runs.csv": None})
    shutil.copytree(ROOT / "data" / "math500", root / "data" / "math500")
    claims = ask(root, "check", "--unbound")["result"]["numbers"]["claims"]
    rows = {number: next(iter(LABEL.findall(line)), None) for number, line in enumerate(lines)}
    labelled = {6 + 2 * number: found for number, found in rows.items() if found}
    assert {one["line"]: (one["words"], one["expression"]) for one in claims} == labelled
    assert claims[0]["new"] == '[MEL is better than GRPO]{claim="better(MEL, GRPO)"}'
    likely = ask(root, "facts", "math500", "--like", "MEL starts above GRPO.")["result"]["claims"]
    assert [(one["expression"], one["truth"]) for one in likely] == [("start(MEL) > start(GRPO)", "fails")]


def test_a_document_that_nobody_wrote_is_refused(tmp_path: Path) -> None:
    """However long it is, it costs no more than a sentence."""
    settings = SETTINGS.replace("[reportgen]", "[{reportgen: {documents: [long.md, large.md]}}]")
    texts = {"long.md": "a `" * 700_000, "large.md": "<!-- " * 4_000_000}
    root = write_report(tmp_path, {"mkdocs.yml": settings, "content/index.md": "# Small\n", **texts})
    said = call(root, "check").stdout
    assert "long.md: error: this document is longer than 2,000,000 characters" in said
    assert "large.md: error: this file is larger than 16 MiB" in said


def show_words(text: str) -> list[str]:
    """The words of a document as GitHub shows them outside code."""
    shown = MarkdownIt("commonmark").enable("table").render(text)
    plain = re.sub("<code.*?</code>|<!--.*?-->|<(?!/?t[dh])[^>]*>", "", shown, flags=re.DOTALL)
    return unescape(plain).split()


def test_a_difference_is_a_patch(report: Path) -> None:
    """``git apply`` takes it, and the report is then as if it had been written."""
    patch = call(report, "fix").stdout
    subprocess.run(["git", "apply"], cwd=report, input=patch.encode(), check=True)  # noqa: S607 - any git
    assert (report / "content/index.md").read_text("utf-8") == NEW


@pytest.mark.parametrize("step", ["checking.draft_report", "repairs.plan_repairs"])
def test_a_page_that_has_changed_is_left_alone(
    report: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Places of an older text mean nothing in a newer one; an editor's work is worth more than a repair."""
    page = report / "content/index.md"
    module, _, name = step.partition(".")
    act = getattr(import_module(f"reportgen.site.{module}"), name)
    for now in (b"0.85", b"a 0.81", b"0.81](b.md)", b"\xff0.81", b"", None):
        page.write_text(OLD, "utf-8")
        text = OLD.encode().replace(b"0.81", now) if now is not None else None

        def change(*words: Any, text: bytes | None = text, **more: Any) -> Any:  # noqa: ANN401 - of the step
            result = act(*words, **more)
            page.unlink()
            if text is not None:
                page.write_bytes(text)
            return result

        with monkeypatch.context() as patched:
            patched.setattr(f"reportgen.site.{step}", change)
            done = call(report, "fix", "--write")
        assert done.returncode == 1, now
        said = "this page cannot be" if now is None else "has changed since it was read"
        place = "index.md:3" if module == "checking" and now is not None else "index.md"
        assert re.search(rf"^content/{place}\b.* error: .*{said}", done.stderr, re.MULTILINE), done.stderr
        assert (page.read_bytes() if page.exists() else None) == text


def test_writing_keeps_mode_and_leaves_nothing_behind(report: Path) -> None:
    """The page is replaced as a whole; a link to it stays a link."""
    page, link = report / "own/page.md", report / "content/index.md"
    write_file(page, OLD)
    page.chmod(0o640)
    link.unlink()
    link.symlink_to("../own/page.md")
    assert call(report, "fix", "--write").returncode == 0
    assert page.read_text("utf-8") == NEW
    assert stat.S_IMODE(page.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert {one.name for folder in (page.parent, link.parent) for one in folder.iterdir()} == {
        page.name,
        link.name,
    }


@pytest.mark.parametrize("fault", ["access", "fsync"])
def test_what_cannot_be_written_is_told(report: Path, monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    """A page that is not ours to write and a full disk: the old page stays, and nothing beside it."""

    def closed(path: Any, mode: int) -> bool:  # noqa: ANN401 - as the real one has it
        return not (str(path).endswith("index.md") and mode == os.W_OK)

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, fault, closed if fault == "access" else full)
    said = "it may not be written" if fault == "access" else "No space left"
    done = call(report, "fix", "--write")
    assert (done.returncode, said in done.stderr) == (1, True)
    assert files_below(report / "content") == {"index.md": OLD.encode()}
