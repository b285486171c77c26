"""The rules of observations, one or a few related ones a module."""
