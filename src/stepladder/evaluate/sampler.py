"""One sampler for profiling and for evaluation, with the same decoding settings and a fixed seed.

Work is cut into batches whose make-up is fixed beforehand. A batch's random numbers depend on its key alone,
and its rows are appended to a file as they are judged; a batch that was cut short is drawn again, to the same
rows. So a killed run resumes to the same numbers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import torch

from stepladder.errors import check_between
from stepladder.tasks.task import ChatTokenizer, Problem, Task


@dataclass(frozen=True)
class Decoding:
    """How completions are drawn; the defaults are the paper's."""

    temperature: float = 0.7
    top_p: float = 0.9
    top_k: int = 50
    max_tokens: int = 512

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_between("temperature", self.temperature, 1e-3, 100)
        check_between("top_p", self.top_p, 1e-6, 1)
        check_between("top_k", self.top_k, 0, 10**9)
        check_between("max_tokens", self.max_tokens, 1, 10**6)


class Completer(Protocol):
    """Something that continues prompts."""

    tokenizer: ChatTokenizer

    def complete(self, prompts: list[str], decoding: Decoding, seed: int) -> list[str]:
        """Return one completion for each prompt."""


class Transformers:
    """A model of Hugging Face transformers, on CPU or GPU."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        """Take a loaded model."""
        self.model = model.eval()
        self.tokenizer = tokenizer

    def complete(self, prompts: list[str], decoding: Decoding, seed: int) -> list[str]:
        """Generate the batch at once, padded on the left."""
        given = self.tokenizer(
            prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False
        ).to(self.model.device)
        torch.manual_seed(seed)
        with torch.inference_mode():
            written = self.model.generate(
                **given,
                do_sample=True,
                temperature=decoding.temperature,
                top_p=decoding.top_p,
                top_k=decoding.top_k,
                max_new_tokens=decoding.max_tokens,
                pad_token_id=self.tokenizer.pad_token_id,
            )
        new = written[:, given["input_ids"].shape[1] :]
        texts: list[str] = self.tokenizer.batch_decode(new, skip_special_tokens=True)
        return texts


class Vllm:
    """A vLLM engine, where it is installed."""

    def __init__(self, engine: Any, tokenizer: Any) -> None:
        """Take a `vllm.LLM`."""
        self.engine = engine
        self.tokenizer = tokenizer

    def complete(self, prompts: list[str], decoding: Decoding, seed: int) -> list[str]:
        """Generate; every prompt has a seed of its own, so that batching does not matter."""
        from vllm import SamplingParams

        settings = [
            SamplingParams(
                temperature=decoding.temperature,
                top_p=decoding.top_p,
                top_k=decoding.top_k,
                max_tokens=decoding.max_tokens,
                seed=seed + number,
            )
            for number in range(len(prompts))
        ]
        return [output.outputs[0].text for output in self.engine.generate(prompts, settings, use_tqdm=False)]


@dataclass(frozen=True)
class Request:
    """One completion to draw."""

    problem: Problem
    hint_steps: int = 0
    copy: int = 0


@dataclass(frozen=True)
class Sample:
    """A completion with its verdict."""

    id: str
    level: int | None
    hint_steps: int
    copy: int
    correct: bool
    exact_path: bool | None
    reward: float
    why: str
    completion: str


class SampleLog:
    """Samples on disk by batch; a batch that was cut short does not count."""

    def __init__(self, path: Path | None) -> None:
        """Read what is there."""
        self.path = path
        self.batches: dict[str, list[Sample]] = {}
        self.starts_afresh = False
        if path is None or not path.exists():
            return
        text = path.read_text()
        self.starts_afresh = bool(text) and not text.endswith("\n")
        partial: dict[str, dict[int, Sample]] = {}
        for line in text.splitlines():
            try:
                row = json.loads(line)
                key, place, size = row.pop("batch"), row.pop("place"), row.pop("of")
                rows = partial.setdefault(key, {})
                rows[place] = Sample(**row)
            except (json.JSONDecodeError, KeyError, TypeError, AttributeError):
                continue
            if len(rows) == size:
                self.batches[key] = [rows[place] for place in range(size)]

    def append(self, key: str, place: int, size: int, sample: Sample) -> None:
        """Write one row."""
        if self.path is None:
            return
        row = {"batch": key, "place": place, "of": size, **asdict(sample)}
        with self.path.open("a") as file:
            file.write(("\n" if self.starts_afresh else "") + json.dumps(row) + "\n")
        self.starts_afresh = False


@dataclass
class Sampler:
    """Draws and judges completions."""

    task: Task
    completer: Completer
    decoding: Decoding
    log: SampleLog
    seed: int = 0
    batch: int = 64
    identity: str = ""
    """What else the samples depend on: the model's name."""

    def draw(
        self, requests: Sequence[Request], progress: Callable[[float], None] = lambda done: None
    ) -> list[Sample]:
        """Return a sample for every request, drawing those that the log does not have."""
        found: list[Sample] = []
        for start in range(0, len(requests), self.batch):
            found += self._batch(requests[start : start + self.batch])
            progress(len(found) / len(requests))
        return found

    def _batch(self, requests: Sequence[Request]) -> list[Sample]:
        key = self._key(requests)
        if key not in self.log.batches:
            prompts = [
                self.task.prompt(one.problem).text(
                    self.completer.tokenizer, self.task.hint(one.problem, one.hint_steps)
                )
                for one in requests
            ]
            seed = int(key[:8], 16)
            completions = self.completer.complete(prompts, self.decoding, seed)
            self.log.batches[key] = [
                self._judged(key, place, len(requests), one, text)
                for place, (one, text) in enumerate(zip(requests, completions, strict=True))
            ]
        return self.log.batches[key]

    def _judged(self, key: str, place: int, size: int, request: Request, text: str) -> Sample:
        problem = request.problem
        whole = self.task.hint(problem, request.hint_steps) + text
        verdict = self.task.verify(problem, whole)
        sample = Sample(
            problem.id,
            problem.level,
            request.hint_steps,
            request.copy,
            verdict.correct,
            verdict.exact_path,
            verdict.reward,
            verdict.why,
            whole,
        )
        self.log.append(key, place, size, sample)
        return sample

    def _key(self, requests: Sequence[Request]) -> str:
        """Name a batch by all that its rows depend on."""
        rows = [[one.problem.row(), one.hint_steps, one.copy] for one in requests]
        what = [self.identity, self.task.name, asdict(self.decoding), self.seed, rows]
        return hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
