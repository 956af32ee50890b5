"""`ctxpolicy lint`: would the provider accept these transcripts?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from ctxpolicy.archive import open_archive
from ctxpolicy.cli.inputs import inputs_argument
from ctxpolicy.cli.options import STRICT, Place, for_option
from ctxpolicy.cli.output import counted, note
from ctxpolicy.cli.rewrite import rewrite
from ctxpolicy.errors import TranscriptInvalid
from ctxpolicy.formats.detect import detect
from ctxpolicy.lint import Fault, Rule, level_of, lint, rules
from ctxpolicy.lint.fix import fix
from ctxpolicy.logs import read
from ctxpolicy.policy.findings import Finding, Severity
from ctxpolicy.policy.report import FORMATS as OUTPUTS
from ctxpolicy.policy.report import render
from ctxpolicy.repairs import Repair
from ctxpolicy.transcripts import Broken, Conversation
from ctxpolicy.transcripts.jsontext import loads
from ctxpolicy.transcripts.model import Embedded


@click.command("lint")
@inputs_argument()
@for_option("The provider; told by content if not given. strict: also what only some models and servers refuse.")
@click.option(
    "--format", "-f", "output_format", type=click.Choice(OUTPUTS), default="text", show_default=True,
    help="concise: a line for each finding. json, sarif, github: for programs and code review.",
)  # fmt: skip
@click.option("--fix", "repair", is_flag=True, help="Repair the files, originals archived first; lists each repair.")
@click.option(
    "--output", "-o", type=Place(), metavar="OUT", help="With --fix and one input: the file to write in its place."
)
@click.option(
    "--archive", type=Place(), metavar="DIR|none", default=".ctxpolicy/archive", show_default=True,
    help="With --fix: where the originals go.",
)  # fmt: skip
def command(
    transcripts: tuple[str, ...],
    target: str | None,
    output_format: str,
    repair: bool,
    output: str | None,
    archive: str,
) -> int:
    """Judge transcripts by the rules of their provider.

    Each finding names the message, the path in it, the rule's code, what the provider would answer and what to do.
    `-` is standard input.

    \b
    ctxpolicy lint session.jsonl
    ctxpolicy lint --for strict --fix session.jsonl

    Exit codes: 0 the provider accepts all of it, 1 it refuses something or not all can be read, 2 nothing can.
    """
    if output is not None and (not repair or len(transcripts) > 1):
        raise click.UsageError("-o goes with --fix and one transcript")
    if repair and output is None and "-" in transcripts:
        raise click.UsageError("--fix on standard input needs a file to write: give -o FILE")
    code = _fix(transcripts, target, output, archive) if repair else 0
    judged = _Judgement(target)
    found = [finding for name in ((output,) if output else transcripts) for finding in judged.of(name)]
    said = render(found, output_format)
    if said:
        click.echo(said)
    elif output_format == "text" and not judged.unreadable:
        note(f"{counted(judged.conversations, 'conversation')}: nothing to refuse")
    if judged.hidden:
        note(f"{counted(judged.hidden, 'finding')} more that only some models and servers refuse: --for strict")
    return max(code, judged.code, int(any(finding.severity == "error" for finding in found)))


class Judged(Finding, frozen=True):
    """A finding on a transcript: its severity and title are those of the rule, in this format."""

    level: Severity = "error"
    heading: str = ""

    @property
    def severity(self) -> Severity:
        """error: the provider refuses it."""
        return self.level

    @property
    def title(self) -> str:
        """What the rule is about."""
        return self.heading


class _Judgement:
    """Findings on files, and what there was to judge."""

    def __init__(self, target: str | None) -> None:
        self._strict = target == STRICT
        self._format = None if self._strict else target
        self.conversations = self.hidden = 0
        self.unreadable = False

    @property
    def code(self) -> int:
        """The exit code for what cannot be read: 2 where nothing can."""
        return 0 if not self.unreadable else 1 if self.conversations else 2

    def of(self, file: str) -> Iterator[Finding]:
        """The findings on one file. What cannot be read is told."""
        try:
            for part in read(file):
                if isinstance(part, Broken):
                    self._tell(part.error)
                elif isinstance(part, Conversation):
                    self.conversations += 1
                    yield from self._on(part)
        except TranscriptInvalid as error:
            self._tell(error)

    def _tell(self, error: TranscriptInvalid) -> None:
        note(f"error: {error}")
        self.unreadable = True

    def _on(self, conversation: Conversation) -> Iterator[Finding]:
        name = self._format or detect(conversation.messages)
        request = _request(conversation)
        known = rules(name)
        for fault in lint(
            conversation.messages, name, tools=conversation.tools, system=conversation.system, request=request
        ):
            level = level_of(fault, name)
            if level == "route" and not self._strict:
                self.hidden += 1
            else:
                severity: Severity = "warning" if level == "warning" else "error"
                yield _finding(conversation, fault, known[fault.code], severity)


def _request(conversation: Conversation) -> dict[str, Any]:
    """The rest of the request body, where the messages stand in one."""
    source = conversation.source
    if not isinstance(source, Embedded) or len(source.path) != 1:
        return {}
    return {key: value for key, value in loads(source.text).items() if key != source.path[0]}


def _finding(conversation: Conversation, fault: Fault, rule: Rule, severity: Severity) -> Finding:
    line = int(conversation.at(fault.index).rpartition(":")[2])
    where = f"message {fault.index}" + (f" {fault.path}" if fault.path else "")
    hint = f'{rule.do}; the provider says "{rule.error}"'
    return Judged(
        fault.code, f"{where}: {rule.title}: {fault.says}", conversation.file, line, 1, 2, "", hint,
        level=severity, heading=rule.title,
    )  # fmt: skip


def _fix(transcripts: Sequence[str], target: str | None, output: str | None, archive: str) -> int:
    store = open_archive(False if archive == "none" else archive)
    repairs: list[tuple[str, Repair]] = []

    def mended(conversation: Conversation) -> Sequence[Any]:
        beside = [conversation.tools, conversation.system]
        fixed = fix(conversation.messages, _format_of(target), strict=target == STRICT, beside=beside)
        if store is not None:
            store.put([removed.record() for removed in fixed.removed()])
        repairs.extend((conversation.at(r.index), r) for r in fixed.repairs)
        return fixed.messages

    outcome = rewrite([(name, output or name) for name in transcripts], mended)
    for place, repair in repairs:
        note(f"{place}: {repair}")
    if outcome.code != 2:  # then the error is all there is to say
        note(f"{counted(len(repairs), 'repair')} in {counted(outcome.done, 'conversation')}")
    return outcome.code


def _format_of(target: str | None) -> str | None:
    return None if target == STRICT else target
