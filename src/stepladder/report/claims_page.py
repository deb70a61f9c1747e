"""docs/theory.md, written from the checked claims: one row a claim, one column a setting."""

from __future__ import annotations

from collections.abc import Mapping

from stepladder.theory.claims import Claim


def claims_page(found: Mapping[tuple[int, int], list[Claim]], trials: int) -> str:
    """Return the page as Markdown."""
    settings = list(found)
    lines = [
        "# The paper's claims, checked",
        "",
        "Written by `stepladder theory --claims --out docs`; do not edit. Every claim is checked on parity "
        "with the secret 0..k-1. A formula's value takes every Theta to be 1. Values are exact, or "
        f"measured with fixed seeds ({trials} trials behind each sample size, fixed n at 99% accuracy).",
        "",
        f"{len(found[settings[0]])} claims, {len(settings)} settings. Verdicts: *holds*, *loose by x* "
        "(true with that much room), *holds within a factor x* (an order of magnitude, with its constant), "
        "*fails* (with the reason).",
        "",
    ]
    for index, claim in enumerate(found[settings[0]]):
        lines += [
            f"## {claim.statement}",
            "",
            f"{claim.paper}. `{claim.id}`",
            "",
            "| d | k | formula | exact or measured | verdict |",
            "|---|---|---|---|---|",
        ]
        for d, k in settings:
            one = found[d, k][index]
            formula = "" if one.formula_value is None else f"{one.formula_value:.4g}"
            lines.append(f"| {d} | {k} | {formula} | {one.measured:.4g} | {one.verdict} |")
        lines += ["", *_reasons({setting: found[setting][index].reason for setting in settings}), ""]
    return "\n".join(lines)


def _reasons(reasons: Mapping[tuple[int, int], str]) -> list[str]:
    """Give each reason once, with the settings it speaks of where they differ."""
    distinct = list(dict.fromkeys(reasons.values()))
    if len(distinct) == 1:
        return [f"Why: {distinct[0]}."]
    lines = []
    for reason in distinct:
        where = ", ".join(f"({d}, {k})" for (d, k), given in reasons.items() if given == reason)
        lines.append(f"- (d, k) = {where}: {reason}.")
    return ["Why:", "", *lines]
