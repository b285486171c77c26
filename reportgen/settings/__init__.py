"""Unknown in, typed out: what the user's YAML may say."""
