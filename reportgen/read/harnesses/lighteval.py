"""Results of lighteval.

Schema: repository huggingface/lighteval, ``src/lighteval/logging/evaluation_tracker.py`` writes
``results/MODEL/results_DATE.json``; names of tasks are ``SUITE|TASK|SHOTS``, in newer files ``TASK|SHOTS``
and in older ones ``SUITE|TASK|SHOTS|TRUNCATION``. ``info_loggers.py`` there adds ``all`` and
``TASK:_average``: means over tasks, whose ``_stderr`` is a mean of standard errors, which is no standard
error of the mean and is left out. The answers stand beside it in
``details/MODEL/DATE/details_TASK_DATE.parquet``; see ``lighteval_details``.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.checking import impossible
from reportgen.read.harnesses.documents import head_text, json_object, mapping, told, word
from reportgen.read.harnesses.lighteval_details import answers_of, compared
from reportgen.read.harnesses.protocol import SUBTASKS, protocol_of, scores_over_others
from reportgen.read.harnesses.scoring import count_of, total_of
from reportgen.read.logged import Answered, Evaluated, Finding, Unit, UnreadableError
from reportgen.words import counted, listing

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.read.logged import Total

NAME: Final = "lighteval"
TITLE: Final = "results of lighteval"

_GENERAL: Final = re.compile(r'\s*\{\s*"config_general"\s*:\s*\{')
_KEYS: Final = re.compile(r'"(?:lighteval_sha|num_fewshot_seeds|model_name|max_samples)"\s*:')
_DATE: Final = re.compile(r"_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")
_STDERR: Final = "_stderr"
_ALL, _AVERAGE = "all", ":_average"
_DAY: Final = 10
_FEW: Final = 3


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each results file, with the details of its date."""
    details = [path for path in files if path.suffix == ".parquet" and path.name.startswith("details_")]
    found = []
    for path in files:
        if path.suffix == ".json" and _holds_results(path):
            date = _date(path)
            beside = [other for other in details if date and _date(other) == date]
            found.append(Unit(NAME, path, (path, *beside)))
    return tuple(found)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Evaluated]:
    """Each task of a results file, and the means over tasks behind them.

    Args:
        unit: a results file.
        wanted: only these metrics.

    Raises:
        UnreadableError: it is not what it seemed.
    """
    path = unit.files[0]
    document, findings = json_object(path)
    results = {
        key: value for key, value in mapping(document.get("results")).items() if isinstance(value, dict)
    }
    if not results:
        raise UnreadableError(path, 'there are no scores under "results"', "Check that lighteval wrote it")
    details = {_task_of(other): other for other in unit.files[1:]}
    strangers = [told(other.name) for task, other in details.items() if task not in results]
    if strangers:
        message = (
            f"{counted(len(strangers), 'details file is', 'details files are')} of no task in the results"
        )
        findings = (*findings, Finding(path, f"{message}: {listing(strangers, most=_FEW)}"))
    tasks = [key for key in results if not _is_mean(key)]
    named = Counter(_parts(key)[0] for key in tasks)
    means = [key for key in results if _is_mean(key) and len(tasks) > 1]
    means_told = scores_over_others(path, [_parts(key)[0] for key in means])
    for key in [*tasks, *means]:
        task, shots = _parts(key)
        benchmark = f"{task} ({shots}-shot)" if named[task] > 1 and shots else task
        one = _evaluated(path, document, key, wanted, details.get(key))
        if SUBTASKS in one.protocol:
            findings = (*findings, *means_told)
        yield replace(one, benchmark=word(benchmark), findings=(*findings, *one.findings))
        findings = ()


def _evaluated(
    path: Path,
    document: Mapping[str, Any],
    key: str,
    wanted: Collection[str] | None,
    details: Path | None,
) -> Evaluated:
    general = mapping(document.get("config_general"))
    generation = _generation(general)
    findings: list[Finding] = []
    config = _config(document, key)
    totals = tuple(_totals(path, document, key, wanted, findings))
    seed = generation.get("seed")
    asked, all_ = (count_of(config.get(f"{kind}_num_docs")) for kind in ("effective", "original"))
    if asked and all_ and asked < all_:
        findings.append(
            Finding(path, f"{told(key)}: the limit leaves {asked:,} of {counted(all_, 'problem')}")
        )
    answers: tuple[Answered, ...] = ()
    if details is not None:
        answers, strange = answers_of(details, wanted)
        findings += [*strange, *compared(details, key, answers, totals)]
    task, _ = _parts(key)
    return Evaluated(
        path=path,
        model=_model(general) or word(path.absolute().parent.name),
        benchmark=word(task),
        run=_date(path),
        seed=None if isinstance(seed, bool) else word(seed) or None,
        protocol=_protocol(path, document, key),
        answers=answers,
        totals=totals,
        findings=tuple(findings),
    )


