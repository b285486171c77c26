"""What a source holds, in words and numbers."""
