"""Promises of `stepladder theory`: the claims table, the generated page, the calibration, one-line refusals."""

import functools
import json

import pytest
import yaml

from stepladder.commands import theory
from stepladder.theory import calibration
from stepladder.theory.calibration import Setting, compare
from stepladder.theory.checklist import CHECKS

KEYS = {"id", "paper", "statement", "formula_value", "measured", "verdict", "reason"}
"""What the interface promises of a claim; more keys may come with them."""

SMALL = ("theory", "--d", "4", "--k", "1", "--trials", "4")


@pytest.fixture
def answer(run):
    """Run with --json; return the one object printed."""

    def call(*arguments):
        outcome = run(*arguments, "--json")
        assert outcome.code == 0, outcome.err
        assert outcome.out.count("\n") == 1
        return json.loads(outcome.out)

    return call


@pytest.fixture
def wide(monkeypatch):
    """Print for a terminal of 250 columns, so that no word is broken."""
    monkeypatch.setattr(theory.stdout, "_width", 250)


@pytest.fixture
def two_cases(monkeypatch):
    """Let --claims check two small settings instead of nine."""
    monkeypatch.setattr(theory, "ALL_CASES", ((4, 1), (5, 2)))


# ---- the table


def test_the_papers_example_prints_every_claim_with_formula_value_and_verdict(run, answer, wide):
    options = ("theory", "--d", "8", "--k", "3", "--trials", "20")
    out = run(*options).out
    assert "Claims of the paper at d = 8, k = 3" in out
    for column in ("claim", "formula", "exact or measured", "verdict", "reason"):
        assert column in out
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in out.splitlines() if "│" in line]
    rows = [tuple(row[1:4]) for row in cells if row[3]]
    claims = answer(*options)["claims"]
    assert rows == [
        (f"{claim['formula_value']:.4g}", f"{claim['measured']:.4g}", claim["verdict"]) for claim in claims
    ]
    for claim in claims:
        assert claim["paper"].split()[0] in out


def test_a_claim_that_fails_says_so_and_why(run, wide):
    line = next(line for line in run(*SMALL).out.splitlines() if "Pinsker" in line)
    assert "fails" in line


# ---- JSON


def test_json_is_one_object_with_the_promised_keys_of_every_claim(answer):
    result = answer(*SMALL)
    assert list(result) == ["claims"]
    for claim in result["claims"]:
        assert claim.keys() >= KEYS
        assert isinstance(claim["formula_value"], float | int)
        assert isinstance(claim["measured"], float | int)
        assert (claim["d"], claim["k"]) == (4, 1)
    assert len({claim["id"] for claim in result["claims"]}) == len(result["claims"])


def test_claims_asks_about_every_setting(answer, two_cases):
    claims = answer("theory", "--claims", "--trials", "4")["claims"]
    assert len(claims) == 2 * len(CHECKS)
    assert {(claim["d"], claim["k"]) for claim in claims} == {(4, 1), (5, 2)}


def test_the_settings_of_claims_are_nine():
    assert set(theory.ALL_CASES) == {(d, k) for d in (8, 16, 32) for k in (1, 2, 3)}


def test_the_same_command_prints_the_same(run):
    assert run(*SMALL, "--json") == run(*SMALL, "--json")


def test_more_trials_measure_other_sizes(answer):
    few, more = (
        {claim["id"]: claim["measured"] for claim in answer(*SMALL[:-1], trials)["claims"]}
        for trials in ("4", "40")
    )
    assert few["samples_direct"] != more["samples_direct"]
    assert few["path_decay"] == more["path_decay"]


# ---- the page


def test_claims_with_out_writes_the_page(run, two_cases, tmp_path):
    outcome = run("theory", "--claims", "--trials", "4", "--out", tmp_path / "docs")
    assert outcome.code == 0
    assert [path.name for path in (tmp_path / "docs").iterdir()] == ["theory.md"]
    page = (tmp_path / "docs" / "theory.md").read_text()
    assert page.startswith("# The paper's claims, checked\n")
    assert f"{len(CHECKS)} claims, 2 settings" in page
    assert "(4 trials behind each sample size" in page
    assert f"wrote {tmp_path / 'docs' / 'theory.md'}" in outcome.out.replace("\n", "")


