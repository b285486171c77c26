"""Which way a metric is better: by its name where nobody says it, and what is said where no way is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from made_figures import context, curve, curve_set, figure
from msgspec.structs import replace

from reportgen.claims.observations.choosing import observe_curves
from reportgen.claims.observations.field import Field
from reportgen.claims.observations.part_company import observe_part_company
from reportgen.claims.subjects import CurveSubject
from reportgen.core.directions import (
    EITHER_WAY,
    HIGHER,
    LOWER,
    NEITHER,
    Direction,
    find_direction,
    guess_direction,
)
from reportgen.core.model import Run
from reportgen.core.statements import Scale
from reportgen.figures.curves.key_results import summarize_benchmark
from reportgen.settings.block_parts import Rule
from reportgen.settings.report import Benchmark

if TYPE_CHECKING:
    from reportgen.core.model import Curve

OPEN = Scale("entropy", higher_is_better=None)
PRAISE = ("best", "better", "worse", "lead", "ahead", "behind", "overtake", "last throughout")


@pytest.mark.parametrize(
    "name",
    [
        *("loss", "val/loss", "eval_loss", "train-loss", "Loss/train", "train_loss_epoch", "evalLoss"),
        *("Loss/val/total", "loss (EMA)", "box_loss", "word_perplexity,none", "val/ppl", "bits_per_byte"),
        *("error rate", "top1_err", "rmse", "test_WER (%)", "FID", "brier_score", "neg_log_likelihood"),
        *("cross_entropy", "ece", "latency_ms", "some index ↓", "toxicity_score", "validation_0-mlogloss"),
        *(
            "imagenet_v2/loss",
            "imagenet-v2_loss",
            "plan_d/val_loss",
            "image_to_text_loss",
            "cross_entropy_loss",
        ),
    ],
)
def test_of_these_less_is_better(name: str) -> None:
    """Losses, errors and perplexities, whatever stands before and behind the name."""
    assert guess_direction(name) is Direction.LOWER


@pytest.mark.parametrize(
    "name",
    [
        *("accuracy", "val_acc", "acc,none", "acc_norm,none", "Acc@1", "validation score", "mIoU"),
        *("metrics/mAP50-95(B)", "f1_macro", "F1", "rougeL", "rouge1", "bleu4", "roc_auc", "recall@10"),
        *("val-core/openai/gsm8k/acc/mean@8", "critic/rewards/mean", "rollout/ep_rew_mean"),
        *("charts/episodic_return", "rewards/format_reward_func", "pass@1", "pass@k", "pass^4", "avg@16"),
        *("maj@8", "exact_match (strict-match)", "win_rate", "success", "neg_mean_squared_error", "r2"),
        *("f1-score", "roc_auc_score", "negative ELBO ↑", "some index ↑", "rouge_l", "attack/accuracy"),
        *("sim_to_real_success_rate", "no_aug/accuracy", "sound/avg@16"),
    ],
)
def test_of_these_more_is_better(name: str) -> None:
    """Accuracies, scores, rewards; and the negative of an error, as scikit-learn writes it."""
    assert guess_direction(name) is Direction.HIGHER


@pytest.mark.parametrize(
    "name",
    [
        *("policy_loss", "actor/pg_loss", "actor/kl_loss", "actor/entropy_loss", "losses/value_loss"),
        *("train/policy_gradient_loss", "train/clip_fraction", "critic/vf_loss", "qf1_loss", "g_loss"),
        *("load_balancing_loss", "entropy", "actor/ppo_kl", "grad_norm", "learning_rate", "lr"),
        *("losses/q_loss", "losses/mean_q_loss", "train/z_loss", "train_d_loss_epoch", "loss/g_loss/mean"),
        *("response_length/mean", "rollout/ep_len_mean", "reward_std", "rewards/format/std"),
        *("q1_loss", "acc_stderr,none", "policy_log_loss", "policy_cross_entropy_loss", "D/loss"),
        *("epoch", "tokens_per_second", "memory", "kl_div", "gan.g_loss"),
    ],
)
def test_of_these_neither_is_better(name: str) -> None:
    """What training descends on or logs beside quality, and how much a number varies."""
    assert guess_direction(name) in {Direction.NEITHER, None}
    assert find_direction(name) is None


@pytest.mark.parametrize(
    "name", ["net generation (GWh)", "aime24", "value", "loss_scale", "num_turns/mean", ""]
)
def test_a_name_that_says_nothing_is_not_guessed(name: str) -> None:
    """Unless a benchmark is ranked by it: then it measures quality, and more is better."""
    assert guess_direction(name) is None
    assert find_direction(name) is None
    assert find_direction(name, ranks=True) is True


def test_what_is_said_counts_before_the_name() -> None:
    """The first who says something; a benchmark's rank is no word about a loss, nor about an entropy."""
    assert find_direction("loss", None, True, False) is True
    assert find_direction("accuracy", False) is False
    assert find_direction("loss", ranks=True) is False
    assert find_direction("entropy", ranks=True) is None


