"""Archives of a report that open, verify and can be cited without this program."""
