"""Results of the Language Model Evaluation Harness, with the answers next to them.

Schema: repository EleutherAI/lm-evaluation-harness, ``lm_eval/loggers/evaluation_tracker.py`` writes
``results_DATE.json`` and ``samples_TASK_DATE.jsonl`` into a folder named after the model; the parts of the
results are put together in ``lm_eval/evaluator.py``. Files before 0.4 have keys without a filter (``acc``,
``acc_stderr``), any name, and no number of problems; it follows from a share p of right answers and its
standard error s as n = p(1 - p)/s² + 1, since s² = p(1 - p)/(n - 1).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.formats.evaluations.lm_eval_samples import (
    ResultsFile,
    check_results,
    exclude_aggregates,
    infer_problems,
    label_metric,
    read_samples,
)
from reportgen.formats.evaluations.scores import (
    SUBTASKS,
    build_protocol,
    find_date,
    make_findings,
    parse_count,
    parse_total,
    strip_date,
    warn_group_scores,
)
from reportgen.formats.json_files import as_mapping, as_word, read_head_text, read_json_object, shorten_cell
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


NAME: Final = "lm_eval"
TITLE: Final = "results of the Language Model Evaluation Harness (lm-eval)"

# In the order of GeneralConfigTracker._get_model_name: adapters stand with the model that they change.
_MODEL_KEYS: Final = ("peft", "delta", "pretrained", "model", "path", "engine")
_MOST_TOKENS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
_ARGUMENT: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^,]*)")
_MAIN: Final = "main"
_DAY: Final = 10
_LAST_SECOND: Final = 253_402_300_799
_RESULTS: Final = re.compile(r'\s*\{\s*"results"\s*:\s*\{')
_MARKS: Final = re.compile(r'_stderr[",]|,none"|"alias"\s*:')
_PARTS: Final = re.compile(r'"(?:results|groups|group_subtasks|configs|n-shot|versions)"\s*:')
_OTHERS: Final = '"config_general"'
_SAMPLES: Final = re.compile(r'\s*\{\s*"doc_id"\s*:[^\n]*?"doc"\s*:')
_NO_METRIC: Final = frozenset(("alias", "name", "sample_len", "sample_count", "samples"))
_STDERR: Final = "_stderr"


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each results file with the answers of its folder and date, and answers that have no results."""
    results = [path for path in files if path.suffix == ".json" and _has_results(path)]
    samples = [path for path in files if path.suffix == ".jsonl" and _SAMPLES.match(read_head_text(path))]
    samples_by_date: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in samples:
        samples_by_date[path.parent, find_date(path)].append(path)
    results_in = Counter(path.parent for path in results)
    units = []
    for path in results:
        mine = samples_by_date.pop((path.parent, find_date(path)), [])
        if results_in[path.parent] == 1 and not find_date(path):
            for key in [key for key in samples_by_date if key[0] == path.parent]:
                mine += samples_by_date.pop(key)
        units.append(Unit(NAME, path, (path, *mine)))
    for (folder, _), paths in samples_by_date.items():
        units.append(Unit(NAME, paths[0] if len(paths) == 1 else folder, tuple(paths)))
    return tuple(units)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """Each task and each group of tasks of a results file, in its order, or of answers alone.

    Metrics are selected by their names with or without the filter.
    """
    paths = [path for path in unit.files if path.suffix != ".jsonl"]
    document: dict[str, Any] = {}
    findings: tuple[Finding, ...] = ()
    if paths:
        document, findings = read_json_object(paths[0])
        if not isinstance(document.get("results"), dict):
            advice = "Check that lm-eval wrote it"
            raise UnreadableError(paths[0], 'there is no object "results" in the file', advice)
    else:
        message = "there is no results file of this date: the model is named after the folder"
        findings = (Finding(unit.path, message),)
    run = ResultsFile(paths[0] if paths else unit.path, document, find_date((paths or unit.files)[0]))
    samples: dict[str, Path] = {}
    for path in (path for path in unit.files if path.suffix == ".jsonl"):
        task = _find_task(path, run)
        if task in samples:
            message = f"{shorten_cell(task)} has answers in several files: those in"
            findings = (*findings, Finding(samples[task], f"{message} {shorten_cell(path.name)} are read"))
        samples[task] = path
    results, groups = as_mapping(document.get("results")), as_mapping(document.get("groups"))
    entries = {**groups, **results}
    tasks = dict.fromkeys((*results, *groups, *samples))
    # The heading of a group has no score.
    scored = [task for task in tasks if as_mapping(entries.get(task)).keys() - _NO_METRIC]
    over_others = [task for task in scored if run.list_subtasks(task) is not None]
    group_warnings = make_findings(run.path, warn_group_scores(over_others))
    for task in tasks:
        if task in entries and not isinstance(entries[task], dict):
            continue
        one = _build_evaluation(run, task, as_mapping(entries.get(task)), samples.get(task), selected)
        if one is not None:
            if SUBTASKS in one.protocol:
                findings = (*findings, *group_warnings)
            yield replace(one, findings=(*findings, *one.findings))
            findings = ()


