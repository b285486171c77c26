"""Results of lighteval, with the answers next to them: a Parquet file a task, a row a problem.

Schema: repository huggingface/lighteval, ``src/lighteval/logging/evaluation_tracker.py`` writes
``results/MODEL/results_DATE.json``; names of tasks are ``SUITE|TASK|SHOTS``, in newer files ``TASK|SHOTS``
and in older ones ``SUITE|TASK|SHOTS|TRUNCATION``. ``info_loggers.py`` there adds ``all`` and
``TASK:_average``: means over tasks, whose ``_stderr`` is a mean of standard errors, which is no standard
error of the mean and is left out. The answers are in ``details/MODEL/DATE/details_TASK_DATE.parquet``
(DetailsLogger): since 2025 a row has the columns ``doc`` (with ``id``, ``choices``, ``gold_index``),
``metric``
and ``model_response``; before, ``metrics`` and ``gold``, and no id: the problem is its row then. Scores
stand by
metric; where a problem was answered several times, the score is what the metric made of all answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import duckdb

from reportgen.core.words import format_count, join_names
from reportgen.formats import sql
from reportgen.formats.engine import get_engine
from reportgen.formats.evaluations.scores import (
    SUBTASKS,
    build_protocol,
    check_accuracy,
    compare_means,
    parse_count,
    parse_score,
    parse_total,
    warn_group_scores,
)
from reportgen.formats.json_files import (
    as_answer,
    as_mapping,
    as_word,
    read_head_text,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Total


_SCORES: Final = ("metric", "metrics")
_ABOUT: Final = ("doc", "gold")
_ROWS_AT_ONCE: Final = 500
_FEW: Final = 3


def read_answers(
    path: Path, selected: Collection[str] | None
) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
    """All answers of a file, by metric; none, with a finding, where it cannot be read.

    Args:
        path: the file.
        selected: only these metrics.
    """
    answers: list[ScoredAnswer] = []
    strange: Counter[str] = Counter()
    rows: Counter[tuple[str, str]] = Counter()
    try:
        for number, (scores, about) in enumerate(_read_rows(path)):
            problem, gold = as_word(about.get("id")) or str(number), as_answer(_find_gold(about))
            for metric, cell in scores.items():
                if selected is not None and metric not in selected:
                    continue
                score = parse_score(cell)
                strange[as_word(metric)] += score is None and cell is not None
                sample = str(rows[problem, metric])
                rows[problem, metric] += 1
                answers.append(ScoredAnswer(problem, score, sample, as_word(metric), gold=gold))
    except (duckdb.Error, ValueError, RecursionError):
        message = "the answers cannot be read, since the file is damaged or of another shape: left out"
        return (), (Finding(path, message),)
    # What has no score anywhere is made of the whole task, such as a perplexity.
    scored = {answer.metric for answer in answers if answer.score is not None}
    scored_answers = tuple(answer for answer in answers if answer.metric in scored)
    return scored_answers, tuple(_list_findings(path, scored_answers, +strange))


def compare_totals(
    path: Path, key: str, answers: Sequence[ScoredAnswer], totals: Sequence[Total]
) -> Iterator[Finding]:
    """Totals that are not the mean of their answers."""
    means = {total.metric: total for total in totals}
    for finding in compare_means(path, answers, means):
        yield Finding(path, f"{shorten_cell(key)}: {finding.message}")


def _read_rows(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The scores of each row, and what is said of its problem.

    Raises:
        duckdb.Error: it is no such file.
        ValueError: it has no scores.
    """
    reader = f"read_parquet({sql.quote_paths([path])})"
    columns = get_engine().open_cursor().sql(f"SELECT * FROM {reader}").columns  # noqa: S608 - quoted
    scores, about = (next((one for one in names if one in columns), None) for names in (_SCORES, _ABOUT))
    if scores is None:
        raise ValueError(columns)
    said = f"to_json({sql.quote_name(about)})" if about else "NULL"
    cursor = get_engine().open_cursor()
    cursor.execute(f"SELECT to_json({sql.quote_name(scores)}), {said} FROM {reader}")  # noqa: S608 - quoted
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for first, second in rows:
            what = json.loads(second) if second else None
            yield (
                _parse_object(json.loads(first or "null")),
                what if isinstance(what, dict) else {"gold": what},
            )


def _parse_object(value: object) -> dict[str, Any]:
    """Scores as an object; older files hold them as a text of JSON."""
    return as_mapping(json.loads(value) if isinstance(value, str) else value)


