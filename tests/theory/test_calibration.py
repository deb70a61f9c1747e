"""Is the prediction of `pays` right? Against measured ratios on trees, calibrated and held out."""

import json
import math
from importlib.resources import files

import numpy as np
import pytest
from scipy.stats import t

from stepladder.scaling import Interval, Log
from stepladder.theory.calibration import CALIBRATION, HELD_OUT, Comparison, Setting, calibrate, compare
from stepladder.theory.pays import Calibration, pays

PACKAGED = json.loads(files("stepladder.theory").joinpath("calibration.json").read_text())
KNOWN = 10**14
"""Trials at which even a rate of 2e-5 is known through an oracle that accepts half of all wrong chains."""


def names(setting):
    return str(setting).replace(" ", "-")


@pytest.fixture(scope="module")
def held_out(tmp_path_factory):
    """The measured ratio of every held-out setting, as `stepladder theory --calibration` measures it."""
    log = Log(tmp_path_factory.mktemp("held-out") / "evaluations.jsonl")
    return [compare(setting, log) for setting in HELD_OUT]


def simulated(setting, seed):
    """Success counts by hint length, drawn at PART's rates and shown by an oracle that accepts wrong chains."""
    target = setting.target
    spurious = float(target.tree.wrong_acceptance)
    rng = np.random.default_rng(seed)
    counts = []
    for hint in range(target.k + 1):
        sizes = [len(target.tree.legal(target.picks[:depth])) for depth in range(hint, target.k + 1)]
        rate = 1 / math.prod(sizes)
        counts.append((int(rng.binomial(KNOWN, rate + (1 - rate) * spurious)), KNOWN))
    return counts, spurious


# ---- the settings


def test_twelve_settings_calibrate_and_twelve_others_test():
    assert len(set(CALIBRATION)) == len(set(HELD_OUT)) == 12
    assert not set(CALIBRATION) & set(HELD_OUT)


@pytest.mark.parametrize("settings", [CALIBRATION, HELD_OUT], ids=["calibrating", "held out"])
def test_the_settings_cover_both_tasks_and_three_sizes(settings):
    assert {setting.task for setting in settings} == {"parity", "sum"}
    assert {setting.d for setting in settings} == {8, 16, 32}
    assert {len(setting.secret) for setting in settings} == {1, 2, 3}


def test_a_setting_is_named_by_task_size_and_secret():
    assert str(Setting("sum", 8, (2, 5), 3)) == "sum mod 3 d=8 [2,5]"
    assert str(Setting("parity", 16, (0,))) == "parity d=16 [0]"


# ---- the packaged numbers


@pytest.mark.slow
def test_the_packaged_calibration_is_what_measuring_again_gives(tmp_path):
    reported = []
    calibration, comparisons = calibrate(CALIBRATION, Log(tmp_path / "evaluations.jsonl"), reported.append)
    packaged = Calibration.packaged()
    assert calibration.bias == pytest.approx(packaged.bias, abs=1e-9)
    assert calibration.spread == pytest.approx(packaged.spread, abs=1e-9)
    assert calibration.settings == packaged.settings == len(CALIBRATION)
    assert reported == [str(setting) for setting in CALIBRATION]
    for row, one in zip(PACKAGED["calibrating"], comparisons, strict=True):
        assert row["setting"] == str(one.setting)
        assert row["predicted"] == pytest.approx(one.predicted, rel=1e-9)
        assert row["measured"]["value"] == pytest.approx(one.measured.value, rel=1e-9)


def test_bias_and_spread_are_the_mean_and_prediction_error_of_the_packaged_residuals():
    residuals = np.array(
        [math.log(row["measured"]["value"] / row["predicted"]) for row in PACKAGED["calibrating"]]
    )
    packaged = Calibration.packaged()
    assert packaged.bias == pytest.approx(residuals.mean(), rel=1e-9)
    count = len(residuals)
    assert packaged.spread == pytest.approx(residuals.std(ddof=1) * math.sqrt((count + 1) / count), rel=1e-9)


