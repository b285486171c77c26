"""The facts that an author can use in statements: their names, parameters and meanings."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, TypeAlias

from msgspec import Struct

from reportgen.core.statements import Quantity

Held: TypeAlias = Literal["curves", "scores"]  # content of a subject, which determines its facts


class ParameterKind(StrEnum):
    """Kind of a fact's parameter."""

    SERIES = "series"
    STEP = "step"
    LEVEL = "level"
    MARGIN = "margin"
    COUNT = "count"
    METRIC = "metric"


class Parameter(Struct, frozen=True):
    """One parameter of a fact, with its name in lists of facts."""

    name: str
    kind: ParameterKind


class FactKind(Struct, frozen=True):
    """A fact that an author can use."""

    name: str  # as it is written in expressions
    holds: frozenset[Held]  # content of subjects with this fact
    parameters: tuple[Parameter, ...]  # in order; series first
    quantity: Quantity
    says: str  # its meaning, one sentence; ``s``, ``a``, ``b``, ``x`` are the parameters
    instead: str = ""  # for an old name, what to write instead, a phrase; lists omit such a fact
    optional: int = 0  # number of parameters at the end that can be left out, all together

    @property
    def signature(self) -> str:
        """Its notation: ``at(s, x)``."""
        return f"{self.name}({', '.join(parameter.name for parameter in self.parameters)})"


_KINDS = dict.fromkeys(("x", "from", "to"), ParameterKind.STEP)
_KINDS |= {"level": ParameterKind.LEVEL, "margin": ParameterKind.MARGIN}
_KINDS |= {"count": ParameterKind.COUNT, "metric": ParameterKind.METRIC}
# Notation, kind of number and meaning of each fact; on curves all refer to the mean curve, unsmoothed and
# unbinned. A line that begins with a space continues the one before.
_OF_CURVES = """
start(s): value: The first value of the mean curve.
final(s): value: The last value of the mean curve.
peak(s): value: The best value: the highest, or the lowest where lower is better; the highest where neither
 is.
peak_step(s): step: The first step that has the best value.
trough(s): value: The worst value: the lowest, or the highest where lower is better; the lowest where neither
 is.
trough_step(s): step: The first step that has the worst value.
at(s, x): value: The value at step x, interpolated between the steps around it.
mean(s, from, to): value: The mean of the curve from one step to another; without steps, that of the runs'
 means over all their steps.
last(s, count): value: The mean of the last readings of each run, averaged over runs.
best_by(s, metric): value: The value at the step of each run at which another metric is best, averaged over
 runs; the metric is picked by its better direction, or by 'lowest NAME' or 'highest NAME'.
sd(s): difference: The standard deviation across runs at the last step.
n(s): number: The number of runs at the last step.
steps_to(s, level): step: The step at which the curve first reaches the level, interpolated.
gap(a, b, x): difference: The value of a minus that of b at step x.
widest_gap(a, b): difference: The largest distance between the two curves.
widest_gap_step(a, b): step: The step at which the two are furthest apart.
crossings(a, b): number: How often the lead changes between the two.
volatility(s): difference: The standard deviation of the changes from step to step, with the trend taken out.
band_width(s, x): difference: The width of the band at step x.
attempts(s): number: The number of attempts of the search that a ladder shows, without repetitions.
best_of(s): value: The value of its best attempt, picked from all of them.
noise(s): difference: The standard deviation between repetitions of its attempts.
gain(s): difference: How much better its best attempt is than the first one; of two or more later repetitions
 of the best attempt, their mean.
beyond_luck(s): truth: True where the gain is more than the best of as many equal attempts would show in 95%
 of searches or, of later repetitions, where its interval is above 0.
"""
_OF_SCORES = """
score(s): value: The score, as the table shows it.
low(s): value: The lower end of the score's confidence interval.
high(s): value: The upper end of the score's confidence interval.
missing(s): number: The number of answers that are left out, where statuses of answers are known.
infrastructure(s): number: The number of those that infrastructure errors cost.
lower_bound(s): value: The score if every answer that is left out had the lowest possible score.
upper_bound(s): value: The score if every answer that is left out had the highest possible score.
rank(s): number: The place in the order of scores, from 1 for the best.
best_rank(s): number: The best rank that the verdicts of all pairs allow.
worst_rank(s): number: The worst rank that the verdicts of all pairs allow.
group(s): number: The group, from 1 for the best; its series are better than all series of the groups below.
tier(s): number: An old name of group.
difference(a, b): difference: The score of a minus that of b on shared problems.
flips(a, b): number: The number of problems that are mostly right for a and mostly wrong for b.
"""
_OF_BOTH = """
p_value(a, b): probability: The p value of the difference, adjusted for all pairs: Welch's t test over runs at
 the last step that both have, or a sign-flip test over shared problems.
better(a, b): truth: True where a is better, with an adjusted p below 0.05 and an interval of the difference
 without 0.
unclear(a, b): truth: True where neither is better in that sense; that does not make them equal.
equivalent(a, b, margin): truth: True where the difference is smaller than the margin: its 90% interval lies
 between −margin and +margin (two one-sided tests at 5%).
tied(a, b): truth: An old name of unclear; it cannot be decided where the interval of the difference
 excludes 0.
"""
_OPTIONAL = {"mean": 2}
_INSTEAD = {
    "tier": "group(s), best_rank(s) or worst_rank(s)",
    "tied": "unclear(a, b), or equivalent(a, b, margin) for two that are equal within a margin",
}


