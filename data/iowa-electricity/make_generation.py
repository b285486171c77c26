# noqa: INP001 - a script kept beside the data it makes, not a package
"""Copy ``generation.csv`` unchanged out of the vega-datasets package.

Run it from anywhere: ``python data/iowa-electricity/make_generation.py``.
"""

from __future__ import annotations

from pathlib import Path

from vega_datasets import local_data


def main() -> None:
    """Write ``generation.csv`` beside this file."""
    original = Path(local_data.iowa_electricity.filepath).read_bytes()
    (Path(__file__).parent / "generation.csv").write_bytes(original.replace(b"\r\n", b"\n"))


if __name__ == "__main__":
    main()
