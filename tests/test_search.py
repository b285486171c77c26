"""The search index reaches a page as a script that cannot be broken out of."""

from __future__ import annotations

import json
from html import escape

from hypothesis import given
from hypothesis import strategies as st

from reportgen.site.assembly import find_lunr, make_index_script

DOCS = st.lists(st.fixed_dictionaries({"location": st.text(), "title": st.text(), "text": st.text()}))


def written(docs: list[dict[str, str]]) -> str:
    """Return the script for these documents, with the settings MkDocs writes."""
    config = {"lang": ["en"], "separator": r"[\s\-]+", "prebuild_index": False}
    return make_index_script(json.dumps({"config": config, "docs": docs}))


@given(DOCS)
def test_the_script_carries_the_documents_unchanged(docs: list[dict[str, str]]) -> None:
    """What MkDocs indexed is what the browser searches, whatever the characters."""
    script = written([doc | {"title": escape(doc["title"])} for doc in docs])
    value = json.loads(script.removeprefix("window.reportgenSearch=").removesuffix(";\n"))
    assert value == {"config": {"lang": ["en"], "separator": r"[\s\-]+"}, "docs": docs}


@given(DOCS)
def test_nothing_in_the_script_ends_it(docs: list[dict[str, str]]) -> None:
    """Neither a tag nor one of Unicode's line ends stands in the script as itself."""
    assert not set(written(docs)) & set("<\u2028\u2029")


def test_hostile_titles_are_escaped() -> None:
    """A run called ``</script>`` stays a text."""
    title = "</script><script>alert(1)</script>"
    assert r"\u003c/script>" in written([{"location": "a/", "title": title, "text": ""}])


def test_lunr_is_the_one_that_mkdocs_ships() -> None:
    """No copy of the library is kept."""
    assert "lunr" in find_lunr().read_text(encoding="utf-8")[:200]
