"""Figures of curves."""
