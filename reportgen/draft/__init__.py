"""The spine: a project to a report."""
