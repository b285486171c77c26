"""Figures of scores."""
