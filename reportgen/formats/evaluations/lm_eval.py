"""Results of the Language Model Evaluation Harness, with the answers next to them.

Schema: repository EleutherAI/lm-evaluation-harness, ``lm_eval/loggers/evaluation_tracker.py`` writes
``results_DATE.json`` and ``samples_TASK_DATE.jsonl`` into a folder named after the model;
``lm_eval/evaluator.py`` assembles the results. Files before 0.4 have keys without a filter (``acc``,
``acc_stderr``), any name, and no number of problems; it follows from a share p of right answers and its
standard error s as n = p(1 - p)/s² + 1, since s² = p(1 - p)/(n - 1).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.words import format_count
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.lm_eval_samples import label_metric, read_samples
from reportgen.formats.evaluations.scores import (
    SUBTASKS,
    find_seed,
    find_word,
    get_inner,
    get_mapping,
    make_findings,
    parse_count,
)
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
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


# In the order of GeneralConfigTracker._get_model_name: adapters precede the model that they change.
_MODEL_KEYS: Final = ("peft", "delta", "pretrained", "model", "path", "engine")
_MOST_TOKENS: Final = ("max_gen_toks", "max_new_tokens", "max_tokens", "max_length")
_ARGUMENT: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=\s*([^,]*)")
_MAIN: Final = "main"
_LAST_SECOND: Final = 253_402_300_799
_RESULTS: Final = re.compile(r'\s*\{\s*"results"\s*:\s*\{')
_MARKS: Final = re.compile(r'_stderr[",]|,none"|"alias"\s*:')
_PARTS: Final = re.compile(r'"(?:results|groups|group_subtasks|configs|n-shot|versions)"\s*:')
_OTHERS: Final = '"config_general"'
_SAMPLES: Final = re.compile(r'\s*\{\s*"doc_id"\s*:[^\n]*?"doc"\s*:')
_NO_SCORE: Final = frozenset(("alias", "name", "sample_len", "sample_count", "samples"))
_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return each results file with the answers of its folder and date, and answers without results."""
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
        units.append(Unit(path, (path, *mine)))
    for (folder, _), paths in samples_by_date.items():
        units.append(Unit(paths[0] if len(paths) == 1 else folder, tuple(paths)))
    return tuple(units)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield each task and each group of tasks of a results file, in its order, or of answers alone."""
    paths = [path for path in unit.files if path.suffix != ".jsonl"]
    path, date = (*paths, unit.path)[0], scores.find_date((*paths, *unit.files)[0])
    if paths:
        document, findings = read_json_object(path)
        if not isinstance(document.get("results"), dict):
            advice = "Check that lm-eval wrote it"
            raise UnreadableError(path, 'there is no object "results" in the file', advice)
    else:
        message = "there is no results file of this date: the model is named after the folder"
        document, findings = {}, (Finding(unit.path, message),)
    results, groups, configs = (get_mapping(document, part) for part in ("results", "groups", "configs"))
    samples: dict[str, Path] = {}
    for file in (file for file in unit.files if file.suffix == ".jsonl"):
        # samples_TASK_DATE.jsonl
        stem = scores.strip_date(file)
        fitting = [task for task in results if stem in {f"samples_{task}", task} or stem.endswith(f"_{task}")]
        task = max(fitting, key=len) if fitting else stem.removeprefix("samples_")
        if task in samples:
            message = f"{shorten_cell(task)} has answers in several files: those in"
            findings = (*findings, Finding(samples[task], f"{message} {shorten_cell(file.name)} are read"))
        samples[task] = file
    entries, shared = {**groups, **results}, _read_document(path, document, date)
    tasks = [
        _Task(
            shared,
            name,
            as_mapping(entries.get(name)),
            as_mapping(configs.get(name)),
            samples.get(name),
            unit.texts,
        )
        for name in dict.fromkeys((*results, *groups, *samples))
        if isinstance(entries.get(name, {}), dict)
    ]
    yield from scores.add_to_first(filter(None, map(_build_evaluation, tasks)), findings)


class _Document(Struct, frozen=True):
    """What all tasks of a results file share, or of answers without one."""

    path: Path  # the results file, or the folder of answers without one
    date: str
    model: str
    seed: str | None  # of the model's arguments, otherwise the harness's own
    generation: Mapping[str, Any]  # settings of the command line, which override those of a task
    protocol: Mapping[str, str]
    subtasks: Mapping[str, list[str]]  # of each group, empty if unknown
    # By task:
    counts: Mapping[str, Any]  # numbers of problems
    shots: Mapping[str, Any]
    versions: Mapping[str, Any]
    directions: Mapping[str, Any]  # whether higher is better, by metric
    usual_shots: object  # of the command line
    prompt: tuple[str, ...]  # what the prompts of all tasks have

    def count_problems(self, task: str) -> int | None:
        """Return the number of problems of a task or of all tasks of a group; None if unknown."""
        if task not in self.subtasks:
            return parse_count(get_inner(self.counts, task, "effective"))
        waiting, counts, seen = [task], list[int | None](), {task}
        while waiting:
            name = waiting.pop()
            if (subtasks := self.subtasks.get(name)) is None:
                counts.append(parse_count(get_inner(self.counts, name, "effective")))
                continue
            waiting += [subtask for subtask in subtasks if subtask not in seen]
            seen.update(subtasks)
        return sum(filter(None, counts)) if counts and all(counts) else None


def _read_document(path: Path, tree: Mapping[str, Any], date: str) -> _Document:
    config, groups = get_mapping(tree, "config"), get_mapping(tree, "group_subtasks")
    arguments = _parse_arguments(config.get("model_args"))
    subtasks = {name: [as_word(one) for one in as_list(named)] for name, named in groups.items() if named}
    day, seconds = date, parse_number(tree.get("date"))
    if not day and seconds is not None and 0 < seconds <= _LAST_SECOND:
        day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
    return _Document(
        path=path,
        date=date,
        model=_find_model(tree, arguments),
        seed=find_seed(arguments.get("seed"), config.get("random_seed")),
        generation=_parse_arguments(config.get("gen_kwargs")),
        protocol=scores.build_protocol(
            {
                "harness": "lm-evaluation-harness",
                "version": tree.get("lm_eval_version") or tree.get("git_hash"),
                "date": day,
                "limit": config.get("limit"),
                "backend": tree.get("model_source") or config.get("model"),
            }
        ),
        subtasks={**{name: [] for name in get_mapping(tree, "groups")}, **subtasks},
        counts=get_mapping(tree, "n-samples"),
        shots=get_mapping(tree, "n-shot"),
        versions=get_mapping(tree, "versions"),
        directions=get_mapping(tree, "higher_is_better"),
        usual_shots=config.get("num_fewshot"),
        prompt=tuple(
            key.replace("_", " ") for key in ("chat_template", "system_instruction") if tree.get(key)
        ),
    )


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


class _Task(Struct, frozen=True):
    """Task with its scores and the file of its answers."""

    document: _Document
    name: str
    entry: Mapping[str, Any]
    config: Mapping[str, Any]
    samples: Path | None
    texts: bool  # whether answers have texts

    @property
    def subtasks(self) -> list[str] | None:
        """The subtasks of a group, empty if unknown; None for a task with problems of its own."""
        return self.document.subtasks.get(self.name)

    def build_protocol(self, generation: Mapping[str, Any]) -> dict[str, str]:
        """Return the protocol with these settings of generation."""
        document, repeats = self.document, self.config.get("repeats")
        greedy = str(generation.get("do_sample")).lower() == "false"
        generated = self.config.get("output_type") == "generate_until"
        own = self.config.get("num_fewshot")
        numbers = map(as_word, (document.shots.get(self.name), own, document.usual_shots))
        shots = next(filter(str.isdecimal, numbers), "")
        prompt = (f"{shots}-shot", *document.prompt) if shots else document.prompt
        protocol = scores.build_protocol(
            {
                # A filter makes one score from all repeats, so they are not samples with separate scores.
                "samples": repeats if repeats == 1 and generated else None,
                "repeats": None if repeats == 1 else repeats,
                "temperature": 0 if greedy else generation.get("temperature"),
                "top_p": None if greedy else generation.get("top_p"),
                "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
                "prompt": ", ".join(prompt),
                "task version": document.versions.get(self.name),
            }
        )
        return {**protocol, **document.protocol}

    def build_totals(self, messages: list[str]) -> Iterator[Total]:
        """Yield the task's scores; add irregularities to ``messages``."""
        n = self.document.count_problems(self.name) or parse_count(self.entry.get("sample_len"))
        entry = {key: cell for key, cell in self.entry.items() if key.partition(",")[0] not in _NO_SCORE}
        better = as_mapping(self.document.directions.get(self.name))
        inferred = set()
        for total in scores.read_totals(
            scores.leave_out_counts(entry, messages), messages, n=n, better=better, label=_label_key
        ):
            # The error of a group is pooled, so it does not yield a number of problems.
            if n is None and self.subtasks is None and (own := _infer_problems(total)):
                inferred.add(own)
                yield replace(total, n=own)
            else:
                yield total
        if len(inferred) == 1:
            count = f"{inferred.pop():,} follows from score and standard error"
            messages.append(f"the number of problems is not written; {count}")


