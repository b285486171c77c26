"""Encodings that formats share: archives, records, compression."""
