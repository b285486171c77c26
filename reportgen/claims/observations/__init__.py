"""Sentences that rules find in curves and scores."""
