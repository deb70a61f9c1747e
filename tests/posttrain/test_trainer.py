"""The trainer: levels and hints by their formulas, no policy gradient for hints, TRL as we know it."""

import difflib
import inspect
import runpy
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from trl import GRPOTrainer

from stepladder.curriculum.hints import HintRuleName, hint_rule
from stepladder.curriculum.levels import LevelScheduleName, level_schedule
from stepladder.curriculum.pacing import Planned
from stepladder.errors import InputError
from stepladder.posttrain import Curriculum
from stepladder.posttrain.sampler import CurriculumSampler
from stepladder.posttrain.trainer import _STREAM, _row_number
from stepladder.tasks.rows import data_set, export_row, write_rows
from stepladder.tasks.task import hint_text

SCHEDULES = LevelScheduleName.__args__
RULES = [name for name in HintRuleName.__args__ if name != "none"]

HOOKS = {
    "_get_train_sampler": ["dataset"],
    "_generate_and_score_completions": ["inputs"],
    "_tokenize_prompts": ["prompts"],
    "_calculate_rewards": ["inputs", "prompts", "completions", "completion_ids_list"],
    "_compute_loss": ["model", "inputs"],
    "_get_per_token_logps_and_entropies": ["model", "input_ids", "attention_mask", "logits_to_keep"],
    "_save_checkpoint": ["model", "trial"],
    "_load_optimizer_and_scheduler": ["checkpoint"],
}


def logged(trainer):
    """What was logged for every step."""
    return [entry for entry in trainer.state.log_history if "reward" in entry]


def batch_of(trainer):
    """Generate one batch as the first step of training does, before TRL shuffles it."""
    trainer.model.train()
    trainer.current_gradient_accumulation_steps = 1
    sampler = trainer._get_train_sampler()
    rows = [trainer.train_dataset[row] for row, _ in zip(sampler, range(16), strict=False)]
    return rows, trainer._generate_and_score_completions(rows)


def gradient(trainer, inputs):
    """The gradient of the loss on a batch, all parameters in one row."""
    trainer.model.zero_grad()
    trainer._compute_loss(trainer.model, inputs).backward()
    return torch.cat([parameter.grad.flatten().clone() for parameter in trainer.model.parameters()])


def spread(inputs):
    """Give a batch advantages that do not vanish, whatever was right."""
    return {**inputs, "advantages": torch.linspace(-1.5, 2, len(inputs["advantages"]))}


# ---- TRL


@pytest.mark.parametrize("name", HOOKS)
def test_trl_has_the_hook_with_the_parameters_that_we_hold_on_to(name):
    parameters = list(inspect.signature(getattr(GRPOTrainer, name)).parameters)[1:]
    assert parameters[: len(HOOKS[name])] == HOOKS[name]
    if name != "_get_per_token_logps_and_entropies":
        assert len(parameters) == len(HOOKS[name])


# ---- levels


@pytest.mark.parametrize("name", SCHEDULES)
def test_every_level_schedule_trains_and_logs_the_shares_of_its_batches(name, trainer, rows):
    ours = trainer(Curriculum(levels=name), max_steps=4)
    before = ours.model.model.embed_tokens.weight.detach().clone()
    ours.train()
    # The same batches from the pure functions alone.
    expected = CurriculumSampler(
        rows["level"],
        Planned(level_schedule(name)),
        rows_per_batch=4,
        generations=4,
        repeats=1,
        batches=4,
        seed=42,
    )
    for number, entry in enumerate(logged(ours)):
        levels = [rows[row]["level"] for row in expected.batch(number)]
        for level in (1, 2, 3):
            assert entry[f"curriculum/share/level_{level}"] == levels.count(level) / 4
            assert (f"curriculum/pass/level_{level}" in entry) == (level in levels)
        assert entry["curriculum/hint_tokens"] == 0
    assert len(logged(ours)) == 4
    assert not torch.equal(before, ours.model.model.embed_tokens.weight)


def test_by_pass_rate_opens_the_next_level_when_the_first_is_passed(trainer):
    always = Curriculum(levels="by_pass_rate", threshold=0.0, window=16, pass_reward=0.0)
    never = Curriculum(levels="by_pass_rate", threshold=1.0, window=16)
    opened, stays = trainer(always, max_steps=5), trainer(never, max_steps=5)
    opened.train()
    stays.train()
    assert opened.pacer.current >= 2
    assert logged(opened)[-1]["curriculum/share/level_1"] < 1
    assert all(entry["curriculum/share/level_1"] == 1 for entry in logged(stays))


# ---- hints


