"""The language of values and claims: parsing, checking, evaluation."""
