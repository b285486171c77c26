"""The MkDocs plugin: drafts the report before the site is changed, then inserts figures into its pages.

It also works with properdocs, the compatible fork, which can be imported as ``mkdocs``.
"""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jinja2 import Environment, StrictUndefined, Template, Undefined
from mkdocs.config.config_options import ExtraScriptValue
from mkdocs.plugins import BasePlugin, CombinedEvent, event_priority

from reportgen.core.cache import Cache, FileHashes, cache_folder
from reportgen.core.errors import Diagnostic, ReportError, Severity, SourceLocation, Stage, make_error
from reportgen.core.terminal import clean_text
from reportgen.narrative.binding_syntax import has_binding_marks
from reportgen.narrative.markdown_extensions import BindingsExtension
from reportgen.narrative.markup import find_fences
from reportgen.narrative.notebooks import LARGEST, is_notebook, match_cells, read_cells
from reportgen.narrative.references import ReferencesExtension, locate_target, make_link
from reportgen.narrative.templates import replace_variables
from reportgen.settings.loading import load_project
from reportgen.settings.text import NESTED_TOO_DEEP, read_text
from reportgen.site.assembly import Assembly
from reportgen.site.citation import find_cited_report
from reportgen.site.files import (
    JUPYTER,
    BoundedSnippets,
    find_language_folder,
    find_missing_anchors,
    find_output,
    make_page,
    make_project,
    render_cells,
    warn_of_omitted_pages,
)
from reportgen.site.fragments import UndraftedBlockError, make_custom_fences
from reportgen.site.navigation import WHOLE_LIST, NavigationTree
from reportgen.site.outputs import find_outputs
from reportgen.site.replacing.records import check_output
from reportgen.site.reuse import manifest
from reportgen.site.reuse.added_files import Additions, add_files
from reportgen.site.reuse.pages import PageStore, has_known_inputs
from reportgen.site.reuse.templates import THEME, CompiledTemplates
from reportgen.site.security import read_inline_scripts
from reportgen.site.serving import (
    ReportProblemsError,
    ServedBuild,
    answer_requests,
    find_page_numbers,
    hide_printed_problems,
    locate_problems,
)
from reportgen.site.worker import BackgroundJobs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.livereload import LiveReloadServer
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext

    from reportgen.draft.report import Report
    from reportgen.settings.report import Project, ProjectSettings
    from reportgen.site.outputs import PageOutputs
    from reportgen.site.reuse.manifest import LastBuild

log = logging.getLogger("mkdocs.plugins.reportgen")  # only those below this name count for --strict

ASSETS = "assets/reportgen"


