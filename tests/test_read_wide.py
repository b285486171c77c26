"""Wide tables of scores, as papers and pandas write them: a column for each model or benchmark."""

from __future__ import annotations

import csv
import json
import math
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from command_line import call
from hypothesis import given
from hypothesis import strategies as st
from made_sources import Data

from reportgen.core.errors import ReportError
from reportgen.formats.cells import parse_reported
from reportgen.read import TotalsTable

if TYPE_CHECKING:
    from reportgen.core.comparisons import ReportedScore

CASE = Path(__file__).parent / "cases" / "wide-tables"
PLUS = "model,AIME,MATH\nElm,75.5 ± 0.4,**76.8** ± 0.3\nFir,70.1 ± 0.5,71.0 ± 0.2\n"
INDEX = ",Elm,Fir\nSums,0.51,0.48\nProofs,0.76,0.75\n"


def make(root: Path, text: str, settings: str = "") -> Data:
    """A source of one table."""
    data = Data(root)
    data.write("s/table.csv", text)
    if settings:
        data.write("s/source.yml", settings)
    return data


def read(root: Path, text: str, settings: str = "") -> dict[tuple[str, str], ReportedScore]:
    """The scores of a table by series and benchmark."""
    data = make(root, text, settings)
    source = data.open("s")
    totals = TotalsTable(data.root, source)
    return {(one.series, name): one for name in source.benchmarks for one in totals.get_scores(name)}


def get_values(found: dict[tuple[str, str], ReportedScore]) -> dict[tuple[str, str], float | None]:
    """The values alone."""
    return {key: one.value for key, one in found.items()}


def refuse(root: Path, text: str, settings: str = "") -> list[str]:
    """What stops a table from being opened."""
    with pytest.raises(ReportError) as error:
        make(root, text, settings).open("s")
    return [str(problem) for problem in error.value.problems]


@pytest.mark.parametrize(
    ("cell", "value", "spread"),
    [
        ("51.2%", 0.512, None),
        ("51.2\\%", 0.512, None),
        ("75.5 ± 0.4", 75.5, 0.4),
        ("75.5±0.4%", 0.755, 0.004),
        ("75.5 +/- 0.4", 75.5, 0.4),
        ("76.8 (0.4)", 76.8, 0.4),
        ("**76.8**", 76.8, None),
        ("**76.8** ± 0.4", 76.8, 0.4),
        ("\\textbf{76.8} $\\pm$ 0.4", 76.8, 0.4),
        ("1,234", 1234, None),
        ("\u22121.5", -1.5, None),
        ("5e-1", 0.5, None),
    ],
)
def test_a_cell_is_read_as_a_paper_means_it(cell: str, value: float, spread: float | None) -> None:
    """Percent is a share, marks of the best are no part of the number."""
    found = parse_reported(cell)
    assert found is not None
    assert (found.value, found.spread) == (value, spread)


@pytest.mark.parametrize("cell", ["51,2", "12,34", "abc", "", "nan", "1.2.3", "(3)", "± 0.4", "7 8"])
def test_what_may_mean_several_things_is_no_score(cell: str) -> None:
    """A decimal comma is not guessed."""
    assert parse_reported(cell) is None


@given(st.floats(-1e6, 1e6), st.booleans())
def test_a_plain_number_keeps_its_value(value: float, bold: bool) -> None:  # noqa: FBT001 - a strategy
    """Whatever Python writes is read as it is."""
    text = f"**{value!r}**" if bold else repr(value)
    found = parse_reported(text)
    assert found is not None
    assert found.value == value


def test_a_column_for_each_benchmark_is_found_by_itself(tmp_path: Path) -> None:
    """The rows are models, as their column says; percent are shares."""
    found = read(tmp_path, "Model,AIME,MATH\nElm,51.2%,**76.8%**\nFir,48%,75.5%\n")
    assert get_values(found) == {
        ("Elm", "AIME"): 0.512,
        ("Fir", "AIME"): 0.48,
        ("Elm", "MATH"): 0.768,
        ("Fir", "MATH"): 0.755,
    }
    assert list(found) == [("Elm", "AIME"), ("Fir", "AIME"), ("Elm", "MATH"), ("Fir", "MATH")]


