"""Generators and simulations: what the statistics say of made-up data whose truth is known."""
