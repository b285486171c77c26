"""Totals: scores of whole benchmarks without their problems, from harnesses and from tables."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import made_reader
import pytest
from command_line import call
from made_projects import SETTINGS, write_report
from made_sources import Data

import reportgen as rg
from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError
from reportgen.core.model import Figure, Stack
from reportgen.draft import describing
from reportgen.draft.report import draft
from reportgen.formats import registry
from reportgen.formats.sql import Engine
from reportgen.read import TotalsTable, open_source
from reportgen.settings.loading import load_source_settings
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.comparisons import ReportedScore

TABLE = "model,task,score,se,n\nA,gsm,0.5,0.02,500\nB,gsm,0.625,0.03,500\nA,mc,0.25,,100\nB,mc,nan,0.1,\n"
FORM = "form: totals\n"


def totals_of(data: Data, name: str = "s", **question: Any) -> list[ReportedScore]:  # noqa: ANN401 - passed on
    """The totals of a source."""
    return list(TotalsTable(data.root, data.open(name)).get_scores(**question))


def told(data: Data, **question: Any) -> list[str]:  # noqa: ANN401 - passed on
    """What is told of totals that cannot be read."""
    with pytest.raises(ReportError) as caught:
        totals_of(data, **question)
    return [str(problem) for problem in caught.value.problems]


def table(tmp_path: Path, text: str = TABLE, settings: str = FORM) -> Data:
    """A table of totals as the source ``s``."""
    data = Data(tmp_path)
    data.write("s/totals.csv", text)
    data.write("s/source.yml", settings)
    return data


def evaluations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *runs: dict[str, Any]) -> Data:
    """Evaluations of a made harness as the source ``s``."""
    made = registry.UnitFormat("made", made_reader.__name__, ("*.made",))
    monkeypatch.setattr(registry, "HARNESSES", (made, *registry.HARNESSES))
    data = Data(tmp_path)
    for place, run in enumerate(runs):
        data.write(f"s/{place}.made", json.dumps(run))
    return data


def evaluated(model: str, benchmark: str, *totals: tuple[Any, ...], **more: Any) -> dict[str, Any]:  # noqa: ANN401
    """An evaluation with totals: metric, value, and what else there is."""
    names = ("metric", "value", "stderr", "n", "higher_is_better")
    listed = [dict(zip(names, total, strict=False)) for total in totals]
    return {"model": model, "benchmark": benchmark, "totals": listed, **more}


def drawn(root: Path, page: str, **files: str) -> Stack:
    """What the only block of a page shows of sources."""
    write_report(root, {"content/index.md": page, "data/runs.csv": None, **files})
    folder = cache_folder(root)
    report = draft(
        Project(root, "content", ("index.md",), ProjectSettings()), Cache(folder), FileHashes(folder)
    )
    (block,) = report.shown.values()
    assert isinstance(block, Stack)
    return block


def test_scores_of_an_unknown_range_have_no_average(tmp_path: Path) -> None:
    """The answer says why, and a cell of totals without a score that it has none."""
    text = "Model,AIME,MATH\nElm,51.2,76.8\nFir,48,\n"
    files = {"data/s/source.yml": "title: X\n", "data/s/scores.csv": text}
    stack = drawn(tmp_path, "```comparison\nsource: s\n```\n", **files)
    assert "There is no average: the range of scores is not known on AIME, MATH." in str(stack.parts[0])
    assert "Fir has no score on MATH" in str(stack.parts[1])


def test_series_come_in_the_order_of_a_question(tmp_path: Path) -> None:
    """A benchmark that there is not is an error."""
    data = table(tmp_path)
    assert [one.series for one in totals_of(data, benchmark="gsm", series=("B", "A"))] == ["B", "A"]
    with pytest.raises(ReportError, match=r'no benchmark "gms". Did you mean "gsm"\? It has gsm and mc\.'):
        totals_of(data, benchmark="gms")


def test_a_share_is_told_from_other_numbers(tmp_path: Path) -> None:
    """0 to 1 is stated, or nothing speaks against it: neither a value beyond it nor a direction."""
    data = table(tmp_path)
    scores = totals_of(data, benchmark="gsm")
    assert TotalsTable(tmp_path, data.open("s")).get_range(scores, higher_is_better=True) == (0.0, 1.0)
    assert TotalsTable(tmp_path, data.open("s")).get_range(scores, higher_is_better=False) == (
        -math.inf,
        math.inf,
    )
    # One number beyond it, of another benchmark: 0.5 may be half a percent.
    percent = table(tmp_path / "x", TABLE.replace("0.25", "25"))
    scores = totals_of(percent, benchmark="gsm", series=("A",))
    assert TotalsTable(percent.root, percent.open("s")).get_range(scores, higher_is_better=True) == (
        -math.inf,
        math.inf,
    )
    stated = table(tmp_path / "y", settings=f"{FORM}score_range: [0, 100]\n")
    assert TotalsTable(stated.root, stated.open("s")).get_range([], higher_is_better=False) == (0.0, 100.0)


def test_totals_of_a_harness(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The first metric of each evaluation, with its benchmark, seed and direction; read once."""
    data = evaluations(
        monkeypatch,
        tmp_path,
        evaluated("A", "gsm", ("em", 0.5, 0.02, 500), ("f1", 0.6, 0.02, 500), seed="3"),
        evaluated("A", "wiki", ("ppl", 12.5, None, None, False)),
        evaluated("B", "gsm", ("em", 0.25, 0.02, 500)),
    )
    source = data.open("s")
    assert (source.kind, source.benchmarks, source.lower_is_better) == ("totals", ("gsm", "wiki"), ("wiki",))
    found = [one for name in source.benchmarks for one in totals_of(data, benchmark=name)]
    assert [(one.series, one.metric, one.value) for one in found] == [
        ("A", "em", 0.5),
        ("B", "em", 0.25),
        ("A", "ppl", 12.5),
    ]
    assert [one.seed for one in totals_of(data, benchmark="gsm")] == ["3", None]
    (warning,) = data.warnings("s")
    assert (
        "1 evaluation has scores by em and f1; em is taken. Confirm it with metrics: [em, ppl], or choose"
        in warning
    )
    data.write("s/source.yml", "metrics: [em, f1]\n")
    assert data.open("s").benchmarks == ("gsm (em)", "gsm (f1)", "wiki")
    (one,) = totals_of(data, benchmark="gsm (f1)")
    assert (one.metric, one.value) == ("f1", 0.6)
    data.write("s/source.yml", "metrics: [em, f2]\n")
    with pytest.raises(ReportError, match=r'there is no metric "f2"'):
        data.open("s")


