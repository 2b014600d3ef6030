"""riskcal: risks of attacks (error rates, advantage, Bayes risk) from privacy parameters, and calibration to them."""

from __future__ import annotations

import math

from riskcal import analysis
from riskcal.accountants import CTDAccountant
from riskcal.calibration import dpsgd
from riskcal_accounts import account_cases
from riskcal_analysis import analysis_relations
from riskcal_calibration import calibration_relations
from riskcal_curves import curve_relations

from dpassay.adapter import Nonsense, Refused

LIBRARY = "riskcal"


def _refusals():
    nan = math.nan
    yield Nonsense(
        "riskcal.analysis",
        {
            "get_beta_from_gdp, alpha=1.5": lambda: float(_number(analysis.get_beta_from_gdp(1.0, 1.5))),
            "get_beta_from_gdp, mu=-1": lambda: _number(analysis.get_beta_from_gdp(-1.0, 0.1)),
            "get_advantage_from_gdp, mu=-1": lambda: _number(analysis.get_advantage_from_gdp(-1.0)),
            "get_bayes_risk_from_gdp, mu=-1": lambda: _number(analysis.get_bayes_risk_from_gdp(-1.0, 0.5)),
            "get_beta_from_adp, epsilon=-1": lambda: _number(analysis.get_beta_from_adp(-1.0, 0.0, 0.1)),
            "get_beta_from_adp, epsilon=nan": lambda: float(analysis.get_beta_from_adp(nan, 0.0, 0.1)),
            "get_beta_from_adp, delta=2": lambda: _number(analysis.get_beta_from_adp(1.0, 2.0, 0.1)),
            "get_advantage_from_adp, epsilon=-1": lambda: _number(analysis.get_advantage_from_adp(-1.0, 0.0)),
            "get_epsilon_from_err_rates, beta=1.5": lambda: _number(
                analysis.get_epsilon_from_err_rates(0.0, 0.1, 1.5)
            ),
            "get_beta_from_rdp, epsilon=-1": lambda: analysis.get_beta_from_rdp(-1.0, 0.1, 2.0),
            "get_beta_from_rdp, alpha=1.5": lambda: analysis.get_beta_from_rdp(1.0, 1.5, 2.0),
            "get_beta_from_rdp, order=-1": lambda: analysis.get_beta_from_rdp(1.0, 0.1, -1.0),
            "get_beta_from_rdp, epsilon=nan": lambda: analysis.get_beta_from_rdp(nan, 0.1, 2.0),
            "get_beta_from_zcdp, rho=-1": lambda: analysis.get_beta_from_zcdp(-1.0, 0.1),
            "find_noise_multiplier_for_advantage, advantage=-1": lambda: dpsgd.find_noise_multiplier_for_advantage(
                -1.0, 1.0, 1, grid_step=0.1
            ),
            "find_noise_multiplier_for_err_rates, alpha=1.5": lambda: dpsgd.find_noise_multiplier_for_err_rates(
                1.5, 0.1, 1.0, 1, grid_step=0.1
            ),
            "an empty state": lambda: CTDAccountant().load_state_dict({}),
        },
    )


def _number(value):
    """Return a number; NaN is as good as a refusal."""
    if math.isnan(float(value)):
        raise Refused("nan")
    return float(value)


def cases():
    """Return all cases."""
    return [
        *analysis_relations(),
        *curve_relations(),
        *calibration_relations(),
        *account_cases(),
        *_refusals(),
    ]
