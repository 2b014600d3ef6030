"""Liars for the laws that other people's libraries are held against: every law must catch the one planted for it."""

import functools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpassay.adapter import Answer, Auditor, Mechanism, Nonsense, Refused, Relations
from dpassay.impl.accounting.calibration import gaussian_sigma
from dpassay.impl.accounting.gaussian import gaussian_delta, gaussian_epsilon
from dpassay.impl.accounting.pure_composition import response_epsilon
from dpassay.impl.libraries.in_process import InProcessWorker
from dpassay.impl.libraries.remote import RemoteCase, open_library
from dpassay.properties.assay.finding import Finding, Settings
from dpassay.properties.assay.laws import LAWS
from dpassay.properties.outcomes.numeric_features import lowest_bit

ALPHA, CALLS = 1e-9, 8000
SCALAR, VECTOR = "vector:size=1,linf=1", "vector:size=12,l1=1"
RNG = [np.random.default_rng(0)]  # reseeded before each batch


def reseed(number: int) -> None:
    RNG[0] = np.random.default_rng(number)


def opened(case: Any) -> RemoteCase:
    """Open a case, or the first of several that belong together."""
    return open_library(InProcessWorker(case if isinstance(case, list) else [case]))[0]


def finding(case: Any, law: str, calls: int = CALLS) -> Finding:
    remote = opened(case)
    (one,) = (each for each in LAWS if each.name == law)
    assert one.applies(remote) is None
    return one.check(remote, Settings(ALPHA, 0, calls, 1e6))


def mechanism(draw: Callable[[list[float], int], Any], **fields: Any) -> Mechanism:
    given: dict[str, Any] = {
        "neighbours": SCALAR,
        "claim": "pure:1.0",
        "floats": False,
        "seed": reseed,
        "sample_many": draw,
    } | fields
    return Mechanism("liar", **given)


def laplace(data: list[float], size: int) -> Any:
    return data[0] + RNG[0].laplace(0, 1, size)


def snapped(data: list[float], size: int) -> Any:
    """Laplace noise on a grid, added in float64: the lowest bits of the sum tell the data."""
    return data[0] * 0.1 + np.round(RNG[0].laplace(0, 1, size) * 64) / 64


def laplace_law(data: list[float], scale: float = 1.0) -> dict[str, Any]:
    return {"family": "laplace", "location": data[0], "scale": scale}


def one_coordinate_bare(data: list[float], size: int) -> Any:
    noise = RNG[0].laplace(0, 1, (size, 12))
    noise[:, 11] /= 2  # the last but no feature of its own tells
    return np.array(data) + noise


LYING_MECHANISMS = {
    "privacy_of_claim": mechanism(lambda data, size: data[0] + RNG[0].laplace(0, 0.5, size)),
    "privacy_in_float64": mechanism(snapped, floats=True),
    "coordinates": mechanism(one_coordinate_bare, neighbours=VECTOR),
    "goodness_of_fit": mechanism(laplace, distribution=lambda data: laplace_law(data, 1.2)),
    "claim_follows_from_parameters": mechanism(laplace, distribution=lambda data: laplace_law(data, 0.5)),
    "sensitivity": mechanism(
        lambda data, size: np.mean(data or [0.0]) + RNG[0].laplace(0, 0.5, size),
        neighbours="records:low=0,high=1,size=0,max-size=8,relation=add-remove",
        noiseless=lambda data: float(np.mean(data or [0.0])),  # a lone record moves it by 1, not by 1/2
        sensitivity=0.5,
    ),
}


def honest_delta(sigma: float, epsilon: float, count: int) -> float:
    if not (sigma > 0 and epsilon >= 0 and count >= 0 and float(count).is_integer()):
        raise Refused("nonsense")
    return float(gaussian_delta(epsilon, sigma / math.sqrt(count))) if count else 0.0


def honest_epsilon(sigma: float, delta: float, count: int) -> float:
    if not (sigma > 0 and 0 < delta < 1 and count >= 0 and float(count).is_integer()):
        raise Refused("nonsense")
    return float(gaussian_epsilon(delta, sigma / math.sqrt(count))) if count else 0.0


