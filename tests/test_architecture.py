"""The architecture, held: who may import whom, one place for each library, files at the edge."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reportgen.settings.blocks import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "reportgen"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
NAMES = {path.with_suffix("").as_posix() for path in MODULES}

# The rooms, lowest first. A room imports only what stands before it; inside a room there is no circle.
ROOMS = (
    *("core", "settings", "formats", "read", "statistics", "narrative", "claims", "figures"),
    *("draft", "notebook", "site", "review", "archive", "hub", "cli"),
)

TOP_LEVEL = """
    .ci .gitattributes .github .gitignore action benchmarks content data reportgen site_templates tests
    CHANGELOG.md CONTRIBUTING.md LICENSE README.md SECURITY.md Makefile mkdocs.yml pyproject.toml
    requirements.lock
"""
# The doors: modules that tests may import. All others change without a test; a new door is a decision.
DOORS = {
    "archive": "one_file",
    "claims": "judge observations.choosing subjects",
    "cli": "main",
    "core": "cache comparisons directions errors facts intact model statements words",
    "draft": "accepting gathering report",
    "figures": "author_charts curves.plotting live paths picture plot render style text",
    "formats": "cells registry runs sql",
    "hub": "updating",
    "narrative": "markup pages",
    "read": "queries.problem_scores queries.reduce sources",
    "review": "comment images model",
    "settings": "blocks hub inputs loading report source",
    "site": "checking fragments outputs publishing replacing.records reuse.manifest security starter",
    "statistics": "compare curves.bands curves.mean_curves permutation_tests power scores verdicts",
}
MOST_DOORS = 60

# Whom a room does know; every line is narrower than the order allows. A new arrow is a decision.
MAY_IMPORT = {
    "core": set(),  # and no "__init__" any more: __version__ stands in core/__init__.py
    "settings": {"core"},
    "formats": {"core", "settings"},
    "read": {"core", "formats", "settings"},
    "statistics": {"core", "settings"},
    "narrative": {"core", "settings"},
    "claims": {"core", "settings", "statistics"},
    "figures": {"core", "settings"},  # + narrative only if a type of it stays in figures/*/key_results.py
    "draft": {"claims", "core", "figures", "narrative", "read", "settings", "statistics"},
    "notebook": {"core", "draft", "figures", "read", "settings", "statistics"},
    "site": {"claims", "core", "draft", "figures", "narrative", "settings"},
    "review": {"core", "draft", "figures", "settings", "site", "statistics"},
    "archive": {"core", "draft", "review", "settings", "site"},
    "hub": {"archive", "core", "settings", "site"},
    "cli": {"archive", "claims", "core", "draft", "hub", "review", "settings", "site"},
    "__init__": {"core", "notebook"},
    "blocks": {"settings"},  # what packages with blocks of their own import
    "guard": {"core", "narrative"},  # an extension of Markdown, which other engines import by its name
    "math": {"core"},  # likewise
    "readers": {"formats"},  # what packages with readers of their own import
    "__main__": {"cli"},
}

# Each library of some weight, and the modules that may know it.
LIBRARIES = {
    "duckdb": r"formats/(sql|evaluations/lighteval|logs/neptune_export|tables/parquet)|read/.*",
    "narwhals": r"core/(model|comparisons)|formats/sql|read/.*"
    r"|notebook/(tables|lazy_tables|freezing|frozen_outcomes)",
    "pandas": r"read/measurements|draft/blocks/charts|figures/author_charts|notebook/.*",
    "altair": r"figures/.*|notebook/.*",
    "vl_convert": r"figures/render",
    "jsonschema": r"figures/author_charts",
    "mkdocs": r"archive/(archiving|contents)"
    r"|site/(assembly|citation|files|navigation|plugin|publishing|reuse/.*|security|serving)",
    "jinja2": r"hub/pages|site/(plugin|reuse/(pages|templates))",
    "markupsafe": r"site/(fragments|reuse/templates)",
    "latex2mathml": r"math",
    "markdown": r"guard|math|narrative/(markdown_extensions|raw_html|references)|site/files|settings/text",
    "pymdownx": r"narrative/markdown_extensions|site/fragments",
    "pydantic": r"settings/.*|core/cache|review/model|blocks",
    "pydantic_core": r"settings/.*|formats/json_files",
    "openpyxl": r"formats/tables/excel",
    "zstandard": r"formats/decode",
    "compression": r"formats/decode",
    "google_crc32c": r"formats/tfrecord",
    "pygments": r"narrative/markup",
    "yaml": r"settings/yaml_tree|narrative/pages",
    "click": r"cli/.*",
    "platformdirs": r"core/cache",
    "rich": r"cli/output",
    "packaging": r"settings/citation|archive/publishing/versions",
    "subprocess": r"figures/render|core/repository|archive/verifying",
    "multiprocessing": r"site/worker",
    "concurrent": r"site/worker",
}
LIGHT = {"msgspec", "numpy", "reportgen"}

# Only the edge writes; what reads, or opens what the caller closed, is listed one by one.
# (A frame's columns are renamed too.)
WRITING = {
    *("write_text", "write_bytes", "unlink", "mkdir", "rmdir", "rmtree", "touch", "move", "symlink_to")
}
MAY_WRITE = (
    r"archive/(packing|publishing/.*|unpacking|verifying)|core/(cache|repository)|hub/.*|site/.*|review/git"
)
READING = {*("read_text", "read_bytes", "iterdir", "glob", "rglob", "scandir", "stat", "walk", "listdir")}
MAY_READ = (
    r"__main__|archive/.*|core/(cache|intact|plugins|repository)|formats/.*|hub/.*|read/.*|review/(git|states)|site/.*|settings/text"
    r"|figures/(author_charts|text)"
)

# A problem of the user's is caught where it is told, and in a few places where another answer is known.
MAY_CATCH = {
    *("cli/output", "core/errors", "site/checking", "site/plugin", "site/serving", "settings/loading"),
    *(
        "settings/blocks",
        "read/tables/check",
        "review/states",
        "archive/publishing/feeds",
        "formats/registry",
    ),
}
# An author's function may raise anything, and so may a package with a reader or a block.
MAY_CATCH_ALL = {"figures/author_charts", "formats/registry", "settings/blocks"}

LONGEST_FUNCTION, LONGEST_MODULE, SMALLEST_MODULE, MOST_MODULES = 40, 450, 80, 15
# A module that has fewer lines and one importer belongs into that importer, but for entry points.
MAY_BE_SMALL: dict[str, str] = {
    "cli/review": "a command with imports of its own, as every file of its folder",
}

# CONTRIBUTING, "Words": what no identifier may hold. The same list as the glossary's third column.
BANNED = {
    *("told", "tell", "telling", "kept", "asked", "asking", "wanted", "alike", "unmet", "unmeasured"),
    *("lacking", "barred", "beside", "desk", "skeleton", "skeletons", "louder", "loudness", "settling"),
}


ATTIC = re.compile(r"(^|_)(utils?|helpers?|common|managers?|misc|tools?)($|_)")


@dataclass(frozen=True)
class Module:
    """One module: its name such as ``site/plugin``, its package, its syntax tree, and all nodes of that."""

    name: str
    package: str
    tree: ast.Module
    nodes: list[ast.AST]
    lines: int

    def imported(self) -> Iterator[str]:
        """The full name of every module imported, wherever in the file."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                assert node.level == 0, f"{self.name}: imports are absolute"
                if node.module == "reportgen":
                    yield from (f"reportgen.{alias.name}" for alias in node.names)
                else:
                    yield node.module

    def modules_imported(self) -> Iterator[str]:
        """Modules of ours that are imported, wherever in the file: ``site/plugin``."""
        for node in self.nodes:
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "reportgen":
                base = "/".join((node.module or "").split(".")[1:])
                for alias in node.names:
                    whole = f"{base}/{alias.name}".lstrip("/")
                    package = f"{base}/__init__".lstrip("/")
                    yield whole if whole in NAMES else base if base in NAMES else package

    def methods(self) -> Iterator[str]:
        """The name of every method called, and ``open``."""
        for node in self.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                yield node.func.attr
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "open":
                yield "open"

    def caught(self) -> Iterator[str]:
        """The names of every exception caught."""
        for node in self.nodes:
            if isinstance(node, ast.ExceptHandler):
                kinds = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
                yield from ("everything" if kind is None else ast.unparse(kind) for kind in kinds)


