"""Describes a file or folder, and suggests a ``source.yml`` and a block to paste for it."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

from reportgen.core.errors import Diagnostic, Severity, SourceLocation, Stage
from reportgen.core.statements import Description
from reportgen.core.words import quote_names
from reportgen.settings.loading import load_source_settings
from reportgen.settings.yaml_tree import write_yaml

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reportgen.core.cache import Cache
    from reportgen.core.repository import Boundary
    from reportgen.core.statements import DescribedMetric


# What a report is most often about, by a word of a metric: a score, then a loss, best on held-out data.
_SCORE: Final = re.compile(
    "acc|accuracy|accuracies|pass@.*|exact|f1|scores?|rewards?|rew|returns?|success", re.IGNORECASE
)
_LOSS: Final = re.compile("loss|nll|perplexity|ppl", re.IGNORECASE)
_HELD_OUT: Final = re.compile("val|valid|validation|eval|test|dev", re.IGNORECASE)
# What is said of a machine, of time or of extremes is seldom what a report is about.
_ASIDE: Final = re.compile(
    "system|perf|time|timing|runtime|memory|gpu|grad|lr|learning|std|stderr|min|max|n|epoch|_?step",
    re.IGNORECASE,
)
# What W&B's reader finds of ``define_metric``.
_DRAWN: Final = re.compile(r'^the run draws (?P<names>".+") over ".*"x: (?P<axis>[^"]+)" in a block')
_QUOTED: Final = re.compile('"([^"]+)"')
_WORDS: Final = re.compile(r"[^A-Za-z0-9@]+")


def describe_path(
    path: Path,
    root: Path,
    name: str,
    hashes: Callable[[Path], str],
    cache: Cache | None,
    *,
    boundary: Boundary | None = None,
) -> Description:
    """Describe a file or folder; what is wrong with it is among its problems.

    Args:
        path: the file or folder, which is there.
        root: what the paths in the description are relative to.
        name: what blocks call it; empty for the name of the file or folder.
        hashes: SHA-256 of a file in hex.
        cache: what was read and counted before; None where nothing is stored.
        boundary: where links in it may lead; anywhere if None.
    """
    from reportgen.read.describe.describe import DescribeContext, describe  # noqa: PLC0415 - imports the database

    return describe(path, root, name, DescribeContext(load_source_settings, hashes, cache, boundary))


def describe_data_folder(
    path: Path, root: Path, data_dir: str, boundary: Boundary | None = None
) -> Description:
    """The data folder of a report described: it is no source, but holds some.

    Raises:
        ReportError: two sources have the same name.
    """
    from reportgen.read import find_sources  # noqa: PLC0415 - imports the database
    from reportgen.read.unread import report_links  # noqa: PLC0415 - as above

    outward: dict[Path, str] = {}
    found = find_sources(root, data_dir, boundary, outward)
    # Folders of a folder can be named, too, but they are parts of it.
    names = [name for name in found if "/" not in name]
    message = f"it holds {quote_names(names, most=40)}" if names else "it holds no source yet"
    advice = f"Describe one of them, as in reportgen describe {data_dir}/{names[0]}" if names else ""
    problem = Diagnostic(SourceLocation(data_dir), message, advice, Stage.DATA, Severity.WARNING)
    return Description(
        data_dir, path.name, problems=(problem, *report_links(outward, root, Severity.WARNING))
    )


def suggest_settings(description: Description) -> str:
    """A ``source.yml`` with the keys that are worth writing; empty where none is."""
    return write_yaml(description.settings)


def suggest_repetitions(description: Description) -> str:
    """The same, with series that only a number tells apart as runs of one; empty where there are none."""
    settings = {
        key: value for key, value in description.settings.items() if key not in {"series_from", "seed_from"}
    }
    return write_yaml({**settings, **description.repetitions}) if description.repetitions else ""


def suggest_clusters(description: Description) -> str:
    """The same, with a column that may hold clusters of problems; empty where there is none."""
    if not description.clusters:
        return ""
    columns = description.settings.get("columns")
    columns = {**(columns if isinstance(columns, dict) else {}), **description.clusters}
    return write_yaml({**description.settings, "columns": columns})


def suggest_block(description: Description) -> str:
    """A fenced block that shows the source; empty where there is nothing to show."""
    if description.kind in {"outcomes", "totals"}:
        named = {"benchmark": description.benchmarks[0]} if len(description.benchmarks) > 1 else {}
        return _format_block("scores", {"source": description.name, **named})
    metric = choose_metric(description.counts.metrics)
    return (
        _format_block(
            "curve", {"source": description.name, "metric": metric.name, **_find_axis(description, metric)}
        )
        if metric
        else ""
    )


def _find_axis(description: Description, metric: DescribedMetric) -> dict[str, object]:
    """What the runs themselves draw a metric over, where all of them that have the metric have that, too."""
    found = (_DRAWN.search(problem.message) for problem in description.problems)
    axes = {
        one["axis"]
        for one in found
        if one and any(fnmatchcase(metric.name, name) for name in _QUOTED.findall(one["names"]))
    }
    for axis in axes if len(axes) == 1 else ():
        if axis == "time" or any(
            one.name == axis and one.runs >= metric.runs for one in description.counts.metrics
        ):
            return {"x": axis}
    return {}


def choose_metric(metrics: tuple[DescribedMetric, ...]) -> DescribedMetric | None:
    """The metric that a report is most likely about; None where none can be drawn."""
    drawn = [metric for metric in metrics if metric.low is not None and metric.first is not None]
    # Of what was measured once at the end of each run there is no curve.
    curves = [one for one in drawn if one.values > one.runs and one.first != one.last] or drawn
    return min(curves, key=lambda metric: _rank(metric.name), default=None)


def _rank(name: str) -> tuple[bool, bool, bool, bool]:
    """How far a metric is from what a report is about; the least is the nearest."""
    words = _WORDS.split(name)
    aside, score, loss, held_out = (
        any(pattern.fullmatch(word) for word in words) for pattern in (_ASIDE, _SCORE, _LOSS, _HELD_OUT)
    )
    return aside, not score, not loss, not held_out


def _format_block(kind: str, body: dict[str, object]) -> str:
    return f"```{kind}\n{write_yaml(body)}```\n"
