"""The rules there are, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from reportgen.observations.best import best
from reportgen.observations.converge import converge
from reportgen.observations.crossing import crossing
from reportgen.observations.declines import late_decline
from reportgen.observations.dips import dip, spike
from reportgen.observations.field import Field
from reportgen.observations.instability import instability
from reportgen.observations.plateaus import plateau
from reportgen.observations.rises import rise
from reportgen.observations.same_start import same_start
from reportgen.observations.steady import steady
from reportgen.observations.tiers import tiers
from reportgen.observations.uncertain import uncertain_here
from reportgen.observations.widest_gap import widest_gap
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

FieldRule: TypeAlias = Callable[[Field], Iterator[Observation]]

RULES: dict[Rule, FieldRule] = {
    Rule.SAME_START: same_start,
    Rule.BEST: best,
    Rule.RISE: rise,
    Rule.PLATEAU: plateau,
    Rule.STEADY: steady,
    Rule.DIP: dip,
    Rule.SPIKE: spike,
    Rule.LATE_DECLINE: late_decline,
    Rule.CROSSING: crossing,
    Rule.WIDEST_GAP: widest_gap,
    Rule.CONVERGE: converge,
    Rule.TIERS: tiers,
    Rule.INSTABILITY: instability,
    Rule.UNCERTAIN_HERE: uncertain_here,
}
"""Each looks at the curves of one metric and yields what it finds, strongest first or in no order.

``PART_COMPANY`` looks at two metrics and stands apart.
"""