def _protocol(path: Path, document: Mapping[str, Any], key: str) -> dict[str, str]:
    general, config = mapping(document.get("config_general")), _config(document, key)
    generation = _generation(general)
    task, shots = _parts(key)
    return protocol_of(
        {
            "samples": config.get("num_samples"),
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "max_tokens": generation.get("max_new_tokens") or config.get("generation_size"),
            "prompt": f"{shots}-shot" if shots else None,
            "harness": "lighteval",
            "version": general.get("lighteval_version") or general.get("lighteval_sha"),
            "date": _date(path)[:_DAY],
            "task version": mapping(document.get("versions")).get(key),
            "limit": general.get("max_samples"),
            SUBTASKS: _subtasks(document, task) if _is_mean(key) else None,
        }
    )


def _totals(
    path: Path,
    document: Mapping[str, Any],
    key: str,
    wanted: Collection[str] | None,
    findings: list[Finding],
) -> Iterator[Total]:
    entry = mapping(mapping(document.get("results")).get(key))
    config = _config(document, key)
    better = _directions(config)
    for metric, cell in entry.items():
        if metric.endswith(_STDERR) or (wanted is not None and metric not in wanted):
            continue
        total, finding = total_of(
            path,
            word(metric),
            cell,
            None if _is_mean(key) else entry.get(f"{metric}{_STDERR}"),
            n=count_of(config.get("effective_num_docs")),
            higher_is_better=better.get(metric),
        )
        impossibility = impossible(path, total) if total else None
        for one in (finding, impossibility):
            findings += [replace(one, message=f"{told(key)}: {one.message}")] if one else []
        if total:
            yield total


def _directions(config: Mapping[str, Any]) -> dict[str, bool]:
    """Whether higher is better, by metric; a metric of several names has a direction for each."""
    found: dict[str, bool] = {}
    metrics = config.get("metrics") or config.get("metric")
    for metric in map(mapping, metrics if isinstance(metrics, list) else []):
        name, better = metric.get("metric_name"), metric.get("higher_is_better")
        if isinstance(name, str) and isinstance(better, bool):
            found[name] = better
        found |= {key: value for key, value in mapping(better).items() if isinstance(value, bool)}
    return found


def _config(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What is said of a task; its name there lacks the shots in files of 2024 and 2025."""
    configs = mapping(document.get("config_tasks"))
    return mapping(configs.get(key)) or mapping(configs.get(key.rpartition("|")[0]))


def _generation(general: Mapping[str, Any]) -> dict[str, Any]:
    own = mapping(mapping(general.get("model_config")).get("generation_parameters"))
    return own or mapping(general.get("generation_parameters"))


def _model(general: Mapping[str, Any]) -> str:
    config = mapping(general.get("model_config"))
    return word(general.get("model_name")) or word(config.get("model_name"))


def _subtasks(document: Mapping[str, Any], task: str) -> str:
    """The tasks that a mean is over."""
    group = task.removesuffix(_AVERAGE)
    names = (_parts(key)[0] for key in mapping(document.get("results")) if not _is_mean(key))
    return ", ".join(
        dict.fromkeys(word(name) for name in names if task == _ALL or name.startswith(f"{group}:"))
    )


def _parts(key: str) -> tuple[str, str]:
    """Task and shots: ``lighteval|gsm8k|5`` is gsm8k with 5."""
    parts = key.split("|")
    if len(parts) == 1:
        return key, ""
    if len(parts) == 2:  # noqa: PLR2004 - newer files have no suite
        return parts[0], parts[1] if parts[1].isdecimal() else ""
    return parts[1], parts[2] if parts[2].isdecimal() else ""


def _task_of(details: Path) -> str:
    """The task whose answers a file holds, by its name: ``details_TASK_DATE.parquet``."""
    return _DATE.sub("", details.stem).removeprefix("details_")


def _is_mean(key: str) -> bool:
    return key == _ALL or _parts(key)[0].endswith(_AVERAGE)


def _date(path: Path) -> str:
    found = _DATE.search(path.stem)
    return found["date"] if found else ""


def _holds_results(path: Path) -> bool:
    text = head_text(path)
    return _GENERAL.match(text) is not None and _KEYS.search(text) is not None
