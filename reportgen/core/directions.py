"""Whether more or less of a metric is better, read from its name where the author does not say.

A name is read from its end: ``val/loss``, ``train-loss``, ``Loss/train`` and ``eval_loss_epoch`` are all
losses. A name that is in none of the lists says nothing, and no direction is guessed.
"""

from __future__ import annotations

import re
from enum import StrEnum
from itertools import pairwise


class Direction(StrEnum):
    """What a metric's name says; ``NEITHER`` is no measure of quality, or may be better either way."""

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
"""Last words of metrics of which less is better."""

HIGHER = _split(
    """acc, accs, accuracy, accuracies, acc norm, accuracy norm, f1, f2, fbeta, precision, recall,
    sensitivity, specificity, auc, auroc, auprc, aucpr, ap, map, mrr, ndcg, hits, hit rate, iou, miou,
    jaccard, dice, kappa, mcc, matthews correlation, r2, pearson, pearsonr, spearman, spearmanr, psnr, ssim,
    bleu, sacrebleu, rouge, rougel, rouge l, rougelsum, meteor, chrf, comet, bertscore, cider, mc1, mc2, elo,
    elo rating, resolved, score, scores, reward, rewards, rew, return, returns, success, successes, solved,
    success rate, solve rate, pass rate, win rate, winrate, pass, maj, cons, avg@, correct, em, match,
    likelihood, log likelihood, elbo"""
)
"""Last words of metrics of which more is better; ``avg@`` with its number only."""

NEITHER = _split(
    """lr, learning rate, norm, gnorm, entropy, kl, kl div, divergence, td error, bellman error, advantage,
    advantages, length, lengths, len, tokens, clipfrac, clip frac, clip fraction, clip ratio, clip rate,
    fraction, ratio, temperature, time, runtime, duration, memory, throughput, mfu, flops, per second, epoch,
    epochs, non score reward, step, steps, count, std, stddev, sd, stderr, se, var, variance"""
)
"""Last words of what is logged besides quality, and of how much a number varies."""

PARTS = frozenset(
    _split(
        """policy, pg, ppo, grpo, actor, critic, value, values, vf, v, q, qf, q1, q2, td, kl, entropy, ent,
        alpha, clip, aux, auxiliary, balance, balancing, router, z, reg, regularization, adv, adversarial, g,
        d, gen, disc, generator, discriminator"""
    )
)
"""A loss of one of these is what a part of training descends on, and measures no quality.

Those of one letter count only as the first word of the metric's own name or as a whole level of it:
``losses/g_loss`` and ``D/loss``, not ``imagenet_v2/loss``.
"""

EITHER_WAY = frozenset(
    _split(
        """anomaly, attack, bias, complexity, cost, costs, crps, difficulty, distance, drift, energy, fraud,
        harm, harmfulness, interval, jailbreak, outlier, penalty, quantile, risk, severity, threat,
        uncertainty, violation, violations, winkler"""
    )
)
"""Of a score, reward, return or success of one of these more may be better, or less."""

_LOSSES, _SCORES, _NEGATIVE = {"loss", "losses"}, {"score", "scores"}, {"neg", "negative"}
_GENERAL = {*_SCORES, "reward", "rewards", "return", "returns", "success", "successes", "success rate"}
# What something takes to get somewhere, as in time_to_accuracy, says nothing about where it got.
_EFFORTS = frozenset(
    _split(
        """time, seconds, minutes, hours, steps, step, epochs, iterations, iters, updates, episodes, samples,
        tokens, frames, flops, cost"""
    )
)
_ARROWS = {"↑": Direction.HIGHER, "↓": Direction.LOWER}
_DIGITS = "0123456789"
# How numbers were put together, and of what: they come after the metric's own name.
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
# A word that begins a level of the name includes its slash or point.
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
    """Whether a larger value is better; None where that is not known, or where neither is.

    The first of ``stated_by_authors`` that is not None counts before the name. Of a metric that ``ranks`` a
    benchmark more is better unless its name says otherwise.
    """
    stated = next((one for one in stated_by_authors if one is not None), None)
    if stated is not None:
        return stated
    named = guess_direction(metric)
    if named is None:
        return True if ranks else None
    return None if named is Direction.NEITHER else named is Direction.HIGHER


