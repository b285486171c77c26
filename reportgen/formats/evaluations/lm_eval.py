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
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.lm_eval_samples import label_metric, read_samples
from reportgen.formats.evaluations.scores import SUBTASKS, make_findings, parse_count
from reportgen.formats.json_files import (
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json_object,
    shorten_cell,
)
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
_NO_SCORE: Final = frozenset(("alias", "name", "sample_len", "sample_count", "samples"))
_STDERR: Final = "_stderr"
_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each results file with the answers of its folder and date, and answers that have no results."""
    results = []
    for path in files:
        text = read_head_text(path) if path.suffix == ".json" else _OTHERS
        named, marked = path.name.startswith("results") and _PARTS.search(text), _MARKS.search(text)
        if _OTHERS not in text and ((_RESULTS.match(text) and (named or marked)) or (named and marked)):
            results.append(path)
    samples = [path for path in files if path.suffix == ".jsonl" and _SAMPLES.match(read_head_text(path))]
    samples_by_date: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in samples:
        samples_by_date[path.parent, scores.find_date(path)].append(path)
    results_in = Counter(path.parent for path in results)
    units = []
    for path in results:
        mine = samples_by_date.pop((path.parent, scores.find_date(path)), [])
        if results_in[path.parent] == 1 and not scores.find_date(path):
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
    run = _ResultsFile(paths[0] if paths else unit.path, document, scores.find_date((paths or unit.files)[0]))
    results, groups = as_mapping(document.get("results")), as_mapping(document.get("groups"))
    samples: dict[str, Path] = {}
    for path in (path for path in unit.files if path.suffix == ".jsonl"):
        # samples_TASK_DATE.jsonl
        stem = scores.strip_date(path)
        fitting = [task for task in results if stem in {f"samples_{task}", task} or stem.endswith(f"_{task}")]
        task = max(fitting, key=len) if fitting else stem.removeprefix("samples_")
        if task in samples:
            message = f"{shorten_cell(task)} has answers in several files: those in"
            findings = (*findings, Finding(samples[task], f"{message} {shorten_cell(path.name)} are read"))
        samples[task] = path
    entries = {**groups, **results}
    tasks = dict.fromkeys((*results, *groups, *samples))
    # The heading of a group has no score.
    scored = [task for task in tasks if as_mapping(entries.get(task)).keys() - _NO_SCORE]
    over_others = [task for task in scored if run.list_subtasks(task) is not None]
    group_warnings = make_findings(run.path, scores.warn_group_scores(over_others))
    for task in tasks:
        if task in entries and not isinstance(entries[task], dict):
            continue
        entry = as_mapping(entries.get(task))
        evaluation = _build_evaluation(_Task(run, task, entry, samples.get(task), selected))
        if evaluation is not None:
            if SUBTASKS in evaluation.protocol:
                findings = (*findings, *group_warnings)
            yield replace(evaluation, findings=(*findings, *evaluation.findings))
            findings = ()


@dataclass(frozen=True, slots=True)
class _ResultsFile:
    """A results file: its parts, and the date in its name."""

    path: Path
    document: Mapping[str, Any]
    date: str

    def get(self, part: str, task: str) -> Any:  # noqa: ANN401 - JSON can be anything
        """What a part of the file, such as ``configs``, says of a task."""
        return as_mapping(self.document.get(part)).get(task)

    def count_problems(self, task: str, key: str) -> int | None:
        """How many problems a task has (``original``), or was given (``effective``)."""
        return parse_count(as_mapping(self.get("n-samples", task)).get(key))

    def list_subtasks(self, task: str) -> list[str] | None:
        """What a group is a score over, where that is said; None for a task with problems of its own."""
        named = self.get("group_subtasks", task)
        if isinstance(named, list) and named:
            return [as_word(name) for name in named]
        return [] if named or task in as_mapping(self.document.get("groups")) else None

    def count_all_problems(self, task: str) -> int | None:
        """How many problems a score is over: a group's are those of its tasks, if all of these are known."""
        waiting, counts, seen = [task], list[int | None](), {task}
        while waiting:
            name = waiting.pop()
            subtasks = self.list_subtasks(name)
            if subtasks is None:
                counts.append(self.count_problems(name, "effective"))
            waiting += [subtask for subtask in subtasks or () if subtask not in seen]
            seen.update(subtasks or ())
        return sum(filter(None, counts)) if counts and all(counts) else None

    @property
    def config(self) -> dict[str, Any]:
        return as_mapping(self.document.get("config"))

    @property
    def arguments(self) -> dict[str, Any]:
        return _parse_arguments(self.config.get("model_args"))

    @property
    def model(self) -> str:
        """What was evaluated, with its revision where it is not the usual one; empty where it is not said.

        ``HFLM.__init__`` joins a revision and a subfolder with a slash. Neither stands in ``model_name``.
        """
        arguments = self.arguments
        names = (self.document.get("model_name"), *map(arguments.get, _MODEL_KEYS), self.config.get("model"))
        model = next(filter(None, map(as_word, names)), "")
        parts = [as_word(arguments.get(key)) for key in ("revision", "subfolder")]
        revision, subfolder = ("" if part == "None" else part for part in parts)
        if not model or (revision in {"", _MAIN} and not subfolder):
            return model
        return f"{model}@{revision or _MAIN}" + (f"/{subfolder}" if subfolder else "")


