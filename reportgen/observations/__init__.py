"""Observations: rules that find in curves and scores what a careful reader would say about them."""