def guess_direction(metric: str) -> Direction | None:
    """What a metric's name says; None for a name that says nothing.

    Units and filters in brackets or behind a comma, a number behind ``@``, and words for how numbers were put
    together count for nothing: ``accuracy (%)``, ``acc,none``, ``recall@10``, ``reward/mean``, ``Loss/val``.
    An arrow says it for any name: ``FID ↓``.
    """
    for arrow, way in _ARROWS.items():
        if arrow in metric:
            return way
    plain = _BRACKETED.sub(" ", metric).partition(",")[0]
    # First as it stands: mIoU is one word, evalLoss two.
    for spelling in dict.fromkeys((plain, _CAPITAL.sub(" ", plain))):
        words = _WORD.findall(_SAMPLED.sub("@ ", spelling).lower())
        while words:
            if (found := _match_name(words)) is not None:
                return found
            last = words.pop().strip(_SEPARATORS)
            if last not in _AGGREGATES and not last.isdigit():
                break
    return None


def _match_name(words: list[str]) -> Direction | None:
    """What the last words say, as many as make a name."""
    bare = [word.strip(_SEPARATORS) for word in words]
    if words[-1].lstrip(_SEPARATORS) == "avg@":
        return Direction.HIGHER
    if len(bare) > 1 and bare[-1] in _AGGREGATES:
        # Of an epoch: the word before it may be a name.
        return None
    # Of rouge1, map50, bleu4 the number says which one, of f1 it is the name.
    for last in dict.fromkeys((bare[-1], bare[-1].rstrip(_DIGITS))):
        for count in range(min(_LONGEST, len(bare)), 0, -1):
            name = " ".join((*bare[-count:-1], last))
            found = _KNOWN.get(name)
            if found is not None:
                return _apply_context(found, name, bare[:-count], _find_heads(words, len(words) - count))
    return None


def _find_heads(words: list[str], end: int) -> set[str]:
    """The word that the metric's own name begins with, behind ``train`` or ``mean``, and levels of one word.

    Its own name stands behind the last slash or point before ``end``.
    """
    begins = [index for index in range(end + 1) if index == 0 or words[index][0] in _SEPARATORS]
    bare = [word.strip(_SEPARATORS) for word in words[:end]]
    own = (word for word in bare[begins[-1] :] if word not in _AGGREGATES)
    return {next(own, ""), *(bare[one] for one, after in pairwise(begins) if after == one + 1)}


def _apply_context(found: Direction, name: str, before: list[str], heads: set[str]) -> Direction:
    """What the words before a name make of it: a policy's loss, a Brier score, a negative error."""
    last = name.rpartition(" ")[2]
    if last in _LOSSES:
        # With or without a number, a part of training; of one letter only among ``heads``.
        rest = before[:-2] if before[-2:] == ["cross", "entropy"] else before
        parts = (word for word in (one.rstrip(_DIGITS) for one in rest) if len(word) > 1)
        if not PARTS.isdisjoint(heads) or not PARTS.isdisjoint(parts):
            return Direction.NEITHER
    if last in _SCORES and before and _match_name(before) is Direction.LOWER:
        return Direction.LOWER
    if (
        (before and before[-1] in {"to", "no", "non", "without"})
        or any(word in _EFFORTS and after == "to" for word, after in pairwise(before))
        or (name in _GENERAL and not EITHER_WAY.isdisjoint(before))
    ):
        return Direction.NEITHER  # open which way is better, or no quality at all
    return _OPPOSITES.get(found, found) if _NEGATIVE & set(before) else found
