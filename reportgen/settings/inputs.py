"""What authors give, with its validated settings: sources of data, fenced blocks and pages. No logic."""

from __future__ import annotations

from collections.abc import Mapping  # noqa: TC003 - the schema of stored sources needs it at run time
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from msgspec import Struct, field

# The schema of stored sources needs these at run time.
from reportgen.core.errors import Diagnostic, SourceLocation  # noqa: TC001
from reportgen.core.model import SourceFile  # noqa: TC001
from reportgen.settings.source import SourceSettings  # noqa: TC001

if TYPE_CHECKING:
    from reportgen.core.statements import Binding
    from reportgen.settings.block_parts import BlockSettings
    from reportgen.settings.report import FrontMatter


class SourcePart(Struct, frozen=True):
    """A source that is shown together with others."""

    source: Source
    names: dict[str, str]  # each of its series: the name among those of all
    step: str  # what its steps are called; empty if it has none


class Source(Struct, frozen=True):
    """A file or folder of ``data/``, opened and understood but not yet read.

    Its kind is ``outcomes`` where a row is one answer to one problem, ``totals`` where it is the score of a
    whole benchmark.
    """

    name: str  # name in blocks: the path below data/ without its suffix, such as math500
    location: SourceLocation  # its source.yml or, without one, the file or folder
    settings: SourceSettings
    files: tuple[SourceFile, ...]  # every data file, in reading order
    metrics: tuple[str, ...]  # in order of first appearance (long table) or of columns (wide table)
    columns: tuple[str, ...]  # all columns of the table, for messages and filter:
    digest: str  # SHA-256 in hex of its name, files in order, settings and warnings
    warnings: tuple[Diagnostic, ...] = ()
    layout: object = field(default=None)  # used by reportgen.read only; encoded if from the cache
    kind: Literal["measurements", "outcomes", "totals"] = "measurements"
    benchmarks: tuple[str, ...] = ()  # in order of first appearance; empty without a benchmark column
    # Benchmarks on which a smaller total is better; an empty name means totals without benchmarks.
    lower_is_better: tuple[str, ...] = ()
    higher_is_better: dict[str, bool] = field(default_factory=dict)  # of metrics, where it is logged
    numbers: tuple[str, ...] = ()  # settings of finished runs that can be an axis as a metric can
    slices: tuple[str, ...] = ()  # columns of outcomes without a role, which can be sliced by
    score_range: tuple[float, float] = (0.0, 1.0)  # lowest and highest possible score of outcomes
    is_sampled: bool = False  # whether rows that were not looked at may have further metrics
    can_freeze: bool = True  # whether a table can replace it, apart from its evaluations of checkpoints
    # Its evaluations of checkpoints as curves over the step of training, if it has such.
    checkpoints: Source | None = None
    parts: tuple[SourcePart, ...] = ()  # of several sources shown together; empty for a source of its own


def get_settings_file(source: Source) -> str:
    """Return the path of a source's ``source.yml`` from the project, whether there is one or not."""
    path, name = PurePosixPath(source.location.file), PurePosixPath(source.name).name
    if source.parts or path.name.endswith("source.yml"):
        return "source.yml" if source.parts else str(path)
    is_file = path.name.startswith(f"{name}.")
    return str(path.with_name(f"{name}.source.yml") if is_file else path / "source.yml")


def name_settings(source: Source) -> tuple[str, Mapping[str, str]]:
    """Return a source's settings file, and what it says for each column if not its name: paths in JSON."""
    return get_settings_file(source), source.settings.fields if source.settings.format == "mapped" else {}


class Block(Struct, frozen=True):
    """A fenced block as its author wrote it."""

    kind: str  # language of the fence, such as curve
    id: str  # unique on its page: id: in the body, otherwise the slug of its title, metric or kind
    settings: BlockSettings
    location: SourceLocation  # of the opening fence
    body: str  # without the fence's own indentation


class Reference(Struct, frozen=True):
    """A reference in prose to a figure or table, with the path of its page and its id."""

    page: str
    id: str
    location: SourceLocation


class Page(Struct, frozen=True):
    """A Markdown page; ``path`` is relative to the content folder, ``file`` to the project (for messages).

    The path of a document, which has statements and no place on the site, begins with ``./`` or ``../``.
    """

    path: str
    file: str
    title: str
    front_matter: FrontMatter
    blocks: tuple[Block, ...]
    text: str
    generated: bool = False
    bindings: tuple[Binding, ...] = ()
    references: tuple[Reference, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)  # by dotted name
    percent: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by source: metrics in percent
    template: str = ""  # path of the file that several pages are made of; empty for a page of its own

    @property
    def is_document(self) -> bool:
        """Whether it is a text file whose statements are checked, and no page of the site."""
        return self.path.startswith(("./", "../"))
