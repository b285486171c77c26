"""Results of the Language Model Evaluation Harness, with the answers next to them.

Schema: repository EleutherAI/lm-evaluation-harness, ``lm_eval/loggers/evaluation_tracker.py`` writes
``results_DATE.json`` and ``samples_TASK_DATE.jsonl`` into a folder named after the model;
``lm_eval/evaluator.py`` assembles the results. A row of samples is a document and filter, with a column for
each metric.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import (
    SUBTASKS,
    find_seed,
    find_word,
    get_inner,
    get_mapping,
    make_findings,
    parse_count,
)
from reportgen.formats.evaluations.texts import read_lm_eval_texts
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import (
    JsonLines,
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, ScoredAnswer, Total, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


# In the order of GeneralConfigTracker._get_model_name: adapters precede the model that they change.
_MODEL_KEYS: Final = ("peft", "delta", "pretrained", "model", "path", "engine")
_MOST_TOKENS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
_ARGUMENT: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^,]*)")
_MAIN: Final = "main"
_RESULTS: Final = re.compile(r'\s*\{\s*"results"\s*:')
_MARKS: Final = re.compile(r'_stderr[",]|,none"|"alias"\s*:')
_PARTS: Final = re.compile(r'"(?:results|groups|group_subtasks|configs|n-shot|versions)"\s*:')
_OTHERS: Final = '"config_general"'
_SAMPLES: Final = re.compile(r'\s*\{\s*"doc_id"\s*:[^\n]*?"doc"\s*:')
# What files before 0.4 do not have.
_NEW: Final = frozenset(("n-samples", "n-shot", "group_subtasks", "higher_is_better", "lm_eval_version"))
_NO_SCORE: Final = frozenset(("alias", "name", "sample_len", "sample_count", "samples"))
_MEANS: Final = frozenset(("", "mean", "nanmean"))


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return each results file with the answers of its folder and date, and answers without results."""
    results = []
    for path in files:
        text = read_head_text(path) if get_ending(path) == ".json" else _OTHERS
        named, marked = path.name.startswith("results") and _PARTS.search(text), _MARKS.search(text)
        if _OTHERS not in text and _RESULTS.match(text) and (named or marked):
            results.append(path)
    samples = [
        path for path in files if get_ending(path) == ".jsonl" and _SAMPLES.match(read_head_text(path))
    ]
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
        units.append(Unit(path, (path, *mine)))
    for (folder, _), paths in samples_by_date.items():
        units.append(Unit(paths[0] if len(paths) == 1 else folder, tuple(paths)))
    return tuple(units)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield each task and each group of tasks of a results file, in its order, or of answers alone."""
    paths = [path for path in unit.files if get_ending(path) != ".jsonl"]
    path, date = (*paths, unit.path)[0], scores.find_date((*paths, *unit.files)[0])
    if paths:
        document, findings = read_json_object(path)
        if not isinstance(document.get("results"), dict):
            advice = "Check that lm-eval wrote it"
            raise UnreadableError(path, 'there is no object "results" in the file', advice)
        _check_scores(path, document)
    else:
        message = "there is no results file of this date: the model is named after the folder"
        document, findings = {}, (warn(unit.path, message),)
    results, groups = (get_mapping(document, part) for part in ("results", "groups"))
    samples: dict[str, Path] = {}
    for file in (file for file in unit.files if get_ending(file) == ".jsonl"):
        # samples_TASK_DATE.jsonl
        stem = scores.strip_date(file)
        fitting = [task for task in results if stem in {f"samples_{task}", task} or stem.endswith(f"_{task}")]
        task = max(fitting, key=len) if fitting else stem.removeprefix("samples_")
        if task in samples:
            message = f"{shorten_cell(task)} has answers in several files: those in"
            findings = (*findings, warn(samples[task], f"{message} {shorten_cell(file.name)} are read"))
        samples[task] = file
    tasks = (
        _Task(path, document, date, name, samples.get(name), unit.texts)
        for name in dict.fromkeys((*results, *groups, *samples))
        if isinstance({**groups, **results}.get(name, {}), dict)
    )
    yield from scores.add_to_first(filter(None, map(_build_evaluation, tasks)), findings)


def _check_scores(path: Path, document: Mapping[str, Any]) -> None:
    """Refuse results of versions before 0.4, and those without a number."""
    cells = [cell for entry in document["results"].values() for cell in as_mapping(entry).items()]
    keys = [key for key, cell in cells if parse_number(cell) is not None]
    words = [f"{key}: {shorten_cell(cell)}" for key, cell in cells if key.partition(",")[0] not in _NO_SCORE]
    if words and not keys:
        advice = "Write numbers, or leave the file out with files:"
        raise UnreadableError(path, f"no score in it is a number, as in {words[0]}", advice)
    if keys and not _NEW & document.keys() and not any("," in key for key in keys):
        metric = next((key for key in keys if f"{key}_stderr" in keys), "")
        columns = f"columns: {{benchmark: '@', score: $.{metric}, stderr: $.{metric}_stderr}}"
        mapped = f", or say format: mapped, form: totals, rows: $.results[*] and {columns} in source.yml"
        message = "its results are of a version before 0.4, which wrote no number of problems"
        raise UnreadableError(path, message, f"Evaluate again{mapped if metric else ''}")


def _find_model(tree: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Return the evaluated model, with its revision unless that is the default; empty if unknown.

    ``HFLM.__init__`` joins a revision and a subfolder with a slash. ``model_name`` has neither.
    """
    names = (tree.get("model_name"), *map(arguments.get, _MODEL_KEYS))
    model = find_word(*names, get_inner(tree, "config", "model"))
    parts = [as_word(arguments.get(key)) for key in ("revision", "subfolder")]
    revision, subfolder = ("" if part == "None" else part for part in parts)
    if not model or (revision in {"", _MAIN} and not subfolder):
        return model
    return f"{model}@{revision or _MAIN}" + (f"/{subfolder}" if subfolder else "")


