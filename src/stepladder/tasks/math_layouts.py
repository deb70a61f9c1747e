r"""Rows of MATH problems as they are published, and how their columns become ours.

| layout | columns                             | level     | answer                          | steps     |
|--------|-------------------------------------|-----------|---------------------------------|-----------|
| ours   | id question answer level solution   | 1 to 5    | given                           | given     |
| MATH   | problem level type solution         | "Level 5" | the last \boxed of the solution | sentences |
| UFT    | id problem answer level type steps  | "Level 5" | given                           | given     |
| E2H    | question answer level type solution | 0 to 4    | given                           | sentences |

E2H is `divelab/math`, the paper's data set. It counts levels from 0 where the paper's text, MATH and we count
from 1: its level 0 is our level 1, and a source in which a level 0 occurs is taken to count that way. A few
rows of MATH have the level "Level ?"; they become problems without a level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Row = Mapping[str, Any]

_PIECE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\.|[{}]", re.DOTALL)
_BOX_WITHOUT_BRACES = re.compile(r"\\boxed\s+([^\s{}$\\]+)")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")


def last_boxed(text: str) -> str | None:
    r"""Return what stands in the last \boxed{...} or \fbox{...} whose braces close, or None.

    >>> last_boxed(r"\boxed{1}, no, \boxed{\frac{1}{2}}, or \boxed{3")
    '\\frac{1}{2}'
    """
    opened: list[int | None] = []  # for every open brace, where the content of its box begins
    found = (-1, -1)
    for piece in _PIECE.finditer(text):
        if piece.group() == "}":
            start = opened.pop() if opened else None
            if start is not None and start > found[0]:
                found = (start, piece.start())
        elif piece.group().endswith("{") and piece.group() != r"\{":
            opened.append(None if piece.group() == "{" else piece.end())
    if found[0] >= 0:
        return text[found[0] : found[1]].strip()
    bare = _BOX_WITHOUT_BRACES.findall(text)
    return bare[-1].rstrip(".,") if bare else None


def sentences(text: str) -> list[str]:
    r"""Cut a solution into its sentences, never inside a formula or an environment.

    >>> sentences("We add. So $x = 1.$ \n\nThus $y = 2. z = 3$ holds.")
    ['We add.', 'So $x = 1.$ \n\nThus $y = 2. z = 3$ holds.']
    """
    found: list[str] = []
    begun = ""
    for piece in _pieces(text):
        begun += piece
        if begun.replace(r"\$", "").count("$") % 2 == 0 and begun.count(r"\begin") == begun.count(r"\end"):
            found.append(begun.strip())
            begun = ""
    return [sentence for sentence in [*found, begun.strip()] if sentence]


def our_columns(row: Row) -> dict[str, Any]:
    """Return a row of any of the layouts under our column names. Nothing is checked; absent stays absent."""
    ours = {"id": row.get("id"), "question": row.get("question", row.get("problem"))}
    solution = row.get("steps", row.get("solution"))
    ours["solution"] = sentences(solution) if isinstance(solution, str) else solution
    ours["answer"] = row.get("answer")
    if "problem" in row and "answer" not in row and isinstance(solution, str):
        ours["answer"] = last_boxed(solution)
    ours["level"] = None if row.get("level") == "Level ?" else row.get("level")
    return ours


def counts_from_zero(rows: Iterable[Row]) -> bool:
    """Say whether the levels of a source are E2H's, 0 to 4: whether a level 0 occurs."""
    return any(row.get("level") == 0 for row in rows)


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for end in _SENTENCE_END.finditer(text):
        yield text[start : end.end()]
        start = end.end()
    yield text[start:]
