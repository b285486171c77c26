"""Settings from YAML: what is accepted, what is refused, and in which words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from reportgen.core.errors import ReportError, SourceLocation
from reportgen.settings import yaml_tree
from reportgen.settings.block_parts import Band
from reportgen.settings.blocks import (
    AltairSettings,
    CurveSettings,
    OverviewSettings,
    PanelSettings,
    PanelsSettings,
    TableSettings,
)
from reportgen.settings.loading import load_block, load_front_matter, load_project, load_source_settings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.settings.block_parts import BlockSettings

FENCE = SourceLocation("content/aime.md", 30)


def problems(kind: str, body: str, fence: SourceLocation = FENCE) -> list[str]:
    """What the loader says about a body."""
    with pytest.raises(ReportError) as caught:
        load_block(kind, body, fence)
    return [str(problem) for problem in caught.value.problems]


def curve(body: str) -> CurveSettings:
    """A curve block's settings."""
    settings = load_block("curve", body, FENCE)
    assert isinstance(settings, CurveSettings)
    return settings


def test_a_curve_block_is_typed() -> None:
    """A body becomes a frozen value with its defaults."""
    settings = curve(
        "source: aime\nmetric: pass@1\nband: se\nsmooth: 0.4\nseries: [v10, v1]\nx_domain: [0, 900]"
    )
    assert (settings.source, settings.metric, settings.band) == ("aime", "pass@1", Band.SE)
    assert (settings.series, settings.smooth) == (("v10", "v1"), 0.4)
    assert (settings.x_domain, settings.level) == ((0.0, 900.0), 0.95)


@pytest.mark.parametrize(
    ("kind", "model"), [("curve", CurveSettings), ("table", TableSettings), ("overview", OverviewSettings)]
)
@pytest.mark.parametrize("body", ["", "\n\n", "# nothing but a comment", "---\n...", "{}"])
def test_an_empty_body_means_the_defaults(kind: str, model: type[BlockSettings], body: str) -> None:
    """A block that needs nothing may have an empty body."""
    assert load_block(kind, body, FENCE) == model()


@pytest.mark.parametrize(
    "name",
    [
        "1e3",
        "null",
        "~",
        "2024-01-01",
        "true",
        "no",
        "on",
        "y",
        "0x10",
        "1_000",
        "007",
        "1.50",
        ".nan",
        "12:30:45",
    ],
)
def test_a_name_is_the_text_that_was_written(name: str) -> None:
    """A series called like a number, a date or a boolean keeps its name."""
    assert curve(f"series: [{name}]").series == (name,)


def test_a_text_may_look_like_a_number() -> None:
    """A title or a metric that YAML reads as a number is read back as written."""
    settings = curve("title: 1.50\nmetric: 5\ncaption: 2024")
    assert (settings.title, settings.metric, settings.caption) == ("1.50", "5", "2024")


def test_a_panel_named_by_a_number_is_a_metric() -> None:
    """In a list of names or mappings, a number is a name."""
    settings = load_block("panels", "metrics:\n- 5\n- {metric: loss, y_scale: log}", FENCE)
    assert isinstance(settings, PanelsSettings)
    assert settings.metrics == ("5", PanelSettings(metric="loss", y_scale="log"))


def test_filter_values_keep_their_types() -> None:
    """A filter compares numbers as numbers and texts as texts."""
    settings = curve("filter: {seed: 1, split: dev, rate: 2.5, ok: true, day: 2024-01-01, run: [a, 2]}")
    assert settings.filter == {
        "seed": 1,
        "split": "dev",
        "rate": 2.5,
        "ok": True,
        "day": "2024-01-01",
        "run": ("a", 2),
    }


def test_anchors_are_read() -> None:
    """A value may be written once and used twice."""
    assert curve("y_domain: &d [0, 1]\nx_domain: *d").x_domain == (0, 1)


