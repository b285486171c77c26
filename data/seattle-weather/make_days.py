# noqa: INP001 - a script kept beside the data it makes, not a package
"""Make ``days.csv`` out of the vega-datasets package: the date split into year and day of the year.

Each year can then serve as one run of the same thing, with the day as its step. Nothing else is
changed; 29 February 2012 is left out so that a day of the year is the same date in every year.

Run it from anywhere: ``python data/seattle-weather/make_days.py``.
"""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

from vega_datasets import local_data

KEPT = ("precipitation", "temp_max", "temp_min", "wind")


def main() -> None:
    """Write ``days.csv`` beside this file."""
    here = Path(__file__).parent
    with (
        Path(local_data.seattle_weather.filepath).open(encoding="utf-8", newline="") as original,
        (here / "days.csv").open("w", encoding="utf-8", newline="") as copy,
    ):
        writer = csv.writer(copy, lineterminator="\n")
        writer.writerow(("year", "day", *KEPT))
        for row in csv.DictReader(original):
            year, month, day = (int(part) for part in row["date"].split("/"))
            if (month, day) != (2, 29):
                of_year = (date(2015, month, day) - date(2014, 12, 31)).days
                writer.writerow((year, of_year, *(row[name] for name in KEPT)))


if __name__ == "__main__":
    main()
