"""Certificates of integer shifts of noise on a lattice, and forged ones."""

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpassay.neighbours import NeighbourRelation, VectorNeighbours, parse_neighbours
from dpassay.spec.leaves.check import MalformedCertificateError, digest
from dpassay.spec.leaves.check_lattice import check_lattice
from dpassay.spec.leaves.lattice_alignment import AlignedOnLattice, lattice_bound
from dpassay.spec.leaves.lattice_certificates import lattice_certificate
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Noise, NoiseKind, Relation
from dpassay.spec.leaves.polyhedra import opposite

HALF, ONE = Fraction(1, 2), Fraction(1)
LINE = VectorNeighbours(1, linf=1, integer=True)


def noisy(place: int, *coordinates: int, ratio: Fraction = HALF) -> Affine:
    """Return coordinates plus two-sided geometric noise."""
    up, down = (Noise(NoiseKind.GEOMETRIC, 2 * place + k, ratio) for k in (0, 1))
    return Affine(Fraction(0), {up: ONE, down: -ONE}, dict.fromkeys(coordinates, ONE))


def released(*numbers: Affine) -> LeafModel:
    width = 1 + max(i for number in numbers for i in number.data)
    return LeafModel((Leaf((), ONE, numbers),), size=width)


def thresholds() -> LeafModel:
    """Return whether a noisy number is at least 0: decisions that move with the data in one direction each."""
    above = Constraint(noisy(0, 0), Relation.AT_LEAST)
    return LeafModel((Leaf((above,), ONE, "yes"), Leaf((opposite(above),), ONE, "no")), size=1)


def certified(model: LeafModel, relation: NeighbourRelation) -> dict[str, Any]:
    proof = lattice_bound(model, relation)
    assert isinstance(proof, AlignedOnLattice), proof
    found = lattice_certificate(model, relation, proof)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


LISTED = (thresholds(), "vector:size=1,linf=2,integer", 2)
ADDED = (released(noisy(0, 0), noisy(1, 1)), "vector:size=2,l1=3,integer", 3)
CASES = [
    (released(noisy(0, 0)), "vector:size=1,linf=1,integer", 1),
    LISTED,
    ADDED,
    (released(noisy(0, 0), noisy(1, 1)), "vector:size=2,linf=1,l0=1,integer", 1),
    (released(noisy(0, 0), noisy(1, 1)), "vector:size=2,linf=2,integer,monotone", 4),
    (released(noisy(0, 0, 1)), "vector:size=2,linf=2,low=0,high=5,integer", 4),
    (released(noisy(0, 0, ratio=Fraction(1, 4))), "vector:size=1,linf=1,integer", 2),
]


@pytest.mark.parametrize(("model", "relation", "units"), CASES)
def test_a_certificate_has_the_cost_of_its_shifts(model: LeafModel, relation: str, units: int) -> None:
    saved = certified(model, parse_neighbours(relation))
    assert check_lattice(saved) == []
    assert float(Fraction(saved["epsilon"])) == pytest.approx(units * math.log(2), abs=1e-14)


@pytest.mark.parametrize(
    ("case", "name", "value"),
    [(1, "linf", "3"), (2, "l1", "4"), (3, "l0", None), (3, "linf", "2"), (5, "linf", "3"), (5, "size", 3)],
)
def test_a_relation_that_reaches_further_is_rejected(case: int, name: str, value: object) -> None:
    model, relation, _ = CASES[case]
    forged = certified(model, parse_neighbours(relation))
    forged["relation"][name] = value
    forged["digest"] = digest(forged)
    assert outcome(forged) != []


def outcome(content: dict[str, Any]) -> list[str]:
    try:
        return check_lattice(content)
    except MalformedCertificateError as error:
        return [str(error)]


def shifts(saved: dict[str, Any]) -> list[dict[str, Any]]:
    return [one for leaf in saved["leaves"] for one in leaf["alignments"]]


def first_shift(value: str) -> Callable[[dict[str, Any]], object]:
    """Return a forgery of the first shift that moves noise."""
    return lambda saved: next(one for one in shifts(saved) if one["shift"])["shift"].update(
        dict.fromkeys(next(one for one in shifts(saved) if one["shift"])["shift"], value)
    )


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a smaller epsilon": lambda saved: saved.update(epsilon="1/2"),
    "a negative epsilon": lambda saved: saved.update(epsilon="-1"),
    "no data on a lattice": lambda saved: saved["relation"].update(integer=False),
    "a larger relation": lambda saved: saved["relation"].update(linf="4", l1=None),
    "a cheaper unit": lambda saved: saved.update(costs=dict.fromkeys(saved["costs"], "693/1000"), epsilon="2079/1000"),
    "no cost": lambda saved: saved.update(costs={}),
    "a ratio of 1": lambda saved: saved["costs"].update({"1": "0"}),
    "half a unit": first_shift("1/2"),
    "a negative shift": first_shift("-1"),
    "no shift": first_shift("0"),
    "an alignment left out": lambda saved: saved["leaves"][0]["alignments"].pop(),
    "no alignments": lambda saved: saved["leaves"][0].update(alignments=[]),
    "no leaves": lambda saved: saved.update(leaves=[]),
    "a box left out": lambda saved: saved["boxes"].pop(),
    "a number that moves faster": lambda saved: saved["leaves"][0].update(
        released=[{"noise": {}, "data": {"0": "1"}}]
    ),
    "a decision about data": lambda saved: saved["leaves"][0].update(constraints=[{"noise": {}, "data": {"0": "1"}}]),
    "other noise": lambda saved: shifts(saved)[0]["shift"].update({"uniform:0": "1"}),
    "noise downwards": lambda saved: shifts(saved)[0]["shift"].update({"exponential:0": "-1"}),
}  # fmt: skip


@pytest.mark.parametrize("case", [LISTED, ADDED], ids=["listed", "added"])
@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_rejected(name: str, case: tuple[LeafModel, str, int]) -> None:
    saved = certified(case[0], parse_neighbours(case[1]))
    forged = copy.deepcopy(saved)
    FORGERIES[name](forged)
    forged["digest"] = digest(forged)
    assert outcome(saved) == []
    assert outcome(forged) != []


def test_listed_moves_do_not_prove_a_bounded_sum() -> None:
    saved = certified(released(noisy(0, 0)), LINE)
    forged = copy.deepcopy(saved)
    forged["moves"]["total"] = "1"
    for one in shifts(forged):
        one["box"], one["fixed"] = 0, {"0": one["fixed"].get("0", "0")}
    forged["digest"] = digest(forged)
    assert outcome(forged) != []


def test_a_change_without_a_new_digest_is_seen() -> None:
    forged = certified(released(noisy(0, 0)), LINE)
    forged["epsilon"] = "1"
    assert check_lattice(forged) == ["the content was changed: it does not have its digest"]


@pytest.mark.parametrize("content", [{}, {"format": "dpassay lattice alignment 1"}, {"format": "another"}])
def test_what_is_no_certificate_is_malformed(content: dict[str, Any]) -> None:
    with pytest.raises(MalformedCertificateError):
        check_lattice(content)
