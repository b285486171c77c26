"""The commands as ``--help`` lists them, and the names that they had before the first release."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from reportgen.cli.envelope import asks_for_json, prepare, print_refusal, run_command
from reportgen.cli.output import print_line
from reportgen.core.terminal import clean_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUPS = {
    "Write": ("init", "add", "context", "serve", "build", "skills"),
    "Check": ("check", "fix", "bind", "facts", "plan"),
    "Review": ("review",),
    "Publish": ("publish", "hub", "archive", "verify", "cite", "export"),
    "Data": ("describe", "freeze", "schema"),
}
_RENAMED = {
    "comment": "review --read --format markdown --fail-on never",
    "pictures": "review --read --fail-on never",
    "observations": "facts --observations",
    "publish assemble": "publish",
}
"""Names from before the first release: each works, with a note."""
_RENAMED_OPTIONS = {"pictures": {"--to": "--pictures", "--most": "--most-pictures"}}


class Commands(click.Group):
    """The commands; the terminal obeys no path in the message about a wrong call."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List them by what they are for."""
        room = formatter.width - max(map(len, self.list_commands(ctx))) - 6
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(room)) for name in names])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Replace a name from before the first release, with a note."""
        is_json = asks_for_json(args)
        prepare(ctx, is_json=is_json)
        try:
            return super().parse_args(ctx, _rename(args))
        except click.UsageError as error:
            if is_json:
                ctx.exit(print_refusal(error, ""))
            raise

    def make_context(self, *args: Any, **extra: Any) -> click.Context:  # noqa: ANN401 - as click declares it
        """Read the options before the command."""
        with _clean_errors():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> None:
        """Read the command's own arguments, run it, and exit with its code."""
        with _clean_errors():
            ctx.exit(run_command(ctx, partial(super().invoke, ctx)))


def _rename(args: list[str]) -> list[str]:
    """Return the words of a command line, with the name that the command has now."""
    for old, new in _RENAMED.items():
        words = old.split()
        if args[: len(words)] == words:
            print_line(f'"reportgen {old}" is now "reportgen {new}"', err=True)
            names = _RENAMED_OPTIONS.get(old, {})
            return [*new.split(), *(_rename_option(word, names) for word in args[len(words) :])]
    return args


def _rename_option(word: str, names: dict[str, str]) -> str:
    name, equals, value = word.partition("=")
    return f"{names.get(name, name)}{equals}{value}"


@contextmanager
def _clean_errors() -> Iterator[None]:
    try:
        yield
    except click.UsageError as error:
        message = error.format_message()
        if (safe := clean_lines(message)) != message:
            raise click.UsageError(safe, error.ctx) from None
        raise
