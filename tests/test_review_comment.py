"""A review as a comment: accepted texts, the limit, and that no foreign word is more than a word."""

from __future__ import annotations

import random
import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_reviews import (
    ANY_REVIEW,
    MOST_COUNTED,
    WORDS,
    fill_review,
    make_broken,
    make_figure,
    make_number,
    make_review,
)
from markdown_it import MarkdownIt
from tries import tries

from reportgen.review.comment import (
    FEWEST_CHARACTERS,
    MOST_CHARACTERS,
    CommentContext,
    make_marker,
    name_pictures,
    write_annotations,
    write_comment,
)
from reportgen.review.model import (
    Counts,
    Origin,
    Review,
)

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

LINK = "https://example.org/review.html"
AROUND = CommentContext(link=LINK)
OURS = {"<details>", "<summary>Everything else</summary>", "</details>", "<code>", "</code>"}
DIRECTIONS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
SENTINEL = "zqx"


class GitHubMarkdown(MarkdownIt):
    """A parser that, as GitHub's, reads no code span with more than 80 backticks on a side."""

    def __init__(self) -> None:
        super().__init__("commonmark", {"html": True})
        self.enable("table")
        self.inline.ruler.before("backticks", "too_many_backticks", self._pass_long_run)

    @staticmethod
    def _pass_long_run(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  # markdown-it's signature
        run = re.match("`{81,}", state.src[state.pos :])
        if run and not silent:
            state.pending += run[0]
        state.pos += len(run[0]) if run else 0
        return bool(run)


def list_loose_text(comment: str, link: str = "") -> list[str]:
    """The text of a comment that stands outside of code, where GitHub would find mentions and links.

    Fails where the Markdown has a link, picture or HTML that is not ours.
    """
    parser = GitHubMarkdown()
    loose: list[str] = []
    depth = 0
    for token in parser.parse(comment):
        if token.type == "html_block":
            assert {*token.content.split("\n")} <= {*OURS, make_marker("mkdocs.yml"), ""}, token.content
        for part in token.children or ():
            if part.type == "html_inline":
                assert part.content in OURS
                depth += {"<code>": 1, "</code>": -1}[part.content]
            elif part.type == "link_open":
                assert part.attrs["href"] == link
            else:
                assert part.type != "image"
            if part.type == "text" and not depth:
                loose.append(part.content)
        assert depth == 0
    return loose


@given(ANY_REVIEW, st.integers(FEWEST_CHARACTERS, MOST_CHARACTERS))
def test_any_review_fits_and_ends_with_its_marker(review: Review, most: int) -> None:
    """Whatever a file holds that follows the schema, the comment is short enough and can be found again."""
    comment = write_comment(review, most_characters=most, surroundings=AROUND)
    assert len(comment) <= most
    assert comment.endswith(f"\n\n{make_marker('mkdocs.yml')}\n")
    assert write_comment(review, most_characters=most, surroundings=AROUND) == comment
    comment.encode()


def test_the_longest_words_fit_into_the_fewest_characters() -> None:
    """Everything is there at once."""
    name, many = ("`" * 8 + "x") * 33, MOST_COUNTED
    state = Origin(kind="folder", name=name, tool=name, modified=True, built=False, why=name)
    counts = Counts(**dict.fromkeys(Counts.model_fields, many) | {"worse": many // 2})
    review = make_review(base=state, head=state.model_copy(update={"tool": f"x{name[1:]}"}), counts=counts)
    address = f"https://{'x' * 500}"
    around = CommentContext(link=address, preview=address, from_fork=True)
    comment = write_comment(review, most_characters=FEWEST_CHARACTERS, surroundings=around)
    assert 2_000 < len(comment) <= FEWEST_CHARACTERS
    with pytest.raises(ValueError, match="needs 4,000 characters"):
        write_comment(review, most_characters=FEWEST_CHARACTERS - 1)


@given(ANY_REVIEW, st.integers(FEWEST_CHARACTERS, MOST_CHARACTERS))
def test_no_foreign_word_is_read_as_markup(review: Review, most: int) -> None:
    """Outside of code there is no mention, reference, address or foreign direction of text."""
    comment = write_comment(review, most_characters=most, surroundings=AROUND)
    for text in list_loose_text(comment, LINK):
        assert not re.search(r"@|#\d|://|www\.|<(?! 0\.001)|`|\$", text), text
    assert not DIRECTIONS.search(comment)


@pytest.mark.parametrize("word", [word for word in WORDS if "\0" not in word and word.strip()])
def test_every_foreign_word_stands_in_code(word: str) -> None:
    """A mark within each word of a review is never found in the text outside."""
    comment = write_comment(fill_review((f"{SENTINEL}{word}{SENTINEL}", f"{word}{SENTINEL}")))
    assert SENTINEL in comment
    assert not [text for text in list_loose_text(comment) if SENTINEL in text]


PIECES = (
    *("`", "``", *("`" * count for count in (8, 9, 40, 79, 80, 81, 200)), "@name", "#12", "$", "\\"),
    *("![p](https://evil.example/p.png)", "[x](https://evil.example)", "<img src=x>", "</code>"),
    *("</details>", "https://evil.example", "www.evil.example", "|", "\n", "\n\n", "\t", " ", "  "),
    *("*", "_", "~~", "x", "é", "- ", "> ", "# ", "| --- |", "```", "&#96;", "&", "[x]: https://evil.example"),
    *("\u200b", "\u202e", "\x1b"),
)  # fmt: skip


@pytest.mark.random
def test_hostile_texts_stay_in_code() -> None:
    """No link, picture, mention or mark-up of theirs, in any place of a comment."""
    chance = random.Random(16)  # noqa: S311 - no secret
    for _ in range(tries(10, 100)):
        texts = ["".join(chance.choices(PIECES, k=chance.randint(1, 8))) for _ in range(100)]
        comment = write_comment(fill_review(texts), surroundings=AROUND)
        for text in list_loose_text(comment, LINK):
            assert not re.search(r"@|#\d|evil|`|\$", text), text


@given(st.text(max_size=40))
def test_a_foreign_text_is_one_code_span(text: str) -> None:
    """Markdown reads it as a single span, or as code in HTML, with the text on one line."""
    comment = write_comment(fill_review((f"{SENTINEL}{text}{SENTINEL}",), 1), surroundings=AROUND)
    assert not [loose for loose in list_loose_text(comment, LINK) if SENTINEL in loose]
    parts = [part for token in GitHubMarkdown().parse(comment) for part in token.children or ()]
    spans = [part.content for part in parts if part.type == "code_inline" and SENTINEL in part.content]
    assert spans or "|" in text
    for span in spans:
        assert span.startswith(SENTINEL)
        assert span.endswith((SENTINEL, "…")) or f"{SENTINEL}:" in span


def test_no_line_begins_with_a_foreign_word() -> None:
    """Bots obey lines such as "/approve": ours begin with words or marks of our own."""
    ours = re.compile(
        r"> |- |  - |\| |#{3} |\*\*|`{3}|<|axis {4}|before {2}|after {3}|$|\d+ of|Intervals are"
    )
    *lines, state, blank, _marker, end = write_comment(fill_review(("/approve", "/lgtm"))).split("\n")
    assert (blank, end) == ("", "")
    assert state.startswith("`/")
    assert [line for line in lines if not ours.match(line)] == []


def test_what_does_not_fit_is_left_out_as_a_whole() -> None:
    """Details first, then rows of the table, then everything but the counts."""
    numbers = tuple(make_number(f"series {number}") for number in range(30))
    review = fill_review(("name " * 50,), 25).model_copy(update={"numbers": numbers})
    sizes = [write_comment(review, most_characters=most) for most in (60_000, 40_000, 20_000, 8_000, 4_000)]
    rows = [len(re.findall(r"^\| `series", text, re.MULTILINE)) for text in sizes]
    assert rows == sorted(rows, reverse=True)
    assert (rows[0], rows[-1]) == (20, 0)
    assert ["<details>" in text for text in sizes][::4] == [True, False]
    assert "20 of 30 numbers that changed" in sizes[0]
    for text in sizes:
        assert all(line.endswith("|") for line in text.splitlines() if line.startswith("|"))
        assert "25 claims became false." in text


@pytest.mark.parametrize("name", [*WORDS, "a" * 100, "e\u0301" * 40])
def test_names_in_strips_are_of_equal_width(name: str) -> None:
    """Wide letters take two cells, accents none: the interval of another name begins below its own."""
    numbers = (make_number(name), make_number("x" * 28))
    lines = [line for line in write_comment(make_review(numbers=numbers)).split("\n") if line[:6] == "before"]
    widths = [
        sum({"名": 2, "前": 2, "\u0301": 0, "\u200e": 0}.get(one, 1) for one in line.partition("├")[0])
        for line in lines
    ]
    assert widths == [38, 38]


PICTURES = CommentContext(picture_base="https://example.org/p/?raw=true&a=b")
PICTURE = re.compile(
    r'<picture><source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">'
    r'<img width="440" alt="([^"]*)" src="([^"]+)"></picture>'
)


def test_four_pictures_stand_behind_the_strips() -> None:
    """Light and dark, at the addresses of a folder whose query follows each name."""
    figures = tuple(make_figure("math.md", f"figure {n}") for n in range(6))
    review = make_review(numbers=(make_number(),), figures=figures)
    comment = write_comment(review, surroundings=PICTURES)
    shown = PICTURE.findall(comment)
    assert [one[0] for one in shown] == [
        f"https://example.org/p/math-figure-{n}-dark.png?raw=true&amp;a=b" for n in range(4)
    ]
    assert [one[2] for one in shown] == [one[0].replace("-dark.", "-light.") for one in shown]
    assert {one[1] for one in shown} == {"Accuracy before and after"}
    places = [
        comment.index(part) for part in ("### Numbers", "```text", "### Figures", "<picture>", "<details>")
    ]
    assert places == sorted(places)
    assert len(PICTURE.findall(write_comment(review, surroundings=PICTURES, most_characters=4000))) in {0, 4}


@pytest.mark.parametrize("word", WORDS)
def test_words_of_a_picture_stay_words(word: str) -> None:
    """Titles and names stand in code or escaped, and no line begins with one."""
    review = make_review(figures=(make_figure(word, word, word), make_figure(word, word, word)))
    comment = write_comment(review, surroundings=PICTURES)
    assert len(PICTURE.findall(comment)) == 2
    for dark, alt, light in PICTURE.findall(comment):
        for address in (dark, light):
            assert re.fullmatch(r"https://example\.org/p/[a-z0-9-]+\.png\?raw=true&amp;a=b", address)
        assert not re.search(r"[@#!/:<>|`*_\[\]\\]", re.sub(r"&#\d+;", "", alt))
        assert not DIRECTIONS.search(alt)
    ours = re.compile(r"Figure |<picture>|#{3} Figures|<|>|- |  - |\*\*|`|$")
    assert all(ours.match(line) for line in comment.split("\n"))
    rest = PICTURE.sub("", comment)
    list_loose_text(rest)


def test_names_of_pictures_are_safe_and_differ() -> None:
    """Whatever pages and ids are called; the first names do not depend on how many there are."""
    pairs = [("../../x.md", "y"), ("x", "y"), ("x/../y", ""), ("", "\u202e"), ("評測", "🎉"), ("X", "Y-2")]
    figures = tuple(make_figure(*pair) for pair in [*pairs, ("a" * 300, "b" * 300), *pairs])
    names = list(name_pictures(make_review(figures=figures), 99))
    assert names[:6] == ["x-y", "x-y-2", "x-y-3", "figure", "figure-2", "x-y-2-2"]
    assert len({*names}) == len(figures)
    assert all(re.fullmatch(r"[a-z0-9-]{1,84}", name) for name in names)
    assert list(name_pictures(make_review(figures=figures))) == names[:4]


def test_a_large_review_is_written_quickly() -> None:
    """Thousands of figures and numbers, which no comment can hold."""
    numbers = tuple(make_number(f"series {number}") for number in range(5_000))
    figures = (make_figure(),) * 5_000
    start = time.process_time()
    comment = write_comment(make_review(numbers=numbers, figures=figures))
    assert time.process_time() - start < 5
    assert "- and 4,950 more" in comment


def test_annotations_name_file_and_line() -> None:
    """Statements as errors, worse numbers as warnings, no more of each than are shown."""
    worse = make_number("MEL|::x", verdict="lower", good=False)
    review = make_review(statements=(make_broken(), *[make_broken("value")] * 30), numbers=(worse,))
    lines = write_annotations(review, folder="reports/", pages="content/").splitlines()
    assert lines[0] == (
        "::error file=reports/content/benchmarks/aime.md,line=44,title=Claim became false::"
        '"GRPO ends above MEL.": GRPO ends at 29.0%25 [26.5, 31.5], MEL at 30.2%25 [28.3, 32.1].'
    )
    assert len(lines) == 11
    assert lines[-1].startswith(
        "::warning file=reports/content/benchmarks/aime.md,title=Number became worse::pass@1 of"
    )


def test_annotations_obey_no_foreign_word() -> None:
    """Each line is one command of ours."""
    text = write_annotations(fill_review(WORDS, 20))
    for line in text.splitlines():
        assert re.match(r"::(error|warning|notice) file=", line)
        assert not re.search(r"##\w*\[", line)
