"""Tables of a source: layout, columns and rows."""
