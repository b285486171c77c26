"""The reportgen theme: Jinja2 templates, styles, fonts and scripts, found by MkDocs through this package."""
