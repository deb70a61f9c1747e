"""`stepladder report`: the page again, from a run's data alone."""

import json

import pytest

from stepladder.report.reproduction_page import build_page
from stepladder.reproduce.run import FIGURES
from stepladder.reproduce.scale import Scale
from stepladder.scaling import Log

ABOUT = {"run": {"python": "3.11"}, "speed": "Fast."}


@pytest.fixture
def finished(tmp_path):
    """A run's folder without its page."""
    chart = FIGURES["margins"](Scale(4, 3, 16, 16, 2), 0, Log(None))
    results = {"quick": True, "seed": 0, "figures": {"margins": chart.to_json()}}
    (tmp_path / "results.json").write_text(json.dumps(results))
    (tmp_path / "run.json").write_text(json.dumps(ABOUT))
    return tmp_path


def test_the_page_is_built_again_from_the_data_alone(run, finished):
    outcome = run("report", finished)
    assert outcome == (0, f"wrote {finished / 'report.html'}\n", "")
    first = (finished / "report.html").read_bytes()
    results = json.loads((finished / "results.json").read_text())
    assert first.decode() == build_page(results, ABOUT)
    (finished / "report.html").write_text("spoiled")
    run("report", finished)
    assert (finished / "report.html").read_bytes() == first
    assert sorted(path.name for path in finished.iterdir()) == ["report.html", "results.json", "run.json"]


def test_json_is_one_object_that_names_the_page(run, finished):
    outcome = run("report", finished, "--json")
    assert json.loads(outcome.out) == {"report": str(finished / "report.html")}


def test_a_run_without_its_description_still_has_a_page(run, finished):
    (finished / "run.json").unlink()
    assert run("report", finished).code == 0
    assert "Fast." not in (finished / "report.html").read_text()


def test_a_folder_without_results_is_refused_and_stays_as_it_was(refused, tmp_path):
    line = refused("report", tmp_path)
    assert "holds no results.json" in line
    assert "stepladder reproduce --out" in line
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_does_not_exist_is_refused_and_not_made(refused, tmp_path):
    refused("report", tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["results.json", "run.json"])
def test_a_file_cut_short_is_refused_by_its_name_and_the_old_page_stays(refused, run, finished, name):
    run("report", finished)
    page = (finished / "report.html").read_bytes()
    (finished / name).write_text('{"quick": tr')
    assert name in refused("report", finished)
    assert (finished / "report.html").read_bytes() == page


def test_results_of_another_command_are_refused(refused, run, tmp_path):
    run("search", "--method", "ltar", "--per-arm", "5", "--trials", "2", "--out", tmp_path)
    assert "results.json" in refused("report", tmp_path)
    assert not (tmp_path / "report.html").exists()


def test_the_folder_has_to_be_named(refused):
    assert "folder" in refused("report").lower()


def test_a_folder_whose_name_looks_like_markup_is_named_as_it_is(run, finished):
    odd = finished / "x[a] [" / "b]"
    odd.mkdir(parents=True)
    (odd / "results.json").write_text((finished / "results.json").read_text())
    assert run("report", odd) == (0, f"wrote {odd / 'report.html'}\n", "")


BROKEN = [{"figures": []}, {"figures": {"a": {}}}, {"published": [{"method": "bai"}]}]


@pytest.mark.parametrize("results", BROKEN)
def test_results_of_another_shape_are_refused(refused, finished, results):
    whole = {"quick": True, "seed": 0, "figures": {}} | results
    (finished / "results.json").write_text(json.dumps(whole))
    assert "is not of `stepladder reproduce`" in refused("report", finished)
