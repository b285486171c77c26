"""Statements in a draft: held against the data, told where they do not hold, and computed once."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from made_projects import write_file, write_report

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import ReportError, Severity
from reportgen.core.model import Figure, Observations
from reportgen.core.statements import Truth
from reportgen.draft.report import draft
from reportgen.figures.text import write_link_state
from reportgen.settings.report import Project, ProjectSettings

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.draft.report import Report

HEAD = "---\nbenchmark: {name: Small, source: runs, metric: accuracy}\n---\n\n# Small\n\n"
CURVE = "```curve\nid: scores\n```\n\n"
# MEL ends at 0.82, the mean of 0.84 and 0.80; GRPO at 0.72.
SINGLE = "series,step,accuracy\nMEL,0,0.2\nMEL,10,0.82\nGRPO,0,0.2\nGRPO,10,0.72\n"
ANSWERS = "series,problem,score\n" + "".join(
    f"{name},{problem},{int(problem % every != 0)}\n"
    for name, every in (("MEL", 9), ("GRPO", 2))
    for problem in range(40)
)


def drafted(root: Path, text: str, *, page: str = HEAD + CURVE, runs: str | None = None) -> Report:
    """The draft of a page with a figure and some words below it."""
    files: dict[str, str | bytes | None] = {"content/index.md": page + text, "data/answers.csv": ANSWERS}
    if runs:
        files["data/runs.csv"] = runs
    write_report(root, files)
    return again(root)


def again(root: Path, cache: Cache | None = None, pages: tuple[str, ...] = ("index.md",)) -> Report:
    """The draft of the report as it stands."""
    folder = cache_folder(root)
    project = Project(root, "content", pages, ProjectSettings())
    return draft(project, cache or Cache(folder), FileHashes(folder))


def refusals(root: Path, text: str) -> list[str]:
    """What stops the draft of a page with some words."""
    with pytest.raises(ReportError) as error:
        drafted(root, text)
    return [str(problem) for problem in error.value.problems]


def test_what_holds_passes_in_silence(tmp_path: Path) -> None:
    """Values to the digits typed and claims that hold are no problem, and all are counted."""
    report = drafted(
        tmp_path,
        'MEL ends at [0.82]{value="final(MEL)"}, [above GRPO]{claim="final(MEL) > final(GRPO)"} by\n'
        '[10 points]{value="final(MEL) - final(GRPO)"} at [step 10]{value="peak_step(MEL)"}.\n',
    )
    assert report.problems == ()
    statements = report.statements["index.md"]
    assert [one.number for one in statements] == [1, 2, 3, 4]
    assert all(one.judgement.truth is Truth.HOLDS and one.as_expected for one in statements)
    assert {one.figure for one in statements} == {"scores"}
    assert statements[0].state == write_link_state("scores", ["MEL"], mark=(10, "MEL"))


def test_what_does_not_hold_is_a_warning_at_its_place(tmp_path: Path) -> None:
    """It names file, line and column, what was written, and what the data say."""
    report = drafted(
        tmp_path,
        'MEL ends at [0.9]{value="final(MEL)"}.\nSo [GRPO wins]{claim="final(GRPO) > final(MEL)"}.\n',
    )
    value, claim = report.problems
    assert {problem.severity for problem in report.problems} == {Severity.WARNING}
    assert str(value) == (
        'content/index.md:11:13: "0.9" but final(MEL) = 0.82 [0.57, 1.07] at step 10. '
        '"reportgen fix --write" writes "0.8".'
    )
    assert str(claim).startswith(
        'content/index.md:12:4: "GRPO wins" is not so: final(GRPO) > final(MEL) fails: 0.72 is not'
    )


def test_what_is_written_with_variables_is_to_be_mended_by_hand(tmp_path: Path) -> None:
    """``fix`` leaves such pages alone, where what is read is not what is written."""
    text = '{{ model }} ends at [0.9]{value="final(MEL)"}.\n'
    head = HEAD.replace("---\n", "---\nmodel: MEL\n", 1)
    (problem,) = drafted(tmp_path, text, page=head + CURVE).problems
    assert problem.next_step == 'Write "0.8"'


def test_what_nobody_can_know_is_told_with_its_reason(tmp_path: Path) -> None:
    """One run of each decides nothing about other runs."""
    report = drafted(tmp_path, '[MEL is better]{claim="better(MEL, GRPO)"}', runs=SINGLE)
    (problem,) = report.problems
    assert "cannot be decided: 1 run of" in problem.message
    assert report.statements["index.md"][0].judgement.truth is Truth.UNDECIDED


def test_a_claim_expected_to_fail_is_told_when_it_holds(tmp_path: Path) -> None:
    """As long as it fails nothing is said; a claim that cannot be decided is told all the same."""
    failing = '[GRPO wins]{claim="final(GRPO) > final(MEL)" fails="a longer run is under way"}'
    assert drafted(tmp_path / "a", failing).problems == ()
    (problem,) = drafted(tmp_path / "b", failing.replace(">", "<")).problems
    assert 'was expected to fail ("a longer run is under way")' in problem.message
    assert problem.next_step == "Take fails= away"


def test_outcomes_decide_who_is_better(tmp_path: Path) -> None:
    """Verdict, tier and score come from the comparison of the figure that is named."""
    page = "# Scores\n\n```scores\nid: answers\nsource: answers\n```\n\n"
    text = (
        '[MEL is better]{claim="better(MEL, GRPO) and group(MEL) = 1" of="answers"} '
        '[or not]{claim="not unclear(MEL, GRPO)" of="answers"}, '
        '[50 %]{value="score(GRPO)" of="answers"}.\n'
    )
    report = drafted(tmp_path, text, page=page)
    assert report.problems == ()
    assert [one.metric for one in report.statements["index.md"]] == ["score on answers"] * 3


def test_old_names_are_warned_of(tmp_path: Path) -> None:
    """With file, line and what to write instead; they keep working."""
    page = "# Scores\n\n```scores\nid: answers\nsource: answers\n```\n\n"
    report = drafted(tmp_path, '[MEL leads]{claim="not tied(MEL, GRPO)" of="answers"}.\n', page=page)
    (problem,) = report.problems
    assert report.statements["index.md"][0].judgement.truth is Truth.HOLDS
    assert str(problem) == (
        'content/index.md:8:20: "tied" is an old name of a fact. Write unclear(a, b), or '
        "equivalent(a, b, margin) for two that are equal within a margin. [old-name-fact]"
    )
    assert problem.severity is Severity.WARNING


def test_faults_are_told_at_their_column_all_at_once(tmp_path: Path) -> None:
    """Unknown series and facts, and units that do not meet, stop the draft like any other mistake."""
    said = refusals(
        tmp_path,
        '[0.8]{value="final(MELL)"} and [1]{value="summit(MEL)"}\n\n'
        '[odd]{claim="final(MEL) > peak_step(MEL)"} and [8 steps]{value="final(MEL)"}\n',
    )
    assert [line.partition(" ")[0] for line in said] == [
        "content/index.md:11:20:",
        "content/index.md:11:43:",
        "content/index.md:13:14:",
        "content/index.md:13:48:",
    ]
    assert "Did you mean MEL?" in said[0]


def test_facts_are_computed_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draft with other words about the same facts reads no data."""
    drafted(tmp_path, 'MEL ends at [0.82]{value="final(MEL)"}.\n')
    monkeypatch.setattr(
        import_module("reportgen.read"),
        "read_measurements",
        lambda *_, **__: pytest.fail("the data were read again"),
    )
    write_file(tmp_path / "content/index.md", HEAD + CURVE + 'It ends at [0.9]{value="final(MEL)"}.\n')
    (problem,) = again(tmp_path).problems
    assert "final(MEL) = 0.82" in problem.message


