"""The architecture, held: who may import whom, one place for each library, files at the edge."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "reportgen"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))

# Who may import whom, by package or by module of the top level. Stages (read, statistics, figures,
# narrative) share model, errors, settings and words, and never know each other.
MAY_IMPORT = {
    "errors": set(),
    "naming": set(),
    "directions": set(),
    "settings": {"errors", "naming"},
    "repository": set(),
    "cache": {"__init__", "repository"},
    "statements": {"errors"},
    "model": {"cache", "errors", "settings", "statements"},
    "outcomes": {"model"},
    "description": {"errors"},
    "moments": set(),
    "words": {"model"},
    "read": {
        "cache",
        "description",
        "directions",
        "errors",
        "model",
        "naming",
        "outcomes",
        "repository",
        "settings",
        "words",
    },
    "statistics": {"errors", "model", "outcomes", "settings"},
    "facts": {"model", "moments", "outcomes", "statements", "statistics", "words"},
    "expressions": {"facts", "moments", "naming", "statements", "words"},
    "judging": {"expressions", "facts", "moments", "statements", "words"},
    "observations": {"facts", "model", "outcomes", "settings", "statements", "statistics", "words"},
    "narrative": {"directions", "errors", "model", "naming", "settings", "statements", "words"},
    "figures": {
        *("directions", "errors", "model", "moments", "naming", "outcomes", "settings", "statements"),
        "words",
    },
    "drafting": {
        *("cache", "description", "errors", "expressions", "facts", "figures", "judging", "model", "naming"),
        *("narrative", "observations", "outcomes", "read", "repository", "settings", "statements"),
        *("statistics", "words"),
    },
    "report": {"cache", "drafting", "errors", "model"},
    "site": {
        *("__init__", "cache", "description", "drafting", "errors", "facts", "figures", "model"),
        *("narrative", "report", "repository", "settings", "statements", "words"),
    },
    "notebook": {
        *("drafting", "errors", "figures", "model", "naming", "outcomes", "read", "settings", "statistics"),
    },
    "commands": {"cache", "description", "drafting", "errors", "facts", "site", "statements", "words"},
    "cli": {"__init__", "commands", "settings", "site"},
    "__init__": {"notebook"},
    "__main__": {"cli"},
}

# Each library of some weight, and the modules that may know it.
LIBRARIES = {
    "duckdb": r"read/.*|statistics/reduce.*",
    "narwhals": r"model|outcomes|read/.*|statistics/(reduce.*|repeats|reproducible)",
    "pandas": r"read/frames|drafting/author|figures/author_code|notebook/.*",
    "altair": r"figures/.*|notebook/.*",
    "vl_convert": r"figures/render|site/vega_bundle",
    "jsonschema": r"figures/custom",
    "mkdocs": r"site/.*",
    "jinja2": r"site/(fragments|plugin)",
    "markupsafe": r"site/fragments",
    "markdown": r"narrative/(raw_html|spans|superfences|watch)|site/snippets",
    "pymdownx": r"narrative/watch|site/fences",
    "pydantic": r"settings/.*|drafting/kept",
    "pydantic_core": r"settings/.*|read/loggers/json_objects",
    "zstandard": r"read/zstd",
    "compression": r"read/zstd",
    "pygments": r"narrative/fences",
    "yaml": r"settings/parsing|narrative/generated",
    "click": r"cli|commands/.*",
    "platformdirs": r"cache",
    "rich": r"commands/.*",
    "subprocess": r"figures/drawing|site/provenance",
    "multiprocessing": r"site/beside",
    "concurrent": r"site/beside",
}
LIGHT = {"numpy", "reportgen"}

# Only the edge writes; what reads, or opens what the caller closed, is listed one by one.
# (A frame's columns are renamed too.)
WRITING = {
    *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "rmtree", "touch", "move", "symlink_to")
}
MAY_WRITE = r"cache|site/.*"
READING = {*("read_text", "read_bytes", "iterdir", "glob", "rglob", "scandir", "stat", "walk", "listdir")}
MAY_READ = r"__main__|cache|read/.*|site/.*|settings/text|figures/author_code"

# A problem of the user's is caught where it is told, and in three places where another answer is known.
MAY_CATCH = {
    *("commands/telling", "site/checking/checking", "site/plugin", "settings/loading"),
    "read/tabular/faults",
}
# An author's function may raise anything.
MAY_CATCH_ALL = {"figures/author_code"}

LONGEST_FUNCTION, LONGEST_MODULE = 40, 450
# Values without logic: one list of them is easier to read than five.
LONG_MODULES = {"model", "outcomes"}
ATTIC = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc|tools?)($|_)")


@dataclass(frozen=True)
class Module:
    """One module: its name such as ``site/plugin``, its package, and its syntax tree."""

    name: str
    package: str
    tree: ast.Module
    lines: int

    def imported(self) -> Iterator[str]:
        """The full name of every module imported, wherever in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                assert node.level == 0, f"{self.name}: imports are absolute"
                if node.module == "reportgen":
                    yield from (f"reportgen.{alias.name}" for alias in node.names)
                else:
                    yield node.module

    def methods(self) -> Iterator[str]:
        """The name of every method called, and ``open``."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield node.func.attr
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                yield "open"

    def caught(self) -> Iterator[str]:
        """The names of every exception caught."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ExceptHandler):
                kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                yield from ("everything" if kind is None else ast.unparse(kind) for kind in kinds)


