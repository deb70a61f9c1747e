"""Closed forms: coverage, success probabilities, margins, sample sizes, and when a curriculum pays."""
