"""Property tests are judged by what they find, not by how busy the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None, max_examples=60)
settings.load_profile("unhurried")
