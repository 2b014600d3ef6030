"""Certificates about functions of data: what the checker accepts, and forgeries."""

import copy
import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from dpassay.neighbours import NeighbourRelation, RecordNeighbours, VectorNeighbours
from dpassay.spec.leaves.alignment import Aligned, alignment_bound
from dpassay.spec.leaves.certificates import certificate
from dpassay.spec.leaves.check import check_alignment, digest
from dpassay.spec.leaves.model import Affine, Derived, Function, Leaf, LeafModel, Noise, NoiseKind
from dpassay.spec.leaves.reading import MalformedCertificateError

ONE = Fraction(1)


def of(*slopes: tuple[int, int], constant: int = 0) -> Affine:
    return Affine(Fraction(constant), {}, {i: Fraction(slope) for i, slope in slopes})


def released(size: int, *derived: Derived) -> LeafModel:
    """The sum of all functions with Laplace noise of scale 1."""
    data = {size + k: ONE for k in range(len(derived))}
    number = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 0): ONE}, data)
    return LeafModel((Leaf((), ONE, (number,)),), size=size, derived=derived)


def certified(model: LeafModel, relation: NeighbourRelation) -> dict[str, Any]:
    proof = alignment_bound(model, relation)
    assert isinstance(proof, Aligned), proof
    return json.loads(json.dumps(certificate(model, relation, proof)))  # type: ignore[no-any-return]


def clipped_count() -> LeafModel:
    """A count clipped to [1, 2], less the count, with noise: what is clipped may stay where the count moves."""
    above = [Derived(Function.ABOVE, of((i, 1))) for i in range(2)]
    derived = (*above, Derived(Function.CLIP, of((2, 1), (3, 1)), ONE, Fraction(2)))
    number = Affine(Fraction(0), {Noise(NoiseKind.LAPLACE, 0): ONE}, {2: -ONE, 3: -ONE, 4: ONE})
    return LeafModel((Leaf((), ONE, (number,)),), size=2, derived=derived)


RECORDS = RecordNeighbours(low=-10.0, high=10.0, size=3, relation="replace")
CLIPPED = released(3, *(Derived(Function.CLIP, of((i, 1)), Fraction(0), ONE) for i in range(3)))
COUNTED = released(3, *(Derived(Function.ABOVE, of((i, 1), constant=-2)) for i in range(3)))
SQUARED = released(3, *(Derived(Function.SQUARE, of((i, 1))) for i in range(3)))
NARROW = VectorNeighbours(3, l1=1, low=-10, high=10)


@pytest.mark.parametrize(
    ("model", "relation", "epsilon"),
    [
        (CLIPPED, RECORDS, 1),
        (CLIPPED, VectorNeighbours(3, linf=0.5), Fraction(3, 2)),
        (CLIPPED, VectorNeighbours(3, l1=0.5), Fraction(1, 2)),
        (COUNTED, RECORDS, 1),
        (COUNTED, NARROW, 3),
        (SQUARED, RECORDS, 100),
        (SQUARED, NARROW, 20),
    ],
)
def test_a_certificate_has_the_sensitivity(model: LeafModel, relation: NeighbourRelation, epsilon: Fraction) -> None:
    saved = certified(model, relation)
    assert check_alignment(saved) == []
    assert Fraction(saved["epsilon"]) == epsilon


def test_a_clipped_count_need_not_move_with_the_count() -> None:
    saved = certified(clipped_count(), VectorNeighbours(2, l0=1, linf=2))
    assert check_alignment(saved) == []
    assert Fraction(saved["epsilon"]) == 1
    for box in saved["boxes"]:  # as if it always moved as far
        box[4] = [str(Fraction(box[2][0]) + Fraction(box[3][0]))] * 2
    saved["digest"] = digest(saved)
    assert any("the boxes lack" in fault for fault in check_alignment(saved))


def all_functions(saved: dict[str, Any], **words: Any) -> None:
    for one in saved["derived"]:
        one.update(words)


def smaller_boxes(saved: dict[str, Any]) -> None:
    saved["boxes"] = [[[str(Fraction(end) / 2) for end in ends] for ends in box] for box in saved["boxes"]]


def halved(saved: dict[str, Any]) -> None:
    """Half of the shifts, for half of the moves of functions."""
    for box in saved["boxes"]:
        box[3:] = [[str(Fraction(end) / 2) for end in ends] for ends in box[3:]]
    for leaf in saved["leaves"]:
        for one in leaf["alignments"]:
            one["shift"] = {name: str(Fraction(value) / 2) for name, value in one["shift"].items()}
            one["fixed"] = {i: str(Fraction(value) / 2) for i, value in one["fixed"].items()}
    saved["epsilon"] = str(Fraction(saved["epsilon"]) / 2)


FORGERIES: dict[str, tuple[LeafModel, NeighbourRelation, Callable[[dict[str, Any]], object]]] = {
    "a smaller epsilon": (CLIPPED, RECORDS, lambda saved: saved.update(epsilon="1/2")),
    "half of the moves": (CLIPPED, RECORDS, halved),
    "half of a count": (COUNTED, RECORDS, halved),
    "half of all moves": (CLIPPED, RECORDS, smaller_boxes),
    "clipped to a longer interval": (CLIPPED, RECORDS, lambda saved: all_functions(saved, high="2")),
    "clipped below alone": (CLIPPED, RECORDS, lambda saved: all_functions(saved, high=None)),
    "no clipping": (CLIPPED, RECORDS, lambda saved: all_functions(saved, function="abs")),
    "a square for a count": (COUNTED, RECORDS, lambda saved: all_functions(saved, function="square")),
    "a floor for a count": (COUNTED, RECORDS, lambda saved: all_functions(saved, function="floor")),
    "functions of other sums": (COUNTED, RECORDS, lambda saved: all_functions(saved, data={"0": "1", "1": "1"})),
    "a smaller domain": (SQUARED, RECORDS, lambda saved: saved["relation"].update(low="-1", high="1")),
    "a sum that jumps do not obey": (COUNTED, NARROW, lambda saved: saved["moves"].update(total="1")),
    "an unknown function": (COUNTED, RECORDS, lambda saved: all_functions(saved, function="never")),
    "a later coordinate": (COUNTED, RECORDS, lambda saved: all_functions(saved, data={"5": "1"})),
    "no slope": (COUNTED, RECORDS, lambda saved: all_functions(saved, data={"0": "0"})),
    "no functions": (COUNTED, RECORDS, lambda saved: saved.pop("derived")),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_rejected(name: str) -> None:
    model, relation, change = FORGERIES[name]
    forged = copy.deepcopy(certified(model, relation))
    change(forged)
    forged["digest"] = digest(forged)
    try:
        faults = check_alignment(forged)
    except MalformedCertificateError:
        return
    assert faults
