"""Curves: aligning, bands and comparisons."""