def _build_evaluation(
    run: ResultsFile,
    task: str,
    entry: Mapping[str, Any],
    samples: Path | None,
    selected: Collection[str] | None,
) -> Evaluation | None:
    """One task; None where it has neither scores nor answers, as the heading of a group."""
    messages: list[str] = []
    totals = list(_build_totals(run, task, entry, selected, messages))
    if not totals and samples is None and not messages:
        return None
    answers: tuple[ScoredAnswer, ...] = ()
    irregular: tuple[Finding, ...] = ()
    if samples:
        filters = tuple(dict.fromkeys(key.partition(",")[2] for key in entry if "," in key))
        answers, irregular = read_samples(samples, selected, filters)
    findings = [*make_findings(run.path, messages, task)]
    protocol = _build_protocol(run, task)
    subtasks = None if samples else run.list_subtasks(task)
    if subtasks is not None:
        protocol[SUBTASKS] = ", ".join(subtasks) or "several"
    else:
        answers, left_out = exclude_aggregates(run, task, totals, answers)
        findings += make_findings(samples or run.path, left_out, task)
        findings += check_results(run, task, totals, answers, samples)
    folder = (samples or run.path).absolute().parent.name
    return Evaluation(
        path=samples if samples and not entry else run.path,
        # org__base is how lm-eval writes org/base.
        model=_find_model(run.document) or as_word(folder.replace("__", "/")),
        benchmark=as_word(task),
        run=run.date,
        seed=_find_seed(run, task),
        protocol=protocol,
        answers=answers,
        totals=tuple(totals),
        findings=(*findings, *irregular),
    )


def _build_totals(
    run: ResultsFile,
    task: str,
    entry: Mapping[str, Any],
    selected: Collection[str] | None,
    messages: list[str],
) -> Iterator[Total]:
    better = as_mapping(run.get("higher_is_better", task))
    n = run.count_all_problems(task) or parse_count(entry.get("sample_len"))
    group = run.list_subtasks(task) is not None
    inferred = set()
    for key, cell in entry.items():
        metric, comma, chosen = key.partition(",")
        label = label_metric(metric, chosen)
        if metric in _NO_METRIC or metric.endswith(_STDERR):
            continue
        if selected is not None and not {label, metric, key} & set(selected):
            continue
        higher = better.get(metric)
        total, irregular = parse_total(
            label,
            cell,
            entry.get(f"{metric}{_STDERR}{comma}{chosen}"),
            n=n,
            higher_is_better=higher if isinstance(higher, bool) else None,
        )
        messages += irregular
        # The error of a group is pooled, so that no number of problems follows from it.
        if total and n is None and not group and (own := infer_problems(total)):
            total = replace(total, n=own)
            inferred.add(own)
        if total:
            yield total
    if len(inferred) == 1:
        count = f"{inferred.pop():,} follows from score and standard error"
        messages.append(f"the number of problems is not written; {count}")


