"""The `ctxpolicy` command: a group that loads a command's module only when it is called.

Exit codes: 0 clean, 1 findings or failed conversations, 2 bad usage or unreadable input, 3 internal error. A command
returns its code. Only this package prints and exits.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator
from typing import Any

import click

from ctxpolicy.errors import CtxPolicyError, PolicyInvalid

# Name and one-line help; the commands' own say the same, which a test checks. `--help` loads none of their modules.
COMMANDS = {
    "check": "Check policy files: errors at line and column, with hints.",
    "apply": "Apply a policy to transcripts.",
    "inspect": "Show what fills the window and what the next call would do.",
    "simulate": "Watch a policy work through a session, and judge it.",
    "replay": "Show what a loop would have sent at each recorded model call.",
    "demo": "Play a short session and show what its policy does.",
    "explain": "Say why a message stays or leaves, and why a rule acts or not.",
    "test": "Run the tests beside policies.",
    "diff": "Compare what two policies do to the same transcripts.",
    "lint": "Judge transcripts by the rules of their provider.",
    "restore": "Put back what a policy took out.",
    "archive": "List or show what policies took out.",
    "show": "Print the effective policy and where each value comes from.",
    "init": "Write a commented policy to start from.",
    "formats": "List the formats that are read and written.",
    "schema": "Print the JSON Schema of the policy language.",
    "explain-code": "Say what a code means, with a bad and a good example.",
}
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
TERMINATED = 143  # 128 + SIGTERM
PIPE_CLOSED = 141  # 128 + SIGPIPE
INTERNAL = 3

_EPILOG = """\
Shell completion: eval "$(_CTXPOLICY_COMPLETE=bash_source ctxpolicy)", likewise zsh_source and fish_source.

Exit codes: 0 clean, 1 findings or failed conversations, 2 bad usage or unreadable input, 3 internal error.
"""


class _Commands(click.Group):
    """Loads commands when asked, and turns every error into a line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"ctxpolicy.cli.{name.replace('-', '_')}").command
        if not any(option.name == "debug" for option in command.params):
            command.params.append(_debug_option())
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, 1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Commands are {', '.join(COMMANDS)}."
            ctx.fail(f"No such command {name!r}. {hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """What `click` does, but for output that cannot be written: `--help` prints before a command runs."""
        try:
            return super().main(*args, **kwargs)
        except OSError as error:
            _abandon_stdout()
            click.echo(f"error: standard output cannot be written: {error.strerror or error}", err=True)
            sys.exit(2)

    def invoke(self, ctx: click.Context) -> Any:
        _never_fail_to_print()
        with _termination_interrupts():
            code = self._code(ctx)
        ctx.exit(code)

    def _code(self, ctx: click.Context) -> int:
        try:
            code: int = super().invoke(ctx) or 0
            sys.stdout.flush()  # here, where a closed pipe can still be handled
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            _abandon_stdout()
            code = PIPE_CLOSED
        except (KeyboardInterrupt, click.Abort) as interrupt:
            click.echo("interrupted; no file was left half-written", err=True)
            code = TERMINATED if isinstance(interrupt, _Terminated) else INTERRUPTED
        except Exception as error:  # noqa: BLE001 - the one place where what goes wrong becomes a line and a code
            code = _report(error, debug=ctx.meta.get("ctxpolicy.debug", False))
        return code


class _Terminated(KeyboardInterrupt):
    """SIGTERM came."""


@contextlib.contextmanager
def _termination_interrupts() -> Iterator[None]:
    """While a command runs SIGTERM is like Ctrl-C, so that it leaves no process and no file behind.

    Where something else decides about signals (another thread, a program that calls this one), nothing changes.
    """
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _terminate(*_: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # `timeout` sends it twice: the second must not stop the cleaning up
    raise _Terminated


def _report(error: Exception, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if isinstance(error, (CtxPolicyError, OSError)):
        click.echo(_in_words(error), err=True)
        return 2
    if isinstance(error, RecursionError):
        click.echo("error: the input is nested too deeply to be read; flatten what is in it", err=True)
        return 2
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    advice = "" if debug else "; run it again with --debug and report what it prints"
    click.echo(f"error: this is a fault in ctxpolicy ({what}){advice}", err=True)
    return INTERNAL


def _in_words(error: Exception) -> str:
    """An error as a user reads it: a policy's report as it is, anything else on one line."""
    if isinstance(error, PolicyInvalid) and error.findings:
        return str(error)
    if isinstance(error, OSError) and not isinstance(error, CtxPolicyError) and error.strerror:
        return "error: " + (f"{error.filename}: {error.strerror}" if error.filename else error.strerror)
    return f"error: {error}"


def _never_fail_to_print() -> None:
    """Names and texts from a transcript may hold what the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def _abandon_stdout() -> None:
    """The reader has gone: what is still buffered goes nowhere, so that the interpreter's own flush is quiet."""
    with contextlib.suppress(OSError, ValueError):  # stdout may be no file: then nothing is flushed at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _debug(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.meta["ctxpolicy.debug"] = True  # shared with the contexts of commands


def _debug_option() -> click.Option:
    return click.Option(
        ["--debug"], is_flag=True, expose_value=False, callback=_debug, help="Show the traceback of an error."
    )


main = _Commands(
    "ctxpolicy",
    params=[_debug_option()],
    help="A policy engine for the working memory of LLM agents: check a policy, apply it, see what it does.",
    epilog=_EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
main = click.version_option(package_name="ctxpolicy", prog_name="ctxpolicy")(main)
