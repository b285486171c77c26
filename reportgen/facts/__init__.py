"""Facts: one vocabulary of named statements about results, and the language that claims are written in."""
