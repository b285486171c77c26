"""What experiment trackers and trainers log, a module a format."""
