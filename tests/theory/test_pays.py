"""Will a curriculum pay? The prediction from success rates: its formula, its interval and its verdicts."""

import contextlib
import json
import math
import re
import textwrap
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as effort
from hypothesis import strategies as st
from scipy.stats import norm, t

from stepladder.errors import InputError
from stepladder.theory import pays as prediction
from stepladder.theory.pays import Calibration, costs, pays, step_probabilities
from stepladder.trees import Parity, Part, Target, TerminalOracle, rollout

STEPS = st.lists(st.floats(0.02, 0.98), min_size=1, max_size=5).map(np.array)
SPURIOUS = st.sampled_from([0.0, 0.2, 0.5, 0.8])
KNOWN = 10**9
"""Trials at which a success rate above 1e-3 is as good as known."""


@contextlib.contextmanager
def drawing(draws):
    """Predict from fewer posterior draws than usual, for speed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prediction, "DRAWS", draws)
        yield


def rates_by_hint(steps):
    """p_h, the probability of all steps after the first h."""
    return [math.prod(steps[given_steps:]) for given_steps in range(len(steps))]


def counts(rates, trials, spurious=0.0):
    """What an oracle would show on average."""
    return [(round(trials * (rate + (1 - rate) * spurious)), trials) for rate in rates]


def by_hint(steps, trials=KNOWN, spurious=0.0, **options):
    return pays(hints=counts(rates_by_hint(steps), trials, spurious), spurious=spurious, **options)


def ratio(steps, spurious=0.0, accuracy=0.99):
    direct, curriculum = costs(np.asarray(steps, dtype=float), spurious, accuracy)
    return float(direct / curriculum)


# ---- the formula


@given(STEPS, SPURIOUS, st.floats(0.6, 0.999))
def test_the_costs_solve_the_equations_of_the_docstring(steps, spurious, accuracy):
    direct, curriculum = (float(cost) for cost in costs(steps, spurious, accuracy))
    after = np.array([math.prod(steps[step + 1 :]) for step in range(len(steps))])
    gain = (1 - spurious) ** 2
    signals = {
        direct: gain * math.prod(steps) * after / (2 * spurious + (1 - spurious) * after),
        curriculum / len(steps): gain * steps / (1 + spurious),
    }
    allowed = (1 - accuracy) / (1 - spurious)
    for samples, signal in signals.items():
        missed = ((1 / steps - 1) * norm.sf(np.sqrt(samples * signal))).sum()
        if samples > 1 + 1e-6:
            assert missed == pytest.approx(allowed, rel=1e-6)
        else:
            assert missed <= allowed * (1 + 1e-6)


def test_the_costs_of_the_papers_example():
    """n99 in closed form: A about 2.8e7, B about 450 per stage; measured 2.9e7 and 512 on a grid of sqrt 2."""
    target = Target(Parity(8), (0, 1, 2))
    direct, curriculum = costs(1 / np.array(Part(target.tree).branching(target)), 0.5, 0.99)
    assert direct == pytest.approx(2.75e7, rel=0.02)
    assert curriculum / 4 == pytest.approx(480, rel=0.1)


@given(STEPS, SPURIOUS, st.integers(0, 4))
def test_a_harder_step_costs_both_ways_of_training_more(steps, spurious, which):
    harder = steps.copy()
    harder[which % len(steps)] *= 0.8
    for before, after in zip(costs(steps, spurious, 0.99), costs(harder, spurious, 0.99), strict=True):
        assert after >= before * (1 - 1e-9)


@given(STEPS, SPURIOUS, st.floats(0.6, 0.98))
def test_a_more_exacting_accuracy_costs_more(steps, spurious, accuracy):
    here, there = costs(steps, spurious, accuracy), costs(steps, spurious, accuracy + 0.01)
    assert there[0] >= here[0] * (1 - 1e-9)
    assert there[1] >= here[1] * (1 - 1e-9)


@given(st.lists(st.floats(0.02, 0.3), min_size=1, max_size=5).map(np.array), st.floats(0, 0.8))
def test_an_oracle_that_accepts_more_wrong_chains_costs_more(steps, spurious):
    # At 99%: at a low accuracy luck alone may do, because accuracy counts accepted wrong chains too.
    here, there = costs(steps, spurious, 0.99), costs(steps, spurious + 0.1, 0.99)
    assert there[0] > here[0]
    assert there[1] > here[1]


@given(st.floats(0.02, 0.98), SPURIOUS)
def test_one_step_is_its_own_curriculum(step, spurious):
    assert ratio([step], spurious) == pytest.approx(1, rel=1e-9)


@given(STEPS, st.permutations(range(5)))
def test_without_spurious_acceptance_the_order_of_the_steps_does_not_matter(steps, order):
    shuffled = steps[[place for place in order if place < len(steps)]]
    assert ratio(shuffled) == pytest.approx(ratio(steps), rel=1e-9)


@given(STEPS, SPURIOUS)
def test_a_step_that_never_fails_only_adds_a_stage(steps, spurious):
    longer = np.append(steps, 1.0)
    expected = ratio(steps, spurious) * len(steps) / len(longer)
    assert ratio(longer, spurious) == pytest.approx(expected, rel=1e-9)


@given(st.floats(0.01, 0.3), st.integers(2, 5), st.sampled_from([0.0, 0.5]))
def test_one_more_hard_step_makes_a_curriculum_pay_more(step, count, spurious):
    assert ratio([step] * (count + 1), spurious) > ratio([step] * count, spurious)


def test_without_spurious_acceptance_equal_steps_gain_the_factor_of_corollary_1():
    """C*^(L-1)/L with C* = 1/w, because both costs need the same number of standard deviations."""
    for step in (0.5, 0.1, 0.01):
        for count in (1, 2, 3, 4):
            assert ratio([step] * count) == pytest.approx(step ** (1 - count) / count, rel=1e-6)


def test_with_spurious_acceptance_hard_steps_gain_the_square_of_the_rarity():
    """Telling chains apart costs the square of the coverage: the ratio grows as d^(2k), not d^k."""
    for k in (1, 2, 3):
        growth = ratio([1 / 2000] * (k + 1), 0.5) / ratio([1 / 1000] * (k + 1), 0.5)
        assert math.log2(growth) == pytest.approx(2 * k, abs=0.05)


def test_sure_steps_cost_one_rollout_each():
    direct, curriculum = costs(np.ones(3), 0.5, 0.99)
    assert (float(direct), float(curriculum)) == pytest.approx((1, 3))


def test_costs_are_taken_over_the_last_axis():
    steps = np.array([[0.1, 0.2], [0.5, 0.4], [0.3, 0.9]])
    direct, curriculum = costs(steps, 0.5, 0.99)
    for row, one in enumerate(steps):
        assert (direct[row], curriculum[row]) == pytest.approx(tuple(map(float, costs(one, 0.5, 0.99))))


# ---- from rates to steps


@given(STEPS)
def test_hints_and_levels_that_describe_the_same_steps_give_the_same_steps(steps):
    hints = np.array(rates_by_hint(steps))
    levels = np.cumprod(steps)
    assert step_probabilities(hints, by_hint=True) == pytest.approx(steps)
    assert step_probabilities(levels, by_hint=False) == pytest.approx(steps)


@pytest.mark.parametrize("steps", [(0.2, 0.3, 0.4), (0.9, 0.9, 0.9), (0.1, 0.8)])
def test_hints_and_levels_that_describe_the_same_steps_give_the_same_prediction(steps):
    hinted = by_hint(steps)
    levelled = pays(levels=counts(np.cumprod(steps), KNOWN))
    assert hinted.verdict == levelled.verdict
    assert hinted.stages == levelled.stages == len(steps)
    for one, other in ((hinted.ratio, levelled.ratio), (hinted.direct, levelled.direct)):
        assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high), rel=0.02)


def test_a_hint_that_does_not_help_or_a_level_no_harder_counts_as_a_sure_step():
    assert step_probabilities(np.array([0.5, 0.4]), by_hint=True).tolist() == [1.0, 0.4]
    assert step_probabilities(np.array([0.4, 0.5]), by_hint=False).tolist() == [0.4, 1.0]


# ---- the interval


def test_the_interval_at_known_rates_is_the_calibrations():
    steps, calibration = (0.2, 0.3, 0.4), Calibration.packaged()
    found = by_hint(steps).ratio
    centre = math.log(ratio(steps)) + calibration.bias
    # 4,000 draws: quantiles of a t law are known to within a tenth of its spread.
    noise = 0.15 * calibration.spread
    assert math.log(found.value) == pytest.approx(centre, abs=noise)
    assert math.log(found.low) == pytest.approx(centre - calibration.quantile, abs=2 * noise)
    assert math.log(found.high) == pytest.approx(centre + calibration.quantile, abs=2 * noise)


def test_the_half_width_of_the_calibration_is_students_for_so_many_settings():
    assert Calibration(0.1, 0.2, 12).quantile == pytest.approx(t.ppf(0.975, 11) * 0.2)


def test_the_packaged_calibration_is_read_from_its_file():
    data = json.loads(files("stepladder.theory").joinpath("calibration.json").read_text())
    packaged = Calibration.packaged()
    assert (packaged.bias, packaged.spread, packaged.settings) == (
        data["bias"],
        data["spread"],
        data["settings"],
    )


def test_another_calibration_shifts_and_widens_the_interval():
    steps = (0.2, 0.3, 0.4)
    narrow = by_hint(steps, calibration=Calibration(0.0, 0.01, 50)).ratio
    shifted = by_hint(steps, calibration=Calibration(1.0, 0.01, 50)).ratio
    wide = by_hint(steps, calibration=Calibration(0.0, 0.5, 50)).ratio
    assert shifted.value / narrow.value == pytest.approx(math.e, rel=0.01)
    assert wide.high / wide.low > 5 > narrow.high / narrow.low


def test_more_trials_narrow_the_interval_down_to_the_calibrations():
    widths = [
        math.log(found.high / found.low) for n in (30, 300, 30_000) for found in [by_hint((0.3, 0.4), n).ratio]
    ]
    assert widths[0] > widths[1] > widths[2] > 2 * 0.9 * Calibration.packaged().quantile


def test_the_interval_covers_the_truth_as_often_as_it_says():
    # Steps drawn at random, counts of 300 trials, and a formula error drawn from the calibration itself:
    # the 95% interval may miss 5%; more than 17 misses of 150 have probability under 0.1%.
    rng = np.random.default_rng(11)
    calibration = Calibration.packaged()
    misses = 0
    with drawing(500):
        for seed in range(150):
            steps = rng.uniform(0.15, 0.35, size=3)
            error = calibration.bias + calibration.spread * rng.standard_t(calibration.settings - 1)
            truth = ratio(steps) * math.exp(error)
            seen = [(int(rng.binomial(300, rate)), 300) for rate in rates_by_hint(steps)]
            found = pays(hints=seen, seed=seed).ratio
            misses += not found.low <= truth <= found.high
    assert misses <= 17


def test_the_same_seed_gives_the_same_prediction():
    seen = [(3, 50), (20, 50)]
    assert pays(hints=seen, seed=4) == pays(hints=seen, seed=4)
    assert pays(hints=seen, seed=4) != pays(hints=seen, seed=5)


# ---- verdicts


def test_a_target_far_out_of_reach_whose_steps_are_not_pays():
    found = by_hint((0.05, 0.1, 0.2), trials=10_000)
    assert found.verdict == "pays"
    assert found.more_samples is None
    assert str(found).startswith("a curriculum of 3 stages pays: direct / curriculum = ")


@pytest.mark.parametrize("spurious", [0.0, 0.5])
@pytest.mark.parametrize("stages", [2, 3, 5])
def test_a_base_model_that_already_succeeds_at_nine_steps_of_ten_does_not_pay(stages, spurious):
    found = by_hint((0.9,) * stages, trials=10_000, spurious=spurious)
    assert found.verdict == "does not pay"
    assert found.ratio.high < 1
    assert "does not pay" in str(found)


@pytest.mark.parametrize("d", [8, 16, 32])
def test_the_last_position_of_parity_does_not_pay_because_its_second_step_is_sure(d):
    target = Target(Parity(d), (d - 1,))
    steps = [1 / size for size in Part(target.tree).branching(target)]
    assert ratio(steps, 0.5) == pytest.approx(0.5)
    assert by_hint(steps, trials=10**7, spurious=0.5).verdict == "does not pay"


def test_no_success_at_the_target_still_bounds_the_gain_from_below():
    found = pays(hints=[(0, 1000), (100, 1000), (300, 1000), (600, 1000)])
    assert found.verdict == "pays"
    assert 1 < found.ratio.low < found.ratio.high < math.inf
    assert math.isfinite(found.direct.low)


def test_fewer_accepted_than_luck_explains_at_the_target_still_pays_when_the_steps_are_easy():
    found = pays(hints=[(4_990, 10_000), (6_000, 10_000), (7_500, 10_000)], spurious=0.5)
    assert found.verdict == "pays"
    assert math.isfinite(found.ratio.high)


def test_few_trials_cannot_tell_and_say_how_many_would():
    found = by_hint((0.25, 0.3), trials=50)
    assert found.verdict == "cannot tell"
    assert found.ratio.low < 1 < found.ratio.high
    assert found.more_samples > 50
    assert f"about {found.more_samples:,} trials per rate would tell" in str(found)


UNDECIDED = [((0.3, 0.3, 0.3), 20), ((0.5, 0.4, 0.5), 20), ((0.25, 0.3), 50), ((0.6, 0.5, 0.5, 0.6), 50)]


@pytest.mark.parametrize(("steps", "trials"), UNDECIDED)
def test_the_number_of_trials_named_decides_if_the_rates_stay_as_they_are_and_half_of_it_does_not(
    steps, trials
):
    seen = counts(rates_by_hint(steps), trials)
    more = pays(hints=seen).more_samples
    scale = more // trials
    assert pays(hints=[(s * scale, n * scale) for s, n in seen]).verdict != "cannot tell"
    assert pays(hints=[(s * scale // 2, n * scale // 2) for s, n in seen]).verdict == "cannot tell"


@pytest.mark.parametrize(("steps", "trials"), UNDECIDED)
def test_four_times_the_number_of_trials_named_decides_in_most_simulations(steps, trials):
    # Fresh counts at the rates that were seen: at least 80% of 40 simulations are decided.
    seen = counts(rates_by_hint(steps), trials)
    more = 4 * pays(hints=seen).more_samples
    rng = np.random.default_rng(7)
    decided = 0
    with drawing(1000):
        for _ in range(40):
            fresh = [(int(rng.binomial(more, successes / n)), more) for successes, n in seen]
            decided += pays(hints=fresh).verdict != "cannot tell"
    assert decided >= 32


def test_a_ratio_too_close_to_one_is_never_told():
    found = by_hint((0.2, 0.5), trials=200)
    assert found.verdict == "cannot tell"
    assert found.more_samples is None
    assert "too close to call" in str(found)


def test_trials_without_end_that_cannot_tell_are_not_an_error():
    found = by_hint((0.2, 0.5), trials=10**11)
    assert found.verdict == "cannot tell"
    assert found.more_samples is None


# ---- rollouts of a real base model


def test_counts_of_real_rollouts_with_hints_predict_as_the_exact_rates_do():
    """Parity d=8 [5,6,7]: 200,000 rollouts for each hint length, wrong chains accepted half of the time."""
    target = Target(Parity(8), (5, 6, 7))
    part, seen = Part(target.tree), []
    for hint in range(target.k + 1):
        oracle = TerminalOracle(target)
        chunks = rollout(part, 200_000, seed=20 + hint, start=target.picks[:hint])
        accepted = sum(int(oracle.judge(chunk.inputs, chunk.answers).sum()) for chunk in chunks)
        seen.append((accepted, oracle.queries))
    found = pays(hints=seen, spurious=0.5)
    exact = by_hint([1 / size for size in part.branching(target)], trials=KNOWN, spurious=0.5)
    assert found.verdict == exact.verdict == "pays"
    assert found.ratio.low <= exact.ratio.value <= found.ratio.high


# ---- refused


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "either by hint length or by level"),
        ({"hints": [(1, 2)], "levels": [(1, 2)]}, "either by hint length or by level"),
        ({"hints": []}, "there is no success rate"),
        ({"levels": ()}, "there is no success rate"),
        ({"hints": [(1, 2), (5, 4)]}, "5 successes of 4 trials is not a success rate"),
        ({"hints": [(-1, 4)]}, "-1 successes of 4 trials is not a success rate"),
        ({"levels": [(0, 0)]}, "0 successes of 0 trials is not a success rate"),
        ({"hints": [(1, 2)], "spurious": 1.0}, "spurious must be between 0 and"),
        ({"hints": [(1, 2)], "spurious": -0.1}, "spurious must be between 0 and"),
        ({"hints": [(1, 2)], "spurious": math.nan}, "spurious must be between 0 and"),
        ({"hints": [(1, 2)], "accuracy": 1.0}, "accuracy must be between"),
        ({"hints": [(1, 2)], "accuracy": 0.2}, "accuracy must be between"),
    ],
)
def test_bad_input_is_refused_in_one_line(options, message):
    with pytest.raises(InputError, match=message) as refused:
        pays(**options)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "options",
    [{"hints": [(1, 2, 3)]}, {"hints": [4, 5]}, {"hints": [(1, 2)], "seed": -1}, {"hints": [(1.7, 2)]}],
    ids=["triple", "no pairs", "negative seed", "fractional count"],
)
def test_input_of_the_wrong_shape_is_refused_in_one_line(options):
    with pytest.raises(InputError) as refused:
        pays(**options)
    assert "\n" not in str(refused.value)


def test_counts_may_come_as_an_array():
    seen = [(3, 400), (60, 400), (200, 400)]
    assert pays(hints=np.array(seen)) == pays(hints=seen)


@effort(max_examples=25)
@given(
    st.lists(
        st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=4
    ),
    SPURIOUS,
    st.booleans(),
)
def test_any_counts_give_finite_ordered_intervals_and_a_verdict_that_fits_them(seen, spurious, hinted):
    with drawing(200):
        found = pays(**{"hints" if hinted else "levels": seen}, spurious=spurious)
    for interval in (found.ratio, found.direct, found.curriculum):
        assert 0 < interval.low <= interval.value <= interval.high < math.inf
    expected = "pays" if found.ratio.low > 1 else "does not pay" if found.ratio.high < 1 else "cannot tell"
    assert found.verdict == expected
    assert found.stages == len(seen)
    assert found.more_samples is None or found.verdict == "cannot tell"


# ---- the page for users


def examples(page):
    """Every Python block of a page that is followed by what it prints."""
    pattern = r"^( *)```python\n(.*?)^ *```\n\n *prints\n\n *```text\n(.*?)^ *```$"
    found = re.findall(pattern, page, flags=re.M | re.S)
    return [(textwrap.dedent(code), textwrap.dedent(printed)) for _, code, printed in found]


@pytest.mark.parametrize("number", range(3))
def test_the_examples_of_the_page_for_users_print_what_it_says(request, capsys, number):
    found = examples((request.config.rootpath / "docs" / "pays.md").read_text())
    assert len(found) == 3
    code, printed = found[number]
    exec(compile(code, "docs/pays.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_the_ratios_by_level_and_by_hint_on_the_page_are_those_of_the_papers_subtasks(request):
    page = (request.config.rootpath / "docs" / "pays.md").read_text()
    target = Target(Parity(8), (0, 1, 2))
    part, trials = Part(target.tree), 10**11
    levels = counts([float(rate) for rate in part.success_probabilities(target)], trials, 0.5)
    levelled = pays(levels=levels, spurious=0.5).ratio.value
    hinted = by_hint([1 / size for size in part.branching(target)], trials, spurious=0.5).ratio.value
    assert f"would predict a ratio of {levelled:.0f}, hints {round(hinted, -3):,.0f}" in " ".join(page.split())


def test_the_page_for_users_shows_the_calibration_figure(request):
    docs = request.config.rootpath / "docs"
    figure = re.search(r"!\[.*\]\((\S+)\)", (docs / "pays.md").read_text()).group(1)
    assert (docs / figure).stat().st_size > 5_000
