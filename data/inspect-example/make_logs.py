# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make the logs of two evaluations with Inspect and its mock model, with made-up answers.

It needs ``pip install inspect-ai`` and neither account nor network. Problems and answers come from a fixed
seed and show nothing about any model. Logs that are made again hold the same answers under other ids and
dates. Run it from anywhere: ``python data/inspect-example/make_logs.py``.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import zipfile
from pathlib import Path

import tiktoken
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput, get_model
from inspect_ai.scorer import match
from inspect_ai.solver import generate

FOLDER = Path(__file__).absolute().parent / "logs"
EPOCHS = 4
# model, how much better it is than the problems are hard
MODELS = (("mockllm/birch", 0.05), ("mockllm/cedar", 0.3))


class Bytes:
    """An encoding that counts bytes: the true ones would be downloaded."""

    def encode(self, text: str, **_: object) -> list[int]:
        """A token a byte."""
        return list(text.encode())


def problems() -> list[tuple[Sample, float]]:
    """Sums, and how hard each is: the chance that a middling model fails."""
    rng = random.Random(2026)  # noqa: S311 - no secret
    found = []
    for number in range(30):
        one, other = rng.randrange(11, 99), rng.randrange(11, 99)
        hard = rng.uniform(0.1, 0.9)
        kind = "carry" if one % 10 + other % 10 > 9 else "no carry"  # noqa: PLR2004 - one digit
        sample = Sample(
            id=f"sum-{number:02}", input=f"{one} + {other}", target=str(one + other), metadata={"kind": kind}
        )
        found.append((sample, hard))
    return found


def model(name: str, better: float) -> Model:
    """A mock model that answers by chance."""
    rng = random.Random(f"2026 {name}")  # noqa: S311 - no secret
    outputs = []
    for _ in range(EPOCHS):
        for sample, hard in problems():
            target = int(str(sample.target))
            said = target if rng.random() < 1 - hard + better else target + rng.choice((-10, -1, 1, 10))
            outputs.append(ModelOutput.from_content(name, str(said)))
    return get_model(name, custom_outputs=outputs)


def without_transcripts(log: Path) -> None:
    """Leave the samples out, of which the summaries say what is read: they are nine tenths of the size."""
    with zipfile.ZipFile(log) as archive:
        kept = [one for one in archive.infolist() if not one.filename.startswith(("samples/", "_journal/"))]
        members = [(one.filename, one.compress_type, archive.read(one)) for one in kept]
    with zipfile.ZipFile(log, "w") as archive:
        for name, packed, content in members:
            archive.writestr(name, content, packed)


def main() -> None:
    """Write the folder ``logs`` beside this file."""
    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _: Bytes()
    shutil.rmtree(FOLDER, ignore_errors=True)
    dataset = MemoryDataset([sample for sample, _ in problems()], name="sums")
    with tempfile.TemporaryDirectory() as elsewhere:
        # Inspect tells the Git repository that it is started in.
        os.chdir(elsewhere)
        for name, better in MODELS:
            evaluate(
                Task(dataset=dataset, solver=generate(), scorer=match(), name="sums", epochs=EPOCHS),
                model=model(name, better),
                temperature=0.7,
                max_tokens=16,
                # One after the other, so that each problem gets its own answers.
                max_connections=1,
                max_samples=1,
                log_dir=str(FOLDER),
                log_format="eval",
                display="none",
            )
        os.chdir(FOLDER)
    for log in FOLDER.glob("*.eval"):
        without_transcripts(log)


if __name__ == "__main__":
    main()
