"""Certificates of mechanisms that are discrete on cells of data, and forged ones."""

import copy
import json
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.spec.leaves.cell_certificates import _multipliers, cell_certificate
from dpassay.spec.leaves.check import MalformedCertificateError, digest
from dpassay.spec.leaves.check_cells import check_cells, exp_lower
from dpassay.spec.leaves.discrete_cells import DiscreteCells, discrete_bound
from dpassay.spec.leaves.model import Affine, Constraint, Leaf, LeafModel, Relation
from dpassay.spec.leaves.polyhedra import opposite

from .models import datum, minus, number

BIT = RecordNeighbours(low=0.0, high=1.0, size=1, relation="replace")
LINE = VectorNeighbours(1, linf=1)


def steps(*chances: Fraction) -> LeafModel:
    """Return "yes" with a chance that depends on the interval of length 2 in which x lies: (-oo, 0], (0, 2], ..."""
    leaves = []
    for k, chance in enumerate(chances):
        ends = [Constraint(minus(datum(0), number(2 * end)), Relation.ABOVE) for end in (k - 1, k)]
        path = ([ends[0]] if k else []) + ([opposite(ends[1])] if k < len(chances) - 1 else [])
        leaves.append(Leaf(tuple(path), chance, "yes", (("coin", 0),)))
        leaves.append(Leaf(tuple(path), 1 - chance, "no", (("coin", 1),)))
    return LeafModel(tuple(leaves), size=1)


RISING = steps(Fraction(1, 8), Fraction(1, 4), Fraction(1, 2))


def certified(model: LeafModel, relation: NeighbourRelation, allowed: Fraction | None = None) -> dict[str, Any]:
    proof = discrete_bound(model, relation, allowed)
    assert isinstance(proof, DiscreteCells), proof
    found = cell_certificate(model, relation, proof)
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("relation", "loss"),
    [(LINE, math.log(2)), (VectorNeighbours(1, linf=3), math.log(4)), (BIT, math.log(2))],
)
def test_a_certificate_has_the_exact_loss(relation: NeighbourRelation, loss: float) -> None:
    saved = certified(RISING, relation)
    assert check_cells(saved) == []
    assert float(Fraction(saved["epsilon"])) == pytest.approx(loss, abs=1e-15)


def test_cells_that_are_too_far_apart_are_proved_to_be() -> None:
    saved = certified(RISING, LINE)
    assert {(one["from"], one["to"]) for one in saved["apart"]} == {(0, 2), (2, 0)}


@pytest.mark.parametrize("allowed", [Fraction(0), Fraction(1, 2)])
def test_delta_is_certified(allowed: Fraction) -> None:
    saved = certified(RISING, LINE, allowed)
    assert check_cells(saved) == []
    assert 0 < Fraction(saved["delta"]) <= Fraction(1, 4)


def changed(change: Callable[[dict[str, Any]], object]) -> list[str]:
    forged = copy.deepcopy(certified(RISING, LINE))
    change(forged)
    forged["digest"] = digest(forged)
    return check_cells(forged)


def ends(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node] if "yes" not in node else [*ends(node["yes"]), *ends(node["no"])]


FORGERIES: dict[str, Callable[[dict[str, Any]], object]] = {
    "a smaller epsilon": lambda saved: saved.update(epsilon="693/1000"),
    "a negative epsilon": lambda saved: saved.update(epsilon="-1"),
    "a larger relation": lambda saved: saved["relation"].update(linf="3"),
    "other probabilities": lambda saved: ends(saved["tree"])[0]["masses"].update({"0": "3/4", "1": "1/4"}),
    "probabilities above 1": lambda saved: ends(saved["tree"])[0]["masses"].update({"0": "1"}),
    "a lost outcome": lambda saved: ends(saved["tree"])[0]["masses"].pop("0"),
    "negative probabilities": lambda saved: ends(saved["tree"])[0]["masses"].update({"0": "-1/2", "1": "3/2"}),
    "cells apart without a proof": lambda saved: saved["apart"].append({"from": 0, "to": 1, "proofs": []}),
    "no multipliers": lambda saved: saved["apart"][0]["proofs"].__setitem__(0, ["0"] * 6),
    "no proofs": lambda saved: saved["apart"][0].update(proofs=[]),
    "more coordinates": lambda saved: saved["relation"].update(size=2),
    "a branch left out": lambda saved: saved["tree"].update(yes={"empty": ["1"]}),
    "negative multipliers": lambda saved: saved["tree"].update(no={"empty": ["-1"]}),
    "another decision": lambda saved: saved["tree"].update(constant="1000"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_rejected(name: str) -> None:
    assert changed(lambda _: None) == []
    assert changed(FORGERIES[name]) != []


def test_a_change_without_a_new_digest_is_seen() -> None:
    forged = certified(RISING, LINE)
    forged["epsilon"] = "1"
    assert check_cells(forged) == ["the content was changed: it does not have its digest"]


@pytest.mark.parametrize("content", [{}, {"format": "dpassay discrete cells 1"}, {"format": "another"}])
def test_what_is_no_certificate_is_malformed(content: dict[str, Any]) -> None:
    with pytest.raises(MalformedCertificateError):
        check_cells(content)


@pytest.mark.parametrize("epsilon", [Fraction(0), Fraction(1, 10), Fraction(3), Fraction(40)])
def test_exponentials_are_bounded_from_below(epsilon: Fraction) -> None:
    bound = exp_lower(epsilon)
    assert float(bound) == pytest.approx(math.exp(epsilon), rel=1e-15)
    assert bound * exp_lower(epsilon) <= exp_lower(2 * epsilon + Fraction(1, 2**100))


def test_a_bound_on_the_number_of_coordinates_that_move_counts() -> None:
    """The number of ones among two bits, by randomised response: a move of one bit changes it by one."""
    high = [Constraint(minus(datum(i), number(Fraction(1, 2))), Relation.ABOVE) for i in (0, 1)]
    leaves = []
    for count, path in enumerate(
        [[opposite(high[0]), opposite(high[1])], [high[0], opposite(high[1])], [opposite(high[0]), high[1]], high]
    ):
        chance = Fraction(1, 8) * (1, 2, 2, 4)[count]
        leaves += [Leaf(tuple(path), chance, 1, (("coin", 0),)), Leaf(tuple(path), 1 - chance, 0, (("coin", 1),))]
    two = LeafModel(tuple(leaves), size=2)
    saved = certified(two, RecordNeighbours(low=0.0, high=1.0, size=2, relation="replace"))
    assert check_cells(saved) == []
    assert float(Fraction(saved["epsilon"])) == pytest.approx(math.log(2), abs=1e-15)
    saved["relation"]["l0"] = None
    saved["digest"] = digest(saved)
    assert check_cells(saved) != []


def test_a_path_of_two_coordinates_is_shown_to_be_empty() -> None:
    """x >= 1, y >= 1 and x + y <= 0."""
    rows = (({0: 1}, -1), ({1: 1}, -1), ({0: -1, 1: -1}, 0))
    path = [
        Constraint(Affine(Fraction(constant), {}, {i: Fraction(x) for i, x in data.items()}), Relation.AT_LEAST)
        for data, constant in rows
    ]
    multipliers = _multipliers(path)
    assert min(multipliers) >= 0
    for index in (0, 1):
        assert sum(y * data.get(index, 0) for y, (data, _) in zip(multipliers, rows, strict=True)) == 0
    assert sum(y * constant for y, (_, constant) in zip(multipliers, rows, strict=True)) < 0
