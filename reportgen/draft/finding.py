"""From a number in a sentence to the facts that it may be: one ranking for lists and for bindings.

A number is held to be a fact if it is the fact's value at its own digits and unit. Which of several it is
follows from the words of its clause: a series, and a word for the kind of fact, such as "ends" for ``final``.
There is no language model, so a sentence that says it otherwise is left to its author.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from reportgen.claims.agreement import agrees, check_unit
from reportgen.claims.fact_words import describe_fact
from reportgen.claims.typed import Unit, read_typed
from reportgen.core.digits import NUMBER, FoundNumber, find_numbers
from reportgen.core.statements import ExpressionError, Quantity

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from reportgen.claims.typed import Typed
    from reportgen.core.statements import Fact, Scale


class Topic(Struct, frozen=True):
    """Facts that a text may be about, and what statements call their subject."""

    of: str | None
    names: tuple[str, ...]  # of source, benchmark and metric, as a sentence may have them
    series: tuple[str, ...]
    facts: tuple[Fact, ...]
    scale: Scale


class Candidate(Struct, frozen=True):
    """A fact that a number may be; of a larger ``rank``, more of its words stand near the number."""

    rank: int
    call: str
    of: str | None
    words: str  # the fact with its value
    is_sure: bool = False  # whether the words leave no other fact


class Match(Struct, frozen=True):
    """What a number most likely is: its candidates, best first, or what the data say instead."""

    number: FoundNumber
    candidates: tuple[Candidate, ...] = ()
    instead: str = ""  # a fact with its value that the sentence names, and that the number is not

    @property
    def sure(self) -> Candidate | None:
        """The fact that can be written without asking."""
        return self.candidates[0] if self.candidates and self.candidates[0].is_sure else None


_MOST_SHOWN: Final = 3
# The words that mean a kind of fact, as they begin.
_CUES: Final = {
    "final": "end(?!ow)|final|finish|settle|conclude|converge|last (?:value|score|reading|checkpoint|one)"
    "|(?:falls?|fell|falling|drops?|dropped|dropping|comes?|came) back to"
    "|(?:decays?|decayed|declines?|declined|recovers?|recovered) to",
    "start": "start|begin|began|initial|first (?:value|score|reading|checkpoint)|climbs? from|rises? from",
    "peak": "peak|best|highest|maximum|max",
    "trough": "trough|low(?:est)?(?: point)?|worst|minimum|bottom|dip",
    "peak_step": "peak|best|highest|maximum|max",
    "trough_step": "trough|low(?:est)?(?: point)?|worst|minimum|bottom|dip",
    "score": "scor|reach|achiev|attain|gets?|got|solve|obtain|answer|accura|result",
    "low": "lower end|lower bound|intervals?|CIs?\\b",
    "high": "upper end|upper bound|intervals?|CIs?\\b",
    "difference": "differ|ahead|above|below|behind|leads?|margin|gap|better|worse|beat|trail|outperform"
    "|advantage|improve|over|than|between|against",
    "gap": "differ|ahead|above|below|behind|leads?|margin|gap|better|worse|apart|over|than|between|against",
    "widest_gap": "widest|largest|furthest apart|differ\\w* most",
    "widest_gap_step": "widest|largest|furthest apart|differ\\w* most",
    "sd": "standard deviation|sd",
    "volatility": "volatil",
    "p_value": "p",
}
_CUE_PATTERNS: Final = {
    name: re.compile(rf"\b(?:{words})\w*", re.IGNORECASE) for name, words in _CUES.items()
}
# Words for a quantity that is no metric of results, or for a number of somebody else, or of nobody.
_FOREIGN_WORDS: Final = """
    learning_rate* lr temperature top_p dropout clip* kl beta gamma alpha lambda momentum decay
    warmup weight* batch* gpu* cpu* memory utilis* utiliz* hour* minute* second* day* epoch*
    token* param* budget cost* price dollar* usd euro* power energy size* length* ratio*
    fraction* share* threshold* target* goal* chance random* guess* expect* hope* predict* would
    could should might if unless not never instead rather without et_al reported paper*
    previous* earlier prior published leaderboard human* correlat* coefficient* loss* perplexity
    entropy reward* norm* discount* smooth* quantile level* confidence significan* interval*
    agreement kappa noise rounded average* mean* median half twice double* per every
    internal private another different subset* version*
    seed* sample* problem* question* wide band* axis figure* table* section* equation* appendix
    chapter line* page* citation ref*
