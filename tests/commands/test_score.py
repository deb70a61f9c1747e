"""`stepladder score`: a verdict for every completion of a file, real rows and broken ones."""

import json
import re
from pathlib import Path

import pytest

from stepladder.tasks.catalogue import build_task
from stepladder.tasks.format import ASSISTANT_PREFIX
from stepladder.tasks.rows import write_rows

REAL = Path(__file__).parents[2].parent / "shared" / "data"
needs_real_rows = pytest.mark.skipif(not REAL.exists(), reason="the real rows are not here")

RIGHT = "so</think>\n<answer>(76 - 47) + 55 - 60</answer>"
ROW = {"id": "one", "question": [47, 76, 55, 60], "answer": 24, "level": 1, "solution": [], "completion": RIGHT}


@pytest.fixture
def score(run, tmp_path):
    """Score rows by the command, and return its JSON."""

    def judged(task, rows, *options):
        path = tmp_path / "completions.jsonl"
        write_rows(path, rows)
        outcome = run("score", task, path, *options, "--json")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.count("\n") == 1
        return json.loads(outcome.out)

    return judged


def real(name):
    return [json.loads(line) for line in (REAL / f"{name}.jsonl").read_text().splitlines()]


def completed(steps, answer):
    return "\n".join(["", *(step.strip() for step in steps), f"</think>\n<answer>{answer}</answer>"])


# ---- the real rows


def countdown_rows(answer=lambda row: row["answer"]):
    return [
        {
            "id": row["id"],
            "question": row["numbers"],
            "answer": row["target"],
            "level": len(row["numbers"]) - 3,
            "solution": row["steps"],
            "completion": completed(row["steps"], answer(row)),
        }
        for row in real("countdown")
    ]


def blocksworld_rows(plan=lambda row: row["plan"]):
    return [
        {
            "id": row["id"],
            "question": row["initial"],
            "answer": row["goal"],
            "solution": row["plan"],
            "completion": completed([], "\n".join(plan(row))),
        }
        for row in real("blocksworld")
    ]


def math_rows(answer=lambda row: row["answer"]):
    return [
        {
            "id": row["id"],
            "question": row["problem"],
            "answer": row["answer"],
            "level": row["level"],
            "solution": row["steps"],
            "completion": completed(row["steps"], f"\\boxed{{{answer(row)}}}"),
        }
        for row in real("math")
    ]


@needs_real_rows
@pytest.mark.parametrize(
    ("task", "rows", "count", "reward"),
    [
        ("countdown", countdown_rows, 512, 1),
        ("blocksworld", blocksworld_rows, 120, 3),
        ("math", math_rows, 512, 1),
    ],
    ids=["countdown", "blocksworld", "math"],
)
def test_every_real_row_is_correct(score, task, rows, count, reward):
    found = score(task, rows())
    assert [row["id"] for row in found["rows"]] == [row["id"] for row in real(task)]
    assert all(row["correct"] and row["format_ok"] and row["why"] == "" for row in found["rows"])
    assert {row["reward"] for row in found["rows"]} == {reward}
    assert found["summary"]["correct"] == found["summary"]["rows"] == count


def with_one_number_changed(row):
    number = re.search(r"\d+", row["answer"])
    return row["answer"].replace(number[0], str(int(number[0]) + 1), 1)


def all_incorrect(found, count, reward):
    assert len(found["rows"]) == count
    for row in found["rows"]:
        assert (row["correct"], row["format_ok"], row["reward"]) == (False, True, reward), row
        assert row["why"]


@needs_real_rows
def test_a_real_equation_with_a_number_changed_is_incorrect(score):
    all_incorrect(score("countdown", countdown_rows(with_one_number_changed)), 512, 0.1)