def test_the_look_at_a_table_of_totals_is_kept(tmp_path: Path) -> None:
    """The second look is the first one."""
    table(tmp_path)
    cache = Cache(tmp_path / "cache")
    first, second = (
        open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache) for _ in range(2)
    )
    assert first.layout == second.layout
    assert second.kind == "totals"


def test_totals_of_no_named_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """They are those of the source."""
    data = evaluations(
        monkeypatch, tmp_path, evaluated("A", "", ("wer", 0.5)), evaluated("B", "", ("wer", 0.25))
    )
    source = data.open("s")
    assert (source.kind, source.benchmarks, source.lower_is_better) == ("totals", (), ("",))
    assert [(one.series, one.value) for one in totals_of(data)] == [("A", 0.5), ("B", 0.25)]


def test_totals_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A harness's file is not read again while it stands."""
    evaluations(monkeypatch, tmp_path, evaluated("A", "gsm", ("em", 0.5, 0.02, 500)))
    cache = Cache(tmp_path / "cache")
    made_reader.READ.clear()
    for _ in range(2):
        source = open_source(tmp_path, "data", "s", load_settings=load_source_settings, cache=cache)
        (one,) = TotalsTable(tmp_path, source).get_scores()
        assert (one.value, one.stderr, one.problems) == (0.5, 0.02, 500)
    assert made_reader.READ == ["0.made"]