def module(path: Path) -> Module:
    """A module of the package."""
    text = (PACKAGE / path).read_text(encoding="utf-8")
    name = path.with_suffix("").as_posix()
    return Module(name, name.partition("/")[0], ast.parse(text), text.count("\n"))


ALL = [module(path) for path in MODULES]
each_module = pytest.mark.parametrize("one", ALL, ids=[one.name for one in ALL])


@each_module
def test_imports_follow_the_table(one: Module) -> None:
    """A stage knows its input and its output, never its neighbours."""
    known = {path.with_suffix("").as_posix().partition("/")[0] for path in MODULES}
    for name in one.imported():
        if name.split(".")[0] == "reportgen":
            part = name.split(".")[1]
            other = part if part in known else "__init__"
            assert other in MAY_IMPORT[one.package] | {one.package}, f"{one.name} imports {name}"


def test_the_table_names_every_package() -> None:
    """A new package has to say whom it knows."""
    assert set(MAY_IMPORT) == {one.package for one in ALL}


def test_stages_do_not_know_each_other() -> None:
    """The table itself keeps the rule, and has no circle."""
    stages = {"read", "statistics", "narrative", "figures"}
    assert all(MAY_IMPORT[stage].isdisjoint(stages) for stage in stages)
    order = list(MAY_IMPORT)
    low = set(order[: order.index("commands")]) - {"cache", "site"}
    for name in low:
        assert all(order.index(other) < order.index(name) for other in MAY_IMPORT[name] - {"__init__"})


@each_module
def test_heavy_libraries_have_one_place(one: Module) -> None:
    """Whoever replaces a library changes one place; the standard library and numpy are everybody's."""
    for name in one.imported():
        library = name.split(".")[0]
        if library in LIBRARIES:
            assert re.fullmatch(LIBRARIES[library], one.name), f"{one.name} imports {library}"
        else:
            assert library in LIGHT or library in sys.stdlib_module_names, f"{one.name} imports {library}"


def test_every_rule_about_a_library_is_used() -> None:
    """A library that nobody imports any more has no rule."""
    used = {name.split(".")[0] for one in ALL for name in one.imported()}
    assert set(LIBRARIES) <= used


def test_every_library_is_declared() -> None:
    """What is imported is a dependency of the package."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    names = {re.split(r"[^A-Za-z0-9_-]", line)[0].replace("-", "_") for line in declared}
    distributions = {"yaml": "pyyaml", "vl_convert": "vl_convert_python", "pymdownx": "pymdown_extensions"}
    # Altair itself needs jsonschema, and pydantic its core.
    needed = {distributions.get(name, name) for name in LIBRARIES if name not in sys.stdlib_module_names}
    # From 3.14 on the standard library has compression; before, zstandard is needed.
    assert needed - {"jsonschema", "pydantic_core", "compression"} <= names


@each_module
def test_files_are_touched_at_the_edge(one: Module) -> None:
    """Only the cache and the site write; data, pages and an author's function are read, nothing else."""
    called = set(one.methods())
    if not re.fullmatch(MAY_WRITE, one.name):
        assert called.isdisjoint(WRITING), one.name
    if not re.fullmatch(MAY_READ, one.name):
        assert called.isdisjoint(READING | {"open"}), one.name


