"""A run on chains: exact rates are those of rollouts; the base model is anchored where asked."""

import pytest
import torch

pytest.importorskip("trl")

from transformers import AutoModelForCausalLM

from stepladder.curriculum.stages import hint_decreasing
from stepladder.posttrain import chain_run
from stepladder.posttrain.chain_run import ChainRun, base_model, judged, path_rates, train
from stepladder.posttrain.environment import Environment, chain_tokenizer, drawn, roll_out
from stepladder.posttrain.tiny import Teaching, untaught_model
from stepladder.tasks.chain import Chain

TASK = Chain("parity", 4, (0, 2), form="hidden")
TOKENIZER = chain_tokenizer(TASK)
SMALL = Teaching(layers=1, hidden=32, heads=2, steps=5, batch=8)


def test_the_exact_rates_are_those_of_rollouts():
    model = untaught_model(TOKENIZER, SMALL).eval()
    torch.manual_seed(0)
    rates = path_rates(model, TASK)
    assert len(rates["hints"]) == len(rates["levels"]) == 3
    problems = [TASK.generate(3, index) for index in range(4000)]
    for stage, rate in zip(hint_decreasing(2)[::-1], rates["hints"], strict=True):
        written = roll_out(model, Environment(TASK, TOKENIZER), problems, stage, drawn)
        share = sum(exact for _, exact in judged(TASK, TOKENIZER, written, 3)) / 4000
        assert abs(share - rate) < 4 * (max(rate, 1e-3) / 4000) ** 0.5
    # The first pick is right about once in as many words as there are.
    assert rates["levels"][0] > rates["levels"][1] > rates["levels"][2] == pytest.approx(rates["hints"][0])


@pytest.mark.slow
@pytest.mark.parametrize(("form", "beta"), [("hidden", 0.0), ("visible", 0.0), ("visible", 0.1)])
def test_a_run_of_either_form_trains_a_copy_and_leaves_the_base_as_it_was(tmp_path, monkeypatch, form, beta):
    monkeypatch.setattr(chain_run, "BASE", SMALL)
    base_model(4, form).save_pretrained(tmp_path / "base")
    base = AutoModelForCausalLM.from_pretrained(tmp_path / "base")
    before = [weights.clone() for weights in base.parameters()]
    points = train(ChainRun("depth_increasing", 4, (0, 2), 1e-3, 0, 512, form, beta), base)
    assert [point.rollouts for point in points] == [256, 512]
    assert all(0 <= point.exact_path <= point.accuracy <= 1 for point in points)
    assert all(torch.equal(one, two) for one, two in zip(before, base.parameters(), strict=True))
