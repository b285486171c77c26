"""The rules there are, by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from reportgen.observations.field import Field
from reportgen.statements import Observation

if TYPE_CHECKING:
    from reportgen.settings.observation_blocks import Rule

FieldRule: TypeAlias = Callable[[Field], Iterator[Observation]]

RULES: dict[Rule, FieldRule] = {}
"""A rule looks at the curves of one metric and yields what it finds, strongest first or in no order."""
