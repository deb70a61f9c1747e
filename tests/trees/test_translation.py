""" "The sampled word is translated to different language at different reasoning steps"."""

import numpy as np
import pytest

from stepladder.trees import Target, Translation


def language(tree: Translation, depth: int) -> list[int]:
    """How every word is written at this depth."""
    words = np.arange(tree.alphabet, dtype=tree.token_type)
    return tree.step(depth, np.zeros_like(words), words).tolist()


@pytest.mark.parametrize("alphabet", [2, 5, 127, 128])
def test_each_step_writes_words_in_a_language_of_its_own(alphabet):
    tree = Translation(d=alphabet, alphabet=alphabet)
    languages = [language(tree, depth) for depth in range(1, tree.max_depth + 1)]
    assert all(sorted(words) == list(range(alphabet)) for words in languages)
    assert len(set(map(tuple, languages))) == tree.max_depth


def test_only_the_word_just_picked_is_translated_whatever_came_before():
    tree = Translation(d=4, alphabet=5)
    words = np.arange(5, dtype=tree.token_type)
    for depth in range(1, 5):
        for state in range(6):
            translated = tree.step(depth, np.full_like(words, state), words)
            assert translated.tolist() == language(tree, depth)


def test_the_same_word_at_another_depth_is_written_differently():
    tree = Translation(d=4, alphabet=5)
    inputs = tree.draw_inputs(50, np.random.default_rng(0))
    at_one, at_two = Target(tree, (3,)).value(inputs), Target(tree, (0, 3)).value(inputs)
    assert (at_one != at_two).all()


def test_there_are_as_many_steps_as_languages_and_no_more_than_words():
    assert Translation(d=4, alphabet=3).max_depth == 3
    assert Translation(d=3, alphabet=9).max_depth == 3


def test_a_word_is_translated_at_most_once_but_in_any_order():
    assert Translation(d=4).legal((2, 0)) == (1, 3, 4)
