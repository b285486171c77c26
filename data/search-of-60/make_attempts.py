# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``results.tsv``: a synthetic search of 60 attempts, as an agent keeps its log.

Nothing was trained. Most attempts change nothing, some are a little worse, a few a little better, and each
value has noise. The baseline is run four times, and the best attempt three times more at the end. The same
file comes out each time: ``python data/search-of-60/make_attempts.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

ATTEMPTS, BASELINES, REPETITIONS = 60, 4, 3
BASE, NOISE, CRASHES = 0.998, 0.0012, 0.08
EFFECTS = (0.0, 0.0, 0.0, 0.0, 0.002, 0.004, -0.0008)  # lower is better
IDEAS = (
    "raise the learning rate to {:.3f}",
    "warm up for {:.0%} of the steps",
    "weight decay {:.3f}",
    "clip gradients at {:.2f}",
    "dropout {:.3f}",
    "depth times {:.2f}",
    "width times {:.2f}",
    "batch size times {:.2f}",
)


def main() -> None:
    """Write the attempts, one row each."""
    random = np.random.default_rng(20261201)
    rows: list[tuple[str, float, str, str]] = []

    def make_commit() -> str:
        return f"{random.integers(16**7):07x}"

    def measure(level: float) -> float:
        return round(level + random.normal(0.0, NOISE), 6)

    first = make_commit()
    rows += [(first, measure(BASE), "keep", "baseline") for _ in range(BASELINES)]
    level, best = BASE, rows[0][1]
    winner = (first, level, "baseline")
    for number in range(1, ATTEMPTS):
        idea = IDEAS[number % len(IDEAS)].format(random.uniform(0.01, 2.0) / 2)
        commit = make_commit()
        if random.random() < CRASHES:
            rows.append((commit, 0.0, "crash", f"{idea} (out of memory)"))
            continue
        reached = level + random.choice(EFFECTS)
        value = measure(reached)
        if value < best:
            best, level, winner = value, reached, (commit, reached, idea)
        rows.append((commit, value, "keep" if value == best else "discard", idea))
    rows += [(winner[0], measure(winner[1]), "keep", winner[2]) for _ in range(REPETITIONS)]
    lines = (f"{commit}\t{value:.6f}\t{status}\t{idea}\n" for commit, value, status, idea in rows)
    text = "".join(("commit\tval_bpb\tstatus\tdescription\n", *lines))
    (Path(__file__).parent / "results.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
