"""Files to tables: one module per format, and the opening of a source."""
