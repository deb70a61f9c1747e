"""Hidden parity on a transformer: accuracy and exact-path rate against rollouts, one line per seed."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from stepladder.report.style import COLOURS, GREY, LABELS, new_figure


def experiment_figure(found: dict[str, Any]) -> Figure:
    """Draw a column for each secret: accuracy above, exact path below."""
    secrets = list(dict.fromkeys(curve["secret"] for curve in found["curves"]))
    figure, axes = new_figure(max(3.2 * len(secrets) + 0.6, 6.4), 5.4, rows=2, columns=len(secrets))
    figure.suptitle(f"Hidden parity, d = {found['d']}: GRPO on a transformer, one line per seed")
    for curve in found["curves"]:
        column = secrets.index(curve["secret"])
        rollouts = [point["rollouts"] for point in curve["points"]]
        label = LABELS[curve["method"]] if curve["seed"] == 0 and column == 0 else None
        for row, name in enumerate(("accuracy", "exact_path")):
            panel = axes[row * len(secrets) + column]
            values = [point[name] for point in curve["points"]]
            panel.plot(rollouts, values, color=COLOURS[curve["method"]], linewidth=1, alpha=0.8, label=label)
    for column, secret in enumerate(secrets):
        axes[column].axhline(0.5, color=GREY, linestyle="--", linewidth=1)
        axes[column].set(title=f"secret {secret}", ylim=(-0.02, 1.02))
        axes[len(secrets) + column].set(xlabel="rollouts", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("accuracy")
    axes[len(secrets)].set_ylabel("exact path")
    axes[0].legend(frameon=False, fontsize=7)
    return figure
