"""Scores of answers to single problems, and of whole benchmarks."""
