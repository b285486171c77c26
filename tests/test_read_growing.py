"""Metrics that grow value by value: what is more than a report can hold is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reportgen.formats import run_data
from reportgen.formats.run_data import MetricsBuilder
from reportgen.formats.runs import UnreadableError

LOG = Path("log.jsonl")


def test_too_many_metrics_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one or many values at once; those that nobody wants do not count."""
    monkeypatch.setattr(run_data, "MOST_METRICS", 2)
    all_, some = MetricsBuilder(LOG), MetricsBuilder(LOG, ["c"])
    for name in ("a", "b", "c", "b", "a"):
        some.add(name, 0, 1)
    assert list(some.build()) == ["c"]
    for name in ("a", "b", "a"):
        all_.add(name, 0, 1)
        all_.extend(name, np.array([1.0]), np.array([2.0]))
    with pytest.raises(UnreadableError, match="the run has more than 2 metrics"):
        all_.add("c", 0, 1)
    with pytest.raises(UnreadableError, match="the run has more than 2 metrics") as raised:
        all_.extend("d", np.array([1.0]), np.array([2.0]))
    assert raised.value.path == LOG
