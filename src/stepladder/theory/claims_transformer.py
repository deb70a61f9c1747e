"""Claims about the transformer: what it can represent, its score, its readout, its XOR block."""

from __future__ import annotations

import math

import numpy as np
import torch

from stepladder.theory.bounds import required_attention, required_gap
from stepladder.theory.claims import FAILS, HOLDS, Case, Claim, equal, lower_bound, upper_bound
from stepladder.transformer import Readout, TreeTransformer, XorFFN, path_weights

ERROR = 0.01
"""The error budget per step in the margin lemma's checks."""


def base_is_part(case: Case) -> Claim:
    """Thm. 1."""
    model, part = TreeTransformer(case.target.tree), case.part
    chains = [np.zeros((1, 0), dtype=np.int64), np.arange(case.d).reshape(case.d, 1)]
    measured = max(float(abs(model.probabilities(c) - part.probabilities(c)).max()) for c in chains)
    return Claim(
        "base_is_part",
        "Thm. 1",
        "the transformer with W = 0 picks as PART does (largest difference of one-step probabilities)",
        0.0,
        measured,
        equal(0, measured, 1e-12),
        "over the root and every last pick, which is all a pick depends on",
    )


def path_is_representable(case: Case) -> Claim:
    """The representation theorem."""
    model = TreeTransformer(case.target.tree, path_weights(case.target))
    steps = [np.asarray([case.target.picks[:step]]).reshape(1, step) for step in range(case.k + 1)]
    laws = [model.probabilities(picks.astype(np.int64))[0] for picks in steps]
    measured = math.prod(float(law[pick]) for law, pick in zip(laws, case.target.path, strict=True))
    return Claim(
        "path_is_representable",
        "Thm. Representation of Any Parity Function",
        "some W writes the target's chain surely, EOS included",
        1.0,
        measured,
        equal(1, measured, 0),
        "under the direct readout; the literal one needs a small temperature as well",
    )


def score_lemma(case: Case) -> Claim:
    """Lemma score_pi_OBI against automatic differentiation."""
    torch.manual_seed(0)
    W = torch.randn(case.d + 1, case.d + 1, dtype=torch.float64)
    readout = Readout("double_softmax", 0.7)
    model = TreeTransformer(case.target.tree, W, readout)
    legal = torch.from_numpy(case.target.tree.follows[:1])
    worst = 0.0
    for pick in case.target.tree.legal((0,)):
        model.zero_grad()
        model.log_probabilities(np.array([[0]]))[0, pick].backward()  # type: ignore[no-untyped-call]
        weights = torch.zeros(1, case.d + 1, dtype=torch.float64)
        weights[0, pick] = 1
        closed = readout.score(model.logits(torch.tensor([0])), legal, weights)[0]
        assert model.W.grad is not None
        worst = max(worst, float((closed.detach() - model.W.grad[:, 0]).abs().max()))
    return Claim(
        "score_lemma",
        "Lemma score_pi_OBI",
        "closed-form score equals the derivative (largest difference, random W)",
        0.0,
        worst,
        equal(0, worst, 1e-9),
        "float64, against automatic differentiation",
    )


def eta_bound(case: Case) -> Claim:
    """|eta| <= 4 / beta."""
    torch.manual_seed(1)
    logits = 3 * torch.randn(2000, case.d, dtype=torch.float64)
    attention = torch.softmax(logits, -1)
    policy = torch.softmax(attention, -1)
    identity = torch.eye(case.d, dtype=torch.float64)
    residual = identity - policy.unsqueeze(-2)
    eta = residual - (attention.unsqueeze(-2) * residual).sum(-1, keepdim=True)
    measured = float(eta.abs().max())
    return Claim(
        "eta_bound",
        "Lemma Var_REINFORCE, part (F)",
        "|eta| <= 4/beta",
        4.0,
        measured,
        upper_bound(4.0, measured),
        "largest over 2000 random attention vectors; with orthonormal positions it never exceeds 2/beta",
    )


def literal_readout(case: Case) -> Claim:
    """The literal readout can reach high accuracy."""
    measured = math.e / (math.e + case.d - 1)
    return Claim(
        "literal_readout",
        "Eq. (forward), beta = 1",
        "the sampled pick can be made correct with probability above 0.99",
        0.99,
        measured,
        FAILS if measured < 0.99 else HOLDS,
        "a second softmax over weights in [0,1] caps every probability at e/(e + |legal| - 1) at beta = 1; "
        "the figures can only have used the attention weights themselves",
    )


def margin_lemma_feasible(case: Case) -> Claim:
    """Lemma step_margin_to_loss at the experiments' temperature."""
    measured = required_attention(ERROR, tokens=3, beta=1.0)
    return Claim(
        "margin_lemma_feasible",
        "Lemma step_margin_to_loss, beta = 1",
        f"some attention below 1 guarantees an error of {ERROR:g} per step at beta = 1",
        1.0,
        measured,
        HOLDS if measured < 1 else FAILS,
        "the required attention exceeds 1 unless beta < 1 / log(M (1-eps)/eps)",
    )


def margin_lemma(case: Case) -> Claim:
    """Lemma step_margin_to_loss where it is feasible."""
    tokens, beta = case.d + 1, 0.05
    gap = required_gap(ERROR, tokens, case.d, beta)
    logits = torch.zeros(1, case.d, dtype=torch.float64)
    logits[0, 0] = gap
    legal = torch.ones(1, case.d, dtype=torch.bool)
    policy = Readout("double_softmax", beta).log_probabilities(logits, legal).exp()
    measured = float(policy[0, 0])
    return Claim(
        "margin_lemma",
        "Lemma step_margin_to_loss, beta = 0.05",
        "a logit gap of Gamma guarantees the pick with probability 1 - eps",
        1 - ERROR,
        measured,
        lower_bound(1 - ERROR, measured),
        "with M = d+1 positions to choose from (the lemma says vocabulary size)",
    )


def xor_block(case: Case) -> Claim:
    """The XOR block on EOS as a clue."""
    block = XorFFN()
    clue = torch.tensor([2, 2])
    state = torch.tensor([0, 1])
    measured = float((block(1, clue, state) == 2).double().mean())
    return Claim(
        "xor_block",
        "Eq. FFN_XOR_W",
        "the block maps (clue EOS, any state) to EOS",
        1.0,
        measured,
        equal(1, measured),
        "it adds its inputs and cannot tell (EOS, z) from (z, EOS); generation stops at the pick instead",
    )


CHECKS = (
    base_is_part,
    path_is_representable,
    score_lemma,
    eta_bound,
    literal_readout,
    margin_lemma_feasible,
    margin_lemma,
    xor_block,
)
