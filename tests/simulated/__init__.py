"""Simulations that show how often what is said is true."""