def test_an_altair_block_may_be_the_function_alone() -> None:
    """The short and the long form of an altair block mean the same."""
    short = load_block("altair", "charts.py:best_step", FENCE)
    assert short == load_block("altair", "function: charts.py:best_step", FENCE)
    assert short == AltairSettings(function="charts.py:best_step")


@pytest.mark.parametrize("file", ["/etc/charts.py", "../charts.py", "a/../../b.py", "..\\b.py"])
def test_an_altair_function_stays_in_the_report(file: str) -> None:
    """A function outside the report's folder is refused."""
    assert "outside the report's folder" in problems("altair", f"function: {file}:draw")[0]


def test_a_mistyped_key_names_the_nearest() -> None:
    """The example of the guide: a mistyped key, its line, and what was meant."""
    (said,) = problems("curve", "smoth: 0.5", SourceLocation("content/aime.md", 30))
    assert said.startswith(
        'content/aime.md:31:1: "smoth" is not a key of a curve block. Did you mean "smooth"? The keys are '
    )


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        (
            "curve",
            "band: cii",
            '"band: cii" is not one of ci, simultaneous, se, sd, range, iqr and none. Did you mean "ci"?',
        ),
        ("curve", "y_scale: lgo", '"y_scale: lgo" is not one of linear and log. Did you mean "log"?'),
        (
            "curve",
            "band: zzzz",
            '"band: zzzz" is not one of ci, simultaneous, se, sd, range, iqr and none. band: What the band',
        ),
        ("curve", "highlight: GRPO", '"highlight" must be a list, not "GRPO". Write highlight: [GRPO].'),
        ("curve", "series:\n - ", 'item 1 of "series" is empty'),
        ("curve", "smooth: 5", '"smooth: 5" must be less than 1. smooth: 0 for none'),
        ("curve", "max_points: 5", '"max_points: 5" must be at least 10'),
        ("curve", "smooth: much", '"smooth" must be a number, not "much"'),
        ("curve", "smooth: [1]", '"smooth" must be a number, not a list'),
        ("curve", "smooth: .inf", '"smooth" must be a finite number, not ".inf"'),
        ("curve", f"smooth: {'9' * 400}", '"smooth" must be a finite number'),
        ("curve", f"height: {'9' * 200}", "must be at most 800"),
        ("curve", "smooth:", '"smooth" has no value. Write one, or leave the key out.'),
        ("curve", "filter: {a: }", '"a" has no value'),
        ("curve", "runs: maybe", '"runs" must be true or false, not "maybe"'),
        ("curve", "max_points: 40.5", '"max_points" must be a whole number, not "40.5"'),
        ("curve", "x_domain: [1]", '"x_domain" must have at least 2 values'),
        ("curve", "x_domain: [1, 2, 3]", '"x_domain" can have at most 2 values'),
        ("curve", "id: 9a", '"id" must begin with a letter and contain only letters, digits, - and _'),
        ("curve", "title: ''", '"title" is empty'),
        ("curve", f"title: {'x' * 1001}", '"title" is longer than 1000 characters'),
        ("curve", "filter: 5", '"filter" must be keys and values, not "5"'),
        ("curve", "filter: {a: [[1]]}", 'item 1 of "a" must be text, a number or true or false, not a list'),
        ("curve", "reference: [{}]", "a reference line must have either x or y"),
        (
            "curve",
            "reference: [5]",
            ('item 1 of "reference" must be keys and values, not "5". Write {x: 5} or {y: 5}.'),
        ),
        ("curve", "annotations: [{x: 1}]", 'item 1 of "annotations" in a curve block needs "text"'),
        ("curve", "[a]", "a curve block must consist of keys and values"),
        ("curve", "words", "a curve block must consist of keys and values"),
        ("panels", "", 'a panels block needs "metrics"'),
        ("panels", "metrics: []", '"metrics" is empty'),
        ("panels", "metrics: [[1]]", 'item 1 of "metrics" must be text or keys and values, not a list'),
        ("altair", "", 'an altair block needs "function"'),
        ("altair", "charts.py", '"function" must be written as file.py:function'),
        (
            "table",
            "columns: [fin]",
            '"fin" is no column. Did you mean "final"? columns: Which of final, peak, mean, sd, n, at STEP,',
        ),
        ("overview", "benchmarks: AIME", "Write benchmarks: [AIME]."),
    ],
)
def test_problems_are_plain_sentences(kind: str, body: str, expected: str) -> None:
    """Each kind of mistake has its sentence and its next step, and says so once."""
    (said,) = problems(kind, body)
    assert expected in said
    assert "pydantic" not in said
    assert "Input should" not in said


