"""Evaluation harnesses, one module per format."""
