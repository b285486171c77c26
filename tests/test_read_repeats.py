"""Rows of one step of one run: a resume, a column that is the series by what it holds, or an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command_line import call
from made_sources import Data

from reportgen.core.errors import ReportError
from reportgen.draft.blocks.draw_inputs import list_notes
from reportgen.read import read_measurements, read_outcomes
from reportgen.read.tables import distinguish
from reportgen.statistics.curves.reduce import reduce
from reportgen.statistics.problem_scores import group_problem_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

ASKS = (
    "Set in source.yml repeat: runs (each row is of a run of its own), repeat: mean (they are averaged) or "
    "repeat: last (the last one counts)."
)
OTHERWISE = ASKS.replace("Set in source.yml", "Otherwise set")


def lines(header: str, rows: Iterable[Sequence[object]]) -> str:
    """A CSV file."""
    return "\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n"


def curve(rate: float, steps: Iterable[int]) -> list[tuple[float, float]]:
    """Steps and values that no other rate gives."""
    return [(step, round(rate * (step + 1), 6)) for step in steps]


def reduced(data: Data, name: str, metric: str, **question: Any) -> dict[tuple[str, str], list[float]]:  # noqa: ANN401 - passed on
    """The values of each run, as they are drawn."""
    found = reduce(read_measurements(data.root, data.open(name), (metric,), **question))[metric]
    return {(one.series, one.run): one.values.tolist() for one in found.runs}


def problem(data: Data, name: str, metric: str, **question: Any) -> str:  # noqa: ANN401 - passed on
    """The one thing that is told of a source that cannot be drawn."""
    with pytest.raises(ReportError) as caught:
        reduced(data, name, metric, **question)
    (told,) = caught.value.problems
    return str(told)


AGENTS = [
    (agent, *row) for agent, rate in (("DQN", 1), ("PPO", 2), ("SAC", 3)) for row in curve(rate, range(30))
]


@pytest.mark.parametrize("column", ["Agent", "algo", "optimizer", "env", "Ansatz", "方法", "my method"])
@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "json", "parquet"])
def test_the_only_column_of_words_that_tells_rows_apart_is_the_series(
    tmp_path: Path, column: str, ending: str
) -> None:
    """Whatever it is called, in every format: all rows count, where only those of the last name did."""
    data = Data(tmp_path)
    rows = ", ".join(f"('{agent}', {step}, {value})" for agent, step, value in AGENTS)
    data.parquet("a.parquet", f'SELECT * FROM (VALUES {rows}) AS t("{column}", step, reward)')  # noqa: S608
    if ending != "parquet":
        import duckdb  # noqa: PLC0415 - only here

        path = tmp_path / "data/a"
        options = {"csv": "csv", "tsv": "csv, DELIMITER '\t'", "jsonl": "json", "json": "json, ARRAY true"}[
            ending
        ]
        duckdb.sql(f"COPY (FROM '{path}.parquet') TO '{path}.{ending}' (FORMAT {options})")
        (tmp_path / "data/a.parquet").unlink()
    source = data.open("a")
    assert list(reduced(data, "a", "reward")) == [("DQN", ""), ("PPO", ""), ("SAC", "")]
    assert [len(values) for values in reduced(data, "a", "reward").values()] == [30, 30, 30]
    assert source.settings.columns.series == column


def test_the_series_of_a_long_table_is_found_too(tmp_path: Path) -> None:
    """Its rows have a metric besides the step."""
    data = Data(tmp_path)
    rows = [(agent, step, metric, value) for metric in ("loss", "acc") for agent, step, value in AGENTS]
    data.write("a.csv", lines("Agent,step,metric,value", rows))
    assert list(reduced(data, "a", "acc")) == [("DQN", ""), ("PPO", ""), ("SAC", "")]


def test_a_column_that_has_one_name_a_run_is_the_series(tmp_path: Path) -> None:
    """Runs of two optimizers are not averaged as runs of one series."""
    data = Data(tmp_path)
    rows = [
        (f"r{place}", "adam" if place < 3 else "sgd", "node1", *row)
        for place in range(6)
        for row in curve(place + 1, range(5))
    ]
    data.write("a.csv", lines("run_id,optimizer,hostname,step,loss", rows))
    assert {series for series, _ in reduced(data, "a", "loss")} == {"adam", "sgd"}
    data.write(
        "b.csv", lines("run_id,note,step,loss", [(row[0], f"n{row[0]}-{row[3]}", *row[3:]) for row in rows])
    )
    assert {series for series, _ in reduced(data, "b", "loss")} == {"b"}


def test_runs_that_differ_are_told_where_several_columns_say_it(tmp_path: Path) -> None:
    """Also by numbers that do not change in a run, and by their names; ``columns`` says that it is meant."""
    data = Data(tmp_path)
    names = ["base_seed0", "base_seed1", "wide_seed0", "wide_seed1"]

    def told(name: str, header: str, *more: Sequence[object]) -> list[str]:
        rows = [
            (run, *(cells[place] for cells in more), *row)
            for place, run in enumerate(names)
            for row in curve(place + 1, range(5))
        ]
        data.write(f"{name}.csv", lines(header, rows))
        return data.warnings(name)

    meant = "or columns: {run: run} if they are repetitions of one experiment."
    assert told("a", "run,opt,data,step,loss", "aabb", "ccdd") == []
    assert problem(data, "a", "loss") == (
        'data/a.csv:12: runs of the series "a" differ in "opt" and "data", and would be averaged as one: '
        '"opt" is "a" in line 2 and "b" here. Set columns: {series: [opt, data]} in source.yml to compare '
        'them, or columns: {run: run} to average over "opt" and "data". A block may have by: opt or a '
        "filter: instead."
    )
    (number,) = told("b", "run,lr,step,loss", (0.1, 0.1, 0.2, 0.2))
    assert 'differ in "lr"' in number
    (named,) = told("c", "run,step,loss")
    assert named == (
        'data/c.csv: runs of the series "c" are called base and wide, and are averaged as one. '
        f"Set columns: {{series: run}} in data/c.source.yml to compare them, {meant}"
    )
    data.write("c.source.yml", "columns: {run: run}")
    assert data.warnings("c") == []
    names[:] = ["a1b2c3d4", "9f8e7d6c", "0a1b2c3d", "77aa88bb"]
    assert told("d", "run,step,loss") == []


OPTIMIZERS = [
    ("m", f"r{run}", "adam" if run < 3 else "sgd", run % 2 / 10, *row)
    for run in range(6)
    for row in curve(run + 1, range(4))
]


@pytest.mark.parametrize("run", ["run_id", "seed"])
def test_runs_of_one_model_that_differ_in_words_are_not_averaged(tmp_path: Path, run: str) -> None:
    """The optimizer is an error with its lines, unless ``source.yml`` or a block decides about it."""
    data = Data(tmp_path)
    data.write("a.csv", lines(f"model,{run},optimizer,step,loss", [(*r[:3], *r[4:]) for r in OPTIMIZERS]))
    found = problem(data, "a", "loss")
    assert found == (
        'data/a.csv:14: runs of the series "m" differ in "optimizer", and would be averaged as one: '
        '"optimizer" is "adam" in line 2 and "sgd" here. Set columns: {series: [model, optimizer]} in '
        'source.yml to compare them, or columns: {series: model} to average over "optimizer". A block may '
        "have by: optimizer or a filter: instead."
    )
    assert {series for series, _ in reduced(data, "a", "loss", by=("optimizer",))} == {"adam", "sgd"}
    assert len(reduced(data, "a", "loss", where={"optimizer": "sgd"})) == 3
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    assert "series: [model, optimizer]\n" in done.stdout
    data.write("a.source.yml", "columns: {series: [model, optimizer]}")
    assert {series for series, _ in reduced(data, "a", "loss")} == {"m, optimizer=adam", "m, optimizer=sgd"}
    data.write("a.source.yml", "columns: {series: model}")
    assert len(reduced(data, "a", "loss")) == 6


def test_runs_of_one_model_that_differ_in_a_number_are_a_warning(tmp_path: Path) -> None:
    """Figures note it, too; a metric, a name without repetitions, a host or a note is no setting."""
    data = Data(tmp_path)
    rows = [
        (*r[:2], r[3], f"node-{'ab'[int(r[1][1]) % 2]}", f"id{r[1]}", "ok", 1 if r[3] else 0, *r[4:])
        for r in OPTIMIZERS
    ]
    data.write("a.csv", lines("model,run_id,lr,host,nick,status,success,step,loss", rows))
    (warning,) = data.warnings("a")
    assert warning == (
        'data/a.csv: runs of the series "m" differ in "lr", and are averaged as one. Set columns: {series: '
        "[model, lr]} in data/a.source.yml to compare them, or columns: {series: model} if they are "
        "repetitions of one experiment."
    )
    assert list_notes(data.open("a")) == (
        'a.csv: runs of the series "m" differ in "lr", and are averaged as one.',
    )
    assert len(reduced(data, "a", "loss")) == 6
    data.write("a.source.yml", "columns: {series: model}")
    assert data.warnings("a") == []


def test_what_changes_within_any_run_is_no_setting(tmp_path: Path) -> None:
    """A metric may stand still in all runs of one series."""
    data = Data(tmp_path)
    rows = [
        (model, f"{model}{run}", step, step, run + step * (model == "b"))
        for model in "ab"
        for run in (0, 1)
        for step in (1, 2)
    ]
    data.write("a.csv", lines("model,run_id,step,loss,depth", rows))
    assert data.warnings("a") == []


def test_answers_of_runs_that_differ_in_words_are_not_averaged(tmp_path: Path) -> None:
    """Two seeds with two prompts are no repetitions; a block may group them."""
    data = Data(tmp_path)
    rows = [
        ("m", seed, word, f"q{n}", n % 2) for seed, word in enumerate(("cot", "direct")) for n in range(8)
    ]
    data.write("a.csv", lines("model,seed,prompt,problem,correct", rows))

    def scores(**question: Any) -> list[str]:  # noqa: ANN401 - passed on
        return list(group_problem_scores(read_outcomes(data.root, data.open("a"), **question)).series)

    with pytest.raises(ReportError, match=r'a\.csv:10: runs of the series "m" differ in "prompt"'):
        scores()
    assert scores(by=("prompt",)) == ["cot", "direct"]
    data.write("a.source.yml", "columns: {series: model}")
    assert scores() == ["m"]


def test_the_name_of_an_experiment_is_the_series(tmp_path: Path) -> None:
    """Beside the settings that it is made of; a host or a path is none."""
    data = Data(tmp_path)
    rows = [
        (f"lr{rate}", rate, f"out/{rate}/{seed}", seed, *row)
        for rate in (1, 2)
        for seed in (0, 1)
        for row in curve(rate + seed, range(4))
    ]
    data.write("a.csv", lines("exp_name,rate,log_dir,seed,epoch,loss", rows))
    assert list(reduced(data, "a", "loss")) == [("lr1", "0"), ("lr1", "1"), ("lr2", "0"), ("lr2", "1")]


def test_an_error_names_a_column_of_many_names(tmp_path: Path) -> None:
    """Forty lines are no choice of ours."""
    data = Data(tmp_path)
    data.write(
        "a.csv",
        lines("step,param,norm", [(step, f"p{at}", at + step) for step in range(5) for at in range(40)]),
    )
    assert 'Column "param" tells these rows apart: set columns: {series: param}' in problem(data, "a", "norm")


@pytest.mark.parametrize("model", ["", "A"])
def test_a_column_of_many_names_counts_where_values_are_equal(tmp_path: Path, model: str) -> None:
    """All trials but the last were dropped; rows that are equal in words, too, are one."""
    data = Data(tmp_path)
    rows = [(model, f"t{at}", step, step / 10) for at in range(30) for step in range(3)]
    data.write("a.csv", lines("model,trial,step,acc", rows))
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    assert "data/a.csv:5: error: a second row for step 0 of series " in done.stdout
    assert (
        'the first is line 2; 87 of 90 values repeat a step of their run. Column "trial" tells' in done.stdout
    )
    suggested = done.stdout.partition("To write into data/a.source.yml")[2].partition("\n\n")[0]
    data.write("a.source.yml", suggested.partition("\n")[2])
    assert len(reduced(data, "a", "acc")) == 30
    data.write("b.csv", lines("model,trial,step,acc", [(model, "t1", *row[2:]) for row in rows]))
    assert call(tmp_path, "describe", "data/b.csv").returncode == 0


def test_melted_tables_name_their_metrics(tmp_path: Path) -> None:
    """As ``pandas.melt`` and TensorBoard do: what is measured is no series."""
    data = Data(tmp_path)
    for name in ("variable", "tag"):
        rows = [(step, metric, step) for metric in ("loss", "acc") for step in range(5)]
        data.write(f"{name}.csv", lines(f"step,{name},value", rows))
        assert data.open(name).metrics == ("loss", "acc")


def test_steps_that_begin_anew_in_each_epoch_are_told(tmp_path: Path) -> None:
    """All epochs but the last were dropped."""
    data = Data(tmp_path)
    rows = [(epoch, *row) for epoch in range(3) for row in curve(epoch + 1, range(4))]
    data.write("a.csv", lines("epoch,step,loss", rows))
    assert (
        "Steps begin anew in each epoch: set columns: {step: epoch} in source.yml, and repeat: mean."
        in problem(data, "a", "loss")
    )


@pytest.mark.parametrize("size", [10_000, 4_000_000])
def test_a_large_file_is_looked_at_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """The names that stand behind the sample count like those in it; some steps are enough to find them."""
    monkeypatch.setattr(distinguish, "SAMPLED_BYTES", size)
    data = Data(tmp_path)
    rows = [(f"agent {place}", *row) for place in range(5) for row in curve(place + 1, range(4_000))]
    data.write("a.csv", lines("Agent,step,reward", rows))
    source = data.open("a")
    found = reduce(read_measurements(tmp_path, source, ("reward",)), max_points=None)["reward"]
    assert [(one.series, one.values.size) for one in found.runs] == [(f"agent {n}", 4_000) for n in range(5)]
    assert found.replaced == 0
    data.write("b.csv", lines("step,reward", [row[1:] for row in rows]))
    assert "; 16,000 of 20,000 values repeat a step" in problem(data, "b", "reward")
    data.write("c.csv", lines("step,reward", [*curve(1, range(3_000)), *curve(2, range(2_000, 5_000))]))
    assert reduce(read_measurements(tmp_path, data.open("c"), ("reward",)))["reward"].replaced == 1_000


def test_several_such_columns_are_an_error_that_names_them(tmp_path: Path) -> None:
    """With the lines, the counts and what to write."""
    data = Data(tmp_path)
    rows = [(agent, agent.lower(), *row) for agent, *row in AGENTS]
    data.write("a.csv", lines("Agent,label of it,step,reward", rows))
    assert problem(data, "a", "reward") == (
        "data/a.csv:32: a second row for step 0 of series a: reward is 1 in line 2 and 2 here; 60 of 90 "
        'values repeat a step of their run. Each of "Agent" and "label of it" tells them apart: set columns: '
        f"{{series: Agent}} in source.yml. {OTHERWISE}"
    )
    data.write("a.source.yml", "columns: {series: Agent}")
    assert len(reduced(data, "a", "reward")) == 3


def test_beside_a_series_a_column_is_named_and_a_block_may_choose(tmp_path: Path) -> None:
    """Environments of one model are not runs of it."""
    data = Data(tmp_path)
    rows = [
        (model, env, seed, step, value + rate)
        for model in "AB"
        for env, rate in (("Hopper", 1), ("Walker", 2))
        for seed in range(3)
        for step, value in curve(seed + 1, range(4))
    ]
    data.write("a.csv", lines("model,env,seed,step,reward", rows))
    assert problem(data, "a", "reward") == (
        "data/a.csv:14: a second row for step 0 of series A, run 0: reward is 2 in line 2 and 3 here; 24 of "
        '48 values repeat a step of their run. Column "env" tells these rows apart: set columns: {series: '
        "[model, env]} in source.yml, or select one env with filter: in source.yml or in the block. "
        f"{OTHERWISE}"
    )
    assert len(reduced(data, "a", "reward", where={"env": "Hopper"})) == 6


def test_two_columns_may_be_needed_together(tmp_path: Path) -> None:
    """Each agent in each environment."""
    data = Data(tmp_path)
    rows = [
        (agent, env, step, value + place)
        for place, (agent, env) in enumerate((a, e) for a in ("dqn", "ppo") for e in ("cart", "pole"))
        for step, value in curve(1, range(5))
    ]
    data.write("a.csv", lines("agent,env,step,reward", rows))
    assert (
        'Columns "agent" and "env" together tell these rows apart: set columns: {series: [agent, env]}'
        in problem(data, "a", "reward")
    )


def test_a_numeric_setting_names_the_series(tmp_path: Path) -> None:
    """`describe` suggests it, alone or with the names beside it, and what it suggests can be drawn."""
    data = Data(tmp_path)
    rows = [
        (env, algo, rate, *row)
        for env in ("hopper", "walker")
        for algo in ("grpo", "ppo")
        for rate in (1e-4, 3e-4)
        for row in curve(rate, range(4))
    ]
    for name, first, header, series in (
        ("one", 2, "lr,step,reward", "lr"),
        ("two", 1, "algo,lr,step,reward", "[algo, lr]"),
        ("known", 1, "model,lr,step,reward", "[model, lr]"),
        ("three", 0, "env,algo,lr,step,reward", "[env, algo, lr]"),
    ):
        chosen = [row[first:] for row in rows if row[:first] == ("hopper", "grpo")[:first]]
        data.write(f"{name}.csv", lines(header, chosen))
        assert f"set columns: {{series: {series}}} in source.yml" in problem(data, name, "reward")
        said = call(tmp_path, "describe", f"data/{name}.csv").stdout
        assert f"To write into data/{name}.source.yml" in said
        assert f"columns:\n  series: {series}\n" in said
        data.write(f"{name}.source.yml", f"columns: {{series: {series}}}")
        assert len(reduced(data, name, "reward")) == len(chosen) / 4
        assert call(tmp_path, "describe", f"data/{name}.csv").returncode == 0


def test_a_column_of_numbers_may_count_runs(tmp_path: Path) -> None:
    """As folds do: no metric, and no series by itself."""
    data = Data(tmp_path)
    rows = [(fold, *row) for fold in range(5) for row in curve(fold + 1, range(10))]
    data.write("a.csv", lines("fold,epoch,acc", rows))
    assert 'Column "fold" tells these rows apart: set columns: {run: fold} in source.yml' in problem(
        data, "a", "acc"
    )
    data.write("a.source.yml", "columns: {run: fold}")
    assert len(reduced(data, "a", "acc")) == 5


@pytest.mark.parametrize(
    ("steps", "resumed"),
    [
        ([*range(50), *range(40, 100)], True),
        ([*range(50), *range(40, 60), *range(55, 100)], True),
        ([*range(50), 49, *range(50, 100)], False),
        ([*range(100), 99], False),
        ([0, 1, 1], False),
        ([2, 1, 2], False),
        ([*range(50), *range(100)], False),
        ([*range(50), *range(10, 100)], False),
        ([*range(50), *range(40, 45)], False),
        ([step for step in range(20) for _ in range(3)], False),
        ([step for step in range(40) for _ in range(1 + (step in {7, 21}))], False),
        ([step for step in range(40) for _ in range(1 + (step % 5 == 0))], False),
        ([*range(20)] * 3, False),
        ([5, 5], False),
        ([0, 0, 1, 1], False),
        ([3, 1, 2, 3, 1, 0], False),
    ],
)
def test_what_a_resumed_run_looks_like(tmp_path: Path, steps: list[int], *, resumed: bool) -> None:
    """Steps go back by less than half of the way, and at last run on; anything else is asked about."""
    data = Data(tmp_path)
    data.write("a.csv", lines("step,loss", [(step, place) for place, step in enumerate(steps)]))
    if resumed:
        last = {step: float(place) for place, step in enumerate(steps)}
        assert reduced(data, "a", "loss") == {("a", ""): [last[step] for step in sorted(last)]}
    else:
        told = problem(data, "a", "loss")
        assert "a second row for step " in told
        assert told.endswith(ASKS)
        assert f"; {len(steps) - len(set(steps))} of {len(steps)} values repeat a step" in told


def test_one_step_with_two_values_is_no_resume(tmp_path: Path) -> None:
    """The command line names both rows and ``repeat:``; an equal row is no second value."""
    data = Data(tmp_path)
    rows = [("A", *row) for row in curve(1, range(6))]
    data.write("a.csv", lines("model,step,loss", [*rows[:3], ("A", 2, 9), *rows[3:]]))
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    told = "data/a.csv:5: error: a second row for step 2 of series A: loss is 3 in line 4 and 9 here; 1 of 7"
    assert told in done.stdout
    assert ASKS.replace("source.yml", "data/a.source.yml") in done.stdout
    data.write("a.source.yml", "repeat: last")
    assert reduced(data, "a", "loss") == {("A", ""): [1, 2, 9, 4, 5, 6]}
    data.write("b.csv", lines("model,step,loss", [*rows[:3], *rows[2:]]))
    assert call(tmp_path, "describe", "data/b.csv").returncode == 0
    assert reduced(data, "b", "loss") == {("A", ""): [1, 2, 3, 4, 5, 6]}


def test_rows_that_say_the_same_are_no_question(tmp_path: Path) -> None:
    """A file that was appended to itself."""
    data = Data(tmp_path)
    data.write("a.csv", lines("step,loss", curve(1, range(5)) * 2))
    assert reduced(data, "a", "loss") == {("a", ""): [1, 2, 3, 4, 5]}


def test_rows_of_different_metrics_are_one_step(tmp_path: Path) -> None:
    """As where a logger writes a row for training and one for evaluation: an empty cell replaces nothing."""
    data = Data(tmp_path)
    rows = [row for step in range(4) for row in ((step, step + 1, ""), (step, "", step / 10))]
    data.write("a.csv", lines("step,train_loss,val_loss", rows))
    assert reduced(data, "a", "train_loss") == {("a", ""): [1, 2, 3, 4]}
    assert reduced(data, "a", "val_loss") == {("a", ""): [0, 0.1, 0.2, 0.3]}
    records = "".join(
        f'{{"step": {step}, "{key}": {value}}}\n' for step in range(4) for key, value in (("a", 1), ("b", 2))
    )
    data.write("b.jsonl", records)
    assert reduced(data, "b", "a") == {("b", ""): [1, 1, 1, 1]}


STATE = json.dumps(
    {
        "global_step": 4,
        "is_world_process_zero": True,
        "log_history": [
            {"step": step, "epoch": step / 4, "loss": start + step}
            for start, end in ((0, 3), (10, 4))
            for step in range(1, end + 1)
        ],
    }
)
BLOCKS = [row for rate in (1, 2, 3) for row in curve(rate, range(4))]
IN_TURN = sorted(BLOCKS)


@pytest.mark.parametrize("rows", [BLOCKS, IN_TURN])
@pytest.mark.parametrize("seed", ["", "7"])
def test_repeat_says_what_they_are(tmp_path: Path, rows: list[tuple[float, float]], seed: str) -> None:
    """The last one counts, they are averaged, or each is of a run of its own, in the order of writing."""
    data = Data(tmp_path)
    data.write("a.csv", lines("seed,step,loss", [(seed, *row) for row in rows]))
    data.write("a.source.yml", "repeat: last")
    assert reduced(data, "a", "loss") == {("a", seed): [3, 6, 9, 12]}
    data.write("a.source.yml", "repeat: mean")
    assert reduced(data, "a", "loss") == {("a", seed): [2, 4, 6, 8]}
    data.write("a.source.yml", "repeat: runs")
    names = [f"{seed} #{place}".removeprefix(" #") for place in (1, 2, 3)]
    assert reduced(data, "a", "loss") == {
        ("a", name): [place, 2 * place, 3 * place, 4 * place] for place, name in enumerate(names, 1)
    }


def test_a_run_that_ends_early_keeps_its_own_steps(tmp_path: Path) -> None:
    """Whole curves one after the other are told apart by where steps go back, not by counting."""
    data = Data(tmp_path)
    data.write("a.csv", lines("step,loss", [*curve(1, range(2)), *curve(2, range(4)), *curve(3, (1, 3))]))
    data.write("a.source.yml", "repeat: runs")
    assert reduced(data, "a", "loss") == {("a", "1"): [1, 2], ("a", "2"): [2, 4, 6, 8], ("a", "3"): [6, 12]}


def test_means_are_over_finite_values_of_the_own_step(tmp_path: Path) -> None:
    """Whatever is used as x."""
    data = Data(tmp_path)
    data.write("a.csv", "step,hours,loss\n0,1,2\n0,3,4\n1,5,NaN\n1,7,6\n2,9,NaN\n")
    data.write("a.source.yml", "repeat: mean")
    assert reduced(data, "a", "loss") == {("a", ""): [3, 6]}
    (one,) = reduce(read_measurements(tmp_path, data.open("a"), ("loss",), x="hours"))["loss"].runs
    assert (one.steps.tolist(), one.values.tolist()) == ([2, 6], [3, 6])


def test_means_of_given_intervals_are_refused(tmp_path: Path) -> None:
    """Nobody knows how wide the interval of a mean is."""
    data = Data(tmp_path)
    data.write("a.csv", "step,acc,acc_stderr\n0,1,0.1\n0,2,0.1\n")
    data.write("a.source.yml", "repeat: mean")
    assert "repeat: mean cannot average the intervals that the data give (stderr)" in problem(
        data, "a", "acc"
    )


def test_another_x_may_repeat(tmp_path: Path) -> None:
    """Steps of one epoch are no rows of one step."""
    data = Data(tmp_path)
    data.write("a.csv", lines("step,epoch,loss", [(step, step // 10, step) for step in range(40)]))
    assert reduced(data, "a", "loss", x="epoch") == {("a", ""): [9, 19, 29, 39]}


def test_large_tables_are_asked_about_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are reduced in the database."""
    monkeypatch.setattr("reportgen.statistics.curves.reduce.FULL_ROWS", 10)
    data = Data(tmp_path)
    data.write("a.csv", lines("step,loss", [*curve(1, range(20)), *curve(2, range(20))]))
    assert "a second row for step 0 of series a" in problem(data, "a", "loss")


