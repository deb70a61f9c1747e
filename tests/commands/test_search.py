"""Promises of `stepladder search`, and of `stepladder complexity` for bai and ltar."""

import json

import pytest
import yaml

from stepladder import cli
from stepladder.commands import search

KEYS = {"identified", "t_data", "t_comp", "accuracy"}
"""What the interface promises; more keys may come with them."""


@pytest.fixture
def run(capsys):
    """Run a command in this process; return its exit code, stdout and stderr."""

    def call(*arguments):
        code = 0
        try:
            cli.main(list(arguments))
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def answer(run):
    """Run a command with --json; return the one object it prints."""

    def call(*arguments):
        code, out, err = run(*arguments, "--json")
        assert code == 0, err
        assert out.count("\n") == 1
        return json.loads(out)

    return call


# ---- JSON


@pytest.mark.parametrize("method", ["bai", "ltar"])
def test_json_has_the_promised_keys_and_one_accuracy_for_each_trial(answer, method):
    result = answer("search", "--method", method, "--per-arm", "11", "--trials", "7")
    assert result.keys() >= KEYS
    assert set(result["accuracy"]) == {"mean", "sem", "values"}
    assert len(result["accuracy"]["values"]) == 7
    assert result["accuracy"]["mean"] == pytest.approx(sum(result["accuracy"]["values"]) / 7)
    assert result["t_comp"] > result["t_data"] > 0
    assert result["method"] == method


def test_the_example_of_the_interface_identifies_the_secret(answer):
    result = answer("search", "--method", "ltar", "--d", "8", "--secret", "0,1,2", "--per-arm", "40")
    assert result["identified"] == [0, 1, 2]
    assert result["t_data"] == 40 * 29
    assert result["accuracy"]["mean"] == 1
    assert result["correct"] == result["complete"] == 1
    assert result["index_accuracy"] == [1, 1, 1, 1]


def test_the_same_seed_prints_the_same_and_another_seed_does_not(run):
    arguments = ("search", "--method", "bai", "--d", "5", "--secret", "0,1", "--per-arm", "50", "--json")
    assert run(*arguments, "--seed", "3") == run(*arguments, "--seed", "3")
    assert run(*arguments, "--seed", "3") != run(*arguments, "--seed", "4")


def test_the_first_searchs_estimates_are_listed_arm_by_arm(answer):
    result = answer("search", "--d", "4", "--secret", "1", "--per-arm", "30", "--trials", "1")
    arms = result["depths"][0]
    assert [arm["pick"] for arm in arms] == [0, 1, 2, 3]
    for arm in arms:
        assert arm["queries"] == 30
        assert 0 <= arm["low"] <= arm["accepted"] <= arm["high"] <= 1
    assert arms[1]["accepted"] == 1


def test_rollout_agrees_with_counts_on_what_is_not_random(answer):
    options = ("search", "--d", "5", "--secret", "1,3", "--per-arm", "40", "--trials", "3")
    counted, rolled = answer(*options), answer(*options, "--engine", "rollout")
    assert counted["identified"] == rolled["identified"] == [1, 3]
    assert counted["t_data"] == rolled["t_data"]
    assert rolled["engine"] == "rollout"


@pytest.mark.parametrize(
    ("options", "rule"),
    [((), "adaptive"), (("--per-arm", "5"), "fixed"), (("--rule", "paper"), "fixed")],
)
def test_the_rule_is_adaptive_unless_a_number_or_another_rule_is_given(answer, options, rule):
    assert answer("search", "--d", "4", "--secret", "1", *options)["rule"] == rule


def test_the_papers_rule_asks_the_papers_number_of_every_arm(answer):
    result = answer("search", "--rule", "paper", "--trials", "2")
    assert result["per_arm"] == [1122] * 4
    assert result["t_data"] == 1122 * 29


