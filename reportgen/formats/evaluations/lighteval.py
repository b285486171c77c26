"""Results of lighteval, with the answers next to them: a Parquet file per task, a row per problem.

Schema: repository huggingface/lighteval, ``src/lighteval/logging/evaluation_tracker.py`` writes
``results/MODEL/results_DATE.json``; names of tasks are ``SUITE|TASK|SHOTS``, in newer files ``TASK|SHOTS``
and in older ones ``SUITE|TASK|SHOTS|TRUNCATION``. ``info_loggers.py`` there adds ``all`` and
``TASK:_average``: means over tasks, whose ``_stderr`` is a mean of standard errors, not a standard error of
the mean, and is left out. The answers are in ``details/MODEL/DATE/details_TASK_DATE.parquet``
(DetailsLogger): a row has the columns ``doc`` (with ``id``, ``choices``, ``gold_index``), ``metric`` and
``model_response``. Scores are listed by metric; if a problem was answered several times, the score is the
metric's value for all answers.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.core.words import format_count
from reportgen.formats import sql
from reportgen.formats.decode import read_head, refuse_pointer, report_left_out
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import SUBTASKS, get_inner, get_mapping, make_findings, parse_count
from reportgen.formats.files import get_ending
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_head_text, read_json_object
from reportgen.formats.runs import Evaluation, ScoredAnswer, Unit, UnreadableError, warn
from reportgen.formats.sql import get_engine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Total


_GENERAL: Final = re.compile(r'\s*\{\s*"config_general"\s*:\s*\{')
_KEYS: Final = re.compile(r'"(?:lighteval_sha|num_fewshot_seeds|model_name|max_samples)"\s*:')
_STDERR: Final = "_stderr"
_ALL, _AVERAGE = "all", ":_average"
_ROWS_AT_ONCE: Final = 500


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return each results file with the details of its date."""
    details = [path for path in files if path.suffix == ".parquet" and path.name.startswith("details_")]
    units = []
    for path in files:
        text = read_head_text(path) if get_ending(path) == ".json" else ""
        if _GENERAL.match(text) and _KEYS.search(text):
            date = scores.find_date(path)
            details_of_date = [other for other in details if date and scores.find_date(other) == date]
            units.append(Unit(path, (path, *details_of_date)))
    return tuple(units)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield each task of a results file, followed by the means over tasks."""
    path = unit.files[0]
    document, findings = read_json_object(path)
    results = [key for key, value in get_mapping(document, "results").items() if isinstance(value, dict)]
    if not results:
        raise UnreadableError(path, 'there are no scores under "results"', "Check that lighteval wrote it")
    # Details are named details_TASK_DATE.parquet.
    details = {scores.strip_date(other).removeprefix("details_"): other for other in unit.files[1:]}
    if strangers := [other.name for task, other in details.items() if task not in results]:
        count = format_count(len(strangers), "details file is", "details files are")
        message = f"{count} of no task in the results: {scores.list_shortened(strangers)}"
        findings = (*findings, warn(path, message))
    tasks = [_Task(path, document, key) for key in results]
    single = [task for task in tasks if not task.is_mean]
    means = [task for task in tasks if task.is_mean and len(single) > 1]
    times = Counter(task.name for task in single)
    evaluations = (
        task.build_evaluation(details.get(task.key), several=times[task.name] > 1)
        for task in (*single, *means)
    )
    yield from scores.add_to_first(evaluations, findings)


class _Task(Struct, frozen=True):
    """Task of a results file, or a mean over tasks, with its entries in the file."""

    path: Path
    document: Mapping[str, Any]
    key: str

    @property
    def name(self) -> str:
        """Name of the task: ``gsm8k`` for ``lighteval|gsm8k|5``; newer files have no suite."""
        parts = self.key.split("|")
        return parts[0] if len(parts) <= 2 else parts[1]  # noqa: PLR2004

    @property
    def shots(self) -> str:
        """Number of examples in the prompt: 5 for ``lighteval|gsm8k|5``; empty if the key has none."""
        last = self.key.split("|")[1:3][-1:]
        return last[0] if last and last[0].isdecimal() else ""

    @property
    def is_mean(self) -> bool:
        return self.key == _ALL or self.name.endswith(_AVERAGE)

    @property
    def config(self) -> dict[str, Any]:
        """Configuration of the task, which files of 2024 and 2025 list without the shots."""
        names = (self.key, self.key.rpartition("|")[0])
        return next(filter(None, (get_mapping(self.document, "config_tasks", name) for name in names)), {})

    @property
    def generation(self) -> dict[str, Any]:
        general = get_mapping(self.document, "config_general")
        own = get_mapping(general, "model_config", "generation_parameters")
        return own or get_mapping(general, "generation_parameters")

    @property
    def subtasks(self) -> str:
        """Tasks that a mean covers."""
        group = self.name.removesuffix(_AVERAGE)
        others = (replace(self, key=key) for key in get_mapping(self.document, "results"))
        names = [other.name for other in others if not other.is_mean]
        names = [name for name in names if self.name == _ALL or name.startswith(f"{group}:")]
        return ", ".join(dict.fromkeys(map(as_word, names)))

    @property
    def protocol(self) -> dict[str, str]:
        config, generation = self.config, self.generation
        general = get_mapping(self.document, "config_general")
        return scores.build_protocol(
            {
                "samples": config.get("num_samples"),
                "temperature": generation.get("temperature"),
                "top_p": generation.get("top_p"),
                "max_tokens": generation.get("max_new_tokens") or config.get("generation_size"),
                "prompt": f"{self.shots}-shot" if self.shots else None,
                "harness": "lighteval",
                "version": general.get("lighteval_version") or general.get("lighteval_sha"),
                "date": scores.find_date(self.path),
                "task version": get_inner(self.document, "versions", self.key),
                "limit": general.get("max_samples"),
                SUBTASKS: self.subtasks if self.is_mean else None,
            }
        )

    def build_totals(self, messages: list[str]) -> Iterator[Total]:
        """Yield the task's scores; add irregularities to ``messages``."""
        entry, config = get_mapping(self.document, "results", self.key), self.config
        better: dict[str, Any] = {}
        for described in map(as_mapping, as_list(config.get("metrics") or config.get("metric"))):
            name, direction = described.get("metric_name"), described.get("higher_is_better")
            # A metric of several names has a direction for each.
            better |= direction if isinstance(direction, dict) else {as_word(name): direction}
        if self.is_mean:
            entry = {key: cell for key, cell in entry.items() if not key.endswith(_STDERR)}
        for total in scores.read_totals(
            entry, messages, n=parse_count(config.get("effective_num_docs")), better=better
        ):
            messages += scores.check_accuracy(total)
            yield total

    def build_evaluation(self, details: Path | None, *, several: bool) -> Evaluation:
        """Return one task's evaluation, with the shots in its name if ``several`` tasks share that name."""
        messages: list[str] = []
        totals = tuple(self.build_totals(messages))
        limited_to, all_ = (
            parse_count(self.config.get(f"{key}_num_docs")) for key in ("effective", "original")
        )
        messages += scores.warn_limit(limited_to, all_)
        findings = [*make_findings(self.path, messages, self.key)]
        answers: tuple[ScoredAnswer, ...] = ()
        if details is not None:
            answers, irregular = _read_answers(details)
            findings += make_findings(details, irregular)
            means = {total.metric: total for total in totals}
            findings += make_findings(details, scores.compare_means(answers, means), self.key)
        general = get_mapping(self.document, "config_general")
        names = (general.get("model_name"), get_inner(general, "model_config", "model_name"))
        return Evaluation(
            path=self.path,
            model=scores.find_word(*names, self.path.absolute().parent.name),
            benchmark=as_word(f"{self.name} ({self.shots}-shot)" if several and self.shots else self.name),
            run=scores.find_date(self.path),
            seed=scores.find_seed(self.generation.get("seed")),
            protocol=self.protocol,
            answers=answers,
            totals=totals,
            findings=tuple(findings),
        )