def test_a_column_for_each_model_is_found_by_itself(tmp_path: Path) -> None:
    """The rows are benchmarks, as their column says or as the names of known ones do."""
    expected = {("Elm", "AIME"): 0.5, ("Fir", "AIME"): 0.4, ("Elm", "MATH"): 0.7, ("Fir", "MATH"): 0.6}
    for number, head in enumerate(("benchmark", "Task", "", "Suite")):
        text = f"{head},Elm,Fir\nAIME,0.5,0.4\nMATH,0.7,0.6\n"
        assert get_values(read(tmp_path / str(number), text)) == expected


@pytest.mark.parametrize(
    "head",
    [
        ",AIME,AIME,MATH,MATH\n,mean,se,mean,se\nmodel,,,,\n",
        "model,AIME,AIME,MATH,MATH\n,mean,stderr,mean,stderr\n",
        "Model,AIME,,MATH,\n,score,±,score,±\n",
        "model,AIME,AIME_stderr,MATH,MATH_stderr\n",
    ],
)
def test_a_header_of_two_rows_and_columns_of_errors(tmp_path: Path, head: str) -> None:
    """As pandas writes columns of two levels, with or without the name of the index, or a spreadsheet."""
    found = read(tmp_path, f"{head}Elm,0.5,0.02,0.7,0.01\nFir,0.4,0.03,0.6,0.01\n", "interval: se\n")
    assert {key: (one.value, one.stderr) for key, one in found.items()} == {
        ("Elm", "AIME"): (0.5, 0.02),
        ("Fir", "AIME"): (0.4, 0.03),
        ("Elm", "MATH"): (0.7, 0.01),
        ("Fir", "MATH"): (0.6, 0.01),
    }


SEEDS = pd.DataFrame(
    [
        {"model": model, "benchmark": name, "seed": seed, "acc": 0.1 * place + 0.01 * seed**2}
        for place, (model, name) in enumerate(product(("Elm", "Fir"), ("AIME", "MATH")))
        for seed in range(4)
    ]
)
ACCURACY = SEEDS.groupby(["model", "benchmark"])["acc"]


@pytest.mark.parametrize(
    ("table", "benchmarks"),
    [
        (ACCURACY.agg(["mean", "std", "count"]), ("AIME", "MATH")),
        (ACCURACY.agg(["mean", "sem"]), ("AIME", "MATH")),
        (ACCURACY.agg(["mean", "sem"]).unstack(), ("AIME", "MATH")),  # noqa: PD010
        (ACCURACY.agg(["mean", "sem"]).xs("AIME", level="benchmark"), ("table",)),
        (SEEDS[SEEDS.benchmark == "AIME"].groupby("model")[["acc"]].agg(["mean", "std", "count"]), ("acc",)),
    ],
)
def test_what_pandas_aggregates_is_a_score_with_its_error(
    tmp_path: Path, table: pd.DataFrame, benchmarks: tuple[str, ...]
) -> None:
    """Statistics are of one score, not benchmarks or metrics; transposed, the error says what to do."""
    found = read(tmp_path / "a", table.to_csv())
    expected = {
        (model, benchmarks[-1] if name == "MATH" else benchmarks[0]): (part["acc"].mean(), part["acc"].sem())
        for (model, name), part in SEEDS.groupby(["model", "benchmark"])
        if name == "AIME" or len(benchmarks) > 1
    }
    assert {key: (one.value, one.stderr) for key, one in found.items()} == {
        key: pytest.approx(pair) for key, pair in expected.items()
    }
    (problem,) = refuse(tmp_path / "b", table.T.to_csv())
    assert problem.endswith(
        "name rows, but are only read as names of columns. "
        "Write the table the other way round, as in df.T.to_csv() for a data frame df."
    )


def test_a_second_header_of_metrics(tmp_path: Path) -> None:
    """They are several scores of a benchmark, of which ``filter`` takes one."""
    text = "model,QA,QA,Math,Math\n,exact,f1,exact,f1\nElm,0.5,0.6,0.7,0.8\nFir,0.4,0.5,0.6,0.7\n"
    found = read(tmp_path, text, "form: wide\nfilter: {metric: f1}\n")
    assert get_values(found)["Elm", "Math"] == 0.8


