"""Hints move from prompt to completion: tensor by tensor what a loop over plain lists would do."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from stepladder.posttrain.hint_tokens import PER_TOKEN, move_hints

tokens = st.integers(1, 99)


@st.composite
def batches(draw):
    """Rows of (prompt, hint, completion); hints and their lengths differ, at least one is not empty."""
    row = st.tuples(
        st.lists(tokens, min_size=1, max_size=6), st.lists(tokens, max_size=5), st.lists(tokens, max_size=6)
    )
    rows = draw(st.lists(row, min_size=1, max_size=5).filter(lambda rows: any(hint for _, hint, _ in rows)))
    return rows, draw(st.booleans()), draw(st.integers(0, 3)), draw(st.integers(0, 2))


def left(rows, width):
    return torch.tensor([[0] * (width - len(row)) + list(row) for row in rows])


def right(rows, width, fill=0):
    return torch.tensor([list(row) + [fill] * (width - len(row)) for row in rows])


def generated(rows, with_tools, prompt_padding, completion_padding):
    """What TRL has after generation, the hints being part of the prompts."""
    prompts = [prompt + hint for prompt, hint, _ in rows]
    texts = [completion for _, _, completion in rows]
    before = max(map(len, prompts)) + prompt_padding
    after = max(1, *map(len, texts)) + completion_padding
    output = {
        "prompt_ids": left(prompts, before),
        "prompt_mask": left([[1] * len(prompt) for prompt in prompts], before),
        "completion_ids": right(texts, after),
        "completion_mask": right([[1] * len(text) for text in texts], after),
        "advantages": torch.arange(len(rows)).float(),
    }
    for number, name in enumerate(PER_TOKEN):
        output[name] = right([[number + token / 100 for token in text] for text in texts], after, 0.0)
    if with_tools:
        output["tool_mask"] = right([[token % 2 for token in text] for text in texts], after, 1)
    return output


@given(batches())
def test_moving_hints_is_what_a_loop_over_lists_does(batch):
    rows, with_tools, *_ = batch
    output = generated(*batch)
    kept = {name: value.clone() for name, value in output.items()}
    moved = move_hints(output, [hint for _, hint, _ in rows])

    for number, (prompt, hint, text) in enumerate(rows):
        row = {name: value[number] for name, value in moved.items()}
        assert row["prompt_ids"][row["prompt_mask"].bool()].tolist() == prompt
        assert row["prompt_mask"].tolist()[-len(prompt) :] == [1] * len(prompt)
        assert row["completion_ids"][row["completion_mask"].bool()].tolist() == hint + text
        count = len(hint) + len(text)
        assert row["completion_mask"].tolist()[:count] == [1] * count
        assert row["hint_mask"].tolist()[:count] == [1] * len(hint) + [0] * len(text)
        own = [token % 2 for token in text] if with_tools else [1] * len(text)
        assert row["tool_mask"].tolist()[:count] == [0] * len(hint) + own
        for place, name in enumerate(PER_TOKEN):
            neutral = 1.0 if name == "importance_sampling_ratio" else 0.0
            expected = [neutral] * len(hint) + [place + token / 100 for token in text]
            assert torch.allclose(row[name][:count], torch.tensor(expected))
    assert (moved["hint_mask"] <= moved["completion_mask"]).all()
    assert moved["prompt_ids"].shape[1] == max(len(prompt) for prompt, _, _ in rows)
    assert moved["advantages"] is output["advantages"]
    assert all(torch.equal(output[name], value) for name, value in kept.items())


@given(batches())
def test_prompt_and_completion_together_are_the_same_tokens_as_before(batch):
    rows = batch[0]
    output = generated(*batch)
    moved = move_hints(output, [hint for _, hint, _ in rows])

    def whole(one, number):
        ids = torch.cat([one["prompt_ids"][number], one["completion_ids"][number]])
        mask = torch.cat([one["prompt_mask"][number], one["completion_mask"][number]])
        return ids[mask.bool()].tolist()

    assert [whole(moved, n) for n in range(len(rows))] == [whole(output, n) for n in range(len(rows))]


def test_a_ratio_for_each_sequence_stays_as_it_is():
    output = generated([([1, 2], [3], [4, 5])], False, 0, 0) | {
        "importance_sampling_ratio": torch.tensor([[0.5]])
    }
    assert move_hints(output, [[3]])["importance_sampling_ratio"].tolist() == [[0.5]]


def test_a_truncated_completion_that_is_masked_out_keeps_its_hint():
    output = generated([([1], [2, 3], [4, 5])], False, 0, 0)
    output["completion_mask"] = torch.zeros_like(output["completion_mask"])
    moved = move_hints(output, [[2, 3]])
    assert moved["completion_mask"].tolist() == [[1, 1, 0, 0]]
    assert moved["hint_mask"].tolist() == [[1, 1, 0, 0]]
