"""Values passed between stages, diagnostics, the cache, and formatting of numbers."""

__version__ = "0.1.0"
CACHE_DIR = "REPORTGEN_CACHE_DIR"
"""Environment variable with another folder for the caches of all reports."""
