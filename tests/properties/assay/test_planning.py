"""The order of a run: where the time is short, every case has samples before any has more of them."""

from dpassay.properties.assay.finding import Finding, Law, Settings, Turn
from dpassay.properties.assay.kinds import FindingKind
from dpassay.properties.assay.planning import Check, in_running_order

SETTINGS = Settings(1e-6, 3, 100, float("inf"), pairs=8)


def law(name: str, turn: Turn, *, sampled: bool = True) -> Law:
    return Law(name, "Nothing.", lambda _: None, lambda *_: Finding(FindingKind.OK, ""), sampled=sampled, turn=turn)


FITTED, WHOLE, PARTS = law("fitted", Turn.FITTED), law("whole", Turn.SAMPLED), law("parts", Turn.SAMPLED)
EXACT = law("exact", Turn.FIRST, sampled=False)


def check(mechanism: str, one: Law, reason: str | None = None) -> Check:
    return Check(mechanism, one, reason, SETTINGS, "pure:1")


def test_every_case_is_sampled_before_one_is_sampled_again() -> None:
    checks = [
        check("a", EXACT), check("a", FITTED), check("a", WHOLE), check("a", PARTS),
        check("b", FITTED, "no distribution"), check("b", WHOLE), check("b", PARTS),
        check("c", WHOLE),
    ]  # fmt: skip
    ordered = [(one.mechanism, one.law.name) for one in in_running_order(checks) if one.reason is None]
    assert ordered[:2] == [("a", "exact"), ("a", "fitted")]
    assert ordered[2:4] == [("b", "whole"), ("c", "whole")]
    assert set(ordered[4:6]) == {("a", "whole"), ("b", "parts")}
    assert ordered[6:] == [("a", "parts")]
    assert len(in_running_order(checks)) == len(checks)
