"""Files of run loggers: one module for each format, found by content."""