@pytest.mark.parametrize("name", RULES)
def test_every_hint_rule_trains_and_logs_the_length_and_weight_of_its_formula(name, trainer, rows, monkeypatch):
    rule = hint_rule(name)
    ours = trainer(Curriculum(hints=rule), max_steps=4)
    seen = []
    generate = ours._generate_and_score_completions

    def watched(inputs):
        if ours.model.training:
            seen.append(inputs)
        return generate(inputs)

    monkeypatch.setattr(ours, "_generate_and_score_completions", watched)
    ours.train()
    for step, (entry, inputs) in enumerate(zip(logged(ours), seen, strict=True)):
        lengths = []
        for row in inputs:
            rng = np.random.default_rng([42, step, _row_number(row), _STREAM])
            whole = ours.processing_class(hint_text(row["solution"]), add_special_tokens=False)["input_ids"]
            if name == "uft_floor":
                lengths.append(rule.reveal(step / 4, len(whole), rng))
            else:
                given = row["solution"][: rule.reveal(step / 4, len(row["solution"]), rng)]
                text = hint_text(given)
                lengths.append(len(ours.processing_class(text)["input_ids"]) if text else 0)
        assert entry["curriculum/hint_tokens"] == pytest.approx(statistics.mean(lengths))
        assert entry["curriculum/prefix_weight"] == rule.weight(step / 4)
        assert ("curriculum/prefix_loss" in entry) == (sum(lengths) > 0 and rule.weight(step / 4) > 0)
    assert logged(ours)[0]["curriculum/hint_tokens"] > 0


@pytest.mark.parametrize("name", RULES)
def test_hints_are_the_same_within_a_group_and_differ_between_steps_and_rows(name, trainer):
    ours = trainer(Curriculum(hints=hint_rule(name)))
    hints = []
    for step in range(3):
        ours.state.global_step = step
        for row in ours.train_dataset:
            first, again = ours.draw_hint(row), ours.draw_hint(dict(row))
            assert first == again
            hints.append((step, row["id"], tuple(first)))
    assert len({hint for *_, hint in hints}) > 1


def test_a_hint_is_the_beginning_of_the_teachers_tokens_and_no_longer_than_allowed(trainer):
    ours = trainer(Curriculum(hints=hint_rule("uft_floor", start=1.0, end=1.0), longest_hint=3))
    row = ours.train_dataset[35]
    whole = ours.processing_class(hint_text(row["solution"]))["input_ids"]
    assert len(whole) > 3
    assert ours.draw_hint(row) == whole[:3]


def test_the_hint_stands_behind_the_assistant_prefix_and_before_the_completion(trainer):
    ours = trainer(Curriculum(hints=hint_rule("uft_staged")))
    rows, output = batch_of(ours)
    for number, row in enumerate(rows):
        prompt = output["prompt_ids"][number][output["prompt_mask"][number].bool()]
        hint = output["completion_ids"][number][output["hint_mask"][number].bool()]
        assert ours.processing_class.decode(prompt) == row["prompt"]
        assert ours.processing_class.decode(hint) == hint_text(row["solution"])
        assert row["prompt"].endswith("<think>")


def test_rewards_see_the_hint_and_the_completion(trainer, task, problems):
    seen = []

    def reward(completions, problem, **columns):
        seen.extend(zip(problem, completions, strict=True))
        return [
            task.verify(problems[place], text).reward for place, text in zip(problem, completions, strict=True)
        ]

    rows, output = batch_of(ours := trainer(Curriculum(hints=hint_rule("uft_staged")), rewards=[reward]))
    for number, (place, completion) in enumerate(seen):
        assert completion.startswith(hint_text(problems[place].solution))
        ids = output["completion_ids"][number][output["completion_mask"][number].bool()]
        assert completion == ours.processing_class.decode(ids, skip_special_tokens=True)
        assert len(completion) > len(hint_text(problems[place].solution))
    assert len(seen) == len(rows)


def test_evaluation_has_no_hints(trainer):
    def reward(completions, solution, **columns):
        return [
            float(text.startswith(hint_text(steps))) for text, steps in zip(completions, solution, strict=True)
        ]

    ours = trainer(
        Curriculum(hints=hint_rule("uft_staged")), rewards=[reward], per_device_eval_batch_size=12, max_steps=2
    )
    before = ours.evaluate()
    assert before["eval_reward"] < 1
    assert not [name for name in before if "curriculum" in name]
    ours.train()
    assert logged(ours)[0]["reward"] == 1  # in training all of the solution is given at first


# ---- the loss


