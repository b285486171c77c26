"""Evaluations by Inspect with its mock model: epochs, reducers, several scorers, failures, both formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlparse

import tiktoken
from inspect_ai import Epochs, Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import (
    Score,
    accuracy,
    includes,
    match,
    mean,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import generate, solver

from writers.telling import Answer, ToldEvaluation, tell

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model
    from inspect_ai.scorer import Target
    from inspect_ai.solver import Generate, TaskState

PROBLEMS = 6
SPREADS = ("stderr", "std", "var")


class Bytes:
    """A tokenizer that needs no file from the network, in place of the mock model's."""

    def encode(self, text: str, **_: Any) -> list[int]:  # noqa: ANN401 - as its callers please
        """One token a byte."""
        return list(text.encode())


def one_token_a_byte(_: str) -> Bytes:
    """The only tokenizer, whatever it is asked for by."""
    return Bytes()


tiktoken.get_encoding = one_token_a_byte
tiktoken.encoding_for_model = one_token_a_byte


def problems(count: int = PROBLEMS) -> MemoryDataset:
    """Sums of two numbers, of two subjects and three levels."""
    subjects = ("physics", "math")
    samples = [
        Sample(
            id=f"p{number}",
            input=f"{number} + {number}?",
            target=str(2 * number),
            metadata={"subject": subjects[number % 2], "level": number % 3},
        )
        for number in range(count)
    ]
    return MemoryDataset(samples, name="sums")


def answering(name: str, wrong: int, count: int = PROBLEMS) -> Model:
    """A model whose answers are settled: every ``wrong``-th problem is answered with words."""
    texts = [str(2 * number) if number % wrong else "no idea" for number in range(count)]
    by_question = {f"{number} + {number}?": text for number, text in enumerate(texts)}

    def answer(messages: Any, *_: Any) -> ModelOutput:  # noqa: ANN401 - as Inspect calls it
        return ModelOutput.from_content(f"mockllm/{name}", by_question[messages[-1].text])

    return get_model(f"mockllm/{name}", custom_outputs=answer)


@scorer(metrics={"style": [mean(), stderr()], "length": [mean()]})  # type: ignore[untyped-decorator]  # no types here
def parts() -> Any:  # noqa: ANN401 - its library has no types here
    """Two values a sample."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - as Inspect calls it
        text = state.output.completion
        return Score(value={"style": 0.5, "length": len(text)}, answer=text)

    return score


@scorer(metrics=[accuracy(), stderr(), stderr(cluster="level")])  # type: ignore[untyped-decorator]  # no types here
def clustered() -> Any:  # noqa: ANN401 - its library has no types here
    """Right, wrong or no answer; two standard errors."""

    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        return Score(value="C" if text == target.text else "N" if "idea" in text else "I", answer=text)

    return score


@solver  # type: ignore[untyped-decorator]  # no types here
def breaking() -> Any:  # noqa: ANN401 - its library has no types here
    """Fails at one problem."""

    async def solve(state: TaskState, go_on: Generate) -> TaskState:
        if state.sample_id == "p3":
            raise RuntimeError("the tool fell over")
        return await go_on(state)

    return solve


def told(log: EvalLog, folder: Path) -> ToldEvaluation:
    """What Inspect holds in memory of an evaluation that it wrote."""
    place = Path(unquote(urlparse(log.location).path)).relative_to(folder)
    seed = log.plan.config.seed
    one = ToldEvaluation(place.as_posix(), log.eval.model, log.eval.task)
    one.seed = None if seed is None else str(seed)
    one.finished = log.status == "success"
    one.answers = answers(log) if log.samples else reduced(log)
    for entry in log.results.scores if log.results else ():
        label = entry.name if entry.name == entry.scorer else f"{entry.scorer}/{entry.name}"
        where = f"{label}, {entry.reducer}" if entry.reducer else label
        error = entry.metrics.get("stderr")
        for name, metric in entry.metrics.items():
            if not name.startswith(SPREADS):
                one.totals.append((f"{name} ({where})", metric.value, error and error.value))
    return one


def answers(log: EvalLog) -> list[Answer]:
    """Every answer by every scorer; one that failed has no score."""
    labels = list(dict.fromkeys(label for sample in log.samples for label, *_ in scores(sample)))
    found: list[Answer] = []
    for sample in log.samples:
        by_label: dict[str, tuple[float | None, str | None]] = {
            label: (score, answer) for label, score, answer in scores(sample)
        }
        for label in labels:
            scored = by_label.get(label, (None, None))
            found.append((str(sample.id), str(sample.epoch), label, *scored, sample.target))
    return found


def reduced(log: EvalLog) -> list[Answer]:
    """A score a problem, where no samples were to be logged."""
    to_number = value_to_float()
    return [
        (str(one.sample_id), "", reduction.scorer, to_number(one.value), one.answer, None)
        for reduction in log.reductions
        for one in reduction.samples
    ]


def scores(sample: Any) -> list[tuple[str, float, str | None]]:  # noqa: ANN401 - its library has no types here
    """Scorer, score and answer of a sample; a scorer with several values has several."""
    to_number = value_to_float()
    found = []
    for name, score in (sample.scores or {}).items():
        values = score.value if isinstance(score.value, dict) else {"": score.value}
        for key, value in values.items():
            found.append((f"{name}/{key}" if key else name, to_number(value), score.answer))
    return found


def write(folder: Path, small: bool) -> list[ToldEvaluation]:  # noqa: FBT001 - as telling.tell calls it
    """Evaluations of every kind, each as an archive and as JSON."""
    os.chdir(folder)
    shared: dict[str, Any] = {"display": "none", "log_dir": str(folder), "log_model_api": False}
    if small:
        task = Task(dataset=problems(4), solver=generate(), scorer=match(), name="sums")
        models = [answering("base", 2), answering("wide", 3)]
        logs = evaluate(task, model=models, epochs=2, seed=7, **shared)
        return [told(log, folder) for log in logs]
    logs = []
    for form in ("eval", "json"):
        options = {**shared, "log_format": form, "log_dir": str(folder / form)}
        logs += evaluate(kinds(), model=answering("model", 3), **options)
        plain = Task(dataset=problems(), solver=generate(), scorer=match(), name="plain", version=2)
        logs += evaluate(
            plain, model=answering("model", 3), temperature=0.7, max_tokens=64, seed=7, **options
        )
        tolerated = Task(dataset=problems(), solver=breaking(), scorer=match(), name="tolerated")
        logs += evaluate(tolerated, model=answering("model", 3), fail_on_error=False, **options)
        unlogged = Task(dataset=problems(), solver=generate(), scorer=match(), name="unlogged")
        logs += evaluate(unlogged, model=answering("model", 3), log_samples=False, **options)
    return [told(log, folder) for log in logs]


def kinds() -> list[Task]:
    """Tasks that differ in their scorers, epochs and reducers."""
    data = problems()
    return [
        Task(dataset=data, solver=generate(), scorer=[match(), includes()], epochs=3, name="epochs"),
        Task(
            dataset=data,
            solver=generate(),
            scorer=match(),
            epochs=Epochs(4, ["mean", "pass_at_2", "max"]),
            name="reducers",
        ),
        Task(dataset=data, solver=generate(), scorer=[clustered(), parts()], name="several"),
        Task(dataset=data, solver=breaking(), scorer=match(), name="failed"),
    ]


if __name__ == "__main__":
    tell(write, "inspect-ai")
