"""The language of claims: how text becomes a tree, and what is said of text that does not."""

from __future__ import annotations

import sys
from contextlib import suppress

import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

from reportgen.claims.language import (
    Call,
    Chain,
    ExpressionError,
    Fault,
    Name,
    Number,
    Prefix,
    TokenKind,
    Tree,
    parse,
    tokenize,
)
from reportgen.claims.vocabulary import quote_name


def plain(tree: Tree) -> str:
    """A tree in full parentheses, without its places."""
    match tree:
        case Number():
            return repr(tree.value)
        case Name():
            return repr(tree.name) if tree.quoted else tree.name
        case Call():
            return f"{tree.name}({', '.join(map(plain, tree.arguments))})"
        case Prefix():
            return f"[{tree.operator} {plain(tree.of)}]"
        case Chain():
            rest = (
                f"{sign} {plain(part)}" for sign, part in zip(tree.operators, tree.parts[1:], strict=True)
            )
            return f"[{plain(tree.parts[0])} {' '.join(rest)}]"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("final(A)-final(B) > 0.1", "[[final(A) - final(B)] > 0.1]"),
        ("a or b and not c < d", "[a or [b and [not [c < d]]]]"),
        ("not not a and b", "[[not [not a]] and b]"),
        ("a < b<=c", "[a < b <= c]"),
        ("a - b - c * d / e", "[a - b - [c * d / e]]"),
        ("-a * -b", "[[- a] * [- b]]"),
        ("--a - -b", "[[- [- a]] - [- b]]"),
        ("(a + b) * c", "[[a + b] * c]"),
        ("((a))", "a"),
        ("a ≤ b", "[a <= b]"),
        ("a ≥ b", "[a >= b]"),
        ("a ≠ b", "[a != b]"),
        ("a == b", "[a = b]"),
        ("a − 2 × b", "[a - [2.0 * b]]"),
        ("84% + 84 % + .5 + 1e-3 + 1e−3 + 2. + 007", "[0.84 + 0.84 + 0.5 + 0.001 + 0.001 + 2.0 + 7.0]"),
        ("at(GRPO, peak_step(MEL))", "at(GRPO, peak_step(MEL))"),
        ("v10-l1-length-4096 < Llama3.2-1B", "[v10-l1-length-4096 < Llama3.2-1B]"),
        ("a -b", "[a - b]"),
        ("a-b", "a-b"),
        ("final (A)", "final(A)"),
        ("peak('Series A', \"it's\", 'Bob''s')", "peak('Series A', \"it's\", \"Bob's\")"),
        ("peak('and')\n> 1", "[peak('and') > 1.0]"),
        ("größe > 1", "[größe > 1.0]"),
        ("2024-05-01", "[2024.0 - 5.0 - 1.0]"),
        ("peak()", "peak()"),
    ],
)
def test_text_becomes_the_tree_that_is_meant(text: str, tree: str) -> None:
    """Levels bind as in arithmetic and logic, comparisons chain, hyphens belong to names."""
    assert plain(parse(text)) == tree