@pytest.mark.parametrize(
    ("task", "d", "secret"), [("recall", "4", "2,0"), ("countdown", "3", "1,8"), ("sum", "4", "0,2")]
)
def test_other_tasks_are_searched_by_rolling_out(answer, task, d, secret):
    result = answer(
        "search", "--task", task, "--d", d, "--secret", secret, "--engine", "rollout", "--trials", "2"
    )
    assert result["identified"] == [int(pick) for pick in secret.split(",")]


def test_a_search_over_budget_has_no_path_and_says_so(answer, run):
    options = ("search", "--max-queries", "1", "--trials", "3")
    result = answer(*options)
    assert result["identified"] is None
    assert result["complete"] == result["correct"] == 0
    assert result["t_data"] <= 1
    code, out, _ = run(*options)
    assert code == 0
    assert "3 of 3 searches: stopped at depth 1 before one pick stood out" in out


def test_a_token_limit_stops_a_search_too(answer):
    result = answer("search", "--per-arm", "30", "--max-tokens", "100", "--trials", "5")
    assert result["identified"] is None
    assert result["t_data"] == 240


def test_a_path_that_was_drawn_by_lot_is_marked_as_such(run):
    # One pull per arm: nearly every depth ends in a tie.
    options = ("search", "--per-arm", "1", "--trials", "20")
    code, out, _ = run(*options)
    assert code == 0
    assert "drawn by lot" in out
    _, out, _ = run(*options, "--json")
    assert "drawn by lot" in out, "the JSON result names a path without a word about the tie"


def test_the_table_shows_path_queries_tokens_and_accuracy(run):
    code, out, err = run("search", "--per-arm", "40", "--trials", "5")
    assert code == 0
    assert err == ""
    for words in ("[0,1,2]", "5 of 5", "T_data", "1,160", "T_comp", "1.0000", "depth 4 correct"):
        assert words in out


