"""Values that travel, diagnostics, the cache, and words for numbers."""

__version__ = "0.1.0"
