"""Results to figures: words, picture and Vega-Lite specification."""
