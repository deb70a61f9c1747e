"""`stepladder search`: identify the path of a fixed base model from outcome feedback."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from stepladder.commands.console import print_json, say, spread, stdout, whole_numbers
from stepladder.commands.progress import Bar
from stepladder.errors import InputError, check_between, check_seed
from stepladder.report.run_folder import write_run
from stepladder.report.search_figure import CurvePoint, search_figure
from stepladder.search import (
    Adaptive,
    Arms,
    Budget,
    CountsArms,
    Fixed,
    Identification,
    RolloutArms,
    SearchMethod,
    adaptive_rule,
    identify,
    paper_rule,
)
from stepladder.search.arms import Match, SearchEngineName, check_delta
from stepladder.search.budget import LARGEST
from stepladder.search.stopping import RuleName
from stepladder.trees import Part, Target
from stepladder.trees.catalogue import TaskName, build_tree

MOST_ROLLOUTS = 10**9


@dataclass(frozen=True)
class Command:
    """Identify the target path from outcome feedback: FXRS + BAI (terminal oracle) or LTAR (family oracle).

    Try: stepladder search --method ltar --d 8 --secret 0,1,2 --per-arm 11 --trials 1000

    Try: stepladder search --method ltar --d 32 --secret 0,1 --rule adaptive --delta 0.1

    Try: stepladder search --method bai --per-arm 2000000 --out runs/search
    """

    method: SearchMethod = "ltar"
    """bai: no curriculum, full roll-outs; ltar: truncated, depth by depth."""
    d: int = 8
    """Number of inputs (for countdown: of numbers)."""
    secret: str = "0,1,2"
    """Target path as positions."""
    per_arm: int | None = None
    """Queries per arm; sets --rule fixed."""
    rule: RuleName | None = None
    """fixed (needs --per-arm), the paper's numbers, or adaptive (the default)."""
    delta: float = 0.1
    """Error allowed, for paper and adaptive."""
    trials: int = 10
    """Independent searches."""
    engine: SearchEngineName = "counts"
    """counts: exact in distribution, cost independent of queries (parity, sum); rollout: any task."""
    match: Match = "index"
    """What forced sampling compares: the index, or the token's value as printed (rollout only)."""
    max_queries: int = LARGEST
    """Stop a search before it asks more than this."""
    max_tokens: int = LARGEST
    """Stop a search once the base model has emitted this many tokens."""
    task: TaskName = "parity"
    """Which task."""
    alphabet: int | None = None
    """Letters of the input; the task's usual one by default."""
    seed: int = 0
    """Base seed."""
    out: Path | None = None
    """Folder for config.yaml, results.json and the figure."""
    json: bool = False
    """Print one JSON object instead."""

    def run(self) -> None:
        """Search, print."""
        check_between("trials", self.trials, 1, 10**6)
        check_seed(self.seed)
        target = Target(build_tree(self.task, self.d, self.alphabet), whole_numbers(self.secret, "secret"))
        rule = self._rule(target)
        budget = Budget(self.max_queries, self.max_tokens)
        with Bar("searching") as bar:
            found = identify(self._arms(target), rule, self.trials, self.seed, budget, bar.fraction)
            summary = self._summary(found, rule)
            if self.out is not None:
                bar.describe("drawing the curve")
                curve = self._curve(target) if self.engine == "counts" else []
                mean = summary["accuracy"]
                used = CurvePoint(float(found.t_data.mean()), mean["mean"], mean["sem"])
                figure = search_figure(self.method, curve, used, found)
                summary["curve"] = [asdict(point) for point in curve]
                config = {**asdict(self), "out": str(self.out)}
                write_run(self.out, config, summary, {"search": figure})
        if self.json:
            print_json(summary)
        else:
            self._show(found, summary)

    def _rule(self, target: Target) -> Fixed | Adaptive:
        check_delta(self.delta)
        name = self.rule or ("fixed" if self.per_arm is not None else "adaptive")
        if name == "fixed":
            if self.per_arm is None:
                raise InputError("fixed needs --per-arm, the queries for each arm", option="rule")
            return Fixed((self.per_arm,))
        if self.per_arm is not None:
            raise InputError(f"goes with --rule fixed, not {name}", option="per_arm")
        if name == "paper":
            return paper_rule(self.method, target, self.delta)
        return adaptive_rule(self.method, target, self.delta)

    def _arms(self, target: Target) -> Arms:
        base = Part(target.tree)
        if self.engine == "rollout":
            if self.per_arm is not None and self.per_arm > MOST_ROLLOUTS:
                raise InputError(f"of more than {MOST_ROLLOUTS:,} takes days; use --engine counts", "per_arm")
            return RolloutArms(self.method, target, base, [self.seed], self.match, self.delta)
        if self.match != "index":
            raise InputError("value needs --engine rollout", option="match")
        return CountsArms(self.method, target, base, [self.seed])

    def _curve(self, target: Target) -> list[CurvePoint]:
        """Mean accuracy of fixed numbers of queries per arm, up to where it no longer rises."""
        points: list[CurvePoint] = []
        for size in (2**power for power in range(50)):
            arms = CountsArms(self.method, target, Part(target.tree), [self.seed, size], tokens=False)
            found = identify(arms, Fixed((size,)), max(self.trials, 200), [self.seed, size])
            values = found.accuracy()
            sem = float(values.std(ddof=1) / np.sqrt(len(values)))
            points.append(CurvePoint(float(found.t_data.mean()), float(values.mean()), sem))
            if values.mean() > 0.9999:
                break
        return points

    def _summary(self, found: Identification, rule: Fixed | Adaptive) -> dict[str, Any]:
        paths = Counter(found.path(search) for search in range(self.trials) if found.complete[search])
        return {
            "method": self.method,
            "task": self.task,
            "d": self.d,
            "secret": found.target.picks,
            "engine": self.engine,
            "rule": type(rule).__name__.lower(),
            "per_arm": rule.per_depth if isinstance(rule, Fixed) else None,
            "delta": self.delta,
            "trials": self.trials,
            "identified": paths.most_common(1)[0][0] if paths else None,
            "correct": float(found.correct.mean()),
            "complete": float(found.complete.mean()),
            "undecided": self._reasons(found),
            "t_data": float(found.t_data.mean()),
            "t_comp": float(found.t_comp.mean()),
            "accuracy": spread(found.accuracy()),
            "index_accuracy": found.index_accuracy.tolist(),
            "depths": [self._depth(found, depth) for depth in range(1, len(found.depths) + 1)],
        }

    def _reasons(self, found: Identification) -> dict[str, int]:
        """Count the searches that cannot stand for their path, by reason."""
        reasons = [found.undecided(search) for search in range(self.trials)]
        return dict(Counter(reason for reason in reasons if reason is not None).most_common())

    def _depth(self, found: Identification, depth: int) -> list[dict[str, Any]]:
        """What the first search learned at a depth."""
        if 0 not in found.searched[depth - 1]:
            return []
        return [
            {
                "pick": arm.pick,
                "queries": arm.pulls,
                "accepted": float(arm.acceptance.value),
                "low": float(arm.acceptance.low),
                "high": float(arm.acceptance.high),
            }
            for arm in found.estimates(0, depth)
        ]

    def _show(self, found: Identification, summary: dict[str, Any]) -> None:
        table = Table(title=f"{self.method}, {self.task} d={self.d}, secret [{self.secret}]")
        table.add_column("")
        table.add_column("value", justify="right")
        identified = summary["identified"]
        path = "none" if identified is None else "[" + ",".join(map(str, identified)) + "]"
        mean = summary["accuracy"]
        rows = (
            ("identified", path),
            ("searches that found the secret", f"{int(found.correct.sum())} of {self.trials}"),
            ("oracle queries (T_data), mean", f"{summary['t_data']:,.0f}"),
            ("base-model tokens (T_comp), mean", f"{summary['t_comp']:,.0f}"),
            ("accuracy on fresh inputs", f"{mean['mean']:.4f} ± {mean['sem']:.4f}"),
        )
        for row in rows:
            table.add_row(*row)
        for depth, share in enumerate(summary["index_accuracy"], start=1):
            table.add_row(f"depth {depth} correct", f"{share:.4f}")
        stdout.print(table)
        for reason, count in summary["undecided"].items():
            stdout.print(f"{count} of {self.trials} searches: {reason}")
        if self.out is not None:
            say(f"wrote {self.out}")
