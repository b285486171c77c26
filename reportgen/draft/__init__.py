"""Drafting a whole report from a project."""
