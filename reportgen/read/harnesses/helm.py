"""Runs of HELM: a folder a run.

Schema: repository stanford-crfm/helm, ``src/helm/benchmark/runner.py`` writes ``run_spec.json``
(RunSpec, ``run_spec.py``), ``stats.json`` (Stat, ``metrics/statistic.py``: a mean over trials) and
``per_instance_stats.json`` (PerInstanceStats, ``metrics/metric.py``: an instance, a trial and its stats). A
trial is the same instance behind other examples in the prompt. The splits ``test`` and ``valid`` are read;
perturbed instances, and worst cases over them, are other problems and are left out. A stat of count 0 has no
mean.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.checking import counts_right, disagreement, impossible
from reportgen.read.harnesses.documents import head_text, json_object, json_value, mapping, word
from reportgen.read.harnesses.protocol import protocol_of
from reportgen.read.harnesses.scoring import score_of, total_of
from reportgen.read.logged import Answered, Evaluated, Finding, Total, Unit, UnreadableError
from reportgen.read.loggers.growing import number
from reportgen.words import counted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

NAME: Final = "helm"
TITLE: Final = "runs of HELM"

_SPEC, _STATS, _INSTANCES = "run_spec.json", "stats.json", "per_instance_stats.json"
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


def units(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Each folder with a specification of a run and its stats."""
    folders: dict[Path, dict[str, Path]] = defaultdict(dict)
    for path in files:
        if path.name in {_SPEC, _STATS, _INSTANCES}:
            folders[path.parent][path.name] = path
    found = []
    for folder, parts in folders.items():
        if _SPEC in parts and len(parts) > 1 and _is_spec(parts[_SPEC]):
            order = (parts[name] for name in (_SPEC, _STATS, _INSTANCES) if name in parts)
            found.append(Unit(NAME, folder, tuple(order)))
    return tuple(found)


def read(unit: Unit, wanted: Collection[str] | None = None) -> Iterator[Evaluated]:
    """The run, on each of its splits.

    Args:
        unit: the folder of a run.
        wanted: only these metrics; those that tell how a run went are read only if named.

    Raises:
        UnreadableError: a file is not what it seemed.
    """
    parts = {path.name: path for path in unit.files}
    if _SPEC not in parts:
        advice = f"Give the folder of the run, with its {_SPEC}"
        raise UnreadableError(unit.path, f"a run of HELM has a {_SPEC}, which is not there", advice)
    spec, findings = json_object(parts[_SPEC])
    read_ = _Read(wanted)
    for name, take in ((_STATS, read_.take_stat), (_INSTANCES, read_.take_instance)):
        if name in parts:
            entries, strange = json_value(parts[name])
            if not isinstance(entries, list):
                raise UnreadableError(
                    parts[name], "a list is expected in the file", "Check that HELM wrote it"
                )
            findings = (*findings, *strange)
            for entry in map(mapping, entries):
                take(entry)
    splits = [split for split in _SPLITS if read_.totals[split] or read_.answers[split]]
    if not splits:
        raise UnreadableError(unit.path, "there is no stat of a test or validation split", "Finish the run")
    findings = (*findings, *read_.findings(unit.path))
    for split in splits:
        yield _evaluated(unit.path, spec, split, read_, findings)
        findings = ()


