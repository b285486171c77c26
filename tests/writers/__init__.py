"""Files by the real writers, in an environment of their own: see ``make test-writers``."""
