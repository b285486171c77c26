"""Curves: reducing, aligning, bands and comparisons."""
