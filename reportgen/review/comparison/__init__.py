"""What differs between two states of a report, part by part; ``compare.py`` puts the parts together."""
