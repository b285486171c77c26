"""Figures and tables have numbers on their page, stand in its contents, and prose refers to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from command_line import call
from made_projects import write_report

if TYPE_CHECKING:
    from pathlib import Path

PAGE = """# Small

See [Figure]{ref="first"}, [the panels in Fig.]{ref='rates'}, [Table]{ref="last"} and
[Figure]{ref="more/other.md#far"}, but not `[Figure]{ref="nowhere"}`.

```curve
id: first
source: runs
title: Accuracy
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
FAR = "```curve\nid: far\nsource: runs\ntitle: Far\n```\n"
OTHER = '# Other\n\nBack to [Table]{ref="../index.md#last"}.\n\n' + FAR


def test_prose_refers_to_figures_and_tables_by_number(tmp_path: Path) -> None:
    """Links name the number; titles are headings beneath their section and stand in the contents."""
    root = write_report(tmp_path, {"content/index.md": PAGE, "content/more/other.md": OTHER})
    built = call(root, "build")
    assert built.returncode == 0, built.stderr
    html = (root / "site" / "index.html").read_text("utf-8").replace("\N{NO-BREAK SPACE}", " ")
    links = re.findall(r'<a class="rg-reference" href="([^"]+)">([^<]+)</a>', html)
    assert links == [
        ("#first", "Figure 1"),
        ("#rates", "the panels in Fig. 2"),
        ("#last", "Table 1"),
        ("more/other/#far", "Figure 1"),
    ]
    assert '<code>[Figure]{ref="nowhere"}</code>' in html
    title = r'<(h\d) class="rg-title" id="(\w+)-\w+" dir="auto"><span[^>]*>([^<]+)</span> ([^<]+)<'
    heads = re.findall(title, html)
    assert heads == [
        ("h2", "first", "Figure 1.", "Accuracy"),
        ("h3", "rates", "Figure 2.", "Rates"),
        ("h4", "last", "Table 1.", "Ends"),
    ]
    contents = html[html.index('class="rg-toc rg-toc-aside"') :].partition("</nav>")[0]
    assert re.findall(r'href="(#[\w-]+)">([^<]+)<', contents) == [
        ("#first", "Figure 1. Accuracy"),
        ("#error-rates", "Error rates"),
        ("#rates", "Figure 2. Rates"),
        ("#ends-at-last", "Ends at last"),
        ("#last", "Table 1. Ends"),
    ]
    other = (root / "site" / "more" / "other" / "index.html").read_text("utf-8")
    assert re.search(r'href="../../#last">Table\s1</a>', other)


def test_a_reference_to_nothing_is_an_error_next_to_a_wrong_fence(tmp_path: Path) -> None:
    """Unless the wrong fence may have the id."""
    page = PAGE.replace('ref="first"', 'ref="frist"').replace("```panels", "```panel")
    page += '\nAnd [Figure]{ref="broken-one"}.\n\n```curve\ntitle: Broken one\nsource: [\n```\n'
    checked = call(write_report(tmp_path, {"content/index.md": page}), "check")
    said = " ".join((checked.stdout + checked.stderr).split())
    assert 'content/index.md:3: error: there is no figure or table "frist" on this page' in said
    assert 'Did you mean "first"?' in said
    assert said.count("there is no figure or table") == 1
    assert "3 problems; statement" in said


def test_a_reference_to_nothing_is_an_error(tmp_path: Path) -> None:
    """With its line, the nearest id, and the ids there are."""
    page = PAGE.replace('ref="first"', 'ref="frist"').replace("more/other.md", "more.md")
    root = write_report(tmp_path, {"content/index.md": page})
    checked = call(root, "check")
    said = " ".join((checked.stdout + checked.stderr).split())
    assert 'content/index.md:3: error: there is no figure or table "frist" on this page' in said
    assert 'Did you mean "first"? The ids there are "first", "rates", "last"' in said
    assert 'content/index.md:4: error: there is no page "more.md"' in said
