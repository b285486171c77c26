"""The guide is complete: every key, block, command and option is in it, and what it shows is true."""

from __future__ import annotations

import inspect
import json
import os
import re
import shutil
from collections import Counter
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click
import command_line
import nbformat
import pytest
import yaml
from case_pages import read_pages
from command_line import call
from made_projects import write_file, write_report
from nbclient import NotebookClient
from pydantic import BaseModel
from test_messages import LIST as MESSAGES
from test_messages import SETTINGS, list_types, list_words

from reportgen.core.directions import EITHER_WAY, HIGHER, LOWER, NEITHER, PARTS
from reportgen.core.errors import ReportError
from reportgen.core.facts import FACTS
from reportgen.formats.registry import list_readers
from reportgen.narrative.pages import read_page
from reportgen.settings.blocks import KINDS
from reportgen.settings.source import SourceSettings
from reportgen.site.checking import RULES

CONTENT = Path(__file__).parents[1] / "content"
PAGES = {
    path.relative_to(CONTENT / "guide").with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted((CONTENT / "guide").rglob("*.md"))
}
TOOLS = [name for name in PAGES if name.startswith("tools/") and name != "tools/index"]
DATA = CONTENT.parent / "data"
SKILL = CONTENT.parent / "reportgen/site/skill/SKILL.md"
SMALL = 60_000
GUIDE = "\n".join(page for name, page in PAGES.items() if name != "messages")

