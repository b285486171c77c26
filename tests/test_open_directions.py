"""Names of metrics that may be better either way: no way is guessed."""

from __future__ import annotations

import pytest

from reportgen.core.directions import EITHER_WAY, Direction, find_direction, guess_direction


@pytest.mark.parametrize(
    "name",
    [
        *("time_to_accuracy", "steps_to_accuracy", "timeToAccuracy", "time to 90% accuracy", "time_to_loss"),
        *("steps_to_first_success", "crps_score", "anomaly_score", "risk_score", "cost_score", "cost_return"),
        *("attack_success_rate", "jailbreak/success_rate/mean", "no_error_rate", "non_toxicity", "no_match"),
    ],
)
def test_what_may_be_better_either_way_is_not_guessed(name: str) -> None:
    """Not even where a benchmark is ranked by it."""
    assert find_direction(name) is None
    assert find_direction(name, ranks=True) is None


@pytest.mark.parametrize("word", sorted(EITHER_WAY))
def test_a_word_that_leaves_it_open_counts_before_general_names_only(word: str) -> None:
    """An accuracy is one, whatever it is of."""
    for name in ("score", "reward", "return", "success", "success_rate"):
        assert guess_direction(f"{word}_{name}") is Direction.NEITHER
    assert guess_direction(f"{word}_accuracy") is Direction.HIGHER
    assert guess_direction(f"{word}_error") is Direction.LOWER