"""
_FOREIGN: Final = re.compile(
    r"\b(?:" + "|".join(_FOREIGN_WORDS.split()).replace("*", r"\w*").replace("_", r"[\s_-]") + r")\b",
    re.IGNORECASE,
)
# What somebody else found, or what is not so: of the whole sentence, and not of the clause alone.
_UNREAL: Final = re.compile(
    r"\b(?:would|could|should|might|if|unless|not|never|instead|rather|et\s+al|reported|paper|previous\w*|earlier|prior"
    r"|published|leaderboard|human\w*|expect\w*|hope\w*|predict\w*|target\w*|threshold\w*|re-?runs?|ablat\w*"
    r"|(?:different|other|another|new)\s+(?:seed|run|split|subset|setting|prompt)\w*"
    r"|(?:half|third|quarter|share|fraction|percent)\s+of)\b",
    re.IGNORECASE,
)
# Names that the data do not know: with a capital in a sentence, or with several capitals or digits anywhere.
_PROPER: Final = re.compile(r"(?<![\w.-])[A-Z][\w-]*(?:[A-Z]|\d)[\w.-]*|(?<=[^.!?] )[A-Z][\w-]+")
# Before a number that is a limit, and after one that is a share.
_LIMIT: Final = re.compile(
    r"\b(?:above|below|over|under|than|least|most|beyond|within|up to"
    r"|about|almost|nearly|roughly|around|approximately)\s*$",
    re.IGNORECASE,
)
_FOR: Final = re.compile(r"[\s*_]+(?:for\s+|(?P<open>\())")
# After a share of something else than the problems, which a score is a share of.
_MORE: Final = re.compile(r"\s+(?:better|worse|higher|lower|more|less|fewer|faster|slower|larger|smaller)\b")
_SOLVED: Final = re.compile(r"[\s*_]+of\s+(?:the|all)\s+(?:problems|questions|tasks|items)\b")
_SOLVES: Final = re.compile(r"\b(?:solv|answer|pass|correct)", re.IGNORECASE)
_DENIED: Final = re.compile(r"\b(?:without|never|not)\b")
_EVEN: Final = re.compile(r"\b(?:starts?|started|ends?|ended)\s+(?:almost\s+)?level\b", re.IGNORECASE)
_SHARE: Final = re.compile(r"\s+of\s+(?:the\s+)?")
# Words that say nothing about a number by themselves.
_WORD: Final = re.compile(
    r"\b(?!(?:to|and|vs|at|by|of|with|in|on|for|from|then|only|after|steps?|iterations?)\b)[A-Za-z][A-Za-z\d]"
)
# A change from a first value to a last one.
_CHANGE: Final = re.compile(
    r"\b(?:improv|climb|ris|rose|grow|grew|increas|goes|went|mov|drop|fall|fell|decreas|declin|rais|tak|took)\w*",
    re.IGNORECASE,
)
_FROM: Final = re.compile(r"\bfrom\s+(?P<first>[\d.,]+\s?%?\s+to\s+)?$")
_TO: Final = re.compile(r"\s+to\s+[\d.]")
_ARROW: Final = r"\s*(?:→|->|⟶)\s*"
_ARROW_BEFORE, _ARROW_BEHIND = re.compile(rf"(\d%?){_ARROW}$"), re.compile(rf"{_ARROW}[\d.]")
# What may stand beside a value at a step that is no more than that.
_PLAIN: Final = re.compile(
    r"\b(?:at|by|after|in|on|the|a|an|of|with|is|was|are|were|has|had|have|and|that|its|s|both|scor\w*|values?|accuracy"
    r"|gets?|got|reach\w*|obtain\w*|achiev\w*|attain\w*|stands?|stood)\b",
    re.IGNORECASE,
)
_YEAR: Final = re.compile(r"\s+((?:19|20)\d\d)\b")
_TWO: Final = re.compile(r"\b(?:the two|both|each other)\b", re.IGNORECASE)
_STEPS: Final = re.compile(
    r"\b(?:steps?|iterations?|epochs?|updates?)\s+(\d{1,3}(?:,\d{3})+|\d+)", re.IGNORECASE
)
_JOINED: Final = re.compile(r"[\s*_]*(?:,|,?\s*and\b|&)[\s*_]*")
_CLAUSE: Final = re.compile(
    r"[;:()—]|,(?=\s)|\b(?:while|whereas|but|although|though|which|where|since|because|and)\b"
)


def match_number(number: FoundNumber, topics: Sequence[Topic]) -> Match:
    """Return the facts that a number may be, and whether its words leave one of them."""
    found = [
        _rank_fact(number, fact, kinds, topic, topics)
        for topic in topics
        for fact, kinds in _list_agreeing(number.words, topic)
    ]
    found.sort(key=lambda one: -one.rank)
    sure = [one for one in found if one.is_sure]
    first = found[0] if found else None
    if len(sure) != 1 or sure[0] != first:
        found = [Candidate(one.rank, one.call, one.of, one.words) for one in found]
    # A figure has the facts of its page's benchmark, too.
    different = dict[tuple[str, str], Candidate]()
    for one in found:
        different.setdefault((one.call, one.words), one)
    instead = "" if found else _find_contradiction(number, topics)
    return Match(number, tuple(different.values())[:_MOST_SHOWN], instead)


def _list_agreeing(words: str, topic: Topic) -> Iterator[tuple[Fact, set[str]]]:
    """Yield facts with the value of a number, each with the names of all that could be typed like it."""
    try:
        typed = read_typed(words, topic.scale)
    except ExpressionError:
        return
    numbers = (one for one in topic.facts if one.quantity not in {Quantity.TRUTH, Quantity.NUMBER})
    fitting = [fact for fact in numbers if fact.value is not None and _fits(typed, fact, topic.scale)]
    kinds = {fact.name for fact in fitting}
    if words.endswith("%"):  # a difference is typed in points
        kinds -= {"difference", "gap"}
    for fact in fitting:
        if agrees(typed, float(fact.value or 0), fact.quantity, topic.scale):
            yield fact, kinds


def _fits(typed: Typed, fact: Fact, scale: Scale) -> bool:
    """Return whether somebody would type a number so for a fact: steps as steps, p values with their p."""
    if check_unit(typed, fact.quantity, scale):
        return False
    steps = {Unit.STEP, Unit.STEPS, Unit.MOMENT, Unit.DURATION}
    if fact.quantity in {Quantity.STEP, Quantity.STEPS}:
        return typed.unit in steps
    return typed.unit not in steps and (fact.quantity is not Quantity.PROBABILITY or typed.p)


def _rank_fact(
    number: FoundNumber, fact: Fact, kinds: set[str], topic: Topic, topics: Sequence[Topic]
) -> Candidate:
    """Rank a fact by the words of its sentence, most by those of its clause."""
    clause, place = _find_clause(number)
    near = _find_series(number, clause, place, topic)
    named = [name for name in fact.series if _find_name(name, number.sentence)]
    if not named and len(topic.series) == len(fact.series) == 2 and _TWO.search(number.sentence):  # noqa: PLR2004
        named = [*fact.series]
    cued = _is_cued(fact, kinds, number, clause, topic)
    is_series = bool(fact.series) and (
        near == fact.series[0] if len(fact.series) == 1 else len(named) == len(fact.series)
    )
    is_topic = any(_find_name(name, number.sentence) for name in topic.names)
    is_own = is_topic or topic.of is None or len({one.of for one in topics}) == 1
    is_sure = is_series and cued and is_own and not _is_foreign(number, fact.name, topics)
    rank = (
        8 * is_series + 4 * cued + 2 * len(named) + 2 * is_topic + (fact.name in {"final", "peak", "score"})
    )
    return Candidate(rank, fact.call, topic.of, describe_fact(fact, topic.scale), is_sure)


def _is_cued(fact: Fact, kinds: set[str], number: FoundNumber, clause: str, topic: Topic) -> bool:
    """Return whether a word for a kind of fact stands near a number.

    With no such word in its clause, the whole sentence counts if it has words for one kind alone. A score is
    what a number of a scored series is without any, and a value at a step what it is beside that step.
    """
    change = "start" in kinds and _CHANGE.search(clause) and _FROM.search(number.sentence[: number.place])
    if change and (change["first"] or _TO.match(number.sentence, number.place + len(number.words))):
        return fact.name == ("final" if change["first"] else "start")
    if "start" in kinds and _ARROW_BEHIND.match(number.sentence, number.place + len(number.words)):
        return fact.name == "start"
    if "final" in kinds and _ARROW_BEFORE.search(number.sentence[: number.place]):
        return fact.name == "final"
    near, around = (
        {name for name in kinds & _CUES.keys() if _CUE_PATTERNS[name].search(_hide_names(part, topic))}
        for part in (clause, number.sentence)
    )
    said = near or (around if len({name.removesuffix("_step") for name in around}) == 1 else set())
    if fact.name == "score":
        is_named = any(_find_name(name, number.sentence) for name in topic.names)
        return not said - {"score"} and (not number.is_cell or is_named or "score" in near | around)
    if fact.name in {"at", "gap"}:
        steps = _STEPS.findall(clause) or _STEPS.findall(number.sentence)
        is_there = [float(one.replace(",", "")) for one in steps] == [fact.step]
        return is_there and (
            said == {"gap"} if fact.name == "gap" else not around and _is_plain(clause, topic)
        )
    return fact.name in said


def _is_plain(clause: str, topic: Topic) -> bool:
    """Return whether a clause says no more of a number than which series and step it is of."""
    rest = _PLAIN.sub(" ", _STEPS.sub(" ", _hide_names(clause, topic)))
    return re.search(r"[^\W\d_]", rest) is None


def _find_clause(number: FoundNumber, *, joined: bool = False) -> tuple[str, int]:
    """Return the part of the sentence around a number, and where the number stands in it.

    What "and" joins is one part if ``joined``.
    """
    sentence, place = number.sentence, number.place
    ends = [one for one in _CLAUSE.finditer(sentence) if not (joined and one[0] == "and")]
    start = max((one.end() for one in ends if one.end() <= place), default=0)
    stop = place + len(number.words)
    end = min((one.start() for one in ends if one.start() >= stop), default=len(sentence))
    while start and not _WORD.search(f"{sentence[start:place]} {sentence[stop:end]}"):
        # A number alone in its clause, as in parentheses, belongs to what stands before it.
        start = max((one.end() for one in ends if one.end() < start), default=0)
    return sentence[start:end], place - start


def _find_series(number: FoundNumber, clause: str, place: int, topic: Topic) -> str:
    """Return the series that a number is about: the last before it, or the only one behind it in its clause.

    With none in its clause, that of the sentence if it names one alone. Of a list of series, numbers are a
    list, too.
    """
    stop = number.place + len(number.words)
    listed = _find_listed(number, topic)
    if listed is not None:
        return listed
    named = _find_names(number.sentence, topic.series)
    if match := _FOR.match(number.sentence, stop):
        for (start, end), name in named:
            if start == match.end() and (not match["open"] or number.sentence[end : end + 1] == ")"):
                return name
    places = _find_names(clause, topic.series)
    before = [name for (at, _), name in places if at < place]
    behind = {name for (at, _), name in places if at > place}
    if before:
        return before[-1] if len(set(before)) == 1 else ""
    if behind:
        return behind.pop() if len(behind) == 1 else ""
    start = number.place - place
    for (_, end), name in named:  # "the winner, Aspen, scores 61%"
        if number.sentence[end:start].strip() == ",":
            return name
    return named[0][1] if len({name for _, name in named}) == 1 else ""


def _find_listed(number: FoundNumber, topic: Topic) -> str | None:
    """Return which of several joined series a number of as many is about; empty if there are not as many."""
    sentence = number.sentence
    names = _find_names(sentence, topic.series)
    spans = [one.span() for one in NUMBER.finditer(sentence) if re.search(r"\d", one[0])]
    joined = (one for one in _join(spans, sentence) if one[0][0] <= number.place < one[-1][1])
    numbers = next(joined, [(number.place, number.place + 1)])
    before = [span for span, _ in names if span[0] < numbers[0][0]]
    group = _join(before, sentence)[-1] if before else []
    if not group and (behind := _FOR.match(sentence, numbers[-1][1])):
        groups = _join([span for span, _ in names], sentence)
        group = groups[0] if groups and groups[0][0][0] == behind.end() else []
    if len(group) == 1 or not group:
        return None
    index = sum(span[1] <= number.place for span in numbers)
    return dict(names)[group[index]] if len(group) == len(numbers) else ""


def _join(spans: Iterable[tuple[int, int]], sentence: str) -> list[list[tuple[int, int]]]:
    """Group places that only commas and "and" join."""
    groups: list[list[tuple[int, int]]] = []
    for span in spans:
        if groups and _JOINED.fullmatch(sentence, groups[-1][-1][1], span[0]):
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _is_foreign(number: FoundNumber, kind: str, topics: Sequence[Topic]) -> bool:
    """Return whether the words say that the number is none of these facts, or may be none."""
    sentence, stop = number.sentence, number.place + len(number.words)
    known = {name.casefold() for topic in topics for name in (*topic.names, *topic.series)}
    parts = {part for name in known for part in re.split(r"[\s_@/-]+", name)} | known
    parts |= {"ci", "cis"}
    if kind in {"low", "high"}:
        parts |= {"interval", "intervals", "confidence"}
    clause, place = _find_clause(number, joined=True)
    # What follows a result rarely denies it: "without a single step back".
    behind = _DENIED.sub(" ", clause[place + len(number.words) :])
    if kind == "score" and _SOLVES.search(clause) and (solved := _SOLVED.match(sentence, stop)):
        stop, behind = solved.end(), behind[solved.end() - stop :]
    plain, whole = _EVEN.sub(" ", f"{clause[:place]} {behind}"), sentence
    for topic in topics:
        plain, whole = _hide_names(plain, topic), _hide_names(whole, topic)
    so_far = whole[: number.place].rpartition(";")[2]
    share = _SHARE.match(sentence, stop)
    return (
        any(match[0].rstrip(".-").casefold() not in parts for match in _PROPER.finditer(whole))
        or any(match[0].casefold() not in parts for match in _FOREIGN.finditer(plain))
        or _UNREAL.search(f"{so_far} {plain}") is not None
        or _LIMIT.search(sentence[: number.place]) is not None
        or any(f"{name} {year}" not in known for name in known for year in _find_years(name, sentence))
        or (kind != "difference" and _MORE.match(sentence, stop) is not None)
        or (share is not None and not any(_compile_name(name).match(sentence, share.end()) for name in known))
        # One digit is too often right by chance.
        or len(re.sub(r"^\D*0*\D*0*|\D", "", number.words)) < 2  # noqa: PLR2004
    )


def _find_years(name: str, sentence: str) -> Iterator[str]:
    """Yield years behind a name, which make it that of something else, as in "AIME 2025"."""
    for found in _compile_name(name).finditer(sentence):
        if year := _YEAR.match(sentence, found.end()):
            yield year[1]


def _find_contradiction(number: FoundNumber, topics: Sequence[Topic]) -> str:
    """Return the only fact that the clause names, with its value, if the number is near it."""
    clause, place = _find_clause(number)
    if _is_foreign(number, "", topics):
        return ""
    said = []
    for topic in topics:
        try:
            typed = read_typed(number.words, topic.scale)
        except ExpressionError:
            continue
        near = _find_series(number, clause, place, topic)
        for fact in topic.facts:
            pattern = _CUE_PATTERNS.get(fact.name)
            if (
                fact.value is None
                or pattern is None
                or fact.series != (near,)
                or not _fits(typed, fact, topic.scale)
            ):
                continue
            if pattern.search(_hide_names(clause, topic)):
                said.append(describe_fact(fact, topic.scale))
    return said[0] if len(set(said)) == 1 else ""


def _hide_names(clause: str, topic: Topic) -> str:
    """Replace names of the data, whose words say nothing about the kind of number."""
    for name in (*topic.series, *topic.names):
        clause = _compile_name(name).sub(lambda match: " " * len(match[0]), clause)
    return clause


def _find_name(name: str, text: str) -> bool:
    return _compile_name(name).search(text) is not None


@lru_cache(maxsize=64)
def _find_names(text: str, names: tuple[str, ...]) -> tuple[tuple[tuple[int, int], str], ...]:
    """Return the places of names in a text, in order; those of a sentence serve every candidate."""
    return tuple(sorted((one.span(), name) for name in names for one in _compile_name(name).finditer(text)))


@lru_cache(maxsize=4096)
def _compile_name(name: str) -> re.Pattern[str]:
    """Return the pattern of a name, whose words may be joined otherwise."""
    words = r"[\s_-]+".join(map(re.escape, filter(None, re.split(r"[\s_]+", name))))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE)


def list_matches(prose: str, topics: Sequence[Topic]) -> Iterator[Match]:
    """Yield what every number of a text may be, in order."""
    yield from (match_number(number, topics) for number in find_numbers(prose))


def rank_facts(words: str, topics: Iterable[Topic]) -> tuple[Candidate, ...]:
    """Return the facts that a number alone, or the numbers of a sentence, may be, best first."""
    known = tuple(topics)
    numbers = list(find_numbers(words)) or [FoundNumber(0, len(words), words.strip(), words, 0)]
    found = {one for number in numbers for one in match_number(number, known).candidates}
    return tuple(sorted(found, key=lambda one: (-one.rank, one.call)))
