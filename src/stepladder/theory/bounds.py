"""The paper's sample sizes, learning rates and thresholds, with constant 1 in every Theta.

Finetuning (Thm. 2, per-step theorem, one-pass theorem), rho = acceptance of wrong chains:

    A   n = d^(2k+2) (1-rho)^-2          learning rate  beta log(d) d^(k+1) (1-rho)^-1
    B, C  n_l = d^2 (1-rho)^-2           learning rate  beta log(d) d^2 (1-rho)^-1
    A, step l   n_l = d^(2(k+2-l)-2) (1-rho)^-2

Margins of the expected gradient:  A  d^-(k+2-l) (1-rho) / beta,   B, C  d^-2 (1-rho) / beta

Test time (Thm. 3 and its formal versions):

    bai   T_data, T_comp >= d^(2k+1) (1-rho)^-2      (the main text says d^(2k))
    ltar  T_data <= (k+1) d^2 (1-rho)^-2,   T_comp <= (k+1) d^3 (1-rho)^-2

Margins to 0-1 loss (Lemma step_margin_to_loss), M tokens to choose from, |I| legal picks:

    alpha_req = 1/2 + beta/2 log(M (1-eps) / eps)        infeasible unless below 1
    gap_req   = log( (|I|-1) alpha_req / (1 - alpha_req) )

Errata: Alg. A asks for d^(2k+4), its theorem for d^(2k+2). gamma^A lacks the 1/d attention factor that
gamma^B has. LTAR pulls d arms m times each, so its own m gives T_data of order d^3.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from stepladder.errors import InputError, check_between


@dataclass(frozen=True)
class Bounds:
    """Every closed form of the finetuning and test-time theorems for one (d, k, rho, beta).

    >>> bounds = Bounds(d=8, k=3)
    >>> bounds.samples("no_curriculum"), bounds.samples("depth_increasing")
    (67108864.0, 256.0)
    """

    d: int
    k: int
    rho: float = 0.5
    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_between("d", self.d, 2, 10**6)
        check_between("k", self.k, 1, min(self.d, 20))
        check_between("rho", self.rho, 0, 0.999999)
        check_between("beta", self.beta, 1e-9, 1e9)

    def samples(self, method: Literal["no_curriculum", "depth_increasing", "hint_decreasing"]) -> float:
        """Return n: the single batch of A, or the batch of each stage of B and C."""
        exponent = 2 * self.k + 2 if method == "no_curriculum" else 2
        return float(self.d**exponent / (1 - self.rho) ** 2)

    def step_samples(self, step: int) -> float:
        """Return n_l of the per-step theorem for A."""
        self._check_step(step)
        return float(self.d ** (2 * (self.k + 2 - step) - 2) / (1 - self.rho) ** 2)

    def learning_rate(self, method: Literal["no_curriculum", "depth_increasing", "hint_decreasing"]) -> float:
        """Return the learning rate of the one-pass theorem."""
        exponent = self.k + 1 if method == "no_curriculum" else 2
        return float(self.beta * math.log(self.d) * self.d**exponent / (1 - self.rho))

    def margin(
        self, method: Literal["no_curriculum", "depth_increasing", "hint_decreasing"], step: int
    ) -> float:
        """Return the claimed margin of the expected gradient at a step."""
        self._check_step(step)
        exponent = self.k + 2 - step if method == "no_curriculum" else 2
        return float((1 - self.rho) / (self.beta * self.d**exponent))

    def t_data(self, method: Literal["bai", "ltar"]) -> float:
        """Return the claimed oracle queries."""
        size = self.d ** (2 * self.k + 1) if method == "bai" else (self.k + 1) * self.d**2
        return float(size / (1 - self.rho) ** 2)

    def t_comp(self, method: Literal["bai", "ltar"]) -> float:
        """Return the claimed tokens."""
        size = self.d ** (2 * self.k + 1) if method == "bai" else (self.k + 1) * self.d**3
        return float(size / (1 - self.rho) ** 2)

    def objective_variance(self, success: float, samples: int) -> float:
        """Return Var of the empirical objective, p (1-p) / n, at most 1/(4n)."""
        return success * (1 - success) / samples

    def gradient_error(self, success: float, concentration: float, samples: int) -> float:
        """Bound the mean squared error of the gradient: 16/beta^2 p_succ sum_l S_l / n."""
        return 16 / self.beta**2 * success * concentration / samples

    def _check_step(self, step: int) -> None:
        check_between("step", step, 1, self.k + 1)


def required_attention(error: float, tokens: int, beta: float) -> float:
    """Return alpha_req; a value of 1 or more means that no attention suffices.

    >>> required_attention(0.01, tokens=3, beta=1.0) > 1
    True
    """
    check_between("error", error, 1e-12, 1 - 1e-12)
    return 0.5 + beta / 2 * math.log(tokens * (1 - error) / error)


def required_gap(error: float, tokens: int, legal: int, beta: float) -> float:
    """Return gap_req, the logit gap that guarantees a pick with probability 1 - error."""
    attention = required_attention(error, tokens, beta)
    if attention >= 1:
        raise InputError(
            f"no attention reaches an error of {error:g} at temperature {beta:g}: it would have to be "
            f"{attention:.3g}; use a temperature below {1 / math.log(tokens * (1 - error) / error):.3g}"
        )
    if legal == 1 or attention <= 0:
        return 0.0
    return math.log((legal - 1) * attention / (1 - attention))
