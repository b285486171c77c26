"""Questions about sources: their options, and the facts that ``reportgen facts`` lists."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from reportgen.cli.envelope import Answer, prints_json
from reportgen.cli.output import cache_dir_option, config_option, format_option, print_line, report_problems
from reportgen.core.terminal import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any, TypeAlias, TypeVar

    from reportgen.claims.vocabulary import Subject
    from reportgen.cli.results import FactsResult, LikelyClaim
    from reportgen.core.facts import FactKind
    from reportgen.core.statements import Fact, Observation
    from reportgen.draft.gathering import SourceQuestion

    _Command = TypeVar("_Command", bound=Callable[..., Any])
    Known: TypeAlias = Mapping[str, Sequence[Fact]]


def question_options(*own: Callable[[Any], Any]) -> Callable[[_Command], _Command]:
    """The source, metric, benchmark and report that a question is about, with a command's ``own`` options."""
    options = (
        click.argument("sources", metavar="SOURCE...", nargs=-1, required=True),
        click.option("-m", "--metric", metavar="NAME", help="The metric, where the source has several."),
        click.option(
            "-b", "--benchmark", metavar="NAME", help="The benchmark, where the source has several."
        ),
        *own,
        config_option,
        cache_dir_option,
    )

    def decorate(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def open_question(
    config_file: Path, sources: tuple[str, ...], metric: str | None, benchmark: str | None
) -> SourceQuestion:
    """Open the sources of a question; raise a ReportError if they cannot be read."""
    from reportgen.draft.gathering import prepare_question
    from reportgen.site.checking import open_report

    report = open_report(config_file)
    return prepare_question(
        report.project, sources, report.cache, report.hashes, metric=metric, benchmark=benchmark
    )


class _WithVocabulary(click.Command):
    """A command whose help ends with every fact there is."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each fact says."""
        from reportgen.core.facts import list_fact_kinds

        super().format_epilog(ctx, formatter)
        for title, facts in (("curves", list_fact_kinds("curves")), ("scores", list_fact_kinds("scores"))):
            with formatter.section(f"Facts of {title}"):
                formatter.write_dl([(fact.signature, fact.says) for fact in facts])


@click.command(cls=_WithVocabulary)
@question_options(
    format_option("json", "tex", purpose="For people, for other programs, or as definitions for LaTeX."),
    click.option("--find", "words", metavar="NUMBER", help="Only facts with this value, likeliest first."),
    click.option(
        "--like",
        "words",
        metavar="SENTENCE",
        help="Only facts that its numbers may be, or its claim.",
    ),
    click.option(
        "--observations", "observed", is_flag=True, help="Print sentences about SOURCE instead, as on a page."
    ),
    click.option(
        "-n", "--count", type=click.IntRange(1), default=8, show_default=True, help="How many observations."
    ),
)
def facts(
    sources: tuple[str, ...],
    metric: str | None,
    benchmark: str | None,
    *,
    form: str,
    words: str | None,
    observed: bool,
    count: int,
    config_file: Path,
) -> Answer:
    """List every fact about SOURCE with its value.

    Each can be pasted into a page.

    SOURCE is a name that blocks use: math500 for data/math500.csv; with several, the facts cover
    all of them together. The left column is what to write in a bound value or a claim. Facts that take a step
    or level are shown with one example. An observation is printed with the numbers that it rests on.

    \b
    Examples:
      reportgen facts math500
      reportgen facts training --metric reward
      reportgen facts ours baseline
      reportgen facts math500 --find 0.84
      reportgen facts math500 --format tex > numbers.tex
      reportgen facts math500 --observations --count 3
    """
    if observed:
        if form == "tex" or words is not None:
            message = "--observations prints sentences: leave out --format tex, --find and --like."
            raise click.UsageError(message)
        with report_problems("nothing can be observed"):
            question = open_question(config_file, sources, metric, benchmark)
            return _answer_observations(question, sources, count)
    with report_problems("no facts are listed"):
        question = open_question(config_file, sources, metric, benchmark)
        return _answer_facts(question, sources, words, form)


def _answer_facts(question: SourceQuestion, sources: Sequence[str], words: str | None, form: str) -> Answer:
    from reportgen.claims.vocabulary import collect_facts
    from reportgen.core.facts import list_fact_kinds

    subject = question.get_subject()
    found: tuple[Fact, ...] = collect_facts(subject)
    claims: tuple[LikelyClaim, ...] = ()
    if words is not None:
        found, claims = _find_facts(words, sources, found, subject)
        _print_found(words, found, claims, subject, form)
    elif form == "text":
        _print_facts(sources, found, subject)
    if form == "tex":
        for line in _define_facts(sources, found, subject):
            click.echo(line)
    if form != "json":
        return Answer()
    kinds = list_fact_kinds(subject.holds) if words is None else ()
    return Answer(_list_facts(sources, found, subject, kinds, claims))


def _answer_observations(question: SourceQuestion, sources: Sequence[str], count: int) -> Answer:
    found, runs = question.find_observations(), question.describe_runs()
    _print_observations(found, runs, count)
    if not prints_json():
        return Answer()
    from reportgen.cli.results import FactsResult
    from reportgen.settings.base import name_joined

    subject = question.get_subject()
    about = (name_joined(sources), subject.scale.metric, subject.scale.higher_is_better, subject.series)
    return Answer(FactsResult(*about, observations=found[:count], runs=runs))


def _print_observations(found: Sequence[Observation], runs: str, count: int) -> None:
    for observation in found[:count]:
        click.echo(clean_text(observation.text))
        behind = "; ".join(part for part in (*observation.evidence, observation.threshold) if part)
        click.secho(f"  {observation.rule}: {clean_text(behind)}", dim=True)
    if not found:
        click.echo("No rule has found anything to say.")
    if runs:
        click.echo(runs)
    if len(found) > count:
        click.echo(f"{len(found) - count} more; --count {len(found)} shows all.", err=True)


def _find_facts(
    words: str, sources: Sequence[str], found: Sequence[Fact], subject: Subject
) -> tuple[tuple[Fact, ...], tuple[LikelyClaim, ...]]:
    """Return the facts that numbers may be, and the claims that a sentence makes."""
    from reportgen.claims.judge import judge_claim
    from reportgen.cli.results import LikelyClaim
    from reportgen.draft.finding import Topic, rank_facts
    from reportgen.draft.proposals import propose_claims

    topic = Topic(None, (*sources, subject.scale.metric), subject.series, tuple(found), subject.scale)
    claims = tuple(one.expression for one in propose_claims(words, (topic,)))
    judged = ((one, judge_claim(one, subject)) for one in claims)
    likely = tuple(LikelyClaim(one, said.truth.value, said.found) for one, said in judged)
    calls = {fact.call: fact for fact in found}
    return (() if claims else tuple(calls[one.call] for one in rank_facts(words, (topic,)))), likely


def _print_found(
    words: str, found: Sequence[Fact], claims: Sequence[LikelyClaim], subject: Subject, form: str
) -> None:
    from reportgen.claims.fact_words import describe_fact

    if not found and not claims:
        print_line(f'No fact has a number of "{clean_text(words)}" as its value.', err=True)
    for claim in claims if form == "text" else ():
        print_line(clean_text(claim.words))
    for fact in found if form == "text" else ():
        print_line(clean_text(describe_fact(fact, subject.scale)))


def _list_facts(
    sources: Sequence[str],
    found: Sequence[Fact],
    subject: Subject,
    kinds: Sequence[FactKind],
    claims: tuple[LikelyClaim, ...],
) -> FactsResult:
    """Return series, signatures and values of facts, as an editor completes expressions."""
    from msgspec.structs import asdict

    from reportgen.claims.fact_words import describe_fact
    from reportgen.cli.results import FactsResult, ListedFact, ListedKind
    from reportgen.settings.base import name_joined

    return FactsResult(
        name_joined(sources),
        subject.scale.metric,
        subject.scale.higher_is_better,
        tuple(subject.series),
        tuple(ListedKind(one.signature, one.quantity, one.says) for one in kinds),
        tuple(ListedFact(**asdict(one), words=describe_fact(one, subject.scale)) for one in found),
        claims=claims,
    )


# What would end a name in LaTeX, or be no character of it.
_NOT_IN_TEX = frozenset("#%{}\\~^")


def _define_facts(sources: Sequence[str], found: Sequence[Fact], subject: Subject) -> Iterator[str]:
    r"""Yield a definition of each number for ``\rgfact`` of reportgen.sty."""
    from reportgen.claims.fact_words import format_quantity
    from reportgen.core.statements import Quantity
    from reportgen.settings.base import name_joined
    from reportgen.settings.text import write_tex

    name = name_joined(sources)
    yield f"% Written by: reportgen facts {' '.join(sources)} --format tex"
    for fact in found:
        if fact.value is None or fact.quantity is Quantity.TRUTH:
            continue
        if _NOT_IN_TEX & {*fact.call, *name}:
            yield f"% left out, as its name has a character that LaTeX reads: {clean_text(fact.call)}"
            continue
        value = format_quantity(float(fact.value), fact.quantity, subject.scale)
        yield f"\\rgdefine{{{fact.call}}}{{{name}}}{{{write_tex(value)}}}"


def _print_facts(sources: Sequence[str], found: Sequence[Fact], subject: Subject) -> None:
    from reportgen.core.facts import list_fact_kinds
    from reportgen.core.words import format_count
    from reportgen.settings.base import name_joined

    known: dict[str, list[Fact]] = {}
    for fact in found:
        known.setdefault(fact.name, []).append(fact)
    listed = [(kind, *_list_calls(kind, known, subject)) for kind in list_fact_kinds(subject.holds)]
    scale = subject.scale
    ways = {
        True: "higher is better",
        False: "lower is better",
        None: "no better way is known (say higher_is_better in the block, or in a benchmark ranked by it)",
    }
    count = format_count(len(subject.series), "series", "series")
    about = f"{clean_text(name_joined(sources))}: {clean_text(scale.metric)} of {count}"
    click.secho(f"{about}, {ways[scale.higher_is_better]}", bold=True)
    calls = [call for _, rows, _ in listed for call in rows]
    width = max(map(len, calls), default=0)
    for kind, rows, note in listed:
        click.echo()
        click.secho(kind.signature, fg="cyan", nl=False)
        click.secho(f"  {' '.join(filter(None, [kind.says, note]))}", dim=True)
        for call, meaning in rows.items():
            click.echo(f"  {clean_text(call).ljust(width)}  {clean_text(meaning)}")
    if calls and (call := calls[0]):
        # As an author writes it; a name with double quotes is put in single ones.
        quote = "'" if '"' in call else '"'
        click.echo()
        print_line(
            f"In a page: [the number]{{value={quote}{call}{quote}}}, "
            f"or in a claim: [the sentence]{{claim={quote}{call} > 0{quote}}}"
        )


def _list_calls(kind: FactKind, known: Known, subject: Subject) -> tuple[dict[str, str], str]:
    """Calls to paste with what the data say, and why there are none, or that they are an example."""
    from reportgen.claims.fact_words import describe_fact
    from reportgen.core.facts import ParameterKind

    series = [one for one in kind.parameters if one.kind is ParameterKind.SERIES]
    chosen = len(kind.parameters) > len(series)
    facts = _find_example(kind, len(series), known, subject) if chosen else known.get(kind.name, [])
    rows = {}
    for fact in facts:
        words = describe_fact(fact, subject.scale).removeprefix(fact.call).strip()
        rows[fact.call] = words.removeprefix("= ").removeprefix("is ")
    if not rows and len(subject.series) < len(series):
        return rows, "It needs two series."
    return rows, "For example:" if rows and chosen else ""


def _find_example(kind: FactKind, needed: int, known: Known, subject: Subject) -> Iterator[Fact]:
    """The fact of the first series or pair, at a step or level that its curve has."""
    from reportgen.claims.vocabulary import FactError
    from reportgen.core.facts import ParameterKind

    def find_value(name: str) -> float | None:
        value = known[name][0].value if name in known else None
        return None if value is None else float(value)

    bounds, worst, best = subject.scale.bounds, find_value("trough"), find_value("peak")
    numbers = {
        "x": find_value("widest_gap_step" if needed > 1 else "peak_step"),
        "from": known["start"][0].step if "start" in known else None,
        "to": known["final"][0].step if "final" in known else None,
        # The middle of the first series' worst and best value, in two digits.
        "level": None if worst is None or best is None else float(f"{(worst + best) / 2:.2g}"),
        # A fiftieth of the range of possible values.
        "margin": (bounds[1] - bounds[0]) / 50 if bounds and all(map(math.isfinite, bounds)) else None,
        "count": 5.0,
    }
    chosen = [numbers.get(one.name) for one in kind.parameters if one.kind is not ParameterKind.SERIES]
    given = [number for number in chosen if number is not None]
    # On a curve without such a step, the signature alone shows how the fact is written.
    if len(subject.series) >= needed and len(given) == len(chosen):
        with suppress(FactError):
            yield subject.fact(kind.name, (*subject.series[:needed], *given))