def module(path: Path) -> Module:
    """A module of the package."""
    text = (PACKAGE / path).read_text(encoding="utf-8")
    name = path.with_suffix("").as_posix()
    tree = ast.parse(text)
    return Module(name, name.partition("/")[0], tree, list(ast.walk(tree)), text.count("\n"))


@cache  # parsed by the test that needs it first: each process collects all tests
def read_modules() -> list[Module]:
    """Return all modules of the package."""
    return [module(path) for path in MODULES]


def test_imports_follow_the_table() -> None:
    """A stage knows its input and its output, never its neighbours."""
    known = {path.with_suffix("").as_posix().partition("/")[0] for path in MODULES}
    wrong = []
    for one in read_modules():
        for name in one.imported():
            room = name.split(".")[1] if name.startswith("reportgen.") else one.package
            if (room if room in known else "__init__") not in MAY_IMPORT[one.package] | {one.package}:
                wrong.append(f"{one.name} imports {name}")
    assert wrong == []


def test_rooms_import_only_what_stands_below() -> None:
    """The table itself keeps the order."""
    assert set(ROOMS) | {"__init__", "__main__", "blocks", "guard", "math", "readers"} == set(MAY_IMPORT)
    for room in ROOMS:
        assert all(ROOMS.index(other) < ROOMS.index(room) for other in MAY_IMPORT[room]), room


