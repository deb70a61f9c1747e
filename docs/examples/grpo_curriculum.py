"""GRPO with TRL, on files of `stepladder data`. grpo_curriculum.py has three lines that grpo_plain.py has not.

stepladder data parity --level 1 --d 4 --secret 0,1 --count 100 --out runs/parity-1.jsonl     (and levels 2, 3)
python docs/examples/grpo_curriculum.py --model_name_or_path Qwen/Qwen2.5-1.5B-Instruct \
    --dataset_name 'runs/parity-*.jsonl' --output_dir runs/trl --max_steps 100
"""

import trl
from datasets import load_dataset

from stepladder.posttrain import Curriculum, CurriculumTrainer
from stepladder.tasks.format import Blocks, read_blocks

parser = trl.TrlParser((trl.ScriptArguments, trl.GRPOConfig, trl.ModelConfig))
script, args, model = parser.parse_args_and_config()


def reward(completions, answer, **columns):
    """Return 1 for the right answer in its block."""
    blocks = [read_blocks(completion) for completion in completions]
    said = [found.answer.strip() if isinstance(found, Blocks) else "" for found in blocks]
    return [float(text == str(right)) for text, right in zip(said, answer, strict=True)]


trainer = CurriculumTrainer(
    model=model.model_name_or_path,
    reward_funcs=reward,
    args=args,
    curriculum=Curriculum(levels="e2h_window"),
    train_dataset=load_dataset("json", data_files=script.dataset_name, split="train"),
)
trainer.train()