def _find_model(document: Mapping[str, Any]) -> str:
    """What was evaluated, with its revision where it is not the usual one; empty where the file does not say.

    ``HFLM.__init__`` joins a revision and a subfolder with a slash. Neither stands in ``model_name``.
    """
    config = as_mapping(document.get("config"))
    arguments = _parse_arguments(config.get("model_args"))
    named = (arguments[key] for key in _MODEL_KEYS if as_word(arguments.get(key)))
    model = as_word(document.get("model_name")) or as_word(next(named, "")) or as_word(config.get("model"))
    parts = [as_word(arguments.get(key)) for key in ("revision", "subfolder")]
    revision, subfolder = ("" if part == "None" else part for part in parts)
    if not model or (revision in {"", _MAIN} and not subfolder):
        return model
    return f"{model}@{revision or _MAIN}" + (f"/{subfolder}" if subfolder else "")


def _find_seed(run: ResultsFile, task: str) -> str | None:
    """The seed of sampling where it is given, otherwise the harness's own."""
    config = as_mapping(run.document.get("config"))
    seeds = (
        _merge_generation(run, task).get("seed"),
        _parse_arguments(config.get("model_args")).get("seed"),
        config.get("random_seed"),
    )
    return next((as_word(seed) for seed in seeds if as_word(seed) and not isinstance(seed, bool)), None)


def _build_protocol(run: ResultsFile, task: str) -> dict[str, str]:
    document, own, generation = run.document, run.get_config(task), _merge_generation(run, task)
    config = as_mapping(document.get("config"))
    greedy = str(generation.get("do_sample")).lower() == "false"
    generated = own.get("output_type") == "generate_until"
    repeats = own.get("repeats")
    numbers = (run.get("n-shot", task), own.get("num_fewshot"), config.get("num_fewshot"))
    shots = next((as_word(one) for one in numbers if one is not None and as_word(one).isdecimal()), "")
    prompt = [f"{shots}-shot"] if shots else []
    prompt += ["chat template"] if document.get("chat_template") else []
    prompt += ["system instruction"] if document.get("system_instruction") else []
    return build_protocol(
        {
            # A filter makes one score of all repeats, so that these are no samples with scores of their own.
            "samples": repeats if generated and repeats == 1 else None,
            "repeats": None if repeats == 1 else repeats,
            "temperature": 0 if greedy else generation.get("temperature"),
            "top_p": None if greedy else generation.get("top_p"),
            "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
            "prompt": ", ".join(prompt),
            "harness": "lm-evaluation-harness",
            "version": document.get("lm_eval_version") or document.get("git_hash"),
            "date": run.date[:_DAY] or _format_day(document.get("date")),
            "task version": run.get("versions", task),
            "limit": config.get("limit"),
            "backend": document.get("model_source") or config.get("model"),
        }
    )


def _merge_generation(run: ResultsFile, task: str) -> dict[str, Any]:
    """Settings of generation: the task's own, and over them what the command line said."""
    own = as_mapping(run.get_config(task).get("generation_kwargs"))
    return {**own, **_parse_arguments(as_mapping(run.document.get("config")).get("gen_kwargs"))}


def _parse_arguments(arguments: object) -> dict[str, Any]:
    """``a=1,b=2`` or an object."""
    if isinstance(arguments, str):
        return {name: value.strip() for name, value in _ARGUMENT.findall(arguments)}
    return as_mapping(arguments)


def _format_day(seconds: object) -> str:
    """The day, in UTC, of seconds since 1970."""
    value = parse_number(seconds)
    if value is None or not 0 < value <= _LAST_SECOND:
        return ""
    return datetime.fromtimestamp(value, UTC).date().isoformat()


def _has_results(path: Path) -> bool:
    text = read_head_text(path)
    if _OTHERS in text:
        return False
    named = path.name.startswith("results") and _PARTS.search(text) is not None
    return bool((_RESULTS.match(text) and (named or _MARKS.search(text))) or (named and _MARKS.search(text)))


def _find_task(path: Path, run: ResultsFile) -> str:
    """The task whose answers a file holds, by its name: ``samples_TASK_DATE.jsonl``."""
    stem = strip_date(path)
    tasks = as_mapping(run.document.get("results"))
    fitting = [task for task in tasks if stem in {f"samples_{task}", task} or stem.endswith(f"_{task}")]
    return max(fitting, key=len) if fitting else stem.removeprefix("samples_")
