"""Runs of HELM: a folder a run.

Schema: repository stanford-crfm/helm, ``src/helm/benchmark/runner.py`` writes ``run_spec.json``
(RunSpec, ``run_spec.py``), ``stats.json`` (Stat, ``metrics/statistic.py``: a mean over trials) and
``per_instance_stats.json`` (PerInstanceStats, ``metrics/metric.py``: an instance, a trial and its stats). A
trial is the same instance behind other examples in the prompt. The splits ``test`` and ``valid`` are read;
perturbed instances, and worst cases over them, are other problems and are left out. A stat of count 0 has no
mean. A folder is named after its run's specification, which names it where ``run_spec.json`` is not there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.core.words import format_count
from reportgen.formats.evaluations.scores import (
    build_protocol,
    check_accuracy,
    compare_means,
    parse_count,
    parse_score,
    parse_total,
)
from reportgen.formats.json_files import (
    as_mapping,
    as_word,
    read_head_text,
    read_json_items,
    read_json_object,
)
from reportgen.formats.run_data import parse_number
from reportgen.formats.runs import Evaluation, Finding, ScoredAnswer, Total, Unit, UnreadableError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path


def guess_spec(path: Path) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """A specification that says what the folder's name does, where there is no other."""
    folder = path if path.is_dir() else path.absolute().parent
    arguments = dict(part.partition("=")[::2] for part in re.split("[:,]", folder.name))
    message = "there is no run_spec.json: model and benchmark are named after the folder"
    spec = {"name": folder.name, "adapter_spec": {"model": arguments.get("model") or folder.name}}
    return spec, (Finding(path, f"{message}, and how it was measured is unknown"),)


def name_benchmark(spec: Mapping[str, Any], path: Path) -> str:
    """``mmlu:subject=anatomy`` of ``mmlu:subject=anatomy,model=openai_gpt2``: all but the model."""
    name = as_word(spec.get("name")) or path.name
    scenario, _, arguments = name.partition(":")
    parts = [
        one for one in arguments.split(",") if one and not one.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(parts)}" if parts else scenario


def build_run_protocol(spec: Mapping[str, Any], split: str, trials: int) -> dict[str, str]:
    """How a run was made.

    Args:
        spec: its specification.
        split: of the instances.
        trials: how many there are; 0 where that is not known.
    """
    adapter = as_mapping(spec.get("adapter_spec"))
    return build_protocol(
        {
            "samples": trials or adapter.get("num_train_trials"),
            "temperature": adapter.get("temperature"),
            "top_p": adapter.get("top_p"),
            "max_tokens": adapter.get("max_tokens"),
            "prompt": _describe_prompt(adapter),
            "harness": "HELM",
            "split": split,
            "limit": adapter.get("max_eval_instances"),
            "backend": adapter.get("model_deployment"),
        }
    )


def _describe_prompt(adapter: Mapping[str, Any]) -> str:
    shots, method = as_word(adapter.get("max_train_instances")), as_word(adapter.get("method"))
    return ", ".join(part for part in (f"{shots}-shot" if shots else "", method) if part)


NAME: Final = "helm"
TITLE: Final = "runs of HELM"

_SPEC, _STATS, _INSTANCES = "run_spec.json", "stats.json", "per_instance_stats.json"
# What tells a file from others of its name.
_MARKS: Final = {
    _SPEC: re.compile(r'"(?:scenario|adapter)_spec"'),
    _STATS: re.compile(r'\[\s*\{\s*"name"\s*:\s*\{\s*"name"\s*:'),
    _INSTANCES: re.compile(r'"train_trial_index"\s*:'),
}
_SPLITS: Final = ("test", "valid")
# How a run went rather than how good it was; read where somebody names them.
_BOOKKEEPING: Final = frozenset(
    (
        *("num_references", "num_train_trials", "num_prompt_tokens", "num_completion_tokens"),
        *("num_output_tokens", "num_train_instances", "num_instances", "num_perplexity_tokens"),
        *("num_bytes", "num_candidates", "batch_size", "prompt_truncated", "max_prob", "logprob"),
        *("logprob_per_byte", "training_co2_cost", "training_energy_cost", "inference_runtime"),
        *("inference_denoised_runtime", "inference_idealized_runtime", "predicted_index"),
        *("finish_reason_length", "finish_reason_stop", "finish_reason_endoftext", "finish_reason_unknown"),
        *("estimated_num_tokens_cost", "num_expected_completions", "num_completions"),
    )
)
_TOKENS: Final = ("num_output_tokens", "num_completion_tokens")
_SECONDS: Final = "inference_runtime"
_COUNT: Final = "num_instances"


