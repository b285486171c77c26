"""Curves as figures, tables and key results."""
