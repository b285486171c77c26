"""Measures ``reportgen describe`` on folders of 100 MB: the first time, and again when everything is known.

    python benchmarks/describe.py [--megabytes 100] [--times 3] [--only NAME ...] [--folder DIR]

Each folder is a source of a fresh report: an exported chart of W&B, a log of W&B, event files (one large and
two thousand small), a long table as JSON Lines, the samples of lm-eval, and 100 of its results files without
samples, whatever their size. ``cold`` is with an empty cache,
``warm`` after it; both are the whole command with its start, and so is the ratio of warm to ``--help``.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
from lm_eval_results import write_results
from measure import Measured, forget_cache, run, table
from tensorboard_events import write_events
from wandb_files import write_chart, write_log

if TYPE_CHECKING:
    from collections.abc import Callable

_SMALL_FILES = 2_000
_RESULTS = 100
_LIMIT = 1.0
_REPORT = "site_name: Measured\ndocs_dir: content\ntheme: {name: reportgen}\nplugins: [reportgen]\n"
_DATE = "2026-01-01T00-00-00.000000"


def _chart(folder: Path, megabytes: float) -> None:
    write_chart(folder / "wandb_export.csv", megabytes)


def _log(folder: Path, megabytes: float) -> None:
    (folder / "run-20260101_000000-abc").mkdir()
    write_log(folder / "run-20260101_000000-abc" / "run-abc.wandb", "recent", megabytes)


def _events(folder: Path, megabytes: float) -> None:
    write_events(folder / "events.out.tfevents.1700000000.host.1.0", megabytes)


def _many(folder: Path, megabytes: float) -> None:
    whole = folder / "whole"
    write_events(whole, megabytes / _SMALL_FILES)
    # Records of one size each; one that is torn off at the end is what a killed run leaves.
    data = whole.read_bytes()[: int(megabytes * 1e6 / _SMALL_FILES)]
    whole.unlink()
    for number in range(_SMALL_FILES):
        (folder / f"run_{number}").mkdir()
        (folder / f"run_{number}" / "events.out.tfevents.1700000000.host.1.0").write_bytes(data)


def _lines(folder: Path, megabytes: float) -> None:
    rows = int(megabytes * 1e6 / 95)
    select = f"""
        SELECT 'series ' || place % 5 AS series, place % 25 AS seed, place // 125 * 10 AS step,
            ['loss', 'reward', 'kl', 'entropy', 'length'][place // 25 % 5 + 1] AS metric,
            exp(-place / 1e6) AS value
        FROM range({rows}) places(place)
    """  # noqa: S608 - our own
    made = duckdb.connect(config={"threads": 2, "memory_limit": "1GB"})
    made.execute(f"COPY ({select}) TO '{folder / 'log.jsonl'}' (FORMAT json)")
    made.close()


def _samples(folder: Path, megabytes: float) -> None:
    results = {
        "results": {"sums": {"alias": "sums", "exact_match,none": 0.5, "exact_match_stderr,none": 0.01}},
        "configs": {"sums": {"output_type": "generate_until", "repeats": 1}},
        "versions": {"sums": 1.0},
        "n-samples": {"sums": {"original": 10, "effective": 10}},
        "config": {"model": "hf", "model_args": "pretrained=org/base"},
        "model_name": "org/base",
    }
    (folder / f"results_{_DATE}.json").write_text(json.dumps(results))
    text = "Let me think about it step by step. " * 50
    with (folder / f"samples_sums_{_DATE}.jsonl").open("w") as file:
        number = 0
        while file.tell() < megabytes * 1e6:
            row = {
                "doc_id": number,
                "doc": {"question": f"{number}+{number}?", "answer": str(2 * number)},
                "target": str(2 * number),
                "arguments": {"gen_args_0": {"arg_0": text, "arg_1": {"until": ["\n"]}}},
                "resps": [[text]],
                "filtered_resps": [str(2 * number)],
                "filter": "none",
                "metrics": ["exact_match"],
                "doc_hash": f"{number:064}",
                "exact_match": float(number % 2),
            }
            file.write(f"{json.dumps(row)}\n")
            number += 1


def _results(folder: Path, megabytes: float) -> None:  # noqa: ARG001 - as many as a leaderboard has
    write_results(folder, _RESULTS)


_MAKERS: dict[str, Callable[[Path, float], None]] = {
    "chart": _chart,
    "wandb log": _log,
    "events": _events,
    f"{_SMALL_FILES} event files": _many,
    "JSON Lines": _lines,
    "lm-eval samples": _samples,
    f"{_RESULTS} lm-eval results": _results,
}


def _made(root: Path, names: list[str], megabytes: float) -> dict[str, Path]:
    """A report with these folders, those that are there from an earlier measuring as they are."""
    (root / "content").mkdir(parents=True, exist_ok=True)
    (root / "mkdocs.yml").write_text(_REPORT)
    folders = {}
    for name in names:
        folders[name] = root / "data" / name.replace(" ", "-")
        if not folders[name].exists():
            folders[name].mkdir(parents=True)
            _MAKERS[name](folders[name], megabytes)
    return folders


def _measured(root: Path, folder: Path, times: int) -> tuple[list[Measured], list[Measured], list[float]]:
    """Cold and warm runs by turns, and the ratios of the warm ones to the command's mere start."""
    command = [sys.executable, "-m", "reportgen", "describe", str(folder)]
    start = [sys.executable, "-m", "reportgen", "--help"]
    cold, warm, ratios = [], [], []
    for _ in range(times):
        forget_cache()
        cold.append(run(command, root))
        warm.append(run(command, root))
        ratios.append(warm[-1].processor / run(start, root).processor)
    return cold, warm, ratios


def main() -> None:
    """Write the folders, measure, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--times", type=int, default=3, help="turns of each folder; the median counts")
    parser.add_argument("--only", nargs="+", choices=list(_MAKERS), help="which folders; all if left out")
    parser.add_argument("--folder", type=Path, help="where to keep what is written; otherwise it is removed")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as made:
        root = options.folder or Path(made)
        folders = _made(root, options.only or list(_MAKERS), options.megabytes)
        for name, folder in folders.items():
            cold, warm, ratios = _measured(root, folder, options.times)
            cells = [
                statistics.median(getattr(one, part) for one in turns)
                for turns in (cold, warm)
                for part in ("seconds", "processor")
            ]
            memory = max(one.megabytes for one in (*cold, *warm))
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            rows.append((name, f"{size / 1e6:.0f}", *(f"{cell:.2f}" for cell in cells), f"{memory:.0f}"))
            rows[-1] += (f"{statistics.median(ratios):.1f}",)
    head = ("", "MB", "cold s", "processor s", "warm s", "processor s", "peak MB", "warm to --help")
    print(table(head, rows))
    print(f"warm is to take at most {_LIMIT:g} s")


if __name__ == "__main__":
    main()
