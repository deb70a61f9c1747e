"""The linear softmax model against brute force, and the chain of locks whose coverage is known exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import minimize

from stepladder.errors import InputError
from stepladder.search.linear_softmax import LinearSoftmax, coverage, divergence
from stepladder.search.lock_chain import StagedProblem, lock_chain

CHAINS = [
    (["3"], ["1/5", "2/5"], 2),
    (["4", "4", "4"], ["1/5", "3/10", "2/5"], 2),
    (["3", "3", "3"], ["1/4", "1/2"], 3),
    (["3/2", "4", "2"], ["1/10", "1/5"], 4),
]


def some_model(seed: int, prompts: int = 2, responses: int = 4, dimension: int = 3) -> LinearSoftmax:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(prompts, responses, dimension))
    features /= np.linalg.norm(features, axis=-1, keepdims=True) * rng.uniform(1, 2, (prompts, responses, 1))
    return LinearSoftmax(features, laws(rng, prompts, responses), laws(rng, prompts), rng.uniform(0.2, 2))


def laws(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])


# ---- the model


@pytest.mark.parametrize("seed", range(5))
def test_the_policy_is_the_base_model_times_the_exponential_of_the_reward(seed):
    model = some_model(seed)
    parameter = np.random.default_rng(seed).normal(size=3)
    for x in range(2):
        weights = [
            model.base[x, y] * math.exp(float(parameter @ model.features[x, y]) / model.temperature)
            for y in range(4)
        ]
        assert np.allclose(model.policy(parameter)[x], np.asarray(weights) / sum(weights), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_numerical_search_over_all_policies_finds_the_best_one(seed):
    model, target = some_model(seed), np.random.default_rng(seed).normal(size=3)

    def softmax(logits):
        weights = np.exp(logits.reshape(2, 4))
        return weights / weights.sum(axis=1, keepdims=True)

    found = minimize(lambda logits: -model.objective(softmax(logits), target), np.zeros(8), tol=1e-12)
    assert np.allclose(softmax(found.x), model.policy(target), atol=1e-4)
    assert -found.fun == pytest.approx(float(model.objective(model.policy(target), target)), abs=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_the_regret_of_any_policy_is_the_loss_in_the_objective(seed):
    model, rng = some_model(seed), np.random.default_rng(seed)
    target, policies = rng.normal(size=3), laws(rng, 50, 2, 4)
    best = model.objective(model.policy(target), target)
    assert np.allclose(model.regret(policies, target), best - model.objective(policies, target), atol=1e-12)
    assert (model.regret(policies, target) > 0).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_finite_differences_and_vanishes_at_the_target(seed):
    model, rng = some_model(seed), np.random.default_rng(seed)
    parameter, target = rng.normal(size=(2, 3))
    step = 1e-5
    slopes = [
        model.objective(model.policy(parameter + step * axis), target)
        - model.objective(model.policy(parameter - step * axis), target)
        for axis in np.eye(3)
    ]
    assert np.allclose(model.gradient(parameter, target), np.asarray(slopes) / (2 * step), atol=1e-8)
    assert np.abs(model.gradient(target, target)).max() < 1e-14


def test_coverage_is_the_largest_ratio_over_prompts_and_responses():
    rng = np.random.default_rng(0)
    policies, reference = laws(rng, 6, 3, 5), laws(rng, 3, 5)
    for policy, found in zip(policies, coverage(policies, reference), strict=True):
        assert found == max(policy[x, y] / reference[x, y] for x in range(3) for y in range(5))


def test_coverage_is_infinite_only_where_the_policy_leaves_the_reference():
    half, never = np.array([[0.5, 0.5, 0.0]]), np.array([[1.0, 0.0, 0.0]])
    assert coverage(half, never) == math.inf
    assert coverage(never, half) == 2
    assert divergence(half, never) == math.inf


def test_responses_with_equal_features_can_be_merged_without_changing_any_quantity():
    features = np.array([[[0.5], [0.5], [-1.0], [0.0]], [[0.2], [0.2], [0.2], [1.0]]])
    model = LinearSoftmax(features, laws(np.random.default_rng(0), 2, 4), np.array([0.3, 0.7]), 0.4)
    small = model.merged()
    assert small.base.shape == (2, 3)  # the second prompt is filled up with a response of probability 0
    assert np.allclose(np.sort(small.base[1]), [0, model.base[1, 3], model.base[1, :3].sum()])
    one, other = np.array([0.7]), np.array([-0.3])
    for this in (small, model):
        policy = this.policy(one)
        assert this.objective(policy, other) == pytest.approx(float(model.objective(model.policy(one), other)))
        assert this.regret(policy, other) == pytest.approx(float(model.regret(model.policy(one), other)))
        assert np.allclose(this.gradient(one, other), model.gradient(one, other))
        assert coverage(policy, this.base) == pytest.approx(float(coverage(model.policy(one), model.base)))


# ---- the chain of locks


def enumerated(coverages: list[str], rate: str, alphabet: int) -> list[dict[tuple[int, ...], Fraction]]:
    """The base model's and every stage's best law over all strings at one prompt, where 0 opens a lock.

    By Bayes' rule on the definition: stage k multiplies the weight of a string by odds(k) if its first k
    symbols are right. The odds are set at the hardest prompt, whose rate is the one given here.
    """
    right, strings = Fraction(rate), itertools.product(range(alphabet), repeat=len(coverages))
    wrong = (1 - right) / (alphabet - 1)
    law = {string: math.prod(right if symbol == 0 else wrong for symbol in string) for string in strings}
    found = [law]
    for stage, wanted in enumerate(map(Fraction, coverages), start=1):
        opened = sum(share for string, share in law.items() if not any(string[:stage]))
        odds = wanted * (1 - opened) / (1 - wanted * opened)
        weights = {string: share * (1 if any(string[:stage]) else odds) for string, share in law.items()}
        law = {string: weight / sum(weights.values()) for string, weight in weights.items()}
        found.append(law)
    return found


@pytest.mark.parametrize(("coverages", "rates", "alphabet"), CHAINS)
def test_coverages_of_the_chain_multiply_exactly_by_enumeration_with_fractions(coverages, rates, alphabet):
    best = enumerated(coverages, rates[0], alphabet)
    for early, late in itertools.combinations(range(len(best)), 2):
        ratio = max(best[late][string] / best[early][string] for string in best[0])
        assert ratio == math.prod(map(Fraction, coverages[early:late]))


@pytest.mark.parametrize(("coverages", "rates", "alphabet"), CHAINS)
def test_the_chains_best_policies_are_those_of_the_enumeration(coverages, rates, alphabet):
    problem = chain(coverages, rates, alphabet, merge=False)
    strings = list(itertools.product(range(alphabet), repeat=len(coverages)))
    for stage, law in enumerate(enumerated(coverages, rates[0], alphabet)):
        # At prompt 0 the symbol that opens lock j (counted from 0) is j mod alphabet.
        places = [tuple((symbol - j) % alphabet for j, symbol in enumerate(string)) for string in strings]
        assert np.allclose(problem.best(stage)[0], [float(law[place]) for place in places], rtol=1e-9)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize(("coverages", "rates", "alphabet"), CHAINS)
def test_the_stated_coverage_holds_from_any_stage_to_any_later_one(coverages, rates, alphabet, merge):
    problem = chain(coverages, rates, alphabet, merge)
    for early, late in itertools.combinations(range(problem.n_stages + 1), 2):
        expected = math.prod(problem.stage_coverage[early:late])
        assert coverage(problem.best(late), problem.best(early)) == pytest.approx(expected, rel=1e-9)
    last = coverage(problem.best(problem.n_stages), problem.model.base)
    assert last == pytest.approx(problem.total_coverage, rel=1e-9)


def test_the_hardest_prompt_sets_the_coverage():
    problem = lock_chain([4.0, 4.0], base_rates=(0.2, 0.3, 0.4))
    ratios = (problem.best(2) / problem.model.base).max(axis=1)
    assert ratios[0] == pytest.approx(16) and ratios[0] > ratios[1] > ratios[2]


def test_which_symbol_opens_a_lock_depends_on_the_prompt():
    features = lock_chain([3.0, 3.0], (0.2, 0.2, 0.2), alphabet=3, merge=False).model.features
    assert not np.array_equal(features[0], features[1]) and not np.array_equal(features[1], features[2])


def test_merging_a_chain_keeps_its_regrets():
    small, large = (lock_chain([3.0, 3.0, 3.0], alphabet=3, merge=merge) for merge in (True, False))
    assert small.model.base.shape[1] == 3 * 2 + 1 and large.model.base.shape[1] == 27
    assert small.base_regret() == pytest.approx(large.base_regret(), rel=1e-12)


def chain(coverages, rates, alphabet, merge) -> StagedProblem:
    numbers = [float(Fraction(value)) for value in coverages]
    return lock_chain(numbers, [float(Fraction(rate)) for rate in rates], alphabet, merge=merge)


# ---- bad input


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"temperature": 0.0}, "temperature must be a positive number, got 0"),
        ({"temperature": math.nan}, "temperature must be a positive number"),
        ({"base": np.array([[0.5, 0.6]])}, "base must be probabilities"),
        ({"base": np.array([[1.5, -0.5]])}, "base must be probabilities"),
        ({"base": np.array([[1.0]])}, "features must have shape"),
        ({"features": np.array([[[3.0], [0.0]]])}, "features must have norm at most 1, got one of 3"),
        ({"prompt_weights": np.array([0.5])}, "prompt_weights must be probabilities"),
        ({"prompt_weights": np.array([0.5, 0.5])}, "prompt_weights must have shape"),
    ],
)
def test_a_model_that_makes_no_sense_is_refused(change, message):
    good = {
        "features": np.array([[[1.0], [0.0]]]),
        "base": np.array([[0.5, 0.5]]),
        "prompt_weights": np.array([1.0]),
        "temperature": 1.0,
    }
    LinearSoftmax(**good)
    with pytest.raises(InputError, match=message):
        LinearSoftmax(**(good | change))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one stage"),
        (([2.0], ()), "at least one base rate"),
        (([6.0],), "stage_coverage must be above 1 and below"),
        (([1.0],), "stage_coverage must be above 1 and below"),
        (([2.0], (0.0, 0.5)), "base_rates must be between 0 and 1"),
        (([2.0], (0.4,), 1), "alphabet must be between 2 and 100"),
        (([2.0] * 10, (0.4,), 10), "alphabet gives"),
        (([2.0], (0.4,), 2, 1.0, 0.1), "reward_bound must bound all rewards"),
    ],
)
def test_a_chain_that_cannot_be_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        lock_chain(*arguments)
