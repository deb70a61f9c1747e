"""Facts of Lemma score_pi_OBI and of the two readouts of Eq. (forward)."""

import math

import pytest
import torch

from stepladder.errors import InputError
from stepladder.transformer import Readout, TreeTransformer, path_weights
from stepladder.trees import Parity, Target

READOUTS = [
    Readout(name, temperature) for name in ("direct", "double_softmax") for temperature in (0.1, 0.7, 1.0, 5.0)
]
SIZES = [2, 3, 6, 17]

readouts = pytest.mark.parametrize("readout", READOUTS, ids=lambda r: f"{r.name}-{r.temperature}")
sizes = pytest.mark.parametrize("size", SIZES)


def random_case(size, seed=0, rows=5, scale=2.0):
    """Logits and legal sets of several queries; every row has a legal pick, rows differ."""
    generator = torch.Generator().manual_seed(1000 * size + seed)
    logits = scale * torch.randn(rows, size, dtype=torch.float64, generator=generator)
    legal = torch.rand(rows, size, generator=generator) < 0.7
    legal[torch.arange(rows), torch.randint(size, (rows,), generator=generator)] = True
    return logits, legal


def softmax(values):
    total = sum(math.exp(value) for value in values)
    return [math.exp(value) / total for value in values]


# ---- the law of a pick


@readouts
@sizes
def test_the_readout_is_its_formula_over_the_legal_picks(readout, size):
    logits, legal = random_case(size)
    law = readout.log_probabilities(logits, legal).exp()
    for row in range(len(logits)):
        chosen = legal[row].nonzero()[:, 0].tolist()
        scores = logits[row, chosen].tolist()
        if readout.name == "double_softmax":
            scores = softmax(scores)
        expected = softmax([score / readout.temperature for score in scores])
        assert law[row, chosen].tolist() == pytest.approx(expected, abs=1e-12)


@readouts
@sizes
def test_probabilities_sum_to_one_and_illegal_picks_get_none(readout, size):
    logits, legal = random_case(size)
    law = readout.log_probabilities(logits, legal).exp()
    assert law.sum(-1).tolist() == pytest.approx([1] * len(law), abs=1e-12)
    assert (law[~legal] == 0).all()
    assert (law[legal] > 0).all()


@readouts
def test_equal_logits_make_every_legal_pick_equally_likely(readout):
    _, legal = random_case(9)
    law = readout.log_probabilities(torch.full((5, 9), 3.0, dtype=torch.float64), legal).exp()
    uniform = legal.double() / legal.sum(-1, keepdim=True)
    assert (law - uniform).abs().max().item() < 1e-14


@pytest.mark.parametrize("legal_picks", [1, 2, 3, 8, 32])
def test_the_literal_double_softmax_at_temperature_one_caps_the_top_probability(legal_picks):
    cap = math.e / (math.e + legal_picks - 1)
    legal = torch.ones(legal_picks, dtype=torch.bool)
    generator = torch.Generator().manual_seed(legal_picks)
    readout = Readout("double_softmax")
    for scale in (0.1, 1, 10, 1e4):
        logits = scale * torch.randn(200, legal_picks, dtype=torch.float64, generator=generator)
        tops = readout.log_probabilities(logits, legal.expand_as(logits)).exp().max(-1).values
        assert (tops <= cap + 1e-12).all()
    certain = torch.zeros(legal_picks, dtype=torch.float64)
    certain[0] = 1e4
    assert readout.log_probabilities(certain, legal).exp()[0].item() == pytest.approx(cap, abs=1e-12)


def test_the_direct_readout_has_no_such_cap():
    certain = torch.tensor([1e4, 0, 0, 0], dtype=torch.float64)
    law = Readout("direct").log_probabilities(certain, torch.ones(4, dtype=torch.bool)).exp()
    assert law.tolist() == [1, 0, 0, 0]


