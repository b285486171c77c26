"""Folders of Stable-Baselines3: ``monitor.csv`` with a row an episode, and ``progress.csv``.

Schema: DLR-RM/stable-baselines3, stable_baselines3/common/monitor.py: the first line is ``#`` with a JSON
object that has ``t_start`` and ``env_id``, then a table with ``r`` (return), ``l`` (length), ``t`` (seconds
since ``t_start``) and keywords of the user's. ``load_results`` there puts the files of several environments,
``0.monitor.csv`` and so on, in the order of time; the step of an episode is the number of steps so far in
all, as in ``ts2xy`` of common/results_plotter.py. common/logger.py, class ``CSVOutputFormat``, writes
``progress.csv`` with ``time/total_timesteps`` as the step.
"""

from __future__ import annotations

import csv
import math
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reportgen.formats.decode import Count, Decoder, check_filled, read_head
from reportgen.formats.json_files import parse_object
from reportgen.formats.layout import RUN_SETTINGS
from reportgen.formats.run_data import MetricsBuilder, number_or_nan, parse_number_text, read_settings
from reportgen.formats.runs import LoggedRun, Unit, UnreadableError
from reportgen.formats.trackers.metrics_csv import parse_header, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from reportgen.core.errors import Diagnostic
    from reportgen.formats.runs import Setting


_MONITOR: Final = "monitor.csv"
_PROGRESS: Final = "progress.csv"
_STEP: Final = "time/total_timesteps"
_HEADER: Final = re.compile(r'#\s*\{[^\n]*"t_start"')
_RETURN, _LENGTH, _TIME = "r", "l", "t"


def find(files: Sequence[Path]) -> tuple[Unit, ...]:
    """Return folders with a log of Stable-Baselines3, each with the settings in or directly below it."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    for file in files:
        if file.name.endswith(_MONITOR) and _HEADER.match(read_head(file).decode(errors="replace")):
            folders[file.parent].append(file)
        elif file.name == _PROGRESS:
            head = read_head(file, 64 << 10).decode(errors="replace")
            if _STEP in parse_header(head)[0]:
                folders[file.parent].append(file)
    settings = [file for file in files if RUN_SETTINGS.fullmatch(file.name)]
    return tuple(
        Unit(folder, (*own, *(one for one in settings if folder in one.parents[:2])))
        for folder, own in folders.items()
    )


def read(unit: Unit) -> Iterator[LoggedRun]:
    """Yield the run of a folder, with the episodes of all its environments."""
    builder = MetricsBuilder(unit.files[0], unit.selected, timed=True)
    config: dict[str, Setting] = {}
    findings: list[Diagnostic] = []
    episodes: list[tuple[float, dict[str, str]]] = []
    for file in unit.files:
        if RUN_SETTINGS.fullmatch(file.name):
            settings, more = read_settings(file)
            config |= settings
            findings += more
        elif file.name == _PROGRESS:
            findings += read_rows(file, builder, (_STEP,))[1]
        else:
            environment, rows, problems = _read_monitor(file)
            config = {**({"env_id": environment} if environment else {}), **config}
            episodes += rows
            findings += problems
    steps = 0.0
    for time, cells in sorted(episodes, key=lambda one: one[0]):
        length = parse_number_text(cells.get(_LENGTH, ""))
        steps = math.nan if length is None else steps + length
        for name, cell in cells.items():
            if name != _TIME:
                builder.add_cell(name, steps, cell or None, time)
    findings += builder.list_findings()
    yield LoggedRun(unit.path, "", "", "", config, builder.build(), "timesteps", tuple(findings))


def _read_monitor(path: Path) -> tuple[str, list[tuple[float, dict[str, str]]], list[Diagnostic]]:
    """Return the environment, the episodes with their times in milliseconds since 1970, and findings."""
    decoding, strange = Decoder(path), Count()
    lines = decoding.read_lines()
    first = next(lines, (1, ""))[1]
    header = parse_object(first.removeprefix("#"))
    columns = next(lines, (2, ""))[1].split(",")
    if header is None or not {_RETURN, _LENGTH, _TIME} <= {*columns}:
        check_filled(path)
        message = "its first lines are not those of a monitor: # with a JSON object, then r,l,t"
        raise UnreadableError(path, message, "Check that Stable-Baselines3 wrote this file", 1)
    begin = number_or_nan(header.get("t_start"))
    episodes = []
    for number, line in lines:
        cells = next(csv.reader([line.replace("\r", "")]), [])
        row = dict(zip(columns, cells, strict=False))
        if len(cells) != len(columns) or parse_number_text(row[_LENGTH]) is None:
            strange.add(number)
            continue
        time = 1000 * (begin + number_or_nan(row[_TIME]))
        episodes.append((time if math.isfinite(time) else math.inf, row))
    message = " that is no whole episode: left out"
    findings = [*strange.describe(path, "row", "rows", message), *decoding.list_findings()]
    env = header.get("env_id")
    return (env if isinstance(env, str) else ""), episodes, findings
