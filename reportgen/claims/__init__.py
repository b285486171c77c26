"""Claims about data: facts, the language of claims, judging and observations."""
