"""Experiments on small transformers: accuracy and exact path against rollouts; pass@K by level."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from stepladder.report.style import BLACK, COLOURS, GREY, LABELS, ORANGE, new_figure


def parity_figure(found: dict[str, Any], task: str) -> Figure:
    """Draw a column for each secret, one line per seed: accuracy above, exact path below."""
    secrets = list(dict.fromkeys(curve["secret"] for curve in found["curves"]))
    figure, axes = new_figure(max(3.2 * len(secrets) + 0.6, 6.4), 5.4, rows=2, columns=len(secrets))
    figure.suptitle(f"{task}, d = {found['d']}: GRPO on a transformer, one line per seed")
    for curve in found["curves"]:
        column = secrets.index(curve["secret"])
        thousands = [point["rollouts"] / 1000 for point in curve["points"]]
        colour, name = _arm(curve)
        for row, measure in enumerate(("accuracy", "exact_path")):
            panel = axes[row * len(secrets) + column]
            values = [point[measure] for point in curve["points"]]
            label = name if (curve["seed"], column, row) == (0, 0, 0) else None
            panel.plot(thousands, values, color=colour, linewidth=1, alpha=0.8, label=label)
    for column, secret in enumerate(secrets):
        axes[column].axhline(0.5, color=GREY, linestyle="--", linewidth=1)
        axes[column].set(title=f"secret {secret}", ylim=(-0.02, 1.02))
        axes[len(secrets) + column].set(xlabel="thousand rollouts", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("accuracy")
    axes[len(secrets)].set_ylabel("exact path")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure


def _arm(curve: dict[str, Any]) -> tuple[str, str]:
    method = curve["method"]
    if curve.get("arm", method) != method:
        return ORANGE, f"{LABELS[method]}, KL"
    return COLOURS[method], LABELS[method]


def countdown_figure(found: dict[str, Any]) -> Figure:
    """Draw a panel for each level: pass@K of every method, one thin line per seed."""
    levels = sorted({cell["level"] for cell in found["cells"]})
    figure, axes = new_figure(3.4 * len(levels) + 0.4, 3.8, columns=len(levels))
    budget = f"{found['token_budget'] / 1e6:g} million tokens a run"
    figure.suptitle(f"Countdown on the tiny model, target level {found['target']}: {budget}")
    for cell in found["cells"]:
        panel = axes[levels.index(cell["level"])]
        colour = COLOURS.get(cell["method"], BLACK)
        label = LABELS.get(cell["method"], cell["method"]) if cell["level"] == levels[0] else None
        values = [one["value"] for one in cell["pass_at_k"]]
        panel.plot(found["k"], values, color=colour, marker="o", markersize=3, label=label)
        for seed in zip(*(one["seeds"] for one in cell["pass_at_k"]), strict=True):
            panel.plot(found["k"], seed, color=colour, linewidth=0.6, alpha=0.4)
    for panel, level in zip(axes, levels, strict=True):
        panel.set(title=f"level {level}", xlabel="K", xscale="log")
        panel.set_xticks(found["k"], [str(k) for k in found["k"]])
        panel.minorticks_off()
        panel.set_ylim(bottom=0)
    axes[0].set_ylabel("pass@K on held-out problems")
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return figure