def test_rows_in_several_files_are_told_with_both(tmp_path: Path) -> None:
    """And with their own lines, or rows where there are none."""
    data = Data(tmp_path)
    for name, rate in (("a", 1), ("b", 2)):
        data.write(
            f"s/{name}.csv", lines("model,seed,step,loss", [("A", 1, *row) for row in curve(rate, range(9))])
        )
    assert problem(data, "s", "loss").startswith(
        "data/s/b.csv:2: a second row for step 0 of series A, run 1: loss is 1 in line 2 of data/s/a.csv "
        "and 2 here; 9 of 18 values"
    )
    data.parquet("p.parquet", "SELECT i // 2 AS step, i AS loss FROM range(10) AS t(i)")
    assert problem(data, "p", "loss").startswith(
        "data/p.parquet: a second row for step 0 of series p: loss is 0 in row 1 and 1 in row 2; 5 of 10 "
    )


def test_logs_keep_the_meaning_that_their_loggers_give_them(tmp_path: Path) -> None:
    """A run that was started again writes its steps again, and the later ones count."""
    data = Data(tmp_path)
    data.write("log/trainer_state.json", STATE)
    assert reduced(data, "log", "loss") == {("log", ""): [11, 12, 13, 14]}


def test_a_csv_log_is_asked_about_like_a_table(tmp_path: Path) -> None:
    """Folds that were appended to one log of Keras are no resume, and neither are batches of an epoch."""
    data = Data(tmp_path)
    folds = [(epoch, fold + epoch, fold) for fold in range(3) for epoch in range(5)]
    data.write("log/training.csv", lines("epoch,loss,val_loss", folds))
    assert data.open("log").columns[:2] == ("series", "run")
    assert problem(data, "log", "loss").startswith(
        "data/log/training.csv: a second row for epoch 0 of series log: loss is 0 in one place and 1 in "
        "another; 10 of 15 values"
    )
    resumed = [
        (epoch, part + epoch, part) for part, begin in ((0, 0), (10, 5)) for epoch in range(begin, begin + 8)
    ]
    data.write("log/training.csv", lines("epoch,loss,val_loss", resumed))
    assert [len(values) for values in reduced(data, "log", "loss").values()] == [13]


