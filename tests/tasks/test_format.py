"""The format rule, once for all tasks: one think block, then one answer block, and nothing else."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepladder.tasks.format import (
    ASSISTANT_PREFIX,
    LONGEST_COMPLETION,
    BadFormat,
    Blocks,
    as_text,
    read_blocks,
)

TAGS = ("<think>", "</think>", "<answer>", "</answer>")

plain = st.text(max_size=20).filter(lambda text: not re.search("|".join(TAGS), text))
space = st.sampled_from(["", " ", "\n", "\n\n \t"])


@given(plain, plain, space, space)
def test_continuing_the_prefix_repeating_its_tag_and_repeating_it_whole_say_the_same(think, answer, one, two):
    rest = f"{think}</think>{one}<answer>{answer}</answer>{two}"
    for completion in (rest, f"<think>{rest}", f"{two}<think>{rest}", ASSISTANT_PREFIX + rest):
        found = read_blocks(completion)
        assert isinstance(found, Blocks)
        assert (found.think.strip(), found.answer) == (think.strip(), answer)


@given(plain, plain)
def test_a_chat_message_is_read_like_its_text(think, answer):
    text = f"{think}</think><answer>{answer}</answer>"
    message = {"role": "assistant", "content": text}
    for chat in ([message], [{"role": "user", "content": "?"}, message]):
        assert read_blocks(chat) == read_blocks(text)


@pytest.mark.parametrize("chat", [[], [{}], [{"role": "assistant"}], [{"content": None}], ["text"]])
def test_a_chat_without_text_is_an_empty_completion(chat):
    assert as_text(chat) == ""
    assert read_blocks(chat) == BadFormat("</think> is missing")


def test_of_all_orders_of_up_to_five_tags_one_is_right():
    right = []
    for length in range(6):
        for tags in itertools.product(TAGS, repeat=length):
            found = read_blocks("<think>" + "".join(tags))
            if isinstance(found, Blocks):
                right.append(tags)
            else:
                assert found.why
    assert right == [TAGS[1:]]


@pytest.mark.parametrize(
    ("completion", "why"),
    [
        ("", "</think> is missing"),
        ("2 + 3", "</think> is missing"),
        ("</think>", "<answer> is missing"),
        ("</think><answer>5", "</answer> is missing"),
        ("</think>so<answer>5</answer>", "there is text between </think> and <answer>"),
        ("</think><answer>5</answer>.", "there is text after </answer>"),
        ("Well.<think></think><answer>5</answer>", "<think> stands 2 times, once is right"),
        ("<think><think></think><answer>5</answer>", "<think> stands 2 times, once is right"),
        ("</think><answer>5</answer><answer>5</answer>", "<answer> stands 2 times, once is right"),
        ("</think><answer><answer>5</answer></answer>", "<answer> stands 2 times, once is right"),
        ("<answer>5</answer></think>", "the think block must be closed before the answer block"),
        ("a" * (LONGEST_COMPLETION + 1), "the completion has more than 200,000 characters"),
    ],
    ids=lambda value: value[:40],
)
def test_the_reason_says_which_rule_is_broken(completion, why):
    assert read_blocks(completion) == BadFormat(why)


@pytest.mark.parametrize("tag", ["<Think>", "<think >", "<answer/>", "＜answer＞", "<answ\x00er>"])
def test_what_is_not_quite_a_tag_is_text(tag):
    assert read_blocks(f"{tag}</think><answer>{tag}</answer>") == Blocks(tag, tag)