@pytest.mark.parametrize(
    ("interval", "expected"), [("se", 0.4), ("ci95", 0.4 / 1.959963984540054), ("sd", 0.4 / math.sqrt(16))]
)
def test_what_stands_after_plus_minus_is_stated_once(tmp_path: Path, interval: str, expected: float) -> None:
    """The standard error of each kind; a standard deviation needs the number of runs."""
    text = "model,AIME,n\nElm,75.5 ± 0.4,16\nFir,70.1 ± 0.4,16\n"
    found = read(tmp_path, text, f"interval: {interval}\n")
    assert found["Elm", "AIME"].stderr == pytest.approx(expected)
    assert found["Elm", "AIME"].problems == (None if interval == "sd" else 16)


def test_an_open_plus_minus_is_an_error(tmp_path: Path) -> None:
    """With the line of the first one, and the choices."""
    (found,) = refuse(tmp_path, PLUS)
    place, _, said = found.partition(": ")
    assert place == "data/s/table.csv:2"
    assert said == (
        'the meaning of ± in column "AIME" is not stated. Say interval: in source.yml with one of se (the '
        "standard error), ci95 (half of a 95% CI) and sd (the standard deviation)."
    )


def test_a_standard_deviation_without_a_number_gives_no_interval(tmp_path: Path) -> None:
    """And a warning says why."""
    data = make(tmp_path, PLUS, "interval: sd\n")
    source = data.open("s")
    assert {one.stderr for one in TotalsTable(data.root, source).get_scores("AIME")} == {None}
    assert [one.message for one in source.warnings] == [
        "± is a standard deviation, which gives no interval without the number of runs"
    ]


@pytest.mark.parametrize(
    ("text", "settings", "expected"),
    [
        (
            "Model,AIME,MATH\nElm,0.5,0.6\nModel,AIME,MATH\nFir,0.4,0.5\n",
            "",
            "data/s/table.csv:3: the row repeats the header. Leave it out",
        ),
        (
            "Model,AIME,MATH\nElm,0.5,0.6\nFir,0.4,about half\nGum,1,1\n",
            "",
            'data/s/table.csv:3: "about half" in column "MATH" is not a score. Write a number',
        ),
        (
            "Model,AIME,MATH,GSM8K\nElm,75,76,90\nFir,70,OOM,91\nGum,60,OOM,89\n",
            "",
            'data/s/table.csv:3: "OOM" in column "MATH" is not a score. Write a number',
        ),
        (
            "benchmark,Elm,Fir,Gum\nAIME,51,76*,50\nMATH,76,,70\nGSM8K,90,91**?,80\n",
            "metrics: [Elm, Fir]\n",
            'data/s/table.csv:4: "91**?" in column "Fir" is not a score. Write a number',
        ),
        (
            "Model,AIME,MATH\nElm,75,OOM\nFir,70,61\n",
            "",
            'data/s/table.csv:2: "OOM" in column "MATH" is not a score. Write a number',
        ),
        (
            "Model,AIME,MATH,Avg\nElm,75,61,68\nElm,70,60,65\n",
            "",
            "data/s/table.csv:3: a second row of Elm: the first is line 2. Leave one out, or name a column",
        ),
        (
            "Model,AIME\nElm,75\nFir,OOM\n",
            "",
            'data/s/table.csv:3: "OOM" in column "AIME" is not a score. Write a number',
        ),
        (
            "Model,AIME,MATH\nElm,75,61\n",
            "metrics: [Math, AIME]\n",
            'data/s/source.yml: metrics: there is no column of scores "Math". Did you mean "MATH"?',
        ),
        (
            "Model,AIME,MATH\nElm,75,61\n",
            "filter: {Model: Fir}\n",
            "data/s/source.yml: no score is left of the tables. Check filter: and metrics: in",
        ),
        (
            "Model,AIME,MATH\nElm,51.2%,0.6\nFir,48.0%,75.5\n",
            "",
            'data/s/table.csv:3: 75.5 in column "MATH" has no %, and "AIME" has. Write % at all of them',
        ),
        (
            "Model,AIME,MATH\nElm,51.2%,76%\nFir,0.48,75%\n",
            "",
            'data/s/table.csv:3: 0.48 in column "AIME" has no %, and other cells of it have. Write % at all',
        ),
        (
            "model,shots,AIME,MATH\nElm,zero,0.5,0.6\nElm,five,0.6,0.7\n",
            "form: wide\n",
            'data/s/table.csv:3: a second row of Elm: the first is line 2; "shots" may tell them apart.',
        ),
        (
            INDEX,
            "form: wide\n",
            "data/s/table.csv:1: it is unclear whether the columns (Elm and Fir) are series or",
        ),
    ],
)
def test_what_a_table_leaves_open_is_an_error_with_its_line(
    tmp_path: Path, text: str, settings: str, expected: str
) -> None:
    """A header in the middle, a word, a share among percentages, two rows of a name, rows and columns."""
    (found, *_) = refuse(tmp_path, text, settings)
    assert found.startswith(expected)


