"""Output: the MkDocs plugin, publishing and browser assets."""