def test_totals_of_many_evaluations_are_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A file for each would take most of the time to describe a folder of hundreds."""
    runs = [evaluated(f"M{number}", "gsm", ("em", number / 16)) for number in range(16)]
    data = evaluations(monkeypatch, tmp_path, *runs)
    cache = Cache(tmp_path / "cache")
    source = open_source(data.root, "data", "s", load_settings=load_source_settings, cache=cache)
    found = {one.series: one.value for one in TotalsTable(tmp_path, source).get_scores()}
    assert found == {f"M{number}": number / 16 for number in range(16)}
    assert len([*tmp_path.glob("cache/**/*.parquet")]) == 1


def test_totals_are_drawn_and_never_compared(tmp_path: Path) -> None:
    """Their intervals, no groups; several runs of a series are averaged, which is said."""
    text = (
        "model,task,seed,score,stderr,n\nA,gsm,1,0.5,0.02,500\nA,gsm,2,0.6,0.04,500\nB,gsm,1,0.4,0.02,500\n"
    )
    files = {"data/s/totals.csv": text, "data/s/source.yml": FORM}
    block = drawn(tmp_path, "# X\n\n```scores\nsource: s\n```\n", **files)
    assert block.title == "score on gsm"
    numbers = block.numbers["scores"]
    assert [(one["series"], one["estimate"], one["stderr"], one["runs"]) for one in numbers] == [
        ("A", pytest.approx(0.55), pytest.approx(0.03), 2),
        ("B", 0.4, 0.02, 1),
    ]
    assert {one["group"] for one in numbers} == {None}
    said = str(block.parts[0])
    assert (
        "as reported: the problems behind it are not known; of 1 to 2 runs the mean, with the mean of" in said
    )
    assert "No ranks: nothing was compared problem by problem." in said


def test_which_way_is_better_is_told_by_the_harness_and_else_by_the_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An author's word in a block counts before both."""
    one = evaluated("A", "wiki", ("word_perplexity", 12.5), ("acc", 0.5))
    other = evaluated("A", "odd", ("perplexity", 12.5, None, None, True))
    assert evaluations(monkeypatch, tmp_path, one, other).open("s").lower_is_better == ("wiki",)
    alone = table(tmp_path / "y", "model,wer\nA,0.2\nB,0.1\n", f"{FORM}columns: {{score: wer}}\n")
    files = {"data/s/totals.csv": "model,wer\nA,0.2\nB,0.1\n"}
    block = drawn(alone.root, "# X\n\n```scores\nsource: s\n```\n", **files)
    assert block.numbers["higher_is_better"] is False
    block = drawn(alone.root, "# X\n\n```scores\nsource: s\nhigher_is_better: true\n```\n", **files)
    assert block.numbers["higher_is_better"] is True


def test_numbers_of_an_unknown_range_have_no_average(tmp_path: Path) -> None:
    """8.4 of ten and 45.2 of a hundred are not averaged, unless their range is stated."""
    text = "model,benchmark,score\nA,talk,8.4\nA,math,45.2\nB,talk,8.1\nB,math,50\n"
    page = "# X\n\n```comparison\nsource: s\n```\n"
    files = {"data/s/totals.csv": text, "data/s/source.yml": FORM}
    block = drawn(tmp_path, page, **files)
    average = block.numbers["macro"]["A"]["score"]
    assert average["estimate"] is None
    assert average["reason"] == "no average: the range of scores is not known on talk, math"
    assert "macro average" not in set(rg.scores(rg.read(tmp_path / "data" / "s"))["benchmark"])
    stated = drawn(tmp_path, page, **{**files, "data/s/source.yml": f"{FORM}score_range: [0, 100]\n"})
    assert stated.numbers["macro"]["A"]["score"]["estimate"] == pytest.approx(26.8)
    assert block.numbers["series"]["A"]["talk"]["score"]["problems"] is None