@pytest.mark.parametrize(("wide", "first"), [("series", ("Elm", "Sums")), ("benchmarks", ("Sums", "Elm"))])
def test_columns_are_what_wide_says(tmp_path: Path, wide: str, first: tuple[str, str]) -> None:
    """Of names that tell nothing, such as a transposed frame."""
    assert next(iter(read(tmp_path, INDEX, f"wide: {wide}\n"))) == first


def test_seeds_rows_and_columns_can_be_chosen(tmp_path: Path) -> None:
    """A column of seeds makes runs; ``filter`` and ``metrics`` choose, ``rename`` renames."""
    text = "model,seed,shots,AIME,MATH\nElm,1,zero,0.5,0.6\nElm,2,zero,0.6,0.7\nElm,1,five,0.9,0.9\n"
    settings = "form: wide\nfilter: {shots: zero}\nmetrics: [AIME]\nrename: {Elm: Ours}\n"
    data = make(tmp_path, text, settings)
    source = data.open("s")
    scores = TotalsTable(data.root, source).get_scores("AIME")
    assert source.benchmarks == ("AIME",)
    assert [(one.series, one.seed, one.value) for one in scores] == [("Ours", "1", 0.5), ("Ours", "2", 0.6)]


@pytest.mark.parametrize(
    "text",
    [
        "model,step,AIME,MATH\nA,1,0.5,0.6\nA,2,0.6,0.7\n",
        "model,dataset,loss,score\nA,x,0.5,1\nB,x,0.6,1\n",
        "model,lr,AIME\nA,0.1,0.5\nB,0.2,0.6\n",
        "model,tokens,loss\nA,1000,1\nB,1000,2\n",
        "model,problem,AIME,MATH\nA,1,0.5,0.6\nB,2,0.6,0.7\n",
    ],
)
def test_other_tables_stay_what_they_are(tmp_path: Path, text: str) -> None:
    """Curves, rows of other numbers, settings and answers are no tables of scores."""
    assert make(tmp_path, text).open("s").kind != "totals"


def test_the_case_has_the_scores_of_its_file() -> None:
    """Every score in the figures' data, from the raw file by the standard library."""
    with (CASE / "data" / "paper.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expected = {
        (row["Model"], name): float(row[name].strip("*%")) / 100
        for row in rows
        for name in ("AIME", "MATH", "GSM8K")
    }
    report: dict[str, Any] = json.loads((CASE / "expected" / "report.json").read_text("utf-8"))
    stack = next(one for one in report["pages"][0]["stacks"] if one["id"] == "paper")
    found = {
        (series, name): cell["score"]["estimate"]
        for series, cells in stack["numbers"]["series"].items()
        for name, cell in cells.items()
    }
    assert found == pytest.approx(expected)


def test_a_filter_takes_patterns_and_comparisons(tmp_path: Path) -> None:
    """As in every other source."""
    text = "model,size,AIME,MATH\nqwen-a,7,0.5,0.6\nqwen-b,72,0.6,0.7\nElm,7,0.2,0.3\n"
    settings = "form: wide\nwide: benchmarks\nmetrics: [AIME, MATH]\ncolumns: {series: model}\n"
    found = read(tmp_path, text, f"{settings}filter: {{model: qwen*}}\n")
    assert {series for series, _ in found} == {"qwen-a", "qwen-b"}
    found = read(tmp_path, text, f'{settings}filter: {{model: "!qwen*"}}\n')
    assert {series for series, _ in found} == {"Elm"}


