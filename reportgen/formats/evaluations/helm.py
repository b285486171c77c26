"""Runs of HELM, one folder per run.

Schema: repository stanford-crfm/helm, ``src/helm/benchmark/runner.py`` writes ``run_spec.json`` (RunSpec,
``run_spec.py``), ``stats.json`` (Stat, ``metrics/statistic.py``: a mean over trials) and
``per_instance_stats.json`` (PerInstanceStats, ``metrics/metric.py``: an instance, a trial and its stats). A
trial is the same instance after other examples in the prompt. The splits ``test`` and ``valid`` are read;
perturbed instances, and worst cases over them, are other problems and are left out. A stat of count 0 has no
mean.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field

from reportgen.core.errors import Diagnostic
from reportgen.core.words import format_count
from reportgen.formats.evaluations import scores
from reportgen.formats.evaluations.rows import AnswerRows
from reportgen.formats.evaluations.scores import get_mapping, make_findings
from reportgen.formats.json_files import (
    as_list,
    as_mapping,
    as_word,
    read_head_text,
    read_json_items,
    read_json_object,
)
from reportgen.formats.messages import list_names
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path


_SPEC, _STATS, _INSTANCES = "run_spec.json", "stats.json", "per_instance_stats.json"
# Patterns that distinguish these files from others with the same name.
_MARKS: Final = {
    _SPEC: re.compile(r'"(?:scenario|adapter)_spec"'),
    _STATS: re.compile(r'\[\s*\{\s*"name"\s*:\s*\{\s*"name"\s*:'),
    _INSTANCES: re.compile(r'"train_trial_index"\s*:'),
}
_SPLITS: Final = ("test", "valid")
# Metrics of how a run went rather than how good it was.
_BOOKKEEPING: Final = re.compile(
    r"(?:num|finish_reason|inference|estimated_num)_\w+|training_\w+_cost|batch_size|prompt_truncated"
    r"|max_prob|logprob(?:_per_byte)?|predicted_index"
)
_TOKENS: Final = ("num_output_tokens", "num_completion_tokens")
_SECONDS: Final = "inference_runtime"
_COUNT: Final = "num_instances"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return one unit per folder with the specification of a run or its stats."""
    folders: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in files:
        if path.name in _MARKS:
            folders[path.parent][path.name] = path
    units = []
    for folder, parts in folders.items():
        known = [name for name, path in parts.items() if _MARKS[name].search(read_head_text(path))]
        # With a specification, even an empty file counts by its name.
        taken = parts if _SPEC in known else known
        if taken:
            units.append(Unit(folder, tuple(parts[name] for name in _MARKS if name in taken)))
    return tuple(units)


def read(unit: Unit) -> Iterator[Evaluation]:
    """Yield the run on each of its splits, without metrics of how a run went."""
    parts = {path.name: path for path in unit.files}
    if _SPEC not in parts:
        message = f"there is no {_SPEC}, which names model and benchmark"
        raise UnreadableError(unit.path, message, "Copy the whole folder of the run")
    spec, findings = read_json_object(parts[_SPEC])
    stats, irregular = _RunStats(), list[Diagnostic]()
    for name, add in ((_STATS, stats.add_stat), (_INSTANCES, stats.add_instance)):
        if name in parts:
            for entry in read_json_items(parts[name], irregular):
                stats.strange += not isinstance(entry, dict)
                add(as_mapping(entry))
    splits = [split for split in _SPLITS if stats.totals[split] or stats.answers[split].answers]
    yield from scores.add_to_first(
        (_build_evaluation(unit.path, spec, split, stats) for split in splits or _SPLITS[:1]),
        (*findings, *irregular, *make_findings(unit.path, stats.list_messages())),
    )


