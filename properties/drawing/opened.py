"""A target made ready for a search: in this process, or in one of its own."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NoReturn

from dpassay.arguments import UsageError, shown
from dpassay.claims import Claim
from dpassay.neighbours import NeighbourRelation
from dpassay.properties.drawing.errands import (
    certified,
    received_declaration,
    refuted_exactly,
    sent_declaration,
    traced,
)
from dpassay.properties.drawing.shipping import Named, Shipped
from dpassay.properties.drawing.target import Declaration, declaration_of, describe_target, is_foreign, load_target
from dpassay.properties.drawing.target_process import RemoteSampler, TargetExitError, TargetProcess
from dpassay.properties.neighbours.code_numbers import numbers_in_code
from dpassay.properties.outcomes.calls import Sampler, sampler_of

if TYPE_CHECKING:
    from dpassay.properties.hunting.decision import Decision
    from dpassay.properties.hunting.white_box import WhiteBoxResult

__all__ = ["OpenedTarget", "exits_are_refused", "open_target"]


@dataclass(frozen=True)
class OpenedTarget:
    """A target that was loaded.

    Parameters
    ----------
    declaration : Declaration
        The declaration of the target.
    sampler : Sampler or RemoteSampler
        Draws from it.
    loaded : object
        The target, where it is in this process.
    """

    declaration: Declaration
    sampler: Sampler | RemoteSampler
    loaded: Any = None

    def certified(self, claim: Claim | None, neighbours: NeighbourRelation, seed: int) -> "WhiteBoxResult | None":
        """Search by the exact distribution; None if it is unknown. Without a claim, take the first one declared."""
        if not self.declaration.may_have_distribution:
            return None
        if isinstance(self.sampler, RemoteSampler):
            return self.sampler.process.ask(certified, claim, neighbours, seed)
        return certified(self.loaded, claim, neighbours, seed)

    def traced(self, claim: Claim | None, neighbours: NeighbourRelation, seed: int, seconds: float) -> "Decision":
        """Decide by the traced code of the target. Without a claim, take the first one declared.

        Where the target keeps something of the trace that cannot be removed, its process is started anew.

        Parameters
        ----------
        claim : Claim, optional
            The claim.
        neighbours : NeighbourRelation
            The relation of the claim.
        seed : int
            Seed of the runs on numbers.
        seconds : float
            Time that the decision may take.
        """
        if not isinstance(self.sampler, RemoteSampler):
            return traced(self.loaded, claim, neighbours, seed, seconds)
        decision = self.sampler.process.ask(traced, claim, neighbours, seed, seconds)
        if not decision.leaves_marks:
            return decision
        self.sampler.process.restart()
        return replace(decision, leaves_marks=False)

    def refuted_exactly(
        self, claim: Claim | None, neighbours: NeighbourRelation, pair: tuple[Any, Any], seconds: float
    ) -> bool | None:
        """Return whether exact arithmetic refutes the claim at a pair that floats refute, None where unknown.

        Parameters
        ----------
        claim, neighbours, seconds
            As for `traced`.
        pair : (left, right)
            Two inputs.
        """
        if not isinstance(self.sampler, RemoteSampler):
            return refuted_exactly(self.loaded, claim, neighbours, pair, seconds)[0]
        answer, leaves_marks = self.sampler.process.ask(refuted_exactly, claim, neighbours, pair, seconds)
        if leaves_marks:
            self.sampler.process.restart()
        return answer

    def numbers_in_code(self) -> tuple[float, ...]:
        """Return the numbers at which the code of the target may change its behaviour."""
        if isinstance(self.sampler, RemoteSampler):
            return self.sampler.process.ask(numbers_in_code)
        return numbers_in_code(self.loaded)


@contextmanager
def open_target(
    target: Any, *, isolate: bool | None, import_timeout: float, call_timeout: float
) -> Iterator[OpenedTarget]:
    """Load a target and keep it until the end of the block.

    Parameters
    ----------
    target : object
        A name, or the object.
    isolate : bool or None
        Whether a process of its own holds it; None: only if it is code of others, loaded by its name.
    import_timeout, call_timeout : float
        Seconds that the import and each call may take in a process of its own.

    Raises
    ------
    UsageError
        If the target cannot be loaded or sent to a process, or is none.
    """
    if not (isolate is None or isinstance(isolate, bool)):
        raise UsageError(f"isolate must be True, False or None, got {shown(isolate)}")
    if isolate is None:
        isolate = is_foreign(target)
    if not isolate:
        loaded = load_target(target) if isinstance(target, str) else target
        with exits_are_refused():
            yield OpenedTarget(declaration_of(loaded), sampler_of(loaded), loaded)
        return
    name = describe_target(target)
    loader = Named(target) if isinstance(target, str) else Shipped.of(target, "a process of its own")
    with TargetProcess(loader, name, import_timeout=import_timeout, call_timeout=call_timeout) as process:
        yield OpenedTarget(received_declaration(process.ask(sent_declaration)), RemoteSampler(process))


@contextmanager
def exits_are_refused() -> Iterator[None]:
    """Let ``os._exit`` raise while a target is called here: it would end the tests with a status of its own choice.

    A process that was forked meanwhile may exit. Crashes cannot be caught, but never end with status 0.
    """
    kept, own = os._exit, os.getpid()

    def refuse(status: int) -> NoReturn:
        if os.getpid() != own:
            kept(status)
        raise TargetExitError(f"the target exited its process with status {status}")

    os._exit = refuse
    try:
        yield
    finally:
        os._exit = kept