def test_the_protocol_of_totals_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Scores of other shots are flagged; only the benchmarks that a filter leaves are there."""
    one = evaluated("A", "gsm", ("em", 0.5), protocol={"prompt": "0-shot"})
    other = evaluated("B", "gsm", ("em", 0.6), protocol={"prompt": "25-shot"})
    more = evaluated("B", "arc", ("em", 0.6), protocol={"prompt": "25-shot"})
    evaluations(monkeypatch, tmp_path, one, other, more)
    block = drawn(tmp_path, "# X\n\n```scores\nsource: s\nbenchmark: gsm\n```\n")
    assert "Mixed protocols: prompt is 25-shot" in str(block.parts[0])
    (tmp_path / "data/s/source.yml").write_text("filter: {benchmark: arc}\n", encoding="utf-8")
    assert Data(tmp_path).open("s").benchmarks == ("arc",)


def test_totals_in_a_notebook(tmp_path: Path) -> None:
    """As frames; shares have an average, a mixture has none, and nothing is compared."""
    data = rg.read(table(tmp_path, TABLE.replace("nan", "0.75")).root / "data" / "s")
    frame = rg.scores(data)
    assert frame[["benchmark", "series", "estimate"]].to_numpy().tolist() == [
        ["gsm", "B", 0.625],
        ["gsm", "A", 0.5],
        ["mc", "B", 0.75],
        ["mc", "A", 0.25],
        ["macro average", "B", 0.6875],
        ["macro average", "A", 0.375],
    ]
    assert frame["group"].isna().all()
    assert frame["low"][1] == pytest.approx(0.5 - 1.959964 * 0.02)
    with pytest.raises(ReportError, match="holds totals only, which give no pass@k"):
        rg.scores(data, "pass@4")
    with pytest.raises(ReportError, match="holds totals only, and no answers to single problems"):
        rg.compare(data)
    mixed = rg.read(table(tmp_path / "x", TABLE.replace("nan", "75")).root / "data" / "s")
    assert set(rg.scores(mixed)["benchmark"]) == {"gsm", "mc"}


def test_benchmarks_of_totals_stand_side_by_side(tmp_path: Path) -> None:
    """With their average, and without any verdict."""
    files = {"data/s/totals.csv": TABLE.replace("nan", "0.75"), "data/s/source.yml": FORM}
    page = "# X\n\n```comparison\nsource: s\nbaseline: A\n```\n"
    block = drawn(tmp_path, page, **files)
    cells = block.numbers["series"]["B"]
    assert cells["gsm"]["score"]["estimate"] == 0.625
    assert cells["gsm"]["against"] is None
    assert cells["gsm"]["reason"] == "as reported: without problems nothing can be paired"
    assert block.numbers["macro"]["B"]["score"]["estimate"] == pytest.approx((0.625 + 0.75) / 2)
    said = str(block)
    assert "How large a difference on mc has to be to be found is not known: its problems are not." in said
    assert "problems like theirs" not in said
    alone = str(drawn(tmp_path, page.replace("baseline: A\n", "")))
    assert "Totals are not tested: the problems behind them are not known." in alone


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("passk", 'a passk block shows answers to problems, and "s" holds totals only. Let the harness'),
        ("problems", "a problems block shows answers to problems"),
        ("runs", "a runs block shows answers to problems"),
        ("scores\nmetric: pass@4", "holds totals only, which give no pass@4"),
        ("comparison\nbenchmark: gsm", "without problems nothing can be paired. Write a scores block"),
        ("scatter\nx: tokens", "a scatter block shows answers to problems"),
        ("distribution", "a distribution block shows answers to problems"),
        ("curve", 'draws measurements, and "s" holds scores. Write a scores block instead'),
    ],
)
def test_blocks_that_need_answers(tmp_path: Path, block: str, message: str) -> None:
    """Each says what totals lack, and what to do."""
    kind, _, more = block.partition("\n")
    files = {"data/s/totals.csv": TABLE, "data/s/source.yml": FORM}
    asked = more if "benchmark" in more or kind == "curve" else f"benchmark: gsm\n{more}"
    with pytest.raises(ReportError) as caught:
        drawn(tmp_path, f"# X\n\n```{kind}\nsource: s\n{asked}\n```\n", **files)
    assert message in str(caught.value)


def test_a_benchmark_of_totals_has_a_page_of_its_own(tmp_path: Path) -> None:
    """It is generated with the one block that can be drawn."""
    settings = SETTINGS + "extra:\n  reportgen: {}\n"
    settings = settings.replace(
        "plugins: [reportgen]", "plugins:\n  - reportgen:\n      benchmarks: [{name: gsm, source: s}]"
    )
    write_report(
        tmp_path,
        {
            "mkdocs.yml": settings,
            "content/index.md": "# X\n",
            "data/runs.csv": None,
            "data/s/totals.csv": TABLE,
            "data/s/source.yml": FORM,
        },
    )
    done = call(tmp_path, "build", "--strict")
    assert done.returncode == 0, done.stderr
    assert "score on gsm" in (tmp_path / "site/gsm/index.html").read_text(encoding="utf-8")


def test_benchmarks_of_both_directions_have_no_average(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A perplexity and an accuracy are not averaged; each is drawn by itself, the right way round."""
    one = evaluated("A", "gsm", ("em", 0.5, 0.02, 500))
    other = evaluated("A", "wiki", ("ppl", 12.5, 0.5, None, False))
    better = evaluated("B", "wiki", ("ppl", 10.5, 0.5, None, False))
    evaluations(monkeypatch, tmp_path, one, other, better)
    with pytest.raises(ReportError, match=r'on "wiki", and higher on "gsm": they have no average'):
        drawn(tmp_path, "# X\n\n```comparison\nsource: s\n```\n")
    block = drawn(tmp_path, "# X\n\n```scores\nsource: s\nbenchmark: wiki\n```\n")
    figure = block.parts[0]
    assert isinstance(figure, Figure)
    assert [one["name"] for one in figure.numbers["series"]] == ["B", "A"]
    assert figure.table.rows[0][:3] == ("B", "10.50", "[9.52, 11.48]")
    assert "Lower is better." in str(block)


