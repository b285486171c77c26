"""The edge: the MkDocs plugin, publishing and browser assets."""
