"""The language of claims: an expression is read, checked against what there is to ask, and evaluated."""