def test_a_claim_about_invalid_data_hides_no_other_problem(tmp_path: Path) -> None:
    """The data are one problem, a metric that does not exist on another page is one more."""
    claimed = f'{HEAD}{CURVE}MEL [wins]{{claim="final(MEL) > 0.1"}}.'
    other = "# Other\n\n```curve\nsource: other\nmetric: nothing\n```\n"
    files = {"content/index.md": claimed, "content/other.md": other, "data/other.csv": SINGLE}
    write_report(tmp_path, {**files, "data/runs.csv": SINGLE.replace("0.82", "oops")})
    with pytest.raises(ReportError) as error:
        again(tmp_path, pages=("index.md", "other.md"))
    places = [problem.location.file for problem in error.value.problems]
    assert places == ["content/other.md", "data/runs.csv"]


def test_pages_and_figures_of_one_metric_share_what_was_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None forgets what another one stored: nothing is judged again."""
    two = "```curve\nid: again\n```\n\n"
    words = 'MEL ends at [0.82]{value="final(MEL)"} and GRPO at [0.72]{value="final(GRPO)" of="again"}.'
    head = HEAD.replace("name: Small", "name: Same")
    other = f'{head}{CURVE}MEL [wins]{{claim="final(MEL) > final(GRPO)"}}.'
    write_report(tmp_path, {"content/index.md": HEAD + CURVE + two + words, "content/other.md": other})
    before = again(tmp_path, pages=("index.md", "other.md")).statements
    assert [len(found) for found in before.values()] == [2, 1]
    monkeypatch.setattr(import_module("reportgen.claims.judge"), "judge", None)
    assert again(tmp_path, pages=("index.md", "other.md")).statements == before


def test_facts_are_about_every_step_and_unsmoothed(tmp_path: Path) -> None:
    """Where a figure bins and smooths, a claim is about the data behind it."""
    rows = "series,step,accuracy\n" + "".join(f"MEL,{step},{int(step == 700)}\n" for step in range(1000))
    page = HEAD + "```curve\nid: scores\nsmooth: 0.9\nmax_points: 20\n```\n\n"
    text = '[1]{value="peak(MEL)"} at [step 700]{value="peak_step(MEL)"}'
    assert drafted(tmp_path, text, page=page, runs=rows).problems == ()


def test_a_named_claim_is_marked_in_its_figure(tmp_path: Path) -> None:
    """The point that its facts name, with the fact's name and value."""
    page = HEAD + "```curve\nid: scores\nannotate: [late]\n```\n\n"
    report = drafted(tmp_path, '[MEL is late]{claim="peak(MEL) > 0.5" name="late"}', page=page)
    figure = report.shown["index.md", "scores"]
    assert isinstance(figure, Figure)
    assert "peak 0.82" in str(figure.inline_svg)
    with pytest.raises(ReportError, match='"annotate: late" names no claim of this page'):
        drafted(tmp_path / "b", "no claim", page=page)
    twice = '[a]{claim="peak(MEL) > 0.5" name="late"} [b]{claim="peak(MEL) > 0.4" name="late"}'
    with pytest.raises(ReportError, match='"annotate: late" names 2 claims of this page'):
        drafted(tmp_path / "c", twice, page=page)


