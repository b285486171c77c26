"""Archiving a report: its site is built, its files are gathered, described and packed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from reportgen.archive.contents import (
    Member,
    check_members,
    check_size,
    find_secrets,
    list_data_files,
    list_project_files,
)
from reportgen.archive.crate import NAME as CRATE
from reportgen.archive.crate import describe_crate
from reportgen.archive.one_file import ONE_FILE, write_one_file
from reportgen.archive.packing import FileChangedError, Packed, hash_members, make_wheel, write_archive
from reportgen.archive.provenance import NAME as PROVENANCE
from reportgen.archive.provenance import describe_environment, describe_provenance
from reportgen.archive.recording import record_report
from reportgen.core import __version__, intact
from reportgen.core.cache import Cache, FileHashes, cache_folder, make_temporary_folder, replace_file
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage, make_error
from reportgen.core.plugins import BLOCKS, READERS, list_plugins
from reportgen.core.repository import find_data_boundary
from reportgen.review.git import find_repository
from reportgen.settings.loading import find_input_folders
from reportgen.site.checking import draft_report
from reportgen.site.citation import CitedReport, find_cited_report, format_bibtex, format_cff, format_zenodo
from reportgen.site.publishing import collect_warnings, load_configuration, publish
from reportgen.site.replacing.locations import Output
from reportgen.site.replacing.records import check_file, record_file
from reportgen.site.reuse.manifest import check_unchanged, find_provenance
from reportgen.site.sources.freezing import SETTINGS, TABLE, TOOL, write_frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mkdocs.config.defaults import MkDocsConfig

    from reportgen.archive.crate import PackedFile
    from reportgen.archive.provenance import ReportRecord
    from reportgen.site.reuse.manifest import Provenance

_LARGE: Final = 20_000_000
_REQUIREMENTS: Final = Path(__file__).parents[1] / "site" / "starter" / "requirements.txt"


class Options(Struct, frozen=True):
    """What an archive holds; ``allowed`` are paths of files that look as if they held credentials."""

    data: Literal["all", "frozen", "none"] = "all"
    version: str | None = None
    allowed: tuple[str, ...] = ()
    has_site: bool = False
    has_tool: bool = False
    is_live: bool = True
    is_strict: bool = False


class _Archiving(Struct, frozen=True):
    """A report whose site is built and up to date."""

    config: MkDocsConfig
    root: Path
    record: ReportRecord
    provenance: Provenance
    data_dir: str
    cited: CitedReport | None
    options: Options
    scratch: Path
    is_modified: bool
    tree: str  # git's hash of the files of the commit, or empty

    def list_data(self, warn: Callable[[str], None]) -> Iterator[Member]:
        """List the data as the options ask for them.

        A frozen source is in a folder of its name, where blocks find it. The files of a source that no table
        can replace are packed as they are.
        """
        if self.options.data == "all":
            yield from list_data_files(self.root, self.record.sources)
        if self.options.data != "frozen":
            return
        from reportgen.draft.describing import find_source_path, freeze_source  # noqa: PLC0415 - imports the database

        hashes, cache = FileHashes(cache_folder(self.root)), Cache(cache_folder(self.root))
        boundary = find_data_boundary(self.root, self.data_dir)
        for source in self.record.sources:
            if not source.can_freeze:
                warn(f'the source "{source.name}" cannot be one table, so its files are packed as they are')
                yield from list_data_files(self.root, [source])
                continue
            path = find_source_path(source.name, self.root, self.data_dir, boundary)
            frozen = freeze_source(path, self.root, TOOL, hashes, cache, boundary=boundary)
            folder = self.scratch / source.name
            write_frozen(frozen, folder)
            for file in (TABLE, SETTINGS):
                yield Member(f"{self.data_dir}/{source.name}/{file}", folder / file)

    def list_outputs(self, warn: Callable[[str], None]) -> Iterator[Member]:
        """List the report in one file and as numbers, and the files of its figures and tables."""
        site = Path(self.config.site_dir)
        one_file = write_one_file(site, live=self.options.is_live, links="relative", warn=warn)
        yield Member(ONE_FILE, one_file.encode())
        yield Member("report.json", site / "report.json")
        for path in self.record.list_outputs():
            yield Member(path, site / path)

    def list_texts(self) -> Iterator[Member]:
        """List what is written for the archive alone, and the site if it is to be there."""
        title = self.config.site_name
        cite = f"\nCite it as\n\n{format_bibtex(self.cited)}" if self.cited else ""
        data = {
            "all": "data that the report reads",
            "frozen": "data that the report reads, as one table a source where possible",
            "none": "",
        }[self.options.data]
        there = f"  data/                  {data}\n" if data else ""
        tool = f"reportgen {__version__}"
        if self.options.has_tool:
            tool += ", which is here:\npip install --no-index --no-deps mkdocs_reportgen-*.whl"
        readme = _README.format(title=title, rule="=" * len(title), tool=tool, data=there, cite=cite)
        yield Member("README.txt", readme.encode())
        yield Member("verify.py", Path(intact.__file__).read_bytes())
        plugins = [*list_plugins(READERS).values(), *list_plugins(BLOCKS).values()]
        others = {one.package for one in plugins if not one.own}
        also = f"; it may need the readers and blocks of {', '.join(sorted(others))}" if others else ""
        packages = _REQUIREMENTS.read_bytes()
        yield Member("requirements.txt", f"# Of reportgen {__version__}{also}\n".encode() + packages)
        if self.cited:
            yield Member("CITATION.cff", format_cff(self.cited).encode())
            yield Member(".zenodo.json", format_zenodo(self.cited).encode())
        if self.options.has_tool:
            yield Member(*make_wheel())
        yield from self.list_site()

    def list_site(self) -> Iterator[Member]:
        """List the files of the site if it is to be there."""
        site = Path(self.config.site_dir)
        for path in sorted(site.rglob("*")) if self.options.has_site else ():
            if path.is_file():
                yield Member(f"site/{path.relative_to(site).as_posix()}", path)


_README: Final = """\
{title}
{rule}