def test_all_problems_of_a_body_are_told_in_their_order() -> None:
    """Forty mistakes are mended in one round."""
    said = problems("curve", "smoth: 1\nband: cii\nreference:\n  - y: 1\n    lable: 3\nheight: 5")
    assert [line.split(": ")[0] for line in said] == [
        "content/aime.md:31:1",
        "content/aime.md:32:1",
        "content/aime.md:35:5",
        "content/aime.md:36:1",
    ]
    assert '"lable" is not a key of reference in a curve block. Did you mean "label"?' in said[2]


def test_a_very_wrong_body_is_told_in_part() -> None:
    """A thousand mistakes of one body give fifty problems and a count."""
    said = problems("curve", "\n".join(f"k{n}: 1" for n in range(1000)))
    assert len(said) == 51
    assert "950 more problems like these" in said[-1]


def test_a_rule_of_two_values_points_at_their_key() -> None:
    """The line of a rule across values is that of the key it names."""
    assert problems("curve", "metric: a\nx_domain: [3, 1]")[0].startswith(
        "content/aime.md:32:1: x_domain must begin with the smaller number"
    )


def test_columns_count_the_indentation_of_the_fence() -> None:
    """In a list, columns are those of the file."""
    assert problems("curve", "smoth: 1", SourceLocation("content/a.md", 4, 5))[0].startswith(
        "content/a.md:5:5: "
    )