@pytest.mark.parametrize("dash", ["-", "\u2013", "\u2014", "\u2212", "NaN", ""])
@pytest.mark.parametrize("settings", ["", "form: wide\nwide: benchmarks\n", "metrics: [MATH, AIME]\n"])
def test_a_column_has_its_only_score(tmp_path: Path, dash: str, settings: str) -> None:
    """Dashes are missing, however many there are."""
    text = f"Model,AIME,MATH\nElm,75.5,76.8\nFir,70.1,{dash}\nGum,60.1,{dash}\n"
    assert get_values(read(tmp_path, text, settings)) == {
        ("Elm", "AIME"): 75.5,
        ("Fir", "AIME"): 70.1,
        ("Gum", "AIME"): 60.1,
        ("Elm", "MATH"): 76.8,
    }


def test_a_model_has_its_only_score(tmp_path: Path) -> None:
    """Also in a table of two models, which is recognised with its column only."""
    found = read(tmp_path, "benchmark,Elm,Fir\nAIME,51.2,\u2013\nMATH,76.8,\u2014\nGSM8K,90,91\n")
    assert found["Fir", "GSM8K"].value == 91


def test_a_column_of_words_is_left_out_with_a_warning(tmp_path: Path) -> None:
    """Until ``metrics`` or ``filter`` says what it is; a score in it makes the words errors."""
    text = "Model,License,Date,AIME,MATH\nElm,MIT,May,75,76\nFir,Apache,June,70,71\n"
    data = make(tmp_path, text)
    assert data.warnings("s") == [
        (
            'data/s/table.csv:1: the columns "License", "Date" are not known to hold scores and '
            "are left out. "
            "To confirm it, say metrics: [AIME, MATH], with further names if they are scores, in source.yml."
        )
    ]
    data.write("s/source.yml", "metrics: [AIME, MATH]\n")
    assert data.warnings("s") == []
    data.write("s/source.yml", "filter: {license: MIT}\n")
    assert [one.partition(" is")[0] for one in data.warnings("s")] == [
        'data/s/table.csv:1: the column "Date"'
    ]
    mixed = "Model,Setting,AIME,MATH\nElm,51.3,75,76\nFir,CoT,70,71\n"
    assert set(read(tmp_path / "b", mixed, "metrics: [AIME, MATH]\n")) == {
        (model, name) for model in ("Elm", "Fir") for name in ("AIME", "MATH")
    }
    assert '"CoT" in column "Setting" is not a score' in refuse(tmp_path / "c", mixed)[0]
    # A filter says what the column is.
    assert {model for model, _ in read(tmp_path / "d", mixed, "filter: {Setting: CoT}\n")} == {"Fir"}


@pytest.mark.parametrize("settings", ["", "form: wide\n"])
@pytest.mark.parametrize(
    "name",
    [
        *("Rank", "#", "Params (B)", "# Params", "Model size", "Tokens", "Year", "Latency (s)", "latency_ms"),
        *("Time (h)", "Cost", "$ / 1M tokens", "Price", "Memory (GB)", "GFLOPs"),
    ],
)
def test_what_describes_a_model_and_means_are_no_benchmarks(tmp_path: Path, name: str, settings: str) -> None:
    """Next to benchmarks they are left out with a warning, until ``metrics`` names them."""
    text = f"{name},Model,AIME,MATH,Avg\n1,Elm,75,61,68\n2,Fir,70,60,65\n"
    data = make(tmp_path, text, settings)
    assert data.open("s").benchmarks == ("AIME", "MATH")
    assert data.warnings("s") == [
        f'data/s/table.csv:1: the column "{left}" {reason} and is left out. '
        "To confirm it, say metrics: [AIME, MATH], with further names if they are scores, in source.yml."
        for left, reason in ((name, "is not known to hold scores"), ("Avg", "is a mean of others"))
    ]
    data.write("s/source.yml", "form: wide\nmetrics: [AIME, Avg]\n")
    assert (data.open("s").benchmarks, data.warnings("s")) == (("AIME", "Avg"), [])
    # One known benchmark is enough; without one, a bare size may be a setting if form: wide is not stated.
    some = make(tmp_path / "c", f"Model,{name},AIME,Average\nElm,1,75,61\nFir,2,70,60\n", settings)
    assert some.open("s").benchmarks == ("AIME",)
    if settings or name not in {"Rank", "Tokens", "Year"}:
        own = make(tmp_path / "o", f"Model,{name},Sums,Proofs\nElm,1,75.2,61.1\nFir,2,70.4,60.3\n", settings)
        assert own.open("s").benchmarks == ("Sums", "Proofs")
    # Rows of one model that a number may distinguish are no table of a paper.
    other = make(tmp_path / "b", "model,lr,AIME,MATH\nA,0.1,75,61\nA,0.2,70,60\n")
    assert other.open("s").kind == "measurements"


