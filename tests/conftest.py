"""The suite is deterministic: hypothesis draws the same examples in every run."""

from hypothesis import settings

settings.register_profile("deterministic", derandomize=True, deadline=None)
settings.load_profile("deterministic")
