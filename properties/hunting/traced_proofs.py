"""Proofs about a traced mechanism for all inputs of a length, and the claims that follow."""

import inspect
import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpassay.arguments import rounded_up
from dpassay.claims import ZCDP, ApproximateDP, Claim, ExPost, GaussianDP, PureDP, RenyiDP
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.hunting.traced_pairs import types_of
from dpassay.spec.ball import ball, float_upper, precision
from dpassay.spec.leaves.alignment import Aligned, Unaligned, alignment_bound
from dpassay.spec.leaves.cell_certificates import cell_certificate
from dpassay.spec.leaves.cell_pairs import has_cells
from dpassay.spec.leaves.certificates import certificate
from dpassay.spec.leaves.check import MalformedCertificateError, check_alignment
from dpassay.spec.leaves.check_cells import check_cells
from dpassay.spec.leaves.check_lattice import check_lattice
from dpassay.spec.leaves.data_cells import AlignedCells, cell_bound
from dpassay.spec.leaves.discrete_cells import DiscreteCells, discrete_bound
from dpassay.spec.leaves.lattice_alignment import AlignedOnLattice, has_geometric_noise, lattice_bound
from dpassay.spec.leaves.lattice_certificates import lattice_certificate
from dpassay.spec.leaves.model import LeafModel
from dpassay.spec.notions.base import find_notion, grown
from dpassay.spec.notions.implications import IMPLICATIONS

__all__ = ["BITS", "BOUNDED", "MOST_MERGED", "TracedProof", "gaussian_claim", "implied", "proof_of", "within"]

MOST_MERGED = 512
"""Models with more leaves are not merged before the proof: merging would take too long."""

_LONGEST_CHAIN = 3
"""Implications in a row from a proved claim to the tested one."""

BITS = 128
"""Precision of the probabilities from which an epsilon is proved pair by pair."""


@dataclass(frozen=True)
class TracedProof:
    """(epsilon, delta)-DP for all inputs of a length.

    Parameters
    ----------
    epsilon, delta : Fraction
        The parameters.
    certificate : mapping, optional
        The alignments, as `dpassay check` reads them.
    move : tuple of Fraction, optional
        The move on which the alignments cost most.
    is_partial : bool
        Whether leaves were given up for the delta; otherwise it is the probability of runs that were not traced.
    """

    epsilon: Fraction
    delta: Fraction
    certificate: Mapping[str, Any] | None = None
    move: tuple[Fraction, ...] | None = None
    is_partial: bool = False


def proof_of(
    model: LeafModel, relation: NeighbourRelation, claim: Claim, whole: LeafModel
) -> "TracedProof | str":  # fmt: skip
    """Return what alignments prove of a model on symbolic data, or why they prove nothing.

    Without decisions about data alone, by integer shifts, and for mechanisms that are discrete on every cell of data,
    the proof has a certificate, which was checked; by shifts across cells of data, or where leaves are given up for
    the delta of the claim, it has none.

    Parameters
    ----------
    model : LeafModel
        The leaves as they were traced.
    relation, claim : NeighbourRelation, Claim
        What is to be proved.
    whole : LeafModel
        The model with its leaves merged where that does not take too long.
    """
    if _types_differ(model):
        return "equal outcomes are of different types"
    found = _for_all_events(whole, relation)
    if not isinstance(claim, ApproximateDP) or not claim.delta or _implies(found, claim):
        return found
    spent: AlignedCells | DiscreteCells | Unaligned = discrete_bound(whole, relation, grown(claim.epsilon))
    if isinstance(spent, Unaligned):
        spent = cell_bound(whole, relation, grown(claim.epsilon))
    if isinstance(spent, Unaligned):
        return found
    proof = TracedProof(spent.epsilon, spent.delta, _of_cells(whole, relation, spent), is_partial=True)
    return proof if isinstance(found, str) or _implies(proof, claim) else found


def _implies(proof: "TracedProof | str", claim: Claim) -> bool:
    weaker = None if isinstance(proof, str) else implied(proof, claim)
    return weaker is not None and within(weaker, claim)


def _for_all_events(whole: LeafModel, relation: NeighbourRelation) -> "TracedProof | str":
    """Return what alignments of all leaves prove, or why they prove nothing."""
    found = alignment_bound(whole, relation)
    if isinstance(found, Aligned):
        return _certified(whole, relation, found)
    if has_geometric_noise(whole):
        shifted = lattice_bound(whole, relation)
        if isinstance(shifted, Unaligned):
            return shifted.reason
        move = tuple(map(Fraction, shifted.worst_move))
        return TracedProof(shifted.epsilon, shifted.delta, _on_lattice(whole, relation, shifted), move)
    if not has_cells(whole):
        return found.reason
    across: AlignedCells | DiscreteCells | Unaligned = discrete_bound(whole, relation)
    if isinstance(across, Unaligned):
        across = cell_bound(whole, relation)
    if isinstance(across, Unaligned):
        return across.reason
    return TracedProof(across.epsilon, across.delta, _of_cells(whole, relation, across))


