"""Sources that are added to a report."""
