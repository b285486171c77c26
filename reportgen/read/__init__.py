"""Files to tables: one module per format, and the opening of a source."""

from __future__ import annotations

from reportgen.read.find import find_sources
from reportgen.read.frames import frame, raw_frame
from reportgen.read.measuring import measurements
from reportgen.read.opening import open_path, open_source

__all__ = ["find_sources", "frame", "measurements", "open_path", "open_source", "raw_frame"]