@pytest.mark.parametrize("loader", [yaml.SafeLoader, yaml.CSafeLoader])
@pytest.mark.parametrize(
    ("body", "line", "expected"),
    [
        ("title: AIME: Pass@1", 31, 'a ": " stands where none is expected'),
        ("source: a\n\tmetric: b", 32, "spaces, not tabs"),
        ("title: @home", 31, "a character that YAML keeps for itself"),
        ("series: [a, b\nsmooth: 1", 31, "a list that begins with [ does not end with ]"),
        ("filter: {a: 1", 31, "a mapping that begins with { does not end with }"),
        ("title: 'AIME", 31, "a quote is opened and not closed"),
        ("metric: a\nmetric: b", 32, '"metric" is written twice; the first is in line 31'),
        (
            "source: !!python/object/apply:os.system [x]",
            31,
            "a tag (a word that begins with !) is not read here",
        ),
        ("source: !ENV X", 31, "a tag"),
        ("series: &a [*a]", 31, "*a refers to nothing written before"),
        *(
            (f"metric: a\n{line}", 32, "Put names and patterns that begin with * or ! in quotes")
            for line in (
                *("series: [adam*, !adam-1e-05]", "series: [adam*, !old*]", "metric: */loss", "metric: *"),
                *("series: [*a, b]", "series: *base", "series: [*base*, b]", "filter: {model: *qwen}"),
                *("series: !old", "series: [a*, !old, b]"),
            )
        ),
        ("? [a]\n: b", 31, "a key has to be a single word or text"),
        ("metric: a\n---\nmetric: b", 32, "a second document begins here"),
        ('title: "\\0"', 31, "a control character or half a character"),
        ("title: \x01", 31, "a control character stands in the text"),
        ("title: |\n x\nwords", 34, "a line is neither a key with its colon nor part of a text"),
        ("title: - a", 31, 'a list item "- " stands behind its key'),
        ("[" * 60, 31, "nested more than 50 deep"),
    ],
)
def test_invalid_yaml_is_explained(
    body: str, line: int, expected: str, loader: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What YAML refuses is said in plain words, with either parser of PyYAML."""
    monkeypatch.setattr(yaml_tree, "_LOADER", loader)
    said = problems("curve", body)[0]
    assert expected in said
    assert int(said.split(":")[1]) in (line, line - 1)


def test_aliases_of_aliases_are_bounded() -> None:
    """Billion laughs: a few lines that stand for a billion values are refused at once."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    assert "more than 200000 values" in problems("curve", "\n".join(lines))[0]


def test_a_very_long_body_is_refused() -> None:
    """Data belong in files, not in a page."""
    assert "longer than 2000000 characters" in problems("curve", "a: " + "x" * 2_000_001)[0]


def test_lines_are_counted_as_an_editor_counts_them() -> None:
    """Unicode line separators and characters beyond U+FFFF do not shift lines or columns."""
    said = problems("curve", 'title: "a\u2028b \U0001f600"\nsmoth: 1')
    assert said[0].startswith("content/aime.md:32:1: ")


def test_source_settings_are_read_from_a_file(tmp_path: Path) -> None:
    """A source.yml with a mark and Windows line ends is read as any other."""
    path = tmp_path / "source.yml"
    path.write_bytes("\ufefftitle: Größe\r\ncolumns:\r\n  series: Modell\r\nrename: {1: one}\r\n".encode())
    settings = load_source_settings(path, "data/a/source.yml")
    assert (settings.title, settings.columns.series, settings.rename) == ("Größe", "Modell", {"1": "one"})


def test_an_empty_source_file_means_the_defaults(tmp_path: Path) -> None:
    """A source.yml of nothing but comments says nothing."""
    path = tmp_path / "source.yml"
    path.write_text("# later\n")
    assert load_source_settings(path, "data/a/source.yml").files is None


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            b"title: a\ncolums: {}\n",
            'data/a/source.yml:2:1: "colums" is not a key of source.yml. Did you mean "columns"?',
        ),
        (b"title: a\nnote: gr\xf6\xdfe\n", "data/a/source.yml:2: this is not UTF-8: byte 0xf6"),
        (b"columns: {serie: a}\n", 'data/a/source.yml:1:11: "serie" is not a key of columns in source.yml'),
        (b"files: {}\n", '"files" must be text or a list, not keys and values'),
        (b"format: cvs\n", 'Did you mean "csv"?'),
    ],
)
def test_source_problems_name_file_and_line(tmp_path: Path, content: bytes, expected: str) -> None:
    """A mistake in source.yml is told with its place."""
    path = tmp_path / "source.yml"
    path.write_bytes(content)
    with pytest.raises(ReportError) as caught:
        load_source_settings(path, "data/a/source.yml")
    assert expected in str(caught.value)


def test_a_source_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    """A missing file is the user's problem, not a crash."""
    with pytest.raises(ReportError, match=r"data/a/source\.yml: this file cannot be read"):
        load_source_settings(tmp_path / "none.yml", "data/a/source.yml")


def test_front_matter_leaves_foreign_keys_alone() -> None:
    """Keys of MkDocs and its themes pass; ours are typed."""
    front = load_front_matter(
        "title: 2024\nhide: [toc]\ntags: {a: no}\nbenchmark: {name: AIME, source: aime, date: 2024-05-01}",
        "content/a.md",
    )
    assert front.title == "2024"
    assert front.benchmark is not None
    assert front.benchmark.date == "2024-05-01"


