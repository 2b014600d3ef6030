"""The laws that cases of libraries are held against, the most important first."""

from dpassay.impl.libraries.remote import RemoteCase, RemoteMechanism
from dpassay.properties.assay.finding import Finding, Law, Settings
from dpassay.properties.search.hunt import hunt

__all__ = ["LAWS"]


def _is_mechanism(case: RemoteCase) -> str | None:
    return None if isinstance(case, RemoteMechanism) else "only mechanisms can be sampled"


def _check_claim(case: RemoteCase, settings: Settings) -> Finding:
    assert isinstance(case, RemoteMechanism)
    result = hunt(
        case,
        alpha=settings.alpha,
        seed=settings.seed,
        calls=settings.calls,
        budget_seconds=settings.seconds,
        low_bits=False,
    )
    if result.verdict != "violated":
        return Finding("ok", "not refuted", evidence="sampled", scope="samples", calls=result.calls)
    witness = None if result.witness is None else vars(result.witness)
    return Finding(
        "violation",
        "the sampled mechanism loses more than it claims",
        certified=result.epsilon_lower,
        evidence="sampled",
        scope="samples",
        calls=result.calls,
        witness=witness,
    )


LAWS: list[Law] = [
    Law("privacy_of_claim", "The sampled mechanism is as private as it claims.", _is_mechanism, _check_claim)
]