def _list_subtasks(tree: Mapping[str, Any], name: str) -> list[str] | None:
    """Return the subtasks of a group, empty if unknown; None for a task with problems of its own."""
    if named := as_list(get_inner(tree, "group_subtasks", name)):
        return [as_word(one) for one in named]
    return [] if name in get_mapping(tree, "groups") else None


def _count_problems(tree: Mapping[str, Any], name: str) -> int | None:
    """Return the number of problems of a task or of all tasks of a group; None if unknown."""
    waiting, counts, seen = [name], list[int | None](), {name}
    while waiting:
        part = waiting.pop()
        if (subtasks := _list_subtasks(tree, part)) is None:
            counts.append(parse_count(get_inner(tree, "n-samples", part, "effective")))
            continue
        waiting += [subtask for subtask in subtasks if subtask not in seen]
        seen.update(subtasks)
    return sum(filter(None, counts)) if counts and all(counts) else None


class _Task(Struct, frozen=True):
    """Task of a results file, with the file of its answers."""

    path: Path  # the results file, or the folder of answers without one
    tree: Mapping[str, Any]  # the results file; empty without one
    date: str
    name: str
    samples: Path | None
    texts: bool  # whether answers have texts

    @property
    def entry(self) -> dict[str, Any]:
        part = "results" if self.name in get_mapping(self.tree, "results") else "groups"
        return get_mapping(self.tree, part, self.name)

    @property
    def config(self) -> dict[str, Any]:
        return get_mapping(self.tree, "configs", self.name)

    @property
    def arguments(self) -> dict[str, Any]:
        return _parse_arguments(get_inner(self.tree, "config", "model_args"))

    @property
    def generation(self) -> dict[str, Any]:
        """Settings of the task, which those of the command line override."""
        own = get_mapping(self.config, "generation_kwargs")
        return {**own, **_parse_arguments(get_inner(self.tree, "config", "gen_kwargs"))}

    @property
    def protocol(self) -> dict[str, str]:
        tree, general, generation = self.tree, get_mapping(self.tree, "config"), self.generation
        repeats = self.config.get("repeats")
        greedy = str(generation.get("do_sample")).lower() == "false"
        generated = self.config.get("output_type") == "generate_until"
        shots = (
            get_inner(tree, "n-shot", self.name),
            *(one.get("num_fewshot") for one in (self.config, general)),
        )
        number = next(filter(str.isdecimal, map(as_word, shots)), "")
        parts = [key.replace("_", " ") for key in ("chat_template", "system_instruction") if tree.get(key)]
        return scores.build_protocol(
            {
                # A filter makes one score from all repeats, so they are not samples with separate scores.
                "samples": repeats if repeats == 1 and generated else None,
                "repeats": None if repeats == 1 else repeats,
                "temperature": 0 if greedy else generation.get("temperature"),
                "top_p": None if greedy else generation.get("top_p"),
                "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
                "prompt": ", ".join([f"{number}-shot", *parts] if number else parts),
                "task version": get_inner(tree, "versions", self.name),
                "harness": "lm-evaluation-harness",
                "version": tree.get("lm_eval_version") or tree.get("git_hash"),
                "date": self.date,
                "limit": general.get("limit"),
                "backend": tree.get("model_source") or general.get("model"),
            }
        )

    def build_totals(self, messages: list[str], left_out: list[str]) -> Iterator[Total]:
        """Yield the task's scores; add irregularities to ``messages``, and counts to ``left_out``."""
        entry = {key: cell for key, cell in self.entry.items() if key.partition(",")[0] not in _NO_SCORE}
        entry, counts = scores.leave_out_counts(entry)
        left_out += counts
        n, better = (
            _count_problems(self.tree, self.name),
            get_mapping(self.tree, "higher_is_better", self.name),
        )
        yield from scores.read_totals(entry, messages, n=n, better=better, label=_label_key)


