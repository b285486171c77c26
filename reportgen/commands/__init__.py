"""The commands, and how they tell what they found: the only place that prints."""
