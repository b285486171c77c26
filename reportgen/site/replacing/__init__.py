"""Folders and files that commands write: where they may be, and what of earlier runs they may replace."""