def honest_sigma(epsilon: float, delta: float) -> float:
    if not (epsilon >= 0 and 0 < delta < 1):
        raise Refused("nonsense")
    return float(gaussian_sigma(epsilon, delta)) * (1 + 1e-8)


def answer(question: str, compute: Callable[..., float], **fields: Any) -> Answer:
    return Answer("liar", question, compute, **fields)


def partner(question: str, compute: Callable[..., float], **fields: Any) -> Answer:
    """Return another answer of the account that the first one belongs to."""
    return Answer("partner", question, compute, account="liar", **fields)


def in_a_notch(compute: Callable[..., float], name: str, sign: int = 1) -> Callable[..., float]:
    """Make an answer go the wrong way by 1 % as its argument passes from one power of two to the next."""

    @functools.wraps(compute)
    def notched(**arguments: Any) -> float:
        step = math.floor(math.log2(arguments[name]) * 4) if arguments[name] > 0 else 0
        return compute(**arguments) * (1 + 0.5 * sign * (step % 2))

    return notched


def inverse(scale: float, order: float) -> float:
    return 1 / scale


def renyi(order: float, **others: float) -> float:
    return order * 0.1


def of_approximate(epsilon0: float, delta0: float, count: int, delta: float) -> float:
    return count * epsilon0 * (1 + math.sqrt(delta0))


def zcdp(rho: float, delta: float) -> float:
    return rho + 2 * math.sqrt(-rho * math.log(delta))


def subsampled(sigma: float, rate: float, count: int, delta: float) -> float:
    return rate * count / sigma


def of_renyi(order: float, renyi: float, delta: float) -> float:
    return renyi - math.log(delta) / (order - 1)


def of_a_list(epsilons: list[float], deltas: list[float], delta: float) -> float:
    if not (all(e >= 0 for e in epsilons) and all(0 <= d <= 1 for d in deltas) and 0 < delta < 1):
        raise Refused("nonsense")
    return sum(epsilons) * (1 + 1e-12) if sum(deltas) < delta else math.inf


def at_integers(sigma: float, order: float) -> float:
    """Switch to a formula for integers that is too small by a part in ten thousand, and grows all the same."""
    return order / (2 * sigma * sigma) * (0.9999 if order == int(order) else 1.0)


def in_parts(sigma: float, delta: float, count: int | tuple[int, ...]) -> float:
    """Compose epsilon by epsilon what was composed at once by a theorem."""
    return sum(honest_epsilon(sigma, delta, part) for part in (count if isinstance(count, tuple) else (count,)))


def sampled_renyi(sigma: float, rate: float, order: float) -> float:
    return rate * rate * order / (2 * sigma * sigma)


