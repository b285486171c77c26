"""Logs of Inspect: ``.eval`` archives and JSON files, and the protocol in their header.

Schema: repository UKGovernmentBEIS/inspect_ai, ``src/inspect_ai/log/_log.py`` (EvalLog and its parts). An
archive has ``header.json`` (everything but the samples), ``summaries.json`` (the samples without their
transcripts), ``reductions.json`` (a score per problem) and ``samples/ID_epoch_N.json``; the log of a program
that was killed has only ``_journal/start.json`` and ``_journal/summaries/N.json``. Members are packed with
deflate, and since 2026 with Zstandard. A JSON file is one EvalLog with its samples. A retried task has the
same id and gets a new log, which starts with the finished samples (``src/inspect_ai/_eval/evalset.py``), and
is named DATE_TASK_ID.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from msgspec import Struct

from reportgen.core.words import format_count, join_names
from reportgen.core.words import format_number as written
from reportgen.formats.archive import Archive, open_archive
from reportgen.formats.decode import Decoder
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import find_seed, get_inner, get_mapping, parse_count
from reportgen.formats.evaluations.texts import read_inspect_texts, shorten_inspect_sample
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import (
    as_answer,
    as_list,
    as_mapping,
    as_word,
    parse_json,
    read_head_text,
    read_json_object,
    shorten_cell,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, ScoredAnswer, Total, Unit, UnreadableError, warn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic


_ARCHIVES: Final = ("PK\x03\x04", "PK\x05\x06", "version https://git-lfs")
_STATUS: Final = re.compile(r'"status"\s*:\s*"(?:started|success|cancelled|error)"')
_EVAL: Final = re.compile(r'"eval"\s*:\s*\{')
_SUMMARIES: Final = re.compile(r"_journal/summaries/\d{1,9}\.json")
_SAMPLE: Final = re.compile(r"samples/[^/]+\.json")
# Keys that only a sample has.
_SAMPLE_HAS: Final = frozenset(("id", "epoch", "input", "messages"))
_USED: Final = frozenset(
    (
        *("id", "epoch", "target", "metadata", "scores", "score", "model_usage", "error", "limit"),
        *("total_time", "working_time"),
    )
)
# Date, task, and its id, which is the same in a retry.
_NAMED: Final = re.compile(r"\d{4}-\d\d-\d\dT.*_(?P<task>[0-9A-Za-z]{22})")
_LONGEST_ERROR: Final = 120
# Metrics that are the uncertainty or the spread of another.
_ERRORS: Final = ("stderr", "bootstrap_stderr")
_SPREADS: Final = frozenset((*_ERRORS, "std", "var"))
# Metrics that a standard error in the same entry refers to.
_MEANS: Final = frozenset(("accuracy", "mean"))
_OUTCOMES: Final = {
    "cancelled": "the evaluation was cancelled",
    "error": "the evaluation failed",
    "started": "the evaluation is still running or was killed",
}


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return each log, together with those of earlier attempts at the same task."""
    tasks: dict[tuple[Path, str], list[Path]] = defaultdict(list)
    for path in files:
        is_archive, is_json = path.suffix == ".eval", get_ending(path) == ".json"
        text = read_head_text(path) if is_archive or is_json else ""
        signed = text.startswith(_ARCHIVES) if is_archive else _STATUS.search(text) and _EVAL.search(text)
        if signed:
            named = _NAMED.fullmatch(get_stem(path))
            tasks[path.parent, named["task"] if named else path.name].append(path)
    attempts = (sorted(paths) for paths in tasks.values())
    return tuple(Unit(paths[-1], tuple(paths)) for paths in attempts)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the evaluation of each task: the newest successful attempt, or else the newest.

    An attempt with graded answers takes precedence over one without. A damaged log is an error only if there
    is no other.
    """
    ranks: dict[str, list[tuple[_Rank, Path]]] = defaultdict(list)
    best: dict[str, _Log] = {}
    damaged: list[UnreadableError] = []
    for path in unit.files:
        try:
            archived = read_head_text(path).startswith(_ARCHIVES)
            log = (_read_archive if archived else _read_json_log)(path, texts=unit.texts)
            log.check()
        except UnreadableError as error:
            damaged.append(error)
            continue
        task = as_word(log.setup.get("task_id")) or str(path)
        # Only the best log stays in memory.
        ranks[task].append((log.rank, path))
        best[task] = max(best.get(task, log), log, key=lambda attempt: attempt.rank)
    if not best:
        raise damaged[0]
    yield from scores.add_to_first(
        (log.build_evaluation(ranks[task]) for task, log in best.items()),
        [warn(one.location.file, f"{one.message}: left out") for one in (error.problem for error in damaged)],
    )


_Rank: TypeAlias = "tuple[bool, bool, str]"
"""Order of several attempts: whether it has scores, whether it succeeded, and its start."""


class _Log(Struct, frozen=True):
    """Header, samples and scores per problem of a log."""

    path: Path
    header: Mapping[str, Any]
    samples: Sequence[Any]
    reductions: Sequence[Any]
    findings: tuple[Diagnostic, ...] = ()
    texts: bool = False  # whether answers have texts

    def check(self) -> None:
        """Refuse a log of 2024, with a scorer that has no name in its samples."""
        samples = map(as_mapping, self.samples)
        if "scorer" in self.results or any("score" in one and "scores" not in one for one in samples):
            message = "the log is of 2024, with a score in place of scores"
            advice = "Convert it, as by inspect log convert LOG --to eval --output-dir FOLDER"
            raise UnreadableError(self.path, message, advice)

    @property
    def setup(self) -> dict[str, Any]:
        return get_mapping(self.header, "eval")

    @property
    def results(self) -> dict[str, Any]:
        return get_mapping(self.header, "results")

    @property
    def epochs(self) -> int:
        """Number of answers to each sample."""
        return parse_count(get_inner(self.setup, "config", "epochs")) or 1

    @property
    def generation(self) -> dict[str, Any]:
        """Generation settings: the model's own, overridden by those of the task and the command line."""
        over = get_mapping(self.header, "plan", "config").items()
        return get_mapping(self.setup, "model_generate_config") | {k: v for k, v in over if v is not None}

    @property
    def rank(self) -> _Rank:
        scored = _has_scores(self.samples) or bool(self.reductions)
        return scored, self.header.get("status") == "success", as_word(self.setup.get("created"))

    @property
    def protocol(self) -> dict[str, str]:
        setup, generation = self.setup, self.generation
        config = get_mapping(setup, "config")
        given = get_mapping(setup, "task_args").items()
        # Scorers, and the model of those that use one: their own, or that of the grader role.
        role = " and ".join(scores.list_words(get_inner(setup, "model_roles", "grader"), "model"))
        graders = []
        for scorer in as_list(setup.get("scorers")):
            name, model = as_word(get_inner(scorer, "name")), as_word(get_inner(scorer, "options", "model"))
            model = model or (role if name.startswith("model_graded") else "")
            graders += [f"{name} by {model}" if model else name] if name else []
        return scores.build_protocol(
            {
                "samples": self.epochs,
                **{key: generation.get(key) for key in ("temperature", "top_p", "max_tokens")},
                "harness": "Inspect",
                "version": get_inner(setup, "packages", "inspect_ai"),
                "grader": ", ".join(graders),
                "date": setup.get("created"),
                "task version": setup.get("task_version"),
                "task arguments": as_answer(", ".join(f"{as_word(key)}={json.dumps(v)}" for key, v in given)),
                "dataset": get_inner(setup, "dataset", "name"),
                "solver": ", ".join(scores.list_words(get_inner(self.header, "plan", "steps"), "solver")),
                # A limit may be a range of samples.
                "limit": "-".join(scores.list_words(config.get("limit"))[:2]),
                "reducer": ", ".join(scores.list_words(config.get("epochs_reducer"))),
            }
        )

    def report_outcome(self, answers: Sequence[ScoredAnswer]) -> Iterator[str]:
        """Yield messages on how the evaluation ended, and on missing samples."""
        results = self.results
        if ended := _OUTCOMES.get(as_word(self.header.get("status"))):
            error = shorten_cell(get_inner(self.header, "error", "message"), _LONGEST_ERROR)
            nevertheless = ", and has scores nevertheless" if results.get("scores") else ""
            yield f"{ended}{nevertheless}{f': {error}' if error else ''}"
        if self.header.get("invalidated") is True:
            yield "the log is marked as invalid"
        dataset = get_mapping(self.setup, "dataset")
        limit = parse_count(get_inner(self.setup, "config", "limit"))
        limited_to = len(as_list(dataset.get("sample_ids"))) or limit
        for message in scores.warn_limit(limited_to, parse_count(dataset.get("samples")), what="sample"):
            yield f"{message} of the dataset"
        problems = len({answer.problem for answer in answers})
        if limited_to and 0 < problems < limited_to:
            yield f"answers to {problems:,} of {format_count(limited_to, 'sample')} are there"
        completed, total = (parse_count(results.get(f"{key}_samples")) or 0 for key in ("completed", "total"))
        if completed < total and not answers:
            yield f"{completed:,} of {format_count(total, 'sample')} count in the scores"

    def report_retries(self, attempts: Sequence[tuple[_Rank, Path]]) -> Iterator[str]:
        """Yield a message about other logs of the task: a retry's log includes what was finished before."""
        if others := [(rank, path) for rank, path in attempts if path != self.path]:
            which = "newest that ended well" if self.rank[1] else "newest"
            if any(self.rank[1:] < rank[1:] for rank, _ in others):
                which = f"{which} of those with scores"
            names = scores.list_shortened(path.name for _, path in others)
            yield f"the task has {len(attempts)} logs: only the {which} is read, not {names}"

    def build_totals(self, means: dict[str, Total], messages: list[str]) -> Iterator[Total]:
        """Yield every metric of the results that is not a spread, in the log's order; see ``_read_entry``."""
        completed = parse_count(self.results.get("completed_samples"))
        problems = completed // self.epochs if completed and completed % self.epochs == 0 else None
        for entry in map(as_mapping, as_list(self.results.get("scores"))):
            yield from _read_entry(entry, problems, means, messages)

    def build_answers(self, messages: list[str]) -> tuple[ScoredAnswer, ...]:
        """Return every answer with every scorer; one that failed has no score. Add irregularities."""
        samples = [sample for sample in self.samples if isinstance(sample, dict)]
        scored = [dict(_iterate_scores(sample)) for sample in samples]
        labels = list(dict.fromkeys(label for labelled in scored for label in labelled)) or [""]
        rows, is_graded = AnswerRows(), _has_scores(samples)
        for sample, labelled in zip(samples, scored, strict=True):
            # Graders have a separate entry.
            usage = get_mapping(sample, "model_usage")
            own = usage.get(as_word(self.setup.get("model")))
            own = own or (next(iter(usage.values())) if len(usage) == 1 else None)
            # Time without waiting for others, if known.
            times = (sample.get(key) for key in ("working_time", "total_time"))
            seconds = next((time for time in times if parse_number(time) is not None), None)
            for label in labels:
                value, answer, words = labelled.get(label, (None, None, None))
                rows.add(
                    sample.get("id"),
                    {label: value},
                    sample.get("epoch"),
                    answer=answer,
                    gold=sample.get("target"),
                    tokens=get_inner(own, "output_tokens"),
                    seconds=seconds,
                    fields=get_mapping(sample, "metadata"),
                    texts=read_inspect_texts(sample, words) if self.texts else {},
                    status=scores.find_status(sample) if is_graded else None,
                )
        messages += _list_messages(samples, rows.strange, len(self.samples) - len(samples))
        return rows.build()

    def build_reduced_answers(self) -> tuple[ScoredAnswer, ...]:
        """Return a score per problem if the log has no samples: those of means, or of the only epoch."""
        rows = AnswerRows()
        for reduction in map(as_mapping, self.reductions):
            if as_word(reduction.get("reducer")) in {"", "mean"}:
                for sample in map(as_mapping, as_list(reduction.get("samples"))):
                    values = _iterate_values(as_word(reduction.get("scorer")), sample.get("value"))
                    rows.add(sample.get("sample_id"), dict(values), answer=sample.get("answer"))
        return rows.build()

    def build_evaluation(self, attempts: Sequence[tuple[_Rank, Path]]) -> Evaluation:
        setup, irregular = self.setup, list[str]()
        answers, reduced = self.build_answers(irregular), list[str]()
        if not answers and (answers := self.build_reduced_answers()) and self.epochs > 1:
            reduced = ["the answers of each epoch are not kept; a score for each problem is read"]
        means = dict[str, Total]()
        totals = tuple(self.build_totals(means, irregular))
        checks = scores.check_totals(answers, means, repeats=self.epochs, partial=True, what="samples")
        _, ended, began = self.rank
        outcome = (*reduced, *self.report_outcome(answers), *irregular)
        return Evaluation(
            path=self.path,
            model=_name_model(setup),
            benchmark=as_word(setup.get("task")) or get_stem(self.path),
            # Tasks that run in parallel may start in the same second.
            run=f"{began} {as_word(setup.get('task_id'))[:6]}".strip(),
            seed=find_seed(self.generation.get("seed")),
            protocol=self.protocol,
            answers=answers,
            totals=totals,
            finished=ended,
            findings=(
                *scores.make_findings(self.path, self.report_retries(attempts)),
                *self.findings,
                *scores.make_findings(self.path, (*outcome, *checks, *scores.warn_equal_answers(answers))),
            ),
        )


