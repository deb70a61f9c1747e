"""Facts of Fig. "Chain-of-Thought for Countdown game": each number once, exact arithmetic."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.trees import Countdown, Target

FIGURE = Countdown(numbers=4, alphabet=13)
NUMBERS = (3, 5, 7, 13)


def position(operation: str, number: int) -> int:
    """Where the figure's "operation, number" stands among the sixteen positions."""
    return "+-×÷".index(operation) * 4 + NUMBERS.index(number)


def spelled(*moves: tuple[str, int]) -> list[str]:
    target = Target(FIGURE, tuple(position(*move) for move in moves))
    chain = target.chain(np.array([NUMBERS]) - 1)[0]
    return [FIGURE.spell(token) for token in chain]


def by_fractions(tree: Countdown, picks: tuple[int, ...], numbers: list[int]) -> list[Fraction]:
    """The states of a chain by Python's own exact arithmetic."""
    states: list[Fraction] = []
    for pick in picks:
        operation, which = divmod(pick, tree.numbers)
        number = numbers[which]
        if not states:
            states.append(Fraction(number))
            continue
        before = states[-1]
        outcomes = (before + number, before - number, before * number, before / number)
        states.append(outcomes[operation])
    return states


def test_the_figures_chain_makes_24_from_3_5_7_13():
    assert spelled(("+", 5), ("×", 13), ("+", 7), ("÷", 3)) == ["5", "65", "72", "24", "EOS"]


def test_the_figures_other_chains_end_where_it_says():
    assert spelled(("+", 5), ("×", 13), ("+", 7), ("×", 3)) == ["5", "65", "72", "216", "EOS"]
    assert spelled(("+", 3), ("+", 5), ("-", 7), ("+", 13)) == ["3", "8", "1", "14", "EOS"]
    assert spelled(("+", 3), ("+", 5), ("+", 13), ("+", 7)) == ["3", "8", "21", "28", "EOS"]
    assert spelled(("+", 3), ("+", 5), ("+", 13), ("÷", 7)) == ["3", "8", "21", "3", "EOS"]


def test_division_that_does_not_come_out_even_stays_a_ratio():
    assert spelled(("+", 5), ("÷", 13), ("-", 7)) == ["5", "5/13", "-86/13", "EOS"]


@given(st.from_type(Target).filter(lambda target: isinstance(target.tree, Countdown)), st.data())
def test_every_state_equals_exact_fraction_arithmetic(target, data):
    tree = target.tree
    numbers = data.draw(st.lists(st.integers(1, tree.alphabet), min_size=tree.numbers, max_size=tree.numbers))
    chain = target.chain(np.array([numbers]) - 1)[0]
    states = [Fraction(int(top), int(bottom)) for top, bottom in chain[:-1]]
    assert states == by_fractions(tree, target.picks, numbers)


@given(st.from_type(Target).filter(lambda target: isinstance(target.tree, Countdown)))
def test_every_ratio_is_in_lowest_terms_with_a_positive_denominator(target):
    inputs = target.tree.draw_inputs(30, np.random.default_rng(1))
    chain = target.chain(inputs)[:, :-1]
    assert (chain[..., 1] > 0).all()
    assert (np.gcd(chain[..., 0], chain[..., 1]) == 1).all()


@pytest.mark.parametrize("operations", ["×××××", "÷÷÷÷÷", "÷-÷-÷", "××-××", "÷+÷+÷", "×÷×÷×"])
def test_six_numbers_up_to_100_never_overflow_64_bits(operations):
    tree = Countdown(numbers=6, alphabet=100)
    picks = (0, *("+-×÷".index(op) * 6 + which for which, op in enumerate(operations, start=1)))
    for numbers in ([100] * 6, [100, 99, 98, 97, 96, 95], [97, 89, 83, 79, 73, 71]):
        chain = Target(tree, picks).chain(np.array([numbers]) - 1)[0]
        states = [Fraction(int(top), int(bottom)) for top, bottom in chain[:-1]]
        assert states == by_fractions(tree, picks, numbers)


def test_a_number_is_used_up_under_all_four_operations():
    tree = Countdown(numbers=3)
    assert not {1, 4, 7, 10} & set(tree.legal((1,)))
    assert set(tree.legal((1, 9))) == {2, 5, 8, 11, tree.eos}


def test_the_first_pick_only_takes_a_number():
    assert Countdown(numbers=3).legal() == (0, 1, 2)


def test_every_complete_use_of_the_numbers_is_a_path():
    # 4! orders and four operations between each two numbers.
    *_, deepest = Countdown(numbers=4).chains()
    assert len(deepest) == math.factorial(4) * 4**3


def test_no_number_ever_equals_the_eos_token():
    tree = Countdown(numbers=2, alphabet=4)
    for level in list(tree.chains())[1:]:
        for picks in map(tuple, level.tolist()):
            assert not tree.same(Target(tree, picks).value(tree.all_inputs()), tree.eos_token).any()


def test_positions_are_labelled_by_operation_and_number():
    tree = Countdown(numbers=2)
    assert [tree.label(p) for p in range(8)] == ["+x0", "+x1", "-x0", "-x1", "×x0", "×x1", "÷x0", "÷x1"]
