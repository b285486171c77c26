"""The rules there are, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from reportgen.observations.best import observe_best
from reportgen.observations.converge import observe_convergence
from reportgen.observations.crossing import observe_crossing
from reportgen.observations.declines import observe_late_decline
from reportgen.observations.dips import observe_dips, observe_spikes
from reportgen.observations.field import Field
from reportgen.observations.instability import observe_instability
from reportgen.observations.plateaus import observe_plateaus
from reportgen.observations.rises import observe_rises
from reportgen.observations.same_start import observe_same_start
from reportgen.observations.steady import observe_steady
from reportgen.observations.tiers import observe_tiers
from reportgen.observations.uncertain import observe_uncertainty
from reportgen.observations.widest_gap import observe_widest_gap
from reportgen.settings.observation_blocks import Rule
from reportgen.statements import Observation

FieldRule: TypeAlias = Callable[[Field], Iterator[Observation]]

RULES: dict[Rule, FieldRule] = {
    Rule.SAME_START: observe_same_start,
    Rule.BEST: observe_best,
    Rule.RISE: observe_rises,
    Rule.PLATEAU: observe_plateaus,
    Rule.STEADY: observe_steady,
    Rule.DIP: observe_dips,
    Rule.SPIKE: observe_spikes,
    Rule.LATE_DECLINE: observe_late_decline,
    Rule.CROSSING: observe_crossing,
    Rule.WIDEST_GAP: observe_widest_gap,
    Rule.CONVERGE: observe_convergence,
    Rule.TIERS: observe_tiers,
    Rule.INSTABILITY: observe_instability,
    Rule.UNCERTAIN_HERE: observe_uncertainty,
}
"""Each looks at the curves of one metric and yields what it finds, strongest first or in no order.

``PART_COMPANY`` looks at two metrics and stands apart.
"""