@each_module
def test_no_clock_and_no_chance(one: Module) -> None:
    """The same input gives the same bytes: dates come from the repository, and there is no global chance."""
    text = ast.unparse(one.tree)
    assert not re.search(r"\b(datetime\.now|utcnow|date\.today|time\.time|localtime|gmtime)\b", text)
    assert not re.search(r"\b(import random|np\.random|numpy\.random|uuid|secrets)\b", text)
    if "perf_counter" in text:
        assert one.name == "cli"


@each_module
def test_problems_are_caught_at_the_edge(one: Module) -> None:
    """Whoever swallows a problem in the middle hides it; collecting keeps it."""
    caught = set(one.caught())
    if one.name not in MAY_CATCH:
        assert caught.isdisjoint({"ReportError", "ReportProblemsError"}), one.name
    if one.name not in MAY_CATCH_ALL:
        assert caught.isdisjoint({"everything", "Exception", "BaseException"}), one.name


@each_module
def test_functions_fit_a_screen(one: Module) -> None:
    """Forty lines at most, the docstring apart."""
    for node in ast.walk(one.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            words = ast.get_docstring(node, clean=False)
            length = (node.end_lineno or 0) - node.lineno + 1 - (words.count("\n") + 1 if words else 0)
            assert length <= LONGEST_FUNCTION, f"{one.name}: {node.name} has {length} lines"


@each_module
def test_modules_hold_one_idea(one: Module) -> None:
    """At most 450 lines, and a name that says what it is about."""
    assert one.lines <= LONGEST_MODULE or one.name in LONG_MODULES, f"{one.name} has {one.lines} lines"
    assert not any(ATTIC.search(part) for part in one.name.split("/"))
    assert one.name.endswith("__init__") or ast.get_docstring(one.tree)


def test_long_modules_are_long() -> None:
    """An exception that is no longer needed goes."""
    assert {one.name for one in ALL if one.lines > LONGEST_MODULE} == LONG_MODULES


def test_values_have_no_logic() -> None:
    """The model is frozen dataclasses and nothing else."""
    (model,) = [one for one in ALL if one.name == "model"]
    classes = [node for node in ast.walk(model.tree) if isinstance(node, ast.ClassDef)]
    assert classes
    for node in classes:
        assert "dataclass(frozen=True, slots=True)" in [ast.unparse(d) for d in node.decorator_list], (
            node.name
        )
        assert not any(isinstance(part, ast.FunctionDef) for part in node.body), node.name


def test_the_spine_is_a_screenful() -> None:
    """A newcomer reads ``report.draft`` and knows every stage."""
    (spine,) = [one for one in ALL if one.name == "report"]
    functions = [node for node in spine.tree.body if isinstance(node, ast.FunctionDef)]
    assert [function.name for function in functions] == ["draft"]
    assert not any(isinstance(node, ast.If | ast.For | ast.While) for node in ast.walk(functions[0]))


def test_every_package_is_shipped() -> None:
    """A folder that is not listed would be missing from a wheel, though not from a checkout."""
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"][
        "packages"
    ]
    folders = {("reportgen", *path.parent.parts) for path in MODULES}
    assert {".".join(folder) for folder in folders} | {"reportgen.site_templates"} == set(listed)


def test_every_test_says_in_a_sentence_what_it_holds() -> None:
    """One docstring a test, ending in a full stop."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                words = ast.get_docstring(node) or ""
                assert words.endswith((".", "?")), f"{path.name}: {node.name}"


def test_no_test_is_skipped() -> None:
    """A missing browser or library is a failure that says what is missing."""
    skipping = re.compile(r"pytest\.(skip|importorskip)\(|mark\.(skip|skipif|xfail)\b")
    for path in sorted((ROOT / "tests").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        assert not skipping.search(text) or path.name == Path(__file__).name, path.name


def test_no_path_of_a_machine_stands_in_a_file() -> None:
    """What works here has to work anywhere."""
    machine = re.compile(r"/(?:work|home|root|Users)/[A-Za-z]")
    for folder in ("reportgen", "site_templates", "tests", "benchmarks", "content"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".py", ".md", ".yml", ".html", ".css", ".js", ".toml"}:
                text = path.read_text(encoding="utf-8")
                assert not machine.search(text), path