@needs_real_rows
def test_a_real_problem_with_a_number_changed_makes_its_equation_incorrect(score):
    rows = [row | {"question": [row["question"][0] + 1, *row["question"][1:]]} for row in countdown_rows()]
    all_incorrect(score("countdown", rows), 512, 0.1)
    rows = [row | {"answer": row["answer"] + 1} for row in countdown_rows()]
    all_incorrect(score("countdown", rows), 512, 0.1)


@needs_real_rows
@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_real_plan_without_one_of_its_actions_is_incorrect(score, place):
    def dropped(row):
        plan = list(row["plan"])
        del plan[place]
        return plan

    all_incorrect(score("blocksworld", blocksworld_rows(dropped)), 120, 1)


def altered(row):
    """Change the first digit, or else the first letter of the last word."""
    answer = row["answer"]
    if digit := re.search(r"\d", answer):
        return answer[: digit.start()] + str((int(digit[0]) + 1) % 10) + answer[digit.end() :]
    *_, word = re.finditer(r"[A-Za-z]+", answer)
    return answer[: word.start()] + ("Q" if word[0][0] != "Q" else "W") + answer[word.start() + 1 :]


@needs_real_rows
def test_a_real_answer_that_is_altered_is_incorrect(score):
    all_incorrect(score("math", math_rows(altered)), 512, 0.1)


# ---- completions of every form


@pytest.mark.parametrize(
    "completion",
    [
        RIGHT,
        f"<think>{RIGHT}",
        f"\n <think>{RIGHT}\n",
        ASSISTANT_PREFIX + RIGHT,
        [{"role": "assistant", "content": RIGHT}],
        [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": ASSISTANT_PREFIX + RIGHT}],
    ],
    ids=["continued", "tag repeated", "tag with space", "prefix repeated", "chat", "chat of two"],
)
@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_plain_and_conversational_completions_are_accepted(run, tmp_path, kind, completion):
    path = tmp_path / f"rows.{kind}"
    write_rows(path, [ROW | {"completion": completion, "solution": ["76 - 47 = 29"]}])
    outcome = run("score", "countdown", path, "--json")
    assert json.loads(outcome.out)["rows"] == [
        {"id": "one", "format_ok": True, "correct": True, "reward": 1.0, "why": ""}
    ]


def test_hostile_completions_are_scored_like_any_other(score):
    code = "</think><answer>__import__('os')</answer>"
    texts = ["", "\x00\ud800", "9**9**9", "(" * 10**5, "<think>" * 1000, code, "a" * 10**6]
    found = score("countdown", [ROW | {"completion": text} for text in texts])
    assert found["summary"]["correct"] == 0
    assert all(row["why"] for row in found["rows"])


# ---- what is printed


def test_the_summary_adds_up(score):
    wrong = "</think><answer>1</answer>"
    found = score("countdown", [ROW, ROW | {"completion": wrong}, ROW | {"completion": "no"}])
    summary = found["summary"]
    assert (summary["rows"], summary["format_ok"], summary["correct"]) == (3, 2, 1)
    assert summary["mean_reward"] == pytest.approx(1.1 / 3)
    rate = summary["correct_rate"]
    assert rate["value"] == pytest.approx(1 / 3)
    assert 0 < rate["low"] < 1 / 3 < rate["high"] < 1
    assert "exact_path" not in summary


def test_the_table_has_a_line_for_each_level_and_reasons_follow(run, tmp_path):
    path = tmp_path / "rows.jsonl"
    easy = {"question": [2, 3, 4], "answer": 9, "level": 0, "completion": "</think><answer>2+3</answer>"}
    write_rows(path, [easy, ROW, ROW | {"id": "two", "completion": "no"}])
    outcome = run("score", "countdown", path)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in lines if line.startswith("│")]
    assert [row[:4] for row in cells] == [["0", "1", "1", "0"], ["1", "2", "1", "1"], ["all", "3", "2", "1"]]
    assert lines[-2:] == [
        "row-1: the numbers used are 2, 3; each of 2, 3, 4 must be used once",
        "two: </think> is missing",
    ]