def test_front_matter_problems_count_lines_from_the_top_of_the_page() -> None:
    """The first key of the front matter stands in line 2 of the page."""
    with pytest.raises(ReportError) as caught:
        load_front_matter("title: a\nbenchmrk: {}\nbenchmark:\n  name: AIME\n  sorce: aime", "content/a.md")
    said = [str(problem) for problem in caught.value.problems]
    assert said[0].startswith('content/a.md:3:1: "benchmrk" is not a key that reportgen or MkDocs reads')
    assert said[1].startswith('content/a.md:4:1: "benchmark" in the front matter needs "source"')
    assert said[2].startswith(
        'content/a.md:6:3: "sorce" is not a key of benchmark in the front matter. Did you mean "source"?'
    )


def test_front_matter_that_is_no_mapping_is_refused() -> None:
    """A list between the lines says nothing."""
    with pytest.raises(ReportError, match="the front matter must consist of keys and values"):
        load_front_matter("- a", "content/a.md")


MKDOCS = """site_name: x
markdown_extensions:
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
plugins:
  - search
  - reportgen:
      data_dir: results
      benchmarks:
        - name: 02
          source: aime
          smooth: 1
      series: {GRPO: x}
"""


@pytest.mark.parametrize(
    "text", [MKDOCS, MKDOCS.replace("  - search\n", "").replace("  - reportgen", "  reportgen")]
)
def test_project_problems_name_the_line_of_mkdocs_yml(text: str) -> None:
    """MkDocs hands over a dict; the lines are found in its text."""
    options: dict[str, object] = {
        "data_dir": "results",
        "benchmarks": [{"name": 2, "source": "aime", "smooth": 1}],
        "series": {"GRPO": "x"},
    }
    with pytest.raises(ReportError) as caught:
        load_project(options, SourceLocation("mkdocs.yml"), text)
    said = [str(problem) for problem in caught.value.problems]
    last = len(text.splitlines())
    assert said[0].startswith(
        f'mkdocs.yml:{last - 1}:11: "smooth" is not a key of benchmarks in the reportgen plugin'
    )
    assert said[1].startswith(f'mkdocs.yml:{last}:16: "GRPO" must be a whole number, not "x"')


@pytest.mark.parametrize("text", [None, "a: [", "plugins: [search]", "plugins: reportgen", "- a"])
def test_project_problems_do_without_lines(text: str | None) -> None:
    """Options that stand in another file have the place of mkdocs.yml."""
    with pytest.raises(ReportError, match=r'^mkdocs\.yml: "bench" is not a key of the reportgen plugin'):
        load_project({"bench": 1}, SourceLocation("mkdocs.yml"), text)


def test_project_names_are_read_as_written() -> None:
    """MkDocs reads `02` as 2; the name in the report is what stands in the file."""
    options: dict[str, object] = {"benchmarks": [{"name": 2, "source": "aime"}]}
    settings = load_project(options, SourceLocation("mkdocs.yml"), MKDOCS)
    assert settings.benchmarks[0].name == "02"
    assert load_project({}, SourceLocation("mkdocs.yml")).data_dir == "data"


def test_keys_below_names_of_the_user_s_own_are_told_too(tmp_path: Path) -> None:
    """Each series of `protocols` has the keys of a protocol, whatever the series is called."""
    path = tmp_path / "source.yml"
    path.write_text(
        "protocols:\n  A: {temperatur: 1}\n  B: {temperature: -1}\n  C: 3\n  '': {x: 1}\n", "utf-8"
    )
    with pytest.raises(ReportError) as caught:
        load_source_settings(path, "data/a/source.yml")
    said = [str(problem) for problem in caught.value.problems]
    assert said[0].startswith(
        'data/a/source.yml:2:7: "temperatur" is not a key of A in protocols in source.yml. '
        'Did you mean "temperature"?'
    )
    assert said[1].startswith('data/a/source.yml:3:7: "temperature: -1" must be at least 0.')
    assert said[2].startswith('data/a/source.yml:4:3: "C" must be keys and values, not "3".')
    assert said[3].startswith('data/a/source.yml:5:8: "x" is not a key of protocols in source.yml.')
