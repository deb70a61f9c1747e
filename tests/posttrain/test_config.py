"""The config: one clear line for whatever is wrong in it, and every recipe ready for TRL."""

from pathlib import Path

import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st

from stepladder.errors import InputError
from stepladder.posttrain import run
from stepladder.posttrain.config import RunConfig, changed_fields, parse_yaml, read_config, resolved
from stepladder.tasks.catalogue import build_task

ROOT = Path(__file__).parents[2]
RECIPES = sorted((ROOT / "recipes").rglob("*.yaml"))
PAPER = [recipe for recipe in RECIPES if recipe.parent.name != "cpu"]

GOOD = "data: {task: parity, d: 4, secret: [0, 1]}\ngrpo: {max_steps: 3}\n"


@pytest.fixture
def given_file(tmp_path):
    """Write a config and read it."""

    def read(text, changes=None):
        path = tmp_path / "run.yaml"
        path.write_text(text)
        return read_config(path, changes or {})

    return read


# ---- reading


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD + "speed: 3\n", "speed: Extra inputs are not permitted, got 3"),
        ("data: {task: parity, colour: red}\n", "data.colour: Extra inputs are not permitted, got 'red'"),
        ("data: {task: chess}\n", "data.task: Input should be 'countdown', .*, got 'chess'"),
        (GOOD + "seed: many\n", "seed: Input should be a valid integer, .*, got 'many'"),
        (GOOD + "curriculum: {levels: e2h}\n", "curriculum.levels.*, got 'e2h'"),
        (
            GOOD + "curriculum: {hint_until: 0}\n",
            "curriculum.hint_until: Input should be greater than 0, got 0",
        ),
        (GOOD + "lora: {r: 0}\n", "lora.r: Input should be greater than or equal to 1, got 0"),
        ("model: tiny\n", "data: Field required"),
        ("- 1\n", "must hold data, model, curriculum and grpo"),
        ("data: [\n", "is not YAML"),
        ("", "must hold data"),
    ],
)
def test_a_wrong_config_is_refused_in_one_line_that_names_file_and_field(given_file, text, message):
    with pytest.raises(InputError, match=message) as refusal:
        given_file(text)
    assert "\n" not in str(refusal.value)
    assert "run.yaml" in str(refusal.value)


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.yaml", {})
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not YAML"):
        read_config(tmp_path / "bytes.yaml", {})


def test_changes_are_put_on_top(given_file):
    config = given_file(
        GOOD, {"grpo.max_steps": 9, "curriculum.levels": "e2h_cosine", "model": "smollm2", "lora": None}
    )
    assert config.grpo == {"max_steps": 9}
    assert config.curriculum.levels == "e2h_cosine"
    assert (config.model, config.lora) == ("smollm2", None)


def test_a_change_below_something_that_has_no_parts_is_refused(given_file):
    with pytest.raises(InputError, match=r"set grpo.max_steps.more is not a setting"):
        given_file(GOOD, {"grpo.max_steps.more": 1})


@given(st.floats(1e-12, 1e12), st.sampled_from(["e", "E"]))
def test_numbers_with_an_exponent_are_numbers_with_or_without_a_dot(value, letter):
    mantissa, exponent = f"{value:e}".split("e")
    whole = int(float(mantissa))
    assert parse_yaml(f"{mantissa}{letter}{exponent}") == float(f"{mantissa}e{exponent}")
    assert parse_yaml(f"{whole}{letter}{int(exponent)}") == float(f"{whole}e{int(exponent)}")


@given(st.one_of(st.integers(), st.booleans(), st.none(), st.text("abcxyz_-/.", min_size=1)))
def test_everything_else_is_read_as_by_pyyaml(value):
    text = yaml.safe_dump({"value": value})
    assert parse_yaml(text) == yaml.safe_load(text)


# ---- resolved, and resumed


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_a_resolved_config_reads_back_as_the_same(recipe):
    config = read_config(recipe, {})
    assert RunConfig.model_validate(yaml.safe_load(resolved(config))) == config


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({}, []),
        ({"seed": 1}, ["seed"]),
        ({"grpo.beta": 0.1, "grpo.max_steps": 4}, ["grpo.max_steps", "grpo.beta"]),
        ({"curriculum.hints": "uft_floor", "data.d": 5}, ["data.d", "curriculum.hints"]),
        ({"lora": None}, ["lora"]),
    ],
)
def test_changed_fields_are_named(given_file, changes, fields):
    before, now = (yaml.safe_load(resolved(given_file(GOOD, some))) for some in ({}, changes))
    assert changed_fields(before, now) == fields


# ---- TRL's arguments


def test_an_unknown_argument_of_trl_is_refused_by_name(given_file, tmp_path):
    config = given_file(GOOD, {"grpo.learning_speed": 1})
    with pytest.raises(InputError, match=r"grpo.learning_speed is not an argument of TRL's GRPOConfig"):
        run.grpo_arguments(config, tmp_path)


def test_an_argument_that_the_run_decides_is_refused(given_file, tmp_path):
    with pytest.raises(InputError, match="output_dir is set by the run itself"):
        run.grpo_arguments(given_file(GOOD, {"grpo.output_dir": "x"}), tmp_path)