def _read_answers(path: Path) -> tuple[tuple[ScoredAnswer, ...], list[str]]:
    """Return all answers of a file by metric, none if it cannot be read, and the irregularities."""
    import duckdb  # noqa: PLC0415 - a build of unchanged data does without the database

    rows, times = AnswerRows(), Counter[str]()
    try:
        refuse_pointer(path, read_head(path))
        for number, (cells, about) in enumerate(_read_rows(path)):
            problem = as_word(about.get("id")) or str(number)
            choices, indices = about.get("choices"), about.get("gold_index")
            index, gold = indices[0] if isinstance(indices, list) and len(indices) == 1 else indices, None
            if isinstance(choices, list) and type(index) is int and 0 <= index < len(choices):
                gold = choices[index]
            rows.add(problem, cells, times[problem], gold=gold)
            times[problem] += 1
    except UnreadableError as error:
        return (), [report_left_out(error).message]
    except (duckdb.Error, ValueError, RecursionError):
        message = "the answers cannot be read, since the file is damaged or older than 2025: left out"
        return (), [message]
    messages = [*scores.warn_no_scores(rows.strange)]
    if repeated := sum(count > 1 for count in times.values()):
        count = format_count(repeated, "problem has", "problems have")
        messages.append(f"{count} several rows: they are read as its samples")
    # A metric without any scores is computed for the whole task, such as a perplexity.
    return rows.build(graded=True), messages


def _read_rows(path: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield the scores of each row, and its problem; raise ``duckdb.Error`` if there are none."""
    cursor = get_engine().open_cursor()
    cursor.execute(f"SELECT to_json(metric), to_json(doc) FROM read_parquet({sql.quote_paths([path])})")  # noqa: S608
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for row in rows:
            cells, about = (as_mapping(json.loads(cell or "null")) for cell in row)
            yield cells, about