def _certified(whole: LeafModel, relation: NeighbourRelation, found: Aligned) -> "TracedProof | str":
    saved = certificate(whole, relation, found)
    try:
        faults = check_alignment(saved)
    except MalformedCertificateError as error:  # too many boxes
        faults = [str(error)]
    return faults[0] if faults else TracedProof(found.epsilon, found.delta, saved, found.worst_move)


def _of_cells(model: LeafModel, relation: NeighbourRelation, proof: AlignedCells | DiscreteCells) -> Any:
    """Return the certificate of a proof by cells of data; None if it has none that its checker accepts."""
    if not isinstance(proof, DiscreteCells) or model.derived:
        return None
    saved = cell_certificate(model, relation, proof)
    return None if check_cells(saved) else saved


def _on_lattice(model: LeafModel, relation: NeighbourRelation, proof: AlignedOnLattice) -> Any:
    """Return the certificate of a proof by integer shifts; None if it has none that its checker accepts."""
    if model.derived:
        return None
    saved = lattice_certificate(model, relation, proof)
    return None if check_lattice(saved) else saved


def _types_differ(model: LeafModel) -> bool:
    """Return whether equal outcomes, such as 1 and True or 0.0 and -0.0, can be told apart; merging joins them."""
    types: dict[Hashable, object] = {}
    pairs = ((leaf.outcome, types_of(leaf.outcome)) for leaf in model.leaves)
    return any(types.setdefault(outcome, own) != own for outcome, own in pairs)


def implied(proof: TracedProof, claim: Claim) -> Claim | None:
    """Return a claim of the type of the given one that a proof implies, with the same order, or the same epsilon."""
    epsilon = rounded_up(proof.epsilon)
    if not math.isfinite(epsilon) or (proof.delta and not isinstance(claim, ApproximateDP)):
        return None
    if proof.delta and isinstance(claim, ApproximateDP):
        return _at_most_epsilon(ApproximateDP(epsilon, min(rounded_up(proof.delta), 1.0)), claim.epsilon)
    return _converted(PureDP(epsilon), claim, _LONGEST_CHAIN)


def _at_most_epsilon(known: ApproximateDP, epsilon: float) -> ApproximateDP:
    """Lower an epsilon to the given one if it is larger, as by its rounding: delta grows by e^known - e^epsilon."""
    if known.epsilon <= epsilon:
        return known
    with precision(BITS):
        more = float_upper(ball(known.epsilon).exp() - ball(epsilon).exp())
    return ApproximateDP(epsilon, min(rounded_up(Fraction(known.delta) + Fraction(more)), 1.0))


def within(known: Claim, claim: Claim) -> bool:
    """Return whether the parameters of a claim are at most those of another one of its type, with the allowance."""
    read = find_notion(claim).enlarged(claim)
    return all(value <= vars(read)[name] for name, value in vars(known).items())


BOUNDED: Mapping[type[Claim], tuple[str, str]] = {
    ZCDP: ("rho", "rho"),
    GaussianDP: ("mu", "mu"),
    RenyiDP: ("epsilon", "renyi_epsilon"),
    ApproximateDP: ("delta", "delta"),
}
"""The parameter that a claim bounds, and the name of its quantity."""


def gaussian_claim(square: Fraction, claim: Claim) -> Claim | None:
    """Return a claim of the type of the given one that Gaussian DP with the square of a mu implies."""
    with precision(BITS):
        mu = float_upper(ball(square).sqrt())
    if isinstance(claim, ZCDP):
        return ZCDP(rounded_up(square / 2))  # mu^2 / 2, without the rounding of mu
    return _converted(GaussianDP(mu), claim, _LONGEST_CHAIN) if math.isfinite(mu) else None


def _converted(known: Claim, claim: Claim, steps: int) -> Claim | None:
    if type(known) is type(claim):
        return known
    for implication in IMPLICATIONS if steps else ():
        if type(known) is implication.source_type and implication.target_type is not ExPost:
            free = inspect.signature(implication.convert).parameters.keys() & {"epsilon", "delta", "alpha"}
            if all(hasattr(claim, name) for name in free):
                weaker = implication.convert(known, **{name: getattr(claim, name) for name in free})
                found = _converted(weaker, claim, steps - 1)
                if found is not None:
                    return found
    return None
