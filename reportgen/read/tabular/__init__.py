"""Tables of any form: how each format is scanned, and what its columns mean."""
