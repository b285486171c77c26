"""Readers that turn files of every format into tables of runs."""