@dataclass(frozen=True, slots=True)
class _Task:
    """A task, its scores, the file of its answers, and which metrics are selected."""

    run: _ResultsFile
    name: str
    entry: Mapping[str, Any]
    samples: Path | None
    selected: Collection[str] | None

    @property
    def config(self) -> dict[str, Any]:
        return as_mapping(self.run.get("configs", self.name))

    @property
    def generation(self) -> dict[str, Any]:
        """Settings of generation: the task's own, and over them what the command line said."""
        own = as_mapping(self.config.get("generation_kwargs"))
        return {**own, **_parse_arguments(self.run.config.get("gen_kwargs"))}

    @property
    def protocol(self) -> dict[str, str]:
        document, own, generation, config = self.run.document, self.config, self.generation, self.run.config
        greedy = str(generation.get("do_sample")).lower() == "false"
        generated = own.get("output_type") == "generate_until"
        repeats = own.get("repeats")
        numbers = (self.run.get("n-shot", self.name), own.get("num_fewshot"), config.get("num_fewshot"))
        shots = next((as_word(n) for n in numbers if n is not None and as_word(n).isdecimal()), "")
        prompt = [f"{shots}-shot"] if shots else []
        prompt += [
            key.replace("_", " ") for key in ("chat_template", "system_instruction") if document.get(key)
        ]
        day, seconds = self.run.date[:_DAY], parse_number(document.get("date"))
        if not day and seconds is not None and 0 < seconds <= _LAST_SECOND:
            day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
        return scores.build_protocol(
            {
                # A filter makes one score of all repeats, which are no samples with scores of their own.
                "samples": repeats if generated and repeats == 1 else None,
                "repeats": None if repeats == 1 else repeats,
                "temperature": 0 if greedy else generation.get("temperature"),
                "top_p": None if greedy else generation.get("top_p"),
                "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
                "prompt": ", ".join(prompt),
                "harness": "lm-evaluation-harness",
                "version": document.get("lm_eval_version") or document.get("git_hash"),
                "date": day,
                "task version": self.run.get("versions", self.name),
                "limit": config.get("limit"),
                "backend": document.get("model_source") or config.get("model"),
            }
        )

    def build_totals(self, messages: list[str]) -> Iterator[Total]:
        """Its scores; what is irregular about them is added to the messages."""
        run, entry = self.run, self.entry
        better = as_mapping(run.get("higher_is_better", self.name))
        n = run.count_all_problems(self.name) or parse_count(entry.get("sample_len"))
        group = run.list_subtasks(self.name) is not None
        inferred = set()
        for key, cell in entry.items():
            metric, comma, chosen = key.partition(",")
            label = label_metric(metric, chosen)
            if metric in _NO_SCORE or metric.endswith(_STDERR):
                continue
            if self.selected is not None and not {label, metric, key} & set(self.selected):
                continue
            higher = better.get(metric) if isinstance(better.get(metric), bool) else None
            stderr = entry.get(f"{metric}{_STDERR}{comma}{chosen}")
            total, irregular = scores.parse_total(label, cell, stderr, n=n, higher_is_better=higher)
            messages += irregular
            # The error of a group is pooled, so that no number of problems follows from it.
            if total and n is None and not group and (own := _infer_problems(total)):
                total = replace(total, n=own)
                inferred.add(own)
            if total:
                yield total
        if len(inferred) == 1:
            count = f"{inferred.pop():,} follows from score and standard error"
            messages.append(f"the number of problems is not written; {count}")


