"""``reportgen facts`` and ``reportgen observations``: what can be said of a source, at the terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from command_line import call
from made_projects import RUNS, write_report

from reportgen.cli.main import cli
from reportgen.core.facts import FACTS, list_fact_kinds

if TYPE_CHECKING:
    from pathlib import Path

LOSS = "series,step,loss,reward\n" + "".join(f"A,{n},{1 / (n + 1)},{n * n}\n" for n in range(30))
OUTCOMES = "model,benchmark,problem,correct\n" + "".join(
    f"{model},{benchmark},{problem},{int(problem % 7 < skill)}\n"
    for model, skill in (("Aspen", 6), ("Birch-2", 2))
    for benchmark in ("maths", "code")
    for problem in range(40)
)
DATED = "series,date,value\n" + "".join(f"A,2024-05-{day:02},{day}\n" for day in range(1, 29))


def told(folder: Path, *words: str) -> str:
    """What a command that goes well prints."""
    done = call(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with sources of every kind."""
    files = {
        "data/runs.csv": RUNS,
        "data/losses.csv": LOSS,
        "data/answers.csv": OUTCOMES,
        "data/dated.csv": DATED,
        "data/dated.source.yml": "columns: {step: date}\n",
        "data/odd.csv": RUNS.replace("MEL", "and").replace("GRPO", "Series A"),
    }
    return write_report(tmp_path_factory.mktemp("facts") / "report", files)


# ---- facts --------------------------------------------------------------------------------------


def test_every_fact_stands_in_the_list(report: Path) -> None:
    """With its meaning, and for each series or pair the call to paste and what the data say."""
    said = told(report, "facts", "runs")
    assert said.startswith("runs: accuracy of 2 series, higher is better\n")
    for kind in FACTS.values():
        listed = "curves" in kind.holds and not kind.instead
        assert (f"\n{kind.signature}  {kind.says}" in said) == listed
    assert re.search(r"\n  peak\(MEL\) +0\.82 at step 10: best of \d checkpoints\n", said)
    assert re.search(r"\n  peak_step\(GRPO\) +step 10\n", said)
    assert re.search(r"\n  crossings\(MEL, GRPO\) +\d", said)


def test_facts_at_a_step_of_ones_choice_have_an_example(report: Path) -> None:
    """A step, range or level that the curve has, so that the call can be changed and not invented."""
    said = told(report, "facts", "runs")
    assert re.search(r"at\(s, x\) .* For example:\n  at\(MEL, 10\) +0\.82", said)
    assert re.search(r"For example:\n  mean\(MEL, 0, 10\) +0\.5", said)
    assert re.search(r"For example:\n  steps_to\(MEL, 0\.5\d?\) +step \d", said)
    assert re.search(r"For example:\n  gap\(MEL, GRPO, 10\) +\+0\.1", said)


def test_facts_of_scores(report: Path) -> None:
    """Of the benchmark that is asked for, in percent."""
    said = told(report, "facts", "answers", "--benchmark", "maths")
    assert re.search(r"\n  score\(Aspen\) +8\d\.\d% \[", said)
    assert re.search(r"\n  better\(Aspen, Birch-2\) +true: difference \+", said)
    assert "peak(" not in said


def test_names_that_need_quotes_have_them(report: Path) -> None:
    """Also in the line that says how a fact is written into a page."""
    said = told(report, "facts", "odd")
    assert "\n  peak('Series A') " in said
    assert "\n  peak('and') " in said
    assert "[the number]{value=\"start('and')\"}" in said


def test_steps_that_are_dates_are_written_as_dates(report: Path) -> None:
    """As they have to be pasted."""
    said = told(report, "facts", "dated")
    assert re.search(r"\n  at\(A, '2024-05-28'\) +28", said)


def test_one_series_has_no_pairs(report: Path) -> None:
    """The list says what is missing."""
    said = told(report, "facts", "losses", "--metric", "loss")
    assert "crossings(a, b)  " in said
    assert said.count("It needs two series.") == sum(
        "b" in [parameter.name for parameter in kind.parameters] for kind in list_fact_kinds("curves")
    )


UNKNOWN = [
    (
        ("facts", "runz"),
        r'data: error: there is no source "runz" in data/\. Did you mean "runs"\? The sources are',
    ),
    (("observations", "runz"), r'data: error: there is no source "runz" in data/\. Did you mean "runs"\?'),
    (("facts", "losses"), r"data/losses\.csv: error: .*losses.*loss"),
    (
        ("facts", "losses", "-m", "los"),
        r'losses\.csv: error: "los" is no metric .*Did you mean "loss"\?',
    ),
    (("facts", "answers", "-b", "math"), r'error: "math" is no benchmark .*Did you mean "maths"\?'),
]


@pytest.mark.parametrize(("words", "said"), UNKNOWN, ids=[" ".join(words) for words, _ in UNKNOWN])
def test_what_is_not_there_is_told_with_what_is(report: Path, words: tuple[str, ...], said: str) -> None:
    """The nearest name and the list, and it leaves with 1."""
    done = call(report, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search(said, done.stderr), done.stderr
    assert done.stderr.count("\n") == 2


def test_help_lists_the_vocabulary() -> None:
    """Every fact with its meaning, so that no page of the guide is needed at the terminal."""
    said = CliRunner().invoke(cli, ["facts", "--help"], prog_name="reportgen").output
    flat = " ".join(said.split())
    for kind in FACTS.values():
        assert (f"{kind.signature} {' '.join(kind.says.split())}" in flat) == (not kind.instead)


# ---- observations -------------------------------------------------------------------------------


def test_observations_are_sentences_with_what_they_rest_on(report: Path) -> None:
    """The sentence on a line of its own, to be copied; below it the rule and its evidence."""
    lines = told(report, "observations", "losses", "--metric", "reward").splitlines()
    assert lines
    assert all(line.endswith(".") for line in lines[::2])
    assert all(re.match(r"  [a-z ]+: .+", line) for line in lines[1::2])


def test_a_count_cuts_the_list_and_says_so(report: Path) -> None:
    """What is left out is told apart from the sentences."""
    whole = told(report, "observations", "runs", "--count", "100").splitlines()
    assert len(whole) > 2
    done = call(report, "observations", "runs", "--count", "1")
    assert done.stdout.splitlines() == whole[:2]
    count = len(whole) // 2
    assert done.stderr == f"{count - 1} more; --count {count} shows all.\n"


def test_no_count_is_wrong_usage(report: Path) -> None:
    """At least one sentence is asked for."""
    assert call(report, "observations", "runs", "--count", "0").returncode == 2
