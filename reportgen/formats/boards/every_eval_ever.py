"""Every Eval Ever: a JSON record of a model's scores, and its answers in ``NAME_samples.jsonl`` beside it.

Schemas: repository evaleval/every_eval_ever, version 0.3.0. Answers that a record has are read in place of
its scores, whose first has to be their mean.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.texts import make_texts
from reportgen.formats.files import get_ending, get_stem
from reportgen.formats.json_files import (
    JsonLines,
    as_list,
    as_mapping,
    as_word,
    parse_first_object,
    read_head_text,
    read_json_object,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reportgen.formats.runs import Total

KEYS: Final = ("schema_version", "evaluation_id")
_SAMPLES: Final = "_samples"
_PERCENT: Final = 100.0
_OF_RUN: Final = ("run", "seed", "sample")


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return a unit for each record, with its answers."""
    answers = {get_stem(file): file for file in files if get_stem(file).endswith(_SAMPLES)}
    records = (file for file in files if get_ending(file) == ".json")
    found = (file for file in records if {*KEYS} <= parse_first_object(read_head_text(file)).keys())
    own = ((file, answers.get(f"{get_stem(file)}{_SAMPLES}")) for file in found)
    return tuple(Unit(file, (file, *([other] if other else []))) for file, other in own)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield an evaluation for each benchmark of a record, and of its answers for each run."""
    path, *samples = unit.files
    record, findings = read_json_object(path)
    model = as_word(as_mapping(record.get("model_info")).get("name"))
    results: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for entry in map(as_mapping, as_list(record.get("evaluation_results"))):
        data = as_mapping(entry.get("source_data"))
        results[as_word(data.get("dataset_name") or entry.get("evaluation_name"))].append(entry)
    if not model or not any(results.values()):
        missing = "evaluation_results with a score" if model else "model_info with the model's name"
        raise UnreadableError(path, f"it has no {missing}", "Check that it is of Every Eval Ever 0.3.0")
    lines = JsonLines(samples[0]) if samples else None
    rows = [*lines.read_objects()] if lines else []
    findings += tuple(lines.list_findings()) if lines else ()
    evaluations = (
        one
        for benchmark, entries in results.items()
        for one in _list_evaluations(path, model, benchmark, entries, _choose_rows(rows, entries), unit.texts)
    )
    protocol = _read_protocol(record)
    placed = (replace(one, protocol=protocol | dict(one.protocol)) for one in evaluations)
    yield from scores.add_to_first(placed, [*findings])


def _choose_rows(
    rows: Sequence[dict[str, Any]], entries: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Return the answers to the problems of these results."""
    ids = {entry.get("evaluation_result_id") for entry in entries}
    names = {entry.get("evaluation_name") for entry in entries}
    return [
        row for row in rows if (row.get("evaluation_result_id") in ids or row.get("evaluation_name") in names)
    ]


def _list_evaluations(  # noqa: PLR0917 - of one record
    path: Path,
    model: str,
    benchmark: str,
    entries: Sequence[Mapping[str, Any]],
    rows: Sequence[Mapping[str, Any]],
    texts: bool,  # noqa: FBT001 - as in ``Unit``
) -> Iterator[Evaluation]:
    messages: list[str] = []
    totals = tuple(total for entry in entries if (total := _read_total(entry, messages)))
    protocol = _read_generation(entries[0])
    runs: dict[tuple[str, str], AnswerRows] = defaultdict(AnswerRows)
    for row in rows:
        said = as_mapping(row.get("metadata"))
        _add_answer(runs[as_word(said.get("run")), as_word(said.get("seed"))], row, said, texts=texts)
    if not runs:
        found = tuple(scores.make_findings(path, messages))
        yield Evaluation(path, model, benchmark, protocol=protocol, totals=totals, findings=found)
    for (run, seed), answers in runs.items():
        own = answers.build(_OF_RUN)
        first = totals[:1] if len(runs) == 1 else ()
        messages += scores.check_totals(own, dict(zip([""], first, strict=False)))
        found, messages = tuple(scores.make_findings(path, messages)), []
        yield Evaluation(path, model, benchmark, run, seed or None, protocol, own, first, findings=found)


def _read_total(entry: Mapping[str, Any], messages: list[str]) -> Total | None:
    config, details = as_mapping(entry.get("metric_config")), as_mapping(entry.get("score_details"))
    metric = as_word(config.get("metric_name") or config.get("metric_id") or entry.get("evaluation_name"))
    uncertainty = as_mapping(details.get("uncertainty"))
    error = as_mapping(uncertainty.get("standard_error")).get("value")
    count = parse_number(uncertainty.get("num_samples"))
    lower = config.get("lower_is_better")
    better = None if lower is None else not lower
    total = scores.parse_total(
        metric, details.get("score"), messages, error, n=int(count) if count else None, better=better
    )
    if total is None or config.get("metric_unit") != "percent":
        return total
    stderr = None if total.stderr is None else total.stderr / _PERCENT
    return replace(total, value=total.value / _PERCENT, stderr=stderr)


def _add_answer(rows: AnswerRows, row: Mapping[str, Any], said: Mapping[str, Any], *, texts: bool) -> None:
    question, given = as_mapping(row.get("input")), as_mapping(row.get("output"))
    named = [as_mapping(one) for one in as_list(row.get("answer_attribution"))]
    latency = parse_number(as_mapping(row.get("performance")).get("latency_ms"))
    response = as_list(given.get("raw"))
    rows.add(
        row.get("sample_id"),
        {"": as_mapping(row.get("evaluation")).get("score")},
        said.get("sample", ""),
        answer=named[-1].get("extracted_value") if named else None,
        gold=next(iter(as_list(question.get("reference"))), None),
        tokens=as_mapping(row.get("token_usage")).get("output_tokens"),
        seconds=None if latency is None else latency / 1000,
        fields=said,
        texts=make_texts(prompt=question.get("raw"), response=response[0] if response else None)
        if texts
        else {},
    )


def _read_protocol(record: Mapping[str, Any]) -> dict[str, str]:
    """Return who evaluated with what: the harness, and where the record is from."""
    library, source = as_mapping(record.get("eval_library")), as_mapping(record.get("source_metadata"))
    known = {name: text for name, text in library.items() if text != "unknown"}
    named = {"harness": known.get("name"), "version": known.get("version")}
    return scores.build_protocol({**named, "reported by": source.get("source_name")})


def _read_generation(entry: Mapping[str, Any]) -> dict[str, str]:
    config = as_mapping(entry.get("generation_config"))
    arguments = as_mapping(config.get("generation_args"))
    chosen = {name: arguments.get(name) for name in ("temperature", "top_p", "max_tokens")}
    return scores.build_protocol(chosen)