def _name_model(setup: Mapping[str, Any]) -> str:
    """Return the model; ``hf/local`` and the like with the path that they were given instead."""
    model, path = as_word(setup.get("model")), as_word(get_inner(setup, "model_args", "model_path"))
    return model.removesuffix("local") + path.lstrip("./") if path and model.endswith("/local") else model


def _read_json_log(path: Path, *, texts: bool) -> _Log:
    # A transcript is thousands of times as long as the parts of a sample that are used.
    document, findings = read_json_object(
        path, lambda value: _strip_sample(value, texts=texts) if value.keys() >= _SAMPLE_HAS else value
    )
    if not isinstance(document.get("eval"), dict):
        raise UnreadableError(path, 'there is no object "eval" in the file', "Check that Inspect wrote it")
    samples = [_strip_sample(sample, texts=texts) for sample in as_list(document.pop("samples", None))]
    reductions = document.get("reductions"), get_inner(document, "results", "sample_reductions")
    reduced = next(filter(None, map(as_list, reductions)), [])
    return _Log(path, document, samples, reduced, findings, texts)


def _read_archive(path: Path, *, texts: bool) -> _Log:
    start, reductions = "_journal/start.json", "reductions.json"
    with open_archive(path) as archive:
        if "header.json" in archive.names:
            header = _read_member(archive, "header.json")
        elif start in archive.names:
            header = {**as_mapping(_read_member(archive, start)), "status": "started"}
        else:
            raise UnreadableError(path, "the archive has no header.json", "Check that Inspect wrote it")
        if not isinstance(get_inner(header, "eval"), dict):
            message = 'there is no object "eval" in the header of the log'
            raise UnreadableError(path, message, "Check that Inspect wrote it")
        summaries = filter(_SUMMARIES.fullmatch, archive.names)
        wholes = sorted(filter(_SAMPLE.fullmatch, archive.names))
        whole = texts and wholes  # summaries have no whole answers
        if "summaries.json" in archive.names and not whole:
            samples = as_list(_read_member(archive, "summaries.json"))
        elif not whole and (members := sorted(summaries, key=lambda name: (len(name), name))):  # by numbers
            parts = [as_mapping(part) for name in members for part in as_list(_read_member(archive, name))]
            # A sample that was retried occurs again, and its last entry counts.
            latest = {(as_word(part.get("id")), as_word(part.get("epoch"))): part for part in parts}
            samples = [*latest.values()]
        else:
            samples = [_strip_sample(_read_member(archive, name), texts=texts) for name in wholes]
        read = format_count(archive.torn, "whole member is", "whole members are")
        torn = warn(path, f"the archive is torn or damaged, and its list of members lost: {read} read")
        reduced = as_list(_read_member(archive, reductions)) if reductions in archive.names else []
        return _Log(path, header, samples, reduced, (torn,) if archive.torn else (), texts)


