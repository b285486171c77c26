"""Two states of a report to what changed between them: values, review.json, and text for the terminal."""