@pytest.mark.parametrize("corner", ["benchmark", "task", ""])
def test_rows_of_a_transposed_table_are_no_benchmarks_either(tmp_path: Path, corner: str) -> None:
    """They are left out with a warning, until a filter chooses rows."""
    text = f"{corner},Elm,Fir\nAIME,75,70\nParams (B),7,70\nMATH,61,60\nAverage,68,65\n"
    data = make(tmp_path / "a", text)
    assert data.open("s").benchmarks == ("AIME", "MATH")
    step = "left out. To confirm it, say filter: {benchmark: [AIME, MATH]}, with further names if they"
    assert data.warnings("s") == [
        f'data/s/table.csv:1: the row "{name}" is {reason} and is {step} are scores, in source.yml.'
        for name, reason in (("Params (B)", "not known to hold scores"), ("Average", "a mean of others"))
    ]
    for name in filter(None, {corner, "benchmark"}):
        chosen = make(tmp_path / f"b{name}", text, f"filter: {{{name}: [AIME, Average]}}\n")
        assert (chosen.open("s").benchmarks, chosen.warnings("s")) == (("AIME", "Average"), [])


def test_a_table_of_sizes_and_a_metric_named_as_one_are_read(tmp_path: Path) -> None:
    """A column is left out only if others are left; where it is a metric of benchmarks, it is not."""
    only = make(tmp_path / "a", "Model,Latency (s),Cost\nElm,7,51\nFir,8,48\n", "form: wide\n")
    assert (only.open("s").benchmarks, only.warnings("s")) == (("Latency (s)", "Cost"), [])
    named = make(tmp_path / "b", "model,task,f1,latency\nElm,Sums,7,51\nFir,Sums,8,48\n", "form: wide\n")
    named.open("s")
    assert named.warnings("s") == []


def test_numbers_name_the_runs_where_source_yml_says_so(tmp_path: Path) -> None:
    """A column of seeds under another name is no column of scores."""
    data = make(tmp_path, "Model,rep,AIME\nElm,1,75\nElm,2,70\n", "form: wide\ncolumns: {seed: rep}\n")
    source = data.open("s")
    scores = TotalsTable(data.root, source).get_scores("AIME")
    assert source.benchmarks == ("AIME",)
    assert [(one.seed, one.value) for one in scores] == [("1", 75), ("2", 70)]


def test_a_file_without_the_chosen_columns_adds_nothing(tmp_path: Path) -> None:
    """Of several files each has some of them."""
    data = make(tmp_path, "Model,AIME,MATH\nElm,75,61\n", "metrics: [AIME]\n")
    data.write("s/z.csv", "Model,GSM8K,MMLU\nElm,75,61\n")
    assert data.open("s").benchmarks == ("AIME",)


def test_a_table_of_markdown_has_no_metric(tmp_path: Path) -> None:
    """The row of dashes below its header is none of its cells."""
    found = read(tmp_path, "| Model | AIME | MATH |\n|:---|---:|---|\n| Elm | **51.2** | 76.8 |\n")
    assert {key: (one.metric, one.value) for key, one in found.items()} == {
        ("Elm", "AIME"): ("score", 51.2),
        ("Elm", "MATH"): ("score", 76.8),
    }