ANSWERS = [(f"p{place}", (place + turn) % 2) for turn in range(3) for place in range(8)]


def test_answers_without_a_sample_are_asked_about(tmp_path: Path) -> None:
    """Three rows of each problem are three samples, or three runs; nothing tells which."""
    data = Data(tmp_path)
    data.write("a.csv", lines("problem,correct", ANSWERS))
    with pytest.raises(ReportError) as caught:
        group_problem_scores(read_outcomes(tmp_path, data.open("a")))
    assert str(caught.value) == (
        "data/a.csv:10: a second row for problem p0 of series a: the first is line 2; 16 of 24 values repeat "
        "a problem of their run. Set in source.yml repeat: mean (they are samples of the problem), repeat: "
        "runs (each is of a run of its own) or repeat: last (the last one counts)."
    )
    for setting, runs, samples in (("mean", 1, 3), ("runs", 3, 1), ("last", 1, 1)):
        data.write("a.source.yml", f"repeat: {setting}")
        found = group_problem_scores(read_outcomes(tmp_path, data.open("a")))
        assert (len(found.runs), int(found.samples.max())) == (runs, samples)


def test_a_few_answers_that_were_asked_for_again_are_replaced(tmp_path: Path) -> None:
    """As after a crash: the last one counts, and the page says how many were replaced."""
    data = Data(tmp_path)
    data.write("a.csv", lines("problem,correct", [*ANSWERS[:8], ("p1", 1), ("p2", 1)]))
    assert group_problem_scores(read_outcomes(tmp_path, data.open("a"))).notes.replaced == 2


