"""Measuring language models: samples, pass@K, profiles by level and hint, and whether a curriculum will pay."""
