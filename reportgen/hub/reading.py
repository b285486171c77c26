"""What a hub knows of a report: its files, and a summary of its ``report.json``.

A report may come from anybody, so each value that is not as reportgen writes it is an error of the report.
"""

from __future__ import annotations

import hashlib
import json
import math
from contextlib import ExitStack, contextmanager
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from reportgen.archive.publishing.pages import read_title
from reportgen.archive.publishing.sites import find_page_address, open_given, read_state
from reportgen.core import intact
from reportgen.core.errors import make_error
from reportgen.core.report_json import FORMAT, NO_METHOD, list_values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path
    from typing import IO

    from reportgen.archive.unpacking import OpenedArchive

HOME: Final = "index.html"
REPORT: Final = "report.json"
_SITE: Final = "site/"
_SETTINGS: Final = "mkdocs.yml"
_CITED: Final = ".zenodo.json"
# Parts of a protocol that say what was answered, and not how.
_OF_PROBLEMS: Final = frozenset(("score", "problem set"))


class Value(Struct, frozen=True):
    """A number with its interval, as ``Estimate`` of the draft, whose module imports much."""

    value: float
    low: float | None
    high: float | None
    n: int
    unit: str


class Score(Struct, frozen=True):
    """A number of a report: the score of a series on a benchmark, or the last value of its curve."""

    benchmark: str
    metric: str
    protocol: tuple[tuple[str, str], ...]  # names and texts, sorted; empty if none is stated
    level: float | None  # of its interval
    series: str
    estimate: Value
    step: float | None
    higher_is_better: bool | None
    page: str  # address from the root of its report


class BenchmarkPage(Struct, frozen=True):
    """What a page of a report says of its benchmark: the first of its key results."""

    name: str
    address: str
    verdict: str


class Summary(Struct, frozen=True):
    """A report in short; texts are empty where it does not say."""

    title: str
    version: str
    date: str
    doi: str
    commit: str
    report_sha256: str
    pages: tuple[tuple[str, str], ...]  # titles and addresses
    benchmarks: tuple[BenchmarkPage, ...]
    scores: tuple[Score, ...]
    benchmark_names: tuple[str, ...]  # each once, first those that have a page
    statements: int
    unexpected: int  # statements that are not as expected
    picture: str = ""  # path of its first figure, from its root


