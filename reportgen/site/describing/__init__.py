"""What a source is, as tables, words and JSON."""
