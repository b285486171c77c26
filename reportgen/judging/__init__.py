"""What an author typed, held against what the data say: digits, units, and the words of a judgement."""
