"""What a source is: its runs, metrics and answers counted, and the settings to suggest."""