def test_no_module_reaches_itself() -> None:
    """Inside a room there is no circle either; imports for types and inside functions count."""
    arrows = {one.name: set(one.modules_imported()) - {one.name} for one in read_modules()}
    done: set[str] = set()

    def visit(name: str, way: tuple[str, ...]) -> None:
        assert name not in way, " -> ".join((*way[way.index(name) :], name))
        if name not in done:
            for other in sorted(arrows.get(name, ())):
                visit(other, (*way, name))
            done.add(name)

    for name in sorted(arrows):
        visit(name, ())


def test_what_is_named_for_later_import_exists() -> None:
    """A kind of block names its functions as ``module:function``; each is there, and public."""
    tops = {
        one.name.replace("/", "."): {
            name.id if isinstance(name, ast.Name) else getattr(name, "name", "")
            for node in one.tree.body
            for name in (node.targets if isinstance(node, ast.Assign) else [node])
        }
        for one in read_modules()
    }
    named = [
        match
        for one in read_modules()
        for node in one.nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if (match := re.fullmatch(r"reportgen\.([\w.]+):(\w+)", node.value))
    ]
    assert len(named) > len(KINDS)
    assert [match[0] for match in named if match[2] not in tops.get(match[1], ())] == []


def test_heavy_libraries_have_one_place() -> None:
    """Whoever replaces a library changes one place; the standard library and numpy are everybody's."""
    wrong = []
    for one in read_modules():
        for name in one.imported():
            library = name.split(".")[0]
            light = library in LIGHT or library in sys.stdlib_module_names
            if not (re.fullmatch(LIBRARIES[library], one.name) if library in LIBRARIES else light):
                wrong.append(f"{one.name} imports {library}")
    assert wrong == []


def test_every_rule_about_a_library_is_used() -> None:
    """A library that nobody imports any more has no rule."""
    used = {name.split(".")[0] for one in read_modules() for name in one.imported()}
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


def test_files_are_touched_at_the_edge() -> None:
    """Only the cache and the site write; data, pages and an author's function are read, nothing else."""
    wrong = []
    for one in read_modules():
        called = set(one.methods())
        writes = called & WRITING if not re.fullmatch(MAY_WRITE, one.name) else set()
        reads = called & (READING | {"open"}) if not re.fullmatch(MAY_READ, one.name) else set()
        wrong += [f"{one.name} calls {name}" for name in sorted(writes | reads)]
    assert wrong == []


def test_no_clock_and_no_chance() -> None:
    """The same input gives the same bytes: dates come from the repository, and there is no global chance."""
    clocks = re.compile(r"\b(datetime\.now|utcnow|date\.today|time\.time|localtime|gmtime)\b")
    chance = re.compile(r"\b(import random|np\.random|numpy\.random|uuid|secrets)\b")
    texts = {one.name: ast.unparse(one.tree) for one in read_modules()}
    assert [name for name, text in texts.items() if clocks.search(text) or chance.search(text)] == []
    assert [name for name, text in texts.items() if "perf_counter" in text] == ["cli/main"]


def test_problems_are_caught_at_the_edge() -> None:
    """Whoever swallows a problem in the middle hides it; collecting keeps it."""
    ours, any_kind = {"ReportError", "ReportProblemsError"}, {"everything", "Exception", "BaseException"}
    wrong = []
    for one in read_modules():
        refused = (ours if one.name not in MAY_CATCH else set()) | (
            any_kind if one.name not in MAY_CATCH_ALL else set()
        )
        wrong += [f"{one.name} catches {name}" for name in sorted(refused & set(one.caught()))]
    assert wrong == []


