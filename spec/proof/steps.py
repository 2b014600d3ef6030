"""Proofs as values: named steps with their assumptions and conclusions.

A step is *checked* (a verdict is computed), a *lemma* (another statement is decided), *prose* (an argument in words
that no machine checks), or a *conjunction* of facts shown before. The last step of a proof is its conclusion::

    proof(
        suppose("h", "h vanishes at 0."),
        checked("slope", "h' is not negative.", nonnegative, h.diff(x)),
        prose("sign", "h is not negative, by the mean value theorem.", given=("h", "slope")),
    )

A checked step shows its sentence for all values of the symbols under their assumptions, and nothing more: whatever
follows from it by an argument is a step of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from dpassay.arguments import UsageError, shown
from dpassay.spec.verdict import Evidence, Outcome, Scope, Undecided, Verdict, conjunction

__all__ = [
    "Hypothesis",
    "Proof",
    "Step",
    "StepKind",
    "all_of",
    "checked",
    "computed",
    "lemma",
    "proof",
    "prose",
    "suppose",
]

Check = Callable[[], Verdict]


class Decided(Protocol):
    """A statement without quantifiers."""

    @property
    def name(self) -> str:
        """The name of the statement."""

    def __call__(self) -> Verdict:
        """Decide it."""


class StepKind(StrEnum):
    """The way in which a step is established."""

    CHECKED = "checked"
    LEMMA = "lemma"
    PROSE = "prose"
    CONJUNCTION = "conjunction"


@dataclass(frozen=True)
class Hypothesis:
    """An assumption of the statement, by name and in a sentence."""

    name: str
    sentence: str


@dataclass(frozen=True)
class Step:
    """One step: it shows the fact `name`, in words `sentence`, from the facts `given`.

    Parameters
    ----------
    name, sentence : str
        The fact shown.
    given : tuple of str
        Names of the hypotheses and earlier facts that the step uses.
    kind : StepKind
        The way in which it is established.
    check : callable, optional
        Computes the verdict of a checked step or a lemma; None for the other kinds.
    cites : str
        Name of the statement that a lemma is.
    """

    name: str
    sentence: str
    given: tuple[str, ...]
    kind: StepKind
    check: Check | None = None
    cites: str = ""

    def verdict(self) -> Verdict | None:
        """Compute the verdict of a checked step or a lemma, named after the step; None for the other kinds."""
        if self.check is None:
            return None
        found = _required_verdict(self.name, self.check())
        detail = self.name if found.outcome is Outcome.HOLDS else f"{self.name}: {found.detail}"
        return replace(found, detail=detail, tightness=None)


@dataclass(frozen=True)
class Proof:
    """A sequence of steps of which the last shows the conclusion.

    Parameters
    ----------
    hypotheses : tuple of Hypothesis
        The assumptions of the statement.
    steps : tuple of Step
        The steps, in an order in which each uses earlier facts only.
    withdrawn : frozenset of str
        Names of the facts that are taken away, for the test that each of them is needed.

    Raises
    ------
    ValueError
        If a name occurs twice, a step uses a fact that is not shown before it (a cycle is a special case), a fact is
        used by no later step, or no step is checked.
    """

    hypotheses: tuple[Hypothesis, ...]
    steps: tuple[Step, ...]
    withdrawn: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        if all(step.check is None for step in self.steps):
            raise ValueError("a proof needs at least one checked step")
        self._refuse_duplicates()
        self._refuse_unshown_facts()
        self._refuse_unused_facts()

    @property
    def conclusion(self) -> Step:
        """The last step."""
        return self.steps[-1]

    @property
    def parts(self) -> "tuple[Hypothesis | Step, ...]":
        """All hypotheses and steps."""
        return (*self.hypotheses, *self.steps)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all hypotheses and steps."""
        return tuple(part.name for part in self.parts)

    def without(self, name: str) -> "Proof":
        """Return the proof without one hypothesis or step.

        Raises
        ------
        ValueError
            If the proof has no such part.
        """
        if name not in self.names:
            raise ValueError(f"the proof of {self.conclusion.name!r} has no part {name!r}")
        return replace(self, withdrawn=self.withdrawn | {name})

    def missing(self) -> tuple[str, ...]:
        """Return the names of the facts that are withdrawn or depend on a withdrawn one."""
        lost = [part.name for part in self.hypotheses if part.name in self.withdrawn]
        for step in self.steps:
            if step.name in self.withdrawn or not set(step.given).isdisjoint(lost):
                lost.append(step.name)
        return tuple(lost)

    def decide(self) -> Verdict:
        """Compute all checked steps.

        Returns
        -------
        Verdict
            Holds if every checked step and lemma holds, with the number of prose steps, those of lemmas included;
            violated or undecided if a step is; undecided if the conclusion is not reached.
        """
        if self.conclusion.name in self.missing():
            detail = f"{self.conclusion.name!r} is not reached without {', '.join(sorted(self.withdrawn))}"
            return Undecided(evidence=Evidence.SYMBOLIC, scope=Scope.ALL, detail=detail)
        verdicts = [verdict for step in self.steps if (verdict := step.verdict()) is not None]
        own = sum(step.kind is StepKind.PROSE for step in self.steps)
        joined = conjunction(verdicts)
        return replace(joined, prose_steps=own + sum(verdict.prose_steps for verdict in verdicts))

    def _refuse_duplicates(self) -> None:
        for name in self.names:
            if self.names.count(name) > 1:
                raise ValueError(f"two parts of a proof are called {name!r}")

    def _refuse_unshown_facts(self) -> None:
        known = {part.name for part in self.hypotheses}
        for step in self.steps:
            for name in step.given:
                if name not in known:
                    when = "only later" if name in self.names else "nowhere"
                    raise ValueError(f"the step {step.name!r} uses {name!r}, which is shown {when}")
            known.add(step.name)

    def _refuse_unused_facts(self) -> None:
        used = {name for step in self.steps for name in step.given} | {self.conclusion.name}
        for name in self.names:
            if name not in used:
                raise ValueError(f"no step uses {name!r}: the conclusion is {self.conclusion.name!r}")


