"""Hidden chains: the environment answers, gives and cuts as on trees; a small experiment runs and resumes."""

import itertools
import json

import pytest
import torch

pytest.importorskip("trl")

from stepladder.curriculum.stages import depth_increasing, hint_decreasing, no_curriculum
from stepladder.posttrain import hidden_experiment, hidden_run
from stepladder.posttrain.hidden import HiddenChains, Stages, Words, chain_tokenizer, drawn, roll_out
from stepladder.posttrain.hidden_experiment import Plan, experiment, rollouts_to
from stepladder.posttrain.hidden_run import Point, judged, path_rates
from stepladder.posttrain.tiny import Teaching, untaught_model
from stepladder.tasks.chain import Chain

TASK = Chain("parity", 4, (0, 2), form="hidden")
TOKENIZER = chain_tokenizer(TASK)
CHAINS = HiddenChains(TASK, Words.of(TASK, TOKENIZER))
SMALL = Teaching(layers=1, hidden=32, heads=2, steps=5, batch=8)


@pytest.fixture(scope="module")
def model():
    return untaught_model(TOKENIZER, SMALL).eval()


def problems(count):
    return [TASK.generate(3, index) for index in range(count)]


def test_every_text_of_a_chain_survives_its_tokens():
    for problem in problems(20):
        text = TASK.prompt(problem).text(TOKENIZER) + TASK.teacher_completion(problem)
        assert TOKENIZER.decode(TOKENIZER(text)["input_ids"]) == text


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
    for written in roll_out(model, TOKENIZER, CHAINS, problems(64), stage, drawn):
        assert written.picks[: stage.hint] == list(TASK.secret[: stage.hint])
        assert not any(written.own[: 2 * stage.hint])
        if stage.truncate is not None:
            assert len(written.picks) <= stage.truncate
        assert len(written.own) == len(written.ids)


def test_the_exact_rates_are_those_of_rollouts(model):
    torch.manual_seed(0)
    rates = path_rates(model, TASK)
    assert len(rates["hints"]) == len(rates["levels"]) == 3
    for stage, rate in zip(hint_decreasing(2)[::-1], rates["hints"], strict=True):
        written = roll_out(model, TOKENIZER, CHAINS, problems(4000), stage, drawn)
        share = sum(exact for _, exact in judged(TASK, TOKENIZER, written, 3)) / 4000
        assert abs(share - rate) < 4 * (max(rate, 1e-3) / 4000) ** 0.5
    # The first pick is right about once in as many words as there are.
    assert rates["levels"][0] > rates["levels"][1] > rates["levels"][2] == pytest.approx(rates["hints"][0])


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


def points(*accuracies):
    return [Point(100 * place, value, 0.0, 0) for place, value in enumerate(accuracies, start=1)]


@pytest.mark.parametrize(
    ("accuracies", "reached"), [((0.5, 0.95, 0.8, 0.92, 0.99), 400), ((0.5, 0.95, 0.8), None), ((1.0,), 100)]
)
def test_a_target_counts_as_reached_only_where_it_is_held(accuracies, reached):
    assert rollouts_to(points(*accuracies), 0.9) == reached


@pytest.mark.slow
def test_a_small_experiment_runs_all_methods_and_an_interrupted_one_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(hidden_run, "BASE", SMALL)
    monkeypatch.setattr(hidden_experiment, "D", 4)
    plan = Plan(secrets=((0, 2),), seeds=1, budget=512, rates=(1e-3,))
    found = experiment(plan, tmp_path, lambda done, what: None)
    assert [cell["method"] for cell in found["cells"]] == list(hidden_experiment.METHODS)
    for curve in found["curves"]:
        assert [point["rollouts"] for point in curve["points"]] == [256, 512]
    predicted = json.loads((tmp_path / "diagnoses.json").read_text())["0,2"]
    assert set(predicted) == {"path_rate", "hint_decreasing", "depth_increasing"}

    lines = (tmp_path / "runs.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 6
    (tmp_path / "runs.jsonl").write_text("".join(lines[:4]) + lines[4][:50])
    asked = itertools.count()
    trained = hidden_experiment.train
    monkeypatch.setattr(hidden_experiment, "train", lambda *given: (next(asked), trained(*given))[1])
    again = experiment(plan, tmp_path, lambda done, what: None)
    assert next(asked) == 2
    assert again == found