SHOWN = re.compile(r"^`{5}markdown\n(.*?)^`{5}$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(rf"^ *```(?:{'|'.join(KINDS)})\n.*?^ *```$", re.MULTILINE | re.DOTALL)


# ---- tables that the code says --------------------------------------------------------------------------

# <!-- keys CurveSettings --> or <!-- keys SourceSettings files format -->, a table, and <!-- end -->
_TABLE = re.compile(
    r"^(<!-- (keys|options|list|commands|rules) (.+?) -->\n)(.*?)^(<!-- end -->)$", re.MULTILINE | re.DOTALL
)
_CODE = (
    r"(?<!\w)[\w:]*\{+[^{}]*\}+[^\s,;]*|\[[^\[\]]+\]"
    r"|[^\s()]*[*@^$_<>=~|/][^\s;,()]*|\(\?P\S+\)|(?<!\w)![\w*]+"
)


def find_models() -> dict[str, type[BaseModel]]:
    """Every model of settings by its name, and those that they extend."""
    found = {model for root in SETTINGS for model in list_types(root, BaseModel)}
    bases = {base for model in found for base in model.__mro__ if issubclass(base, BaseModel)}
    return {model.__name__: model for model in bases if list_own_keys(model)}


def list_own_keys(model: type[BaseModel]) -> list[str]:
    """The keys that a model states itself."""
    own = inspect.get_annotations(model)
    return [key for key in getattr(model, "model_fields", {}) if key in own]


def list_choices(annotation: object) -> set[str]:
    """The words that a key takes."""
    if get_origin(annotation) is Literal:
        return {word for word in get_args(annotation) if isinstance(word, str)}
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return {*annotation}
    return {word for part in get_args(annotation) for word in list_choices(part)}


def mark_code(text: str, words: set[str]) -> str:
    """Put what users type into backticks: patterns, formulas and paths, and each of these words once."""
    choices = [rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in sorted(words, key=len, reverse=True)]
    marked: set[str] = set()

    def mark(found: re.Match[str]) -> str:
        code = found[0] if found[0].endswith("...") else found[0].rstrip(".,:")
        if code in words & marked:
            return found[0]
        marked.add(code)
        return f"`{code}`{found[0][len(code) :]}"

    return re.sub("|".join((_CODE, *choices)), mark, text.removesuffix(".")).replace("|", "\\|")


def write_default(value: object) -> str:
    """The value of a key that is left out, as it is written in YAML."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(write_default, value))}]" if value else ""
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def make_keys(named: str) -> str:
    """The table of a model's own keys, or of some of them."""
    name, *chosen = named.split()
    model, rows = find_models()[name], [("key", "default", "what it says"), ("---", "---", "---")]
    for key in chosen or list_own_keys(model):
        field = model.model_fields[key]
        given = None if field.is_required() or field.default_factory else field.default
        default = "required" if field.is_required() else f"`{write_default(given)}`".replace("``", "")
        words = list_choices(field.annotation) | (list_words() if key == "columns" else set())
        marked = mark_code(field.description or "", words)
        unsaid = sorted(word for word in list_choices(field.annotation) if f"`{word}`" not in marked)
        listed = f": {', '.join(f'`{word}`' for word in unsaid)}" if unsaid else ""
        rows.append((f"`{key}`", default, marked + listed))
    if not any(default for _, default, _ in rows[2:]):
        rows = [(key, "", words) for key, _, words in rows]
    return "\n".join(f"| {' | '.join(filter(None, row) if not rows[0][1] else row)} |" for row in rows)


def make_options(named: str) -> str:
    """The table of a command's options, but for those that all commands have."""
    rows = ["| option | what it does |", "| --- | --- |"]
    for option in list_commands()[named].params:
        choices = option.type.choices if isinstance(option.type, click.Choice) else ()
        is_own = not {"--config-file", "--cache-dir"} & {*option.opts} and choices != ("text", "json")
        if isinstance(option, click.Option) and is_own:
            listed = f": {', '.join(f'`{word}`' for word in choices)}" if choices else ""
            words = ", ".join(f"`{word}`" for word in option.opts[::-1])
            value = f" {option.metavar}" if option.metavar else ""
            rows.append(f"| {words}{value} | {mark_code(option.help or '', set())}{listed} |")
    return "\n".join(rows) if len(rows) > len(("head", "rule")) else "It has no options of its own."


def make_commands(names: str) -> str:
    """The table of commands, with what ``--help`` says of each and the options of its own."""
    rows = ["| command | what it does | options |", "| --- | --- | --- |"]
    for name in names.split():
        command = list_commands()[name]
        given = [one for one in command.params if not {"--config-file", "--cache-dir"} & {*one.opts}]
        words = " ".join(
            one.make_metavar(click.Context(command)) for one in given if isinstance(one, click.Argument)
        )
        options = (f"`{one.opts[-1]}`" for one in given if isinstance(one, click.Option))
        about = command.get_short_help_str(200).removesuffix(".")
        rows.append(f"| `{name} {words}`".rstrip(" `") + f"` | {about} | {' '.join(options)} |")
    return "\n".join(rows)


def make_rules(_: str) -> str:
    """The table of the ids that ``check`` reports problems by."""
    rows = (f"| `{name}` | {title}. {words} |" for name, (title, words) in RULES.items())
    return "\n".join(["| id | what it means |", "| --- | --- |", *rows])


def clean_template(template: str) -> str:
    """A sentence of a message without its expressions, as text that is no Markdown."""
    text = re.sub(r"\{\{([^{}]*)\}\}", "\x01\\1\x02", template)
    text = re.sub(r"\{(?:[^{}]|\{[^{}]*\})*\}", "…", text).translate({1: "{", 2: "}"})
    text = re.sub(r"[`*_\[\]<>|{}$~^#\\]", lambda found: f"&#{ord(found[0])};", " ".join(text.split()))
    return text if re.search(r"\w{3}", text) else ""


def make_messages(_: str) -> str:
    """Every message by its id, in italics with its next steps, folded by the first letter."""
    folds: dict[str, list[str]] = {}
    for name, sentences in json.loads(MESSAGES.read_text("utf-8")).items():
        lines = folds.setdefault(name[0].upper(), [])
        for message, steps in sentences.items():
            advice = "; or: ".join(filter(None, map(clean_template, steps)))
            lines.append(f"    - `{name}`: {clean_template(message)}.{f' *{advice}.*' if advice else ''}")
    return "\n\n".join(f'??? note "{letter}"\n\n' + "\n".join(lines) for letter, lines in folds.items())


def fill_tables(page: str) -> str:
    """A page with its tables as the code says them."""
    make = {"keys": make_keys, "options": make_options, "list": make_messages}
    make |= {"commands": make_commands, "rules": make_rules}
    return _TABLE.sub(lambda found: f"{found[1]}\n{make[found[2]](found[3])}\n\n{found[5]}", page)


def test_tables_are_those_of_the_code(request: pytest.FixtureRequest) -> None:
    """Keys by the descriptions of their models, options by their help: ``make guide`` writes them."""
    texts = {CONTENT / f"guide/{name}.md": page for name, page in PAGES.items()}
    texts[SKILL] = SKILL.read_text("utf-8")
    if request.config.getoption("--accept"):
        for path, page in texts.items():
            path.write_text(fill_tables(page), encoding="utf-8")
        return
    stale = [path.name for path, page in texts.items() if fill_tables(page) != page]
    assert stale == [], "If the change is right: make guide"


def test_every_key_has_one_row() -> None:
    """In the table of the model that states it."""
    marks = [
        found[3].split() for page in PAGES.values() for found in _TABLE.finditer(page) if found[2] == "keys"
    ]
    models = find_models()
    rows = Counter((name, key) for name, *chosen in marks for key in chosen or list_own_keys(models[name]))
    assert rows == Counter((name, key) for name, model in models.items() for key in list_own_keys(model))


# ---- length and addresses -------------------------------------------------------------------------------

FIRST = ("index", "write", "data", "reading-figures", "share")
_FENCE_OF_CODE = re.compile(r"^ *(`{3,})[^\n]*\n.*?^ *\1`*$", re.MULTILINE | re.DOTALL)
_FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
# Sections that are on another page now, by the page that still has their addresses.
MOVED = {
    "commands": "reportgen-review reportgen-archive reportgen-verify reportgen-cite reportgen-publish "
    "reportgen-hub",
    "source-yml": "names settings-next-to-tables names-out-of-paths sourceyml",
    "curve": "what-x-is derived-metrics several-metrics-in-one-plot filter-group-and-colour-by-settings "
    "names-by-patterns small-multiples differences-from-a-baseline percent which-way-is-better "
    "the-whole-curve-and-the-best-step in-lists-notes-and-tabs",
    "data": "find reader-or-table roles names settings-next-to-tables names-out-of-paths rows "
    "rows-of-one-step sourceyml",
    "reading-figures": "the-band values-with-a-range from-rows-to-a-curve best-values smoothing "
    "handling-a-live-figure citing-and-copying",
    "formulas": "scores passk-and-its-relatives problems-like-these several-runs-of-a-method "
    "problems-in-clusters these-problems average-of-benchmarks pairs paired-difference "
    "all-pairs-of-a-block false-discovery-rate power pairs-of-methods-with-runs sources-of-noise",
    "index": "write-a-page bring-your-data build-and-review publish-on-github-pages",
    "recipes": "add-data",
    "review": "pictures-in-the-comment gitlab if-there-is-no-comment why-a-fork-cannot-misuse-the-comment",
    "security": "untrusted data-from-others what-each-command-does-with-input-from-elsewhere",
    "settings": "reportgen-init reportgen-add reportgen-describe reportgen-freeze reportgen-build "
    "reportgen-serve reportgen-check reportgen-fix reportgen-facts reportgen-observations reportgen-plan "
    "reportgen-review reportgen-comment reportgen-pictures reportgen-archive reportgen-verify "
    "reportgen-cite reportgen-publish reportgen-hub reportgen-schema",
}


def count_words(page: str) -> int:
    """The words of a page without its code; the signs of a table are none."""
    text = _FENCE_OF_CODE.sub("", _FRONT_MATTER.sub("", page))
    return sum(bool(re.search(r"\w", word)) for word in text.split())


def test_the_guide_is_short() -> None:
    """Five pages carry a newcomer, the others are for looking up."""
    words = {name: count_words(page) for name, page in PAGES.items() if name != "messages"}
    assert sum(words[name] for name in FIRST) <= 6_000
    assert {name: count for name, count in words.items() if count > 900} == {}
    assert sum(words.values()) <= 30_000


def test_addresses_of_sections_that_moved_lead_to_them() -> None:
    """The old address is that of a link to the new one."""
    missing = [
        f"{page}.md#{section}"
        for page, sections in MOVED.items()
        for section in sections.split()
        if f"{{#{section}}}" not in PAGES[page]
    ]
    assert missing == []


def test_every_key_choice_fact_and_attribute_is_in_the_guide() -> None:
    """What users may write is explained: bands, columns of a table and rules are choices of keys."""
    models = {model for root in SETTINGS for model in list_types(root, BaseModel)}
    keys = {f"{model.__name__}.{key}" for model in models for key in model.model_fields}
    assert {key for key in keys if f"`{key.partition('.')[2]}`" not in GUIDE} == set()
    choices = list_words()
    assert len(choices) > 20
    assert {choice for choice in choices if f"`{choice}`" not in GUIDE} == set()
    statements = PAGES["statements"]
    assert [fact for fact in FACTS.values() if f"`{fact.signature}`" not in statements] == []
    with pytest.raises(ReportError, match="The attributes are ") as refused:
        read_page("a.md", '[1]{value="n()" nothing="x"}', "a.md")
    attributes = re.findall(r"(\w+)=", str(refused.value).partition("The attributes are ")[2])
    assert len(attributes) > 4
    assert [name for name in attributes if f"| `{name}` |" not in statements] == []


@pytest.mark.parametrize("kind", KINDS)
def test_every_block_has_a_page_that_shows_and_draws_it(kind: str) -> None:
    """A block's page holds its source in a fence and the block itself."""
    page = PAGES[kind]
    assert f"```{kind}\n" in "".join(SHOWN.findall(page))
    assert f"```{kind}\n" in SHOWN.sub("", page)


def test_what_is_shown_is_what_is_drawn() -> None:
    """Every block that the guide shows as source stands on the same page, word for word."""
    for name, page in PAGES.items():
        drawn = SHOWN.sub("", page)
        for shown in SHOWN.findall(page):
            for block in BLOCK.findall(shown):
                assert block in drawn, f"{name}.md shows a block that it does not draw:\n{block}"


@pytest.mark.parametrize("name", TOOLS)
def test_the_page_of_a_tool_draws_a_small_folder_of_it(name: str) -> None:
    """It is listed, synthetic and small, and the page shows its tree and settings, key for key."""
    page, example = PAGES[name], f"{name.removeprefix('tools/')}-example"
    assert f"source: {example}\n" in SHOWN.sub("", page)
    assert "synthetic" in page
    assert SourceSettings.model_validate(settings_of(example)).approximate
    files = [path for path in (DATA / example).rglob("*") if path.is_file() and path.suffix != ".py"]
    assert 0 < sum(path.stat().st_size for path in files) <= SMALL
    (tree,) = re.findall(rf"^```text\ndata/{example}/\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    places = {part for path in files for part in path.relative_to(DATA / example).parts}
    named = {part for word in re.findall(r"^ +(\S+)", tree, re.MULTILINE) for part in word.split("/")}
    assert named - {"", "…"} <= places
    told = settings_of(example)
    for text in re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        shown = yaml.safe_load(text)
        assert {key: told.get(key) for key in shown} == shown
    assert f"({name.removeprefix('tools/')}.md)" in PAGES["tools/index"]


def settings_of(source: str) -> dict[str, object]:
    """What the source.yml of an example says."""
    settings: dict[str, object] = yaml.safe_load((DATA / source / "source.yml").read_text(encoding="utf-8"))
    return settings


def test_every_name_that_tells_which_way_is_better_is_in_the_guide() -> None:
    """The lists of the guide are those that count, word for word."""
    section = PAGES["directions"]
    rows = {
        way: re.findall(r"`([^`]+)`", text)
        for way, text in re.findall(r"^\| (\w+) \| (.*) \|$", section, re.MULTILINE)
    }
    told = {way: tuple(rows[way]) for way in ("lower", "higher", "neither")}
    assert told == {"lower": LOWER, "higher": HIGHER, "neither": NEITHER}
    parts_of_training = " ".join(section.split()).partition("words before `loss`:")[2].partition(".")[0]
    assert re.findall(r"`([^`]+)`", parts_of_training) == sorted(PARTS)
    either_way = " ".join(section.split()).partition("after one of these words:")[2].partition(".")[0]
    assert re.findall(r"`([^`]+)`", either_way) == sorted(EITHER_WAY)


def test_the_statements_shown_are_those_that_are_checked() -> None:
    """A sentence shown as source stands on the page, too, where the build holds it against the data."""
    page = PAGES["statements"]
    shown = re.findall(r"^```markdown\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    drawn = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    undecided = [source for source in shown if source not in drawn]
    assert len(shown) - len(undecided) >= 4
    assert all("better(" in source for source in undecided)


def test_the_documents_shown_are_those_of_the_example() -> None:
    """A binding that the page shows stands in the model card or the paper, which builds check."""
    shown = re.findall(r"^```(?:markdown|tex)\n(.*?)^```$", PAGES["documents"], re.MULTILINE | re.DOTALL)
    written = [path.read_text("utf-8") for path in (CONTENT / "documents").iterdir()]
    assert len(shown) == 3
    assert all(any(one in text for text in written) for one in shown)


def test_the_altair_page_shows_the_function_it_calls() -> None:
    """The code on the page is the code that draws the chart."""
    code = (CONTENT / "charts.py").read_text(encoding="utf-8").split("\n", 1)[1]
    assert f"```python\n{code}```" in PAGES["altair"]


def list_commands() -> dict[str, click.Command]:
    """Every command by its name."""
    from reportgen.cli.main import cli  # noqa: PLC0415 - heavy, and only these tests need it

    return dict(cli.commands)


def test_every_command_and_option_is_in_the_guide() -> None:
    """Each command has a section, and its options a table in it; options of all commands stand above them."""
    head, *sections = PAGES["commands"].split("\n## reportgen ")
    sections += PAGES["commands-publish"].split("\n## reportgen ")[1:]
    found = {section.partition("\n")[0]: section for section in sections}
    assert {*found} == {*list_commands()}
    for name, command in list_commands().items():
        words = {word for one in command.params if isinstance(one, click.Option) for word in one.opts}
        assert {word for word in words if f"`{word}`" not in found[name] + head} == set(), name
    assert "`-V`" in head


@pytest.mark.slow
def test_the_notebook_page_runs_in_a_kernel() -> None:
    """Every example of the notebook page runs in a real kernel without ipywidgets, and its chart is shown."""
    examples = re.findall(r"^```python\n(.*?)^```$", PAGES["notebook"], re.MULTILINE | re.DOTALL)
    # An import of it fails then, also where a developer has it.
    without_widgets = "import sys; sys.modules['ipywidgets'] = None"
    sources = (without_widgets, *examples, "frame", "chart")
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    written = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": cells}
    notebook = nbformat.reads(json.dumps(written), as_version=4)  # type: ignore[no-untyped-call]  # no types here
    folder = {"metadata": {"path": str(CONTENT.parent)}}
    NotebookClient(notebook, timeout=100, kernel_name="python3", resources=folder).execute()
    *before, frame, chart = [[output.get("data") for output in cell.outputs] for cell in notebook.cells]
    assert not any(before)
    assert "estimate" in frame[0]["text/html"]
    assert "vega-lite" in chart[0]["text/html"]


RECIPE_CASES = sorted((Path(__file__).parent / "cases").glob("recipe-*"))


def test_recipes_are_those_of_the_cases() -> None:
    """What a recipe says to write is what a case has that is built, word for word."""
    written = [
        path.read_text("utf-8")
        for case in RECIPE_CASES
        for path in case.rglob("*")
        if path.suffix in {".md", ".yml", ".yaml"} and "expected" not in path.parts
    ]
    pages = PAGES["recipes"] + PAGES["data-recipes"]
    shown = re.findall(r"^(`{3,4})(?:yaml|markdown)\n(.*?)^\1$", pages, re.MULTILINE | re.DOTALL)
    assert len(shown) > len(RECIPE_CASES) - 3
    for _, text in shown:
        assert any(text in one for one in written), text


# ---- CONTRIBUTING ---------------------------------------------------------------------------------------

CONTRIBUTING = " ".join((CONTENT.parent / "CONTRIBUTING.md").read_text("utf-8").split())


def find_file(name: str) -> Path | None:
    """A file or folder that the page names from the root or from the package."""
    places = (CONTENT.parent / name, CONTENT.parent / "reportgen" / name)
    return next((place for place in places if place.exists()), None)


def test_recipes_for_developers_name_what_is_there() -> None:
    """Files, what is said to be in one, and the targets of make; and the page is short."""
    recipes = CONTRIBUTING.partition("## Recipes ")[2].partition(" ## ")[0]
    files = {*re.findall(r"`([a-z][\w./-]+(?:/|\.py|\.md|\.yml|\.toml))`", recipes)}
    assert len(files) > 20
    assert {name for name in files if find_file(name) is None} == set()
    pairs = re.findall(r"`([A-Za-z_]+)` (?:of|in) `([\w/]+\.py)`", recipes)
    assert len(pairs) >= 5
    assert [
        pair for pair in pairs if pair[0] not in (find_file(pair[1]) or Path(os.devnull)).read_text("utf-8")
    ] == []
    makefile = (CONTENT.parent / "Makefile").read_text("utf-8")
    assert {
        name for name in re.findall(r"`make ([a-z-]+)", CONTRIBUTING) if f"\n{name}:" not in makefile
    } == set()
    assert len(CONTRIBUTING.split()) <= 1_500


# ---- messages -------------------------------------------------------------------------------------------

ACCIDENTS = {
    case.name: case.expected
    for case in read_pages(Path(__file__).parent / "transcripts")
    if case.page.stem == "what_goes_wrong"
}
_GUESS = re.compile(r"^> (series were distinguished .*\n(?:> .*\n)*)", re.MULTILINE)


def test_quoted_guesses_are_what_users_read() -> None:
    """Where source.yml does not say what series and seeds are called by."""
    pages = [text for name, text in PAGES.items() if name.startswith("tools/")]
    guesses = [" ".join(one.replace("\n> ", " ").split()) for text in pages for one in _GUESS.findall(text)]
    assert len(guesses) >= 2
    assert [guess for guess in guesses if guess not in ACCIDENTS["guesses"]] == []


def test_the_line_that_a_warning_names_confirms_what_was_guessed(tmp_path: Path) -> None:
    """As the recipe for seeds in file names says; with it written, nothing is left to warn of."""
    folder = tmp_path / "report"
    shutil.copytree(RECIPE_CASES[0].parent / "recipe-seeds-in-file-names", folder)
    (line,) = re.findall(r"Confirm it with (\w+: \w+) in source\.yml", call(folder, "check").stdout)
    (folder / "data/runs/source.yml").write_text(f"{line}\n", "utf-8")
    assert "warning: " not in call(folder, "check").stdout


# ---- the pages about data -------------------------------------------------------------------------------

ABOUT_DATA = ("data", "source-yml", "source-names", "formats", "answers", "finished-runs", "several-sources")
_LISTS = PAGES["answers"].partition("## Lists of answers\n")[2].partition("\n## ")[0]
SHAPES = re.findall(r"^\| [^|]+ \| `([\[{].*[\]}])` \|$", _LISTS, re.MULTILINE)
MAPPED = re.findall(
    r"`(\{[^`\n]+\})`[^`]*?\n\n```yaml\n(format: mapped\n.*?)^```$",
    PAGES["formats"],
    re.MULTILINE | re.DOTALL,
)
# A table, what is said of it, and the lines that answer; and all that is said.
_BETWEEN = r"(?:(?![#>]|```).*\n)*"
_FENCE = r"```%s\n((?:(?!```).*\n)+)```\n"
_SAID = r"((?:> .*\n)+|)"
DECIDED = [
    found
    for name in ABOUT_DATA
    for found in re.findall(
        "^" + _FENCE % "csv" + _BETWEEN + _SAID + _BETWEEN + _FENCE % "yaml", PAGES[name], re.MULTILINE
    )
]
SAID = re.findall(r"^(?:> .*\n)+", PAGES["data"], re.MULTILINE)


def join_quote(quote: str) -> str:
    """A message as it is printed, on one line."""
    return " ".join(quote.replace("> ", "").split())


def describe(root: Path, files: dict[str, str]) -> dict[str, Any]:
    """What is said of a source with files, which is nothing wrong."""
    for name, text in files.items():
        write_file(root / "s" / name, text)
    described = command_line.describe(root, "s")
    assert described["problems"] == []
    return described


def test_lists_of_answers_are_read_as_they_are_shown(tmp_path: Path) -> None:
    """Two problems of each shape; methods are series, and not samples of one."""
    assert len(SHAPES) == 2
    for number, shown in enumerate(SHAPES):
        value = json.loads(shown)
        first = next(iter(value))
        rows = value if isinstance(value, list) else [value, {**value, first: f"{value[first]}2"}]
        assert describe(tmp_path / str(number), {"a.json": json.dumps(rows)})["kind"] == "outcomes"
    rows = [{"method": name, "problem": "p1", "correct": [name == "SFT", True]} for name in ("SFT", "PPO")]
    described = describe(tmp_path / "methods", {"a.jsonl": "\n".join(map(json.dumps, rows))})
    assert described["series"] == ["SFT", "PPO"]


def test_a_pattern_reads_the_line_that_is_shown(tmp_path: Path) -> None:
    """Both stand one below the other, and the pattern leaves out what it says."""
    _, _, section = PAGES["formats"].partition("## Text logs by a pattern\n")
    line, settings = re.findall(r"^```(?:text|yaml)\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)[:2]
    described = describe(tmp_path, {"train.log": line, "source.yml": settings})
    metrics = {one["name"]: one["low"] for one in described["metrics"]}
    assert metrics == {"val_loss": 4.61, "step_avg": 145.6}


def test_the_latex_that_is_shown_is_read(tmp_path: Path) -> None:
    """In a folder its format names it, and a readme there is no table."""
    (table,) = re.findall(r"^```latex\n(.*?)^```$", PAGES["formats"], re.MULTILINE | re.DOTALL)
    described = describe(tmp_path, {"a.tex": table, "README.md": "Text\n", "source.yml": "format: latex"})
    assert [(one["series"], one["benchmark"], one["value"]) for one in described["totals"]] == [
        ("Elm", "AIME", 51.2),
        ("Elm", "MATH", 76.8),
    ]


@pytest.mark.parametrize(
    ("log", "metrics"),
    [
        ("1 of 2\nstep:0/51 loss:4.5 t:0ms a:nanms\nstep:1/51 loss:4 t:9ms a:9.5ms\n", ["loss", "t", "a"]),
        ("2026-01-16 07:32 iter 10: loss 2.5, mfu 12.5%, eta 01:20\n", ["loss", "mfu", "eta"]),
        ('gpt2 "epoch"=3 step = 30 loss = -1e-3 [x]\n', ["epoch", "loss"]),
    ],
)
def test_the_pattern_that_is_suggested_reads_the_log(log: str, metrics: list[str], tmp_path: Path) -> None:
    """The error of an unknown log has the two lines to write."""
    write_file(tmp_path / "s.log", log)
    (problem,) = command_line.describe(tmp_path, "s.log")["problems"]
    form, pattern = re.findall(r'(format: lines) and (lines: ".*") in s.source.yml', problem["next"])[0]
    write_file(tmp_path / "s.source.yml", f"{form}\n{pattern}\n")
    described = command_line.describe(tmp_path, "s.log")
    assert (described["problems"], [one["name"] for one in described["metrics"]]) == ([], metrics)


def test_what_is_mapped_is_read(tmp_path: Path) -> None:
    """By the lines that stand below it; those of ``$[*]`` are of a list."""
    assert len(MAPPED) == 2
    for number, (shown, settings) in enumerate(MAPPED):
        value = json.loads(shown)
        text = json.dumps([value] if "rows: $[*]" in settings else value)
        described = describe(tmp_path / str(number), {"any.json": text, "source.yml": settings})
        assert described["kind"] == ("totals" if "totals" in settings else "outcomes")
        if described["kind"] == "totals":
            (one,) = (one for one in described["totals"] if one["benchmark"] == "Sums")
            assert (one["series"], one["value"], one["stderr"]) == ("Elm", 0.6, 0.02)


def test_the_table_of_the_page_about_data_is_described_as_shown(tmp_path: Path) -> None:
    """Word for word; and the totals are those of the example."""
    table, printed = re.findall(
        r"^```csv\n(.*?)^```$.*?^````text\n\$ reportgen describe data/runs.csv\n(.*?)^````$",
        PAGES["data"],
        re.MULTILINE | re.DOTALL,
    )[0]
    write_report(tmp_path, {"data/runs.csv": table})
    assert call(tmp_path, "describe", "data/runs.csv").stdout == printed
    first, *others = (DATA / "reported-scores/scores.csv").read_text("utf-8").splitlines()
    (totals,) = re.findall(
        r"^```text\n(model,benchmark,.*?)^```$", PAGES["answers"], re.MULTILINE | re.DOTALL
    )
    assert totals.splitlines()[0] == first
    assert set(totals.splitlines()[1:]) <= set(others)


def test_formats_of_tools_are_listed_in_the_order_that_counts() -> None:
    """Of runs in two formats, those that stand first are read; a pattern is written, never found."""
    readers = sorted(list_readers(), key=lambda reader: (reader.weak, reader.rank))
    read = [reader.name for reader in readers if reader.name != "lines"]
    assert re.findall(r"\| `(\w+)` \|$", PAGES["tools/index"], re.MULTILINE) == ["format", *read]


@pytest.mark.parametrize(("table", "message", "lines"), DECIDED)
def test_lines_of_the_guide_answer_what_is_said_of_a_table(
    table: str, message: str, lines: str, tmp_path: Path
) -> None:
    """A table, what is said of it if the page shows it, and what to write; then nothing is left to say."""
    place, name = (*re.findall(r"^> (data/(\w+)[.]csv)", message), ("data/table.csv", "table"))[0]
    write_report(tmp_path, {place: table})
    assert join_quote(message) in call(tmp_path, "describe", place).stdout
    write_file(tmp_path / f"data/{name}.source.yml", lines)
    assert "Found on the way" not in call(tmp_path, "describe", place).stdout


def test_other_messages_of_the_page_about_data_are_what_is_printed(tmp_path: Path) -> None:
    """Of two formats in a folder, of a pointer, and of folders whose names do not show the series."""
    files = {
        "data/both/trainer_state.json": '{"log_history": [{"step": 1, "loss": 2.0}]}',
        "data/both/log.jsonl": '{"step": 1, "data": {"loss": 2.5}}\n',
        "data/runs.csv": f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 123456\n",
    }
    for number, (name, seed) in enumerate([("grpo", 1), ("grpo", 2), ("ppo", 1), ("ppo", 2)]):
        folder = f"data/lengths/{name}-{seed}"
        files[f"{folder}/log.csv"] = f"step,loss\n0,{2 + number / 8}\n100,{1 + number / 16}\n"
        files[f"{folder}/config.json"] = json.dumps({"algo": name, "seed": seed, "lr": 0.001})
    write_report(tmp_path, files)
    decided = {message for _, message, _ in DECIDED}
    shown = [join_quote(message) for message in SAID if message not in decided]
    assert len(shown) == 3
    printed = "".join(
        call(tmp_path, "describe", f"data/{name}").stdout for name in ("both", "runs.csv", "lengths")
    )
    assert [one for one in shown if one not in printed] == []
    write_file(tmp_path / "data/lengths/source.yml", "series_from: algo\n")
    assert "Found on the way" not in call(tmp_path, "describe", "data/lengths").stdout