LYING_ANSWERS: dict[str, Any] = {
    "epsilon_and_delta_agree": [
        answer("gaussian_epsilon", lambda **arguments: 0.999 * honest_epsilon(**arguments)),
        partner("gaussian_delta", honest_delta),
    ],
    "calibration_suffices": [
        answer("gaussian_sigma", lambda epsilon, delta: 0.999 * honest_sigma(epsilon, delta)),
        partner("gaussian_epsilon", honest_epsilon),
    ],
    "zero_cost_mechanisms": answer(
        "heterogeneous_composition_epsilon",
        lambda epsilons, deltas, delta: sum(epsilons) * (1 + 1e-3 * len(epsilons)),
    ),
    "list_matches_count": [
        answer("heterogeneous_composition_epsilon", of_a_list),
        partner("pure_composition_epsilon", lambda epsilon0, count, delta: 1.001 * count * epsilon0),
    ],
    "splitting_invariance": answer("gaussian_epsilon", in_parts, splits=True),
    "zero_sampling_rate": answer(
        "subsampled_gaussian_renyi", lambda sigma, rate, order: sampled_renyi(sigma, rate, order) + 1e-9
    ),
    "full_sampling_rate": [
        answer("subsampled_gaussian_renyi", lambda **arguments: 1.001 * sampled_renyi(**arguments)),
        partner("gaussian_renyi", lambda sigma, order: order / (2 * sigma * sigma)),
    ],
    "convex_in_order": answer("gaussian_renyi", at_integers),
    "soundness": answer("gaussian_delta", lambda sigma, epsilon, count: 0.9999 * honest_delta(sigma, epsilon, count)),
    "exactness": answer(
        "gaussian_epsilon",
        lambda sigma, delta, count: 1.001 * honest_epsilon(sigma, delta, count),
        claims_exact=True,
    ),
    "range": answer("gaussian_delta", lambda sigma, epsilon, count: 1.01),
    "zero_repetitions": answer(
        "gaussian_delta", lambda sigma, epsilon, count: honest_delta(sigma, epsilon, max(count, 1))
    ),
    "monotone_in_epsilon": answer("gaussian_delta", in_a_notch(honest_delta, "epsilon")),
    "monotone_in_delta": answer("gaussian_epsilon", in_a_notch(honest_epsilon, "delta")),
    "monotone_in_sigma": answer("gaussian_delta", in_a_notch(honest_delta, "sigma")),
    "monotone_in_count": answer("gaussian_delta", in_a_notch(honest_delta, "count")),
    "monotone_in_scale": answer("laplace_renyi", in_a_notch(inverse, "scale")),
    "monotone_in_rate": answer("subsampled_gaussian_epsilon", in_a_notch(subsampled, "rate")),
    "monotone_in_order": answer("gaussian_renyi", in_a_notch(renyi, "order")),
    "monotone_in_epsilon0": answer(
        "pure_composition_epsilon", in_a_notch(lambda epsilon0, count, delta: epsilon0 * count, "epsilon0")
    ),
    "monotone_in_delta0": answer("approximate_composition_epsilon", in_a_notch(of_approximate, "delta0")),
    "monotone_in_rho": answer("zcdp_epsilon", in_a_notch(zcdp, "rho")),
    "monotone_in_renyi": answer("renyi_epsilon", in_a_notch(of_renyi, "renyi")),
    "order_invariance": answer(
        "heterogeneous_composition_epsilon",
        lambda epsilons, deltas, delta: sum(epsilons) + (epsilons[0] if len(epsilons) > 1 else 0.0),
    ),
    "rejects_invalid_arguments": answer("gaussian_delta", lambda sigma, epsilon, count: 0.5),
}

NONSENSE = Nonsense("liar", {"epsilon=-1": lambda: 1.0, "epsilon=nan": lambda: float("x")}, refused_by=("ValueError",))


def square_roots(random: Any) -> Iterator[tuple[str, float, float, float]]:
    """Compare a root that is too small with the true one."""
    x = random.uniform(1, 2)
    yield f"x={x}", math.sqrt(x), math.sqrt(x) * 0.999, math.inf


RELATIONS = Relations("liar", {"a root is large enough": square_roots})

KINDS = {
    "privacy_of_claim": "violation",
    "privacy_in_float64": "violation",
    "coordinates": "violation",
    "claim_follows_from_parameters": "violation",
    "sensitivity": "violation",
    "soundness": "unsound number",
    "auditor_confidence": "unsound number",
}


def raw_ratio(members: Any, others: Any, significance: float, delta: float) -> float:
    """Return the ratio of two frequencies, in place of that of confidence bounds."""
    return math.log(((members >= 0.5).mean() + 1e-3) / ((others >= 0.5).mean() + 1e-3))


LYING_AUDITORS: dict[str, Any] = {
    "auditor_confidence": Auditor("liar", raw_ratio, sizes=((100, 100),)),
    "auditor_power": Auditor("liar", lambda *_: 0.0, sizes=((100, 100),)),
}

LIARS: dict[str, Any] = {
    **LYING_MECHANISMS,
    **LYING_ANSWERS,
    **LYING_AUDITORS,
    "relations_hold": RELATIONS,
    "rejects_invalid_calls": NONSENSE,
}


def test_every_law_has_a_liar() -> None:
    of_replays = {"replay", "traced_privacy"}  # tests/properties/assay/test_replay.py, test_traced_privacy.py
    assert {*LIARS, *of_replays} == {law.name for law in LAWS}


