"""Chains on a real transformer: the model picks, an environment answers (Sec. 2.1.1, Alg. A, B and C).

Every pick the model writes is answered by the environment with the running value, which is masked from the
loss, until the model ends the chain. In the hidden form the prompt says nothing, so only the picks can be
learned, as on trees; in the visible form it shows the inputs, and picks may depend on them. The stages:

    no_curriculum      everything free, the whole chain is judged
    depth_increasing   stage l: cut after l picks and judged at depth l; the last stage is not cut
    hint_decreasing    stage l = k+1 .. 1: the first l-1 picks are given

All free picks are scored: with step l alone, a shared transformer loses the earlier ones. A stage is over after
two batches above `mastered`, or after `patience` steps. A word of the vocabulary is a whole phrase of the
chain's text, so that what the model writes is judged by the same task as any other text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models
from transformers import PreTrainedTokenizerFast

from stepladder.curriculum.stages import MethodName, Stage, stages_of
from stepladder.tasks.chain import Chain
from stepladder.tasks.format import ASSISTANT_PREFIX
from stepladder.tasks.task import Problem

START, PAD, CLOSE = "<|start|>", "<|pad|>", "<|close|>"
END = "\nend\n</think>\n"


def chain_tokenizer(task: Chain) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose words are the phrases of the chain: a pick, a value, the end, an answer."""
    values = range(task.tree.alphabet)
    phrases = [
        ASSISTANT_PREFIX,
        *(f"\nx{pick} ->" for pick in range(task.tree.d)),
        *(_shown(pick, value) for pick in range(task.tree.d) for value in values if task.form == "visible"),
        *(f" {value}" for value in values),
        END,
        *(f"<answer>{value}</answer>" for value in values),
    ]
    tokenizer = Tokenizer(models.WordLevel({PAD: 0, START: 1, CLOSE: 2}, unk_token=PAD))
    tokenizer.add_special_tokens([PAD, START, CLOSE])
    tokenizer.add_tokens([AddedToken(phrase, normalized=False) for phrase in phrases])
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=PAD,
        eos_token=CLOSE,
        clean_up_tokenization_spaces=False,
    )


def _shown(pick: int, value: int) -> str:
    return f"<|x{pick}={value}|>"


@dataclass
class Words:
    """The ids of the phrases."""

    start: int
    prefix: int
    shown: list[list[int]]
    """Of every value of every input; none where they are hidden."""
    picks: list[int]
    values: list[int]
    answers: list[int]
    end: int
    close: int

    @classmethod
    def of(cls, task: Chain, tokenizer: PreTrainedTokenizerFast) -> Words:
        """Look them up."""
        known = tokenizer.get_vocab()
        letters = range(task.tree.alphabet)
        inputs = range(task.tree.d) if task.form == "visible" else range(0)
        return cls(
            known[START],
            known[ASSISTANT_PREFIX],
            [[known[_shown(pick, value)] for value in letters] for pick in inputs],
            [known[f"\nx{pick} ->"] for pick in range(task.tree.d)],
            [known[f" {value}"] for value in letters],
            [known[f"<answer>{value}</answer>"] for value in letters],
            known[END],
            known[CLOSE],
        )

    def prompt(self, problem: Problem) -> list[int]:
        """Return the prompt of a chain: the inputs if they are visible, and where the model begins."""
        inputs = problem.question if self.shown else []
        shown = [words[value] for words, value in zip(self.shown, inputs, strict=True)]
        return [self.start, *shown, self.prefix]


@dataclass
class Written:
    """One chain as it grows."""

    problem: Problem
    prompt: list[int]
    ids: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    """1 for the model's words, 0 for the environment's."""
    picks: list[int] = field(default_factory=list)
    over: bool = False

    def add(self, words: Sequence[int], own: int) -> None:
        """Append words of one side."""
        self.ids += words
        self.own += [own] * len(words)


@dataclass
class Environment:
    """Answers picks, gives hints, cuts chains."""

    task: Chain
    tokenizer: PreTrainedTokenizerFast

    def __post_init__(self) -> None:
        """Look the words up."""
        self.words = Words.of(self.task, self.tokenizer)

    def begin(self, problem: Problem, hint: int) -> Written:
        """Start a chain with so many correct picks given."""
        written = Written(problem, self.words.prompt(problem))
        for pick in self.task.secret[:hint]:
            self._pick(written, pick, own=0)
        return written

    def answer(self, written: Written, word: int, truncate: int | None) -> None:
        """Take the model's next word and answer it."""
        if word == self.words.end:
            self._end(written, own=1)
            return
        pick = self.words.picks.index(word) if word in self.words.picks else None
        if pick is None or pick not in self.task.tree.legal(tuple(written.picks)):
            written.add([word], own=1)
            written.over = True
            return
        self._pick(written, pick, own=1)
        if truncate is not None and len(written.picks) == truncate:
            self._end(written, own=0)

    def _pick(self, written: Written, pick: int, own: int) -> None:
        written.picks.append(pick)
        value = self.task.running_value(written.problem.question, written.picks)
        written.add([self.words.picks[pick]], own)
        written.add([self.words.values[value]], 0)

    def _end(self, written: Written, own: int) -> None:
        value = self.task.running_value(written.problem.question, written.picks)
        written.add([self.words.end], own)
        written.add([self.words.answers[value], self.words.close], 0)
        written.over = True


@torch.inference_mode()
def roll_out(
    model: Any,
    chains: Environment,
    problems: Sequence[Problem],
    stage: Stage,
    sample: Callable[[torch.Tensor], torch.Tensor],
) -> list[Written]:
    """Write a chain for every problem, all at once; a word and its answer at a time."""
    written = [chains.begin(problem, stage.hint) for problem in problems]
    while going := [one for one in written if not one.over]:
        # All chains that go on are equally long: every turn is one word and one answer. Chains that read alike
        # have the same law for their next word, which is computed once for all of them.
        rows = [(*one.prompt, *one.ids) for one in going]
        places = {row: place for place, row in enumerate(dict.fromkeys(rows))}
        logits = model(torch.tensor(list(places), device=model.device), logits_to_keep=1).logits[:, -1]
        words = sample(logits[[places[row] for row in rows]])
        for one, word in zip(going, words.tolist(), strict=True):
            chains.answer(one, word, stage.truncate)
    return written


def drawn(logits: torch.Tensor) -> torch.Tensor:
    """Draw from the model's law."""
    return torch.multinomial(logits.float().softmax(dim=-1), 1)[:, 0]


@dataclass
class Stages:
    """Where a run stands in its curriculum."""

    stages: tuple[Stage, ...]
    mastered: float = 0.95
    patience: int = 60
    place: int = 0
    steps: int = 0
    in_a_row: int = 0

    @classmethod
    def of(cls, method: MethodName, k: int) -> Stages:
        """Begin the stages of a method."""
        return cls(stages_of(method, k, scoring="all"))

    @property
    def now(self) -> Stage:
        """The current stage."""
        return self.stages[self.place]

    def observe(self, accuracy: float) -> None:
        """Take note of a batch; move on when the stage is mastered, or has had its time."""
        self.steps += 1
        self.in_a_row = self.in_a_row + 1 if accuracy > self.mastered else 0
        if self.place + 1 < len(self.stages) and (self.in_a_row >= 2 or self.steps >= self.patience):
            self.place, self.steps, self.in_a_row = self.place + 1, 0, 0