def _label_key(key: str) -> str:
    metric, _, chosen = key.partition(",")
    return label_metric(metric, chosen)


def _build_evaluation(task: _Task) -> Evaluation | None:
    """Return one task's evaluation; None if it has neither scores nor answers, like a group's heading."""
    samples, messages = task.samples, list[str]()
    totals = list(task.build_totals(messages))
    if not totals and samples is None and not messages:
        return None
    answers, irregular = read_samples(samples, task.entry, texts=task.texts) if samples else ((), ())
    findings = [*make_findings(task.document.path, messages, task.name)]
    generation = {**get_mapping(task.config, "generation_kwargs"), **task.document.generation}
    seed = task.document.seed
    protocol = task.build_protocol(generation)
    subtasks = None if samples else task.subtasks
    if subtasks is not None:
        protocol[SUBTASKS] = ", ".join(subtasks) or "several"
    else:
        left_out = _find_aggregates(task, totals, answers) if answers else {}
        answers = tuple(answer for answer in answers if answer.metric not in left_out)
        findings += make_findings(samples or task.document.path, left_out.values(), task.name)
        findings += _check_results(task, totals, answers)
    # lm-eval writes org/base as org__base.
    model = task.document.model or as_word(
        (samples or task.document.path).absolute().parent.name.replace("__", "/")
    )
    return Evaluation(
        path=samples if samples and not task.entry else task.document.path,
        model=model,
        benchmark=as_word(task.name),
        run=task.document.date,
        # The sampling seed if given, otherwise the harness's own.
        seed=find_seed(generation["seed"], seed) if "seed" in generation else seed,
        protocol=protocol,
        answers=answers,
        totals=tuple(totals),
        findings=(*findings, *irregular),
    )