@pytest.mark.parametrize("loss_type", ["dapo", "grpo", "bnpo"])
@pytest.mark.parametrize("beta", [0.0, 0.1])
def test_hinted_tokens_get_no_policy_gradient(trainer, loss_type, beta):
    rule = hint_rule("uft_binomial", prefix_start=0.0, prefix_end=0.0)
    ours = trainer(Curriculum(hints=rule), loss_type=loss_type, beta=beta)
    _, inputs = batch_of(ours)
    inputs = spread(inputs)
    assert inputs["hint_mask"].sum() > 0
    with_hints = gradient(ours, inputs)
    # The same rows with the hint left in the prompt, where TRL scores nothing.
    lengths = inputs["hint_mask"].sum(dim=1)
    plain = hints_back(inputs, lengths)
    assert plain["completion_mask"].sum() == (inputs["completion_mask"] * inputs["tool_mask"]).sum()
    assert with_hints.norm() > 1e-4
    torch.testing.assert_close(with_hints, gradient(ours, plain), rtol=1e-3, atol=1e-6)


def hints_back(inputs, lengths):
    """Undo the move, row by row."""
    prompts, texts, extra = [], [], {name: [] for name in ("ref_per_token_logps", "old_per_token_logps")}
    for number, length in enumerate(lengths.tolist()):
        prompt = inputs["prompt_ids"][number][inputs["prompt_mask"][number].bool()]
        whole = inputs["completion_ids"][number][inputs["completion_mask"][number].bool()]
        prompts.append(torch.cat([prompt, whole[:length]]))
        texts.append(whole[length:])
        for name, kept in extra.items():
            if name in inputs:
                kept.append(inputs[name][number][length : len(whole)])
    pad = torch.nn.utils.rnn.pad_sequence
    plain = {
        "prompt_ids": pad(prompts, batch_first=True, padding_side="left"),
        "prompt_mask": pad([torch.ones_like(one) for one in prompts], batch_first=True, padding_side="left"),
        "completion_ids": pad(texts, batch_first=True),
        "completion_mask": pad([torch.ones_like(one) for one in texts], batch_first=True),
        "advantages": inputs["advantages"],
        "num_items_in_batch": inputs["num_items_in_batch"],
    }
    return plain | {name: pad(kept, batch_first=True) for name, kept in extra.items() if kept}


def test_the_prefix_loss_is_the_mean_of_minus_log_pi_over_hint_tokens(trainer):
    weight = 0.25
    rule = hint_rule("uft_binomial", prefix_start=weight, prefix_end=weight)
    ours = trainer(Curriculum(hints=rule))
    _, inputs = batch_of(ours)
    inputs = spread(inputs)
    loss = ours._compute_loss(ours.model, inputs).item()
    ours.curriculum = Curriculum(hints=hint_rule("uft_binomial", prefix_start=0.0, prefix_end=0.0))
    policy = ours._compute_loss(ours.model, inputs).item()

    by_hand = []
    for number in range(len(inputs["prompt_ids"])):
        prompt = inputs["prompt_ids"][number][inputs["prompt_mask"][number].bool()]
        hint = inputs["completion_ids"][number][inputs["hint_mask"][number].bool()]
        with torch.no_grad():
            logits = ours.model(input_ids=torch.cat([prompt, hint])[None]).logits[0].double()
        logps = logits.log_softmax(dim=-1)
        by_hand += [-logps[len(prompt) + n - 1, token].item() for n, token in enumerate(hint.tolist())]
    assert len(by_hand) == inputs["hint_mask"].sum()
    assert loss - policy == pytest.approx(weight * statistics.mean(by_hand), rel=1e-4)
    assert ours._metrics["train"]["curriculum/prefix_loss"][-1] == pytest.approx(
        statistics.mean(by_hand), rel=1e-4
    )


def test_the_gradient_for_hint_tokens_does_not_depend_on_the_advantage(trainer):
    rule = hint_rule("uft_binomial", prefix_start=1.0, prefix_end=1.0)
    ours = trainer(Curriculum(hints=rule))
    _, inputs = batch_of(ours)
    inputs = spread(inputs)
    once, none, twice = (
        gradient(ours, {**inputs, "advantages": factor * inputs["advantages"]}) for factor in (1, 0, 2)
    )
    # What does not scale with the advantage is the prefix loss, alone or beside the policy loss.
    torch.testing.assert_close(2 * once - twice, none, rtol=1e-3, atol=1e-6)
    assert none.norm() > 1e-3
    ours.curriculum = Curriculum(hints=hint_rule("uft_binomial", prefix_start=0.0, prefix_end=0.0))
    assert gradient(ours, {**inputs, "advantages": 0 * inputs["advantages"]}).norm() == 0


