"""dpmm: noise, selection and budgets of three models of marginals (MST, AIM, PrivBayes), and their preprocessing.

Neighbours have one record more or less, in which the noise is made for a sensitivity of 1. Its noise is that of
opendp, which samples floating-point noise; lowest bits are not asked here but there.
"""

from __future__ import annotations

from dpmm_bounds import bound_cases
from dpmm_budgets import budget_cases
from dpmm_models import model_cases, model_refusals
from dpmm_noise import conversion_cases, noise_cases
from dpmm_pipelines import pipeline_cases
from dpmm_processing import processing_cases, processing_refusals
from dpmm_randomness import randomness_cases
from dpmm_replays import replay_cases

from dpassay.adapter import present_cases

LIBRARY = "dpmm"


def cases():
    """Return the cases that this version has."""
    return list(
        present_cases(
            conversion_cases,
            noise_cases,
            budget_cases,
            replay_cases,
            model_cases,
            bound_cases,
            pipeline_cases,
            randomness_cases,
            processing_cases,
            model_refusals,
            processing_refusals,
        )
    )
