"""Reports beside plugins and hooks that rewrite pages or compose them of the text of others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result
from made_projects import PAGE, write_report
from tries import slow_after

from reportgen.cli.main import cli

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = "site_name: Small\ndocs_dir: content\ntheme: {theme}\nplugins: [{plugins}]\nhooks: [{hooks}]\n"
TEXT = PAGE + 'It ends at [0.72]{value="final(GRPO)"}.\n'


def build(root: Path, files: dict[str, str], plugins: str = "reportgen", theme: str = "reportgen") -> Result:
    """Build a report with these files, strictly."""
    hooks = "hook.py" if "hook.py" in files else ""
    said = SETTINGS.format(theme=theme, plugins=plugins, hooks=hooks)
    root = write_report(root, {"mkdocs.yml": said, **files})
    return CliRunner().invoke(cli, ["build", "--strict", "--config-file", str(root / "mkdocs.yml")])


@pytest.mark.parametrize("takes_end", slow_after(1, [True, False]))
def test_marks_survive_a_plugin_that_takes_quotes(tmp_path: Path, *, takes_end: bool) -> None:
    """As a minifier does, before figures and statements are inserted; some take optional end tags, too."""
    end = '.replace("</body>", "").replace("</html>", "")' if takes_end else ""
    hook = f"""import re
def on_post_page(output, **_):
    return re.sub(r'="([\\w:./-]+)"', r"=\\1", output){end}
"""
    done = build(tmp_path, {"hook.py": hook, "content/index.md": TEXT})
    assert done.exit_code == 0, done.output
    html = (tmp_path / "site/index.html").read_text("utf-8")
    assert "<html lang=en" in html
    places = ['class="rg-badge"', '<figure class="rg-figure', 'class="rg-bound rg-holds"', 'id="checked-1"']
    assert [html.count(one) for one in places] == [1, 1, 1, 1]
    assert html.count('<script type="application/json" class="rg-view"') == 1


def test_a_plugin_that_takes_marks_out_is_blamed(tmp_path: Path) -> None:
    """Not an extension of Markdown, which has read the block."""
    hook = """import re
def on_post_page(output, **_):
    return re.sub("(?s)<div class=.rg-block.*?</div>", "", output)
"""
    done = build(tmp_path, {"hook.py": hook, "content/index.md": PAGE})
    assert done.exit_code == 1
    assert "this curve block is not shown: another plugin or the template took its mark out" in done.output


def test_a_block_that_a_plugin_puts_into_a_page_is_an_error(tmp_path: Path) -> None:
    """With the page, not a traceback."""
    hook = """def on_page_markdown(markdown, **_):
    return markdown + "\\n```curve\\nsource: runs\\n```\\n"
"""
    done = build(tmp_path, {"hook.py": hook, "content/index.md": PAGE})
    assert isinstance(done.exception, SystemExit)
    assert "content/index.md: error: a plugin or an extension put a curve block into this page" in done.output


@pytest.mark.slow
@pytest.mark.parametrize("plugins", ["reportgen, material/blog", "material/blog, reportgen"])
def test_lists_of_posts_say_what_their_figures_show(tmp_path: Path, plugins: str) -> None:
    """A list of Material's blog repeats beginnings of posts: words of blocks, and values as plain words."""
    post = f"---\ndate: 2026-11-20\n---\n{TEXT}"
    files = {
        "content/index.md": "# Home\n",
        "content/blog/index.md": "# Blog\n",
        "content/blog/posts/one.md": post + "\n<!-- more -->\n\nMore.\n",
        "content/blog/posts/two.md": post.replace("Small", "Two") + "\n<!-- more -->\n\nMore.\n",
    }
    done = build(tmp_path, files, f"search, {plugins}", "material")
    assert done.exit_code == 0, done.output
    listed = (tmp_path / "site/blog/index.html").read_text("utf-8")
    assert listed.count("<p>") >= 2
    assert listed.count("At the end (step 10)") == 2
    assert "<figure" not in listed
    assert "rg-checked" not in listed
    (page,) = (tmp_path / "site/blog").glob("*/*/*/small/index.html")
    assert page.read_text("utf-8").count('<figure class="rg-figure') == 1
