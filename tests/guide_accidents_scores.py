"""What goes wrong with the folders of evaluation harnesses that the guide shows, but for Inspect."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from guide_accidents_inspect import INSPECT
from guide_accidents_stores import STORES
from guide_damage import cut, kept, removed, replaced
from guide_messages import Accident

from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from guide_damage import Happens

_BIRCH = "example__birch-1b"
_METRICS = "metrics: [exact_match (flexible-extract)]\n"
_OTHERS_HAVE_ANSWERS = "there are totals only; they are not read, since others here have answers"


def _rewritten(pattern: str, change: Callable[[Any], None]) -> Happens:
    """JSON in every file of this name holds something else."""

    def happens(folder: Path) -> None:
        paths = list(folder.rglob(pattern))
        assert paths
        for path in paths:
            document = json.loads(path.read_text(encoding="utf-8"))
            change(document)
            path.write_text(json.dumps(document), encoding="utf-8")

    return happens


def _with_another_filter(folder: Path) -> None:
    for name in ("results_*.json", "samples_*.jsonl"):
        replaced(f"{_BIRCH}/{name}", "flexible-extract", "other")(folder)


def _with_a_perplexity(folder: Path) -> None:
    """Beside each document stands its log-likelihood, of which the harness makes a perplexity."""

    def told(results: dict[str, Any]) -> None:
        results["results"]["sums"] |= {"word_perplexity,none": 12.5, "word_perplexity_stderr,none": "N/A"}
        made = {"metric": "word_perplexity", "aggregation": "weighted_perplexity"}
        results["configs"]["sums"]["metric_list"].append(made)

    _rewritten("results_*.json", told)(folder)
    for path in folder.rglob("samples_*.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        row = {**rows[0], "filter": "none", "metrics": ["word_perplexity"], "word_perplexity": -3.1}
        del row["exact_match"]
        path.write_text("".join(json.dumps(one) + "\n" for one in (*rows, row)), encoding="utf-8")
    replaced("source.yml", _METRICS, "")(folder)


LM_EVAL = (
    Accident(
        "2 evaluations have scores by exact_match (strict-match) and exact_match (flexible-extract); "
        "exact_match (strict-match) is taken. Confirm it with metrics: [exact_match (strict-match)], "
        "or choose others with metrics: [exact_match (flexible-extract)]",
        replaced("source.yml", _METRICS, ""),
    ),
    Accident(
        "of example/birch-1b on sums there is no score by exact_match (flexible-extract): it is left out. "
        "It has exact_match (strict-match) and exact_match (other)",
        _with_another_filter,
    ),
    Accident(
        "exact_match (flexible-extract) over 24 problems, as reported: the problems behind it are not known",
        removed("*/samples_*.jsonl"),
        block="```scores\nsource: lm-eval-example\n```",
    ),
    Accident(f"of example/birch-1b on sums {_OTHERS_HAVE_ANSWERS}", removed(f"{_BIRCH}/samples_*.jsonl")),
    Accident(
        "there is no results file of this date: the model is named after the folder",
        removed("*/results_*.json"),
    ),
    Accident("the last line is torn off: left out", cut("samples_*.jsonl", 20)),
    Accident(
        "sums: exact_match (flexible-extract) is said to be 0.51, and its 24 answers give 0.583333",
        replaced("results_*.json", "0.5833333333333334", "0.51"),
    ),
    Accident(
        "sums: word_perplexity is 12.5, and the mean of its values is −3.1: they are no scores, and left out",
        _with_a_perplexity,
    ),
    Accident(
        "sums: the limit leaves 24 of 100 problems",
        replaced("results_*.json", '"original": 24', '"original": 100'),
    ),
)


def _details(right: int = 136, *, models: str = "*", size: int | None = None) -> Happens:
    """Answers to 250 problems beside the results of models, so many right; the file may be cut."""
    scores = f"{{'extractive_match': CAST(i < {right} AS INT)}}"
    rows = f"SELECT {{'id': CAST(i AS VARCHAR)}} AS doc, {scores} AS metric FROM range(250) rows(i)"  # noqa: S608

    def happens(folder: Path) -> None:
        results = list(folder.glob(f"results/example/{models}/*.json"))
        assert results
        for path in results:
            beside = folder / "details" / "example" / path.parent.name
            beside.mkdir(parents=True)
            file = beside / f"details_lighteval|sums|5_{path.stem.removeprefix('results_')}.parquet"
            get_engine().open_cursor().execute(f"COPY ({rows}) TO '{file}' (FORMAT parquet)")
            file.write_bytes(file.read_bytes()[:size])

    return happens


LIGHTEVAL = (
    Accident(f"of example/cedar-3b on sums {_OTHERS_HAVE_ANSWERS}", _details(models="birch-1b")),
    Accident(
        "lighteval|sums|5: extractive_match is said to be 0.544, and its 250 answers give 0.4",
        _details(100),
    ),
    Accident(
        "the answers cannot be read, since the file is damaged or of another shape: left out",
        _details(size=200),
    ),
    Accident(
        "lighteval|sums|5: extractive_match is 0.545, which no whole number of right answers out of 250 "
        "gives; the nearest is 0.544",
        replaced("results_*.json", "0.544", "0.545"),
    ),
    Accident(
        "lighteval|sums|5: the limit leaves 250 of 1,319 problems",
        replaced("results_*.json", '"original_num_docs": 250', '"original_num_docs": 1319'),
    ),
    Accident(
        'finds no results.lighteval|sums|0; "results" has lighteval|sums|5 and all',
        replaced("source.yml", "sums|5", "sums|0"),
        source="lighteval-checkpoints",
    ),
    Accident(
        '"$.acc", the column "extractive_match", finds nothing in any row. A row has extractive_match and '
        "extractive_match_stderr",
        replaced("source.yml", "$.extractive_match\n", "$.acc\n"),
        source="lighteval-checkpoints",
    ),
)


def _with_another_score(entries: list[dict[str, Any]]) -> None:
    """Beside each score stands another."""
    for stats in [entry["stats"] for entry in entries if "stats" in entry] or [entries]:
        name = {**stats[0]["name"], "name": "quasi_exact_match"}
        stats.append({**stats[0], "name": name})


def _perturbed(stats: list[dict[str, Any]]) -> None:
    stats.append({**stats[0], "name": {**stats[0]["name"], "perturbation": {"name": "dialect"}}})


HELM = (
    Accident(
        "2 evaluations have scores by exact_match and quasi_exact_match; exact_match is taken. "
        "Confirm it with metrics: [exact_match], or choose others with metrics: [quasi_exact_match]",
        _rewritten("*stats.json", _with_another_score),
    ),
    Accident(
        "no standard error is reported",
        removed("runs/v1/*/per_instance_stats.json"),
        block="```scores\nsource: helm-example\n```",
    ),
    Accident(
        f"of example/birch-1b on sums {_OTHERS_HAVE_ANSWERS}",
        removed("runs/v1/*birch-1b/per_instance_stats.json"),
    ),
    Accident(
        "there is no run_spec.json: model and benchmark are named after the folder, and how it was measured "
        "is unknown",
        removed("runs/v1/*birch-1b/run_spec.json"),
    ),
    Accident(
        "there is no stat of a test or validation split: the run is not finished",
        removed("runs/v1/*birch-1b/*stats.json"),
    ),
    Accident("1 stat of perturbed instances: left out", _rewritten("stats.json", _perturbed)),
    Accident(
        "exact_match is said to be 0.41, and its 32 answers give 0.5",
        replaced("stats.json", '"mean": 0.5', '"mean": 0.41'),
    ),
    Accident("the file is not whole JSON", kept("per_instance_stats.json", 5000)),
    Accident("this run is left out", kept("per_instance_stats.json", 5000)),
)

ACCIDENTS: dict[str, tuple[Accident, ...]] = {
    **STORES,
    "lm-eval": LM_EVAL,
    "inspect": INSPECT,
    "lighteval": LIGHTEVAL,
    "helm": HELM,
}
