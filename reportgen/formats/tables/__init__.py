"""Tables: CSV, JSON, Parquet."""
