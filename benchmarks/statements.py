"""What 200 claims cost a build: a page with them against the same page with plain words, both warm.

    python benchmarks/statements.py [--claims 200] [--times 9]

Each build follows a change of one word, of another page or of the page with the claims, which is then made
again as a whole; data, figures and facts are kept. The builds of both reports take turns.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

from measure import Measured, run

SETTINGS = "site_name: Claims\ndocs_dir: content\ntheme: {name: reportgen}\nplugins: [reportgen]\n"
PAGE = """---
benchmark: {name: Small, source: runs, metric: accuracy}
---

# Small

```curve
```

"""
NAMES = tuple(f"series-{number}" for number in range(5))
STEPS = 150


def data() -> str:
    """Five series of five runs, 150 steps each."""
    rows = ["series,seed,step,accuracy"]
    for place, name in enumerate(NAMES):
        for seed in range(5):
            values = (
                1 - 0.99**step + 0.01 * ((seed * 7 + step * 3 + place * 5) % 11) for step in range(STEPS)
            )
            rows += [f"{name},{seed},{step},{value:.4f}" for step, value in enumerate(values)]
    return "\n".join(rows) + "\n"


def sentences(claims: int, *, bound: bool) -> str:
    """As many sentences with a claim each, or with the same words and none."""
    lines = []
    for number in range(claims):
        a, b = NAMES[number % 5], NAMES[(number + 1 + number // 5) % 5]
        words = f"At step {number % STEPS} {a} and {b} differ by less than one"
        expression = f"at({a}, {number % STEPS}) - at({b}, {number % STEPS}) < 1 and peak({a}) > start({a})"
        lines.append(f'[{words}]{{claim="{expression}"}}.' if bound else f"{words}.")
    return "\n".join(lines) + "\n"


def report(root: Path, claims: int, *, bound: bool) -> Path:
    """A report in a folder, with claims or with plain words."""
    for name, text in {
        "mkdocs.yml": SETTINGS,
        "content/index.md": PAGE + sentences(claims, bound=bound),
        "data/runs.csv": data(),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


def built(root: Path, turn: int, page: str) -> Measured:
    """A build after a change of one word of a page."""
    path = root / "content" / page
    text = path.read_text("utf-8").partition("\nTurn ")[0] if path.exists() else "# Other\n"
    path.write_text(f"{text}\nTurn {turn}.\n", encoding="utf-8")
    return run([sys.executable, "-m", "reportgen", "build"], root)


def tell(plain: Path, bound: Path, page: str, times: int) -> None:
    """Print what claims cost where this page changes; the builds of both reports take turns."""
    # The first build of each fills the cache.
    turns = [(built(plain, turn, page), built(bound, turn, page)) for turn in range(times + 1)][1:]
    for kind in ("seconds", "processor"):
        pairs = [(getattr(one, kind), getattr(other, kind)) for one, other in turns]
        without, with_claims = (statistics.median(column) for column in zip(*pairs, strict=True))
        more = statistics.median(b - a for a, b in pairs) * 1000
        named = "wall time" if kind == "seconds" else "processor time"
        print(f"  {named}: plain words {without:.3f} s, claims {with_claims:.3f} s, {more:.0f} ms more")


def main() -> None:
    """Print both times and their difference."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--claims", type=int, default=200)
    parser.add_argument("--times", type=int, default=9)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain = report(Path(folder, "plain"), asked.claims, bound=False)
        bound = report(Path(folder, "bound"), asked.claims, bound=True)
        print(f"{asked.claims} claims, another page changed:")
        tell(plain, bound, "other.md", asked.times)
        print("the page with the claims changed:")
        tell(plain, bound, "index.md", asked.times)


if __name__ == "__main__":
    main()
