"""flwr (Flower): noise and clipping of model updates in federated learning, at clients and at the server.

Of the public classes for training, those that clip, add noise or account are asked, in the interface of messages and
in the older one. Numbers are float64 here; noise of numpy makes no claim about the lowest bits.
"""

from __future__ import annotations

import math

from flwr_accounting import accounting_answers, accounting_refusals, accounting_relations
from flwr_adaptive import adaptive_cases
from flwr_clipping import clipping_relations
from flwr_rounds import moved, one_round, strategy, through_mod
from flwr_strategies import fixed_cases, local_cases

from dpassay.adapter import Nonsense, present_cases

LIBRARY = "flwr"


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
            local_cases,
            fixed_cases,
            adaptive_cases,
            _refusals,
            accounting_answers,
            accounting_relations,
            accounting_refusals,
        )
    )
