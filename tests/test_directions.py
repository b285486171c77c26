"""Which way a metric is better by its name, and what is said before it."""

from __future__ import annotations

import pytest

from reportgen.core.directions import (
    EITHER_WAY,
    HIGHER,
    LOWER,
    NEITHER,
    Direction,
    find_direction,
    guess_direction,
)


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