def test_generations_that_do_not_divide_the_batch_are_refused(given_file, tmp_path):
    cpu = {"grpo.use_cpu": True, "grpo.bf16": False}
    config = given_file(GOOD, {"grpo.per_device_train_batch_size": 10, "grpo.num_generations": 4, **cpu})
    with pytest.raises(
        InputError, match=r"generation_batch_size \(10\) must be divisible by num_generations \(4\)"
    ):
        run.grpo_arguments(config, tmp_path)


@pytest.mark.parametrize(("save_steps", "allowed"), [(4, True), (8, True), (2, False), (6, False)])
def test_checkpoints_between_steps_that_share_their_rollouts_are_refused(
    given_file, tmp_path, save_steps, allowed
):
    # Rollouts are shared by 4 x 2 updates, which are 4 steps of 2 updates each.
    settings = {"steps_per_generation": 4, "num_iterations": 2, "gradient_accumulation_steps": 2}
    settings |= {"save_steps": save_steps, "use_cpu": True, "bf16": False}
    config = given_file(GOOD, {f"grpo.{name}": value for name, value in settings.items()})
    if allowed:
        assert run.grpo_arguments(config, tmp_path).save_steps == save_steps
    else:
        with pytest.raises(InputError, match="save_steps must be a multiple of 4"):
            run.grpo_arguments(config, tmp_path)


# ---- recipes


def on_this_machine(config):
    """The same config without what only a GPU has."""
    own = {"bf16": False, "tf32": None, "use_cpu": True}
    return config.model_copy(update={"grpo": {**config.grpo, **own}})


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_recipe_is_read_and_becomes_arguments_of_trl(recipe, tmp_path):
    config = read_config(recipe, {})
    arguments = run.grpo_arguments(on_this_machine(config), tmp_path)
    assert arguments.max_steps == config.grpo["max_steps"]
    assert arguments.learning_rate == float(config.grpo["learning_rate"])
    assert isinstance(config.grpo["learning_rate"], float)
    task = build_task(config.data.task, config.data.task_options())
    assert set(config.data.levels) < set(task.levels) or config.data.task == "parity"
    config.curriculum.build(task.pass_reward).pacer()
    run.lora_config(config)


def test_there_is_a_recipe_for_every_task_and_method_of_the_paper():
    assert {(path.parent.name, path.stem) for path in PAPER} == {
        (task, method)
        for task in ("countdown", "math", "blocksworld")
        for method in ("no_curriculum", "depth_increasing", "hint_decreasing")
    }


PUBLISHED = {
    # batch, accumulation, steps per generation, steps, completion length
    "countdown": (16, 4, 1, 1600, 512),
    "math": (16, 4, 1, 1200, 1600),
    "blocksworld": (2, 4, 2, 1600, 512),
}


@pytest.mark.parametrize("recipe", PAPER, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_recipes_have_the_numbers_of_the_papers_tables(recipe, tmp_path):
    config = read_config(recipe, {})
    task, method, grpo = recipe.parent.name, recipe.stem, config.grpo
    names = ("per_device_train_batch_size", "gradient_accumulation_steps", "steps_per_generation", "max_steps")
    assert tuple(grpo[name] for name in (*names, "max_completion_length")) == PUBLISHED[task]
    generations = 8 if task != "blocksworld" else 4 if method == "hint_decreasing" else 2
    assert grpo["num_generations"] == generations
    assert (grpo["learning_rate"], grpo["beta"], grpo["entropy_coef"]) == (1e-6, 1e-3, 0)
    assert (grpo["bf16"], grpo["tf32"], grpo["gradient_checkpointing"]) == (True, True, True)
    assert (grpo["logging_steps"], grpo["eval_steps"]) == (10, 400)
    assert (config.model, config.data.source) == ("Qwen/Qwen2.5-1.5B-Instruct", f"divelab/{task}")
    lora = run.lora_config(config)
    assert (lora.r, lora.lora_alpha, lora.lora_dropout) == (32, 64, 0.1)
    assert lora.target_modules == {"q_proj", "v_proj"}
    curriculum = config.curriculum.build(1.0)
    rule = curriculum.hints
    if method != "hint_decreasing":
        assert rule.name == "none"
        assert curriculum.levels == {"no_curriculum": "e2h_balanced", "depth_increasing": "e2h_window"}[method]
    elif task == "countdown":
        assert (rule.name, curriculum.longest_hint) == ("uft_floor", 256)
        assert (rule.share(0), rule.share(1), rule.weight(0), rule.prefix_weight(1)) == (0.9, 0.1, 1, 0)
    else:
        assert rule.name == "uft_binomial"
        assert (rule.share(0), rule.share(1), rule.weight(0), rule.prefix_weight(1)) == (0.95, 0.05, 1e-3, 1e-3)


@pytest.mark.parametrize("mode", ["server", "colocate"])
@pytest.mark.parametrize("recipe", PAPER[:1], ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_vllm_is_asked_for_up_to_the_call(recipe, mode, tmp_path):
    config = read_config(recipe, {"grpo.vllm_mode": mode, "grpo.vllm_server_port": 8123})
    arguments = run.grpo_arguments(on_this_machine(config), tmp_path)
    assert (arguments.use_vllm, arguments.vllm_mode, arguments.vllm_server_port) == (True, mode, 8123)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_recipe_for_gpus_says_in_one_line_that_this_machine_has_none(tmp_path):
    with pytest.raises(InputError, match=r"the grpo arguments do not go together: .*(bf16|tf32|TF32)"):
        run.grpo_arguments(read_config(PAPER[0], {}), tmp_path)
