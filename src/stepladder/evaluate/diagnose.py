"""Will a curriculum pay for this model on this task? From a profile, by `theory.pays`.

The depth-increasing curriculum is predicted from the ladder of levels, the hint-decreasing one from the ladder
of hints. The one with the larger predicted saving is proposed, if it pays at all; "does not pay" is a normal
answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from stepladder.curriculum.stages import MethodName
from stepladder.errors import InputError
from stepladder.evaluate.profile import Ladder, Profile
from stepladder.theory.pays import Prediction

LADDERS: dict[MethodName, Ladder] = {"depth_increasing": "levels", "hint_decreasing": "hints"}


NEVER_RIGHT = (
    "The model was not right on any step of the ladder, beyond what luck gives, so neither way has rewards to "
    "learn from. Look at its completions first: the format may be missing, or the first step is too hard."
)
CLOSE = 3.0
"""A saving between a third and three times is close to none."""


@dataclass(frozen=True)
class Diagnosis:
    """The verdict, and what stands behind it."""

    verdict: Literal["pays", "does not pay", "cannot tell"]
    method: MethodName
    """What to train with."""
    predictions: dict[MethodName, Prediction]
    reasons: str

    @property
    def sentence(self) -> str:
        """The verdict as a sentence."""
        if self.verdict == "cannot tell":
            return "It cannot be told whether a curriculum pays."
        return f"A curriculum {self.verdict}."

    def to_json(self) -> dict[str, Any]:
        """Return everything."""
        return {
            "verdict": self.verdict,
            "method": self.method,
            "reasons": self.reasons,
            "predictions": {
                method: {
                    "verdict": one.verdict,
                    "saving": vars(one.ratio),
                    "direct": vars(one.direct),
                    "curriculum": vars(one.curriculum),
                    "stages": one.stages,
                    "samples_per_stage": one.curriculum.value / one.stages,
                    "more_samples": one.more_samples,
                }
                for method, one in self.predictions.items()
            },
        }


def diagnose(profile: Profile, seed: int = 0) -> Diagnosis:
    """Predict both curricula and choose."""
    predictions = {
        method: profile.predict(ladder, seed)
        for method, ladder in LADDERS.items()
        if len(profile.ladder(ladder)) > 1
    }
    if not predictions:
        raise InputError(f"{profile.target} is a single step: there is no curriculum to it", option="level")
    if not profile.ever_right:
        unknown = {method: replace(one, verdict="cannot tell") for method, one in predictions.items()}
        return Diagnosis("cannot tell", "no_curriculum", unknown, NEVER_RIGHT)
    paying = [method for method, one in predictions.items() if one.verdict == "pays"]
    if paying:
        surest = max(paying, key=lambda method: predictions[method].ratio.low)
        return Diagnosis("pays", surest, predictions, _why_it_pays(profile, surest, predictions[surest]))
    best = max(predictions, key=lambda method: predictions[method].ratio.value)
    if all(one.verdict == "does not pay" for one in predictions.values()):
        reasons = _why_it_does_not(profile, predictions[best])
        return Diagnosis("does not pay", "no_curriculum", predictions, reasons)
    return Diagnosis("cannot tell", "no_curriculum", predictions, _why_unknown(predictions[best]))


def _why_it_pays(profile: Profile, method: MethodName, found: Prediction) -> str:
    rungs = profile.ladder(LADDERS[method])
    direct = next(cell for cell in profile.cells if cell.level == profile.target and cell.slices == 0)
    easiest = max(cell.rate.value for cell in rungs)
    return (
        f"The model solves {_share(direct.successes, direct.trials)} of level {profile.target} by itself, too "
        f"few for outcome rewards to show it the way, but {float(easiest):.0%} of the ladder's easiest step. "
        f"Learning one step after the other should take about {found.curriculum.value:,.0f} rollouts in "
        f"{found.stages} stages in place of {found.direct.value:,.0f}: "
        f"{found.ratio.value:,.3g} times fewer [{found.ratio.low:,.3g}, {found.ratio.high:,.3g}]."
    )


def _why_it_does_not(profile: Profile, found: Prediction) -> str:
    direct = next(cell for cell in profile.cells if cell.level == profile.target and cell.slices == 0)
    return (
        f"The model already solves {_share(direct.successes, direct.trials)} of level {profile.target}, so "
        f"direct training sees enough rewards to learn from. The best curriculum would take "
        f"{1 / found.ratio.value:,.2g} times the rollouts of direct training "
        f"[{1 / found.ratio.high:,.2g}, {1 / found.ratio.low:,.2g}]."
    )


def _why_unknown(found: Prediction) -> str:
    close = found.ratio.low > 1 / CLOSE and found.ratio.high < CLOSE
    more = (
        f"About {found.more_samples:,} samples a cell would tell."
        if found.more_samples
        else "More samples would not tell: the two are too close."
        if close
        else "How many samples would tell cannot be said yet; take more, with a higher --limit."
    )
    return (
        f"The best curriculum is predicted to take {found.ratio.value:,.3g} times fewer rollouts, but anything "
        f"from {found.ratio.low:,.3g} to {found.ratio.high:,.3g} fits what was seen. {more}"
    )


def _share(successes: int, trials: int) -> str:
    return f"{successes / trials:.2%}" if successes else f"fewer than {3 / trials:.2%}"


def recipe(profile: Profile, found: Diagnosis) -> dict[str, Any]:
    """Return a config for `stepladder train` that follows the diagnosis."""
    order: dict[str, Any] = {"levels": "e2h_balanced"}
    levels = [profile.target]
    if found.method == "depth_increasing":
        order = {"levels": "e2h_window"}
        levels = sorted({cell.level for cell in profile.ladder("levels")})
    elif found.method == "hint_decreasing":
        order = {"levels": "e2h_balanced", "hints": "uft_staged"}
    return {
        "data": {"task": profile.task, "levels": levels, **profile.options},
        "model": profile.model,
        "curriculum": order,
        "grpo": {"max_steps": 200, "per_device_train_batch_size": 64, "num_generations": 8},
    }