class _RunStats(Struct):
    """Stats and instances read so far, by split."""

    totals: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, float] = field(default_factory=dict)
    answers: dict[str, AnswerRows] = field(default_factory=lambda: defaultdict(AnswerRows))
    finished: bool = False  # whether there is a stat of any split
    strange: int = 0
    without_value: int = 0
    perturbations: dict[str, None] = field(default_factory=dict)  # names of those that are left out

    def add_stat(self, stat: Mapping[str, Any]) -> None:
        """Add the mean of a stat over trials."""
        named, mean = get_mapping(stat, "name"), parse_number(stat.get("mean"))
        metric, split = as_word(named.get("name")), as_word(named.get("split"))
        self._note_perturbation(named)
        if split in _SPLITS and not (named.get("perturbation") or named.get("sub_split")):
            self.finished = True
            if metric == _COUNT and mean is not None:
                self.counts[split] = mean
            if not _BOOKKEEPING.fullmatch(metric):
                if mean is None or parse_number(stat.get("count")) == 0:
                    self.without_value += 1
                else:
                    self.totals[split].append((metric, mean))

    def add_instance(self, instance: Mapping[str, Any]) -> None:
        """Add the scores of an instance in a trial."""
        problem, trial = as_word(instance.get("instance_id")), as_word(instance.get("train_trial_index"))
        by_split: dict[str, dict[str, object]] = defaultdict(dict)
        self._note_perturbation(instance)
        for stat in () if instance.get("perturbation") else map(as_mapping, as_list(instance.get("stats"))):
            named, empty = get_mapping(stat, "name"), parse_number(stat.get("count")) == 0
            if not named.get("perturbation") and as_word(named.get("split")) in _SPLITS:
                mean = None if empty else stat.get("mean")
                by_split[as_word(named.get("split"))][as_word(named.get("name"))] = mean
        for split, cells in by_split.items():
            self.finished = True
            tokens = next((cells[key] for key in _TOKENS if cells.get(key) is not None), None)
            own = {metric: cell for metric, cell in cells.items() if not _BOOKKEEPING.fullmatch(metric)}
            self.answers[split].add(problem, own, trial, tokens=tokens, seconds=cells.get(_SECONDS))

    def _note_perturbation(self, named: Mapping[str, Any]) -> None:
        """Note the perturbation of a stat or instance; the worst case over all is there in any run."""
        perturbation = get_mapping(named, "perturbation")
        if perturbation.get("computed_on") == "perturbed":
            self.perturbations[as_word(perturbation.get("name"))] = None

    def list_messages(self) -> Iterator[str]:
        """Yield messages about values that were left out."""
        if not self.finished:
            yield "there is no stat of a test or validation split: the run is not finished"
        if self.strange:
            yield f"{format_count(self.strange, 'entry is', 'entries are')} no object: left out"
        if self.without_value:
            yield f"{format_count(self.without_value, 'stat')} without a value: left out"
        if self.perturbations:
            names = list_names(self.perturbations)
            yield f"scores under perturbations are of other problems and left out: {names}"


def _build_evaluation(path: Path, spec: Mapping[str, Any], split: str, stats: _RunStats) -> Evaluation:
    answers, messages = stats.answers[split].build(), list[str]()
    n = len({answer.problem for answer in answers}) or scores.parse_count(stats.counts.get(split))
    trials = len({answer.sample for answer in answers})
    parsed = (scores.parse_total(metric, mean, messages, n=n) for metric, mean in stats.totals[split])
    totals = tuple(filter(None, parsed))
    messages += scores.check_totals(answers, {one.metric: one for one in totals}, repeats=trials or 1)
    adapter = get_mapping(spec, "adapter_spec")
    # ``mmlu:subject=anatomy`` of ``mmlu:subject=anatomy,model=openai_gpt2``: all but the model.
    scenario, _, arguments = (as_word(spec.get("name")) or path.name).partition(":")
    parts = [p for p in arguments.split(",") if p and not p.startswith(("model=", "model_deployment="))]
    benchmark = f"{scenario}:{','.join(parts)}" if parts else scenario
    shots, method = as_word(adapter.get("max_train_instances")), as_word(adapter.get("method"))
    protocol = {
        "samples": trials or adapter.get("num_train_trials"),
        **{key: adapter.get(key) for key in ("temperature", "top_p", "max_tokens")},
        "prompt": ", ".join(filter(None, (f"{shots}-shot" if shots else "", method))),
        "harness": "HELM",
        "split": split,
        "limit": adapter.get("max_eval_instances"),
        "backend": adapter.get("model_deployment"),
    }
    return Evaluation(
        path=path,
        model=scores.find_word(adapter.get("model"), adapter.get("model_deployment")),
        benchmark=benchmark + (f" ({split})" if split != _SPLITS[0] else ""),
        run=as_word(path.parent.name) if path.parent.parent.name == "runs" else "",
        protocol=scores.build_protocol(protocol),
        answers=answers,
        totals=totals,
        finished=stats.finished,
        findings=tuple(make_findings(path, messages)),
    )
