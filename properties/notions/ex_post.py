"""Ex-post DP in the audit: the game bets against the bound of each outcome; no reference mechanism is known."""

import math
from typing import TYPE_CHECKING

from dpassay.claims import ExPost
from dpassay.properties.betting.families import epsilon_family
from dpassay.properties.notions.base import AuditedNotion, quantity, register
from dpassay.properties.notions.bounds import Bound
from dpassay.properties.outcomes.events import Symbols, parse_event
from dpassay.spec.notions.ex_post import ex_post_bound
from dpassay.spec.verdict import Evidence

if TYPE_CHECKING:
    from dpassay.properties.hunting.result import HuntResult

__all__ = ["EX_POST_DP"]


def _decisive(claim: ExPost, result: "HuntResult") -> Bound:
    """Return the loss of the witness beside its bound, for a known distribution with outcomes that can be counted."""
    witness = result.witness
    event = parse_event(witness.event) if witness is not None and result.evidence is not Evidence.SAMPLED else None
    if witness is None or not isinstance(event, Symbols):
        unknown = quantity("excess")(claim, result)
        return Bound(unknown.quantity, None, None, unknown.allowed, unknown.label)
    low, high = witness.p_left[0], witness.p_right[1]
    loss = math.log(low / high) if high > 0 else math.inf
    allowed = max(ex_post_bound(claim, outcome) for outcome in event.members)
    return Bound("loss", loss, None, allowed, f"privacy loss of {witness.event}")


EX_POST_DP = register(
    AuditedNotion(
        claim_type=ExPost,
        families=lambda _: [epsilon_family(None, 0.0)],
        labels=lambda _: {
            "epsilon": ("epsilon at delta 0", None),
            "excess": ("privacy loss above its ex-post bound", 0.0),
        },
        divergence="excess",
        decisive=_decisive,
        scales=lambda _claim, _family: [],
        reference=None,
    )
)
