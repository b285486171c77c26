"""Results in the forms that other programs read: Every Eval Ever, model cards, CSV and LaTeX."""