def _list_kinds(table: str, *holds: Held) -> list[FactKind]:
    kinds = []
    for row in table.replace("\n ", " ").strip().split("\n"):
        signature, quantity, says = row.split(": ", 2)
        name, _, rest = signature.removesuffix(")").partition("(")
        parameters = tuple(Parameter(one, _KINDS.get(one, ParameterKind.SERIES)) for one in rest.split(", "))
        old = _INSTEAD.get(name, ""), _OPTIONAL.get(name, 0)
        kinds.append(FactKind(name, frozenset(holds), parameters, Quantity(quantity), says, *old))
    return kinds


_ALL = [
    *_list_kinds(_OF_CURVES, "curves"),
    *_list_kinds(_OF_SCORES, "scores"),
    *_list_kinds(_OF_BOTH, "curves", "scores"),
]

# Every fact by its name, with old names, in the order of lists.
FACTS: dict[str, FactKind] = {fact.name: fact for fact in _ALL}


def list_fact_kinds(holds: Held) -> tuple[FactKind, ...]:
    """Return the facts for curves or for scores, without old names, in the order of lists."""
    return tuple(fact for fact in FACTS.values() if holds in fact.holds and not fact.instead)


_GRAMMAR = """\
expression = conjunction { "or" conjunction } ;
conjunction = condition { "and" condition } ;
condition = "not" condition | sum { comparison sum } ;
comparison = "<" | "<=" | "≤" | ">" | ">=" | "≥" | "=" | "==" | "!=" | "≠" ;
sum = product { ( "+" | "-" | "−" ) product } ;
product = signed { ( "*" | "×" | "/" ) signed } ;
signed = { "-" | "−" } atom ;
atom = number [ "%" ] | fact | name | "(" expression ")" ;
name = word | "'" { character | "''" } "'" | '"' { character | '""' } '"' ;
word = letter { letter | digit | "." } { "-" ( letter | digit ) { letter | digit | "." } } ;
number = ( digits [ "." { digit } ] | "." digits ) [ ( "e" | "E" ) [ "+" | "-" ] digits ] ;
digits = digit { digit } ;
(* a letter may be "_"; an expression that is a step may be a date in quotes *)
"""


def write_grammar() -> str:
    """Return the grammar of values and claims in EBNF (ISO 14977), with each fact and its parameters."""
    calls = []
    for fact in (one for one in FACTS.values() if not one.instead):
        written = []
        for at, parameter in enumerate(fact.parameters):
            is_name = parameter.kind in {ParameterKind.SERIES, ParameterKind.METRIC}
            comma = '"," ' if at else ""
            written.append(comma + ("name" if is_name else "expression"))
        most = len(written) - fact.optional
        optional = f" [ {' '.join(written[most:])} ]" if fact.optional else ""
        calls.append(f'"{fact.name}" "(" {" ".join(written[:most])}{optional} ")"')
    alternatives = "\n     | ".join(calls)
    return f"{_GRAMMAR}fact = {alternatives} ;\n"