def test_a_small_temperature_lifts_the_cap_of_the_double_softmax():
    certain = torch.tensor([1e4, 0, 0, 0], dtype=torch.float64)
    law = Readout("double_softmax", 0.01).log_probabilities(certain, torch.ones(4, dtype=torch.bool)).exp()
    assert law[0].item() > 1 - 1e-12


def test_with_the_literal_readout_no_weights_take_sampled_accuracy_past_51_percent_at_d_8(policy_law):
    target = Target(Parity(8), (0, 1, 2))
    model = TreeTransformer(target.tree, path_weights(target), Readout("double_softmax"))
    success = policy_law(model)[target.picks]
    # Root and first pick offer 8 legal picks, then 7, then 6: the cap at each, all attained.
    cap = math.prod(math.e / (math.e + legal - 1) for legal in (8, 8, 7, 6))
    assert success == pytest.approx(cap, rel=1e-9)
    # Every other path is right half the time.
    assert success + (1 - success) / 2 < 0.51


# ---- the score


def single_scores(readout, logits, legal):
    """The closed form, one pick i at a time: entry [i, k] is d log pi(i) / d logit(k) for legal i."""
    rows = torch.zeros(len(logits), len(logits), dtype=logits.dtype)
    for pick in legal.nonzero()[:, 0].tolist():
        rows[pick] = readout.score(logits, legal, torch.eye(len(logits), dtype=logits.dtype)[pick])
    return rows


def autograd_scores(readout, logits, legal):
    """The same by torch."""
    rows = torch.zeros(len(logits), len(logits), dtype=logits.dtype)
    for pick in legal.nonzero()[:, 0].tolist():
        leaf = logits.clone().requires_grad_()
        readout.log_probabilities(leaf, legal)[pick].backward()
        rows[pick] = leaf.grad
    return rows


@readouts
@sizes
@pytest.mark.parametrize("scale", [2.0, 15.0], ids=["spread", "nearly-certain"])
def test_the_closed_form_score_of_every_pick_equals_autograd(readout, size, scale):
    for logits, legal in zip(*random_case(size, seed=1, scale=scale), strict=True):
        difference = single_scores(readout, logits, legal) - autograd_scores(readout, logits, legal)
        assert difference.abs().max().item() <= 1e-6


@readouts
@sizes
def test_weighted_picks_of_many_queries_give_their_reinforce_gradients_in_one_go(readout, size):
    logits, legal = random_case(size, seed=2)
    counts = torch.randint(100, logits.shape, generator=torch.Generator().manual_seed(size)).double() * legal
    leaf = logits.clone().requires_grad_()
    law = readout.log_probabilities(leaf, legal).masked_fill(~legal, 0)
    (counts * law).sum().backward()
    assert (readout.score(logits, legal, counts) - leaf.grad).abs().max().item() <= 1e-6


@readouts
@sizes
def test_the_score_has_mean_zero_under_the_policy(readout, size):
    logits, legal = random_case(size, seed=3)
    law = readout.log_probabilities(logits, legal).exp()
    assert readout.score(logits, legal, law).abs().max().item() < 1e-12


@readouts
def test_the_score_is_zero_at_illegal_keys(readout):
    logits, legal = random_case(7, seed=4)
    scores = readout.score(logits, legal, 3.0 * legal)
    assert (scores[~legal] == 0).all()


@readouts
def test_the_score_sums_to_zero_over_keys_because_shifting_all_logits_changes_nothing(readout):
    for logits, legal in zip(*random_case(6, seed=5), strict=True):
        assert single_scores(readout, logits, legal).sum(-1).abs().max().item() < 1e-12


# ---- what a user may ask for


def test_an_unknown_readout_is_refused_with_the_known_ones_named():
    with pytest.raises(InputError, match=r"'softmax'.*direct, double_softmax"):
        Readout("softmax")


@pytest.mark.parametrize("temperature", [0, -1.0, math.inf, math.nan])
def test_a_temperature_that_is_not_positive_and_finite_is_refused(temperature):
    with pytest.raises(InputError, match="temperature"):
        Readout("direct", temperature)
