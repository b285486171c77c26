"""What a command answers: result, diagnostics and exit code, printed by ``--format json`` as an envelope.

The standard output of such a command is the envelope and nothing else, whatever the command prints; standard
error is left to progress, where it is a terminal.
"""

from __future__ import annotations

import io
import sys
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any, Final, Literal

import click
import msgspec
from msgspec import Struct

from reportgen.core.terminal import clean_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from reportgen.core.errors import Diagnostic

FORMAT: Final = 1
"""A new number means that something was renamed or removed."""
_FOUND: Final = "reportgen.diagnostics"
_IS_JSON: Final = "reportgen.json"


class Answer(Struct, frozen=True):
    """What a command returns: its result, None if there is none, and its exit code."""

    result: Struct | msgspec.Raw | None = None
    code: int = 0


class EnvelopeDiagnostic(Struct, frozen=True, forbid_unknown_fields=True):
    """An error or warning; ``next`` is what to do about it, and null is what is not known."""

    severity: Literal["error", "warning"]
    id: str  # the rule of a statement, the id that accept: takes, or words of the message
    file: str | None
    line: int | None
    column: int | None
    message: str
    next: str


class Envelope(Struct, frozen=True, forbid_unknown_fields=True):
    """What a command found; ``ok`` is whether its exit code is 0."""

    format: Literal[1]
    command: str
    ok: bool
    diagnostics: tuple[EnvelopeDiagnostic, ...]
    result: Any


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Whether a command line asks for an envelope; its help is text."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    pairs = zip(words, [*words[1:], ""], strict=True)
    is_json = "--format=json" in words or ("--format", "json") in pairs
    return is_json and not {"-h", "--help"} & {*words}


def prepare(context: click.Context, *, is_json: bool) -> None:
    """Collect the diagnostics of a command that is about to run."""
    context.meta[_FOUND], context.meta[_IS_JSON] = [], is_json


def prints_json() -> bool:
    """Whether the command that runs prints an envelope, so that it need not print its result."""
    context = click.get_current_context(silent=True)
    return bool(context and context.meta.get(_IS_JSON))


def collect(problem: Diagnostic) -> None:
    """Add a diagnostic to the envelope of the command that runs."""
    context = click.get_current_context(silent=True)
    if context and _FOUND in context.meta:
        context.meta[_FOUND].append(problem)


def run_command(context: click.Context, run: Callable[[], Any]) -> int:
    """Run a command, print its envelope if that is asked for, and return its exit code."""
    if not context.meta[_IS_JSON]:
        answer = run()
        return answer.code if isinstance(answer, Answer) else 0
    refusal: click.ClickException | None = None
    answer, code = None, 0
    with ExitStack() as silence:
        silence.enter_context(redirect_stdout(io.StringIO()))
        if not sys.stderr.isatty():
            silence.enter_context(redirect_stderr(io.StringIO()))
        try:
            answer = run()
        except click.ClickException as error:
            refusal = error
        except click.exceptions.Exit as end:
            code = end.exit_code
        except SystemExit as end:
            code = int(end.code or 0)
    if refusal is not None:
        return print_refusal(refusal, context.invoked_subcommand or "")
    answer = answer if isinstance(answer, Answer) else Answer(code=code)
    found = tuple(map(_describe, context.meta[_FOUND]))
    _print(context.invoked_subcommand or "", answer, found)
    return answer.code


def print_refusal(error: click.ClickException, command: str) -> int:
    """Print the envelope of a command line that is wrong, and return its exit code."""
    called = f"reportgen {command}".rstrip()
    words = (error.format_message(), f"{called} --help lists what it takes.")
    _print(command, Answer(code=error.exit_code), (_make_error("usage", *words),))
    return error.exit_code


def _make_error(name: str, message: str, step: str) -> EnvelopeDiagnostic:
    return EnvelopeDiagnostic("error", name, None, None, None, message, step)


def _describe(problem: Diagnostic) -> EnvelopeDiagnostic:
    from reportgen.draft.accepting import make_warning_id

    place = problem.location
    name = problem.id or problem.rule or make_warning_id(problem.message)
    where = place.file or None, place.line, place.column
    return EnvelopeDiagnostic(problem.severity.value, name, *where, problem.message, problem.next_step)


def _print(command: str, answer: Answer, found: tuple[EnvelopeDiagnostic, ...]) -> None:
    envelope = Envelope(FORMAT, command, answer.code == 0, found, answer.result)
    click.echo(clean_json(format_json(envelope)))


def format_json(value: object) -> str:
    """Return a value as readable JSON; what is no Unicode in names of files becomes ``?``."""
    try:
        text = msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = msgspec.json.encode(_replace_surrogates(msgspec.to_builtins(value)))
    return msgspec.json.format(text, indent=2).decode()


def _replace_surrogates(value: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_replace_surrogates(key): _replace_surrogates(one) for key, one in value.items()}
    return [*map(_replace_surrogates, value)] if isinstance(value, list | tuple) else value
