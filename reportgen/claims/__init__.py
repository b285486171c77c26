"""What can be said of data: facts, the language of claims, judging, observations."""
