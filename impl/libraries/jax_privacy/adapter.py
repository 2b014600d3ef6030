"""jax-privacy: auditors of scores, accountants for training, clipping, batches, and sensitivities of correlated noise.

Numbers are float32 where the library computes with JAX.
"""

from __future__ import annotations

from jax_privacy.clipping import clip_pytree
from jax_privacy_auditors import audit_refusals, audit_relations, auditors
from jax_privacy_batches import batch_refusals, batch_relations
from jax_privacy_calibrations import calibration_refusals, calibration_relations
from jax_privacy_clipping import clipping_relations
from jax_privacy_losses import loss_refusals, loss_relations
from jax_privacy_matrices import matrix_relations
from jax_privacy_monte_carlo import monte_carlo_refusals, monte_carlo_relations
from jax_privacy_plans import plan_refusals, plan_relations
from jax_privacy_streams import stream_relations
from jax_privacy_training import training_answers, training_refusals, training_relations

from dpassay.adapter import Nonsense, present_cases

LIBRARY = "jax-privacy"


def _refusals():
    yield Nonsense(
        "clip_pytree",
        {
            "clip_norm=-1": lambda: clip_pytree([1.0], -1.0),
        },
    )


def cases():
    """Return the cases that this version has."""
    return list(
        present_cases(
            auditors,
            audit_relations,
            audit_refusals,
            training_answers,
            training_relations,
            training_refusals,
            calibration_relations,
            calibration_refusals,
            clipping_relations,
            matrix_relations,
            stream_relations,
            batch_relations,
            batch_refusals,
            plan_relations,
            plan_refusals,
            monte_carlo_relations,
            monte_carlo_refusals,
            loss_relations,
            loss_refusals,
            _refusals,
        )
    )
