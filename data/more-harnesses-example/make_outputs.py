# noqa: INP001 - a script kept beside the data it makes, not a package
"""Attempts of two models on six problems, in the form of MathArena: made up, by this script."""

from __future__ import annotations

import json
import random
from pathlib import Path

HERE = Path(__file__).parent
MODELS = {"birch-1b": 0.4, "cedar-3b": 0.65}
ATTEMPTS = 4


def main() -> None:
    """Write a file for each model and problem."""
    generator = random.Random(3)  # noqa: S311 - made-up numbers
    hard = [generator.uniform(-0.3, 0.3) for _ in range(12)]
    for model, skill in MODELS.items():
        folder = HERE / "outputs/sums/sums_2026/example" / model
        folder.mkdir(parents=True, exist_ok=True)
        for number, offset in enumerate(hard, start=1):
            correct = [generator.random() < skill + offset for _ in range(ATTEMPTS)]
            gold = str(100 + number)
            costs = [{"cost": 0.01, "output_tokens": generator.randint(400, 900)} for _ in correct]
            document = {
                "idx": number,
                "problem": f"What is {number} + 100?",
                "gold_answer": gold,
                "source": "made up",
                "types": ["small" if number % 2 else "large"],
                "N": ATTEMPTS,
                "pass_at_1": sum(correct) / ATTEMPTS,
                "answers": [gold if right else "7" for right in correct],
                "correct": correct,
                "detailed_costs": costs,
            }
            (folder / f"{number}.json").write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
