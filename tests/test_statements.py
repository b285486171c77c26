"""Statements of a report: facts computed once, judgements kept and shared, and links that lead somewhere.

What drafts and built pages say of statements is in ``transcripts/statements_in_words.md``,
``drafted_statements.md``, ``bound_words.md`` and ``references.md``.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from command_line import call
from html_tree import classed, read_html, words
from made_projects import write_file, write_report
from test_report import drafted

from reportgen.figures.text import write_link_state

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree import ElementTree as ET

HEAD = "---\nbenchmark: {name: Small, source: runs, metric: accuracy}\n---\n\n# Small\n\n"
CURVE = "```curve\nid: scores\n```\n\n"
STATED = f"""{HEAD}{CURVE}## Peak [0.82]{{value="peak(MEL)"}}

See [Figure]{{ref="scores"}}, [the panels in Fig.]{{ref='rates'}} and [Table]{{ref="last"}}.
[MEL ends above]{{claim="final(MEL) > final(GRPO)"}};
see [here](#statement-1) and [there](#checked-statements).

```observations
```

## Error rates

```panels
id: rates
source: runs
metrics: [accuracy]
title: Rates
```

### Ends at last

```table
id: last
source: runs
title: Ends
```
"""


def test_facts_are_computed_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft with other words about the same facts reads no data."""
    page = f'{HEAD}{CURVE}MEL ends at [0.82]{{value="final(MEL)"}}.\n'
    report = drafted(write_report(tmp_path, {"content/index.md": page}))
    (statement,) = report.statements["index.md"]
    assert statement.state == write_link_state("scores", ["MEL"], mark=(10, "MEL"))
    monkeypatch.setattr(
        import_module("reportgen.read"),
        "read_measurements",
        lambda *_, **__: pytest.fail("the data were read again"),
    )
    write_file(tmp_path / "content/index.md", page.replace("0.82", "0.9"))
    (problem,) = drafted(tmp_path).problems
    assert "final(MEL) = 0.82" in problem.message


def test_pages_and_figures_of_one_metric_share_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None forgets what another one stored: nothing is judged again."""
    two = "```curve\nid: again\n```\n\n"
    bound = 'MEL ends at [0.82]{value="final(MEL)"} and GRPO at [0.72]{value="final(GRPO)" of="again"}.'
    other = f'{HEAD}{CURVE}MEL [wins]{{claim="final(MEL) > final(GRPO)"}}.'.replace(
        "name: Small", "name: Same"
    )
    write_report(tmp_path, {"content/index.md": HEAD + CURVE + two + bound, "content/other.md": other})
    before = drafted(tmp_path, "index.md", "other.md").statements
    assert [len(found) for found in before.values()] == [2, 1]
    monkeypatch.setattr(import_module("reportgen.claims.judge"), "judge", None)
    assert drafted(tmp_path, "index.md", "other.md").statements == before


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> ET.Element:
    """A built page with statements, observations, references and blocks of three kinds."""
    root = write_report(tmp_path_factory.mktemp("stated"), {"content/index.md": STATED})
    built = call(root, "build")
    assert (built.returncode, built.stderr) == (0, "")
    return read_html((root / "site/index.html").read_text("utf-8"))


def test_ids_differ_and_links_lead_to_them(page: ET.Element) -> None:
    """From statements to their rows and back, to states of figures, and from what an author wrote."""
    ids = [one.get("id") for one in page.iter() if one.get("id")]
    assert len(set(ids)) == len(ids)
    links = [href for a in page.iter("a") if (href := a.get("href", "")).startswith("#")]
    assert {link[1:] for link in links} <= set(ids)
    states = {one.get("id") for one in classed(page, "rg-anchor")}
    assert states == {link[1:] for link in links if "~" in link}
    assert len(states) > 4
    assert [words(one) for one in classed(page, "rg-bound")] == ["0.82", "MEL ends above"]


def test_titles_are_headings_beneath_their_section(page: ET.Element) -> None:
    """With the number that prose refers to, in the contents, too."""
    titles = [(one.tag, words(one)) for one in classed(page, "rg-title") if one.tag != "figcaption"]
    numbered = [(tag, text.replace("\N{NO-BREAK SPACE}", " ")) for tag, text in titles]
    assert [one for one in numbered if re.match(r"(Figure|Table) \d", one[1])] == [
        ("h2", "Figure 1. accuracy by step"),
        ("h3", "Figure 2. Rates"),
        ("h4", "Table 1. Ends"),
    ]