class OpenedReport(Struct, frozen=True):
    """A built site, whose files have their paths from its root; ``hashes`` are what an archive states."""

    name: str
    archive: OpenedArchive
    prefix: str
    hashes: Mapping[str, str]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each file in bytes."""
        start = len(self.prefix)
        return {
            name[start:]: size for name, size in self.archive.sizes.items() if name.startswith(self.prefix)
        }

    def is_missing(self, name: str) -> bool:
        """Return whether a file of the site is missing that the archive states, by its name there."""
        return name.startswith(self.prefix) and name not in self.archive.sizes

    def open_file(self, path: str) -> IO[bytes]:
        """Open a file."""
        return self.archive.open_file(f"{self.prefix}{path}")

    def read(self, path: str) -> bytes:
        """Read a whole file; raise a ReportError if that cannot be done."""
        return self.archive.read(f"{self.prefix}{path}")


@contextmanager
def open_report(path: Path, name: str) -> Iterator[OpenedReport]:
    """Open a built site or an archive with its site, packed or not; raise a ReportError if it is neither.

    ``name`` is what the user calls it.
    """
    if not path.exists():
        raise make_error(name, "there is no such file or folder", "Build or archive the report there")
    if path.is_dir() and (path / _SETTINGS).is_file() and not (path / intact.MANIFEST).is_file():
        step = f"Build it with reportgen build -f {name}/{_SETTINGS}, and name the folder of its site"
        raise make_error(name, "this is the source of a report, not its site", step)
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(open_given(path))
        except OSError as error:
            raise make_error(name, f"it cannot be read ({error.strerror or error})") from error
        hashes: Mapping[str, str] = {}
        is_archive = intact.MANIFEST in archive.sizes
        prefix = _SITE if is_archive else ""
        if is_archive:
            if f"{_SITE}{HOME}" not in archive.sizes:
                raise make_error(name, "this archive has no site", "Archive the report with --site")
            with archive.open_file(intact.MANIFEST) as file:
                hashes, problems = intact.read_manifest(file.read(intact.MOST_MANIFEST))
            if problems:
                raise make_error(name, problems[0], "Archive the report again")
        yield OpenedReport(name, archive, prefix, hashes)


def summarize_report(report: OpenedReport) -> Summary:
    """Summarize a report; raise a ReportError if it is none of this format."""
    state = read_state(report.archive, report.prefix)
    content = report.read(REPORT)
    place = f"{report.name}/{report.prefix}{REPORT}"
    value: dict[str, Any] = json.loads(content)
    if (found := value.get("format")) != FORMAT:
        step = "Update reportgen here, or build the report with the version that is used here"
        raise make_error(place, f"it has format {found!r}, and this reportgen reads format {FORMAT}", step)
    cited = f"{report.prefix.removesuffix(_SITE)}{_CITED}"
    try:
        stated = {name: str(value.get(name) or "") for name in ("version", "doi")}
        # An archive may have another version than the site in it was built with.
        if report.prefix and cited in report.archive.sizes:
            said = json.loads(report.archive.read(cited))
            stated |= {name: str(said[name]) for name in stated if said.get(name)}
        files = report.sizes
        pages = [(one, find_page_address(one["path"], files.__contains__)) for one in value["pages"]]
        known = [(one, address) for one, address in pages if address is not None]
        statements = [one for page in value["pages"] for one in page["statements"]]
        benchmarks = tuple(_list_benchmarks(known))
        scores = tuple(score for one, address in known for score in _list_scores(one, address))
        names = (*(one.name for one in benchmarks), *(one.benchmark for one in scores))
        return Summary(
            title=read_title(report.read(HOME)) or "Report",
            **stated,
            date=state.date if _is_date(state.date) else "",
            commit=state.commit,
            report_sha256=hashlib.sha256(content).hexdigest(),
            pages=tuple((str(one["title"] or one["path"]), address) for one, address in known),
            benchmarks=benchmarks,
            scores=scores,
            benchmark_names=tuple(dict.fromkeys(filter(None, names))),
            statements=len(statements),
            unexpected=sum(not one["as_expected"] for one in statements),
            picture=_find_picture((one for one, _ in known), files),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        step = "Build the report again"
        raise make_error(place, f"it cannot be read ({type(error).__name__}: {error})", step) from error


def _is_date(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _find_picture(pages: Iterable[dict[str, Any]], files: Mapping[str, int]) -> str:
    """Find the picture of the first figure of a report, or return ""."""
    paths = (str(path) for page in pages for figure in page["figures"] for path in figure.get("files", ()))
    return next((path for path in paths if path.endswith(".svg") and path in files), "")


def _list_benchmarks(pages: list[tuple[dict[str, Any], str]]) -> Iterator[BenchmarkPage]:
    for page, address in pages:
        if page["benchmark"]:
            facts: dict[str, str] = page["benchmark"]["facts"]
            yield BenchmarkPage(str(page["benchmark"]["name"]), address, str(facts.get("Verdict", "")))


def _list_scores(page: dict[str, Any], address: str) -> Iterator[Score]:
    """List the numbers of a page that belong to a benchmark, each once."""
    declared = page["benchmark"] or {"name": "", "facts": {}}
    words = str(declared["facts"].get("Protocol", ""))
    seen = set()
    for shown in (*page["stacks"], *page["figures"]):
        numbers = shown["numbers"]
        for series, of_value, value, protocol in list_values(numbers):
            benchmark = of_value or numbers.get("benchmark") or declared["name"]
            metric = value.get("metric") or numbers.get("metric") or "score"
            key = benchmark, series, metric
            if not benchmark or value["value"] is None or key in seen:
                continue
            seen.add(key)
            stated = {str(name): str(text) for name, text in protocol.items() if name not in NO_METHOD}
            # What a source states is more exact than the words of the page about its benchmark.
            if not stated.keys() - _OF_PROBLEMS:
                stated = {**stated, "protocol": words} if words and benchmark == declared["name"] else {}
            yield Score(
                benchmark=str(benchmark),
                metric=str(metric),
                protocol=tuple(sorted(stated.items())),
                level=_read_number(value.get("level") or numbers.get("level")),
                series=str(series),
                estimate=_read_estimate(value),
                step=_read_number(value.get("step")),
                higher_is_better=numbers.get("higher_is_better"),
                page=address,
            )


def _read_estimate(value: Mapping[str, Any]) -> Value:
    low, high = (_read_number(value.get(name)) for name in ("low", "high"))
    centre = _read_number(value["value"])
    if centre is None:
        raise ValueError("a score is not a number")
    unit = "run" if "n" in value else "problem"
    return Value(centre, low, high, int(value.get("n") or value.get("problems") or 0), unit)


def _read_number(value: object) -> float | None:
    if value is None:
        return None
    number = float(value)  # type: ignore[arg-type]  # whatever else raises an error of the report
    if not math.isfinite(number):
        raise ValueError(f"{number} is not finite")
    return number
