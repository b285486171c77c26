"""Runs and evaluations that loggers and harnesses wrote, as tables: read once, stored, and named."""
