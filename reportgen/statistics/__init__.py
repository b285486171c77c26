"""Tables to results: plain functions without input or output."""
