"""The function of an ``altair`` block: run from the report's folder, its faults told at its own line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.figures.author_charts import run_chart_function

if TYPE_CHECKING:
    from pathlib import Path

FRAME = pd.DataFrame({"series": ["a", "b"], "score": [0.1, 0.2]})
PLACE = SourceLocation("content/page.md", 7)
GOOD = """
import altair as alt

def bars(frame):
    return alt.Chart(frame).mark_bar().encode(x="series:N", y="score:Q")
"""


def told(root: Path, code: str | bytes, function: str = "charts.py:bars") -> str:
    """What the author of this code is told."""
    write = code if isinstance(code, bytes) else code.encode()
    (root / "charts.py").write_bytes(write)
    with pytest.raises(ReportError) as error:
        run_chart_function(root, function, FRAME, PLACE)
    assert len(error.value.problems) == 1
    return str(error.value)


def test_a_function_gets_the_frame_and_gives_a_chart(tmp_path: Path) -> None:
    """The specification is Altair's, with the frame's rows."""
    (tmp_path / "charts.py").write_text(GOOD, encoding="utf-8")
    spec = run_chart_function(tmp_path, "charts.py:bars", FRAME, PLACE)
    assert spec["mark"] == {"type": "bar"}
    assert next(iter(spec["datasets"].values())) == FRAME.to_dict("records")


def test_a_function_may_stand_in_a_folder(tmp_path: Path) -> None:
    """The path is relative to ``mkdocs.yml``."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "charts.py").write_text(GOOD, encoding="utf-8")
    assert run_chart_function(tmp_path, "code/charts.py:bars", FRAME, PLACE)["mark"] == {"type": "bar"}


@pytest.mark.parametrize("file", ["missing.py", "../outside.py", "link.py"])
def test_a_file_that_is_not_in_the_report(tmp_path: Path, file: str) -> None:
    """Missing, above the report, or a link that leads out of it: none of them is run."""
    root = tmp_path / "report"
    root.mkdir()
    (tmp_path / "outside.py").write_text("raise SystemExit('was run')", encoding="utf-8")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    with pytest.raises(ReportError, match=f'content/page.md:7: there is no file "{file}" in the report'):
        run_chart_function(root, f"{file}:bars", FRAME, PLACE)


def test_a_function_that_is_not_there(tmp_path: Path) -> None:
    """The nearest name is offered."""
    assert told(tmp_path, GOOD, "charts.py:barz").endswith(
        'content/page.md:7: "charts.py" has no function "barz". Did you mean "bars"?'
    )
    assert '"charts.py" has no function "bars"' in told(tmp_path, "bars = 7")


def test_an_error_names_the_author_s_line(tmp_path: Path) -> None:
    """The deepest line of the author's own file, not of a library below it."""
    code = "def bars(frame):\n    inner(frame)\n\ndef inner(frame):\n    frame['none']\n"
    assert told(tmp_path, code) == "charts.py:5: KeyError: 'none'."


def test_an_error_on_import_names_its_line(tmp_path: Path) -> None:
    """The file is run from its top."""
    assert told(tmp_path, "import os\n1 / 0\n") == "charts.py:2: ZeroDivisionError: division by zero."


@pytest.mark.parametrize("code", ["def bars(frame:\n", "x = 1\n\ndef bars(frame)\n    return 1\n"])
def test_a_syntax_error_names_its_line(tmp_path: Path, code: str) -> None:
    """A file that is no Python is told as such."""
    line = min(3, code.count("\n"))
    assert told(tmp_path, code).startswith(f"charts.py:{line}: SyntaxError: ")


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    """Bytes that no encoding explains are the author's problem, not ours."""
    assert told(tmp_path, b"x = '\xff'\n").startswith("charts.py:")