def test_observations_are_a_block_of_their_own(tmp_path: Path) -> None:
    """As many as asked for, each linked to the figure; the rest are counted."""
    report = drafted(tmp_path, "```observations\ncount: 1\n```\n", runs=SINGLE)
    shown = report.shown["index.md", "observations"]
    assert isinstance(shown, Observations)
    assert len(shown.items) == 1
    assert shown.more > 0
    assert shown.items[0].state.startswith("scores")


def test_observations_of_several_metrics_say_which(tmp_path: Path) -> None:
    """What a panel is called stands first, and the sentence goes on with a small letter or a name."""
    rows = "series,step,reward,loss\n" + "".join(
        f"{name},{step},{0.1 * step * way},{2 - 0.1 * step * way}\n"
        for name, way in (("MEL", 1), ("GRPO", 2))
        for step in range(4)
    )
    page = (
        "# Panels\n\n```panels\nid: two\nsource: runs\n"
        "metrics: [reward, {metric: loss, title: Loss, higher_is_better: false}]\n```\n\n"
        "```observations\nof: two\ncount: 40\n```\n"
    )
    report = drafted(tmp_path, "", page=page, runs=rows)
    shown = report.shown["index.md", "observations"]
    assert isinstance(shown, Observations)
    texts = [one.text for one in shown.items]
    assert {text.partition(": ")[0] for text in texts if one_metric(text)} == {"reward", "Loss"}
    assert not any(re.match(r"(reward|Loss): [A-Z](?!EL|RPO)", text) for text in texts)
    assert {one.figure for one in shown.items} == {"two-1", "two-2"}


def one_metric(text: str) -> bool:
    """Whether a sentence is about one metric, not about two that part company."""
    return ": " in text.partition(",")[0]
