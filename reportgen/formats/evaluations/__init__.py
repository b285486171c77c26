"""What evaluation harnesses write, a module a format."""