def _strip_sample(sample: object, *, texts: bool) -> dict[str, Any]:
    used = {key: value for key, value in as_mapping(sample).items() if key in _USED}
    return used | (shorten_inspect_sample(as_mapping(sample)) if texts else {})


def _read_member(archive: Archive, name: str) -> Any:  # noqa: ANN401 - JSON can be anything
    text = Decoder(archive.path).decode(archive.read(name))
    return parse_json(archive.path, text, f"{name} in the archive")


def _label_score(name: str, scorer: str) -> str:
    """Return a scorer, with the key of its value if that has several: ``match``, ``judge/style``."""
    return name if name == scorer or not scorer else f"{scorer}/{name}"


def _read_entry(
    entry: Mapping[str, Any], problems: int | None, means: dict[str, Total], messages: list[str]
) -> Iterator[Total]:
    """Yield the metrics of a scorer; add irregularities, and to ``means`` what is the mean of its answers.

    The keys of ``means`` are the scorers' names in answers: ``match``, ``judge/style``.
    """
    scorer = as_word(entry.get("scorer"))
    label = _label_score(as_word(entry.get("name")) or scorer, scorer)
    reducer = as_word(entry.get("reducer"))
    where = f"{label}, {reducer}" if reducer else label
    # ``inspect_ai/accuracy`` is accuracy.
    metrics = [
        (as_word(get_inner(metric, "name")).rpartition("/")[2] or key, key, metric)
        for key, metric in get_mapping(entry, "metrics").items()
    ]
    errors: list[tuple[str, float]] = []  # description and value of each standard error
    for name, _, metric in metrics:
        value = parse_number(get_inner(metric, "value"))
        if name in _ERRORS and value is not None and value >= 0:
            options = get_mapping(metric, "params") or get_mapping(metric, "options")
            cluster = as_word(options.get("cluster"))
            errors.append((f"clustered by {cluster}" if cluster else "", value))
    errors.sort(key=lambda error: bool(error[0]))  # those over all samples first
    if len(errors) > 1:
        listed = ", ".join(f"{written(value, significant=3)} {how}".strip() for how, value in errors)
        messages.append(
            f"{shorten_cell(where)} has {len(errors)} standard errors ({listed}): the first is taken"
        )
    for name, key, metric in metrics:
        if name not in _SPREADS:
            total = scores.parse_total(
                f"{as_word(key)} ({where})" if where else as_word(key),
                get_inner(metric, "value"),
                messages,
                errors[0][1] if name in _MEANS and errors else None,
                n=parse_count(entry.get("scored_samples")) or problems,
            )
            if total and name in _MEANS and reducer in {"", "mean"}:
                means[label] = total
            if total:
                yield total