def _label_key(key: str) -> str:
    metric, _, chosen = key.partition(",")
    return _label_metric(metric, chosen)


def _build_evaluation(task: _Task) -> Evaluation | None:
    """Return one task's evaluation; None if it has neither scores nor answers, like a group's heading."""
    samples, messages, left_out = task.samples, list[str](), list[str]()
    totals = list(task.build_totals(messages, left_out))
    if not (totals or samples or messages or left_out):
        return None
    answers, irregular = _read_samples(samples, task.entry, texts=task.texts) if samples else ((), ())
    findings = [*make_findings(task.path, left_out, task.name, confirmed_by="metrics")]
    findings += make_findings(task.path, messages, task.name)
    protocol, generation = task.protocol, task.generation
    subtasks = None if samples else _list_subtasks(task.tree, task.name)
    if subtasks is not None:
        protocol[SUBTASKS] = ", ".join(subtasks) or "several"
    else:
        aggregates = _find_aggregates(task, answers)
        answers = tuple(answer for answer in answers if answer.metric not in aggregates)
        findings += make_findings(samples or task.path, aggregates.values(), task.name)
        findings += _check_results(task, totals, answers)
    # lm-eval writes org/base as org__base.
    folder = as_word((samples or task.path).absolute().parent.name.replace("__", "/"))
    # The sampling seed if given, otherwise the harness's own.
    seeds = (
        generation.get("seed"),
        task.arguments.get("seed"),
        get_inner(task.tree, "config", "random_seed"),
    )
    return Evaluation(
        path=samples if samples and not task.entry else task.path,
        model=_find_model(task.tree, task.arguments) or folder,
        benchmark=as_word(task.name),
        run=task.date,
        seed=find_seed(*seeds),
        protocol=protocol,
        answers=answers,
        totals=tuple(totals),
        findings=(*findings, *irregular),
    )


def _parse_arguments(arguments: object) -> dict[str, Any]:
    """Parse ``a=1,b=2`` or an object."""
    if isinstance(arguments, str):
        return {name: value.strip() for name, value in _ARGUMENT.findall(arguments)}
    return as_mapping(arguments)


def _find_aggregates(task: _Task, answers: Sequence[ScoredAnswer]) -> dict[str, str]:
    """Return metrics whose values are not scores of the answers next to them, with a message about each.

    A perplexity or BLEU is not the mean of the values of each document, which are likelihoods or counts:
    ``metric_list`` names another aggregation.
    """
    metrics = map(as_mapping, as_list(task.config.get("metric_list")))
    how = {as_word(metric.get("metric")): as_word(metric.get("aggregation")) for metric in metrics}
    messages = {}
    for label in dict.fromkeys(answer.metric for answer in answers):
        if (aggregation := how.get(label.partition(" (")[0], "")) not in _MEANS:
            said = f"{shorten_cell(label)} is no mean over the documents, but {shorten_cell(aggregation)}"
            messages[label] = f"{said}: the values of these are no scores, and left out"
    return messages


