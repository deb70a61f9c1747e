"""A run that stops, however it stops, goes on where it was and ends with the same bytes."""

import json
from pathlib import Path

import pytest

from stepladder.finetune.complexity import FinetuneQuestion
from stepladder.reproduce import run

FIGURES = ("query-index", "secrets", "margins")
"""In the report's order. `secrets` keeps a log of evaluations, the others do not."""


class Killer:
    """Raises KeyboardInterrupt once, when its moment has come."""

    def __init__(self, calls=1):
        self.left = calls

    def strike(self):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def before_the_second_figure(monkeypatch):
    killer = Killer(calls=2)
    return lambda name, done, total: killer.strike()


def in_the_middle_of_a_figure(monkeypatch):
    killer, original = Killer(calls=40), FinetuneQuestion.accuracies

    def accuracies(self, *arguments, **more):
        killer.strike()
        return original(self, *arguments, **more)

    monkeypatch.setattr(FinetuneQuestion, "accuracies", accuracies)


def at_the_rename_of(name):
    def interrupt(monkeypatch):
        killer, original = Killer(), Path.replace

        def replace(self, target):
            if Path(target).name == name:
                killer.strike()
            return original(self, target)

        monkeypatch.setattr(Path, "replace", replace)

    return interrupt


MOMENTS = {
    "before the second figure": (before_the_second_figure, {"secrets", "margins"}),
    "in the middle of a figure": (in_the_middle_of_a_figure, {"secrets", "margins"}),
    "while data is written": (at_the_rename_of("secrets.json"), {"secrets", "margins"}),
    "while a picture is written": (at_the_rename_of("margins.svg"), set()),
    "while the results are written": (at_the_rename_of("results.json"), set()),
}


@pytest.mark.parametrize(("interrupt", "missing"), MOMENTS.values(), ids=MOMENTS)
def test_an_interrupted_run_leaves_no_half_file_and_ends_the_same_when_run_again(
    tmp_path, bytes_of, computed, monkeypatch, interrupt, missing
):
    expected = bytes_of(tmp_path / "whole", FIGURES)
    out = tmp_path / "interrupted"
    step = interrupt(monkeypatch)
    more = {} if step is None else {"step": step}
    with pytest.raises(KeyboardInterrupt):
        bytes_of(out, FIGURES, **more)
    files = [path for path in out.rglob("*") if path.is_file()]
    assert not [path for path in files if path.name.startswith(".")]
    assert out / "results.json" not in files
    for path in (out / "data").glob("*.json"):
        json.loads(path.read_text())

    computed.clear()
    assert bytes_of(out, FIGURES) == expected
    assert set(computed) == missing


def test_evaluations_made_before_an_interruption_are_not_made_again(tmp_path, bytes_of, monkeypatch):
    made = []
    original = FinetuneQuestion.accuracies

    def accuracies(self, *arguments, **more):
        made.append((self, *arguments))
        if len(made) == 40:
            raise KeyboardInterrupt
        return original(self, *arguments, **more)

    monkeypatch.setattr(FinetuneQuestion, "accuracies", accuracies)
    with pytest.raises(KeyboardInterrupt):
        bytes_of(tmp_path, ("secrets",))
    bytes_of(tmp_path, ("secrets",))
    before, after = made[:39], made[40:]
    assert after
    assert not [call for call in after if call in before]


@pytest.mark.parametrize("tail", ['{"key": "[', '{"key": 1}\n', "null\n", "\n"], ids=repr)
def test_a_log_line_cut_short_is_computed_again(tmp_path, bytes_of, tail):
    expected = bytes_of(tmp_path, ("secrets",))
    log = tmp_path / "data" / "evaluations.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[: len(lines) // 2]) + tail)
    (tmp_path / "data" / "secrets.json").unlink()
    assert bytes_of(tmp_path, ("secrets",)) == expected


def test_the_same_seed_gives_the_same_bytes_wherever_it_runs(tmp_path, bytes_of):
    one = bytes_of(tmp_path / "one", FIGURES)
    assert one == bytes_of(tmp_path / "deep" / "other", FIGURES)
    for name in FIGURES:
        first, second = (tmp_path / out / "data" / f"{name}.json" for out in ("one", "deep/other"))
        assert json.loads(first.read_text())["data"] == json.loads(second.read_text())["data"]


