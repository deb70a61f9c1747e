"""`stepladder reproduce`: the files of a run, one JSON object, and one line for what cannot be."""

import json
import time

import pytest

from stepladder.commands import reproduce as command
from stepladder.reproduce import run as machinery
from stepladder.reproduce.scale import Scale

FAST = ("query-index", "margins")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A handful of trials, and placeholders for the pictures."""
    for name in ("QUICK", "FULL"):
        monkeypatch.setattr(machinery, name, Scale(4, 3, 16, 16, 2))
    monkeypatch.setattr(machinery, "draw_chart", lambda chart: chart.name)
    monkeypatch.setattr(machinery, "render", lambda figure, suffix: f"{figure} as {suffix}".encode())


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_run_writes_results_data_pictures_and_the_page(run, tmp_path):
    outcome = run("reproduce", *FAST, "--quick", "--out", tmp_path)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[-1] == f"open {tmp_path / 'report.html'}"
    assert "2 figures in" in outcome.out
    assert files(tmp_path) == sorted(
        ["report.html", "results.json", "run.json"]
        + [name for figure in FAST for name in (f"data/{figure}.json", f"{figure}.png", f"{figure}.svg")]
    )


def test_json_is_one_object_that_says_what_was_made(run, tmp_path):
    outcome = run("reproduce", *FAST, "--quick", "--out", tmp_path, "--json")
    assert outcome.err == ""
    assert json.loads(outcome.out) == {
        "out": str(tmp_path),
        "report": str(tmp_path / "report.html"),
        "made": list(FAST),
        "quick": True,
    }


def test_names_may_be_separated_by_commas(run, tmp_path):
    spaces, commas = (tmp_path / name for name in ("spaces", "commas"))
    run("reproduce", *FAST, "--quick", "--out", spaces)
    assert run("reproduce", ",".join(FAST), "--quick", "--out", commas).code == 0
    assert (spaces / "results.json").read_bytes() == (commas / "results.json").read_bytes()


def test_the_same_command_gives_the_same_bytes_and_another_seed_does_not(run, tmp_path):
    def results(folder, seed):
        run("reproduce", *FAST, "--quick", "--seed", seed, "--out", tmp_path / folder)
        return (tmp_path / folder / "results.json").read_bytes()

    first = results("one", 0)
    assert first == results("two", 0)
    assert first == results("one", 0)
    assert first != results("one", 5)
    assert first == results("one", 0)


def test_only_what_was_asked_for_is_in_the_results(run, tmp_path):
    run("reproduce", "margins", "--quick", "--out", tmp_path)
    results = json.loads((tmp_path / "results.json").read_text())
    assert list(results) == ["quick", "seed", "figures"]
    assert list(results["figures"]) == ["margins"]


def test_the_table_is_printed_with_a_verdict_in_words_for_every_row(run, tmp_path, monkeypatch):
    rows = [
        {"setting": "d = 8, k = 3", "method": "bai", "unit": "total queries", "published": 251410},
        {"setting": "d = 16, k = 2", "method": "ltar", "unit": "queries per arm", "published": 5},
    ]
    rows = [
        {
            **row,
            "fixed_n": 9,
            "first_hit": 3,
            "first_hit_range": [1, 5],
            "verdict": f"verdict on {row['method']}",
        }
        for row in rows
    ]
    monkeypatch.setattr(machinery, "published_table", lambda scale, seed, log: rows)
    outcome = run("reproduce", "published", "--quick", "--out", tmp_path)
    assert outcome.out.splitlines()[:4] == [
        "d = 8, k = 3  bai: published 251,410 total queries",
        "    verdict on bai",
        "d = 16, k = 2  ltar: published 5 queries per arm",
        "    verdict on ltar",
    ]
    assert json.loads((tmp_path / "results.json").read_text())["published"] == rows
    asked = run("reproduce", "published", "--quick", "--out", tmp_path, "--json")
    assert json.loads(asked.out)["made"] == ["published"]


def test_the_run_is_described_beside_the_results_and_not_in_them(run, tmp_path):
    run("reproduce", *FAST, "--quick", "--seed", 4, "--out", tmp_path)
    about = json.loads((tmp_path / "run.json").read_text())["run"]
    assert about["options"] == "quick True, seed 4"
    for name in command.LIBRARIES:
        assert about[name]
    assert all(float(about[f"seconds, {figure}"]) >= 0 for figure in FAST)
    assert "seconds" not in (tmp_path / "results.json").read_text()


def test_the_speed_of_exact_counting_is_that_of_computing_and_not_of_reading_back(run, tmp_path, monkeypatch):
    def after(seconds, result):
        def slow(*arguments):
            time.sleep(seconds)
            return result(*arguments)

        return slow

    monkeypatch.setitem(machinery.FIGURES, "accuracy", after(0.8, machinery.FIGURES["margins"]))
    monkeypatch.setattr(machinery, "render", after(0.3, machinery.render))
    monkeypatch.setattr(command, "rollouts_per_second", lambda: 1000.0)

    def speed():
        run("reproduce", "accuracy", "--quick", "--out", tmp_path)
        return json.loads((tmp_path / "run.json").read_text()).get("speed")

    first = speed()
    assert "1,000 per second" in first
    # The second run only draws: how long that takes says nothing about exact counting.
    assert speed() in (None, first)


@pytest.mark.parametrize("names", [("everything",), ("margins", "everything"), ("margins,everything",)])
def test_an_unknown_figure_is_refused_with_the_known_ones_and_nothing_is_written(refused, tmp_path, names):
    line = refused("reproduce", *names, "--quick", "--out", tmp_path / "out")
    assert "'everything'" in line
    assert all(name in line for name in (*machinery.FIGURES, "published"))
    assert not (tmp_path / "out").exists()


def test_a_negative_seed_is_refused_and_nothing_is_written(refused, tmp_path):
    assert "--seed must be at least 0, got -1" in refused(
        "reproduce", "margins", "--seed", "-1", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


def test_an_out_that_is_a_file_is_refused(refused, tmp_path):
    (tmp_path / "file").write_text("mine")
    assert "--out" in refused("reproduce", "margins", "--quick", "--out", tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_help_names_every_figure(run):
    words = run("reproduce", "--help").out
    assert all(name in words for name in (*machinery.FIGURES, "published"))


def test_ctrl_c_leaves_what_is_finished_and_no_half_file(run, tmp_path, monkeypatch):
    def interrupted(scale, seed, log):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setitem(machinery.FIGURES, "margins", interrupted)
        outcome = run("reproduce", *FAST, "--quick", "--out", tmp_path)
    assert outcome.code == 130
    assert outcome.err == "stepladder reproduce: interrupted\n"
    assert files(tmp_path) == ["data/query-index.json", "query-index.png", "query-index.svg"]
    assert run("reproduce", *FAST, "--quick", "--out", tmp_path).code == 0
    whole = tmp_path / "whole"
    run("reproduce", *FAST, "--quick", "--out", whole)
    assert (tmp_path / "results.json").read_bytes() == (whole / "results.json").read_bytes()