def find_units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each folder with the specification of a run or its stats."""
    folders: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in files:
        if path.name in {_SPEC, _STATS, _INSTANCES}:
            folders[path.parent][path.name] = path
    found = []
    for folder, parts in folders.items():
        known = [name for name, path in parts.items() if _MARKS[name].search(read_head_text(path))]
        # Beside a specification even an empty file is what its name says.
        taken = parts if _SPEC in known else known
        if taken:
            order = (parts[name] for name in (_SPEC, _STATS, _INSTANCES) if name in taken)
            found.append(Unit(NAME, folder, tuple(order)))
    return tuple(found)


def read(unit: Unit, selected: Collection[str] | None = None) -> Iterator[Evaluation]:
    """The run, on each of its splits.

    Args:
        unit: the folder of a run.
        selected: only these metrics; those that tell how a run went are read only if named.

    Raises:
        UnreadableError: a file is not what it seemed.
    """
    parts = {path.name: path for path in unit.files}
    if not parts.keys() & _MARKS.keys():
        message = f"a run of HELM has a {_SPEC}, {_STATS} or {_INSTANCES}, and none of them is there"
        raise UnreadableError(unit.path, message, "Give the folder of the run")
    spec, findings = read_json_object(parts[_SPEC]) if _SPEC in parts else guess_spec(unit.path)
    read_, irregular = _RunStats(selected), list[Finding]()
    for name, take in ((_STATS, read_.add_stat), (_INSTANCES, read_.add_instance)):
        if name in parts:
            for entry in read_json_items(parts[name], irregular):
                read_.strange += not isinstance(entry, dict)
                take(as_mapping(entry))
    findings = (*findings, *irregular)
    splits = [split for split in _SPLITS if read_.totals[split] or read_.answers[split]]
    if not read_.seen:
        message = "there is no stat of a test or validation split: the run is not finished"
        findings = (*findings, Finding(unit.path, message))
    findings = (*findings, *read_.list_findings(unit.path))
    for split in splits or _SPLITS[:1]:
        yield _build_evaluation(unit.path, spec, split, read_, findings)
        findings = ()


@dataclass(slots=True)
class _RunStats:
    """Stats and instances as they are taken in."""

    selected: Collection[str] | None
    totals: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    counts: dict[str, float] = field(default_factory=dict)
    answers: dict[str, list[ScoredAnswer]] = field(default_factory=lambda: defaultdict(list))
    problems: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    trials: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    seen: set[str] = field(default_factory=set)
    perturbed: int = 0
    strange: int = 0
    without: list[str] = field(default_factory=list)

    def add_stat(self, stat: Mapping[str, Any]) -> None:
        """Keep the mean of a stat over trials."""
        named = as_mapping(stat.get("name"))
        metric, split = as_word(named.get("name")), as_word(named.get("split"))
        if named.get("perturbation") or named.get("sub_split"):
            # The worst case stands there even where nothing was perturbed.
            worst = as_mapping(named.get("perturbation")).get("computed_on") == "worst"
            self.perturbed += bool(named.get("perturbation")) and not worst
            return
        if split in _SPLITS:
            self.seen.add(split)
        mean = parse_number(stat.get("mean"))
        if metric == _COUNT and mean is not None:
            self.counts[split] = mean
        if self._is_selected(metric) and split in _SPLITS:
            if mean is None or parse_number(stat.get("count")) == 0:
                self.without.append(metric)
            else:
                self.totals[split].append((metric, mean))

    def add_instance(self, instance: Mapping[str, Any]) -> None:
        """Keep the scores of an instance in a trial."""
        if instance.get("perturbation"):
            return
        by_split: dict[str, dict[str, float | None]] = defaultdict(dict)
        stats = instance.get("stats")
        for stat in map(as_mapping, stats if isinstance(stats, list) else []):
            named = as_mapping(stat.get("name"))
            split = as_word(named.get("split"))
            if not named.get("perturbation") and split in _SPLITS:
                empty = parse_number(stat.get("count")) == 0
                by_split[split][as_word(named.get("name"))] = None if empty else parse_score(stat.get("mean"))
        problem, trial = as_word(instance.get("instance_id")), as_word(instance.get("train_trial_index"))
        for split, values in by_split.items():
            self.seen.add(split)
            self.problems[split].add(problem)
            self.trials[split].add(trial)
            tokens = next((values[name] for name in _TOKENS if values.get(name) is not None), None)
            for metric, score in values.items():
                if self._is_selected(metric):
                    self.answers[split].append(
                        ScoredAnswer(
                            problem=problem,
                            score=score,
                            sample=trial,
                            metric=metric,
                            tokens=tokens,
                            seconds=values.get(_SECONDS),
                        )
                    )

    def list_findings(self, path: Path) -> Iterator[Finding]:
        """What was left out."""
        if self.perturbed:
            yield Finding(path, f"{format_count(self.perturbed, 'stat')} of perturbed instances: left out")
        if self.strange:
            yield Finding(
                path, f"{format_count(self.strange, 'entry is', 'entries are')} no object: left out"
            )
        if self.without:
            yield Finding(path, f"{format_count(len(self.without), 'stat')} without a value: left out")

    def _is_selected(self, metric: str) -> bool:
        return metric not in _BOOKKEEPING if self.selected is None else metric in self.selected


def _build_evaluation(
    path: Path, spec: Mapping[str, Any], split: str, read_: _RunStats, findings: tuple[Finding, ...]
) -> Evaluation:
    answers = tuple(read_.answers[split])
    problems, trials = len(read_.problems[split]), len(read_.trials[split])
    totals: list[Total] = []
    strange: list[Finding] = []
    n = problems or parse_count(read_.counts.get(split))
    for metric, mean in read_.totals[split]:
        total, finding = parse_total(path, metric, mean, n=n)
        totals += [total] if total else []
        strange += [finding] if finding else []
    means = {total.metric: total for total in totals}
    if not answers:
        repeats = trials or 1
        strange += [found for total in totals if (found := check_accuracy(path, total, repeats=repeats))]
    adapter = as_mapping(spec.get("adapter_spec"))
    return Evaluation(
        path=path,
        model=as_word(adapter.get("model")) or as_word(adapter.get("model_deployment")),
        benchmark=name_benchmark(spec, path) + (f" ({split})" if split != _SPLITS[0] else ""),
        run=as_word(path.parent.name) if path.parent.parent.name == "runs" else "",
        seed=None,
        protocol=build_run_protocol(spec, split, trials),
        answers=answers,
        totals=tuple(totals),
        finished=bool(read_.seen),
        findings=(*findings, *strange, *compare_means(path, answers, means)),
    )
