"""Parts of a comment: foreign words, numbers, strips of intervals, and lists, as Markdown."""
