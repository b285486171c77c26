"""What ``describe`` counts is what the page shows, nothing from a sample; and no setting becomes a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from made_sources import Data

import reportgen as rg
from reportgen.core.cache import Cache, FileHashes
from reportgen.draft import describing

if TYPE_CHECKING:
    from pathlib import Path

    from reportgen.core.statements import Description

SERIES = 400
ROWS = 60


def described(data: Data, name: str) -> Description:
    """A source, as it is told the second time, from the cache."""
    cache, hashes = Cache(data.root / ".kept"), FileHashes(data.root / ".kept")
    path = data.root / "data" / name
    told = describing.describe_path(path, data.root, "s", hashes, cache)
    assert describing.describe_path(path, data.root, "s", hashes, cache) == told
    return told


def test_every_series_of_a_long_file_is_counted(tmp_path: Path) -> None:
    """Also those that a sample of the rows does not meet, and metrics that few rows have."""
    data = Data(tmp_path)
    names = [f"series {place:04}" for place in range(SERIES)]
    data.write(
        "wide.csv",
        "model,step,loss\n" + "".join(f"{name},{step},1\n" for name in names for step in range(ROWS)),
    )
    rows = [f"{name},{step},loss,1\n" for name in names for step in range(ROWS)]
    rows.insert(len(rows) * 2 // 3 + 7, "series 0007,0,once,1\n")
    data.write("long.csv", "model,step,metric,value\n" + "".join(rows))
    for name in ("wide.csv", "long.csv"):
        told = described(data, name)
        assert told.series == tuple(names)
        assert len(told.counts.runs) == SERIES
    assert {one.name: one.values for one in told.counts.metrics} == {"loss": SERIES * ROWS, "once": 1}


def test_the_mean_is_that_of_the_page(tmp_path: Path) -> None:
    """Over problems, of each over its samples; of a sample that was written twice the last score counts."""
    data = Data(tmp_path)
    cells = ("p,0,1", "p,1,1", "p,2,1", "p,2,0", "q,0,0", "q,1,", "r,0,1", "s,0,0.25")
    data.write("a.csv", "problem,sample,correct\n" + "".join(f"{cell}\n" for cell in cells))
    told = described(data, "a.csv")
    (evaluation,) = told.counts.evaluations
    assert evaluation.mean == pytest.approx((2 / 3 + 0 + 1 + 0.25) / 4)
    (score,) = rg.scores(rg.read(tmp_path / "data/a.csv"))["estimate"]
    assert evaluation.mean == pytest.approx(score)


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        ("model,train_tokens,max_iters,loss", ["A,1,7,3", "A,2,7,2", "B,1,8,3", "B,2,8,2"], "train_tokens"),
        ("model,env_cfg.step_count,loss", ["A,7,3", "A,7,2", "B,8,1"], None),
        ("model,max_iters,loss", ["A,1,3", "A,2,2", "B,1,1", "B,2,1"], None),
        (
            "datetime_start,sys/creation_time,score",
            ["2026-01-01,2026-01-01,1", "2026-01-02,2026-01-02,2"],
            None,
        ),
        ("model,logged date,loss", ["A,2026-01-01,3", "A,2026-01-02,2"], None),
        ("model,logged time,loss", ["A,2026-01-01 10:00,3", "A,2026-01-01 10:05,2"], None),
        ("timestamp,model,loss", ["1767225600,A,3", "1767225660,A,2"], None),
        ("model,num_samples,loss", ["A,512,3", "A,512,2", "A,512,1"], None),
        ("model,sample_time,loss", ["A,0.5,3", "A,0.2,2", "A,0.4,1", "A,0.1,1"], None),
        ("model,round,loss", ["A,1,3", "B,1,3", "A,2,2", "B,2,1"], "round"),
    ],
)
def test_a_step_is_suggested_only_if_it_goes_up(
    tmp_path: Path, header: str, rows: list[str], expected: str | None
) -> None:
    """No setting, no date of a run, nothing that stands still within a run; and it is said to be a guess."""
    data = Data(tmp_path)
    data.write("a.csv", "\n".join([header, *rows, ""]))
    told = described(data, "a.csv")
    assert told.settings == ({"columns": {"step": expected}} if expected else {})
    (*unsure,) = (str(one) for one in told.problems if "may be the step" in one.message)
    message = (
        f'data/a.csv: no column has the usual name of a step; "{expected}" never decreases within a run and '
        "may be the step. "
        "If so, write it into data/a.source.yml as below; otherwise name another column there."
    )
    assert unsure == ([message] if expected else [])