def test_a_finished_figure_is_read_back_and_not_computed_again(tmp_path, bytes_of, computed):
    first = bytes_of(tmp_path, ("query-index", "margins"))
    assert computed == ["query-index", "margins"]
    assert bytes_of(tmp_path, ("query-index", "margins")) == first
    assert computed == ["query-index", "margins"]
    more = json.loads(bytes_of(tmp_path, ("query-index", "attention-direct", "margins")))
    assert computed == ["query-index", "margins", "attention-direct"]
    assert more["figures"]["margins"] == json.loads(first)["figures"]["margins"]


def test_another_seed_computes_again_and_gives_other_results(tmp_path, bytes_of, computed):
    figures = ("query-index", "secrets")
    zero = bytes_of(tmp_path / "both", figures, seed=0)
    one = bytes_of(tmp_path / "both", figures, seed=1)
    assert computed == [*figures, *figures]
    assert json.loads(one)["seed"] == 1
    for name in figures:
        assert json.loads(one)["figures"][name] != json.loads(zero)["figures"][name]
    assert one == bytes_of(tmp_path / "fresh", figures, seed=1)
    # Back to the first seed: nothing of the second is left in the way.
    assert bytes_of(tmp_path / "both", figures, seed=0) == zero


def test_data_of_a_quick_run_is_not_taken_for_that_of_a_full_one(tmp_path, small, computed, monkeypatch, tiny):
    monkeypatch.setattr(run, "FULL", run.Scale(5, 3, 16, 16, 2))
    quick = run.reproduce(run.Reproduction(tmp_path, ("query-index",), quick=True))
    full = run.reproduce(run.Reproduction(tmp_path, ("query-index",)))
    assert computed == ["query-index", "query-index"]
    assert (quick["quick"], full["quick"]) == (True, False)
    assert f"{tiny.trials} searches" in quick["figures"]["query-index"]["caption"]
    assert "5 searches" in full["figures"]["query-index"]["caption"]


CORRUPT = {
    "empty": b"",
    "cut short": b'{"key": {"scale"',
    "not an object": b"[]",
    "a number": b"7",
    "not text": b"\xff\xfe\x00",
    "without a key": b'{"data": {}}',
}


@pytest.mark.parametrize("content", CORRUPT.values(), ids=CORRUPT)
def test_a_data_file_that_cannot_be_read_is_computed_again(tmp_path, bytes_of, computed, content):
    expected = bytes_of(tmp_path, ("query-index", "margins"))
    (tmp_path / "data" / "query-index.json").write_bytes(content)
    assert bytes_of(tmp_path, ("query-index", "margins")) == expected
    assert computed == ["query-index", "margins", "query-index"]


def test_a_data_file_that_lost_its_data_is_computed_again(tmp_path, bytes_of):
    expected = bytes_of(tmp_path, ("margins",))
    path = tmp_path / "data" / "margins.json"
    path.write_text(json.dumps({"key": json.loads(path.read_text())["key"]}))
    assert bytes_of(tmp_path, ("margins",)) == expected


def test_results_are_in_the_reports_order_however_they_are_asked_for(tmp_path, bytes_of):
    backwards = json.loads(bytes_of(tmp_path, ("margins", "query-index", "margins")))
    assert list(backwards["figures"]) == ["query-index", "margins"]
    assert "published" not in backwards


def test_everything_is_wanted_when_nothing_is_named(tmp_path):
    assert run.Reproduction(tmp_path, ()).wanted == (*run.FIGURES, "published")


def test_results_hold_each_figures_data_and_what_it_was_computed_for(tmp_path, bytes_of, tiny):
    results = json.loads(bytes_of(tmp_path, ("margins",), seed=3))
    saved = json.loads((tmp_path / "data" / "margins.json").read_text())
    assert saved["key"] == {"scale": vars(tiny), "seed": 3}
    assert saved["data"] == results["figures"]["margins"]
    assert (results["quick"], results["seed"]) == (True, 3)


def test_every_figure_is_announced_with_its_place(tmp_path, bytes_of):
    heard = []
    bytes_of(tmp_path, ("query-index", "margins"), step=lambda *step: heard.append(step[:3]))
    assert heard == [("query-index", 0, 2), ("margins", 1, 2)]


def test_each_figure_is_written_as_png_and_svg(tmp_path, bytes_of):
    bytes_of(tmp_path, ("query-index", "margins"))
    pictures = {path.name: path.read_text() for path in tmp_path.iterdir() if path.suffix in (".png", ".svg")}
    assert pictures == {
        f"{name}.{suffix}": f"{name} as {suffix}"
        for name in ("query-index", "margins")
        for suffix in ("png", "svg")
    }


def test_figure_names_come_with_spaces_or_commas():
    assert run.figure_names(["a,b", "c", ",d,"]) == ("a", "b", "c", "d")
    assert run.figure_names([]) == ()