def test_functions_fit_a_screen() -> None:
    """Forty lines at most, the docstring apart."""
    long = []
    for one in read_modules():
        for node in one.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                words = ast.get_docstring(node, clean=False)
                length = (node.end_lineno or 0) - node.lineno + 1 - (words.count("\n") + 1 if words else 0)
                if length > LONGEST_FUNCTION:
                    long.append(f"{one.name}: {node.name} has {length} lines")
    assert long == []


def test_modules_hold_one_idea() -> None:
    """At most 450 lines, and a name that says what it is about."""
    assert [f"{one.name} has {one.lines} lines" for one in read_modules() if one.lines > LONGEST_MODULE] == []
    assert [
        one.name for one in read_modules() if any(ATTIC.search(part) for part in one.name.split("/"))
    ] == []
    modules = [one for one in read_modules() if not one.name.endswith("__init__")]
    assert [one.name for one in modules if not ast.get_docstring(one.tree)] == []


def test_a_small_module_has_several_importers() -> None:
    """What one module alone needs, and is short, stands in that module."""
    importers: defaultdict[str, set[str]] = defaultdict(set)
    for one in read_modules():
        for other in one.modules_imported():
            importers[other].add(one.name)
    small = {
        one.name
        for one in read_modules()
        if one.lines < SMALLEST_MODULE
        and len(importers[one.name]) == 1
        and not one.name.endswith(("__init__", "__main__"))
    }
    assert small <= set(MAY_BE_SMALL)


def test_a_folder_can_be_taken_in_at_a_glance() -> None:
    """At most fifteen modules, ``__init__`` apart."""
    folders = Counter(
        one.name.rpartition("/")[0] for one in read_modules() if not one.name.endswith("__init__")
    )
    assert {folder for folder, count in folders.items() if count > MOST_MODULES} == set()


def _identifiers(nodes: list[ast.AST]) -> list[str]:
    """Every name that a module gives to something."""
    names: list[str] = []
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.append(node.id if isinstance(node, ast.Name) else node.attr)
    return names


def test_identifiers_use_the_words_of_the_field() -> None:
    """The glossary of CONTRIBUTING says which word stands for what."""
    wrong = []
    for one in read_modules():
        for name in [*_identifiers(one.nodes), one.name.rpartition("/")[2]]:
            words = re.findall(r"[a-z]+", re.sub(r"([A-Z])", r"_\1", name).lower())
            if not BANNED.isdisjoint(words):
                wrong.append(f"{one.name}: {name}")
    assert wrong == []


def test_the_glossary_names_every_banned_word() -> None:
    """One list of words, in CONTRIBUTING and here."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert all(re.search(rf"\b{word}\b", text) for word in BANNED)


def test_values_have_no_logic() -> None:
    """The values that travel are frozen structs; only ``statements`` and ``comparisons`` have more.

    A property may decode what the cache holds encoded.
    """
    values = {"core/model", "settings/inputs"}
    for one in read_modules():
        for node in one.nodes if one.name in values else ():
            if isinstance(node, ast.ClassDef) and not any(
                ast.unparse(base) == "StrEnum" for base in node.bases
            ):
                assert "frozen=True" in map(ast.unparse, node.keywords), node.name
                functions = [part for part in node.body if isinstance(part, ast.FunctionDef)]
                decorators = [[ast.unparse(one) for one in part.decorator_list] for part in functions]
                assert all(names == ["property"] for names in decorators), node.name


def test_no_value_is_a_dataclass() -> None:
    """A struct is made in a hundredth of the time, which each of some 270 would add to every command."""
    assert [one.name for one in read_modules() if "dataclasses" in one.imported()] == []


def test_the_spine_is_a_screenful() -> None:
    """A newcomer reads ``report.draft`` and knows every stage."""
    (spine,) = [one for one in read_modules() if one.name == "draft/report"]
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


def test_nothing_strays_into_the_repository() -> None:
    """A note or a dump at the top level would be committed by ``git add --all``."""
    kept = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    assert {line.partition("/")[0] for line in kept.stdout.splitlines()} == set(TOP_LEVEL.split())


def test_tests_come_in_by_doors() -> None:
    """A module inside a room is free to change, as no test imports it."""
    imported: set[str] = set()
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                imported |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
            elif isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
    modules = {name.replace("/", ".") for name in NAMES if "/" in name and not name.endswith("__init__")}
    found = modules & {name.removeprefix("reportgen.") for name in imported}
    assert found == {f"{room}.{module}" for room, names in DOORS.items() for module in names.split()}
    assert len(found) <= MOST_DOORS


def test_every_test_says_in_a_sentence_what_it_holds() -> None:
    """One docstring a test, ending in a full stop."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
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
