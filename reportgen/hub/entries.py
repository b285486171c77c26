"""A hub and its reports, by team and by benchmark."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.hub.comparing import compare_scores, group_scores

if TYPE_CHECKING:
    from reportgen.hub.comparing import BenchmarkScores
    from reportgen.hub.reading import Summary
    from reportgen.settings.hub import HubSettings

FOLDER: Final = "r"
VERSIONS: Final = "v"
_UNPLAIN: Final = re.compile("[^a-z0-9]+")
_LONGEST_SLUG: Final = 60


class HubEntry(Struct, frozen=True):
    """A report as a hub shows it; ``summary`` is None if it was never published.

    ``problem`` says why the present one is not shown, and ``versions`` are those that stay, newest first.
    """

    name: str
    team: str
    summary: Summary | None
    versions: tuple[str, ...] = ()
    problem: str = ""

    @property
    def folder(self) -> str:
        """Its folder, from the root of the hub."""
        return f"{FOLDER}/{self.name}/"


class Hub(Struct, frozen=True, dict=True):
    """A hub and its reports in the order of their names."""

    settings: HubSettings
    entries: tuple[HubEntry, ...]

    @cached_property
    def published(self) -> dict[str, Summary]:
        """What is known of the reports that have a folder, by name."""
        return {one.name: one.summary for one in self.entries if one.summary}

    @cached_property
    def newest(self) -> tuple[HubEntry, ...]:
        """Published reports, the newest first."""
        known = (one for one in self.entries if one.summary)
        return tuple(sorted(known, key=lambda one: self.published[one.name].date, reverse=True))

    @cached_property
    def teams(self) -> dict[str, list[HubEntry]]:
        """Published reports by team, the newest first; those without a team come last, under ""."""
        found = defaultdict(list)
        for one in self.newest:
            found[one.team].append(one)
        return {team: found[team] for team in sorted(found, key=lambda one: (not one, one.casefold(), one))}

    @cached_property
    def benchmarks(self) -> dict[str, list[HubEntry]]:
        """Published reports by benchmark, the newest first; what most reports have comes first."""
        found = defaultdict(list)
        for one in self.newest:
            for name in self.published[one.name].benchmark_names:
                found[name].append(one)
        order = sorted(found, key=lambda one: (-len(found[one]), one.casefold(), one))
        return {name: found[name] for name in order}

    @cached_property
    def scores(self) -> dict[str, BenchmarkScores]:
        """What is compared, by benchmark."""
        grouped = group_scores(self.published)
        return {name: compare_scores(grouped.get(name, {})) for name in self.benchmarks}

    @cached_property
    def addresses(self) -> dict[tuple[str, str], str]:
        """The addresses of the pages of teams and benchmarks."""
        found = {}
        for kind, names in (("team", self.teams), ("benchmark", self.benchmarks)):
            taken = set[str]()
            for name in sorted(names):
                address = f"{kind}-{_make_slug(name)}.html"
                if address in taken:
                    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
                    address = f"{kind}-{_make_slug(name)}-{digest}.html"
                taken.add(address)
                found[kind, name] = address
        return found


def _make_slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    slug = _UNPLAIN.sub("-", plain).strip("-")[:_LONGEST_SLUG].strip("-")
    return slug or ("none" if not name else hashlib.sha256(name.encode()).hexdigest()[:8])
