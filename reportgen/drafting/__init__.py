"""The steps of a draft: they hand each stage its input and gather what it gives or complains of."""
