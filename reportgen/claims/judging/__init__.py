"""What an author typed, compared with the data."""