def test_no_name_stands_in_two_lists() -> None:
    """And all are written as they are looked up."""
    names = [*LOWER, *HIGHER, *NEITHER]
    assert len(names) == len(set(names))
    assert [guess_direction(name) for name in LOWER] == [Direction.LOWER] * len(LOWER)
    assert [guess_direction(name) for name in HIGHER if "@" not in name] == [Direction.HIGHER] * (
        len(HIGHER) - 1
    )
    assert [guess_direction(name) for name in NEITHER] == [Direction.NEITHER] * len(NEITHER)


# ---- where no way is better ---------------------------------------------------------------------


def pair(*, runs: int = 1) -> tuple[Curve, Curve]:
    """Two curves that change places."""
    half = 0.05 if runs > 1 else None
    a = curve("A", [5.0, 5.0, 1.0, 1.0], half=half, runs=runs)
    return a, curve("B", [1.0, 1.0, 5.0, 5.0], half=half, runs=runs)


@pytest.mark.parametrize("runs", [1, 5])
@pytest.mark.parametrize("third", [(), (curve("C", [0.0, 0.2, 0.1, 0.0]),)])
def test_observations_without_praise(runs: int, third: tuple[Curve, ...]) -> None:
    """Highest and lowest, above and below: nobody leads, and nothing is best."""
    found = observe_curves([(curve_set(*pair(runs=runs), *third), OPEN)])
    said = [part for one in found for part in (one.text, *one.evidence, one.threshold, one.label)]
    assert said
    assert not [part for part in said if any(word in part for word in PRAISE)]


def test_who_is_highest_is_told_as_that() -> None:
    """In place of who leads; of two that never change places which one is above."""
    (one,) = observe_curves([(curve_set(*pair()), OPEN)], rules=(Rule.CROSSING,))
    assert one.text == "By the readings alone, A is highest from step 0 to 1, B from step 2 on."
    assert one.evidence[1] == "above by the readings alone: A from step 0 to 1, B from step 2 on"
    above = curve_set(curve("A", [5, 5, 5]), curve("B", [1, 2, 1]))
    (one,) = observe_curves([(above, OPEN)], rules=(Rule.CROSSING,))
    assert one.text == "By the readings alone, A is above B from step 0 on."


def test_both_ends_of_the_range_are_told() -> None:
    """The lowest value as the highest, each under the name that claims have for it; but not a mere start."""
    hump, fall = curve("A", [1.0, 5.0, 0.5]), curve("B", [1.0, 4.0, 3.0])
    high, low = observe_curves([(curve_set(hump, fall), OPEN)], rules=(Rule.BEST,))
    if high.text.startswith("The lowest"):
        high, low = low, high
    assert high.text.startswith("The highest reading is 5, of A at step 1; that of B is 4 at step 1.")
    assert low.text.startswith("The lowest reading is 0.5, of A at step 2; that of B is 1 at step 0.")
    assert "peak(A) = 5 at step 1" in high.evidence
    assert "trough(A) = 0.5 at step 2" in low.evidence
    falling = curve_set(curve("A", [5.0, 2.0, 1.0]), curve("B", [5.0, 3.0, 2.0]))
    (one,) = observe_curves([(falling, OPEN)], rules=(Rule.BEST,))
    assert one.text.startswith("The lowest reading is 1, of A at step 2; that of B is 2 at step 2.")


def test_the_summary_of_a_figure_tells_what_is_not_only_the_start() -> None:
    """The highest entropy of a run that loses all of it says nothing; its lowest does."""
    falling = curve_set(curve("A", [5.0, 2.0, 1.0]), curve("B", [5.0, 3.0, 2.0]), metric="entropy")
    said = figure(falling, context(falling, higher_is_better=None)).summary
    assert said.startswith(
        "At the end (step 2), the highest reading is 2 (B), then 1 (A). A reaches the lowest entropy, "
        "1 at step 2, lowest of 3 checkpoints."
    )
    hump = curve_set(curve("A", [1.0, 5.0, 0.5]), metric="entropy")
    said = figure(hump, context(hump, higher_is_better=None)).summary
    assert said.startswith("A peaks at step 1, with 5.0, highest of 3 checkpoints.")


