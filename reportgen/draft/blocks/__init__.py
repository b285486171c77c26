"""Planning and drawing of each kind of block."""
