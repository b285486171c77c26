"""Observations: sentences that rules find in curves and scores, each with its evidence and its threshold."""
