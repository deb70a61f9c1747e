"""`stepladder tree`: the picture twice, the text, or one JSON object."""

import json

import pytest


def test_both_pictures_are_written_with_the_same_bytes_every_time(run, tmp_path):
    for name in ("one", "two"):
        assert run("tree", "--secret", "0,2", "--out", tmp_path / name).code == 0
    for suffix in ("png", "svg"):
        one, two = (tmp_path / name / f"tree.{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes()
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == ["tree.png", "tree.svg"]
    assert (tmp_path / "one" / "tree.png").read_bytes().startswith(b"\x89PNG")
    assert b"</svg>" in (tmp_path / "one" / "tree.svg").read_bytes()


def test_the_text_shows_the_tree_and_how_rare_each_subtask_is(run):
    outcome = run("tree", "--d", "3", "--secret", "0,2")
    assert (outcome.code, outcome.err) == (0, "")
    assert "← target" in outcome.out
    assert "illegal: EOS" in outcome.out
    # P(0) = 1/3 * 1/3 and P(0,2) = 1/3 * 1/3 * 1/1, EOS included.
    assert outcome.out.count("1/9") == 2
    assert "[0,2,3]" in outcome.out


def test_without_out_nothing_is_written(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("tree").code == 0
    assert list(tmp_path.iterdir()) == []


def test_json_names_the_files_that_were_written(run, tmp_path):
    outcome = run("tree", "--d", 2, "--json", "--out", tmp_path)
    assert json.loads(outcome.out)["files"] == [str(tmp_path / "tree.png"), str(tmp_path / "tree.svg")]
    assert json.loads(outcome.out)["target"] is None


def test_json_is_one_object_with_the_targets_difficulty(run):
    outcome = run("tree", "--d", "8", "--secret", "0,1,2", "--json")
    assert outcome.code == 0
    assert outcome.out.count("\n") == 1
    found = json.loads(outcome.out)
    assert found["target"]["secret"] == [0, 1, 2]
    assert found["target"]["branching"] == [8, 8, 7, 6]
    assert found["target"]["success_probability"] == pytest.approx([1 / 64, 1 / 448, 1 / 2688])
    assert found["target"]["coverage"] == [64, 448, 2688]
    assert found["target"]["spurious_rate"] == [0.5, 0.5, 0.5]
    assert found["files"] == []


@pytest.mark.parametrize("task", ["parity", "sum", "countdown", "markov", "recall", "causal", "translation"])
def test_every_task_can_be_drawn(run, task):
    assert run("tree", "--task", task, "--d", "2", "--json").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--depth", 9), "--depth must be between 1 and 4, got 9"),
        (("--d", 50, "--depth", 3), "--depth 3 would draw more than 400 nodes; use at most 1"),
        (("--d", 0), "--d must be between 1 and 4,096, got 0"),
        (("--d", 4000), "--d of 4000 cannot be drawn readably; use a smaller one"),
        (("--secret", "0,9"), "--secret [0,9] picks position 9, outside 0..2"),
        (("--secret", "2,1"), "--secret [2,1] goes back from position 2 to 1"),
        (("--secret", "one"), "--secret must be whole numbers"),
        (("--secret", ""), "--secret is empty; give a value"),
        (("--task", "chess"), "--task"),
        (("--alphabet", 3), "--alphabet of parity is 2, got 3"),
        (("--seed", -1), "--seed must be at least 0, got -1"),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, tuple) else "",
)
def test_bad_input_is_refused_by_the_name_of_its_option_and_nothing_is_written(
    refused, tmp_path, arguments, message
):
    assert message in refused("tree", *arguments, "--out", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_out_that_cannot_hold_files_is_refused_in_one_line(refused, tmp_path):
    (tmp_path / "file").write_text("")
    assert "--out" in refused("tree", "--out", tmp_path / "file")
    (tmp_path / "taken" / "tree.png").mkdir(parents=True)
    assert "tree.png" in refused("tree", "--out", tmp_path / "taken")
