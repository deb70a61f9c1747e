"""Options that all commands share which sample from a language model."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepladder.commands.console import whole_numbers
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between
from stepladder.tasks.catalogue import TaskName, TaskOptions, build_task
from stepladder.tasks.chain import Form
from stepladder.tasks.task import Task

if TYPE_CHECKING:
    from stepladder.evaluate.sampler import Sampler


@dataclass(frozen=True)
class ModelOptions:
    """Which task, which model, and how to decode."""

    model: str = "tiny"
    """tiny, smollm2, a hub id, a local folder, or a run folder of `stepladder train`."""
    source: str | None = None
    """math: a .jsonl or .parquet file or a data set; built-in problems without it."""
    d: int | None = None
    """parity, sum: number of inputs; 10 by default."""
    secret: str | None = None
    """parity, sum: the secret picks; 0,1,2,3 by default."""
    alphabet: int | None = None
    """sum: the modulus; 3 by default."""
    form: Form | None = None
    """parity, sum: whether the prompt shows the inputs; visible by default."""
    largest: int | None = None
    """countdown: the largest number; 99 by default, less is for tiny models."""
    temperature: float = 0.7
    """Decoding temperature."""
    top_p: float = 0.9
    """Decoding: share of probability to draw from."""
    top_k: int = 50
    """Decoding: number of tokens to draw from; 0 for all."""
    max_tokens: int = 512
    """Longest completion."""
    batch: int = 64
    """Completions at a time."""

    def task_options(self) -> dict[str, Any]:
        """Return the options of the task that were given, as a config names them."""
        names = ("source", "d", "alphabet", "form", "largest")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return given | ({} if self.secret is None else {"secret": list(whole_numbers(self.secret, "secret"))})

    def task(self, name: TaskName) -> Task:
        """Build the task."""
        secret = None if self.secret is None else whole_numbers(self.secret, "secret")
        options = TaskOptions(self.source, self.d, secret, self.alphabet, self.form, self.largest)
        return build_task(name, options)

    def sampler(self, name: TaskName, log: Path | None, seed: int, bar: Bar) -> Sampler:
        """Load the model and make the sampler."""
        task = self.task(name)
        kit = import_kit()
        check_between("batch", self.batch, 1, 10**6)
        decoding = kit.Decoding(self.temperature, self.top_p, self.top_k, self.max_tokens)
        bar.describe(f"loading {self.model}")
        model = kit.completer(self.model, task, bar.fraction)
        sampler: Sampler = kit.Sampler(
            task, model, decoding, kit.SampleLog(log), seed, self.batch, identity=self.model
        )
        return sampler


def import_kit() -> Any:
    """Import what needs the language-model libraries, which takes seconds and is only there with the extra."""
    try:
        from stepladder.evaluate import kit
    except ImportError as error:
        raise InputError(f"measuring models needs {error.name}: pip install 'stepladder[llm]'") from error
    return kit