@pytest.mark.parametrize("top", ["", "metric"])
@pytest.mark.parametrize("index", ["model,,,,\n", ""])
def test_metrics_above_benchmarks_are_what_their_levels_say(tmp_path: Path, top: str, index: str) -> None:
    """As ``pivot_table(values=["acc", "f1"])`` of pandas writes it; benchmarks were called acc and f1."""
    text = f"{top},acc,acc,f1,f1\nbenchmark,aime,math,aime,math\n{index}"
    text += "elm,0.1,0.7,0.8,0.2\nfir,0.4,0.6,0.5,0.9\n"
    data = Data(tmp_path)
    data.write("t.csv", text)
    data.write("t.source.yml", "form: wide\nwide: benchmarks\n")
    source = data.open("t")
    assert source.benchmarks == ("aime", "math")
    for metric, scores in (("acc", [0.1, 0.4]), ("f1", [0.8, 0.5])):
        found = TotalsTable(tmp_path, source).get_scores("aime", where={"metric": metric})
        assert [(one.series, one.metric, one.value) for one in found] == [
            ("elm", metric, scores[0]),
            ("fir", metric, scores[1]),
        ]


def test_an_unnamed_column_of_metrics_is_named_with_a_step_that_works(tmp_path: Path) -> None:
    """The transpose of the same pivot: no setting can name a column without a name."""
    text = "{},benchmark,elm,fir\nacc,aime,0.1,0.4\nacc,math,0.7,0.6\nf1,aime,0.8,0.5\nf1,math,0.2,0.9\n"
    data = Data(tmp_path)
    data.write("t.csv", text.format(""))
    with pytest.raises(ReportError, match="Give the column without a name one in the first line, and choose"):
        data.open("t")
    data.write("t.csv", text.format("kind"))
    data.write("t.source.yml", "form: wide\nfilter: {kind: f1}\n")
    found = TotalsTable(tmp_path, data.open("t")).get_scores("math")
    assert [(one.series, one.value) for one in found] == [("elm", 0.2), ("fir", 0.9)]


@pytest.mark.parametrize("corner", ["benchmark,metric", "Task,Metric"])
def test_benchmarks_and_metrics_in_rows_are_transposed(tmp_path: Path, corner: str) -> None:
    """As what pandas writes with two rows of headers, the other way round."""
    rows = "AIME,acc,0.5,0.7\nAIME,len,100,110\nMATH,acc,0.6,0.8\nMATH,len,120,130\n"
    found = read(tmp_path, f"{corner},Elm,Fir\n{rows}", "form: wide\nfilter: {metric: acc}\n")
    assert get_values(found) == {
        ("Elm", "AIME"): 0.5,
        ("Fir", "AIME"): 0.7,
        ("Elm", "MATH"): 0.6,
        ("Fir", "MATH"): 0.8,
    }


@pytest.mark.parametrize("settings", ["", "form: wide\n"])
@pytest.mark.parametrize("steps", ["0,1,2,3", "1,2,3,4"])
def test_columns_that_are_steps_are_no_benchmarks(tmp_path: Path, steps: str, settings: str) -> None:
    """The error says what makes it a curve of each row."""
    data = make(tmp_path, f"model,{steps}\nElm,0.1,0.2,0.3,0.35\nFir,0.1,0.3,0.5,0.6\n", settings)
    assert data.open("s").kind == "measurements"
    (problem,) = data.problems("s")
    assert "If the columns are steps, say form: long in source.yml" in problem
    data.write("s/source.yml", "form: long\nrename_metrics: {table: acc}\n")
    found = data.frame("s", "acc")
    assert [*map(float, steps.split(","))] == [*found[found["series"] == "Elm"]["step"]]
    assert [*found[found["series"] == "Fir"]["value"]] == [0.1, 0.3, 0.5, 0.6]


@pytest.mark.parametrize("hashes", [("5508087", "82e10ab", "9a0cc12"), ("5508087", "8210112", "1234e5a")])
def test_a_hash_of_digits_is_a_word(tmp_path: Path, hashes: tuple[str, ...]) -> None:
    """A commit may have digits only, or look like a number with an exponent."""
    rows = "".join(
        f"{name},{one},{40 + at},{60 + at}\n"
        for at, (name, one) in enumerate(zip("abc", hashes, strict=True))
    )
    (tmp_path / "t.csv").write_text(f"model,commit,pass_rate,easy_rate\n{rows}")
    done = call(tmp_path, "describe", "t.csv")
    assert done.returncode == 0
    assert "3 series, 2 benchmarks and 6 totals" in done.stdout
