"""Logs of trainers that are tables of rows, and what trackers export."""
