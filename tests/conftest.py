"""What all tests share."""

from __future__ import annotations

from hypothesis import settings

# A busy machine is no fault of the code, and a test that fails today should fail tomorrow.
settings.register_profile("reportgen", deadline=None, derandomize=True)
settings.load_profile("reportgen")