def statements_of(monkeypatch: pytest.MonkeyPatch, root: Path, benchmarks: int) -> tuple[int, int]:
    """How many statements the database gets to describe, and to compare on, so many benchmarks."""
    rows = "".join(
        f"{model},b{place},{(place + 1) / 100},0.01,100\n" for place in range(benchmarks) for model in "ABC"
    )
    block = "```comparison\nsource: s\nbaseline: A\n```\n"
    write_report(root, {"data/s/scores.csv": f"model,task,score,se,n\n{rows}", "data/s/source.yml": FORM})
    count = 0
    cursor = Engine.open_cursor

    def counting(one: Engine) -> Any:  # noqa: ANN401 - DuckDB's
        nonlocal count
        count += 1
        return cursor(one)

    with monkeypatch.context() as patched:
        patched.setattr(Engine, "open_cursor", counting)
        told = describing.describe_path(root / "data/s", root, "s", FileHashes(root / ".kept"), None)
        assert len(told.counts.totals) == 3 * benchmarks
        described, count = count, 0
        drawn(root, block, **{"data/s/scores.csv": f"model,task,score,se,n\n{rows}"})
    return described, count


def test_many_benchmarks_take_no_more_statements_than_few(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """All are read at once, where they are described and where they are drawn."""
    few = statements_of(monkeypatch, tmp_path / "few", 3)
    assert min(few) > 0
    assert statements_of(monkeypatch, tmp_path / "many", 30) == few
