"""Statistics on tables: plain functions without input or output."""
