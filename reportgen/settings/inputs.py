"""What authors give, with its validated settings: sources of data, fenced blocks and pages. No logic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from reportgen.core.errors import Diagnostic, SourceLocation
    from reportgen.core.model import SourceFile
    from reportgen.core.statements import Binding
    from reportgen.settings.blocks import BlockSettings
    from reportgen.settings.report import FrontMatter
    from reportgen.settings.source import SourceSettings


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder of ``data/``, opened and understood but not yet read.

    Attributes:
        name: the name blocks use, the path below ``data/`` without its ending (``math500``).
        location: its ``source.yml`` if there is one, otherwise the file or folder.
        settings: what ``source.yml`` says, or the defaults.
        files: every data file read, in reading order.
        metrics: metric names in order of first appearance (a long table), or of columns (a wide one).
        columns: every column name of the table, for error texts and ``filter:``.
        digest: SHA-256 in hex of what decides its numbers: the files' content, in order, and its settings.
        warnings: what was found and handled; told to the user and on the page.
        layout: what ``reportgen.read`` needs to read it; of no use to anybody else.
        kind: ``outcomes`` where a row is one answer to one problem, ``totals`` where it is the score of a
            whole benchmark, otherwise ``measurements``.
        benchmarks: values of the benchmark column, in order of first appearance; empty without one.
        lower_is_better: those of them on which a smaller total is the better one, as the harness or the name
            of the metric says; an empty name stands for totals without benchmarks.
        slices: columns of outcomes that play no part and can be sliced by, as written.
        score_range: the lowest and the highest score that outcomes may hold.
    """

    name: str
    location: SourceLocation
    settings: SourceSettings
    files: tuple[SourceFile, ...]
    metrics: tuple[str, ...]
    columns: tuple[str, ...]
    digest: str
    warnings: tuple[Diagnostic, ...] = ()
    layout: object = field(default=None, repr=False, compare=False)
    kind: Literal["measurements", "outcomes", "totals"] = "measurements"
    benchmarks: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    slices: tuple[str, ...] = ()
    score_range: tuple[float, float] = (0.0, 1.0)


# ---- narrative ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block as its author wrote it.

    Attributes:
        kind: the fence's language: ``curve``, ``panels``, ``table``, ``overview``, ``vega-lite``,
            ``altair``.
        id: unique on its page: ``id:`` of the body, otherwise the slug of its title, metric or kind.
        settings: the validated body.
        location: file and line of the opening fence.
        body: the text between the fences, without the fence's own indentation.
    """

    kind: str
    id: str
    settings: BlockSettings
    location: SourceLocation
    body: str


@dataclass(frozen=True, slots=True)
class Page:
    """One Markdown page.

    ``path`` is relative to the content folder, ``file`` to the project (for problems).
    """

    path: str
    file: str
    title: str
    front_matter: FrontMatter
    blocks: tuple[Block, ...]
    text: str
    generated: bool = False
    bindings: tuple[Binding, ...] = ()