@pytest.mark.parametrize("law", sorted(LIARS))
def test_the_law_catches_its_liar(law: str) -> None:
    found = finding(LIARS[law], law, calls=20_000 if law in {"coordinates", "goodness_of_fit"} else CALLS)
    assert found.kind == KINDS.get(law, "wrong answer"), found.detail


def test_a_fact_that_does_not_hold_is_named_and_one_that_the_adapter_mistakes_is_an_error() -> None:
    found = finding(
        Relations("liar", {}, {"holds": lambda: True, "does not": lambda: round(2.5) == 3}), "relations_hold"
    )
    assert found.kind == "wrong answer"
    assert found.detail == "1 of 2 relations broken: does not: does not hold"
    raising = Relations("liar", {}, {"quotient": lambda: Fraction(1, 0) == 0})
    assert "quotient: valid parameters raise" in finding(raising, "relations_hold").detail
    misspelt = Relations("liar", {}, {"root": lambda: maths.sqrt(4.0) == 2})  # type: ignore[name-defined]  # noqa: F821
    assert finding(misspelt, "relations_hold").kind == "error"
    assert finding(Relations("liar", {}), "relations_hold").kind == "error"
    honest = finding(Relations("honest", {}, {"root": lambda: math.sqrt(4.0) == 2}), "relations_hold")
    assert (honest.kind, honest.calls) == ("ok", 1)  # asked once, whatever the number of seeds


def test_a_fact_must_not_be_described_as_a_relation_is() -> None:
    with pytest.raises(ValueError, match="must not have the descriptions of relations"):
        Relations("both", {"same": lambda _: []}, {"same": lambda: True})


# --- honest cases pass ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", sorted(LYING_MECHANISMS))
def test_honest_laplace_noise_passes(law: str) -> None:
    honest = mechanism(
        lambda data, size: np.array(data) + RNG[0].laplace(0, 1, (size, 3)),
        neighbours="vector:size=3,l1=1",
        distribution=lambda data: {"family": "laplace", "location": list(data), "scale": 1.0},
        noiseless=list,
        sensitivity=1.0,
        floats=True,
    )
    if law == "privacy_in_float64":
        honest = mechanism(  # float64 noise is never honest to the lowest bits; integers are
            lambda data, size: (
                int(data[0]) + RNG[0].geometric(1 - math.exp(-1), size) - RNG[0].geometric(1 - math.exp(-1), size)
            ),
            neighbours="vector:size=1,linf=1,integer",
            floats=True,
        )
    found = finding(honest, law, calls=4000)
    assert found.kind == ("not applicable" if law == "privacy_in_float64" else "ok"), found.detail


def test_a_claim_may_be_off_by_what_the_adapter_states() -> None:
    scale = 1 / (1 + 1e-10)
    for allowance, kind in ((0.0, "violation"), (1e-11, "violation"), (1e-9, "ok")):
        case = mechanism(laplace, distribution=lambda data: laplace_law(data, scale), relative_error=allowance)
        assert finding(case, "claim_follows_from_parameters").kind == kind


def test_an_argument_that_the_library_lacks_is_not_moved() -> None:
    one = answer("gaussian_delta", honest_delta, domain={"count": (1, 1)})
    (remote,) = open_library(InProcessWorker([one]))
    (law,) = (each for each in LAWS if each.name == "monotone_in_count")
    assert law.applies(remote) == "the function of the library has no argument count"


def with_margin(compute: Callable[..., float]) -> Callable[..., float]:
    """Round up by more than the error that the formula documents."""

    @functools.wraps(compute)
    def rounded(**arguments: Any) -> float:
        return compute(**arguments) * (1 + 1e-8)

    return rounded


def honest_response(epsilon0: float, count: int, delta: float) -> float:
    if not (epsilon0 > 0 and 0 < delta < 1 and count >= 0 and float(count).is_integer()):
        raise Refused("nonsense")
    return response_epsilon(int(count), epsilon0, delta)


def capped_delta(**arguments: Any) -> float:
    return min(honest_delta(**arguments), 1 - 1e-8)