@pytest.mark.parametrize("call", ["raise SystemExit(3)", "raise KeyboardInterrupt", "import sys; sys.exit()"])
def test_a_function_that_wants_to_leave(tmp_path: Path, call: str) -> None:
    """``sys.exit`` in a chart ends no build without a word; Ctrl-C does."""
    (tmp_path / "charts.py").write_text(f"def bars(frame):\n    {call}\n", encoding="utf-8")
    wanted: type[BaseException] = KeyboardInterrupt if "Keyboard" in call else ReportError
    with pytest.raises(wanted):
        run_chart_function(tmp_path, "charts.py:bars", FRAME, PLACE)


@pytest.mark.parametrize(
    ("value", "name"),
    [("None", "NoneType"), ("42", "int"), ("{'mark': 'bar'}", "dict"), ("frame", "DataFrame")],
)
def test_what_is_no_chart_is_told(tmp_path: Path, value: str, name: str) -> None:
    """A frame has ``to_dict`` as well, and is no chart."""
    code = f"def bars(frame):\n    return {value}\n"
    assert told(tmp_path, code) == (
        f'content/page.md:7: "charts.py:bars" returned {name}, not an Altair chart.'
    )


def test_a_chart_that_altair_refuses(tmp_path: Path) -> None:
    """Altair checks a chart only when it is written out; that is the author's fault too."""
    code = GOOD.replace('x="series:N"', 'x="none"')
    assert told(tmp_path, code).startswith("content/page.md:7: ")


def test_what_the_function_does_to_its_frame_stays_there(tmp_path: Path) -> None:
    """Another block gets the source's rows, not what this one left of them."""
    frame = FRAME.copy()
    code = GOOD.replace("    return", "    frame['score'] = 0\n    return")
    (tmp_path / "charts.py").write_text(code, encoding="utf-8")
    run_chart_function(tmp_path, "charts.py:bars", frame, PLACE)
    assert frame.equals(FRAME)


def test_two_files_of_one_name_are_two(tmp_path: Path) -> None:
    """A file in another folder is not taken for the first."""
    for folder, mark in (("a", "bar"), ("b", "point")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "charts.py").write_text(GOOD.replace("bar()", f"{mark}()"), encoding="utf-8")
    marks = [
        run_chart_function(tmp_path, f"{f}/charts.py:bars", FRAME, PLACE)["mark"]["type"]
        for f in ("a", "b", "a")
    ]
    assert marks == ["bar", "point", "bar"]


def test_an_edit_is_seen_at_once(tmp_path: Path) -> None:
    """Two versions of the same size within a second are two; nothing is cached beside the file."""
    marks = []
    for mark in ("bar", "arc"):
        (tmp_path / "charts.py").write_text(GOOD.replace("bar()", f"{mark}()"), encoding="utf-8")
        marks.append(run_chart_function(tmp_path, "charts.py:bars", FRAME, PLACE)["mark"]["type"])
    assert marks == ["bar", "arc"]
    assert [path.name for path in tmp_path.iterdir()] == ["charts.py"]


def test_a_frame_of_many_rows_is_no_problem(tmp_path: Path) -> None:
    """Altair would refuse more than 5000 rows, for notebooks' sake."""
    (tmp_path / "charts.py").write_text(GOOD, encoding="utf-8")
    many = pd.DataFrame({"series": ["a"] * 6000, "score": range(6000)})
    spec = run_chart_function(tmp_path, "charts.py:bars", many, PLACE)
    assert len(next(iter(spec["datasets"].values()))) == 6000


def test_an_author_s_dataclass_works(tmp_path: Path) -> None:
    """Python looks for the module of a dataclass by its name."""
    head = "from __future__ import annotations\n\nimport dataclasses\n"
    head += "\n@dataclasses.dataclass\nclass Row:\n    x: int\n"
    (tmp_path / "charts.py").write_text(head + GOOD, encoding="utf-8")
    assert run_chart_function(tmp_path, "charts.py:bars", FRAME, PLACE)["mark"] == {"type": "bar"}
