"""Experiment trackers and trainers, one module per format."""