def composed_at_once(sigma: float, delta: float, count: int | tuple[int, ...]) -> float:
    return with_margin(honest_epsilon)(
        sigma=sigma, delta=delta, count=sum(count) if isinstance(count, tuple) else count
    )


def repeated(epsilon0: float, count: int, delta: float) -> float:
    return of_a_list([epsilon0] * count, [0.0], delta)


def honest_sampled_renyi(sigma: float, rate: float, order: float) -> float:
    """Integrate what the moment adds to 1, on an even grid: the integrand is smooth and falls fast."""
    x = np.linspace(-14 * sigma, order + 14 * sigma, 20_000)
    gain = rate * np.expm1((2 * x - 1) / (2 * sigma * sigma))
    log_density = -0.5 * (x / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))
    with np.errstate(over="ignore", invalid="ignore"):
        near = np.exp(log_density) * (np.expm1(order * np.log1p(gain)) - order * gain)
    far = np.exp(log_density + order * np.log1p(gain)) - np.exp(log_density + np.log1p(order * np.maximum(gain, 0)))
    return math.log1p(float(np.where(gain < 1, near, far).sum() * (x[1] - x[0]))) / (order - 1) * (1 + 1e-8)


HONEST: dict[str, Any] = {
    "gaussian_delta": answer("gaussian_delta", with_margin(capped_delta)),
    "gaussian_epsilon": answer("gaussian_epsilon", with_margin(honest_epsilon)),
    "pure_composition_epsilon": answer("pure_composition_epsilon", honest_response),
    "heterogeneous_composition_epsilon": [
        answer("heterogeneous_composition_epsilon", of_a_list),
        partner("pure_composition_epsilon", repeated),
    ],
    "an account": [
        answer("gaussian_epsilon", composed_at_once, splits=True),
        partner("gaussian_delta", capped_delta),
    ],
    "a calibrator": [
        answer("gaussian_sigma", honest_sigma),
        partner("gaussian_epsilon", with_margin(honest_epsilon)),
        partner("gaussian_delta", capped_delta),
    ],
}


@pytest.mark.parametrize("law", sorted(LYING_ANSWERS))
@pytest.mark.parametrize("question", sorted(HONEST))
def test_honest_answers_pass(question: str, law: str) -> None:
    remote = opened(HONEST[question])
    (one,) = (each for each in LAWS if each.name == law)
    if one.applies(remote) is None:
        found = one.check(remote, Settings(ALPHA, 0, CALLS, 1e6))
        assert found.kind == "ok", found.detail


@pytest.mark.parametrize("law", ["zero_sampling_rate", "full_sampling_rate", "convex_in_order", "monotone_in_order"])
def test_honest_sampling_passes(law: str) -> None:
    domain = {"sigma": (1.0, 100.0), "order": (1.01, 65.0)}
    sampled = answer("subsampled_gaussian_renyi", honest_sampled_renyi, domain=domain)
    unsampled = partner("gaussian_renyi", lambda sigma, order: order / (2 * sigma * sigma))
    found = finding([sampled, unsampled], law)
    assert found.kind == "ok", found.detail
    assert found.evidence == "enclosed"


def test_convexity_is_tested_inside_a_small_domain_of_orders() -> None:
    """Orders up to 8 of a library whose larger ones are not documented: nearly all points must be compared."""

    def honest(sigma: float, order: float) -> float:
        return order / (2 * sigma * sigma) if order <= 8 else math.nan

    case = answer("gaussian_renyi", honest, domain={"order": (1.01, 8.0)})
    found = finding([case], "convex_in_order")
    assert found.kind == "ok", found.detail
    assert found.power is not None
    assert found.power["points"] > 20


def test_the_lowest_bits_of_the_liar_do_tell() -> None:
    assert lowest_bit(np.asarray(snapped([1.0], 50))).max() < lowest_bit(np.asarray(snapped([0.0], 50))).min()


def test_nonsense_that_is_refused_passes() -> None:
    assert (
        finding(
            Nonsense("strict", {"epsilon=nan": lambda: float("x")}, refused_by=("ValueError",)),
            "rejects_invalid_calls",
        ).kind
        == "ok"
    )
