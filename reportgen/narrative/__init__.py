"""Markdown pages and their blocks, bound values and claims."""
