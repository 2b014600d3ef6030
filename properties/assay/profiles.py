"""Profiles: how much time a run has."""

from dataclasses import dataclass

__all__ = ["DEFAULT_PROFILE", "PROFILES", "Profile"]


@dataclass(frozen=True)
class Profile:
    """A time limit with a name.

    Parameters
    ----------
    name : str
        The name.
    seconds : float
        Time of a run in which all checks are selected; a selection has its part of it.
    overrun : float
        Factor on the time within which the first round ends, which asks every law of every case: a run on a slow or
        busy machine takes longer. What was not asked by then is not run.
    """

    name: str
    seconds: float
    overrun: float


PROFILES = {
    profile.name: profile
    for profile in (
        Profile("quick", 120.0, 1.5),
        Profile("thorough", 1200.0, 1.0),
        Profile("nightly", 8 * 3600.0, 1.0),
    )
}

DEFAULT_PROFILE = "quick"
