"""Files of every format to tables of runs."""