def test_groups_are_told_from_the_highest() -> None:
    """They have an order, but no best."""
    ends = {"A": 0.92, "B": 0.91, "C": 0.3, "D": 0.29}
    made = curve_set(*(curve(name, [0.0, end]) for name, end in ends.items()))
    (one,) = observe_curves([(made, OPEN)], rules=(Rule.TIERS,))
    assert one.text.startswith("Two groups by the last readings alone, highest first: A (0.92)")


def test_only_a_quality_gets_worse() -> None:
    """An entropy that falls while the reward rises has not; one that moves while the reward falls is told."""
    up, down = curve("A", [0, 1, 2, 3, 4]), curve("A", [4, 3, 2, 1, 0])
    rising, falling = (Field((one,), Scale("reward"), "ci") for one in (up, down))
    for moving, words in ((up, "goes from 0 to 4"), (down, "goes from 4 to 0")):
        entropy = Field((moving,), OPEN, "ci")
        assert not list(observe_part_company([rising, entropy]))
        (one,) = observe_part_company([entropy, falling])
        assert one.text == (
            f"A, by its readings, from step 0 to 4: entropy {words}, while reward goes from 4 to 0."
        )
        assert not list(observe_part_company([entropy, replace(entropy, scale=replace(OPEN, metric="KL"))]))


def test_who_is_better_cannot_be_decided() -> None:
    """Of two that differ; of two without a clear difference neither is, whichever way is better."""
    subject = CurveSubject(curve_set(*apart(0.1)), OPEN)
    for names in (("A", "B"), ("B", "A")):
        fact = subject.fact("better", names)
        assert fact.value is None
        assert fact.reason == (
            "the two differ, and it is not said whether a higher or a lower entropy is better: "
            "say higher_is_better: true or false in the block, or in a benchmark ranked by it"
        )
    assert subject.fact("tied", ("A", "B")).value is False
    alike = CurveSubject(curve_set(*apart(20.0)), OPEN)
    assert alike.fact("better", ("A", "B")).value is False


def apart(spread: float) -> tuple[Curve, Curve]:
    """Two curves of five runs each that end 1 apart, with runs this far from each other."""
    made = []
    for name, level in (("A", 2.0), ("B", 1.0)):
        runs = tuple(
            Run(name, str(n), str(n), np.array([0.0, 1.0]), np.array([0.0, level + spread * (n - 2)]))
            for n in range(5)
        )
        made.append(replace(curve(name, [0.0, level], half=spread, runs=5), runs=runs))
    return made[0], made[1]


def test_peak_is_the_highest_and_a_level_is_reached_from_either_side() -> None:
    """The words hold without a better way: a fall from 3 reaches 1 at its end, a rise from 0 on its way."""
    subject = CurveSubject(curve_set(curve("A", [3, 2, 1]), curve("B", [0, 2, 3])), OPEN)
    assert subject.fact("peak", ("A",)).value == 3
    assert subject.fact("trough", ("A",)).value == 1
    assert subject.fact("steps_to", ("A", 1.0)).value == 2
    assert subject.fact("steps_to", ("B", 1.0)).value == 0.5


def test_a_benchmark_of_such_a_metric_has_a_highest_value() -> None:
    """Neither "Best" nor an end without its way."""
    curves = curve_set(*pair(), metric="entropy")
    here = context(curves, higher_is_better=None, ranked_by="entropy")
    made = summarize_benchmark(Benchmark(name="one", source="runs"), "one.md", curves, here)
    assert [label for label, _ in made.facts[:2]] == ["Highest at the end", "Highest of 4 checkpoints"]


def test_a_figure_of_such_a_metric_keeps_its_highest_and_lowest() -> None:
    """What report.json calls best is best."""
    curves = curve_set(*pair(), metric="entropy")
    made = figure(curves, context(curves, higher_is_better=None))
    row = made.numbers["series"][0]
    assert made.numbers["higher_is_better"] is None
    assert "best" not in row
    assert (row["highest"]["value"], row["lowest"]["value"]) == (5.0, 1.0)
    assert "lower is better" not in made.subtitle
    loss = curve_set(*pair(), metric="val/loss")
    made = figure(loss, context(loss, higher_is_better=None))
    assert made.numbers["series"][0]["best"]["value"] == 1.0
    assert made.subtitle.endswith("lower is better")


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
