"""flwr (Flower): noise and clipping of model updates in federated learning, at clients and at the server.

Of the public classes for training, those that clip, add noise or account are asked, in the interface of messages and
in the older one. Numbers are float64 here; noise of numpy makes no claim about the lowest bits.
"""

from __future__ import annotations

import math

import numpy as np
from flwr.common.secure_aggregation import quantization
from flwr_accounting import accounting_answers, accounting_refusals, accounting_relations
from flwr_adaptive import adaptive_cases
from flwr_clipping import clipping_relations
from flwr_rounds import moved, one_round, strategy, through_mod
from flwr_strategies import fixed_cases, local_cases

from dpassay.adapter import Nonsense, Relations, present_cases
from dpassay.impl.libraries.references import near

LIBRARY = "flwr"


def _quantised(random):
    """Compare integers with the clipped entries that they stand for, within the range, at its ends and beyond."""
    bound, levels = random.uniform(0.3, 9), random.randint(5, 2000)
    width, words = 2 * bound / levels, f"range {bound!r}, {levels} levels"
    reach = [random.uniform(low, high) * bound for low, high in ((-1, 1), (-1, 0), (1, 30), (-30, -1), (-1, 1))]
    arrays = [
        np.array([*reach, bound]),
        np.array([[random.uniform(-2, 2) * bound for _ in range(3)] for _ in range(2)]),
        np.array([[[-bound, random.uniform(-40, 40) * bound]]]),
        np.array(random.uniform(-2, 2) * bound),
    ]
    np.random.seed(random.randrange(2**32))  # noqa: NPY002  # the generator that the library draws from
    found = quantization.quantize(arrays, bound, levels)
    back = quantization.dequantize(found, bound, levels)
    for place, (array, integers, restored) in enumerate(zip(arrays, found, back)):
        is_integer = np.issubdtype(integers.dtype, np.integer) and integers.shape == array.shape == restored.shape
        yield f"integers of the shape of array {place}, {words}", 1.0, float(is_integer), 1.0
        for x, integer, y in zip(*(np.ravel(one).tolist() for one in (array, integers, restored))):
            exact = min(max(x, -bound), bound)
            yield f"integer of {x!r}, {words}", 0, integer, levels
            yield f"round trip of {x!r}, {words}", exact - width * (1 + 1e-6), y, exact + width * (1 + 1e-6)
            yield (f"value of {integer}, {words}", *near(y, integer * width - bound, 1e-9, 1e-9 * bound))


def _rounded(random):
    """Check that an entry between two integers gets either, as often as their distance says."""
    bound, levels = random.uniform(0.3, 9), random.randint(5, 2000)
    integer, part = random.randrange(levels), random.uniform(0.2, 0.8)
    np.random.seed(random.randrange(2**32))  # noqa: NPY002  # the generator that the library draws from
    arrays = [np.full((2000, 2), (integer + part) * 2 * bound / levels - bound)]
    scalar, draw = np.array(integer + part), quantization._stochastic_round
    for name, numbers in (
        ("quantize", quantization.quantize(arrays, bound, levels)[0]),
        ("_stochastic_round", draw(np.full(4000, integer + part))),
        ("_stochastic_round of scalars", np.array([draw(scalar) for _ in range(400)])),
    ):
        words = f"{name}, {integer} + {part!r}, range {bound!r}, {levels} levels"
        outside = int(np.sum((numbers < integer) | (numbers > integer + 1)))
        yield f"{words}, other integers", 0, outside, 0
        slack = 8 * math.sqrt(part * (1 - part) / numbers.size)  # standard deviations
        yield f"{words}, the larger one", part - slack, float(np.mean(numbers == integer + 1)), part + slack
    whole = np.array([-3.0, 0.0, float(integer)])
    kept = float(np.array_equal(draw(whole), whole))
    yield f"integers stay, {integer}", 1.0, kept, 1.0


def quantisation_relations():
    """Yield relations of the integers that clients of a secure aggregation send: they bound what one client adds."""
    yield Relations(
        "flwr.common.secure_aggregation.quantization",
        {"integers stand for clipped entries": _quantised, "rounding is to both sides": _rounded},
    )


def _sent(api, *make):
    return lambda: through_mod(api, "LocalDpMod", moved(3.0), make=make)


def _released(name, *arguments, **named):
    def call():
        return [
            one_round(api, strategy(api, name, *arguments, **named), [1.0, -2.0, 3.0]) for api in ("message", "legacy")
        ]

    return call


def _refusals():
    nan = math.nan
    for api in ("message", "legacy"):
        yield Nonsense(
            f"LocalDpMod, invalid, {api}",
            {
                **{f"clipping_norm={value}": _sent(api, value, 2.0, 0.5, 1e-3) for value in (0.0, -1.0, nan)},
                **{f"sensitivity={value}": _sent(api, 2.0, value, 0.5, 1e-3) for value in (-1.0, nan)},
                **{f"epsilon={value}": _sent(api, 2.0, 4.0, value, 1e-3) for value in (-1.0, nan)},
                **{f"delta={value}": _sent(api, 2.0, 4.0, 0.5, value) for value in (-0.1, 1.2, 2.0, nan)},
            },
        )
    fixed, adaptive = (f"DifferentialPrivacyServerSide{kind}Clipping" for kind in ("Fixed", "Adaptive"))
    yield Nonsense(
        "strategies, invalid",
        {
            **{f"noise_multiplier={value}": _released(fixed, value, 2.0, 3) for value in (-1.0, nan)},
            **{f"clipping_norm={value}": _released(fixed, 0.7, value, 3) for value in (0.0, -1.0, nan)},
            **{f"num_sampled_clients={value}": _released(fixed, 0.7, 2.0, value) for value in (0, -3)},
            **{f"adaptive, noise_multiplier={value}": _released(adaptive, value, 30) for value in (-1.0, nan)},
            **{
                f"adaptive, {name}={value}": _released(adaptive, 0.7, 30, **{name: value})
                for name, value in (
                    ("initial_clipping_norm", -1.0),
                    ("initial_clipping_norm", nan),
                    ("target_clipped_quantile", 1.5),
                    ("target_clipped_quantile", nan),
                    ("clip_norm_lr", -0.2),
                    ("clip_norm_lr", nan),
                    ("clipped_count_stddev", -1.0),
                    ("clipped_count_stddev", nan),
                )
            },
            "adaptive, less noise on the count than the multiplier allows": _released(
                adaptive, 3.0, 30, clipped_count_stddev=1.0
            ),
        },
    )


def cases():
    """Return the cases that this version has."""
    return list(
        present_cases(
            clipping_relations,
            quantisation_relations,
            local_cases,
            fixed_cases,
            adaptive_cases,
            _refusals,
            accounting_answers,
            accounting_relations,
            accounting_refusals,
        )
    )
