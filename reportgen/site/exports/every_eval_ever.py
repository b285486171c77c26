"""Every Eval Ever 0.3.0: a JSON file for each series and benchmark, with its answers as JSON lines.

Source: https://github.com/evaleval/every_eval_ever (schemas of version 0.3.0).
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from reportgen.core import __version__
from reportgen.core.errors import Stage, make_error
from reportgen.core.words import parse_moment
from reportgen.narrative.headings import make_slug
from reportgen.settings.source import make_protocol
from reportgen.site.exports.results import choose_whole, find_models

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reportgen.site.citation import CitedReport
    from reportgen.site.exports.results import Result

_VERSION: Final = "0.3.0"
_ARGUMENTS: Final = ("temperature", "top_p", "max_tokens")


def write_every_eval_ever(results: Sequence[Result], cited: CitedReport) -> dict[str, str]:
    """Return the files by their path, with one score of each series, benchmark and metric (``choose_whole``).

    Raises a ReportError if the model of a series or the date of the report is not known.
    """
    results = choose_whole(results)
    models = find_models(results)
    if not cited.date:
        step = "Commit it, or set SOURCE_DATE_EPOCH"
        raise make_error(
            "mkdocs.yml", "the report has no date, which every record needs", step, Stage.SETTINGS
        )
    grouped: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for one in results:
        grouped[one.series, one.benchmark].append(one)
    files: dict[str, str] = {}
    for (series, benchmark), own in grouped.items():
        folder = f"data/{make_slug(benchmark)}/{models[series]}"
        name = _make_name(f"{cited.title}\0{series}\0{benchmark}")
        record = _make_record(own, models[series], cited)
        samples = "".join(f"{_dump(row)}\n" for row in _list_samples(own, record))
        if samples:
            files[f"{folder}/{name}_samples.jsonl"] = samples
            record["detailed_evaluation_results"] = {
                "format": "jsonl",
                "file_path": f"{folder}/{name}_samples.jsonl",
                "hash_algorithm": "sha256",
                "checksum": hashlib.sha256(samples.encode()).hexdigest(),
                "total_rows": samples.count("\n"),
            }
        files[f"{folder}/{name}.json"] = json.dumps(record, indent=2, ensure_ascii=False) + "\n"
    return files


def _make_name(words: str) -> str:
    """Make a name in the form of a UUID of version 4: one for the same words, so that a file is replaced."""
    digest = hashlib.sha256(words.encode()).hexdigest()
    return f"{digest[:8]}-{digest[8:12]}-4{digest[13:16]}-a{digest[17:20]}-{digest[20:32]}"


def _dump(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False)


def _make_record(own: Sequence[Result], model: str, cited: CitedReport) -> dict[str, Any]:
    """Make the record of a series on a benchmark, with each of its metrics."""
    one = own[0]
    moment = round((parse_moment(cited.date) or 0.0) / 1000)
    name = f"{make_slug(cited.title)}.{make_slug(one.benchmark)}"
    reported = one.step is None and not one.samples
    source = {
        "source_name": cited.title,
        "source_type": "documentation" if reported else "evaluation_run",
        "source_organization_name": ", ".join(author.name for author in cited.citation.authors),
        "evaluator_relationship": "other",
        "additional_details": {"generator": f"reportgen {__version__}", "report": cited.address},
    }
    developer, _, short = model.partition("/")
    return {
        "schema_version": _VERSION,
        "evaluation_id": f"{name}/{developer}_{short}/{moment}",
        "retrieved_timestamp": str(moment),
        "source_metadata": source,
        "eval_library": {
            "name": one.protocol.get("harness", "unknown"),
            "version": one.protocol.get("version", "unknown"),
        },
        "model_info": {
            "name": one.series,
            "id": model,
            "developer": developer,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_describe_result(result, name) for result in own],
    }


def _describe_result(one: Result, name: str) -> dict[str, Any]:
    """Describe a score with its interval; only texts may be in ``details``."""
    value, low, high = one.estimate.value, one.estimate.low, one.estimate.high
    lowest, highest = one.ends or (-math.inf, math.inf)
    counts = {"problems": one.problems, "samples": one.samples, "runs": one.runs}
    details = {"figure": one.figure, **{key: f"{count}" for key, count in counts.items() if count}}
    details |= {
        "step": "" if one.step is None else f"{one.step:g}",
        "reason": one.reason,
        "caution": one.caution,
    }
    result: dict[str, Any] = {
        "evaluation_result_id": f"{one.figure} {one.metric}",
        "evaluation_name": name,
        "source_data": _describe_dataset(one),
        "metric_config": {
            "metric_id": one.metric,
            "metric_name": one.metric,
            "metric_unit": "proportion" if one.ends == (0.0, 1.0) else "points",
            "lower_is_better": one.lower_is_better,
            "score_type": "continuous",
            "min_score": "-Infinity" if math.isinf(lowest) else lowest,
            "max_score": "Infinity" if math.isinf(highest) else highest,
        },
        "score_details": {
            "score": value,
            "details": {key: text for key, text in details.items() if text},
        },
        "generation_config": _describe_generation(one.protocol),
    }
    uncertainty: dict[str, Any] = {}
    if one.stderr is not None:
        uncertainty["standard_error"] = {"value": one.stderr, "method": "analytic"}
    if low is not None and high is not None:
        interval = {"lower": low, "upper": high, "confidence_level": one.level, "method": one.method}
        uncertainty["confidence_interval"] = interval
    if uncertainty:
        result["score_details"]["uncertainty"] = uncertainty | {"num_samples": one.estimate.n}
    return result


def _describe_dataset(one: Result) -> dict[str, Any]:
    tasks = (source.settings.hub.get(one.benchmark) for source in one.sources)
    task = next(filter(None, tasks), None)
    if task is None:
        return {"dataset_name": one.benchmark, "source_type": "other"}
    return {"dataset_name": one.benchmark, "source_type": "hf_dataset", "hf_repo": task.dataset}


def _describe_generation(protocol: Mapping[str, str]) -> dict[str, Any]:
    """Describe how answers were sampled: what the schema has a place for, the rest as texts."""
    said = {name.replace("-", "_").replace(" ", "_"): text for name, text in protocol.items()}
    known = make_protocol(tuple((name, said[name]) for name in _ARGUMENTS if name in said))
    arguments = {name: value for name in _ARGUMENTS if (value := getattr(known, name)) is not None}
    return {"generation_args": arguments, "additional_details": dict(sorted(protocol.items()))}


def _list_samples(own: Sequence[Result], record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the scored answers of a series, without their texts, which may not be published."""
    one = own[0]
    if one.read_answers is None:
        return
    result = record["evaluation_results"][0]
    for row in one.read_answers():
        yield {
            "schema_version": _VERSION,
            "evaluation_id": record["evaluation_id"],
            "model_id": record["model_info"]["id"],
            "evaluation_name": result["evaluation_name"],
            "evaluation_result_id": result["evaluation_result_id"],
            "sample_id": row["problem"],
            "interaction_type": "single_turn",
            "input": {"raw": "", "reference": []},
            "output": {"raw": []},
            "answer_attribution": [],
            "evaluation": {"score": row["score"], "is_correct": row["score"] >= (one.ends or (0, 1))[1]},
            "metadata": {name: row[name] for name in ("run", "seed", "sample") if row[name]},
        }
