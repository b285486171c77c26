"""Blocks of a page: what each kind asks for and draws."""
