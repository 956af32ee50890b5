"""What is wrong with a policy: one type for every check, every layer and every output."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MOST = 100  # findings that are listed; a file with more is not a policy

Severity = Literal["error", "warning"]

# Codes are stable: one is never given another meaning. CP1 is YAML, CP2 the schema, CP3 meaning, CP4 warnings.
CODES: dict[str, str] = {
    "CP101": "not valid YAML",
    "CP102": "empty policy",
    "CP103": "key given twice",
    "CP104": "key that is not text",
    "CP105": "YAML tag",
    "CP106": "merge key",
    "CP107": "nested too deep",
    "CP108": "too many values",
    "CP109": "file too large",
    "CP110": "text that begins with * or an unknown anchor",
    "CP111": "character that cannot stand in a policy",
    "CP112": "number out of range",
    "CP113": "more than one document",
    "CP114": "base policy that cannot be read",
    "CP201": "unknown key",
    "CP202": "wrong kind of value",
    "CP203": "value that is not allowed",
    "CP204": "number out of bounds",
    "CP205": "missing key",
    "CP206": "key that does not go with the action",
    "CP207": "rule without an action",
    "CP208": "empty mapping",
    "CP209": "too many faults to list",
    "CP301": "no budget.window",
    "CP302": "budget limit not above zero",
    "CP303": "until not below its trigger",
    "CP304": "evict trigger not above the compact trigger",
    "CP306": "cap not larger than its marker",
    "CP307": "duplicate id",
    "CP308": "unknown id",
    "CP309": "base policies in a circle",
    "CP310": "bad regular expression",
    "CP311": "bad template",
    "CP312": "template without a variable that it needs",
    "CP313": "template without words of its own",
    "CP314": "action at the wrong point",
    "CP315": "match that cannot be decided when a message arrives",
    "CP316": "match nested too deep",
    "CP317": "head and tail are more than the whole",
    "CP318": "span.min above span.max",
    "CP319": "bounds that no number meets",
    "CP320": "unknown base policy",
    "CP321": "counter that is not installed",
    "CP322": "unknown summarizer",
    "CP401": "rank alone under not",
    "CP402": "compact without until",
    "CP403": "masking without batch or min_gain",
    "CP404": "no archive",
    "CP405": "truncation that can reach user text",
    "CP406": "model-backed summarizer with nothing to fall back on",
    "CP407": "evict goal above the compact trigger",
    "CP408": "summary of a summary",
    "CP409": "allow that silences nothing",
}


def severity_of(code: str) -> Severity:
    """CP4xx are warnings; everything else stops a policy."""
    return "warning" if code.startswith("CP4") else "error"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where.

    `line`, `column` and `end_column` count characters from 1; `end_column` is the first column after the marked
    text, on the same line. `source` is that whole line.
    """

    code: str
    message: str
    file: str
    line: int
    column: int
    end_column: int
    source: str
    hint: str | None = None

    @property
    def severity(self) -> Severity:
        """error or warning; only errors stop a policy."""
        return severity_of(self.code)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.severity} {self.code}: {self.message}"
