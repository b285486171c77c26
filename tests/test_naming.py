"""Names in messages: the one that was meant, and those that there are."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reportgen.core.errors import Diagnostic, SourceLocation
from reportgen.core.words import find_nearest, quote_names, suggest_name


def test_the_nearest_name_is_found_whatever_its_capitals() -> None:
    """Of names that differ in capitals alone the first, and none where nothing is like it."""
    assert find_nearest("grpo", ("MEL", "GRPO", "Grpo")) == "GRPO"
    assert find_nearest("paek", iter(["start", "peak"])) == "peak"
    assert find_nearest("QXJZ", ("MEL", "GRPO")) == ""
    assert find_nearest("MEL", ()) == ""


def test_the_cutoff_says_how_like_it_has_to_be() -> None:
    """A key that may well be another program's is taken for ours only where it is nearly the same."""
    assert find_nearest("bench", ("benchmark",)) == "benchmark"
    assert find_nearest("bench", ("benchmark",), cutoff=0.88) == ""


@given(st.text(max_size=200), st.lists(st.text(max_size=20), max_size=5))
def test_the_nearest_name_is_one_there_is(name: str, known: list[str]) -> None:
    """Or none; a name that is there is its own nearest, unless another differs in capitals alone."""
    assert find_nearest(name, known) in {*known, ""}
    for one in known:
        assert find_nearest(one, known).lower() == one.lower()


def test_a_question_ends_as_one() -> None:
    """Alone or with a sentence behind, and without a full stop of its own."""
    step = suggest_name("lable", ("label",)).rstrip()
    assert str(Diagnostic(SourceLocation("a.md", 3), "this is no key", step)) == (
        'a.md:3: this is no key. Did you mean "label"?'
    )
    assert suggest_name("xyz", ("label",)) == ""


def test_names_are_listed_up_to_a_dozen() -> None:
    """In quotes; the others are counted."""
    assert quote_names(("A", "B")) == '"A", "B"'
    assert quote_names(tuple("ABCDE"), most=2) == '"A", "B" and 3 more'