def test_the_series_of_answers_is_found_and_a_subject_is_none(tmp_path: Path) -> None:
    """Two providers' answers to the same problems; numbers that begin anew in each subject are not."""
    data = Data(tmp_path)
    rows = [(name, f"q{place}", place % 2) for name in ("a", "b") for place in range(6)]
    data.write("a.csv", lines("provider,question_id,correct", rows))
    assert group_problem_scores(read_outcomes(tmp_path, data.open("a"))).series == ("a", "b")
    data.write("b.csv", lines("subject,question_id,correct", rows))
    with pytest.raises(
        ReportError, match=r'Column "subject" tells these rows apart: set columns: \{series: subject\}'
    ):
        group_problem_scores(read_outcomes(tmp_path, data.open("b")))


def test_describe_and_freeze_say_the_same(tmp_path: Path) -> None:
    """``describe`` tells it and leaves with 1; what is frozen keeps what was said."""
    data = Data(tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [reportgen]\n")
    data.write("a.csv", lines("step,loss", BLOCKS))
    done = call(tmp_path, "describe", "data/a.csv")
    assert done.returncode == 1
    assert "a.csv:6: error: a second row for step 0 of series a" in done.stdout
    data.write("a.source.yml", "repeat: runs")
    assert call(tmp_path, "describe", "data/a.csv").returncode == 0
    data.write("c.csv", lines("Agent,step,reward", AGENTS))
    told = call(tmp_path, "describe", "data/c.csv").stdout
    assert "columns:\n  series: Agent\n" in told
    assert call(tmp_path, "freeze", "data/a.csv", "--to", "data/b").returncode == 0
    assert "repeat: runs" in (tmp_path / "data/b/source.yml").read_text()
    assert list_notes(data.open("a")) == list_notes(data.open("b"))
    assert list_notes(data.open("a")) == ("Rows of one run and step are read as runs of their own.",)
    assert list(reduced(data, "b", "loss")) == [("a", "1"), ("a", "2"), ("a", "3")]


def test_what_is_frozen_of_a_log_keeps_its_meaning(tmp_path: Path) -> None:
    """A table would be asked about."""
    data = Data(tmp_path)
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [reportgen]\n")
    data.write("log/trainer_state.json", STATE)
    assert call(tmp_path, "freeze", "data/log", "--to", "data/b").returncode == 0
    assert "repeat: last" in (tmp_path / "data/b/source.yml").read_text()
    assert call(tmp_path, "describe", "data/b").returncode == 0
