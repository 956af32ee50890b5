"""Options that several commands share, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click
import msgspec

from ctxpolicy.cli.inputs import output_name
from ctxpolicy.errors import CtxPolicyError
from ctxpolicy.formats import FORMATS
from ctxpolicy.formats.detect import detect, format_of
from ctxpolicy.items import RECORDED
from ctxpolicy.transcripts import Conversation

if TYPE_CHECKING:
    from ctxpolicy.api import Policy
    from ctxpolicy.archive import Archive
    from ctxpolicy.result import Result
    from ctxpolicy.summarize import Summarize

SUMMARIZERS = "none, extract, scripted:FILE, command:CMD or PROVIDER:MODEL (openai:gpt-5-mini)"  # --summarizer
STRICT = "strict"  # --for: also what only some models, clouds and compatible servers refuse

_Function = TypeVar("_Function", bound=Callable[..., Any])
_file = click.Path(path_type=Path)


class Place(click.Path):
    """A file or directory to be named. An empty name is refused: it would mean the working directory."""

    def __init__(self, path_type: type[str] | type[Path] = str) -> None:
        super().__init__(readable=False, path_type=path_type)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty; name a file or directory, or leave the option out", param, ctx)
        return super().convert(value, param, ctx)


def _indexes(_ctx: click.Context, _param: click.Parameter, text: str | None) -> frozenset[int] | None:
    """Message indexes with commas between, counted from 0 as `inspect` shows them."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts or not all(map(str.isdecimal, parts)):
        raise click.BadParameter(f"{text!r} is not a list of message indexes; write numbers with commas, as in 0,7,12")
    return frozenset(map(int, parts))


def policy_options(default: str | None = None) -> Callable[[_Function], _Function]:
    """The options that say which policy runs, and on what; without a default `--policy` is required."""
    # Since click 8.3 a default of None, once given, is a value, and nothing is missing.
    unsaid: dict[str, Any] = {"required": True} if default is None else {"default": default, "show_default": True}
    policy = click.option("--policy", "-p", metavar="FILE", help="Policy file, or builtin:NAME.", **unsaid)
    window = click.option(
        "--window", type=click.IntRange(min=1), metavar="N", help="Tokens the model accepts, in place of the policy's."
    )
    tools = click.option(
        "--tools", type=_file, metavar="FILE", help="JSON file with the tool schemas, in place of the transcript's."
    )
    pins = click.option(
        "--pin", "pins", metavar="N,...", callback=_indexes,
        help="Messages to pin, by index from 0, as `inspect` shows.",
    )  # fmt: skip
    summarizer = click.option(
        "--summarizer", metavar="HOW",
        help=f"{SUMMARIZERS}, in place of the policy's.",
    )  # fmt: skip
    return _all(policy, window, tools, pins, summarizer)


def format_option(*names: str) -> Callable[[_Function], _Function]:
    """How the transcript's messages are written."""
    return click.option(
        *names,
        "wire_format",
        type=click.Choice(tuple(FORMATS)),
        help="How messages are written; told by content if not given.",
    )


def for_option(help: str) -> Callable[[_Function], _Function]:
    """Whose rules hold: a provider's, by the format it takes, or those of every server that speaks the format."""
    return click.option("--for", "target", type=click.Choice((*FORMATS, STRICT)), help=help)


def jobs_option() -> Callable[[_Function], _Function]:
    """How many processes share the work."""
    return click.option(
        "--jobs", type=click.IntRange(min=0), default=1, show_default=True, metavar="N",
        help="Work in N processes, with the same results; 0 is one for each CPU.",
    )  # fmt: skip


def _all(*options: Callable[[_Function], _Function]) -> Callable[[_Function], _Function]:
    def add(function: _Function) -> _Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


