"""Figures, tables and pages: what people look at."""
