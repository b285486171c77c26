"""The search index reaches a page as scripts that cannot be broken out of, in parts."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reportgen.site.assembly import find_lunr
from reportgen.site.outputs import make_index_scripts

PAGES = ("", "a/", "b/c/")
LOCATIONS = st.builds("".join, st.tuples(st.sampled_from(PAGES), st.sampled_from(("", "#one", "#two"))))
DOCS = st.lists(st.fixed_dictionaries({"location": LOCATIONS, "title": st.text(), "text": st.text()}))
CONFIG = {"lang": ["en"], "separator": r"[\s\-]+", "prebuild_index": False}


def write_scripts(docs: list[dict[str, str]]) -> dict[str, str]:
    """Return the scripts for these documents, with the settings MkDocs writes."""
    escaped = [doc | {"title": escape(doc["title"])} for doc in docs]
    return dict(make_index_scripts({"config": CONFIG, "docs": escaped}))


def read_scripts(scripts: dict[str, str]) -> tuple[dict[str, Any], list[dict[str, str]]]:
    """Return settings and documents as the theme's script reads them."""
    values = [json.loads(text.partition("=")[2].removesuffix(";\n")) for text in scripts.values()]
    titles, *parts = values
    assert [*scripts] == ["titles.js", *(f"texts-{n}.js" for n in range(len(titles["starts"])))]
    texts: list[str] = []
    for start, part in zip(titles["starts"], parts, strict=True):
        assert start == len(texts)
        texts += part
    docs, page = [], ""
    for (location, title), text in zip(titles["docs"], texts, strict=True):
        place = page + location if location.startswith("#") else location
        page = place.partition("#")[0]
        docs.append({"location": place, "title": title, "text": text})
    return titles["config"], docs


@given(DOCS)
def test_the_scripts_carry_the_documents_unchanged(docs: list[dict[str, str]]) -> None:
    """What MkDocs indexed is what the browser searches, each page with its sections."""
    config, read = read_scripts(write_scripts(docs))
    assert config == {"lang": ["en"], "separator": r"[\s\-]+"}
    pages = [*dict.fromkeys(["", *(doc["location"].partition("#")[0] for doc in docs)])]
    assert read == sorted(docs, key=lambda doc: pages.index(doc["location"].partition("#")[0]))


def test_long_texts_come_in_parts() -> None:
    """A browser gets and indexes one of them in a moment; a text is never torn."""
    docs = [{"location": f"{n}/", "title": f"Page {n}", "text": "word " * 10_000} for n in range(9)]
    scripts = write_scripts(docs)
    assert len(scripts) == 6
    assert all(len(text) < 130_000 for text in scripts.values())
    assert read_scripts(scripts)[1] == docs


@given(st.lists(st.fixed_dictionaries({"location": st.text(), "title": st.text(), "text": st.text()})))
def test_nothing_in_the_scripts_ends_them(docs: list[dict[str, str]]) -> None:
    """Neither a tag nor one of Unicode's line ends stands in a script as itself."""
    for script in write_scripts(docs).values():
        assert not set(script) & set("<\u2028\u2029")


def test_hostile_titles_are_escaped() -> None:
    """A run called ``</script>`` stays a text."""
    title = "</script><script>alert(1)</script>"
    assert r"\u003c/script>" in write_scripts([{"location": "a/", "title": title, "text": ""}])["titles.js"]


def test_lunr_is_the_one_that_mkdocs_ships() -> None:
    """No copy of the library is kept."""
    assert "lunr" in find_lunr().read_text(encoding="utf-8")[:200]
