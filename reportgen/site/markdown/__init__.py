"""Pages of a site as Markdown, for programs: the text of each, and the list of all."""
