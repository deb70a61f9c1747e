"""The transformer over a tree, TF(.; W) of Eq. (forward), with only the positional block W trainable.

    E[x_m] = [mu_{x_m}; p_m],   E[EOS] = [mu_EOS; p_d],   E[z_l] = [mu_{z_l}; p_{i_l}]
    K^T Q  = blockdiag(0, W),   V = (0 I)
    p_hat  = sum_j V E[z_j] softmax_j( E[z_j]^T K^T Q E[z_{l-1}] )     over tokens before the query
    i_l    ~ readout(p_hat^T P),   z_l = FFN_l(clue at i_l, z_{l-1}),   stop when i_l = d

`TreeTransformer.generate` runs this as written, embeddings and all. Because K^T Q sees positions only,
the law of a pick depends on the last pick and the legal set alone; `log_probabilities` uses that and is
what learning and bulk rollouts build on. The two agree (tests/transformer/test_model.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from stepladder.transformer.attention import Readout
from stepladder.transformer.feedforward import feedforward
from stepladder.trees import Policy, Tree
from stepladder.trees.tree import Picks, Tokens


@dataclass(frozen=True)
class Generation:
    """Chains that a transformer wrote, padded with EOS after their end."""

    picks: Tensor
    """Picked positions, shape (n, width)."""
    tokens: Tensor
    """The states z_1.., EOS, shape (n, width) or (n, width, 2)."""
    log_probs: Tensor
    """Log-probability of each pick, 0 after the end, shape (n, width)."""


class TreeTransformer(nn.Module, Policy):
    """A one-layer transformer that reasons over a tree; W = 0 is the base model PART (Thm. 1).

    >>> from stepladder.trees import Parity
    >>> model = TreeTransformer(Parity(d=3))
    >>> model.probabilities(np.array([[0]])).round(3).tolist()
    [[0.0, 0.333, 0.333, 0.333]]
    """

    def __init__(
        self,
        tree: Tree,
        W: Tensor | None = None,
        readout: Readout | None = None,
        positions: Tensor | None = None,
    ) -> None:
        """Build the model.

        `W[j, c]` is the logit of key position j for the query at position c. `positions` are the
        orthonormal positional encodings, one row each; the standard basis by default.
        """
        super().__init__()
        self.tree = tree
        size = tree.d + 1
        weights = torch.zeros(size, size, dtype=torch.float64) if W is None else W.detach().clone()
        self.W = nn.Parameter(weights)
        self.readout = readout or Readout()
        basis = torch.eye(size, dtype=weights.dtype) if positions is None else positions
        self.register_buffer("P", basis.to(weights))
        self.P: Tensor

    @cached_property
    def ffn(self) -> nn.Module:
        """The frozen feed-forward block; built when first needed, because only `generate` needs it."""
        return feedforward(self.tree).to(self.W.device)

    # ---- the law of a pick, in closed form

    def logits(self, query: Tensor) -> Tensor:
        """Return attention logits over the d+1 positions for query positions, shape (n, d+1)."""
        return (self.P @ self.W @ self.P.T)[:, query].T

    def log_probabilities(self, picks: Picks) -> Tensor:
        """Return log pi of the next pick after each row of `picks`, differentiable in W."""
        legal = torch.from_numpy(self.tree.legal_mask(picks)).to(self.W.device)
        last = picks[:, -1] if picks.shape[1] else np.full(len(picks), self.tree.eos)
        query = torch.from_numpy(np.ascontiguousarray(last)).to(self.W.device)
        return self.readout.log_probabilities(self.logits(query), legal)

    def probabilities(self, picks: Picks) -> npt.NDArray[np.float64]:
        """Return the next-pick distribution after each row of `picks` as an array."""
        with torch.no_grad():
            law: npt.NDArray[np.float64] = self.log_probabilities(picks).exp().double().cpu().numpy()
        return law

    # ---- Eq. (forward) as written

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Concatenate token and position embeddings; a ratio is embedded as its two integers."""
        if self.tree.finite:
            identity = torch.eye(self.tree.alphabet + 1, dtype=self.P.dtype, device=self.P.device)
            content = identity[tokens]
        else:
            content = tokens.to(self.P.dtype)
        return torch.cat([content, self.P[positions]], dim=-1)

    def forward(self, sequence: Tensor, legal: Tensor) -> Tensor:
        """Return log pi of the next pick given the embedded sequence, shape (n, d+1).

        The last token is the query and attends to the tokens before it. `legal` covers the d+1 prompt
        positions; chain tokens further on are never legal picks.
        """
        width = self.P.shape[1]
        content = sequence.shape[-1] - width
        key_query = self.W.new_zeros(content + width, content + width)
        key_query[content:, content:] = self.W
        keys, query = sequence[:, :-1], sequence[:, -1]
        logits = torch.einsum("nje,ef,nf->nj", keys, key_query, query)
        allowed = torch.zeros_like(logits, dtype=torch.bool)
        prompt = min(keys.shape[1], self.tree.d + 1)
        allowed[:, :prompt] = legal[:, :prompt]
        if self.readout.name == "direct":
            logits = logits / self.readout.temperature
        weights = torch.softmax(logits.masked_fill(~allowed, -torch.inf), dim=-1)
        attended = torch.einsum("nj,nje->ne", weights, keys)[:, content:] @ self.P.T
        if self.readout.name == "direct":
            return attended.masked_fill(~legal, 1).log().masked_fill(~legal, -torch.inf)
        vocabulary = (attended / self.readout.temperature).masked_fill(~legal, -torch.inf)
        return torch.log_softmax(vocabulary, dim=-1)

    @torch.no_grad()
    def generate(self, inputs: Tokens, generator: torch.Generator | None = None) -> Generation:
        """Write one chain for each input (letters, shape (n, slots)), token by token, to EOS."""
        tree, device = self.tree, self.W.device
        count = len(inputs)
        clues = np.stack([tree.clue(inputs, position) for position in range(tree.d)], axis=1)
        memory = torch.from_numpy(clues.astype(np.int64)).to(device)
        eos = torch.from_numpy(np.asarray(tree.eos_token, dtype=np.int64)).to(device)
        prompt = torch.cat([memory, eos.expand(count, 1, *eos.shape)], dim=1)
        where = torch.arange(tree.d + 1, device=device).expand(count, -1)
        sequence = self.embed(prompt, where)
        rows = torch.arange(count, device=device)
        width = tree.max_depth + 1
        picks = torch.full((count, width), tree.eos, device=device)
        tokens = eos.expand(count, width, *eos.shape).clone()
        log_probs = torch.zeros(count, width, dtype=self.W.dtype, device=device)
        state = tokens[:, 0]
        for depth in range(1, width + 1):
            legal = torch.from_numpy(tree.legal_mask(picks[rows, : depth - 1].cpu().numpy()))
            law = self(sequence[rows], legal.to(device))
            pick = torch.multinomial(law.exp(), 1, generator=generator)
            picks[rows, depth - 1] = pick[:, 0]
            log_probs[rows, depth - 1] = law.gather(1, pick)[:, 0]
            going = pick[:, 0] != tree.eos
            rows, pick = rows[going], pick[going, 0]
            if not len(rows):
                break
            fresh = self.ffn(depth, memory[rows, pick], state[rows])
            tokens[rows, depth - 1] = fresh
            state = state.index_copy(0, rows, fresh)
            newest = self.embed(state, picks[:, depth - 1])
            sequence = torch.cat([sequence, newest.unsqueeze(1)], dim=1)
        return Generation(picks, tokens, log_probs)
