"""A report in files that stay: everything in one archive, and the whole site in one HTML file."""
