"""What the scores of answers are called: a harness may give several, and figures say which they show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reportgen.read.layout import get_layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reportgen.model import Source


def get_score_names(source: Source) -> Mapping[str, str]:
    """Benchmark to the name of its score, as ``source.yml`` says it or else the harness.

    The name of a benchmark is empty where the data name none. One whose score has no name is left out.
    """
    said, benchmarks = source.settings.score_name, source.benchmarks or ("",)
    given = dict.fromkeys(benchmarks, said) if isinstance(said, str) else said or {}
    named = {**get_layout(source).score_names, **given}
    return {name: named[name] for name in benchmarks if name in named}
