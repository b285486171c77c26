"""Variables in pages, and pages that ``for:`` makes of one file: what is replaced, and lines of mistakes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import SETTINGS, write_report

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.narrative.templates import expand_page, list_variables, replace_variables

if TYPE_CHECKING:
    from pathlib import Path

HERE = SourceLocation("a.md", 10)
RUNS = "series,step,loss\n" + "".join(f"A,{n},{1 / (n + 1)}\n" for n in range(5))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by {{ team }}.", "by Lab."),
        ("{{team}} {{  team  }}", "Lab Lab"),
        ("see {{ links.code }}", "see https://x.org"),
        (r"\{{ team }}", "{{ team }}"),
        ("`{{ team }}` and ``a ` {{ team }}``", "`{{ team }}` and ``a ` {{ team }}``"),
        ("${{ secrets.X }}", "${{ secrets.X }}"),
        ("```yaml\n{{ no }}\n```\n{{ team }}", "```yaml\n{{ no }}\n```\nLab"),
        ("```curve\nsource: {{ team }}\n```\n{{ team }}", "```curve\nsource: Lab\n```\nLab"),
        ("````md\n```curve\n{{ no }}\n```\n````\n{{ team }}", "````md\n```curve\n{{ no }}\n```\n````\nLab"),
        ("~~~\n{{ no }}\n```\n~~~\n{{ team }}", "~~~\n{{ no }}\n```\n~~~\nLab"),
        ("$x^{{2}}_{{i}} \\hat{{y}}$ {{7*7}} v{{team}}", "$x^{{2}}_{{i}} \\hat{{y}}$ {{7*7}} vLab"),
    ],
)
def test_names_are_replaced_outside_of_code(text: str, expected: str) -> None:
    """In prose and in our blocks; other code, and what is escaped or meant for GitHub, stays."""
    assert replace_variables(text, {"team": "Lab", "links.code": "https://x.org"}, HERE) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\n{{ tean }}", 'a.md:11:1: there is no variable "tean". Did you mean "team"? There are "team".'),
        ("{{ team|upper }}", '"team|upper" is no name of a variable, and nothing is computed'),
        ("{{ team() }}", "is no name of a variable"),
        ("{{ __import__('os') }}", "is no name of a variable"),
    ],
)
def test_what_is_no_variable_has_its_line(text: str, said: str) -> None:
    """With the nearest name; nothing is ever run. Another plugin may know it."""
    with pytest.raises(ReportError) as error:
        replace_variables(text, {"team": "Lab"}, HERE)
    assert said in str(error.value.problems[0])
    assert replace_variables(text, {"team": "Lab"}, HERE, others=True) == text


def test_values_of_one_line_are_variables() -> None:
    """Mappings have dotted names, and items of lists a number; longer texts are no variables."""
    value = {"a": 1, "b": {"c": True, "d": "x\ny"}, "e": [1, "two"], "f": None, "g": [{"h": [3]}, "x\ny"]}
    flat = {"a": "1", "b.c": "true", "e[0]": "1", "e[1]": "two", "e": "1, two"}
    assert list_variables(value) == flat | {"g[0].h[0]": "3", "g[0].h": "3"}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("{{ authors[0] }}", "Ada"),
        ("{{ authors }}", "Ada, Bo"),
        ("{{ team.lead }}", "Cy"),
        ("{{ labs[1].name }}", "South"),
        ("{{ own[1] }} {{ own }}", "0.60 x, 0.60"),
    ],
)
def test_nested_values_have_a_path(tmp_path: Path, written: str, shown: str) -> None:
    """Of extra: in mkdocs.yml and of the front matter, in the page as MkDocs shows it."""
    extra = "extra:\n  authors: [Ada, Bo]\n  team: {lead: Cy}\n  labs: [{name: North}, {name: South}]\n"
    page = f"---\nown: [x, 0.60]\n---\n# Small\n\nBy: {written}.\n"
    root = write_report(tmp_path, {"content/index.md": page, "mkdocs.yml": SETTINGS + extra})
    assert call(root, "build").returncode == 0
    assert f"By: {shown}." in (root / "site/index.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "team",
            '"team" has several values, and only values of one line are replaced. Write one of them, as in',
        ),
        ("labs", "Write one of them, as in {{ labs[0].name }}"),
        (
            "authors[2]",
            'no variable "authors[2]". Did you mean "authors[1]"? There are "authors[0]", "authors[1]"',
        ),
        ("authors[n]", '"authors[n]" is no name of a variable, and nothing is computed'),
    ],
)
def test_what_a_tree_does_not_have_is_said(written: str, said: str) -> None:
    """With what to write."""
    known = list_variables({"team": {"lead": "Cy"}, "authors": ["Ada", "Bo"], "labs": [{"name": "North"}]})
    with pytest.raises(ReportError) as error:
        replace_variables(f"{{{{ {written} }}}}", known, HERE)
    assert said in str(error.value.problems[0])


def test_the_page_goes_before_the_report_and_numbers_stay_as_written() -> None:
    """0.60 is not 0.6."""
    (page,) = expand_page(
        "a.md", "---\nlevel: 0.60\nteam: Own\n---\n{{ level }} {{ team }}\n", "a.md", {"team": "Lab"}
    )
    assert page.text.endswith("0.60 Own\n")


def test_for_makes_a_page_of_each_combination() -> None:
    """Beside the file, named after the values; the text has its lines."""
    text = "---\nfor: {size: [7B, 70B], data: [A b]}\n---\n\n# {{ data }} {{ size }}\n"
    pages = expand_page("guide/scores.md", text, "content/guide/scores.md", {})
    assert [page.path for page in pages] == ["guide/scores-7b-a-b.md", "guide/scores-70b-a-b.md"]
    assert [page.text.split("\n")[4] for page in pages] == ["# A b 7B", "# A b 70B"]
    assert {page.template for page in pages} == {"guide/scores.md"}


def test_pages_are_named_in_letters_that_every_address_has(tmp_path: Path) -> None:
    """``ß`` is ``ss``; of names in other scripts alone, an error says what the first values need."""
    template = '---\nfor: {{test: [{}]}}\ntitle: "{{{{ test }}}}"\n---\n# T\n'
    root = write_report(tmp_path, {"content/t.md": template.format("Größe, Élan")})
    assert call(root, "build").returncode == 0
    assert {path.name for path in (root / "site").glob("t-*")} == {"t-grosse", "t-elan"}
    (root / "content/t.md").write_text(template.format("数学, 物理"), "utf-8")
    assert "differ in a digit or a letter from a to z" in call(root, "check").stdout


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("for: [A, B]", "for must give each name a list of values"),
        ("for: {x: []}", "for must give each name a list of values"),
        ("for: {x: one}", "for must give each name a list of values"),
        ("for: {x: [a, A]}", "for makes two pages p-a.md"),
        ("for: {x: [" + ", ".join(map(str, range(501))) + "]}", "for makes more than 500 pages"),
    ],
)
def test_mistakes_in_for(written: str, said: str) -> None:
    """At its line."""
    with pytest.raises(ReportError) as error:
        expand_page("p.md", f"---\ntitle: t\n{written}\n---\n{{{{ x }}}}\n", "p.md", {})
    (problem,) = error.value.problems
    assert (said in problem.message, problem.location.line) == (True, 3)


@pytest.mark.parametrize(
    ("metric", "line", "said"),
    [
        ("los", 5, '"los" is not a metric'),
        ("loss", 10, 'There is no series "B"'),
        ("{{ m }}", 7, 'variable "m"'),
    ],
)
def test_mistakes_in_a_made_page_have_the_line_of_the_file(
    tmp_path: Path, metric: str, line: int, said: str
) -> None:
    """Of a block, of a statement and of a variable, however many pages are made of it."""
    page = "---\nfor: {s: [A, B]}\n---\n\n```curve\nsource: runs\n"
    page += f'metric: {metric}\n```\n\n[0.2]{{value="final({{{{ s }}}})"}}\n'
    files = {"data/runs.csv": RUNS, "content/p.md": page, "content/index.md": "# Home\n"}
    report = write_report(tmp_path / "r", files)
    problems = json.loads(call(report, "check", "--format", "json").stdout)["problems"]
    assert {(one["file"], one["line"]) for one in problems} == {("content/p.md", line)}
    assert any(said in one["message"] for one in problems)


def test_a_build_follows_a_changed_variable_and_template(tmp_path: Path) -> None:
    """Also where the last build is known and pages are reused."""
    settings = "site_name: t\ndocs_dir: content\nextra: {team: Lab}\nplugins: [reportgen]\n"
    files = {
        "mkdocs.yml": settings,
        "data/runs.csv": RUNS,
        "content/index.md": "# Of {{ team }}\n",
        "content/p.md": "---\nfor: {s: [A, B]}\n---\n# Page {{ s }} of {{ team }}\n",
    }
    report = write_report(tmp_path / "r", files)
    assert call(report, "build").returncode == 0
    (report / "mkdocs.yml").write_text(settings.replace("Lab", "Group"))
    assert call(report, "build").returncode == 0
    assert "Of Group" in (report / "site/index.html").read_text()
    assert "Page B of Group" in (report / "site/p-b/index.html").read_text()
    (report / "content/p.md").write_text("---\nfor: {s: [B, C]}\n---\n# Sheet {{ s }}\n")
    assert call(report, "build").returncode == 0
    assert "Sheet B" in (report / "site/p-b/index.html").read_text()
    assert (report / "site/p-c").is_dir()
    assert not (report / "site/p-a").exists()
    assert not (report / "site/p").exists()


def test_fix_leaves_pages_with_variables_alone(tmp_path: Path) -> None:
    """Their text is not that of the file; what does not hold is listed."""
    page = "---\nx: 1\n---\n{{ x }}\n\n```curve\nid: l\nsource: runs\nmetric: loss\n```\n\n"
    page += '[0.9]{value="final(A)" of="l"}\n'
    report = write_report(tmp_path / "r", {"data/runs.csv": RUNS, "content/index.md": page})
    before = (report / "content/index.md").read_bytes()
    done = call(report, "fix", "--write")
    assert "content/index.md:12" in done.stdout + done.stderr
    assert (report / "content/index.md").read_bytes() == before