def _find_gold(about: dict[str, Any]) -> object:
    """The right answer: as it stands, or the choice that is right; None where there are several."""
    if "gold" in about:
        return about["gold"]
    choices, places = about.get("choices"), about.get("gold_index")
    place = places[0] if isinstance(places, list) and len(places) == 1 else places
    if isinstance(place, bool) or not isinstance(place, int) or not isinstance(choices, list):
        return None
    return choices[place] if 0 <= place < len(choices) else None


def _list_findings(path: Path, answers: Sequence[ScoredAnswer], strange: Counter[str]) -> Iterator[Finding]:
    if strange:
        cells = format_count(sum(strange.values()), "value that is no score", "values that are no scores")
        yield Finding(
            path, f"{cells} in {join_names([shorten_cell(one) for one in strange], most=_FEW)}: left out"
        )
    repeated = len({one.problem for one in answers if one.sample == "1"})
    if repeated:
        message = f"{format_count(repeated, 'problem has', 'problems have')} several rows"
        yield Finding(path, f"{message}: they are read as its samples")


NAME: Final = "lighteval"
TITLE: Final = "results of lighteval"

_GENERAL: Final = re.compile(r'\s*\{\s*"config_general"\s*:\s*\{')
_KEYS: Final = re.compile(r'"(?:lighteval_sha|num_fewshot_seeds|model_name|max_samples)"\s*:')
_DATE: Final = re.compile(r"_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)$")
_STDERR: Final = "_stderr"
_ALL, _AVERAGE = "all", ":_average"
_DAY: Final = 10
_FEW_NAMES: Final = 3


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each results file, with the details of its date."""
    details = [path for path in files if path.suffix == ".parquet" and path.name.startswith("details_")]
    found = []
    for path in files:
        if path.suffix == ".json" and _has_results(path):
            date = _find_date(path)
            details_of_date = [other for other in details if date and _find_date(other) == date]
            found.append(Unit(NAME, path, (path, *details_of_date)))
    return tuple(found)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """Each task of a results file, and the means over tasks behind them.

    Args:
        unit: a results file.
        selected: only these metrics.

    Raises:
        UnreadableError: it is not what it seemed.
    """
    path = unit.files[0]
    document, findings = read_json_object(path)
    results = {
        key: value for key, value in as_mapping(document.get("results")).items() if isinstance(value, dict)
    }
    if not results:
        raise UnreadableError(path, 'there are no scores under "results"', "Check that lighteval wrote it")
    details = {_find_task(other): other for other in unit.files[1:]}
    strangers = [shorten_cell(other.name) for task, other in details.items() if task not in results]
    if strangers:
        message = (
            f"{format_count(len(strangers), 'details file is', 'details files are')} of no "
            "task in the results"
        )
        findings = (*findings, Finding(path, f"{message}: {join_names(strangers, most=_FEW_NAMES)}"))
    tasks = [key for key in results if not _is_mean(key)]
    named = Counter(_split_key(key)[0] for key in tasks)
    means = [key for key in results if _is_mean(key) and len(tasks) > 1]
    mean_warnings = warn_group_scores(path, [_split_key(key)[0] for key in means])
    for key in [*tasks, *means]:
        task, shots = _split_key(key)
        benchmark = f"{task} ({shots}-shot)" if named[task] > 1 and shots else task
        one = _build_evaluation(path, document, key, selected, details.get(key))
        if SUBTASKS in one.protocol:
            findings = (*findings, *mean_warnings)
        yield replace(one, benchmark=as_word(benchmark), findings=(*findings, *one.findings))
        findings = ()


def _build_evaluation(
    path: Path,
    document: Mapping[str, Any],
    key: str,
    selected: Collection[str] | None,
    details: Path | None,
) -> Evaluation:
    general = as_mapping(document.get("config_general"))
    generation = _get_generation(general)
    findings: list[Finding] = []
    config = _get_config(document, key)
    totals = tuple(_build_totals(path, document, key, selected, findings))
    seed = generation.get("seed")
    limited_to, all_ = (parse_count(config.get(f"{kind}_num_docs")) for kind in ("effective", "original"))
    if limited_to and all_ and limited_to < all_:
        findings.append(
            Finding(
                path,
                f"{shorten_cell(key)}: the limit leaves {limited_to:,} of {format_count(all_, 'problem')}",
            )
        )
    answers: tuple[ScoredAnswer, ...] = ()
    if details is not None:
        answers, strange = read_answers(details, selected)
        findings += [*strange, *compare_totals(details, key, answers, totals)]
    task, _ = _split_key(key)
    return Evaluation(
        path=path,
        model=_find_model(general) or as_word(path.absolute().parent.name),
        benchmark=as_word(task),
        run=_find_date(path),
        seed=None if isinstance(seed, bool) else as_word(seed) or None,
        protocol=_build_protocol(path, document, key),
        answers=answers,
        totals=totals,
        findings=tuple(findings),
    )


def _build_protocol(path: Path, document: Mapping[str, Any], key: str) -> dict[str, str]:
    general, config = as_mapping(document.get("config_general")), _get_config(document, key)
    generation = _get_generation(general)
    task, shots = _split_key(key)
    return build_protocol(
        {
            "samples": config.get("num_samples"),
            "temperature": generation.get("temperature"),
            "top_p": generation.get("top_p"),
            "max_tokens": generation.get("max_new_tokens") or config.get("generation_size"),
            "prompt": f"{shots}-shot" if shots else None,
            "harness": "lighteval",
            "version": general.get("lighteval_version") or general.get("lighteval_sha"),
            "date": _find_date(path)[:_DAY],
            "task version": as_mapping(document.get("versions")).get(key),
            "limit": general.get("max_samples"),
            SUBTASKS: _list_subtasks(document, task) if _is_mean(key) else None,
        }
    )


def _build_totals(
    path: Path,
    document: Mapping[str, Any],
    key: str,
    selected: Collection[str] | None,
    findings: list[Finding],
) -> Iterator[Total]:
    entry = as_mapping(as_mapping(document.get("results")).get(key))
    config = _get_config(document, key)
    better = _find_directions(config)
    for metric, cell in entry.items():
        if metric.endswith(_STDERR) or (selected is not None and metric not in selected):
            continue
        total, finding = parse_total(
            path,
            as_word(metric),
            cell,
            None if _is_mean(key) else entry.get(f"{metric}{_STDERR}"),
            n=parse_count(config.get("effective_num_docs")),
            higher_is_better=better.get(metric),
        )
        impossibility = check_accuracy(path, total) if total else None
        for one in (finding, impossibility):
            findings += [replace(one, message=f"{shorten_cell(key)}: {one.message}")] if one else []
        if total:
            yield total


def _find_directions(config: Mapping[str, Any]) -> dict[str, bool]:
    """Whether higher is better, by metric; a metric of several names has a direction for each."""
    found: dict[str, bool] = {}
    metrics = config.get("metrics") or config.get("metric")
    for metric in map(as_mapping, metrics if isinstance(metrics, list) else []):
        name, better = metric.get("metric_name"), metric.get("higher_is_better")
        if isinstance(name, str) and isinstance(better, bool):
            found[name] = better
        found |= {key: value for key, value in as_mapping(better).items() if isinstance(value, bool)}
    return found


def _get_config(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """What is said of a task; its name there lacks the shots in files of 2024 and 2025."""
    configs = as_mapping(document.get("config_tasks"))
    return as_mapping(configs.get(key)) or as_mapping(configs.get(key.rpartition("|")[0]))


def _get_generation(general: Mapping[str, Any]) -> dict[str, Any]:
    own = as_mapping(as_mapping(general.get("model_config")).get("generation_parameters"))
    return own or as_mapping(general.get("generation_parameters"))


def _find_model(general: Mapping[str, Any]) -> str:
    config = as_mapping(general.get("model_config"))
    return as_word(general.get("model_name")) or as_word(config.get("model_name"))


def _list_subtasks(document: Mapping[str, Any], task: str) -> str:
    """The tasks that a mean is over."""
    group = task.removesuffix(_AVERAGE)
    names = (_split_key(key)[0] for key in as_mapping(document.get("results")) if not _is_mean(key))
    return ", ".join(
        dict.fromkeys(as_word(name) for name in names if task == _ALL or name.startswith(f"{group}:"))
    )


def _split_key(key: str) -> tuple[str, str]:
    """Task and shots: ``lighteval|gsm8k|5`` is gsm8k with 5."""
    parts = key.split("|")
    if len(parts) == 1:
        return key, ""
    if len(parts) == 2:  # noqa: PLR2004 - newer files have no suite
        return parts[0], parts[1] if parts[1].isdecimal() else ""
    return parts[1], parts[2] if parts[2].isdecimal() else ""


def _find_task(details: Path) -> str:
    """The task whose answers a file holds, by its name: ``details_TASK_DATE.parquet``."""
    return _DATE.sub("", details.stem).removeprefix("details_")


def _is_mean(key: str) -> bool:
    return key == _ALL or _split_key(key)[0].endswith(_AVERAGE)


def _find_date(path: Path) -> str:
    found = _DATE.search(path.stem)
    return found["date"] if found else ""


def _has_results(path: Path) -> bool:
    text = read_head_text(path)
    return _GENERAL.match(text) is not None and _KEYS.search(text) is not None
