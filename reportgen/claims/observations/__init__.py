"""Observations that rules make in curves and scores."""
