"""Whether higher or lower values of a metric are better, inferred from its name if the author does not say.

A name is read from its end: ``val/loss``, ``train-loss``, ``Loss/train`` and ``eval_loss_epoch`` are all
losses. No direction is guessed for a name that is in none of the lists.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise


class Direction(StrEnum):
    """Direction of a metric; ``NEITHER`` if it does not measure quality or either may be better."""

    HIGHER = "higher is better"
    LOWER = "lower is better"
    NEITHER = "neither is better"


def _split(names: str) -> tuple[str, ...]:
    return tuple(" ".join(names.split()).split(", "))


LOWER = _split(
    """loss, losses, log loss, logloss, mlogloss, nll, negative log likelihood, neg log likelihood, ce,
    cross entropy, crossentropy, xent, bce, perplexity, ppl, bpb, bpc, bpd, bits per byte, bits per character,
    bits per char, bits per dim, bits dim, error, errors, err, merror, error rate, mse, rmse, nmse, nrmse,
    msle, rmsle, mae, mape, smape, wer, cer, ter, der, eer, fid, kid, fvd, fad, lpips, inception distance,
    edit distance, brier, ece, mce, regret, failure rate, false positive rate, false negative rate, fpr, fnr,
    toxicity, hallucination rate, latency, ttft, tpot"""
)
"""Last words of metrics for which lower is better."""

HIGHER = _split(
    """acc, accs, accuracy, accuracies, acc norm, accuracy norm, f1, f2, fbeta, precision, recall,
    sensitivity, specificity, auc, auroc, auprc, aucpr, ap, map, mrr, ndcg, hits, hit rate, iou, miou,
    jaccard, dice, kappa, mcc, matthews correlation, r2, pearson, pearsonr, spearman, spearmanr, psnr, ssim,
    bleu, sacrebleu, rouge, rougel, rouge l, rougelsum, meteor, chrf, comet, bertscore, cider, mc1, mc2, elo,
    elo rating, resolved, score, scores, reward, rewards, rew, return, returns, success, successes, solved,
    success rate, solve rate, pass rate, win rate, winrate, pass, passed,
    maj, cons, avg@, correct, em, match,
    likelihood, log likelihood, elbo"""
)
"""Last words of metrics for which higher is better; ``avg@`` only with its number."""

NEITHER = _split(
    """lr, learning rate, norm, gnorm, entropy, kl, kl div, divergence, td error, bellman error, advantage,
    advantages, length, lengths, len, tokens, clipfrac, clip frac, clip fraction, clip ratio, clip rate,
    fraction, ratio, temperature, time, runtime, duration, memory, throughput, mfu, flops, per second, epoch,
    epochs, non score reward, step, steps, count, std, stddev, sd, stderr, se, standard error, std error,
    std err, var, variance"""
)
"""Last words of logged values that do not measure quality, and of measures of variation."""

PARTS = frozenset(
    _split(
        """policy, pg, ppo, grpo, actor, critic, value, values, vf, v, q, qf, q1, q2, td, kl, entropy, ent,
        alpha, clip, aux, auxiliary, balance, balancing, router, z, reg, regularization, adv, adversarial, g,
        d, gen, disc, generator, discriminator"""
    )
)
"""Parts of training, whose losses are optimized but do not measure quality.

