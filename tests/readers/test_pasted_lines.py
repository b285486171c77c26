"""The line of ``source.yml`` that an error about rows names works: written there, the error is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from case_pages import Case, name_case, read_pages
from described_sources import describe_sources

_LINE = re.compile(r"Set (columns: \{.*?\})(?: and (repeat: \w+))? in ")
_PAGES = ("repeated_steps", "repeats", "settings_of_files", "totals", "run_columns")
CASES = [
    case
    for case in read_pages(Path(__file__).parent)
    if case.page.stem in _PAGES and _LINE.search(case.expected)
]
_FORMAT = re.compile(r"[Ss]ay (format: .*?) in (\S*source\.yml)")
_KEYS = re.compile(r"(?:, | and )(?=(?:lines|form|wide|rows|columns|fields|metrics|filter): )")
FORMATS = [
    case
    for case in read_pages(Path(__file__).parent)
    if case.page.stem in {"lines", "mapped", "faults", "printed_tables", "step_json"}
    and _FORMAT.search(case.expected)
]


@pytest.mark.parametrize("case", FORMATS, ids=name_case)
def test_the_keys_that_read_a_refused_file_work_when_they_are_pasted(case: Case, tmp_path: Path) -> None:
    """A log by its patterns, and JSON by its paths."""
    case.write_files(tmp_path / "data")
    for block in describe_sources(tmp_path).split("\n\n"):
        name, found = block.partition(":")[0], _FORMAT.search(block)
        if not re.search(": refused|no column (of|holds)", block) or found is None or found[1].endswith(":"):
            continue  # or the author has to choose columns
        folder = tmp_path / "data" / name
        path = folder / "source.yml" if folder.is_dir() else folder.with_name(f"{name}.source.yml")
        path.write_text("\n".join(_KEYS.split(found[1])), "utf-8")
        after = next(one for one in describe_sources(tmp_path).split("\n\n") if one.startswith(f"{name}:"))
        assert re.match(f"{re.escape(name)}: (measurements|totals|outcomes)", after), after
        assert "error: " not in after, after
        assert "no column holds" not in after, after


@pytest.mark.parametrize("case", CASES, ids=name_case)
def test_the_line_of_an_error_works_when_it_is_pasted(case: Case, tmp_path: Path) -> None:
    """Rows that differ are apart then; that they repeat steps may remain to be said."""
    case.write_files(tmp_path / "data")
    for block in describe_sources(tmp_path).split("\n\n"):
        name, problem = block.partition(":")[0], re.search(r"^error: .*", block, re.MULTILINE)
        line = _LINE.search(problem[0]) if problem else None
        if line is None:
            continue
        folder = tmp_path / "data" / name
        path = folder / "source.yml" if folder.is_dir() else folder.with_name(f"{name}.source.yml")
        stated = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
        pasted = yaml.safe_load("\n".join(filter(None, line.groups())))
        pasted["columns"] = {**stated.get("columns", {}), **pasted["columns"]}
        path.write_text(yaml.safe_dump({**stated, **pasted}), "utf-8")
        after = next(one for one in describe_sources(tmp_path).split("\n\n") if one.startswith(f"{name}:"))
        assert "differ in" not in after, after
        assert "has no column" not in after, after


_FORM = re.compile(r"[Ss]ay (form: .*?) in source\.yml")
FORMS = [
    case
    for case in read_pages(Path(__file__).parent)
    if case.page.stem in {"finished_runs", "columns", "wide_errors", "wide_left_out"}
    and "no column of the source" in case.expected
]


@pytest.mark.parametrize("case", FORMS, ids=name_case)
def test_the_form_that_reads_a_table_without_steps_works_when_it_is_pasted(
    case: Case, tmp_path: Path
) -> None:
    """Finished runs with the metrics and states that are named, and scores by benchmark."""
    case.write_files(tmp_path / "data")
    for block in describe_sources(tmp_path).split("\n\n"):
        name, found = block.partition(":")[0], _FORM.search(block)
        if "no column of the source" not in block or found is None:
            continue
        # Names of scores, and states where none says that a run ended well, are for the author to choose.
        if "choose states with filter:" in block or "NAME]" in found[1]:
            continue
        folder = tmp_path / "data" / name
        path = folder / "source.yml" if folder.is_dir() else folder.with_name(f"{name}.source.yml")
        stated = yaml.safe_load(path.read_text("utf-8")) if path.exists() else {}
        path.write_text(yaml.safe_dump({**stated, **yaml.safe_load("\n".join(_KEYS.split(found[1])))}))
        after = next(one for one in describe_sources(tmp_path).split("\n\n") if one.startswith(f"{name}:"))
        assert "error: " not in after, after