def test_one_forward_pass_serves_both_losses(trainer):
    ours = trainer(Curriculum(hints=hint_rule("uft_staged")))
    _, inputs = batch_of(ours)
    passes = []
    ours.model.register_forward_hook(lambda *_: passes.append(1))
    ours._compute_loss(ours.model, inputs)
    assert len(passes) == 1


def test_steps_that_share_their_rollouts_and_micro_batches_train_with_hints_too(trainer):
    curriculum = Curriculum(hints=hint_rule("uft_uniform"), gate="drop")
    ours = trainer(
        curriculum,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=2,
        steps_per_generation=4,
        num_iterations=1,
        max_steps=4,
        beta=0.01,
    )
    ours.train()
    assert len([entry for entry in ours.state.log_history if "loss" in entry]) == 4
    assert all(np.isfinite(entry["loss"]) for entry in ours.state.log_history if "loss" in entry)


# ---- the gate


class Fixed:
    """A reward by the place in the batch: groups 0 and 2 have a signal, 1 is all right and 3 all wrong."""

    __name__ = "fixed"
    pattern = ("1000", "1111", "0110", "0000")

    def __call__(self, completions, **columns):
        return [float(value) for value in "".join(self.pattern)]


def gated(trainer, gate, **changes):
    torch.manual_seed(0)
    ours = trainer(Curriculum(gate=gate), rewards=[Fixed()], **changes)
    torch.manual_seed(1)
    _, inputs = batch_of(ours)
    metrics = {name: values[-1] for name, values in ours._metrics["train"].items()}
    return ours, inputs, metrics


def test_the_gate_leaves_what_is_counted_unchanged(trainer):
    (*_, off), (*_, drop), (*_, reweight) = (gated(trainer, gate) for gate in ("off", "drop", "reweight"))
    assert off == drop == reweight
    assert off["reward"] == 7 / 16
    assert off["curriculum/pass"] == 7 / 16
    assert off["curriculum/signal"] == 0.5


@pytest.mark.parametrize("beta", [0.0, 0.1])
def test_drop_is_training_on_the_groups_with_a_signal_alone(trainer, beta):
    ours, inputs, _ = gated(trainer, "drop", beta=beta)
    _, off, _ = gated(trainer, "off", beta=beta)
    kept = torch.tensor([0, 1, 2, 3, 8, 9, 10, 11])
    alone = {name: value[kept] if value.dim() else value for name, value in off.items()}
    alone["num_items_in_batch"] = alone["completion_mask"].sum()
    assert ours._compute_loss(ours.model, inputs).item() == pytest.approx(
        ours._compute_loss(ours.model, alone).item(), rel=1e-4, abs=1e-7
    )


def test_reweight_gives_the_groups_with_a_signal_the_weight_of_all(trainer):
    _, off, _ = gated(trainer, "off")
    _, reweight, _ = gated(trainer, "reweight")
    torch.testing.assert_close(reweight["advantages"], 2 * off["advantages"])
    assert reweight["num_items_in_batch"] == off["num_items_in_batch"]


def test_a_batch_without_any_signal_moves_nothing(trainer):
    for gate in ("drop", "reweight"):
        ours = trainer(Curriculum(gate=gate), rewards=[lambda completions, **_: [1.0] * len(completions)])
        ours.train()
        assert all(entry["grad_norm"] == 0 for entry in logged(ours))
        assert all(entry["reward"] == 1 for entry in logged(ours))


# ---- prompts as messages


def test_conversational_prompts_get_their_hint_behind_the_generation_prompt(trainer, task, problems):
    data = data_set(task, problems)
    seen = []

    def reward(completions, solution, **columns):
        seen.extend(zip(completions, solution, strict=True))
        return [float(len(one[-1]["content"]) % 2) for one in completions]

    ours = trainer(Curriculum(hints=hint_rule("uft_staged")), data=data, rewards=[reward], max_steps=2)
    ours.train()
    first = seen[:16]
    assert all(one[-1]["role"] == "assistant" for one, _ in first)
    assert all(one[-1]["content"].startswith(hint_text(steps)) for one, steps in first)


# ---- vLLM, up to the call


class Server:
    """What stands for TRL's vLLM: it keeps one prompt of each group, as the server mode does."""

    def __init__(self, model, accelerator, processing_class, **options):
        self.options = options
        self.end = processing_class.eos_token_id
        self.asked = []
        self.vllm_client = SimpleNamespace(
            get_server_info=lambda: {"model_config": {"logprobs_mode": "processed_logprobs"}}
        )

    def sync_weights(self):
        pass

    def generate(self, prompts, images, num_generations, profiler=None):
        self.asked.append(prompts)
        kept = prompts[::num_generations]
        texts = [[5 + number, 6, self.end][number % 2 :] for number in range(len(kept) * num_generations)]
        return None, texts, [[[-0.5] for _ in text] for text in texts], None


