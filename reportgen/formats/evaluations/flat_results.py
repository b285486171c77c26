"""Results of harnesses that are objects of scores: simple-evals, OpenCompass, the bigcode evaluation harness.

Schemas:

- openai/simple-evals, simple_evals.py: ``EVAL_MODEL.json``, newer ones with a date, and a flat object in it:
  ``score``, further metrics, and their standard deviations over problems, ``score:std``. Newer ones also
  write ``EVAL_MODEL_DATE_allresults.json``, the same with all conversations.
- open-compass/opencompass, opencompass/summarizers/default.py: ``results/MODEL/DATASET.json``, a flat object
  of metrics, most of them in percent, and ``details`` with an entry for each problem, in a list or by its
  number; ``summary/summary_TIME.csv`` has the columns ``dataset``, ``version``, ``metric``, ``mode`` and one
  for each model.
- bigcode-project/bigcode-evaluation-harness, main.py: an object of metrics by task, with ``config`` in it.

A harness is described by how its files are recognised and by a function that lists its evaluations; a further
one is a constant at the end, and an entry of ``formats.evaluations``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence  # noqa: TC003 - types of the fields of a Struct
from pathlib import Path  # noqa: TC003 - as above
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from reportgen.formats.cells import is_missing
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.json_files import as_list, as_mapping, as_word, read_head_text, read_json_object
from reportgen.formats.registry import get_title
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Total, Unit, UnreadableError
from reportgen.formats.text_files import Decoder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.formats.runs import Finding


class ResultsReader(Struct, frozen=True):
    """Reader of one harness; see ``Reader`` in ``formats.registry``."""

    choose: Callable[[Sequence[Path]], list[Path]]
    read_file: Callable[[Path], tuple[list[Evaluation], Sequence[Finding]]]
    # Whether a file repeats what others say, or has what is not read.
    repeats: Callable[[Path], bool] = lambda _: False

    def find(self, files: Sequence[Path]) -> tuple[Unit, ...]:
        """Return one unit for each file of results."""
        chosen = self.choose(files)
        others = tuple(file for file in files if file not in chosen and self.repeats(file))
        more = (others, *[()] * len(chosen))
        return tuple(Unit(file, (file, *rest)) for file, rest in zip(chosen, more, strict=False))

    def read(self, unit: Unit) -> Iterator[Evaluation]:
        """Yield the evaluations of a file; there are few scores, so all are read."""
        path = unit.files[0]
        evaluations, findings = self.read_file(path)
        if not any(one.totals or one.answers for one in evaluations):
            raise UnreadableError(
                path, "there is no score in it", f"Check that it is of {get_title(unit.format)}"
            )
        yield from scores.add_to_first(evaluations, findings)


def _read_scores(
    path: Path, entry: Mapping[str, Any], task: str = ""
) -> tuple[tuple[Total, ...], tuple[Finding, ...]]:
    """Return the metrics of a benchmark that are numbers as totals, and what is left out or irregular."""
    numbers = {
        name: cell
        for name, cell in entry.items()
        if not isinstance(cell, bool) and parse_number(cell) is not None
    }
    (numbers, left_out), messages = scores.leave_out_counts(numbers), list[str]()
    totals = tuple(scores.read_totals(numbers, messages))
    findings = scores.make_findings(path, left_out, task, settled_by="metrics")
    return totals, (*findings, *scores.make_findings(path, messages, task))


# simple-evals: its evaluations by the names that they have in the names of files.
_SIMPLE: Final = re.compile(
    r"(?P<eval>simpleqa|mmlu|math|gpqa|mgsm|drop|humaneval|browsecomp|healthbench(?:_hard|_consensus|_meta)?)"
    r"_(?P<model>.+?)(?:_(?P<date>\d{8}_\d{6}))?(?:_DEBUG)?(?P<again>_allresults)?\.json"
)
_SIMPLE_SCORE: Final = re.compile(r'\{[^{}]*"score"\s*:\s*-?[\d.]')
_CHARACTERS: Final = "chars"


def _choose_simple(files: Sequence[Path]) -> list[Path]:
    named = (file for file in files if (match := _SIMPLE.fullmatch(file.name)) and not match["again"])
    return [file for file in named if _SIMPLE_SCORE.match(read_head_text(file).lstrip())]


def _read_simple(path: Path) -> tuple[list[Evaluation], Sequence[Finding]]:
    document, findings = read_json_object(path)
    match = _SIMPLE.fullmatch(path.name)
    parts = match.groupdict() if match else {}
    own = {name: cell for name, cell in document.items() if ":" not in name and name != _CHARACTERS}
    totals, irregular = _read_scores(path, {"score": own.pop("score", None), **own})
    date = parts.get("date") or ""
    day = f"{date[:4]}-{date[4:6]}-{date[6:8]}" if date else ""
    one = Evaluation(
        path,
        parts.get("model") or path.stem,
        parts.get("eval") or "",
        date,
        protocol=scores.build_protocol({"harness": "simple-evals", "date": day}),
        totals=totals,
        findings=irregular,
    )
    return [one], findings


# The bigcode evaluation harness.
_BIGCODE: Final = re.compile(r'\s*\{\s*"(?!config")[^"]+"\s*:\s*\{\s*"[^"]+"\s*:\s*-?[\d.]')
_BIGCODE_CONFIG: Final = re.compile(r'"config"\s*:\s*\{[^{}]*"(?:n_samples|do_sample|model)"\s*:', re.DOTALL)


def _choose_bigcode(files: Sequence[Path]) -> list[Path]:
    texts = ((file, read_head_text(file)) for file in files if file.suffix == ".json")
    return [file for file, text in texts if _BIGCODE.match(text) and _BIGCODE_CONFIG.search(text)]


def _read_bigcode(path: Path) -> tuple[list[Evaluation], Sequence[Finding]]:
    document, findings = read_json_object(path)
    config = as_mapping(document.get("config"))
    protocol = scores.build_protocol(
        {
            "harness": "bigcode-evaluation-harness",
            "samples": config.get("n_samples"),
            "temperature": config.get("temperature") if config.get("do_sample", True) else 0.0,
            "top_p": config.get("top_p"),
            "max_tokens": config.get("max_length_generation"),
            **{key: config.get(key) for key in ("prompt", "limit")},
        }
    )
    model, seed = as_word(config.get("model")) or path.parent.name, scores.find_seed(config.get("seed"))
    evaluations = []
    for task, metrics in document.items():
        if task != "config":
            totals, found = _read_scores(path, as_mapping(metrics), task)
            one = Evaluation(path, model, task, "", seed, protocol, totals=totals, findings=found)
            evaluations.append(one)
    return evaluations, findings


# OpenCompass.
_RESULTS, _DETAILS = "results", "details"
_FLAT: Final = re.compile(r'\s*\{\s*"(?:(?!train_|eval_|epoch)[^"]+"\s*:\s*-?\d|details"\s*:\s*[\[{])')
_COLUMNS: Final = ("dataset", "version", "metric", "mode")
_SCORED: Final = ("correct", "is_correct", "cascade_correct", "score")
_TAKEN: Final = ("pred", "prediction", "predictions")
_GOLD: Final = ("answer", "gold", "references", "refr")
_PERCENT: Final = 100.0
# What summaries call a score over other datasets, whose names contain that of the group.
_GROUP_SCORES: Final = frozenset(("naive_average", "weighted_average"))


def _choose_opencompass(files: Sequence[Path]) -> list[Path]:
    """Return the files of datasets, or the summaries if there are none."""
    inside = (file for file in files if file.suffix == ".json" and file.parent.parent.name == _RESULTS)
    own = [
        file for file in inside if not file.stem.endswith("_results") and _FLAT.match(read_head_text(file))
    ]
    tables = [file for file in files if file.name.startswith("summary_") and file.suffix == ".csv"]
    header = ",".join(_COLUMNS)
    return own or [file for file in tables if read_head_text(file).startswith(header)]


def _read_opencompass(path: Path) -> tuple[list[Evaluation], Sequence[Finding]]:
    if path.suffix == ".csv":
        return _read_summary(path)
    document, findings = read_json_object(path)
    details = document.pop(_DETAILS, None)
    entries = dict(enumerate(details)) if isinstance(details, list) else as_mapping(details)
    rows = AnswerRows()
    for problem, entry in entries.items():
        item = as_mapping(entry)
        # Problems that do not say whether they are right have predictions alone.
        scored, answer, gold = (
            next((item[name] for name in names if name in item), None) for names in (_SCORED, _TAKEN, _GOLD)
        )
        for sample, cell in enumerate(as_list(scored) or [scored]):
            if scores.parse_score(cell) is not None:
                rows.add(problem, {"": cell}, sample, answer=answer, gold=gold)
    answers, (totals, irregular) = rows.build(), _read_scores(path, document)
    if answers:
        # Answers are right or wrong, and accuracies are in percent.
        totals = tuple(replace(one, value=one.value / _PERCENT) for one in totals if one.metric == "accuracy")
        checked = scores.check_totals(answers, {"": totals[0]} if totals else {})
        irregular = (*irregular, *scores.make_findings(path, checked))
    one = Evaluation(
        path,
        path.parent.name,
        path.stem,
        path.parent.parent.parent.name,
        protocol={"harness": "OpenCompass"},
        answers=answers,
        totals=totals,
        findings=irregular,
    )
    return [one], findings


def _read_summary(path: Path) -> tuple[list[Evaluation], Sequence[Finding]]:
    """Return the evaluations of all models; a dataset that was not evaluated is a dash."""
    decoding = Decoder(path)
    rows = csv.reader(line.replace("\r", "") for _, line in decoding.read_lines())
    header = next(rows, [])
    evaluations = []
    for row in rows:
        cells = dict(zip(header, row, strict=False))
        for model in header[len(_COLUMNS) :]:
            cell = cells.get(model, "-")
            if is_missing(cell) or cell == "-":
                continue
            messages: list[str] = []
            total = scores.parse_total(cells["metric"], cell, messages)
            protocol = {"harness": "OpenCompass", "prompt": cells["version"], "mode": cells["mode"]}
            one = Evaluation(
                path,
                model,
                cells["dataset"],
                protocol=scores.build_protocol(protocol),
                totals=(total,) if total else (),
                findings=tuple(scores.make_findings(path, messages, cells["dataset"])),
            )
            evaluations.append(one)
    names = {one.benchmark for one in evaluations}
    for index, one in enumerate(evaluations):
        members = sorted(other for other in names - {one.benchmark} if one.benchmark in other)
        if members and any(total.metric in _GROUP_SCORES for total in one.totals):
            evaluations[index] = replace(one, protocol={**one.protocol, scores.SUBTASKS: ", ".join(members)})
    return evaluations, [*decoding.list_findings()]


SIMPLE_EVALS: Final = ResultsReader(
    _choose_simple, _read_simple, lambda file: file.name.endswith("_allresults.json")
)
BIGCODE: Final = ResultsReader(_choose_bigcode, _read_bigcode)
OPENCOMPASS: Final = ResultsReader(
    _choose_opencompass,
    _read_opencompass,
    # Summaries, and predictions without scores.
    lambda file: file.parent.name == "summary" or file.parent.parent.name == "predictions",
)
