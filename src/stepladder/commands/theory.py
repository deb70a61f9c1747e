"""`stepladder theory`: the paper's claims, each next to the value that checks it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from stepladder.commands.console import print_json, say, stdout
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between
from stepladder.files import make_folder, write_whole
from stepladder.report.calibration_figure import calibration_figure
from stepladder.report.claims_page import claims_page
from stepladder.report.run_folder import write_run
from stepladder.scaling import Log
from stepladder.theory.calibration import CALIBRATION, HELD_OUT, Comparison, calibrate
from stepladder.theory.checklist import check_all
from stepladder.theory.claims import Case, Claim
from stepladder.theory.pays import Calibration

ALL_CASES = ((8, 1), (8, 2), (8, 3), (16, 1), (16, 2), (16, 3), (32, 1), (32, 2), (32, 3))


@dataclass(frozen=True)
class Command:
    """Check the paper's claims: the formula's value, the exact or measured value, and a verdict.

    Try: stepladder theory --d 8 --k 3

    Try: stepladder theory --claims --out docs

    Try: stepladder theory --calibration --out runs/calibration
    """

    d: int | None = None
    """Number of inputs (parity); 8 by default."""
    k: int | None = None
    """Picks of the secret 0,1,..,k-1, at most 3; 3 by default."""
    claims: bool = False
    """Check every claim for d = 8, 16, 32 and k = 1, 2, 3; with --out, write theory.md."""
    calibration: bool = False
    """Compare the prediction of `pays` with measured ratios; with --out, write results and figure."""
    trials: int = 200
    """Trials behind each measured sample size."""
    out: Path | None = None
    """Folder to write to."""
    seed: int = 0
    """Taken by every command; the checks have fixed seeds of their own."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Check and print."""
        check_between("trials", self.trials, 2, 10**6)
        if self.claims or self.calibration:
            for name, value in (("d", self.d), ("k", self.k)):
                if value is not None:
                    raise InputError("goes with neither --claims nor --calibration, which have their own", name)
        one = (8 if self.d is None else self.d, 3 if self.k is None else self.k)
        sizes = ALL_CASES if self.claims else (one,)
        cases = [Case(d, k, self.trials) for d, k in sizes]
        if self.out is not None:
            make_folder(self.out)
        if self.calibration:
            self._calibrate()
        else:
            self._check(cases)

    def _check(self, cases: list[Case]) -> None:
        found: dict[tuple[int, int], list[Claim]] = {}
        with Bar("checking claims") as bar:
            for number, case in enumerate(cases):
                bar.fraction(number / len(cases))
                found[case.d, case.k] = check_all(case)
        rows = [{**asdict(claim), "d": d, "k": k} for (d, k), claims in found.items() for claim in claims]
        if self.out is not None:
            write_whole(self.out / "theory.md", claims_page(found, self.trials))
        if self.json:
            print_json({"claims": rows})
            return
        for (d, k), claims in found.items():
            stdout.print(_table(d, k, claims))
        if self.out is not None:
            say(f"wrote {self.out / 'theory.md'}")

    def _calibrate(self) -> None:
        log = Log(self.out / "evaluations.jsonl" if self.out else None)
        with Bar("calibrating") as bar:
            calibration, used = calibrate(CALIBRATION, log, bar.describe)
            _, held_out = calibrate(HELD_OUT, log, bar.describe)
        results = {
            **asdict(calibration),
            "calibrating": [_comparison(one, calibration) for one in used],
            "held_out": [_comparison(one, calibration) for one in held_out],
        }
        if self.out is not None:
            figure = calibration_figure(used, held_out, calibration)
            write_run(self.out, {**asdict(self), "out": str(self.out)}, results, {"calibration": figure})
        if self.json:
            print_json(results)
            return
        table = Table(title="direct / curriculum: predicted from success rates against measured")
        for column in ("setting", "predicted [95%]", "measured [95%]", "inside"):
            table.add_column(column.replace("[", "\\["), justify="right" if column != "setting" else "left")
        for one in (*used, *held_out):
            row = _comparison(one, calibration)
            table.add_row(
                f"{one.setting}{'' if one in used else '  (held out)'}",
                f"{row['predicted']:,.3g} [{row['low']:,.3g}, {row['high']:,.3g}]",
                f"{one.measured.value:,.3g} [{one.measured.low:,.3g}, {one.measured.high:,.3g}]",
                "yes" if row["inside"] else "no",
            )
        stdout.print(table)


def _comparison(one: Comparison, calibration: Calibration) -> dict[str, Any]:
    low, high = one.predicted_interval(calibration)
    return {
        "setting": str(one.setting),
        "predicted": one.predicted,
        "low": low,
        "high": high,
        "measured": asdict(one.measured),
        "inside": low <= one.measured.value <= high,
    }


def _table(d: int, k: int, claims: list[Claim]) -> Table:
    table = Table(title=f"Claims of the paper at d = {d}, k = {k}", show_lines=False)
    for column in ("claim", "formula", "exact or measured", "verdict", "reason"):
        table.add_column(column, overflow="fold")
    for claim in claims:
        formula = "" if claim.formula_value is None else f"{claim.formula_value:.4g}"
        failed = claim.verdict == "fails"
        verdict = f"[red]{claim.verdict}[/red]" if failed else claim.verdict
        table.add_row(
            f"{claim.statement} ({claim.paper})", formula, f"{claim.measured:.4g}", verdict, claim.reason
        )
    return table