def proof(*parts: Hypothesis | Step) -> Proof:
    """Return the proof with these hypotheses and steps; the last one is the conclusion.

    Raises
    ------
    ValueError
        As `Proof` does.
    """
    hypotheses = tuple(part for part in parts if isinstance(part, Hypothesis))
    return Proof(hypotheses, tuple(part for part in parts if isinstance(part, Step)))


def suppose(name: str, sentence: str) -> Hypothesis:
    """Return a hypothesis of the statement."""
    return Hypothesis(name, sentence)


def checked(
    name: str, sentence: str, predicate: Callable[..., Verdict], *arguments: Any, given: Sequence[str] = ()
) -> Step:
    """Return a step checked by ``predicate(*arguments, name)``.

    Parameters
    ----------
    name, sentence : str
        The fact; the sentence says what the predicate decides.
    predicate : callable
        `identity`, `nonnegative`, `nonnegative_on_orthant` and the like: its last argument is the step's name.
    *arguments
        Its other arguments.
    given : sequence of str
        Facts under which the arguments have their meaning, such as the value of a symbol.
    """
    return Step(name, sentence, tuple(given), StepKind.CHECKED, lambda: predicate(*arguments, name))


def computed(name: str, sentence: str, check: Check, *, given: Sequence[str] = (), scope: Scope | None = None) -> Step:
    """Return a step whose verdict a function without arguments computes.

    Parameters
    ----------
    name, sentence : str
        The fact; the sentence says what the function decides.
    check : callable
        Returns the verdict.
    given : sequence of str
        Facts under which the check has its meaning.
    scope : Scope, optional
        Scope of the verdict in place of its own: `ALL` for a fact without parameters, such as a counterexample.
    """
    return Step(
        name,
        sentence,
        tuple(given),
        StepKind.CHECKED,
        check if scope is None else lambda: replace(_required_verdict(name, check()), scope=scope),
    )


def _required_verdict(name: str, found: object) -> Verdict:
    if not isinstance(found, Verdict):
        raise UsageError(f"the check of the step {name!r} must return a verdict, got {shown(found)}")
    return found


def lemma(name: str, sentence: str, statement: Decided) -> Step:
    """Return a step that is another statement without quantifiers; its prose steps count here, too."""
    return Step(name, sentence, (), StepKind.LEMMA, statement, statement.name)


def prose(name: str, sentence: str, *, given: Sequence[str] = ()) -> Step:
    """Return a step that no machine checks: the sentence gives the fact and the argument."""
    return Step(name, sentence, tuple(given), StepKind.PROSE)


def all_of(name: str, *facts: str) -> Step:
    """Return the conjunction of facts shown before; its sentence is their list."""
    return Step(name, f"All of: {'; '.join(facts)}.", facts, StepKind.CONJUNCTION)