def test_the_page_of_the_repository_names_every_claim_of_the_checklist(answer, request):
    page = (request.config.rootpath / "docs" / "theory.md").read_text()
    ids = [claim["id"] for claim in answer(*SMALL)["claims"]]
    assert [one for one in ids if f"`{one}`" not in page] == []


def test_the_page_of_the_command_lists_the_claims_that_fail_and_every_key(answer, request):
    page = (request.config.rootpath / "docs" / "commands" / "theory.md").read_text()
    claims = answer("theory", "--trials", "20")["claims"]
    listed = page.split(".id'\n")[1].split("```")[0].split()
    assert listed == [claim["id"] for claim in claims if claim["verdict"] == "fails"]
    assert [key for key in claims[0] if f"`{key}`" not in page] == []


# ---- the calibration


@pytest.fixture
def two_settings(monkeypatch):
    """Calibrate on two small trees and hold out two others, with 40 trials instead of 400."""
    monkeypatch.setattr(calibration, "compare", functools.partial(compare, trials=40))
    monkeypatch.setattr(theory, "CALIBRATION", (Setting("parity", 4, (0,)), Setting("sum", 4, (3,), 3)))
    monkeypatch.setattr(theory, "HELD_OUT", (Setting("parity", 5, (0, 1)), Setting("parity", 4, (3,))))


def test_calibration_compares_predicted_and_measured_ratios(answer, two_settings):
    result = answer("theory", "--calibration")
    assert result.keys() == {"bias", "spread", "settings", "calibrating", "held_out"}
    assert result["settings"] == len(result["calibrating"]) == len(result["held_out"]) == 2
    for row in (*result["calibrating"], *result["held_out"]):
        assert row.keys() == {"setting", "predicted", "low", "high", "measured", "inside"}
        assert row["inside"] == (row["low"] <= row["measured"]["value"] <= row["high"])
        assert row["measured"]["low"] <= row["measured"]["value"] <= row["measured"]["high"]


def test_calibration_prints_a_row_for_each_setting_and_marks_those_held_out(run, two_settings, wide):
    out = run("theory", "--calibration").out
    assert "predicted from success rates against measured" in out
    assert "sum mod 3 d=4" in out
    assert out.count("(held out)") == 2
    assert out.count("yes") + out.count(" no ") == 4


def test_calibration_with_out_writes_results_figure_and_a_log_to_resume_from(answer, two_settings, tmp_path):
    result = answer("theory", "--calibration", "--out", tmp_path)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"config.yaml", "results.json", "calibration.png", "calibration.svg", "evaluations.jsonl"}
    assert json.loads((tmp_path / "results.json").read_text()) == result
    assert yaml.safe_load((tmp_path / "config.yaml").read_text())["calibration"] is True
    lines = (tmp_path / "evaluations.jsonl").read_text()
    assert answer("theory", "--calibration", "--out", tmp_path) == result
    assert (tmp_path / "evaluations.jsonl").read_text() == lines


# ---- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--d", "2"), "--d must be between 3 and 64, got 2"),
        (("--d", "65"), "--d must be between 3 and 64, got 65"),
        (("--k", "0"), "--k must be between 1 and 3, got 0"),
        (("--k", "9"), "--k must be between 1 and 3, got 9"),
        (("--d", "4", "--k", "3"), "--k must be between 1 and 2, got 3"),
        (("--trials", "1"), "--trials must be between 2 and 1,000,000, got 1"),
        (("--d", "x"), "--d"),
        (("--nonsense", "1"), "--nonsense"),
    ],
)
def test_bad_input_is_refused_in_one_line_that_names_the_option(refused, options, message):
    assert message in refused("theory", *options)


def test_a_folder_that_cannot_be_is_refused(refused, tmp_path):
    (tmp_path / "file").write_text("in the way")
    assert "--out" in refused("theory", "--out", tmp_path / "file")


@pytest.mark.parametrize("option", [("--d", "2"), ("--k", "9"), ("--trials", "1")])
def test_bad_input_writes_nothing(refused, tmp_path, option):
    refused("theory", *option, "--out", tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
