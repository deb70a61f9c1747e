"""What all tasks share: levels as people write them, and a prompt whose assistant turn stays open."""

import pytest

from stepladder.errors import InputError
from stepladder.tasks.countdown import Countdown
from stepladder.tasks.format import ASSISTANT_PREFIX
from stepladder.tasks.task import Prompt, column, steps_of


class Template:
    """A tokenizer as far as a prompt needs one."""

    def __init__(self, chat_template: str | None = "{...}") -> None:
        self.chat_template = chat_template

    def apply_chat_template(self, conversation, *, tokenize, add_generation_prompt):
        assert not tokenize
        turns = "".join(f"<{message['role']}>{message['content']}</s>" for message in conversation)
        return turns + "<assistant>" * add_generation_prompt


def test_the_assistants_turn_is_open_and_begins_with_the_prefix_and_the_hint():
    text = Prompt("Be brief.", "1 + 1?").text(Template(), "\n1 + 1")
    assert text == f"<system>Be brief.</s><user>1 + 1?</s><assistant>{ASSISTANT_PREFIX}\n1 + 1"


def test_a_tokenizer_without_a_chat_template_is_refused():
    with pytest.raises(InputError, match="model has no chat template"):
        Prompt("", "").text(Template(None))


@pytest.mark.parametrize("level", [2, "2", "Level 2", 2.0])
def test_a_level_may_be_written_in_several_ways(level):
    assert Countdown().check_level(level) == 2


@pytest.mark.parametrize("level", [None, True, 2.5, "two", "", "Level", "٢", "9" * 50, float("nan"), [2], -1])
def test_anything_else_is_no_level(level):
    with pytest.raises(InputError, match="level must be 0 to 4 for countdown, got"):
        Countdown().check_level(level)


def test_a_column_may_have_several_names_and_a_zero_is_not_empty():
    assert column({"a": None, "b": 0}, "a", "b") == 0
    with pytest.raises(InputError, match="the row has no a or b"):
        column({"a": "", "b": []}, "a", "b")


def test_the_solution_is_a_list_of_texts_one_text_or_none():
    assert steps_of({}) == steps_of({"solution": None}) == steps_of({"solution": []}) == ()
    assert steps_of({"solution": "all"}) == ("all",)
    for wrong in (5, [1], [None]):
        with pytest.raises(InputError, match="solution must be a list of texts, got"):
            steps_of({"solution": wrong})