def _build_evaluation(task: _Task) -> Evaluation | None:
    """One task; None where it has neither scores nor answers, as the heading of a group."""
    run, samples = task.run, task.samples
    messages: list[str] = []
    totals = list(task.build_totals(messages))
    if not totals and samples is None and not messages:
        return None
    answers: tuple[ScoredAnswer, ...] = ()
    irregular: tuple[Finding, ...] = ()
    if samples:
        filters = tuple(dict.fromkeys(key.partition(",")[2] for key in task.entry if "," in key))
        answers, irregular = read_samples(samples, task.selected, filters)
    findings = [*make_findings(run.path, messages, task.name)]
    protocol = task.protocol
    subtasks = None if samples else run.list_subtasks(task.name)
    if subtasks is not None:
        protocol[SUBTASKS] = ", ".join(subtasks) or "several"
    else:
        answers, left_out = _exclude_aggregates(task, totals, answers)
        findings += make_findings(samples or run.path, left_out, task.name)
        findings += _check_results(task, totals, answers)
    seeds = (task.generation.get("seed"), run.arguments.get("seed"), run.config.get("random_seed"))
    folder = (samples or run.path).absolute().parent.name
    return Evaluation(
        path=samples if samples and not task.entry else run.path,
        # org__base is how lm-eval writes org/base.
        model=run.model or as_word(folder.replace("__", "/")),
        benchmark=as_word(task.name),
        run=run.date,
        # The seed of sampling where it is given, otherwise the harness's own.
        seed=next((as_word(seed) for seed in seeds if as_word(seed) and not isinstance(seed, bool)), None),
        protocol=protocol,
        answers=answers,
        totals=tuple(totals),
        findings=(*findings, *irregular),
    )


def _infer_problems(total: Total) -> int | None:
    """The number of problems from a share of right answers and its standard error."""
    share, error = total.value, total.stderr
    if not scores.is_accuracy(total.metric) or not error or not 0 < share < 1:
        return None
    n = share * (1 - share) / error / error + 1  # the square of a tiny error would be 0
    if not n <= _MOST_PROBLEMS:
        return None
    right = share * round(n)
    whole = abs(n - round(n)) < 1e-3 and abs(right - round(right)) < 1e-3  # noqa: PLR2004 - both are whole
    return round(n) if whole else None


def _parse_arguments(arguments: object) -> dict[str, Any]:
    """``a=1,b=2`` or an object."""
    if isinstance(arguments, str):
        return {name: value.strip() for name, value in _ARGUMENT.findall(arguments)}
    return as_mapping(arguments)


def _exclude_aggregates(
    task: _Task, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Answers without the values that are no scores of theirs, and what was left out.

    A perplexity or BLEU is not the mean of what stands next to each document, which is a likelihood or a
    count: ``metric_list`` names another aggregation, and the mean is another number.
    """
    metrics = map(as_mapping, as_list(task.config.get("metric_list")))
    how = {as_word(metric.get("metric")): as_word(metric.get("aggregation")) for metric in metrics}
    messages = []
    dropped = set()
    for total in totals:
        mean = scores.find_other_mean(answers, total)
        if mean is None or how.get(total.metric.partition(" (")[0], "") in _MEANS:
            continue
        dropped.add(total.metric)
        value, other = (written(number, significant=6) for number in (total.value, mean))
        messages.append(
            f"{shorten_cell(total.metric)} is {value}, and the mean of its values is {other}: "
            "they are no scores, and left out"
        )
    return tuple(answer for answer in answers if answer.metric not in dropped), messages


def _check_results(
    task: _Task, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
) -> Iterator[Finding]:
    """What cannot be so, or does not fit together."""
    path = task.samples or task.run.path
    limited_to, all_ = (task.run.count_problems(task.name, key) for key in ("effective", "original"))
    yield from make_findings(task.run.path, scores.warn_limit(limited_to, all_), task.name)
    messages = []
    problems = len({answer.problem for answer in answers})
    if limited_to and problems and problems != limited_to:
        count = format_count(problems, "problem")
        messages.append(f"the answers are to {count}, the scores over {limited_to:,}")
    repeats = parse_count(task.config.get("repeats")) or 1
    if repeats > 1 and answers:
        times = f"each problem was asked {repeats:,} times"
        messages.append(f"{times}, and each answer here is what a filter made of these")
    messages += scores.check_totals(answers, [(total.metric, total) for total in totals], repeats=repeats)
    # Without answers only scores are checked, which stand in the results.
    yield from make_findings(path if answers else task.run.path, messages, task.name)
    yield from make_findings(path, scores.warn_equal_answers(answers))
