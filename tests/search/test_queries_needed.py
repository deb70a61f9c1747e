"""Facts of Thm. 3 in numbers: queries to 99% accuracy, and how they grow with d."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from stepladder.errors import InputError
from stepladder.scaling import Log, fit_exponent, solve
from stepladder.search.complexity import SearchQuestion
from stepladder.trees import Parity, Part, Target

SWEEPS = 2
"""Rising sweeps behind the first hit, which these tests do not look at."""


def question(method, d, k, trials=1000, **other):
    return SearchQuestion(method, "parity", d, tuple(range(k)), trials=trials, **other)


@pytest.mark.parametrize(
    ("method", "d", "k", "reference"),
    [
        ("bai", 8, 3, 5.1e7),
        ("bai", 16, 2, 4.9e7),
        ("bai", 32, 2, 1.9e9),
        ("ltar", 8, 3, 319),
        ("ltar", 16, 2, 517),
        ("ltar", 32, 2, 1235),
    ],
)
def test_queries_to_99_percent_over_1000_searches_are_those_of_an_independent_prototype(
    method, d, k, reference
):
    point = solve(question(method, d, k), Log(None), SWEEPS)
    assert reference / 1.5 <= point.total <= reference * 1.5
    # The crossing lies between n99 and the last size below the target, sqrt 2 apart on the grid.
    assert point.size / 2 <= point.crossing.value <= point.size


@pytest.fixture(scope="module")
def growth():
    """Solve a method at several d; each answer is worked out once."""
    known = {}

    def points(method, k, sizes, trials):
        key = method, k, sizes, trials
        if key not in known:
            known[key] = [solve(question(method, d, k, trials), Log(None), SWEEPS) for d in sizes]
        return known[key]

    return points


@pytest.mark.parametrize(("k", "sizes", "exponent"), [(2, (8, 16, 32, 64), 5.3), (3, (8, 16, 32), 7.6)])
def test_bai_queries_grow_as_d_to_the_2k_plus_1_times_log_d(k, sizes, exponent, growth):
    fitted = fit_exponent(growth("bai", k, sizes, 400))
    assert fitted.value == pytest.approx(exponent, abs=0.2)
    # d^(2k+1) log d has an average slope a little above 2k+1; a power of d would have none.
    slope = np.polyfit(np.log(sizes), np.log(np.array(sizes) ** (2.0 * k + 1) * np.log(sizes)), 1)[0]
    assert fitted.value == pytest.approx(slope, abs=0.25)


def test_ltar_queries_grow_hardly_faster_than_d_and_tokens_than_d_squared(growth):
    points = growth("ltar", 2, (8, 16, 32, 64, 128), 1000)
    assert fit_exponent(points).value == pytest.approx(1.2, abs=0.1)
    assert fit_exponent(points, "tokens").value == pytest.approx(2.2, abs=0.1)


def test_the_papers_bound_for_ltar_holds_and_is_loose(growth):
    # T_data = O~(d^2), T_comp = O~(d^3): the measured exponents stay below by about one.
    points = growth("ltar", 2, (8, 16, 32, 64, 128), 1000)
    assert fit_exponent(points).high < 1.5
    assert fit_exponent(points, "tokens").high < 2.5


def test_the_curriculum_saves_a_factor_that_grows_with_d(growth):
    ltar = growth("ltar", 2, (8, 16, 32, 64, 128), 1000)
    bai = growth("bai", 2, (8, 16, 32, 64), 400)
    factors = [without.total / with_it.total for without, with_it in zip(bai, ltar, strict=False)]
    assert all(later > 8 * earlier for earlier, later in itertools.pairwise(factors))
    assert factors[0] > 1_000


# ---- the question


@pytest.mark.parametrize("secret", [(0, 1, 2), (1, 4), (7,)], ids=str)
def test_the_total_counts_every_arm_along_the_targets_path(secret):
    target = Target(Parity(8), secret)
    arms = sum(len(target.tree.legal(secret[:depth])) for depth in range(len(secret) + 1))
    assert SearchQuestion("ltar", "parity", 8, secret).units == arms
    assert sum(Part(target.tree).branching(target)) == arms


def test_the_papers_example_has_29_arms():
    # 8 at the root, then 8, 7 and 6 with EOS among them.
    assert question("ltar", 8, 3).units == 29


def test_tokens_are_worked_out_at_n99_only_and_exceed_the_queries():
    point = solve(question("ltar", 8, 2, trials=200), Log(None), SWEEPS)
    assert point.tokens > point.total
    assert question("ltar", 8, 2, trials=200).tokens(point.size) == point.tokens


def test_more_pulls_per_arm_raise_the_mean_accuracy():
    asked = question("ltar", 8, 2)
    means = [asked.accuracies(size, 1000, 0).mean() for size in (1, 2, 4, 8, 16)]
    assert means == sorted(means)
    assert means[0] < 0.7
    assert means[-1] > 0.99


def test_another_seed_gives_other_trials_and_the_same_one_the_same():
    def ask(seed):
        return question("ltar", 8, 2, seed=seed).accuracies(4, 300, 0).tolist()

    assert ask(1) == ask(1)
    assert ask(1) != ask(2)


@pytest.mark.parametrize(
    ("field", "value"),
    [("target", 1.0), ("trials", 1), ("seed", -1), ("secret", (2, 1)), ("task", "recall"), ("secret", (0, 9))],
)
def test_a_question_that_cannot_be_answered_is_refused_before_anything_runs(field, value):
    asked = {"method": "ltar", "task": "parity", "d": 8, "secret": (0, 1), field: value}
    with pytest.raises(InputError):
        SearchQuestion(**asked)


@pytest.mark.parametrize("method", ["bai", "ltar"])
def test_every_point_of_a_sweep_is_a_fresh_trial(method):
    # Successes of the same searches at two sizes: as often together as chance has it. Were lots drawn from
    # the same numbers at every size, a search unlucky at one would be unlucky at the next.
    asked = SearchQuestion(method, "parity", 4, (0,), trials=20_000)
    one, two = (asked.accuracies(size, 20_000, 1) >= 0.99 for size in (1, 2))
    together = np.array([[(one & two).sum(), (one & ~two).sum()], [(~one & two).sum(), (~one & ~two).sum()]])
    assert chi2_contingency(together).pvalue > 1e-3 / 2
