"""Results of the Language Model Evaluation Harness, with the answers next to them.

Schema: repository EleutherAI/lm-evaluation-harness, ``lm_eval/loggers/evaluation_tracker.py`` writes
``results_DATE.json`` and ``samples_TASK_DATE.jsonl`` into a folder named after the model;
``lm_eval/evaluator.py`` assembles the results. Files before 0.4 have keys without a filter (``acc``,
``acc_stderr``), any name, and no number of problems; it follows from a share p of right answers and its
standard error s as n = p(1 - p)/s² + 1, since s² = p(1 - p)/(n - 1).

A row of answers is a document and filter, with a column for each metric. In older files a row does not name
its filter: all rows of the first filter precede those of the second.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from reportgen.core.words import format_count
from reportgen.core.words import format_number as written
from reportgen.formats.evaluations import scores
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
from reportgen.formats.json_files import (
    JsonLines,
    as_answer,
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
_STDERR: Final = "_stderr"
_MEANS: Final = frozenset(("", "mean", "nanmean"))
_MOST_PROBLEMS: Final = 1e9
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


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
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
        units.append(Unit(NAME, path, (path, *mine)))
    for (folder, _), paths in samples_by_date.items():
        units.append(Unit(NAME, paths[0] if len(paths) == 1 else folder, tuple(paths)))
    return tuple(units)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """Yield each task and each group of tasks of a results file, in its order, or of answers alone.

    Metrics are selected by their names with or without the filter.
    """
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
    results, groups = (get_mapping(document, part) for part in ("results", "groups"))
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
    entries, given = {**groups, **results}, (path, document, date)
    tasks = [
        _Task(*given, name, as_mapping(entries.get(name)), samples.get(name), selected, unit.texts)
        for name in dict.fromkeys((*results, *groups, *samples))
        if isinstance(entries.get(name, {}), dict)
    ]
    # The heading of a group has no score.
    scored = [task for task in tasks if task.entry.keys() - _NO_SCORE]
    over_others = [task.name for task in scored if task.list_subtasks() is not None]
    evaluations = filter(None, (task.build_evaluation() for task in tasks))
    yield from scores.add_to_first(evaluations, findings, scores.warn_group_scores(path, over_others))


class _Task(Struct, frozen=True):
    """Task with its scores, the file of its answers, and the selected metrics."""

    path: Path  # the results file, or the folder of answers without one
    document: Mapping[str, Any]
    date: str
    name: str
    entry: Mapping[str, Any]
    samples: Path | None
    selected: Collection[str] | None
    texts: bool  # whether answers have texts

    def get(self, *keys: str) -> Any:  # noqa: ANN401 - JSON can be anything
        """Return a value from the task's configuration."""
        return get_inner(self.document, "configs", self.name, *keys)

    def list_subtasks(self, task: str | None = None) -> list[str] | None:
        """Return the subtasks of a group, empty if unknown; None for a task with problems of its own."""
        task = self.name if task is None else task
        named = get_inner(self.document, "group_subtasks", task)
        if isinstance(named, list) and named:
            return [as_word(name) for name in named]
        return [] if named or task in get_mapping(self.document, "groups") else None

    def count_problems(self) -> int | None:
        """Return the number of problems of a task or of all tasks of a group; None if unknown."""
        waiting, counts, seen = [self.name], list[int | None](), {self.name}
        while waiting:
            name = waiting.pop()
            subtasks = self.list_subtasks(name)
            if subtasks is None:
                counts.append(parse_count(get_inner(self.document, "n-samples", name, "effective")))
            waiting += [subtask for subtask in subtasks or () if subtask not in seen]
            seen.update(subtasks or ())
        return sum(filter(None, counts)) if counts and all(counts) else None

    @property
    def arguments(self) -> dict[str, Any]:
        return _parse_arguments(get_inner(self.document, "config", "model_args"))

    @property
    def model(self) -> str:
        """Evaluated model, with its revision unless that is the default; empty if unknown.

        ``HFLM.__init__`` joins a revision and a subfolder with a slash. ``model_name`` has neither.
        """
        arguments = self.arguments
        names = (self.document.get("model_name"), *map(arguments.get, _MODEL_KEYS))
        model = find_word(*names, get_inner(self.document, "config", "model"))
        parts = [as_word(arguments.get(key)) for key in ("revision", "subfolder")]
        revision, subfolder = ("" if part == "None" else part for part in parts)
        if not model or (revision in {"", _MAIN} and not subfolder):
            return model
        return f"{model}@{revision or _MAIN}" + (f"/{subfolder}" if subfolder else "")

    @property
    def generation(self) -> dict[str, Any]:
        """Generation settings: the task's own, overridden by the command line."""
        over = _parse_arguments(get_inner(self.document, "config", "gen_kwargs"))
        return {**as_mapping(self.get("generation_kwargs")), **over}

    @property
    def protocol(self) -> dict[str, str]:
        document, generation = self.document, self.generation
        config, repeats = get_mapping(document, "config"), self.get("repeats")
        greedy = str(generation.get("do_sample")).lower() == "false"
        generated = self.get("output_type") == "generate_until"
        numbers = (self.get("num_fewshot"), config.get("num_fewshot"))
        counts = map(as_word, (get_inner(document, "n-shot", self.name), *numbers))
        shots = next(filter(str.isdecimal, counts), "")
        prompt = [f"{shots}-shot"] if shots else []
        prompt += [
            key.replace("_", " ") for key in ("chat_template", "system_instruction") if document.get(key)
        ]
        day, seconds = self.date, parse_number(document.get("date"))
        if not day and seconds is not None and 0 < seconds <= _LAST_SECOND:
            day = datetime.fromtimestamp(seconds, UTC).date().isoformat()
        return scores.build_protocol(
            {
                # A filter makes one score from all repeats, so they are not samples with separate scores.
                "samples": repeats if repeats == 1 and generated else None,
                "repeats": None if repeats == 1 else repeats,
                "temperature": 0 if greedy else generation.get("temperature"),
                "top_p": None if greedy else generation.get("top_p"),
                "max_tokens": next((generation[key] for key in _MOST_TOKENS if key in generation), None),
                "prompt": ", ".join(prompt),
                "harness": "lm-evaluation-harness",
                "version": document.get("lm_eval_version") or document.get("git_hash"),
                "date": day,
                "task version": get_inner(document, "versions", self.name),
                "limit": config.get("limit"),
                "backend": document.get("model_source") or config.get("model"),
            }
        )

    def build_totals(self, messages: list[str]) -> Iterator[Total]:
        """Yield the task's scores; add irregularities to ``messages``."""
        entry = self.entry
        n = self.count_problems() or parse_count(entry.get("sample_len"))
        group = self.list_subtasks() is not None
        inferred = set()
        for key, cell in entry.items():
            metric, comma, chosen = key.partition(",")
            label = _label_metric(metric, chosen)
            if metric in _NO_SCORE or metric.endswith(_STDERR):
                continue
            if self.selected is not None and not {label, metric, key} & set(self.selected):
                continue
            better = get_inner(self.document, "higher_is_better", self.name, metric)
            better = better if isinstance(better, bool) else None
            stderr = entry.get(f"{metric}{_STDERR}{comma}{chosen}")
            total, irregular = scores.parse_total(label, cell, stderr, n=n, higher_is_better=better)
            messages += irregular
            # The error of a group is pooled, so it does not yield a number of problems.
            if total and n is None and not group and (own := _infer_problems(total)):
                total = replace(total, n=own)
                inferred.add(own)
            if total:
                yield total
        if len(inferred) == 1:
            count = f"{inferred.pop():,} follows from score and standard error"
            messages.append(f"the number of problems is not written; {count}")

    def read_samples(self, path: Path) -> tuple[tuple[ScoredAnswer, ...], tuple[Finding, ...]]:
        """Return all answers of a file by metric and filter, and the irregularities."""
        # In the order of the results, for rows that do not name their filter.
        filters = tuple(dict.fromkeys(key.partition(",")[2] for key in self.entry if "," in key))
        lines, rows = JsonLines(path), _SampleRows(self.selected, filters, self.texts)
        for row in lines.read_objects():
            rows.add(row)
        irregular = (*lines.list_findings(), *make_findings(path, rows.list_messages()))
        return tuple(rows.build_answers()), irregular

    def build_evaluation(self) -> Evaluation | None:
        """Return one task's evaluation; None if it has neither scores nor answers, like a group's heading."""
        samples, messages = self.samples, list[str]()
        totals = list(self.build_totals(messages))
        if not totals and samples is None and not messages:
            return None
        answers, irregular = self.read_samples(samples) if samples else ((), ())
        findings = [*make_findings(self.path, messages, self.name)]
        protocol = self.protocol
        subtasks = None if samples else self.list_subtasks()
        if subtasks is not None:
            protocol[SUBTASKS] = ", ".join(subtasks) or "several"
        else:
            answers, found = self.check_results(totals, answers)
            findings += found
        folder = (samples or self.path).absolute().parent.name
        # The sampling seed if given, otherwise the harness's own.
        seeds = (self.generation.get("seed"), self.arguments.get("seed"))
        return Evaluation(
            path=samples if samples and not self.entry else self.path,
            # lm-eval writes org/base as org__base.
            model=self.model or as_word(folder.replace("__", "/")),
            benchmark=as_word(self.name),
            run=self.date,
            seed=find_seed(*seeds, get_inner(self.document, "config", "random_seed")),
            protocol=protocol,
            answers=answers,
            totals=tuple(totals),
            findings=(*findings, *irregular),
        )

    def check_results(
        self, totals: Sequence[Total], answers: Sequence[ScoredAnswer]
    ) -> tuple[tuple[ScoredAnswer, ...], list[Finding]]:
        """Return the answers whose values are scores, and findings of impossible or inconsistent results.

        A perplexity or BLEU is not the mean of the values of each document, which are likelihoods or counts:
        ``metric_list`` names another aggregation, and the mean is another number.
        """
        path, counts = self.samples or self.path, get_mapping(self.document, "n-samples", self.name)
        metrics = map(as_mapping, as_list(self.get("metric_list")))
        how = {as_word(metric.get("metric")): as_word(metric.get("aggregation")) for metric in metrics}
        left_out = {}
        for total in totals:
            mean = scores.find_other_mean(answers, total, total.metric)
            if mean is not None and how.get(total.metric.partition(" (")[0], "") not in _MEANS:
                value, other = (written(number, significant=6) for number in (total.value, mean))
                differs = f"{shorten_cell(total.metric)} is {value}, and the mean of its values is {other}"
                left_out[total.metric] = f"{differs}: they are no scores, and left out"
        answers = tuple(answer for answer in answers if answer.metric not in left_out)
        findings = [*make_findings(path, left_out.values(), self.name)]
        limited_to, all_ = (parse_count(counts.get(key)) for key in ("effective", "original"))
        findings += make_findings(self.path, scores.warn_limit(limited_to, all_), self.name)
        messages = []
        problems = len({answer.problem for answer in answers})
        if limited_to and problems and problems != limited_to:
            count = format_count(problems, "problem")
            messages.append(f"the answers are to {count}, the scores over {limited_to:,}")
        repeats = parse_count(self.get("repeats")) or 1
        if repeats > 1 and answers:
            times = f"each problem was answered {repeats:,} times"
            messages.append(f"{times}, and each answer here is what a filter made of these")
        messages += scores.check_totals(answers, [(total.metric, total) for total in totals], repeats=repeats)
        # Without answers only scores are checked, which are in the results.
        findings += make_findings(path if answers else self.path, messages, self.name)
        findings += make_findings(path, scores.warn_equal_answers(answers))
        return answers, findings


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