@pytest.mark.parametrize(
    ("text", "position", "length", "message", "step"),
    [
        ("", 0, 1, "The expression is empty", "Write a fact"),
        ("  ", 2, 1, "The expression is empty", "Write a fact"),
        ("peak(Series A) > 1", 5, 8, 'Nothing connects the words "Series A"', "quotes: 'Series A'"),
        ("peak(Bob s 2) > 1", 5, 7, 'Nothing connects the words "Bob s 2"', "quotes: 'Bob s 2'"),
        ("peak MEL > 1", 5, 3, 'Nothing connects "MEL"', "parentheses: peak(s)"),
        ("a > 1 AND b > 1", 6, 3, 'Nothing connects "AND"', 'Write "and" in small letters'),
        ("2(3)", 1, 1, 'Nothing connects "("', 'Put "and", "or"'),
        ("final(A) > 1,200", 11, 5, '"1,200" has a comma', "Write 1200"),
        ("final(A) > 0,84", 11, 4, '"0,84" has a comma', "Write 0.84"),
        ("final(A) > 0,842", 11, 5, '"0,842" has a comma', "Write 0.842"),
        ("final(A) > 1,5", 11, 3, '"1,5" has a comma', "Write 1.5"),
        ("a, b", 1, 1, "A comma stands outside", "Take it out"),
        ("(a > 1", 0, 1, 'This "(" is never closed', 'Put the ")"'),
        ("peak(A", 4, 1, 'This "(" is never closed', 'Put the ")"'),
        ("a > 1)", 5, 1, 'This ")" closes nothing', "Take it out"),
        ("a and", 5, 1, 'nothing follows "and"', "Write a number"),
        ("a > ", 4, 1, 'nothing follows ">"', "Write a number"),
        ("()", 1, 1, "Nothing stands between these parentheses", "Write a number"),
        ("at(A,)", 5, 1, "An argument is missing", "take the comma out"),
        ("at(,A)", 3, 1, "An argument is missing", "take the comma out"),
        ("a > > b", 2, 3, '">" and ">" follow each other', "Take one of them out"),
        ("a < = b", 2, 3, '"<" and "=" follow each other', 'Write "<=" without a space'),
        ("a > +3", 4, 1, 'A "+" in front', "Take it out"),
        ("> 3", 0, 1, 'Something is missing in front of ">"', "Write a number"),
        ("a % b", 2, 1, "A percent sign follows something other", "84%"),
        ("a < not b", 4, 3, '"not" cannot stand behind this operator', "(not …)"),
        ("a && b", 2, 2, '"&&" means nothing', 'Write "and" instead'),
        ("a &gt; b", 2, 4, '"&gt;" means nothing', 'Write ">" instead'),
        ("a => b", 2, 2, '"=>" means nothing', 'Write ">=" instead'),
        ("!a", 0, 1, '"!" means nothing', 'Write "not" instead'),
        ("a – b", 2, 1, '"–" means nothing', 'Write "-" instead'),
        ("a ≈ b", 2, 1, '"≈" means nothing', "0.83 < final(A) < 0.85"),
        ("“A” > 1", 0, 1, "means nothing", "straight quotes"),
        ("peak('A) > 1", 5, 7, "A quote is opened here and never closed", "Put ' behind"),
        ("a\x00\x07b", 1, 2, r'"\x00\x07" means nothing', "Take it out"),
        ("a $$ b", 2, 2, '"$$" means nothing', "quotes"),
        ("peak(4B) > 1", 5, 2, '"4B" is neither a number nor a name', "quotes: '4B'"),
        ("peak(Qwen/7B) > 1", 10, 2, '"7B" is neither', "quotes: 'Qwen/7B'"),
        ("final(A)/7B > 1", 9, 2, '"7B" is neither', "quotes: '7B'"),
        ("a > 120k", 4, 4, '"120k" is neither', "Write a number as 120"),
        ("a > 1.2.3", 4, 5, '"1.2.3" is neither', "Write a number as 120"),
        ("a.b().c", 5, 2, '".c" is neither', "Put a name"),
        ("1e999", 0, 5, "This number is too large", "below 1e308"),
        ("9" * 400, 0, 400, "This number is too large", "below 1e308"),
        ("0.00001e-999", 0, 12, "too small to distinguish from 0", "Write 0"),
    ],
)
def test_text_that_is_no_expression_is_told_with_its_place(
    text: str, position: int, length: int, message: str, step: str
) -> None:
    """Where it is, what was found, and what to write instead."""
    with pytest.raises(ExpressionError) as error:
        parse(text)
    (fault,) = [one for one in error.value.faults if one.position == position]
    assert (fault.length, message in fault.message, step in fault.next_step) == (length, True, True), fault


def test_all_foreign_characters_are_told_at_once() -> None:
    """An author who comes from another language mends a line in one go."""
    with pytest.raises(ExpressionError) as error:
        parse("!a && b || “c”")
    assert [fault.position for fault in error.value.faults] == [0, 3, 8, 11, 13]
    assert str(error.value).count("\n") == 4


def test_a_zero_is_no_number_out_of_range() -> None:
    """Zero with any exponent is zero."""
    assert plain(parse("0e999 + 0.0e-999")) == "[0.0 + 0.0]"


@pytest.mark.parametrize(
    "text", ["(" * 40 + "a" + ")" * 40, "not " * 40 + "a", "-" * 40 + "a", "f(" * 40 + "a" + ")" * 40]
)
def test_forty_levels_are_read_and_one_more_is_not(text: str) -> None:
    """Depth is bounded, whatever it is made of, and the fault stands where the bound is passed."""
    assert plain(parse(text))
    deeper = f"({text})"
    with pytest.raises(ExpressionError, match="nested more than 40 deep") as error:
        parse(deeper)
    assert 0 < error.value.faults[0].position < len(deeper)


def test_length_and_parts_are_bounded() -> None:
    """A thousand characters and two hundred parts are read, more are not."""
    chain = "+".join(["1"] * 199)
    assert plain(parse(chain + " " * (1000 - len(chain)))).count("+") == 198
    with pytest.raises(ExpressionError, match="more than 200 parts"):
        parse(chain + "+1")
    with pytest.raises(ExpressionError, match="1,001 characters") as error:
        parse("1" + " " * 1000)
    assert error.value.faults == (Fault(1000, 1, *_words(error.value.faults[0])),)


