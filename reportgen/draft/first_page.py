"""A first page about a source: the block that is suggested, and sentences bound to the first facts."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from reportgen.claims.fact_words import format_fact_interval
from reportgen.claims.vocabulary import collect_facts
from reportgen.draft.describing import choose_metric, suggest_block, suggest_group
from reportgen.draft.gathering import prepare_question
from reportgen.settings.yaml_tree import write_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reportgen.claims.vocabulary import Subject
    from reportgen.core.cache import Cache, FileHashes
    from reportgen.core.statements import Description
    from reportgen.settings.report import Project


_MOST_SERIES: Final = 3
_MARKUP: Final = re.compile(r"([\\`*_{}<>#|!])")
# Bound words cannot hold square brackets.
_BRACKETS: Final = str.maketrans("[]", "()")


def write_first_page(
    project: Project, description: Description, title: str, cache: Cache, hashes: FileHashes
) -> str:
    """Return the Markdown of a page about a source of the report, with its values and claims bound.

    Raises ``ReportError`` if the source cannot be read.
    """
    # The id of the heading is taken.
    figure = "results" if title.lower() != "results" else "figure"
    block = suggest_block(description, figure=figure)
    lines = ["---", write_yaml({"title": title}).strip(), "---", "", f"# {_escape(title)}", ""]
    lines += [block] if block else []
    # What one series shows at a setting says nothing of the others, such as other studies.
    if block and "\nby: series\n" not in block and not _mixes_settings(description):
        metric = choose_metric(description.counts) if description.kind == "measurements" else None
        benchmark = description.benchmarks[0] if len(description.benchmarks) > 1 else None
        question = prepare_question(
            project,
            (description.name,),
            cache,
            hashes,
            metric=metric.name if metric else None,
            benchmark=benchmark,
            by=suggest_group(description),
            value="final" if block.startswith("```sweep") else "",
        )
        # Judges of one test are benchmarks of their own, and numbers of one say which.
        where = f" on {_escape(benchmark)}" if benchmark else ""
        lines += _write_sentences(question.get_subject(), figure, where)
    return "\n".join(lines).rstrip() + "\n"


def _mixes_settings(description: Description) -> bool:
    """Return whether runs of one series differ in their settings, so that their mean is of none."""
    from reportgen.read.runs.labels import is_setting_number, is_setting_text  # noqa: PLC0415 - seldom needed

    settings = defaultdict[str, set[tuple[str, ...]]](set)
    for run in description.counts.runs if description.is_finished else ():
        chosen = (
            (name, one, is_setting_text if isinstance(one, str) else is_setting_number)
            for name, one in run.config.items()
        )
        settings[run.series].add(
            tuple(sorted(f"{name}={one}" for name, one, is_setting in chosen if is_setting(name)))
        )
    return description.is_search or any(len(several) > 1 for several in settings.values())


def _write_sentences(subject: Subject, figure: str, where: str) -> Iterator[str]:
    """Yield a sentence for each of the first series, and one that compares two of them or two steps."""
    is_curves = subject.holds == "curves"
    # A name with both kinds of quotes cannot stand in braces.
    known = [
        fact for fact in collect_facts(subject) if fact.value is not None and not {*fact.call} >= {*"'\""}
    ]
    named = [fact for fact in known if fact.name == ("final" if is_curves else "score")][:_MOST_SERIES]
    for fact in named:
        words = format_fact_interval(fact, subject.scale).partition(" [")[0]
        verb = "ends at" if is_curves else "scores"
        yield f"- {_escape(fact.series[0])} {verb} {_bind(words, 'value', fact.call, figure)}{where}."
    # What a test has shown says more than two numbers.
    shown = [fact for fact in known if fact.name == "better" and fact.value is True]
    if shown:
        first, second = map(_escape, shown[0].series)
        yield f"\n{_bind(f'{first} is better than {second}', 'claim', shown[0].call, figure)}{where}."
        return
    pair, rest = named[:2], ("ends above", "scores higher than")[not is_curves]
    if len(named) == 1:
        pair += [fact for fact in known if fact.name == "start" and fact.series == named[0].series]
    if len(pair) > 1 and pair[0].value != pair[1].value:
        low, high = sorted(pair, key=lambda fact: float(fact.value or 0))
        words = f"{_escape(high.series[0])} {rest} {_escape(low.series[0])}"
        if len(named) == 1:
            words = f"{_escape(high.series[0])} ends {'above' if high.name == 'final' else 'below'} its start"
        yield f"\n{_bind(words, 'claim', f'{high.call} > {low.call}', figure)}{where}."


def _bind(words: str, kind: str, text: str, figure: str) -> str:
    quote = "'" if '"' in text else '"'
    return f'[{words}]{{{kind}={quote}{text}{quote} of="{figure}"}}'


def _escape(name: str) -> str:
    return _MARKUP.sub(r"\\\1", name.translate(_BRACKETS))
