"""Values that travel, diagnostics, the cache, and words for numbers."""

__version__ = "0.1.0"
CACHE_DIR = "REPORTGEN_CACHE_DIR"
"""The environment variable that names another folder for the caches of all reports."""