class ReportPlugin(BasePlugin):  # type: ignore[type-arg, no-untyped-call]
    """``plugins: [reportgen]``: fenced blocks become figures, benchmarks get pages.

    ``compare`` says what to add to a drafted report; it drafts the report itself if that is None.
    """

    def __init__(self) -> None:
        self.progress: Callable[[int, int], None] = lambda _done, _all: None
        self.last_build: LastBuild | None = None
        self.compare: Callable[[Report | None], Additions] | None = None
        self.report: Report
        self.outputs: Mapping[str, PageOutputs]
        self._addresses: Mapping[str, str] = {}  # of the pages of the last build, by path
        self.warned: list[Diagnostic] = []
        self._serving = self._dated = False
        self._in_place: Path | None = None  # the site if MkDocs writes it there, and nobody swaps it
        self.settings: ProjectSettings
        self._root: Path
        self._assemblies: list[Assembly] = []  # by language, the current one last; most sites have one
        self._store: PageStore | None = None
        self._nav: Navigation
        self._tree: NavigationTree
        self._spans = BindingsExtension()
        self._env: Environment | None = None
        self._content = self._reading = self._converting = ""
        # Whether another plugin replaces names that we do not know, and where the text of a page begins.
        self._others, self._first_line = False, 1
        self._unsafe: list[Diagnostic] = []

    def load_config(
        self, options: dict[str, Any], config_file_path: str | None = None
    ) -> tuple[list[tuple[str, Exception]], list[tuple[str, str]]]:
        """Check the plugin's settings, with our own messages and their lines in ``mkdocs.yml``."""
        if sys.flags.optimize > 1:
            message = "Python runs without docstrings (-OO or PYTHONOPTIMIZE=2), which Altair needs"
            return [("reportgen", ValueError(f"{message}; run it without"))], []
        path = Path(config_file_path or "mkdocs.yml")
        text = path.read_text(encoding="utf-8") if path.is_file() else None
        self._root = path.resolve().parent
        try:
            manifest.check_build_date()
            self.settings = load_project(options, SourceLocation(path.name), text)
        except ReportError as error:
            return [("reportgen", ValueError(clean_text(str(problem)))) for problem in error.problems], []
        return [], []

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:  # noqa: ARG002 - MkDocs names it
        """Store whether pages are served with live reload."""
        self._serving = command == "serve"

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Make Markdown pass our fences on, and every theme load our styles and script."""
        self._dated = manifest.fix_build_date(self._root) or self._dated
        extensions: list[object] = [*config.markdown_extensions]
        if any(extension is self._spans for extension in extensions):
            return config  # the same settings again, for another language
        warn_of_omitted_pages(config)
        if "pymdownx.superfences" not in config.markdown_extensions:
            config.markdown_extensions.append("pymdownx.superfences")
        fences = config.mdx_configs.setdefault("pymdownx.superfences", {}).setdefault("custom_fences", [])

        def mark(kind: str, body: str) -> str:
            # The assembly is set later, and changes with the language.
            return self._assembly.fences.mark(kind, body)

        fences += make_custom_fences(mark)
        self._spans = BindingsExtension()
        added: list[Any] = [self._spans, ReferencesExtension(self._resolve)]  # Markdown takes names and these
        if "pymdownx.snippets" in config.markdown_extensions:
            added.append(BoundedSnippets(config, self._root, lambda: self._reading))
        if self.settings.untrusted:
            from reportgen.narrative.raw_html import NoRawHtml  # noqa: PLC0415 - few reports need it

            added.append(NoRawHtml())
        config.markdown_extensions += added
        # Otherwise an aligned column would get a style attribute, which our policy refuses.
        config.mdx_configs.setdefault("tables", {}).setdefault("use_align_attribute", True)
        own = ("tokens", "figure", "statements")  # other themes do not have our fonts
        names = own if config.theme.name == "reportgen" else ("fonts/fonts", *own)
        config.extra_css = [*(f"{ASSETS}/{name}.css" for name in names), *config.extra_css]
        script = ExtraScriptValue(f"{ASSETS}/live.js")
        script.defer = True
        config.extra_javascript = [script, *config.extra_javascript]
        return config

    def _resolve(self, words: str, target: str) -> tuple[str, str]:
        """Return address and text of a reference on the page that is converted."""
        page = self._converting
        return make_link(words, target, page, self._assembly.label_blocks(locate_target(page, target)[0]))

    def on_pre_build(self, *, config: MkDocsConfig) -> None:
        """Draft the whole report: if it has a problem, MkDocs stops before it clears the old site."""
        try:
            project = self.make_project(config)
            report, outputs, additions, jobs = self._draft(project, config)
        except ReportError as error:
            raise ReportProblemsError(error.problems) from error
        for problem in report.problems:
            self._warn(problem)
        self.report = report
        self._content, self._unsafe, self._others = project.content_dir, [], project.macros
        searching = "search" in config.plugins
        scripts = read_inline_scripts(ASSETS, searching=searching) if self.settings.untrusted else None
        self._assemblies.append(
            Assembly(
                report,
                self._root,
                jobs,
                self.last_build,
                self._spans.seen,
                outputs=outputs,
                site_url=config.site_url or "",
                folder=find_language_folder(config),
                serving=self._serving,
                scripts=scripts,
                additions=additions,
                cited=find_cited_report(self.settings, config, self._root),
                feed_id=self.settings.feed_id,
            )
        )
        self._store = None
        if additions is None and not self.settings.untrusted and has_known_inputs(config):
            assembly = self._assembly
            self._store = PageStore(
                Cache(cache_folder(self._root)),
                config,
                self._spans,
                mode="serve" if self._serving else "build",
                get_inputs=assembly.describe_inputs,
                get_context=lambda page: assembly.describe_context(page.file.src_uri, page.url),
            )

    def _draft(
        self, project: Project, config: MkDocsConfig
    ) -> tuple[Report, dict[str, PageOutputs], Additions | None, BackgroundJobs]:
        from reportgen.draft.opening import free_memory  # noqa: PLC0415 - as below
        from reportgen.draft.report import draft  # noqa: PLC0415 - imports the statistics

        folder = cache_folder(self._root)
        cache = Cache(folder)
        with_cards = bool(config.site_url) and not self._serving  # they are loaded by an absolute address
        jobs = BackgroundJobs(cache, len(project.page_paths), with_cards=with_cards)
        is_first, additions = not self._assemblies, None  # later languages join the first
        try:
            if not self._serving and is_first:
                check_output(find_output(config, self._root, self.settings.data_dir), folder)
                self._in_place = Path(config.site_dir) if self.last_build is None else None
            report = draft(
                project,
                cache,
                FileHashes(folder),
                progress=self.progress,
                drawn=jobs.start_drawn,
                start_worker=jobs.worker.call,
            )
            outputs = {page.path: find_outputs(page, report, cache) for page in report.pages}
            for page, output in outputs.items():
                jobs.start_jobs(page, output.figures, output.views)
            if self.compare and is_first:
                # Of a site in several languages, this is only the first one's part.
                additions = self.compare(None if "i18n" in config.plugins else report)
        except ReportError:
            jobs.worker.abandon()
            raise
        if not self._serving:  # which reads again at the next change
            free_memory()
        return report, outputs, additions, jobs

    @property
    def _assembly(self) -> Assembly:
        return self._assemblies[-1]

    @event_priority(-150)
    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Add generated pages, figure files and our assets, once a language has its pages (-100)."""
        for page in self._assembly.report.pages:
            if page.template and (written := files.get_file_from_path(page.template)):
                files.remove(written)
            if page.generated or page.template:
                files.append(make_page(config, page.path, page.text, page.template))
        taken = {file.dest_uri for file in files}
        fonts = config.theme.name != "reportgen"
        outputs = dict(self._assembly.list_files(ASSETS, taken, fonts=fonts))
        return add_files(files, config, outputs, self.report.pages, are_listed=self._store is None)

    @event_priority(-150)
    def on_nav(self, nav: Navigation, *, files: Files, **_: object) -> Navigation:
        """Store the navigation, once all files are known; titles from headings are not known yet."""
        self._nav = nav
        if self._store:
            self._store.add_files(files)
        return nav

    def on_env(self, env: Environment, *, config: MkDocsConfig, files: Files) -> Environment:
        """Make our own templates escape variables and refuse undefined names."""
        if self._unsafe:
            raise ReportProblemsError(tuple(self._unsafe))
        if config.validation.links.anchors >= logging.INFO:
            for problem in find_missing_anchors(files, self._content, self._assembly.list_ids):
                self._warn(problem)
        self._assembly.set_addresses(files)
        self._tree = NavigationTree(self._nav)
        if self._store:
            self._store.find_rendered(files, self._tree, config)
        if config.theme.name == "reportgen":
            env.autoescape = True
            env.undefined = StrictUndefined
            if self._store:  # otherwise, another plugin may change how templates are compiled
                env.bytecode_cache = CompiledTemplates("pages")
            self._env = env
            # Pages of problems or of all pages that nobody needs would be rendered for nothing.
            if not self._assembly.context["has_problems"]:
                config.theme.static_templates.discard("problems.html")
            if self._tree.is_whole:
                config.theme.static_templates.discard(WHOLE_LIST)
        return env

    def on_pre_template(self, template: Template, *, config: MkDocsConfig, **_: object) -> Template:
        """Let templates of other plugins or MkDocs, such as a site map, print undefined names."""
        if config.theme.name == "reportgen" and not Path(template.filename or "").is_relative_to(THEME):
            template.environment.undefined = Undefined
        return template

    def on_post_template(self, output: str, **_: object) -> str:
        """Refuse undefined names again."""
        if self._env:
            self._env.undefined = StrictUndefined
        return output

    @event_priority(-100)
    def on_pre_page(self, page: Page, *, config: MkDocsConfig, **_: object) -> Page:
        """Convert cells of a notebook ourselves, once mkdocs-jupyter has said how to render it (0)."""
        if JUPYTER in config.plugins and is_notebook(page.file.src_uri):
            page.render = partial(self._render_notebook, page, page.render)  # type: ignore[method-assign]
        return page

    def _render_notebook(
        self, page: Page, convert: Callable[..., None], config: MkDocsConfig, files: Files
    ) -> None:
        """Let mkdocs-jupyter render a notebook, then replace its cells that show something of ours."""
        convert(config, files)
        path = page.file.src_uri
        if not any(one.path == path and (one.blocks or one.bindings) for one in self.report.pages):
            return
        source = read_text(Path(page.file.abs_src_path or ""), self._reading, Stage.NARRATIVE, LARGEST)
        cells = read_cells(source, self._reading)
        texts = {
            index: cell.text
            for index, cell in enumerate(cells)
            if has_binding_marks(cell.text) or find_fences(cell.text, cell.file)
        }
        shown = match_cells(page.content or "", cells)
        if not texts.keys() <= {*shown}:
            message = "no block or bound value is shown in this notebook: its page leaves out Markdown cells"
            step = "Remove the tags that remove these cells"
            self._warn(Diagnostic(SourceLocation(self._reading), message, step, Stage.SITE, Severity.WARNING))
        else:
            self._assembly.fences.enter_page(path, *texts.values())
            page.content = render_cells(page, shown, texts, config, files)

    @event_priority(100)
    def _replace_variables(self, /, markdown: str, *, page: Page, **_: object) -> str:
        """Replace variables as the draft did, before another plugin finds names that it does not know."""
        drafted = self._assembly.get_page(page.file.src_uri)
        if drafted is None or drafted.template or is_notebook(drafted.path):
            return markdown
        place, others = SourceLocation(drafted.file), self._others
        return replace_variables(markdown, drafted.variables, place, others=others)

    def _enter_page(self, /, markdown: str, *, page: Page, **_: object) -> str:
        """Store the page of the next fences; a notebook is JSON, and its cells are Markdown."""
        self._converting = page.file.src_uri
        self._reading = f"{self._content}/{self._converting}"
        self._first_line = 1 + page.file.content_string.count("\n") - markdown.count("\n")
        self._assembly.fences.set_salt(self._converting, markdown)
        if not is_notebook(page.file.src_uri) and not (self._store and self._store.restore(page, markdown)):
            self._assembly.fences.enter_page(self._converting, markdown)
        return markdown

    on_page_markdown = CombinedEvent(_replace_variables, _enter_page)

    def on_page_content(self, html: str, *, page: Page, files: Files, **_: object) -> str:
        """Insert what we say under a page's title and at its end, and let links find its figures."""
        if self._store and self._store.is_converted(page.file.src_uri):
            return html
        if self.settings.untrusted:
            from reportgen.site.security import check_html  # noqa: PLC0415 - few reports need it

            mark = self._assembly.fences.get_salt(page.file.src_uri)
            self._unsafe += check_html(html, page.file.content_string, self._reading, mark)
            if "template" in page.meta:
                message = "untrusted: true lets no page choose its template"
                step = "Remove template: from its front matter"
                self._unsafe.append(Diagnostic(SourceLocation(self._reading), message, step))
        if page.present_anchor_ids is not None:
            page.present_anchor_ids.update(self._assembly.list_ids(page.file.src_uri))
        content = self._assembly.insert_own(html, page, files)
        if self._store:
            self._store.store_conversion(page, content)
        return content

    def on_page_context(self, context: TemplateContext, *, page: Page, **_: object) -> TemplateContext:
        """Add the page to our theme's context, unless an earlier build rendered it."""
        if self._store and self._store.get_html(page.file.src_uri):
            return context
        own = self._assembly.make_page_context(page.file.src_uri, page.url)
        context["rg"] = own | {"navigation": self._tree.make_context(page)}  # type: ignore[typeddict-unknown-key]
        return context

    def on_template_context(self, context: TemplateContext, **given: object) -> TemplateContext:
        """Add the site to our theme's context, on pages without Markdown such as 404."""
        listed = {"navigation": self._tree.make_context(None), "all_pages": self._tree.list_all()}
        context["rg"] = self._assembly.make_site_context(given["template_name"]) | listed  # type: ignore[typeddict-unknown-key]
        return context

    @event_priority(-100)
    def on_post_page(self, output: str, *, page: Page, config: MkDocsConfig) -> str:
        """Insert the figures, after the search index has read the page.

        An unchanged page is taken from the old site: MkDocs writes no file for an empty page.
        """
        return self._assembly.finish_page(output, page, config.site_dir, self._warn, self._store)

    @event_priority(-150)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write what is known only at the end: report.json, link cards and the search script.

        The other languages are built before that (-100), within the build of the default one.
        """
        assembly, store = self._assemblies.pop(), self._store
        assembly.finish(config, store.get_search_index() if store else None, full=self.settings.llms_full)
        self.report, self.outputs, self._addresses = assembly.report, assembly.outputs, assembly.addresses
        self._end_build()

    def on_build_error(self, error: Exception, **_: object) -> None:
        """Restore the environment, and explain a page's error in our own words."""
        self._assemblies.clear()
        self._end_build()
        if isinstance(error, RecursionError | UndraftedBlockError):
            message, step = NESTED_TOO_DEEP if isinstance(error, RecursionError) else error.args
            error = make_error(self._reading, message, step, Stage.NARRATIVE)
        if isinstance(error, ReportError):
            problems = locate_problems(error.problems, self._reading, self._first_line)
            raise ReportProblemsError(problems) from error

    def _end_build(self) -> None:
        if self._in_place:
            manifest.record_in_place(self._in_place, self._root)
        if self._dated:
            manifest.restore_build_date()
            self._dated = False

    def on_serve(self, server: LiveReloadServer, config: MkDocsConfig, **_: object) -> LiveReloadServer:
        """Rebuild when data change, too, show problems, and answer only to this machine's names."""
        hide_printed_problems()
        server.builder = build = ServedBuild(
            server.builder, lambda url: find_page_numbers(self.report, self._root, self._addresses, url)
        )
        server.set_app(answer_requests(server, config, build))
        for name in (self.settings.data_dir, *self.make_project(config).documents):
            server.watch(str(self._root / name))
        return server

    def _warn(self, problem: Diagnostic) -> None:
        self.warned.append(problem)
        log.warning("%s", clean_text(str(problem)))

    def make_project(self, config: MkDocsConfig) -> Project:
        """Return the report that these settings describe."""
        return make_project(config, self._root, self.settings, with_drafts=self._serving)
