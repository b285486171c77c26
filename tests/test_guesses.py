"""Each guess is reported with lines that confirm it: written, they give the same rows without the warning."""

from __future__ import annotations

import json
import re
from itertools import product
from typing import TYPE_CHECKING

import pytest
from command_line import call
from made_projects import write_file, write_report

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

# Of each run its name, settings and experiment or, as an MLflow store has none, folder.
Run = tuple[str, dict[str, object], str]


def cross(name: str, *, config: str = "", folders: str = "") -> list[Run]:
    """Return runs of two methods and two seeds, of which a name, settings and a folder may tell."""
    return [
        (
            name.format(method=method, seed=seed, lr=lr),
            {key: {"seed": seed, "lr": lr, "random_seed": seed}[key] for key in config.split()},
            folders.format(method=method, seed=seed),
        )
        for (method, lr), seed in product((("a", 0.1), ("b", 0.01)), (1, 2))
    ]


RUNS: dict[str, list[Run]] = {
    "short seeds": cross("mlp-lr{lr}-s{seed}", config="seed lr"),
    "short seeds, nothing configured": cross("{method}_s{seed}"),
    "short seeds that the settings lack": cross("{method}-s{seed}", config="lr"),
    "short seeds at the beginning": cross("s{seed}-{method}", config="seed"),
    "one method": cross("ppo_s{seed}")[:2],
    "nothing but short seeds": cross("s{seed}")[:2],
    "seeds in full": cross("{method}-seed{seed}", config="lr"),
    "another word for the seed": cross("{method}-seed{seed}", config="random_seed lr"),
    "a default in the settings": [(name, {"seed": 0}, "") for name, *_ in cross("{method}-seed{seed}")],
    "some without a seed": [*cross("{method}-s{seed}"), ("baseline", {}, "")],
    "some without a name": [*cross("{method}-seed{seed}"), ("", {}, "")],
    "seeds that only some settings have": [
        (name, config if number else {"lr": config["lr"]}, "")
        for number, (name, config, _) in enumerate(cross("{method}-seed{seed}", config="seed lr"))
    ],
}
FOLDERS = {
    "folders": [f"{method}/seed_{seed}" for method in "ab" for seed in (1, 2)],
    "folders of short seeds": [f"{method}/s{seed}" for method in "ab" for seed in (1, 2)],
    "folders of two levels": [f"e{one}/{two}-s{seed}" for one in (1, 2) for two in "ab" for seed in (1, 2)],
    "folders named by settings": [f"lr={lr},seed={seed}" for lr in (0.1, 0.2) for seed in (1, 2)],
}


def write_store(folder: Path, runs: Iterable[Run]) -> None:
    """Write runs as MLflow does."""
    experiment = folder / "197878504884810003"
    write_file(experiment / "meta.yaml", "experiment_id: '197878504884810003'\nname: e\n")
    for number, (name, config, _) in enumerate(runs):
        run = experiment / f"{number:032x}"
        named = f"run_name: {name}\n" if name else ""
        write_file(run / "meta.yaml", f"run_id: {number:032x}\n{named}start_time: {1795887378491 + number}\n")
        values = "".join(f"{1795887378491 + step} {number + step / 10} {step}\n" for step in range(3))
        write_file(run / "metrics" / "acc", values)
        for key, value in config.items():
            write_file(run / "params" / key, str(value))


def confirm(root: Path, path: str) -> dict[str, str]:
    """Follow the warning and then ``describe``; return the lines of the warning, none without a guess."""
    first = json.loads(call(root, "describe", path, "--format", "json").stdout)
    guesses = [one for one in first["problems"] if "distinguished by" in one["message"]]
    suggested = first["suggested"]["source.yml"]
    if not guesses:
        return {}
    (guess,) = guesses
    lines = re.findall(r"(series_from|seed_from): (\[[^\]]+\]|[\w.]+)", guess["next_step"])
    assert lines, guess
    for text in ("".join(f"{key}: {value}\n" for key, value in lines), suggested):
        assert text, first["suggested"]
        write_file(root / first["suggested"]["file"], text)
        again = json.loads(call(root, "describe", path, "--format", "json").stdout)
        assert not [one for one in again["problems"] if "distinguished by" in one["message"]]
        for name in ("runs", "series"):
            assert [strip_names(one) for one in again[name]] == [strip_names(one) for one in first[name]]
        assert not again["suggested"]["source.yml"]
    return dict(lines)


def strip_names(run: Mapping[str, object] | str) -> object:
    """Return a run as it is read."""
    return run if isinstance(run, str) else (run["series"], run["seed"], run["path"], run["values"])