def _check_results(
    task: _Task, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
) -> Iterator[Diagnostic]:
    """Yield impossible or inconsistent results."""
    counts = get_mapping(task.tree, "n-samples", task.name)
    limited_to, all_ = (parse_count(counts.get(key)) for key in ("effective", "original"))
    repeats = parse_count(task.config.get("repeats")) or 1
    checked = scores.check_totals(answers, {total.metric: total for total in totals}, repeats=repeats)
    yield from make_findings(task.path, scores.warn_limit(limited_to, all_), task.name)
    if not answers:
        yield from make_findings(task.path, checked, task.name)
        return
    path, messages = task.samples or task.path, []
    problems = len({answer.problem for answer in answers})
    if limited_to and problems != limited_to:
        count = format_count(problems, "problem")
        messages.append(f"the answers are to {count}, the scores over {limited_to:,}")
    if repeats > 1:
        times = f"each problem was answered {repeats:,} times"
        messages.append(f"{times}, and each answer here is what a filter made of these")
    yield from make_findings(path, (*messages, *checked), task.name)
    yield from make_findings(path, scores.warn_equal_answers(answers))


_NO_METRIC: Final = frozenset(
    (
        *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics"),
        *("doc_hash", "prompt_hash", "target_hash"),
    )
)
# The right answer groups problems too, but does not describe them.
_HIDDEN: Final = frozenset(
    ("answer", "answerKey", "answer_key", "target", "label", "gold", "gold_label", "correct", "id", "idx")
)
# A filter's result if its pattern does not match (lm_eval/filters/extraction.py).
_NO_ANSWER: Final = "[invalid]"


def _read_samples(
    path: Path, results: Iterable[str], *, texts: bool = False
) -> tuple[tuple[ScoredAnswer, ...], tuple[Diagnostic, ...]]:
    """Return all answers of a file by metric and filter, and the irregularities.

    ``results`` are the keys of the task's results, such as ``acc,none``; ``texts`` says whether answers have
    texts. Raises ``UnreadableError`` for rows of several filters that do not name theirs.
    """
    filters = {key.partition(",")[2] for key in results if "," in key}
    lines, rows = JsonLines(path), _SampleRows(texts)
    for row in lines.read_objects():
        if "filter" not in row and filters - {"none"}:
            message = "a row does not name its filter, as in files of versions before 0.4.4"
            raise UnreadableError(path, message, "Evaluate again, or leave the file out with files:")
        rows.add(row)
    irregular = (*lines.list_findings(), *scores.make_findings(path, rows.list_messages()))
    # A metric that has a score in no row is computed for the whole task.
    return rows.answers.build(_HIDDEN, graded=True), irregular


@lru_cache(maxsize=1024)
def _label_metric(metric: str, chosen: str) -> str:
    """Return a metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


class _SampleRows(Struct):
    """Rows of a file, and their irregularities."""

    texts: bool  # whether answers have texts
    answers: AnswerRows = field(default_factory=AnswerRows)
    count: int = 0
    unnumbered: int = 0
    known: set[tuple[str, str]] = field(default_factory=set)

    def add(self, row: Mapping[str, Any]) -> None:
        problem, chosen = as_word(row.get("doc_id")), as_word(row.get("filter"))
        if not problem:
            self.unnumbered += 1
            return
        self.known.add((problem, chosen))
        self.count += 1
        # Choices by likelihood have no answer of their own.
        taken = row.get("filtered_resps")
        if isinstance(taken, list):
            taken = taken[0] if len(taken) == 1 else None
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        self.answers.add(
            problem,
            {_label_metric(as_word(name), chosen): row.get(name) for name in names if isinstance(name, str)},
            answer=taken if isinstance(taken, str) and taken != _NO_ANSWER else None,
            gold=row.get("target"),
            fields=as_mapping(row.get("doc")),
            texts=read_lm_eval_texts(row) if self.texts else {},
        )

    def list_messages(self) -> Iterator[str]:
        if repeated := self.count - len(self.known):
            yield f"{format_count(repeated, 'row repeats', 'rows repeat')} a document and filter"
        if self.unnumbered:
            yield f"{format_count(self.unnumbered, 'row has', 'rows have')} no doc_id: left out"
        yield from scores.warn_no_scores(self.answers.strange)