def _has_scores(samples: Sequence[Any]) -> bool:
    """Return whether any sample has a score."""
    return any(one.get("scores") for one in map(as_mapping, samples))


def _list_messages(samples: Sequence[Mapping[str, Any]], strange: Counter[str], lost: int) -> Iterator[str]:
    if errors := [error for sample in samples if (error := sample.get("error"))]:
        first = shorten_cell(get_inner(errors[0], "message") or errors[0])
        yield f"{format_count(len(errors), 'sample')} failed (first error: {first})"
    if samples and not _has_scores(samples):
        yield f"{format_count(len(samples), 'sample has', 'samples have')} no score: not yet graded"
    # The limit that stopped a sample is an object in samples, and a word in summaries.
    stops = (get_inner(said, "type") or said for said in (sample.get("limit") for sample in samples))
    if limits := [limit for limit in map(shorten_cell, stops) if limit]:
        which = join_names(list(dict.fromkeys(limits)), most=scores.FEW)
        stopped = format_count(len(limits), "sample was", "samples were")
        count = "counts as it was scored" if len(limits) == 1 else "count as they were scored"
        yield f"{stopped} stopped by a limit ({which}) and {count}"
    yield from scores.warn_no_scores(strange, "by")
    if lost:
        yield f"{format_count(lost, 'sample that is no object', 'samples that are no objects')}: left out"


def _iterate_scores(sample: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, Any, Any]]]:
    """Yield the label of each score of a sample, with its value, answer and explanation."""
    for scorer, score in get_mapping(sample, "scores").items():
        for label, value in _iterate_values(as_word(scorer), get_inner(score, "value")):
            yield label, (value, get_inner(score, "answer"), get_inner(score, "explanation"))


def _iterate_values(scorer: str, value: object) -> Iterator[tuple[str, Any]]:
    values = value.items() if isinstance(value, dict) else [(scorer, value)]
    return ((_label_score(as_word(key), scorer), one) for key, one in values)
