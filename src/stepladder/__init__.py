"""Curriculum post-training for reasoning."""
