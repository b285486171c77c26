"""How often what is said of curves holds: simultaneous bands, peaks, leaders, bands of equal runs.

    python benchmarks/honesty_curves.py [--full]

Rows of what is measured, what came out and what must; ``honesty.py`` prints them with all others.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from measure import table
from simulated.curves import NOISES, bands_without_width, coverage, leaders_among_equals

_SYMMETRIC = ("white", "AR(.5)", "AR(.9)", "run offsets", "falls tenfold", "random walks")
_STEPS, _RUNS = (14, 50, 200), (3, 5, 10)


def measure(full: bool) -> list[tuple[str, str, str]]:  # noqa: FBT001 - the signature of all these files
    """Rows of what is measured, the shares found and the shares that must be; at most four minutes."""
    draws = 110 if full else 40
    error = f"± {100 * np.sqrt(0.95 * 0.05 / draws / 9):.1f}"
    rows = []
    for noise in (*NOISES, "accuracies"):
        cells = [
            coverage(noise, "hump" if steps == 50 else "flat", runs, steps, draws=draws)
            for runs in _RUNS
            for steps in _STEPS
        ]
        must = f"93–97 % ({error}), or more" if noise in _SYMMETRIC else "said in the guide"
        for name, found in (
            ("band: simultaneous, the whole mean curve", [one.band for one in cells]),
            ("peak: simultaneous, the true mean at the picked step", [one.picked for one in cells]),
            ("peak: simultaneous, the true maximum", [one.highest for one in cells]),
            ("(the interval of the picked step by itself, not printed)", [one.plain for one in cells]),
        ):
            rows.append((f"{noise}: {name}", _shares(found), "none printed" if name[0] == "(" else must))
    return [*rows, *_leaders(1500 if full else 300), *_widths(200 if full else 50)]


def _shares(found: list[float]) -> str:
    """The mean over runs and steps, and the cells with the smallest and the largest share."""
    percent = 100 * np.array(found)
    return f"{percent.mean():.1f} % (cells {percent.min():.0f} to {percent.max():.0f})"


def _leaders(draws: int) -> list[tuple[str, str, str]]:
    noises = ("white", "skewed", "failing seeds", "accuracies")
    return [
        (
            f"{series} equal series, 2, 3 and 5 runs: one is said to lead ({noise})",
            " ".join(f"{100 * leaders_among_equals(noise, series, n, draws=draws):.1f}" for n in (2, 3, 5))
            + " %",
            "≤ 5 %",
        )
        for noise in noises
        for series in (2, 4)
    ]


def _widths(draws: int) -> list[tuple[str, str, str]]:
    found = [bands_without_width(runs, draws=draws) for runs in (2, 3)]
    equal = " and ".join(f"{100 * share:.0f} %" for share, _ in found)
    banded = max(share for _, share in found)
    said = f"{100 * banded:.0f} % banded ({equal} are equal, and said so)"
    return [("steps with a band of zero width, 2 and 3 runs of 30 problems", said, "none without a word")]


def main() -> None:
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="at full size, about four minutes")
    rows = measure(parser.parse_args().full)
    print(table(("what", "measured", "must"), rows))


if __name__ == "__main__":
    main()
