"""Curves: reducing, aligning, bands, comparisons."""