@lru_cache(maxsize=1024)
def _label_metric(metric: str, chosen: str) -> str:
    """Return a metric with its filter: ``acc``, ``exact_match (strict-match)``."""
    return as_word(f"{metric} ({chosen})" if chosen not in {"", "none"} else metric)


class _SampleRows(Struct):
    """Rows of a file, and their irregularities."""

    selected: Collection[str] | None
    filters: Sequence[str]
    texts: bool  # whether answers have texts
    # An answer without its score, and its scores by metric and filter.
    rows: list[tuple[ScoredAnswer, dict[str, float | None]]] = field(default_factory=list)
    fields: dict[str, dict[str, str | None]] = field(default_factory=dict)
    hashes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    unnamed: Counter[str] = field(default_factory=Counter)  # rows of a document without a filter
    unnumbered: Counter[str] = field(default_factory=Counter)  # rows of a filter without a document
    known: set[tuple[str, str]] = field(default_factory=set)
    dropped: Counter[str] = field(default_factory=Counter)

    def add(self, row: Mapping[str, Any]) -> None:
        problem = as_word(row.get("doc_id"))
        if "filter" in row or not self.filters:
            chosen = as_word(row.get("filter"))
        else:
            # The last filter if a document has more rows than there are filters.
            self.unnamed[problem] += 1
            chosen = self.filters[min(self.unnamed[problem], len(self.filters)) - 1]
        if not problem:
            problem = str(self.unnumbered[chosen])
            self.unnumbered[chosen] += 1
        self.known.add((problem, chosen))
        self.hashes[problem] |= {as_word(row.get("doc_hash"))} - {""}
        if problem not in self.fields:
            self.fields[problem] = scores.name_groups(as_mapping(row.get("doc")))
        # Choices by likelihood have no answer of their own.
        taken = row.get("filtered_resps")
        if isinstance(taken, list):
            taken = taken[0] if len(taken) == 1 else None
        answer = as_answer(taken) if isinstance(taken, str) and taken != _NO_ANSWER else None
        names = row.get("metrics")
        names = names if isinstance(names, list) else [name for name in row if name not in _NO_METRIC]
        cells: dict[str, float | None] = {}
        for name in names:
            label = _label_metric(as_word(name), chosen)
            if isinstance(name, str) and (self.selected is None or {label, name} & set(self.selected)):
                cells[label] = scores.parse_score(row.get(name))
                self.dropped[label] += cells[label] is None and row.get(name) is not None
        texts = read_lm_eval_texts(row) if self.texts else {}
        answered = ScoredAnswer(problem, None, answer=answer, gold=as_answer(row.get("target")), texts=texts)
        self.rows.append((answered, cells))

    def build_answers(self) -> Iterator[ScoredAnswer]:
        """Yield an answer for each row and each metric that has a score in some row."""
        slices = scores.find_slices(self.fields, _HIDDEN)
        scored = {label for _, cells in self.rows for label, score in cells.items() if score is not None}
        for answered, cells in self.rows:
            groups = slices[answered.problem]
            for label, score in cells.items():
                if label in scored:
                    yield replace(answered, score=score, metric=label, slices=groups)

    def list_messages(self) -> Iterator[str]:
        if differing := sorted(problem for problem, hashes in self.hashes.items() if len(hashes) > 1):
            count = format_count(len(differing), "document number stands", "document numbers stand")
            yield f"{count} for different documents: {scores.list_shortened(differing)}"
        if repeated := len(self.rows) - len(self.known):
            yield f"{format_count(repeated, 'row repeats', 'rows repeat')} a document and filter"
        yield from scores.warn_no_scores(+self.dropped)
