"""The ``scatter`` block: two measures of each series, with intervals of both."""
