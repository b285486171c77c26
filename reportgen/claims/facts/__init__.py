"""Facts about results: named, typed, with their evidence."""