@pytest.mark.parametrize("mode", ["server", "colocate"])
@pytest.mark.parametrize("loss_type", ["dapo", "vespo"])
def test_vllm_gets_prompts_with_hints_that_are_the_same_within_a_group(trainer, monkeypatch, mode, loss_type):
    monkeypatch.setattr("trl.trainer.grpo_trainer.VLLMGeneration", Server)
    ours = trainer(
        Curriculum(hints=hint_rule("uft_uniform")),
        use_vllm=True,
        vllm_mode=mode,
        vllm_server_port=8123,
        vllm_importance_sampling_mode="token_truncate",
        loss_type=loss_type,
        max_steps=2,
    )
    server = ours.vllm_generation
    assert (server.options["mode"], server.options["server_port"]) == (mode, 8123)
    assert (server.options["temperature"], server.options["max_completion_length"]) == (1.0, 32)
    ours.train()
    assert len(server.asked) == 2
    for prompts in server.asked:
        groups = [prompts[start : start + 4] for start in range(0, 16, 4)]
        assert all(prompt == group[0] for group in groups for prompt in group)
        texts = [ours.processing_class.decode(group[0]) for group in groups]
        assert any(not text.endswith("<think>") for text in texts)
        assert all("<think>" in text for text in texts)
    assert all(np.isfinite(entry["loss"]) for entry in logged(ours))
    assert logged(ours)[0]["curriculum/hint_tokens"] > 0


# ---- refusals


@pytest.mark.parametrize(
    ("column", "curriculum", "message"),
    [
        ("level", Curriculum(), "train_dataset has no column level"),
        ("solution", Curriculum(hints=hint_rule("uft_floor")), "train_dataset has no column solution"),
    ],
)
def test_data_without_the_columns_it_takes_is_refused(trainer, rows, column, curriculum, message):
    with pytest.raises(InputError, match=message):
        trainer(curriculum, data=rows.remove_columns(column))


def test_settings_under_which_a_curriculum_would_be_wrong_are_refused(trainer, rows):
    with pytest.raises(InputError, match="max_steps must be set"):
        trainer(max_steps=-1)
    with pytest.raises(InputError, match="split_batches must be False"):
        trainer(accelerator_config={"split_batches": True})
    with pytest.raises(InputError, match="temperature must be 1 with hints, got 0"):
        trainer(Curriculum(hints=hint_rule("uft_floor")), temperature=0.7)
    words = rows.remove_columns("level").add_column("level", ["easy"] * len(rows))
    with pytest.raises(InputError, match="level must be a whole number in every row, got 'easy'"):
        trainer(data=words)


# ---- for TRL's users

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def test_a_curriculum_is_three_lines_in_a_trl_script():
    plain, curriculum = (
        (EXAMPLES / f"grpo_{name}.py").read_text().splitlines() for name in ("plain", "curriculum")
    )
    changed = [line for line in difflib.unified_diff(plain, curriculum, n=0, lineterm="") if line[0] in "+-"][
        2:
    ]
    assert [line for line in changed if line.startswith("+")] == [
        "+from stepladder.posttrain import Curriculum, CurriculumTrainer",
        "+trainer = CurriculumTrainer(",
        '+    curriculum=Curriculum(levels="e2h_window"),',
    ]
    assert [line for line in changed if line.startswith("-")] == ["-trainer = trl.GRPOTrainer("]


@pytest.mark.parametrize("name", ["plain", "curriculum"])
def test_the_script_of_the_docs_runs(name, task, problems, model_folder, tmp_path, monkeypatch, capsys):
    for level in task.levels:
        own = [export_row(task, problem) for problem in problems if problem.level == level]
        write_rows(tmp_path / f"parity-{level}.jsonl", own)
    words = f"""grpo_{name}.py --model_name_or_path {model_folder} --dataset_name {tmp_path}/parity-*.jsonl
        --output_dir {tmp_path}/out --max_steps 2 --per_device_train_batch_size 16 --num_generations 4
        --max_completion_length 24 --use_cpu --bf16 false --report_to none --save_strategy no --logging_steps 1
        --disable_tqdm true"""
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.argv", words.split())
    trained = runpy.run_path(str(EXAMPLES / f"grpo_{name}.py"))["trainer"]
    assert len(logged(trained)) == 2
    assert ("curriculum/pass" in logged(trained)[0]) == (name == "curriculum")
