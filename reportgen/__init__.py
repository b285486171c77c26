"""reportgen: static report sites for machine-learning results."""

__version__ = "0.1.0"