def _words(fault: Fault) -> tuple[str, str]:
    return fault.message, fault.next_step


@pytest.mark.parametrize(
    "piece",
    [
        "(",
        ")",
        "not ",
        "-",
        "a-",
        "'",
        '"',
        "''",
        "1",
        "1.",
        "1e",
        "a<",
        "f(",
        ",",
        "&",
        "²",
        "a.",
        "-a-",
        "4B/",
        "%",
        "\x00",
        " ",
    ],
)
def test_no_text_takes_the_stack_or_more_than_linear_time(piece: str) -> None:
    """The longest text of anything ends quickly, with half of the usual stack left."""
    text = (piece * 1000)[:1000]
    frames = 0
    frame = sys._getframe()
    while frame.f_back:
        frames, frame = frames + 1, frame.f_back
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(frames + 400)
    try:
        with suppress(ExpressionError):
            parse(text)
    finally:
        sys.setrecursionlimit(limit)


_NUMBERS = st.floats(0, 1e300, allow_subnormal=False).map(repr) | st.integers(0, 10**6).map(str)
_ATOMS = _NUMBERS | st.sampled_from(["final(A)", "peak('Series A')", "gap(A, B, 3)", "x", "'y z'"])
_SUMS = st.recursive(
    _ATOMS,
    lambda inner: (
        st.builds(
            "{}{}{}".format,
            inner,
            st.sampled_from([" + ", " - ", "*", " / ", " < ", "=", " and ", "  or "]),
            inner,
        )
        | inner.map("({})".format)
        | inner.map("-{}".format)
        | inner.map("not {}".format)
    ),
    max_leaves=12,
)


@given(_SUMS)
def test_places_cover_the_words_they_stand_for(text: str) -> None:
    """Cutting out what a node covers and reading it again gives the same node."""
    try:
        pending = [parse(text)]
    except ExpressionError:  # "not" behind an operator
        reject()
    while pending:
        node = pending.pop()
        assert plain(parse(text[node.position : node.position + node.length])) == plain(node)
        pending += node.parts if isinstance(node, Chain) else ()
        pending += node.arguments if isinstance(node, Call) else ()
        pending += [node.of] if isinstance(node, Prefix) else []


@given(st.text(max_size=30))
def test_every_name_can_be_written(name: str) -> None:
    """Quotes where they are needed, doubled inside; reading gives the name back."""
    assert parse(f"peak({quote_name(name)})").arguments[0].name == name  # type: ignore[union-attr]


def test_names_are_quoted_only_where_they_need_it() -> None:
    """A plain name stays plain; a keyword, a space or a leading digit needs quotes."""
    names = [
        "MEL",
        "v10-l1-length-4096",
        "Llama3.2",
        "_x",
        "not",
        "Series A",
        "4B",
        "Bob's",
        "a--b",
        "a-",
        "",
    ]
    assert [quote_name(name) for name in names] == [
        *("MEL", "v10-l1-length-4096", "Llama3.2", "_x", "'not'", "'Series A'", "'4B'", "'Bob''s'"),
        *("'a--b'", "'a-'", "''"),
    ]


def test_no_character_is_passed_over() -> None:
    """Every character between two names is part of a name, a mark, a space or a fault."""
    for code in (*range(0x3000), 0xD800, 0xFEFF, 0x1F600):
        places: list[tuple[int, int]] = []
        try:
            places = [(token.position, token.length) for token in tokenize(f"a{chr(code)}b")]
        except ExpressionError as error:
            places = [(fault.position, fault.length) for fault in error.faults]
        covered = any(at <= 1 < at + length for at, length in places)
        assert covered is not chr(code).isspace(), hex(code)


def test_foreign_characters_beside_each_other_keep_their_next_steps() -> None:
    """A run of unknown ones is one fault; a typographic quote beside it is another."""
    with pytest.raises(ExpressionError) as error:
        parse("a $$# “b")
    assert [(fault.position, fault.length) for fault in error.value.faults] == [(2, 3), (6, 1)]


def test_tokens_know_their_place() -> None:
    """A mark has its plain form, text in quotes what it says; the end stands behind the last character."""
    found = [(token.kind, token.text, token.position, token.length) for token in tokenize("a ≤ 'b''c'")]
    assert found == [
        (TokenKind.NAME, "a", 0, 1),
        (TokenKind.MARK, "<=", 2, 1),
        (TokenKind.STRING, "b'c", 4, 6),
        (TokenKind.END, "", 10, 1),
    ]