# ---- bad input


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--delta", "0"), ("--delta", "between 0 and 1")),
        (("--delta", "1"), ("--delta", "between 0 and 1")),
        (("--delta", "-3"), ("--delta", "between 0 and 1")),
        (("--delta", "nan"), ("--delta", "between 0 and 1")),
        (("--per-arm", "0"), ("--per-arm", "between 1 and")),
        (("--per-arm", "3", "--rule", "paper"), ("--per-arm", "--rule fixed")),
        (("--rule", "fixed"), ("--rule", "--per-arm")),
        (("--match", "value"), ("--match", "--engine rollout")),
        (("--max-queries", "0"), ("--max-queries", "between 1 and")),
        (("--max-tokens", "-1"), ("--max-tokens", "between 1 and")),
        (("--trials", "0"), ("--trials", "between 1 and")),
        (("--seed", "-1"), ("--seed", "at least 0")),
        (("--task", "recall", "--secret", "0,1"), ("--task", "rollout")),
        (("--task", "parity", "--alphabet", "3"), ("--alphabet", "sum")),
        (("--task", "markov", "--d", "3", "--secret", "0,1", "--engine", "rollout"), ("--rule", "tells")),
        (("--secret", "2,1"), ("--secret", "goes back")),
        (("--secret", "0,9"), ("--secret", "outside 0..7")),
        (("--secret", "x"), ("--secret", "whole numbers")),
        (("--secret", ""), ("--secret", "is empty")),
        (("--d", "0"), ("--d", "between 1 and")),
        (("--method", "best"), ("--method", "bai", "ltar")),
        (("--engine", "exact"), ("--engine", "counts", "rollout")),
        (("--nonsense", "1"), ("nonsense",)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_bad_input_is_one_line_that_names_the_option_with_exit_2_and_nothing_written(
    run, tmp_path, options, words
):
    folder = tmp_path / "run"
    code, out, err = run("search", *options, "--out", str(folder))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("stepladder: search: ")
    for word in words:
        assert word in err
    assert not folder.exists()


def test_an_impossible_adaptive_search_blames_no_option_that_was_not_given(run):
    # The patience of the adaptive rule comes from the paper's number, 64^10 log(640) here.
    code, _, err = run("search", "--method", "bai", "--d", "64", "--secret", "0,1,2,3,4")
    assert code == 2
    assert err.count("\n") == 1
    assert "--per-arm" not in err


def test_an_out_that_is_a_file_is_refused(run, tmp_path):
    (tmp_path / "taken").write_text("mine")
    code, _, err = run("search", "--per-arm", "3", "--out", str(tmp_path / "taken"))
    assert code == 2
    assert err.count("\n") == 1
    assert "--out" in err
    assert (tmp_path / "taken").read_text() == "mine"


def test_an_interrupted_search_exits_130_and_leaves_no_file(run, tmp_path, monkeypatch):
    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(search, "search_figure", interrupted)
    code, out, err = run("search", "--per-arm", "3", "--out", str(tmp_path / "run"))
    assert code == 130
    assert out == ""
    assert "interrupted" in err
    assert not (tmp_path / "run").exists()


# ---- files


@pytest.mark.parametrize("engine", ["counts", "rollout"])
def test_out_writes_the_options_the_results_and_the_figure(answer, tmp_path, engine):
    folder = tmp_path / "deep" / "run"
    options = ("--d", "4", "--secret", "1", "--trials", "4", "--engine", engine, "--seed", "5")
    result = answer("search", *options, "--out", str(folder))
    written = {path.name for path in folder.iterdir()}
    assert written == {"config.yaml", "results.json", "search.png", "search.svg"}
    stored = json.loads((folder / "results.json").read_text())
    assert stored == result
    assert bool(stored["curve"]) == (engine == "counts")
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert (config["method"], config["d"], config["secret"], config["seed"]) == ("ltar", 4, "1", 5)
    assert (folder / "search.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "search.svg").read_text().startswith("<?xml")


def test_the_curve_rises_with_the_queries_to_certainty(answer, tmp_path):
    curve = answer("search", "--d", "4", "--secret", "1", "--out", str(tmp_path))["curve"]
    queries = [point["queries"] for point in curve]
    assert queries == sorted(queries)
    assert curve[0]["accuracy"] < 0.9
    assert curve[-1]["accuracy"] > 0.9999


def test_the_same_seed_writes_the_same_bytes(answer, tmp_path):
    for name in ("one", "two"):
        answer("search", "--d", "4", "--secret", "1", "--out", str(tmp_path / name))
    for name in ("results.json", "search.png", "search.svg"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()


# ---- complexity


@pytest.mark.parametrize("method", ["bai", "ltar"])
def test_complexity_gives_a_point_for_each_d_and_the_exponents(answer, method):
    result = answer(
        "complexity", "--method", method, "--d", "4,8", "--k", "2", "--trials", "100", "--sweeps", "3"
    )
    assert [(point["d"], point["k"]) for point in result["points"]] == [(4, 2), (8, 2)]
    for point, arms in zip(result["points"], (4 + 4 + 3, 8 + 8 + 7), strict=True):
        assert point["total_samples"] == point["queries_per_arm"] * arms
        assert point["samples_per_stage"] == round(point["total_samples"] / 3)
        assert point["tokens"] > point["total_samples"]
    for exponent in (result["exponent"], result["token_exponent"]):
        assert exponent["low"] <= exponent["value"] <= exponent["high"]
    assert result["exponent"]["value"] < result["token_exponent"]["value"]


def test_complexity_takes_another_secret_and_it_is_easier_than_the_first_positions(answer):
    def total(*options):
        asked = ("complexity", "--method", "bai", "--d", "8", "--trials", "100", "--sweeps", "2", *options)
        return answer(*asked)["points"][0]["total_samples"]

    assert total("--secret", "4,6") < total("--k", "2") / 4


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--d", "8,x"), "--d"),
        (("--k", "9"), "k"),
        (("--target", "1"), "--target"),
        (("--task", "recall"), "recall"),
    ],
    ids=str,
)
def test_complexity_refuses_bad_input_in_one_line(run, tmp_path, options, word):
    folder = tmp_path / "run"
    code, out, err = run("complexity", "--method", "ltar", "--d", "8", *options, "--out", str(folder))
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert word in err
    assert not folder.exists()
