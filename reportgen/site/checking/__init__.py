"""Statements compared with the data: what is found, how it is reported, and how pages are repaired."""
