"""Figures from results: text, pictures and Vega-Lite specifications."""
