"""Will a curriculum pay? A prediction from success rates alone, with an interval and a verdict.

From the success rates p_h with h correct steps given (h = 0..k; p_{k+1} = 1), step l succeeds with
probability w_l = p_{l-1} / p_l. From levels of increasing depth, w_l = p_l / p_{l-1}. One REINFORCE update
ranks the picks of a step by their rewarded counts. Against a wrong pick that is visited as often and
accepted with probability q, the correct one leads by a normal variable whose squared signal-to-noise ratio
grows by, per rollout,

    direct       s_l = (1-q)^2 p_0 p_l / (2q + (1-q) p_l)        a visit needs the steps before, a reward
                                                                 the steps after
    curriculum   s_l = (1-q)^2 w_l / (1+q)                       steps before are learned or given, the
                                                                 judged chain ends here or is learned

A step has about 1/w_l - 1 rivals, so the sample size solves

    sum_l (1/w_l - 1) Phi(-sqrt(n s_l)) = (1 - target accuracy) / (1 - q)

and the curriculum spends n on each of its k+1 stages. Success rates come as counts: their uncertainty
(Jeffreys posterior) and the formula's own error, measured on trees (calibration.json, `stepladder theory
--calibration`), both enter the interval of the ratio.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr
from scipy.stats import t as student

from stepladder.errors import InputError, check_between, check_seed
from stepladder.scaling import LARGEST, Interval

Floats = npt.NDArray[np.float64]
Counts = Sequence[tuple[int, int]]
"""(successes, trials) for each hint length or level."""

DRAWS = 4000
SMALLEST = 1e-15
"""A success rate below this counts as this: the direct cost is then beyond any budget."""


@dataclass(frozen=True)
class Calibration:
    """How the formula compares with measured ratios: log(measured / predicted) over so many settings."""

    bias: float
    """Its mean."""
    spread: float
    """Its standard deviation, as a prediction error."""
    settings: int

    @property
    def quantile(self) -> float:
        """Half the width of the 95% interval of log(measured / predicted)."""
        return float(student.ppf(0.975, self.settings - 1)) * self.spread

    @classmethod
    def packaged(cls) -> Calibration:
        """Read the calibration that ships with the package."""
        data = json.loads(files("stepladder.theory").joinpath("calibration.json").read_text())
        return cls(data["bias"], data["spread"], data["settings"])


@dataclass(frozen=True)
class Prediction:
    """What a curriculum is predicted to gain."""

    verdict: Literal["pays", "does not pay", "cannot tell"]
    ratio: Interval
    """Direct over curriculum, in rollouts, with its 95% interval."""
    direct: Interval
    """Rollouts of direct training."""
    curriculum: Interval
    """Rollouts over all stages of the curriculum."""
    stages: int
    more_samples: int | None
    """Trials per success rate that would decide, if the rates stay as they are; None if already decided,
    or if no number would because the ratio is too close to 1."""

    def __str__(self) -> str:
        """Say it in a sentence."""
        shown = f"direct / curriculum = {self.ratio.value:.3g} [{self.ratio.low:.3g}, {self.ratio.high:.3g}]"
        if self.verdict != "cannot tell":
            return f"a curriculum of {self.stages} stages {self.verdict}: {shown}"
        more = (
            f"about {self.more_samples:,} trials per rate would tell"
            if self.more_samples
            else "the two are too close to call"
        )
        return f"cannot tell: {shown}; {more}"


def pays(
    *,
    hints: Counts | None = None,
    levels: Counts | None = None,
    spurious: float = 0.0,
    accuracy: float = 0.99,
    calibration: Calibration | None = None,
    seed: int = 0,
) -> Prediction:
    """Predict from success counts by hint length (0, 1, ..; none given first) or by level (easiest first).

    >>> result = pays(hints=[(3, 4000), (60, 4000), (900, 4000)])
    >>> result.verdict
    'pays'
    """
    if (hints is None) == (levels is None):
        raise InputError("give success counts either by hint length or by level")
    check_seed(seed)
    check_between("spurious", spurious, 0, 0.999)
    check_between("accuracy", accuracy, 0.5, 0.999999)
    counts = _checked(hints if hints is not None else levels or ())
    by_hint = hints is not None
    known = calibration or Calibration.packaged()

    def predict(scale: int) -> tuple[Interval, Interval, Interval]:
        rng = np.random.default_rng(seed)
        rates = _posterior(counts * scale, spurious, rng)
        direct, curriculum = costs(step_probabilities(rates, by_hint), spurious, accuracy)
        noise = np.exp(known.bias + known.spread * rng.standard_t(known.settings - 1, len(direct)))
        return _interval(direct / curriculum * noise), _interval(direct), _interval(curriculum)

    ratio, direct, curriculum = predict(1)
    verdict = _verdict(ratio)
    more = None
    if verdict == "cannot tell":
        most = int(counts[:, 1].max())
        scales = (2**power for power in range(1, 31) if most * 2**power <= LARGEST)
        enough = next((scale for scale in scales if _verdict(predict(scale)[0]) != "cannot tell"), None)
        more = None if enough is None else int(counts[:, 1].max()) * enough
    return Prediction(verdict, ratio, direct, curriculum, len(counts), more)


def step_probabilities(rates: Floats, by_hint: bool) -> Floats:
    """Turn success rates (last axis: hint length or level) into the success of each step."""
    if by_hint:
        after = np.concatenate([rates[..., 1:], np.ones_like(rates[..., :1])], axis=-1)
        steps = rates / after
    else:
        before = np.concatenate([np.ones_like(rates[..., :1]), rates[..., :-1]], axis=-1)
        steps = rates / before
    return np.asarray(np.clip(steps, SMALLEST, 1.0))


def costs(steps: Floats, spurious: float, accuracy: float) -> tuple[Floats, Floats]:
    """Return the rollouts of direct training and of the whole curriculum, over the last axis of steps."""
    allowed = (1 - accuracy) / (1 - spurious)
    rivals = 1 / steps - 1
    whole = steps.prod(axis=-1, keepdims=True)
    after = np.cumprod(steps[..., ::-1], axis=-1)[..., ::-1] / steps
    gain = (1 - spurious) ** 2
    direct = gain * whole * after / (2 * spurious + (1 - spurious) * after)
    stage = gain * steps / (1 + spurious)
    stages = steps.shape[-1]
    return _solve(direct, rivals, allowed), stages * _solve(stage, rivals, allowed)


def _solve(signal: Floats, rivals: Floats, allowed: float) -> Floats:
    """Find n with sum_l rivals_l Phi(-sqrt(n signal_l)) = allowed, by bisection in log n; at least 1."""
    low = np.zeros(signal.shape[:-1])
    high = np.full(signal.shape[:-1], np.log(1e60))
    for _ in range(80):
        middle = (low + high) / 2
        error = (rivals * ndtr(-np.sqrt(np.exp(middle)[..., None] * signal))).sum(axis=-1)
        low = np.where(error > allowed, middle, low)
        high = np.where(error > allowed, high, middle)
    return np.asarray(np.exp(high))


def _checked(counts: Counts) -> npt.NDArray[np.int64]:
    if not len(counts):
        raise InputError("there is no success rate; give (successes, trials) for each hint length or level")
    shape = np.shape(np.asarray(counts, dtype=object))
    if len(shape) != 2 or shape[1] != 2:
        raise InputError(f"success rates must be pairs (successes, trials), got {list(counts)}")
    for successes, trials in counts:
        if successes != int(successes) or trials != int(trials):
            raise InputError(f"{successes} of {trials} are not whole numbers of successes and trials")
        if not 0 <= successes <= trials or trials < 1:
            raise InputError(f"{successes} successes of {trials} trials is not a success rate")
    return np.asarray(counts, dtype=np.int64)


def _posterior(counts: npt.NDArray[np.int64], spurious: float, rng: np.random.Generator) -> Floats:
    """Draw true success rates given the counts, spurious acceptance taken out."""
    seen = rng.beta(counts[:, 0] + 0.5, counts[:, 1] - counts[:, 0] + 0.5, (DRAWS, len(counts)))
    return np.asarray(np.clip((seen - spurious) / (1 - spurious), SMALLEST, 1.0))


def _interval(values: Floats) -> Interval:
    low, middle, high = np.quantile(values, [0.025, 0.5, 0.975])
    return Interval(float(middle), float(low), float(high))


def _verdict(ratio: Interval) -> Literal["pays", "does not pay", "cannot tell"]:
    if ratio.low > 1:
        return "pays"
    return "does not pay" if ratio.high < 1 else "cannot tell"