@dataclass(slots=True)
class _Read:
    """Stats and instances as they are taken in."""

    wanted: Collection[str] | None
    totals: dict[str, list[tuple[str, float]]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, list[Answered]] = field(default_factory=lambda: defaultdict(list))
    problems: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    trials: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    perturbed: int = 0
    without: list[str] = field(default_factory=list)

    def take_stat(self, stat: Mapping[str, Any]) -> None:
        """Keep the mean of a stat over trials."""
        named = mapping(stat.get("name"))
        metric, split = word(named.get("name")), word(named.get("split"))
        if named.get("perturbation") or named.get("sub_split"):
            # The worst case stands there even where nothing was perturbed.
            worst = mapping(named.get("perturbation")).get("computed_on") == "worst"
            self.perturbed += bool(named.get("perturbation")) and not worst
        elif self._wants(metric) and split in _SPLITS:
            mean = number(stat.get("mean"))
            if mean is None or number(stat.get("count")) == 0:
                self.without.append(metric)
            else:
                self.totals[split].append((metric, mean))

    def take_instance(self, instance: Mapping[str, Any]) -> None:
        """Keep the scores of an instance in a trial."""
        if instance.get("perturbation"):
            return
        by_split: dict[str, dict[str, float | None]] = defaultdict(dict)
        stats = instance.get("stats")
        for stat in map(mapping, stats if isinstance(stats, list) else []):
            named = mapping(stat.get("name"))
            split = word(named.get("split"))
            if not named.get("perturbation") and split in _SPLITS:
                empty = number(stat.get("count")) == 0
                by_split[split][word(named.get("name"))] = None if empty else score_of(stat.get("mean"))
        problem, trial = word(instance.get("instance_id")), word(instance.get("train_trial_index"))
        for split, values in by_split.items():
            self.problems[split].add(problem)
            self.trials[split].add(trial)
            tokens = next((values[name] for name in _TOKENS if values.get(name) is not None), None)
            for metric, score in values.items():
                if self._wants(metric):
                    self.answers[split].append(
                        Answered(
                            problem=problem,
                            score=score,
                            sample=trial,
                            metric=metric,
                            tokens=tokens,
                            seconds=values.get(_SECONDS),
                        )
                    )

    def findings(self, path: Path) -> Iterator[Finding]:
        """What was left out."""
        if self.perturbed:
            yield Finding(path, f"{counted(self.perturbed, 'stat')} of perturbed instances: left out")
        if self.without:
            yield Finding(path, f"{counted(len(self.without), 'stat')} without a value: left out")

    def _wants(self, metric: str) -> bool:
        return metric not in _BOOKKEEPING if self.wanted is None else metric in self.wanted


def _evaluated(
    path: Path, spec: Mapping[str, Any], split: str, read_: _Read, findings: tuple[Finding, ...]
) -> Evaluated:
    answers = tuple(read_.answers[split])
    problems, trials = len(read_.problems[split]), len(read_.trials[split])
    totals: list[Total] = []
    strange: list[Finding] = []
    for metric, mean in read_.totals[split]:
        total, finding = total_of(path, metric, mean, n=problems or None)
        totals += [total] if total else []
        strange += [finding] if finding else []
    means = {total.metric: total for total in totals if counts_right(total.metric)}
    if not answers:
        repeats = trials or 1
        strange += [found for total in totals if (found := impossible(path, total, repeats=repeats))]
    adapter = mapping(spec.get("adapter_spec"))
    return Evaluated(
        path=path,
        model=word(adapter.get("model")) or word(adapter.get("model_deployment")),
        benchmark=_benchmark(spec, path) + (f" ({split})" if split != _SPLITS[0] else ""),
        run=word(path.parent.name) if path.parent.parent.name == "runs" else "",
        seed=None,
        protocol=protocol_of(
            {
                "samples": trials or adapter.get("num_train_trials"),
                "temperature": adapter.get("temperature"),
                "top_p": adapter.get("top_p"),
                "max_tokens": adapter.get("max_tokens"),
                "prompt": _prompt(adapter),
                "harness": "HELM",
                "split": split,
                "limit": adapter.get("max_eval_instances"),
                "backend": adapter.get("model_deployment"),
            }
        ),
        answers=answers,
        totals=tuple(totals),
        findings=(*findings, *strange, *disagreement(path, answers, means)),
    )


def _prompt(adapter: Mapping[str, Any]) -> str:
    shots, method = word(adapter.get("max_train_instances")), word(adapter.get("method"))
    return ", ".join(part for part in (f"{shots}-shot" if shots else "", method) if part)


def _benchmark(spec: Mapping[str, Any], path: Path) -> str:
    """``mmlu:subject=anatomy`` of ``mmlu:subject=anatomy,model=openai_gpt2``: all but the model."""
    name = word(spec.get("name")) or path.name
    scenario, _, arguments = name.partition(":")
    kept = [
        one for one in arguments.split(",") if one and not one.startswith(("model=", "model_deployment="))
    ]
    return f"{scenario}:{','.join(kept)}" if kept else scenario


def _is_spec(path: Path) -> bool:
    text = head_text(path)
    return '"scenario_spec"' in text or '"adapter_spec"' in text
