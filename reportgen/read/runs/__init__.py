"""Runs and evaluations of loggers and harnesses as tables: read once, stored and named."""