def test_the_predicted_interval_is_centred_on_the_bias_and_as_wide_as_students_law_says():
    one = Comparison(HELD_OUT[0], 10.0, Interval(12.0, 11.0, 13.0))
    low, high = one.predicted_interval(Calibration(0.1, 0.2, 12))
    assert math.log(low * high) / 2 == pytest.approx(math.log(10) + 0.1)
    assert math.log(high / low) / 2 == pytest.approx(t.ppf(0.975, 11) * 0.2)
    assert one.residual == pytest.approx(math.log(1.2))


# ---- the measurement


def test_a_comparison_measures_direct_over_all_stages_and_predicts_from_exact_rates():
    # Parity d=4 [3]: the second step is sure, so both methods learn alike and the curriculum pays twice for it.
    setting = Setting("parity", 4, (3,))
    one = compare(setting, Log(None), trials=60)
    assert one.predicted == pytest.approx(0.5)
    assert one.measured.low <= 0.5 <= one.measured.high
    assert one.measured.low <= one.measured.value <= one.measured.high


def test_a_comparison_resumes_from_its_log_to_the_same_result(tmp_path):
    setting, path = Setting("parity", 4, (0, 1)), tmp_path / "evaluations.jsonl"
    once = compare(setting, Log(path), trials=40)
    lines = path.read_text()
    assert compare(setting, Log(path), trials=40) == once
    assert path.read_text() == lines


# ---- twelve settings that were not used


@pytest.mark.slow
def test_the_measured_ratio_is_inside_the_interval_at_exact_rates_at_least_11_times_of_12(held_out):
    calibration = Calibration.packaged()
    inside = []
    for one in held_out:
        low, high = one.predicted_interval(calibration)
        inside.append(low <= one.measured.value <= high)
    assert sum(inside) >= 11


@pytest.mark.slow
def test_the_measured_ratio_is_inside_the_interval_of_pays_at_least_11_times_of_12(held_out):
    inside = []
    for number, one in enumerate(held_out):
        counts, spurious = simulated(one.setting, seed=[1, number])
        found = pays(hints=counts, spurious=spurious)
        inside.append(found.ratio.low <= one.measured.value <= found.ratio.high)
    assert sum(inside) >= 11


@pytest.mark.slow
def test_the_verdict_is_right_on_every_held_out_setting(held_out):
    for number, one in enumerate(held_out):
        counts, spurious = simulated(one.setting, seed=[2, number])
        right = "pays" if one.measured.value > 1 else "does not pay"
        assert pays(hints=counts, spurious=spurious).verdict == right


@pytest.mark.slow
def test_the_packaged_held_out_ratios_are_what_measuring_again_gives(held_out):
    for row, one in zip(PACKAGED["held_out"], held_out, strict=True):
        assert row["setting"] == str(one.setting)
        assert row["measured"]["value"] == pytest.approx(one.measured.value, rel=1e-9)
        low, high = one.predicted_interval(Calibration.packaged())
        assert (row["low"], row["high"]) == pytest.approx((low, high), rel=1e-9)
        assert row["inside"] == (low <= one.measured.value <= high)


def test_both_verdicts_occur_among_the_held_out_settings():
    values = [row["measured"]["value"] for row in PACKAGED["held_out"]]
    assert min(values) < 0.6
    assert max(values) > 1e6


# ---- what the calibration does not cover


@pytest.mark.parametrize("setting", [Setting("sum", 8, (0, 1), 101), Setting("sum", 32, (0,), 1009)], ids=names)
def test_between_calibrated_luck_and_none_the_prediction_understates_the_gain_by_less_than_a_factor_two(
    setting,
):
    """Rewards of wrong chains are then too rare for a normal law; docs/pays.md says so."""
    one = compare(setting, Log(None))
    assert 1.2 < one.measured.value / one.predicted < 2


def test_without_luck_the_prediction_is_inside_its_interval():
    one = compare(Setting("sum", 8, (0, 1), 10007), Log(None))
    low, high = one.predicted_interval(Calibration.packaged())
    assert low <= one.measured.value <= high
