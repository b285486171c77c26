"""A proof that no run has two rows of one step, so that the costly search for the last one can be skipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from reportgen.statistics.groups import Group, as_floats

if TYPE_CHECKING:
    from collections.abc import Sequence

# Slots that share a mark; their powers of two add up exactly in a float64.
_MARKS = 48


class Extent(NamedTuple):
    """One metric of one run: its finite rows, first and last step, and largest absolute numbers."""

    group: Group
    finite: int
    first_step: float
    last_step: float
    largest: dict[str, float]


def has_unique_steps(rows: nw.LazyFrame[Any], extents: Sequence[Extent]) -> bool:
    """Whether it is certain that no run has two rows of one step; False where it cannot be told cheaply.

    Steps are put in slots half as wide as the closest run's mean spacing. Each row adds 2^slot to the
    mark of its run and of 48 neighbouring slots. If every slot is used at most once, a mark has as many
    one bits as rows; equal terms would carry and leave fewer. So equality proves that all slots, and
    hence all steps, differ. It costs a grouping with rows / 24 groups instead of one with a group a row.

    Args:
        rows: columns ``series, run, step`` with finite steps.
        extents: one a run.
    """
    spacings = [
        (extent.last_step - extent.first_step) / (extent.finite - 1)
        for extent in extents
        if extent.finite > 1
    ]
    if not spacings or min(spacings) <= 0:
        return not spacings
    start = min(extent.first_step for extent in extents if extent.finite)
    slots = rows.select(
        "series", "run", slot=((nw.col("step") - start) / (min(spacings) / 2)).floor()
    ).with_columns(block=(nw.col("slot") / _MARKS).floor())
    marks = slots.group_by("series", "run", "block").agg(
        nw.len().alias("rows"), (2.0 ** (nw.col("slot") - nw.col("block") * _MARKS)).sum().alias("mark")
    )
    fetched = marks.select("rows", "mark").to_native().fetchnumpy()
    mark = as_floats(fetched["mark"])
    whole = (mark < 2.0**_MARKS) & (mark == np.floor(mark))
    bits = np.bitwise_count(np.where(whole, mark, 0).astype(np.int64))
    return bool(np.all(whole & (bits == np.asarray(fetched["rows"]))))
