"""Simulations with known truth: how often what the program says is right."""
