"""A hundred million rollouts of parity d=8, judged and counted chunk by chunk, in under 1 GB.

The work is done in a process of its own, so that its peak resident memory is that of the rollouts
(and of the imports), whatever this process holds.

    python benchmarks/rollout_memory.py
"""

import json
import resource
import subprocess
import sys
import time

from timing import report

D = 8
SECRET = (0, 1, 2)
COUNT = 100_000_000
LIMIT_BYTES = 1e9
TARGET = 1


def consume() -> None:
    """Roll out, judge and count; print what it took as JSON."""
    from stepladder.trees import Parity, Part, Target, TerminalOracle, rollout

    start = time.perf_counter()
    oracle = TerminalOracle(Target(Parity(d=D), SECRET))
    accepted = 0
    for part in rollout(Part(oracle.target.tree), COUNT, seed=0):
        accepted += int(oracle.judge(part.inputs, part.answers).sum())
    seconds = time.perf_counter() - start
    # Linux counts kilobytes, macOS bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    print(json.dumps({"count": oracle.queries, "accepted": accepted, "seconds": seconds, "peak": peak}))


def main() -> int:
    child = subprocess.run([sys.executable, __file__, "consume"], stdout=subprocess.PIPE, check=True)
    took = json.loads(child.stdout)
    if took["count"] != COUNT:
        sys.exit(f"expected {COUNT} judged rollouts, got {took['count']}")
    return report(
        "rollout_memory",
        LIMIT_BYTES / took["peak"],
        TARGET,
        seconds=took["seconds"],
        count=took["count"],
        accepted=took["accepted"],
        peak_bytes=took["peak"],
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["consume"]:
        consume()
    else:
        sys.exit(main())
