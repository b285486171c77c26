"""Files of evaluation harnesses: one module for each format, found by content."""
