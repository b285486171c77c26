"""How often differences are found, beside the power that is stated of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulated.power import ALONE, FAMILIES, OTHER_FAMILIES, OTHERS_ALONE, measure_power
from simulation import Row, Setting, Task, estimate_error

if TYPE_CHECKING:
    from simulated.answers import Field

_ALONE, _IN_FAMILIES = {True: 250, False: 100}, {True: 120, False: 40}


def plan(setting: Setting) -> list[Row]:
    """Return the rows of what, measured, and what it must be."""
    alone, families = (OTHERS_ALONE, OTHER_FAMILIES) if setting.is_other else (ALONE, FAMILIES)
    return [
        _plan_row("two models alone", alone, _ALONE[setting.full], setting),
        _plan_row("a pair in its family", families, _IN_FAMILIES[setting.full], setting),
    ]


def _plan_row(what: str, fields: list[Field], times: int, setting: Setting) -> Row:
    error = 100 * estimate_error(0.5, times)
    return Row(
        f"power stated less power simulated, {what}, {len(fields)} laws",
        "±5 points",
        [Task(measure, (setting, field, times)) for field in fields],
        lambda apart: f"{min(apart):+.1f} to {max(apart):+.1f} points (each ± {error:.1f})",
    )


def measure(setting: Setting, field: Field, times: int) -> float:
    """Return how many points the stated power of one law is above the simulated one."""
    return 100 * measure_power(field, times, setting.make_rng("power", field))