Read it: open report.html in a browser. It is the whole report in one file and needs no network.

Check it: python3 verify.py says whether every file is as it was written; so does
sha256sum -c manifest-sha256.txt. "reportgen verify" also says which of its statements still hold.

Build it again: with Python 3.11 or newer, install requirements.txt, which needs a package index, and
{tool}.
Then run reportgen build in this folder.

  report.html            the report
  report.json            its numbers, statements and sources
  figures/               each figure as a picture, as a table and as a Vega-Lite specification
  content/, mkdocs.yml   what the report was written as
{data}  provenance.json        which files, settings and statistics each figure comes from
  ro-crate-metadata.json the same for catalogues
  manifest-sha256.txt    the SHA-256 of every other file; its own SHA-256 is the archive's identity
{cite}"""


def read_cited_report(config_file: Path) -> CitedReport:
    """Read how the report of a ``mkdocs.yml`` is cited; raise a ReportError if it does not say so."""
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words)
    cited = find_cited_report(plugin.settings, config, config_file.resolve().parent)
    if cited is None:
        step = 'Add citation: to the reportgen plugin, with authors: [{name: "Given Family"}] at least'
        raise make_error(config_file.name, "it does not say how the report is cited", step, Stage.SETTINGS)
    return cited


def archive_report(
    config_file: Path,
    target: Path,
    options: Options,
    *,
    progress: Callable[[int, int], None],
    warn: Callable[[str | Diagnostic], None],
) -> Packed:
    """Build the site if it is not up to date, and pack the report into a zip file.

    ``progress`` is called with what is done and the whole, while drawing and while packing. Raises a
    ReportError with every problem: the report's own, files that cannot be packed or look like credentials;
    nothing is written then. With strict options, warnings and files that are not committed are errors. If a
    file changes meanwhile, the report is archived as it is now; if one does again, that is an error.
    """
    output = _find_output(target, config_file, "--to")
    check_file(output)
    try:
        packed = _archive(config_file, output, options, progress, warn)
    except (FileChangedError, FileNotFoundError):
        packed = _archive(config_file, output, options, progress, warn)
    record_file(output)
    return packed


def _find_output(path: Path, config_file: Path, option: str) -> Output:
    return Output(path, config_file.resolve().parent, option, find_input_folders(config_file))


def _archive(
    config_file: Path,
    output: Output,
    options: Options,
    progress: Callable[[int, int], None],
    warn: Callable[[str | Diagnostic], None],
) -> Packed:
    _update_site(config_file, options, progress, warn)
    report, _ = draft_report(config_file, progress=progress)
    archiving = _open(config_file, record_report(report), options)
    data = [*archiving.list_data(warn)]
    members = [*list_project_files(archiving.config, archiving.root, archiving.record), *data]
    problems = [*check_members(members, archiving.root)]
    if not any(one.severity is Severity.ERROR for one in problems):
        # Samples are read from files whose own bytes say nothing, or that stay out.
        samples = (one for one in archiving.list_site() if ".samples-" in one.path)
        problems += find_secrets([*members, *samples], options.allowed)
    problems += _check_commit(archiving)
    if any(one.severity is Severity.ERROR for one in problems) or (options.is_strict and problems):
        raise ReportError(*problems)
    for problem in problems:
        warn(problem)
    for words in check_size(data):
        warn(words)
    outputs = [*archiving.list_outputs(warn)]
    inputs, made = hash_members(members), hash_members(outputs)
    described = _describe(archiving, inputs, made)
    texts = [*archiving.list_texts(), Member(PROVENANCE, described.encode())]
    files = dict(sorted((inputs | made | hash_members(texts)).items()))
    figures = json.loads(described)["figures"]
    title = archiving.cited.title if archiving.cited else archiving.config.site_name
    abstract, date = archiving.config.site_description or "", archiving.provenance.date
    crate = describe_crate(files, figures, title=title, abstract=abstract, date=date, cited=archiving.cited)
    last = Member(CRATE, crate.encode())
    # Of two with one path, such as data that are content, too, the later one.
    packed = {one.path: one for one in (*members, *outputs, *texts, last)}
    hashes, environment = files | hash_members([last]), describe_environment()
    return write_archive(output, packed.values(), hashes, date, environment=environment, progress=progress)


def write_report_file(
    config_file: Path,
    target: Path,
    options: Options,
    *,
    progress: Callable[[int, int], None],
    warn: Callable[[str | Diagnostic], None],
) -> int:
    """Build the site if it is not up to date, and write it as one HTML file; returns its size in bytes."""
    output = _find_output(target, config_file, "--one-file")
    check_file(output)
    _update_site(config_file, options, progress, warn)
    with collect_warnings() as words:
        site = Path(load_configuration(config_file, strict=False, words=words)[0].site_dir)
    content = write_one_file(site, live=options.is_live, links="embedded", warn=warn).encode()
    check_file(output)  # somebody may have written it meanwhile
    replace_file(str(target), content)
    record_file(output)
    if len(content) > _LARGE and options.is_live:
        warn(f"{target.name} has {len(content) / 1e6:.0f} MB; --no-live leaves out what makes figures live")
    return len(content)


def _update_site(
    config_file: Path,
    options: Options,
    progress: Callable[[int, int], None],
    warn: Callable[[str | Diagnostic], None],
) -> None:
    """Build the site if it is not up to date."""
    if not check_unchanged(config_file, strict=options.is_strict):
        publish(config_file, strict=options.is_strict, progress=progress, warn=warn)


def _open(config_file: Path, record: ReportRecord, options: Options) -> _Archiving:
    with collect_warnings() as words:
        config, plugin = load_configuration(config_file, strict=False, words=words)
    root = config_file.resolve().parent
    provenance = find_provenance(root)
    cited = find_cited_report(plugin.settings, config, root)
    if cited and options.version:
        cited = replace(cited, citation=cited.citation.model_copy(update={"version": options.version}))
    repository = find_repository(root)
    head = repository.find_head() if repository else None
    scratch = make_temporary_folder(cache_folder(root))
    is_modified = bool(repository and head and repository.is_modified(head.hash, scratch))
    return _Archiving(
        config,
        root,
        record,
        provenance,
        plugin.settings.data_dir,
        cited,
        options,
        scratch,
        is_modified=is_modified,
        tree=head.tree if head else "",
    )


def _check_commit(archiving: _Archiving) -> Iterator[Diagnostic]:
    """Find what an archive cannot say for certain of where it comes from."""
    if archiving.is_modified:
        message = "files differ from the last commit, so the commit that the archive names does not have them"
        yield _make_warning(message, "Commit them first")
    elif not archiving.provenance.commit:
        yield _make_warning("the report is in no git repository, so the archive names no commit", "")
    if not archiving.provenance.date:
        yield _make_warning("the report has no date", "Commit it, or set SOURCE_DATE_EPOCH")
    if archiving.cited is None:
        step = "Add citation: to the reportgen plugin"
        yield _make_warning("the report does not say how it is cited, or under which licence", step)
    elif archiving.cited.citation.license is None:
        yield _make_warning("the report's citation names no licence", "Add license: to it, such as CC-BY-4.0")


def _make_warning(message: str, step: str) -> Diagnostic:
    return Diagnostic(SourceLocation("mkdocs.yml"), message, step, Stage.SITE, Severity.WARNING)


def _describe(
    archiving: _Archiving, members: Mapping[str, PackedFile], outputs: Mapping[str, PackedFile]
) -> str:
    """Write ``provenance.json``."""
    from reportgen.draft.describing import count_rows  # noqa: PLC0415 - imports the drafting

    record = archiving.record
    inputs = {path: file.sha256 for path, file in members.items()}
    # Whatever of them the archive has, figures were drawn from these.
    data = {path: sha256 for source in record.sources for path, sha256 in source.files.items()}
    folder = cache_folder(archiving.root)
    find_hash = FileHashes(folder)
    unchanged = {path: sha256 for path, sha256 in data.items() if find_hash(archiving.root / path) == sha256}
    hashes = {path: file.sha256 for path, file in outputs.items()}
    return describe_provenance(
        record,
        archiving.provenance,
        inputs | data,
        hashes,
        rows=count_rows(archiving.root, unchanged, Cache(folder)),
        data=archiving.options.data,
        modified=archiving.is_modified,
        tree=archiving.tree,
    )
