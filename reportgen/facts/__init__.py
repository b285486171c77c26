"""Facts: one vocabulary of named statements about curves and scores, and their words."""
