"""Markdown to pages of blocks."""
