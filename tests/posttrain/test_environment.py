"""Chains with an environment: it answers, gives and cuts as on trees; visible inputs stand in the prompt."""

import pytest
import torch

pytest.importorskip("trl")

from stepladder.curriculum.stages import depth_increasing, hint_decreasing, no_curriculum
from stepladder.posttrain.chain_run import judged
from stepladder.posttrain.environment import Environment, Stages, chain_tokenizer, drawn, roll_out
from stepladder.posttrain.tiny import Teaching, untaught_model
from stepladder.tasks.chain import Chain

TASK = Chain("parity", 4, (0, 2), form="hidden")
TOKENIZER = chain_tokenizer(TASK)
CHAINS = Environment(TASK, TOKENIZER)
SEEN = Chain("parity", 4, (0, 2), form="visible")


@pytest.fixture(scope="module")
def model():
    return untaught_model(TOKENIZER, Teaching(layers=1, hidden=32, heads=2)).eval()


def problems(count):
    return [TASK.generate(3, index) for index in range(count)]


def test_every_text_of_a_chain_survives_its_tokens():
    for problem in problems(20):
        text = TASK.teacher_completion(problem)
        assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


def test_a_hidden_prompt_is_the_same_for_all_inputs_and_a_visible_one_for_none():
    shown = Environment(SEEN, chain_tokenizer(SEEN))
    inputs = {tuple(problem.question): problem for problem in problems(200)}
    assert len(inputs) == 16
    assert len({tuple(CHAINS.begin(problem, 0).prompt) for problem in inputs.values()}) == 1
    assert len({tuple(shown.begin(problem, 0).prompt) for problem in inputs.values()}) == 16


def test_the_environment_answers_every_pick_with_the_running_value_and_masks_its_own_words():
    problem = problems(1)[0]
    written = CHAINS.begin(problem, hint=0)
    for pick in (0, 2):
        CHAINS.answer(written, CHAINS.words.picks[pick], truncate=None)
    CHAINS.answer(written, CHAINS.words.end, truncate=None)
    text = TOKENIZER.decode(written.ids, skip_special_tokens=True)
    assert text == TASK.teacher_completion(problem)
    assert written.own == [1, 0, 1, 0, 1, 0, 0]
    assert judged(TASK, TOKENIZER, [written], 3) == [(True, True)]


def test_an_illegal_pick_ends_the_chain_without_a_reward():
    written = CHAINS.begin(problems(1)[0], hint=0)
    CHAINS.answer(written, CHAINS.words.picks[2], None)
    CHAINS.answer(written, CHAINS.words.picks[1], None)
    assert written.over
    assert judged(TASK, TOKENIZER, [written], 3) == [(False, False)]


@pytest.mark.parametrize("stage", [*depth_increasing(2), *hint_decreasing(2), *no_curriculum(2)], ids=str)
def test_hints_are_given_and_chains_cut_as_the_stage_says(model, stage):
    torch.manual_seed(0)
    for written in roll_out(model, CHAINS, problems(64), stage, drawn):
        assert written.picks[: stage.hint] == list(TASK.secret[: stage.hint])
        assert not any(written.own[: 2 * stage.hint])
        if stage.truncate is not None:
            assert len(written.picks) <= stage.truncate
        assert len(written.own) == len(written.ids)


def test_chains_that_read_alike_are_computed_once_and_drawn_each_for_itself(model):
    rows = []

    class Counting(torch.nn.Module):
        device = model.device

        def forward(self, ids, **more):
            rows.append(len(ids))
            return model(ids, **more)

    torch.manual_seed(0)
    written = roll_out(Counting(), CHAINS, problems(500), no_curriculum(2)[0], drawn)
    assert rows[0] == 1  # one prompt for all
    assert rows[1] <= 8  # four picks, two values
    assert len({tuple(one.picks) for one in written}) > 5


def test_a_stage_ends_after_two_mastered_batches_or_when_its_time_is_up():
    stages = Stages.of("depth_increasing", 2)
    for accuracy, place in [(0.96, 0), (0.9, 0), (0.96, 0), (0.97, 1)]:
        stages.observe(accuracy)
        assert stages.place == place
    for _ in range(60):
        stages.observe(0.5)
    assert stages.place == 2
    for _ in range(200):
        stages.observe(1.0)
    assert stages.place == 2