@pytest.mark.parametrize("name", RUNS)
def test_names_of_runs_are_confirmed(tmp_path: Path, name: str) -> None:
    """By the name, and by settings where these tell the seed."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# E\n"})
    write_store(root / "data" / "mlruns", RUNS[name])
    assert confirm(root, "data/mlruns")


def test_a_confirmed_guess_passes_a_strict_build(tmp_path: Path) -> None:
    """The page shows what it showed before."""
    root = write_report(tmp_path, {"data/runs.csv": None})
    write_file(root / "content/index.md", '# E\n\n```curve\nsource: mlruns\n```\n\n[0.2]{value="start(a)"}\n')
    write_store(root / "data" / "mlruns", cross("{method}-s{seed}", config="seed"))
    before = call(root, "facts", "mlruns").stdout
    assert confirm(root, "data/mlruns") == {"series_from": "name"}
    assert call(root, "facts", "mlruns").stdout == before


@pytest.mark.parametrize("name", FOLDERS)
def test_folders_of_runs_are_confirmed(tmp_path: Path, name: str) -> None:
    """The files of a logger without names."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# E\n"})
    for number, folder in enumerate(FOLDERS[name]):
        rows = "".join(f"0,{step},{number + step / 10}\n" for step in range(3))
        write_file(root / "data/runs" / folder / "metrics.csv", f"epoch,step,acc\n{rows}")
        write_file(root / "data/runs" / folder / "hparams.yaml", "width: 1\n")
    assert confirm(root, "data/runs")


@pytest.mark.parametrize("names", [("a-s1", "a-s2", "b-s1", "b-s2"), ("a-seed1", "a-seed2"), ("s1", "s2")])
def test_names_of_columns_are_confirmed(tmp_path: Path, names: tuple[str, ...]) -> None:
    """A chart that W&B exported has a column for each run."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# E\n"})
    header = ",".join(f'"{name} - acc","{name} - acc__MIN","{name} - acc__MAX"' for name in names)
    rows = "".join(f"{step},{','.join(f'{step / 10}' for _ in range(3 * len(names)))}\n" for step in range(3))
    write_file(root / "data/chart.csv", f'"Step",{header}\n{rows}')
    assert confirm(root, "data/chart.csv") == {"series_from": "name", "seed_from": "name"}


FILES = {
    "a pattern": [f"{method}_seed{seed}.csv" for method in "ab" for seed in (1, 2)],
    "short seeds": [f"{method}-s{seed}.csv" for method in "ab" for seed in (1, 2)],
    "seeds in the middle": [f"{method}_seed{seed}_long.csv" for method in "ab" for seed in (1, 2)],
    "some without a seed": [*(f"{method}_seed{seed}.csv" for method in "ab" for seed in (1, 2)), "base.csv"],
    "no common order": ["seed1-a.csv", "a_seed2.csv", "b.seed1.csv"],
}


@pytest.mark.parametrize("name", FILES)
def test_names_of_files_are_confirmed(tmp_path: Path, name: str) -> None:
    """By a pattern or, where none gives the same series, by a key."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# E\n"})
    for number, file in enumerate(FILES[name]):
        rows = "".join(f"{step},{number + step / 10}\n" for step in range(3))
        write_file(root / "data/runs" / file, f"step,acc\n{rows}")
    first = json.loads(call(root, "describe", "data/runs", "--format", "json").stdout)
    (guess,) = first["problems"]
    assert "come from the names of files" in guess["message"]
    (line,) = first["suggested"]["source.yml"].splitlines()
    key, value = line.split(": ")
    assert f"{key}: {value.strip(chr(34))} in " in guess["next_step"]
    write_file(root / first["suggested"]["file"], f"{line}\n")
    again = json.loads(call(root, "describe", "data/runs", "--format", "json").stdout)
    assert (again["problems"], again["suggested"]["source.yml"]) == ([], "")
    assert (again["runs"], again["metrics"]) == (first["runs"], first["metrics"])


def write_result(root: Path, day: int, model: str, shots: int, seed: int | None) -> None:
    """Write a file of lm-evaluation-harness."""
    document = {
        "results": {"sums": {"alias": "sums", "acc,none": 0.5 + day / 100}},
        "n-shot": {"sums": shots},
        "config": {"model_args": f"pretrained={model}", **({} if seed is None else {"random_seed": seed})},
        "model_name": model,
        "lm_eval_version": "0.4.11",
    }
    path = root / f"data/lm/{model}/results_2026-01-0{day}T10-00-00.000000.json"
    write_file(path, json.dumps(document))


@pytest.mark.parametrize(
    ("shots", "seeds"), [((5, 5), (None, None)), ((0, 5), (None, None)), ((0, 5), (1, 2)), ((5, 5), (1, 1))]
)
def test_evaluations_of_one_model_are_confirmed_as_different_runs(
    tmp_path: Path, shots: tuple[int, int], seeds: tuple[int | None, int | None]
) -> None:
    """By the lines of the warning; the other ones in it make two series."""
    root = write_report(tmp_path, {"data/runs.csv": None, "content/index.md": "# E\n"})
    for day, (shot, seed) in enumerate(zip(shots, seeds, strict=True), 1):
        write_result(root, day, "elm", shot, seed)
    first = json.loads(call(root, "describe", "data/lm", "--format", "json").stdout)
    (problem,) = first["problems"]
    step = problem["next_step"]
    lines = r"(?:series|run)_from: (?:\[[^\]]+\]|\w+)"
    confirmed = re.search(f"confirm it with ({lines}(?: and {lines})?)", step)
    apart = re.search(f"apart with ({lines})", step)
    assert confirmed, step
    assert apart, step
    for stated, series in ((confirmed[1], 1), (apart[1], 2)):
        write_file(root / "data/lm/source.yml", "".join(f"{line}\n" for line in stated.split(" and ")))
        again = json.loads(call(root, "describe", "data/lm", "--format", "json").stdout)
        assert (again["problems"], len(again["series"])) == ([], series)
        assert series == 2 or again["totals"] == first["totals"]