Single letters count only as the first word of the metric's own name or as a whole level:
``losses/g_loss`` and ``D/loss``, not ``imagenet_v2/loss``.
"""

EITHER_WAY = frozenset(
    _split(
        """anomaly, attack, bias, complexity, cost, costs, crps, difficulty, distance, drift, energy, fraud,
        harm, harmfulness, interval, jailbreak, outlier, penalty, quantile, risk, severity, threat,
        uncertainty, violation, violations, winkler"""
    )
)
"""Subjects whose score, reward, return or success may be better if higher or if lower."""

_RATES = frozenset(
    _split(
        """error rate, wer, cer, ter, der, eer, ece, mce, failure rate, false positive rate,
        false negative rate, fpr, fnr, hallucination rate"""
    )
)
# Higher is better, without a largest value; the range of a score, a success or an error is not known.
_UNBOUNDED = frozenset(
    _split("elo, elo rating, reward, rewards, rew, return, returns, psnr, likelihood, log likelihood, elbo")
)
_UNKNOWN = frozenset(_split("score, scores, success, successes, error, errors, err, merror"))

_ERRORS = {"error", "errors", "err"}
_LOSSES, _SCORES, _NEGATIVE = {"loss", "losses"}, {"score", "scores"}, {"neg", "negative"}
_GENERAL = {*_SCORES, "reward", "rewards", "return", "returns", "success", "successes", "success rate"}
# The effort to reach something, as in time_to_accuracy, does not measure the result.
_EFFORTS = frozenset(
    _split(
        """time, seconds, minutes, hours, steps, step, epochs, iterations, iters, updates, episodes, samples,
        tokens, frames, flops, cost"""
    )
)
_ARROWS = {"↑": Direction.HIGHER, "↓": Direction.LOWER}
_DIGITS = "0123456789"
# Aggregations, splits and units, which come after the metric's own name.
_AGGREGATES = frozenset(
    _split(
        """mean, avg, average, median, min, max, best, worst, final, last, sum, total, ema, smoothed, macro,
        micro, weighted, unweighted, none, func, fn, function, train, training, val, valid, validation, test,
        testing, eval, evaluation, dev, epoch, step, batch, iter, ms, s, sec, seconds, pct, percent,
        percentage"""
    )
)
_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SAMPLED = re.compile(r"[@^]\s*\w+")
# A word at the start of a level includes the slash or dot before it.
_WORD = re.compile(r"[/.]?[a-z0-9]+@?")
_SEPARATORS = "/.@"
_CAPITAL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LONGEST = 3

_KNOWN = {
    **dict.fromkeys(HIGHER, Direction.HIGHER),
    **dict.fromkeys(LOWER, Direction.LOWER),
    **dict.fromkeys(NEITHER, Direction.NEITHER),
}
_OPPOSITES = {Direction.HIGHER: Direction.LOWER, Direction.LOWER: Direction.HIGHER}


def find_direction(metric: str, *stated_by_authors: bool | None, ranks: bool = False) -> bool | None:
    """Return whether a larger value is better, or None if that is not known or neither is.

    The first of ``stated_by_authors`` that is not None overrides the name. For a metric that ``ranks`` a
    benchmark, higher is better unless its name says otherwise.
    """
    stated = next((one for one in stated_by_authors if one is not None), None)
    if stated is not None:
        return stated
    named = guess_direction(metric)
    if named is None:
        return True if ranks else None
    return None if named is Direction.NEITHER else named is Direction.HIGHER


def has_better_direction(metric: str) -> bool:
    """Return whether the name of a metric says that higher, or that lower, is better."""
    return guess_direction(metric) in {Direction.HIGHER, Direction.LOWER}


@lru_cache(4096)
def guess_direction(metric: str) -> Direction | None:
    """Guess the direction of a metric from its name, or return None if the name is not known.

    Units and filters in brackets or after a comma, a number after ``@``, and aggregations and splits are
    ignored: ``accuracy (%)``, ``acc,none``, ``recall@10``, ``reward/mean``, ``Loss/val``. An arrow overrides
    any name: ``FID ↓``.
    """
    for arrow, way in _ARROWS.items():
        if arrow in metric:
            return way
    found = _find_name(metric)
    return found[0] if found else None


@lru_cache(4096)
def may_be_percent(metric: str) -> bool | None:
    """Return whether a metric is a share or in percent, as accuracies are; None if its name is not known.

    A loss, a return or a length is neither: it may have any value.
    """
    found = _find_name(metric)
    if found is None or found[1] in _UNKNOWN:
        return None if found is None or found[0] is not Direction.LOWER or found[1] not in _SCORES else False
    way, name = found
    return name in _RATES or (way is Direction.HIGHER and name not in _UNBOUNDED)


def _find_name(metric: str) -> tuple[Direction, str] | None:
    """Return the direction of a metric and the known name that says so, or None."""
    plain = _BRACKETED.sub(" ", metric).partition(",")[0]
    # Try the name as written first: mIoU is one word, evalLoss two.
    for spelling in dict.fromkeys((plain, _CAPITAL.sub(" ", plain))):
        words = _WORD.findall(_SAMPLED.sub("@ ", spelling).lower())
        while words:
            if (found := _match_name(words)) is not None:
                return found
            last = words.pop().strip(_SEPARATORS)
            if last not in _AGGREGATES and not last.isdigit():
                break
    return None


def _match_name(words: list[str]) -> tuple[Direction, str] | None:
    """Return the direction of the longest known name at the end of the words and the name, or None."""
    bare = [word.strip(_SEPARATORS) for word in words]
    if words[-1].lstrip(_SEPARATORS) == "avg@":
        return Direction.HIGHER, "avg@"
    if len(bare) > 1 and bare[-1] in _AGGREGATES:
        # An aggregate such as epoch: the word before it may be a name.
        return None
    # In rouge1, map50 and bleu4 the number is a variant; in f1 it is part of the name.
    for last in dict.fromkeys((bare[-1], bare[-1].rstrip(_DIGITS))):
        for count in range(min(_LONGEST, len(bare)), 0, -1):
            name = " ".join((*bare[-count:-1], last))
            found = _KNOWN.get(name)
            if found is not None:
                # The first word of the metric's own name, after train or mean, and one-word levels; its own
                # name comes after the last slash or dot.
                before, end = bare[:-count], len(bare) - count
                begins = [index for index in range(end + 1) if index == 0 or words[index][0] in _SEPARATORS]
                own = (word for word in before[begins[-1] :] if word not in _AGGREGATES)
                heads = {next(own, ""), *(before[one] for one, after in pairwise(begins) if after == one + 1)}
                return _apply_context(found, name, before, heads), name
    return None


def _apply_context(found: Direction, name: str, before: list[str], heads: set[str]) -> Direction:
    """Adjust a direction to the words before the name: a policy's loss, a Brier score, a negative error."""
    last = name.rpartition(" ")[2]
    if last in _LOSSES:
        # A part of training with or without a number; single letters count only among ``heads``.
        rest = before[:-2] if before[-2:] == ["cross", "entropy"] else before
        parts = (word for word in (one.rstrip(_DIGITS) for one in rest) if len(word) > 1)
        if not PARTS.isdisjoint(heads) or not PARTS.isdisjoint(parts):
            return Direction.NEITHER
    subject = _match_name(before) if before else None
    if subject and last in _SCORES and subject[0] is Direction.LOWER:
        return Direction.LOWER
    if subject and last in _ERRORS and subject[0] is not Direction.NEITHER:
        return Direction.NEITHER  # how sure the accuracy is, as in acc_err
    if (
        (before and before[-1] in {"to", "no", "non", "without"})
        or any(word in _EFFORTS and after == "to" for word, after in pairwise(before))
        or (name in _GENERAL and not EITHER_WAY.isdisjoint(before))
    ):
        return Direction.NEITHER  # either may be better, or it does not measure quality
    return _OPPOSITES.get(found, found) if _NEGATIVE & set(before) else found
