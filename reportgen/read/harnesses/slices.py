"""What problems can be grouped by: of all that is said of them, what only a few of them share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reportgen.read.harnesses.documents import as_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_LONGEST_GROUP: Final = 60
_MOST_GROUPS: Final = 50
_LEAST_GROUPS: Final = 2
_MOST_KEYS: Final = 20


def find_slices(
    said: Sequence[Mapping[str, Any]], hidden: frozenset[str] = frozenset()
) -> list[dict[str, str]]:
    """For each problem the keys that group it, such as ``subject`` and ``level``.

    A key groups if its values are short words, whole numbers or truth values, if there are 2 to 50 of them,
    and if at least half of the problems share theirs with another: ids and questions do not, and neither does
    the right answer, which callers hide.

    Args:
        said: what is said of each problem, by key.
        hidden: keys that never group.
    """
    values: dict[str, dict[str, int]] = {}
    spoilt = set(hidden)
    for one in said:
        for key, value in one.items():
            if key in spoilt:
                continue
            text = _name_group(value)
            counts = values.setdefault(key, {})
            if text is None or (text not in counts and len(counts) == _MOST_GROUPS):
                spoilt.add(key)
            elif text:
                counts[text] = counts.get(text, 0) + 1
    keys = [key for key in values if key not in spoilt and _is_grouping(values[key])][:_MOST_KEYS]
    names = {key: as_word(key) for key in keys}
    return [{names[key]: text for key in keys if (text := _name_group(one.get(key)))} for one in said]


def select_group_fields(said: Mapping[str, Any]) -> dict[str, Any]:
    """What something may be grouped by; a long text or a list stands as what never groups, and is gone."""
    return {
        key: value
        if value is None or (isinstance(value, str | int | float) and len(str(value)) <= _LONGEST_GROUP)
        else ()
        for key, value in said.items()
    }


def _is_grouping(counts: Mapping[str, int]) -> bool:
    alone = sum(count == 1 for count in counts.values())
    return len(counts) >= _LEAST_GROUPS and alone * 2 <= sum(counts.values())


def _name_group(value: object) -> str | None:
    """A value as the name of a group: empty where it is missing, None where no such value groups."""
    if value is None:
        return ""
    if isinstance(value, float) and not value.is_integer():
        return None
    if not isinstance(value, str | int | float):
        return None
    text = as_word(value)
    return text if len(text) <= _LONGEST_GROUP else None