def test_chains_are_scored_with_their_exact_path(score):
    task = build_task("parity")
    problem = task.generate(5, 0)
    lucky = [f"x{i} -> {task.running_value(problem.question, range(i + 1))}" for i in range(5)]
    value = task.running_value(problem.question, range(5))
    rows = [
        problem.row() | {"completion": task.teacher_completion(problem)},
        problem.row() | {"completion": completed([*lucky, "end"], value)},
    ]
    found = score("parity", rows)
    assert [row["exact_path"] for row in found["rows"]] == [True, False]
    assert found["rows"][1]["correct"] == (value == problem.answer)
    assert found["summary"]["exact_path"] == 1


def test_the_secret_of_a_chain_is_an_option(score, refused, tmp_path):
    rows = [{"question": [1, 2, 2], "answer": 4, "completion": completed(["x1 -> 2", "x2 -> 4", "end"], 4)}]
    options = ("--d", 3, "--alphabet", 5, "--secret")
    found = score("sum", rows, *options, "1,2")
    assert found["rows"][0]["exact_path"]
    message = refused("score", "sum", tmp_path / "completions.jsonl", *options, "0,2")
    assert "line 1: answer must be 3 for the secret [0, 2], got 4" in message


@pytest.mark.parametrize("odd", [None, 7, "\ud800\n[bold]", ""])
def test_any_id_can_be_printed(run, tmp_path, odd):
    path = tmp_path / "rows.jsonl"
    write_rows(path, [ROW | {"id": odd, "completion": "no"}])
    outcome = run("score", "countdown", path)
    assert outcome.code == 0
    shown = {None: "row-1", 7: "7", "": "", "\ud800\n[bold]": "??[bold]"}[odd]
    assert outcome.out.splitlines()[-1] == f"{shown}: </think> is missing"
    assert run("score", "countdown", path, "--json").code == 0


# ---- bad files


GOOD = json.dumps(ROW)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "rows.jsonl has no rows; each needs question, answer and completion"),
        (f"{GOOD}\n{{\n", "rows.jsonl, line 2: not JSON: "),
        (f"{GOOD}\n[]\n", "rows.jsonl, line 2: a row must be an object with columns, got []"),
        (GOOD.replace('"answer"', '"anser"'), "rows.jsonl, line 1: the row has no answer"),
        (f"\n{GOOD}\n" + GOOD.replace(" 24,", " null,"), "rows.jsonl, line 3: the row has no answer"),
        (GOOD.replace('"level": 1', '"level": 8'), "line 1: level must be 0 to 4 for countdown, got 8"),
        (GOOD.replace('"completion"', '"complete"'), "rows.jsonl, line 1: the row has no completion"),
        (json.dumps(ROW | {"completion": 5}), "line 1: completion must be text or chat messages, got 5"),
        (json.dumps(ROW | {"completion": None}), "completion must be text or chat messages, got None"),
    ],
    ids=lambda value: value[-40:],
)
def test_a_bad_file_is_refused_in_one_line_that_names_its_line(refused, tmp_path, text, message):
    path = tmp_path / "rows.jsonl"
    path.write_text(text)
    for options in ((), ("--json",)):
        assert message in refused("score", "countdown", path, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("countdown", "absent.jsonl"), "absent.jsonl cannot be read: No such file"),
        (("countdown", "rows.csv"), "rows.csv must be a .jsonl or .parquet file"),
        (("chess", "rows.jsonl"), "chess"),
        (("countdown", "rows.jsonl", "--d", 3), "--d is not an option of countdown"),
        (("parity", "rows.jsonl", "--d", 0), "--d must be between 1 and 4,096, got 0"),
        (("countdown", "rows.jsonl", "--seed", -1), "--seed must be at least 0, got -1"),
        (("countdown",), "file"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_options_are_refused_in_one_line(refused, arguments, message):
    assert message.lower() in refused("score", *arguments).lower()
