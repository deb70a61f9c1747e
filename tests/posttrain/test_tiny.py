"""The tiny model: made once, read by anything that reads models, well-formed, and never left half done."""

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from stepladder.posttrain.models import load_model
from stepladder.posttrain.tiny import Teaching, tiny_model
from stepladder.tasks.chain import Chain
from stepladder.tasks.format import Blocks, read_blocks

HASTY = Teaching(
    layers=1, hidden=8, heads=1, vocabulary=300, problems_per_level=2, steps=2, batch=2, learning_rate=1e-3
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "stepladder"


def test_a_tiny_model_is_made_once_and_then_found(cache, task):
    heard = []
    first = tiny_model(task, HASTY, heard.append)
    assert heard == [0.5, 1.0]
    assert tiny_model(task, HASTY, heard.append) == first
    assert heard == [0.5, 1.0]
    assert list(cache.iterdir()) == [first]


def test_other_teaching_and_another_wording_are_other_models(cache, task):
    other = Chain("parity", d=5, secret=(0, 1))
    longer = Teaching(**(vars(HASTY) | {"steps": 1}))
    assert len({tiny_model(task, HASTY), tiny_model(task, longer), tiny_model(other, HASTY)}) == 3


def test_making_it_twice_gives_the_same_weights(cache, task, tmp_path, monkeypatch):
    first = tiny_model(task, HASTY)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "again"))
    second = tiny_model(task, HASTY)
    assert (first / "model.safetensors").read_bytes() == (second / "model.safetensors").read_bytes()


@pytest.mark.parametrize("when", ["teaching", "saving"])
def test_an_interrupted_making_leaves_nothing_behind(cache, task, when, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    if when == "saving":
        monkeypatch.setattr("transformers.PreTrainedTokenizerFast.save_pretrained", interrupt)
    with pytest.raises(KeyboardInterrupt):
        tiny_model(task, HASTY, interrupt if when == "teaching" else lambda done: None)
    assert not cache.exists() or list(cache.iterdir()) == []
    monkeypatch.undo()


def test_one_that_another_process_has_made_meanwhile_is_taken(cache, task, monkeypatch):
    made = []

    def meanwhile(done):
        if not made:
            made.append(None)
            made.append(tiny_model(task, HASTY))

    assert tiny_model(task, HASTY, meanwhile) == made[1]
    assert list(cache.iterdir()) == [made[1]]


def test_auto_classes_read_the_same_tokens_that_it_was_taught(task, model_folder):
    problem = task.generate(3, 0)
    tokenizer = AutoTokenizer.from_pretrained(model_folder)
    text = task.prompt(problem).text(tokenizer) + task.teacher_completion(problem)
    ids = tokenizer(text)["input_ids"]
    assert tokenizer.decode(ids) == text
    assert len(ids) < 0.2 * len(text)  # its own words, not letters
    model = AutoModelForCausalLM.from_pretrained(model_folder)
    assert model.config.vocab_size == len(tokenizer)


def test_after_modest_teaching_most_completions_are_well_formed_and_few_are_right(task, model_folder):
    model, tokenizer = load_model(str(model_folder), task)
    problems = [task.generate(3, index, seed=9) for index in range(100)]
    tokenizer.padding_side = "left"
    prompts = tokenizer(
        [task.prompt(one).text(tokenizer) for one in problems], return_tensors="pt", padding=True
    )
    torch.manual_seed(0)
    out = model.generate(**prompts, do_sample=True, max_new_tokens=40)
    said = tokenizer.batch_decode(out[:, prompts["input_ids"].shape[1] :], skip_special_tokens=True)
    assert sum(isinstance(read_blocks(text), Blocks) for text in said) >= 70
    assert sum(task.verify(one, text).correct for one, text in zip(problems, said, strict=True)) <= 60
