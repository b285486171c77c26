"""Statements held against the data: what is found, how it is told, and how pages are mended."""
