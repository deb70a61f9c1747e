"""Hint tokens between prompt and completion.

A completion is generated from prompt + hint. For the loss the hint belongs to the completion, so that one
forward pass gives the log-probabilities of both: the hint's for the prefix loss, the rest's for the policy
loss. These functions move it there. Prompts are padded on the left, completions on the right.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

PER_TOKEN = (
    "old_per_token_logps",
    "ref_per_token_logps",
    "sampling_per_token_logps",
    "importance_sampling_ratio",
)
"""What TRL keeps for every completion token. Hints are masked out, and get 0 there, or a ratio of 1."""


def move_hints(output: dict[str, Any], hints: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Move each row's last prompt tokens, its hint, to the front of the completion.

    `tool_mask`, by which TRL leaves tokens out of the policy loss, becomes 0 on them; `hint_mask` is 1 there.
    """
    lengths = torch.tensor([len(hint) for hint in hints], device=output["prompt_ids"].device)
    own = output["tool_mask"] if "tool_mask" in output else torch.ones_like(output["completion_mask"])
    moved = dict(output)
    for name in ("prompt_ids", "prompt_mask"):
        moved[name] = _shift_out(output[name], lengths)
    kept = moved["prompt_mask"].any(dim=0)
    for name in ("prompt_ids", "prompt_mask"):
        moved[name] = moved[name][:, kept]
    moved["completion_ids"] = _shift_in(output["completion_ids"], lengths, output["prompt_ids"])
    moved["completion_mask"] = _shift_in(output["completion_mask"], lengths, output["prompt_mask"])
    moved["tool_mask"] = _shift_in(own, lengths)
    places = torch.arange(moved["completion_ids"].shape[1], device=lengths.device)
    moved["hint_mask"] = (places < lengths[:, None]).long() * moved["completion_mask"]
    for name in PER_TOKEN:
        if name in output and output[name].shape[1] == output["completion_ids"].shape[1]:
            neutral = 1 if name == "importance_sampling_ratio" else 0
            moved[name] = _shift_in(output[name] - neutral, lengths) + neutral
    return moved


def _shift_out(prompts: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Drop the last tokens of every row, moving the rest to the right; zeros come in."""
    width = prompts.shape[1]
    source = torch.arange(width, device=prompts.device) - lengths[:, None]
    shifted = prompts.gather(1, source.clamp(min=0))
    return torch.where(source >= 0, shifted, torch.zeros_like(shifted))


def _shift_in(
    completions: torch.Tensor, lengths: torch.Tensor, prompts: torch.Tensor | None = None
) -> torch.Tensor:
    """Make room for each row's hint and fill it with the last prompt tokens, or with zeros."""
    room = int(lengths.max())
    width = completions.shape[1] + room
    places = torch.arange(width, device=completions.device)
    source = places - lengths[:, None]
    inside = (source >= 0) & (source < completions.shape[1])
    shifted = completions.gather(1, source.clamp(0, completions.shape[1] - 1))
    shifted = torch.where(inside, shifted, torch.zeros_like(shifted))
    if prompts is None:
        return shifted
    start = prompts.shape[1] - lengths[:, None] + places
    hint = prompts.gather(1, start.clamp(max=prompts.shape[1] - 1))
    return torch.where(places < lengths[:, None], hint, shifted)