@dataclass(frozen=True, slots=True)
class Setup:
    """A loaded policy and the options that go into each of its runs.

    `summarize` is what `--summarizer` names: False for `none`, None where it is not given. `target` is whom results are
    repaired for: a provider by its format, or `strict`.
    """

    policy: Policy
    tools: list[Any] | None = None
    pins: frozenset[int] = frozenset()
    summarize: Summarize | Literal[False] | None = None
    wire_format: str | None = None
    target: str | None = None

    def apply(
        self, conversation: Conversation, *, archive: Archive | Literal[False], summarize: Summarize | None = None
    ) -> Result:
        """The policy on one conversation. `summarize` stands in for the policy's where `--summarizer` is not given."""
        return self.policy.apply(
            conversation.messages,
            tools=self.tools_of(conversation),
            summarize=summarize if self.summarize is None else self.summarize,
            archive=archive,
            format=self.format_of(conversation),
            meta=self.meta(conversation),
            repair=self.target,
        )

    def format_of(self, conversation: Conversation) -> str:
        """The wire format of a conversation: what `--format` says, else its log, else what its messages tell.

        Messages that may be of several formats are of the one that `--for` names. Raises click.BadParameter for those
        that cannot be.
        """
        told = self.wire_format or conversation.format
        if self.target in (None, STRICT):
            return told or detect(conversation.messages)
        assert self.target is not None
        told = told or next(filter(None, map(format_of, conversation.messages)), None)
        if told is None and self.target != "gemini":  # its messages are like no others
            return self.target
        if (told or "openai-chat") != self.target:
            raise click.BadParameter(
                f"{conversation.where} holds messages of the format {told or 'openai-chat'}, which no repair turns "
                f"into {self.target}; give its own, or {STRICT}",
                param_hint="'--for'",
            )
        return self.target

    def tools_of(self, conversation: Conversation) -> list[Any] | None:
        """Everything that is sent beside the list: tools, and a system prompt that stands outside the messages."""
        tools = self.tools if self.tools is not None else conversation.tools
        if conversation.system:
            return [*(tools or ()), {"system": conversation.system}]
        return tools

    def meta(self, conversation: Conversation) -> list[dict[str, Any] | None] | None:
        """The metadata beside each message: `--pin`, and the fields of its record in a session log.

        Raises click.BadParameter for a pin that names no message.
        """
        count = len(conversation.messages)
        beyond = sorted(index for index in self.pins if index >= count)
        if beyond:
            raise click.BadParameter(
                f"{beyond[0]} is no message of {conversation.file}, which has {count:,}, numbered 0 to {count - 1}",
                param_hint="'--pin'",
            )
        if not self.pins and not conversation.fields:
            return None
        pins = [{"pin": True} if index in self.pins else {} for index in range(count)]
        fields = conversation.fields or [{}] * count
        return [{**pin, **({RECORDED: own} if own else {})} or None for pin, own in zip(pins, fields, strict=True)]


def setup(
    policy: str,
    window: int | None,
    tools: Path | None,
    pins: frozenset[int] | None,
    summarizer: str | None,
    wire_format: str | None = None,
    target: str | None = None,
) -> Setup:
    """What the common options say. Raises CtxPolicyError for a policy, tools file or summariser that cannot be used."""
    loaded = load_policy(policy)
    if window is not None:
        loaded = loaded.with_window(window)
    schemas = read_tools(tools) if tools else None
    return Setup(loaded, schemas, pins or frozenset(), _summarize(summarizer), wire_format, target)


def load_policy(name: str) -> Policy:
    """The policy in a file, or the built-in one that `builtin:NAME` names."""
    from ctxpolicy.api import load

    return load(name)


def _summarize(text: str | None) -> Summarize | Literal[False] | None:
    if text is None:
        return None
    from ctxpolicy.summarize import summarizer

    return summarizer(text, Path()) or False


def read_tools(path: Path) -> list[Any]:
    """The tool schemas in a JSON file: an array, or an object with `tools`."""
    try:
        value = msgspec.json.decode(path.read_bytes())
    except msgspec.DecodeError as error:
        raise CtxPolicyError(f"{path}: is not JSON: {error}; give an array of tool schemas") from None
    except RecursionError:
        raise CtxPolicyError(f"{path}: is nested too deeply to be read; give an array of tool schemas") from None
    tools = value.get("tools") if isinstance(value, dict) else value
    if not isinstance(tools, list):
        raise CtxPolicyError(f"{path}: holds no tool schemas; give an array of them, or an object with `tools`")
    return tools


def targets(transcripts: Sequence[str], output: str | None) -> list[tuple[str, str]]:
    """Each transcript with where its result goes.

    Raises click.UsageError where results would get in each other's way.
    """
    if len(transcripts) == 1 and not (output and Path(output).is_dir()):
        return [(transcripts[0], output or "-")]
    if output is None:
        raise click.UsageError("several transcripts need a directory for the results: give -o DIR")
    if "-" in transcripts:
        raise click.UsageError(
            "standard input has no name to be given in a directory; give -o FILE and only this input"
        )
    folder = Path(output)
    if folder.exists() and not folder.is_dir():
        raise click.UsageError(f"several transcripts need a directory for the results, and {output} is a file")
    names = [output_name(transcript) for transcript in transcripts]
    if twice := {name for name in names if names.count(name) > 1}:
        raise click.UsageError(
            f"two transcripts are named {sorted(twice)[0]}, and their results would be; do them apart"
        )
    return [(transcript, str(folder / name)) for transcript, name in zip(transcripts, names, strict=True)]