def _infer_problems(total: Total) -> int | None:
    """Return the number of problems from a share of right answers and its standard error."""
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
    """Parse ``a=1,b=2`` or an object."""
    if isinstance(arguments, str):
        return {name: value.strip() for name, value in _ARGUMENT.findall(arguments)}
    return as_mapping(arguments)


def _find_aggregates(task: _Task, totals: Sequence[Total], answers: Sequence[ScoredAnswer]) -> dict[str, str]:
    """Return metrics whose values are not scores of the answers next to them, with a message about each.

    A perplexity or BLEU is not the mean of the values of each document, which are likelihoods or counts:
    ``metric_list`` names another aggregation, and the mean is another number.
    """
    metrics = map(as_mapping, as_list(task.config.get("metric_list")))
    how = {as_word(metric.get("metric")): as_word(metric.get("aggregation")) for metric in metrics}
    messages = {}
    for total in totals:
        mean = scores.find_other_mean(answers, total, total.metric)
        if mean is not None and how.get(total.metric.partition(" (")[0], "") not in _MEANS:
            value, other = (written(number, significant=6) for number in (total.value, mean))
            differs = f"{shorten_cell(total.metric)} is {value}, and the mean of its values is {other}"
            messages[total.metric] = f"{differs}: they are no scores, and left out"
    return messages


def _check_results(
    task: _Task, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
) -> Iterator[Finding]:
    """Yield impossible or inconsistent results."""
    counts = get_mapping(task.document.counts, task.name)
    limited_to, all_ = (parse_count(counts.get(key)) for key in ("effective", "original"))
    repeats = parse_count(task.config.get("repeats")) or 1
    checked = scores.check_totals(answers, [(total.metric, total) for total in totals], repeats=repeats)
    yield from make_findings(task.document.path, scores.warn_limit(limited_to, all_), task.name)
    if not answers:
        yield from make_findings(task.document.path, checked, task.name)
        return
    path, messages = task.samples or task.document.path, []
    problems = len({answer.problem for answer in answers})
    if limited_to and problems != limited_to:
        count = format_count(problems, "problem")
        messages.append(f"the answers are to {count}, the scores over {limited_to:,}")
    if repeats > 1:
        times = f"each problem was answered {repeats:,} times"
        messages.append(f"{times}, and each answer here is what a filter made of these")
    yield from make_findings(path, (*messages, *checked), task.name)
    yield from make_findings(path, scores.warn_equal_answers(answers))
