"""The format rule, once for all tasks: one think block, then one answer block, nothing between or around them.

A completion continues the assistant prefix

    Let me solve this step by step.
    <think>

so `... </think> <answer> ... </answer>` is enough; a completion that repeats the prefix, or only its `<think>`,
says the same. Trainers hand over completions as text or as chat messages; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

ASSISTANT_PREFIX = "Let me solve this step by step.\n<think>"

Completion = str | Sequence[dict[str, str]]
"""Plain text, or chat messages whose last one is the assistant's."""

LONGEST_COMPLETION = 200_000
"""Characters that are read. A longer text is badly formed: no model of this field writes so much on purpose."""

# What models write once they know the form, in one match. Possessive, so that no text makes it try twice.
_PLAIN = re.compile(
    r"\s*+(?:Let me solve this step by step\.\n(?=<think>))?+(?:<think>)?+([^<]*+)</think>"
    r"\s*+<answer>([^<]*+)</answer>\s*+"
)
_TAG = re.compile(r"</?(?:think|answer)>")
_ORDER = ["<think>", "</think>", "<answer>", "</answer>"]


class Blocks(NamedTuple):
    """The two blocks of a well-formed completion, without their tags."""

    think: str
    answer: str


class BadFormat(NamedTuple):
    """What breaks the format rule."""

    why: str


def as_text(completion: Completion) -> str:
    """Read a plain or conversational completion as text."""
    if isinstance(completion, str):
        return completion
    last = completion[-1] if completion else {}
    content = last.get("content") if isinstance(last, dict) else None
    return content if isinstance(content, str) else ""


def read_blocks(completion: Completion) -> Blocks | BadFormat:
    r"""Split a completion into its blocks, or say which rule it breaks.

    >>> read_blocks("2 + 3 = 5 </think> <answer> 2 + 3 </answer>")
    Blocks(think='2 + 3 = 5 ', answer=' 2 + 3 ')
    >>> read_blocks("<think></think>so<answer>5</answer>")
    BadFormat(why='there is text between </think> and <answer>')
    """
    text = as_text(completion)
    if len(text) > LONGEST_COMPLETION:
        return BadFormat(f"the completion has more than {LONGEST_COMPLETION:,} characters")
    if plain := _PLAIN.fullmatch(text):
        return Blocks(plain[1], plain[2])
    text = _with_prefix(text)
    tags = list(_TAG.finditer(text))
    found = [tag.group() for tag in tags]
    if found != _ORDER:
        return BadFormat(_what_is_wrong(found))
    open_think, close_think, open_answer, close_answer = tags
    if text[: open_think.start()].strip():
        return BadFormat("there is text before <think>")
    if text[close_think.end() : open_answer.start()].strip():
        return BadFormat("there is text between </think> and <answer>")
    if text[close_answer.end() :].strip():
        return BadFormat("there is text after </answer>")
    return Blocks(
        text[open_think.end() : close_think.start()],
        text[open_answer.end() : close_answer.start()],
    )


def _with_prefix(text: str) -> str:
    """Put back the `<think>` that the assistant prefix already said."""
    start = text.lstrip()
    if start.startswith(ASSISTANT_PREFIX):
        return start[len(ASSISTANT_PREFIX) - len("<think>") :]
    return start if start.startswith("<think>") else "<think>" + start


def _what_is_wrong(found: Sequence[str]) -> str:
    for tag in _ORDER:
        times = found.count(tag)
        if times != 1:
            return f"{tag} stands {times} times, once is right" if times else f"{tag} is missing"
    return "the think block must be closed before the answer block"
