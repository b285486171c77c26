"""Charts in Vega-Lite: of files and notebooks, and the views of live figures."""
