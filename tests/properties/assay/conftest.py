"""Laws to drive the suite with, and the library that is not one."""

import sys
from pathlib import Path

import pytest

from dpassay.impl.libraries.remote import RemoteAnswer, RemoteCase, RemoteMechanism, RemoteNonsense
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.suite import Target
from dpassay.properties.hunting.hunt import hunt
from dpassay.spec.verdict import Evidence, Scope

FAKE = Path(__file__).parents[2] / "fake_library" / "adapter.py"


def private_law() -> Law:
    """Return a law whose functions travel to other processes: they are no module's."""

    def applies(case: RemoteCase) -> str | None:
        return None if isinstance(case, RemoteMechanism) else "no mechanism"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        assert isinstance(case, RemoteMechanism)
        result = hunt(
            case, alpha=settings.alpha, seed=settings.seed, calls=settings.calls, budget_seconds=settings.seconds
        )
        violated = result.verdict == "violated"
        return Finding(
            FindingKind.VIOLATION if violated else FindingKind.OK,
            f"{result.verdict} with {result.calls} calls",
            certified=result.epsilon_lower if violated else None,
            evidence=Evidence.SAMPLED,
            scope=Scope.SAMPLES,
            calls=result.calls,
            power=None if result.power is None else result.power.record(),
        )

    return Law("private", "A mechanism is as private as it claims.", applies, check)


def sound_law() -> Law:
    """Return the law that caught the liar: delta of a Gaussian mechanism at epsilon 0 is 0.3829."""

    def applies(case: RemoteCase) -> str | None:
        return None if isinstance(case, RemoteAnswer) else "no answer"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        assert isinstance(case, RemoteAnswer)
        asked = {"sigma": 1.0, "epsilon": 0.0, "count": 1}
        claimed, truth = case.compute(**asked), 0.3829249225480262
        kind, words = ("ok", "at least the truth") if claimed >= truth else ("unsound number", "below the truth")
        return Finding(
            kind,  # type: ignore[arg-type]
            words,
            claimed=claimed,
            certified=truth,
            evidence=Evidence.ENCLOSED,
            scope=Scope.POINTS,
            calls=1,
            witness=asked,
            power={"points": 1},
        )

    return Law("sound", "An accountant never says less than the truth.", applies, check, sampled=False)


def careful_law() -> Law:
    """Return the law that nonsense is refused."""

    def applies(case: RemoteCase) -> str | None:
        return None if isinstance(case, RemoteNonsense) else "no nonsense"

    def check(case: RemoteCase, settings: Settings) -> Finding:
        assert isinstance(case, RemoteNonsense)
        accepted = [words for words in case.attempts if case.attempt(words)[0]]
        return (
            Finding(FindingKind.WRONG_ANSWER, f"accepted: {accepted}")
            if accepted
            else Finding(FindingKind.OK, "all refused", power={"points": 1})
        )

    return Law("careful", "Nonsense is refused.", applies, check, sampled=False)


@pytest.fixture
def laws() -> list[Law]:
    return [private_law(), sound_law(), careful_law()]


@pytest.fixture
def fake() -> Target:
    return Target(sys.executable, str(FAKE), timeout=2.0)
