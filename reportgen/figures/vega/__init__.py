"""Vega-Lite specifications."""
