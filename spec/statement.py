"""Statements: published claims as values, and their registry.

A statement is made by the decorator `statement` from a typed function: its parameters are the quantifiers
(each annotated with a `Domain`), its docstring the statement in words, its name the identifier. The body is
always the *corrected* claim; what the document says instead is an `Erratum`, executable too.
"""

import dis
import importlib.metadata
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from dpassay.arguments import UsageError, shown
from dpassay.discovery import import_all_below, load_module
from dpassay.registry import Item, Registry
from dpassay.spec.domains.base import Domain
from dpassay.spec.proof.figures import Figures
from dpassay.spec.proof.pins import Pin
from dpassay.spec.proof.recording import Comparison, note_outcome, recorded
from dpassay.spec.proof.steps import Proof
from dpassay.spec.sources import ItemRow, Source, item_row, items_of
from dpassay.spec.verdict import Verdict

__all__ = [
    "Erratum",
    "Fault",
    "Severity",
    "Statement",
    "all_statements",
    "faults",
    "find_statement",
    "is_statement",
    "load_statements",
    "statement",
]

ENTRY_POINTS = "dpassay.statements"
"""Group of entry points by which an installed package names its module of statements."""

NO_FIGURES = Figures()
ErratumClass = Literal["false", "loose", "proof"]


class Severity(StrEnum):
    """Severity of an erratum for a reader of the document."""

    ERROR = "error"
    """A published statement is false: applying it gives a wrong guarantee or a wrong number."""
    MINOR = "minor"
    """A mistake without consequence: in a proof or a remark, or corrected by the context of the document."""
    INTERPRETATION = "interpretation"
    """An informal sentence, a figure or an open convention that is false in one reading; not an error."""
    SHARPENING = "sharpening"
    """The published statement is correct and can be strengthened; not an error."""

    @property
    def counts(self) -> bool:
        """Return whether the document has an erratum of this severity."""
        return self in (Severity.ERROR, Severity.MINOR)


@dataclass(frozen=True, kw_only=True)
class Erratum:
    """A published claim that differs from the statement, with a witness of the difference.

    Parameters
    ----------
    kind : {"false", "loose", "proof"}
        ``false``: the published claim is violated at the witness. ``loose``: it holds, and is certified weaker than
        the corrected one at the witness. ``proof``: a step of the published proof is violated at the witness,
        while the statement survives.
    severity : Severity
        How much it matters. Only errors and minor slips are counted as errata of the document.
    location : str
        The sentence that it refers to: section, line or equation, in our own words.
    printed_text : str
        The published claim and its fault, in our own words.
    answer : str
        How an author could answer, in one sentence; ``none known`` is allowed.
    witness : Mapping
        Parameters at which the published and the corrected claim are evaluated.
    printed, corrected : callable
        Claims of the witness' parameters. For a ``loose`` erratum `printed` includes that the published claim is
        strictly weaker.
    figures : Figures
        The numbers on both sides of every comparison that the two claims decide at the witness.
    item : str, optional
        The name of the item that has the erratum, if it is not the first item of the statement.
    consequence_of : str, optional
        ``statement`` or ``statement/item``: the erratum there has the same cause. A consequence is checked and listed
        with its cause and not counted again.
    """

    kind: ErratumClass
    severity: Severity
    location: str
    printed_text: str
    answer: str
    witness: Mapping[str, Any]
    printed: Callable[..., Verdict]
    corrected: Callable[..., Verdict]
    figures: Figures = NO_FIGURES
    item: str | None = None
    consequence_of: str | None = None

    def decide(self) -> tuple[Verdict, Verdict, Verdict]:
        """Decide the published claim, the corrected claim, and whether both give the figures that are stated."""
        (published, left), (corrected, right) = self.measured()
        return published, corrected, self.figures.check(left, right)

    def measured(self) -> tuple[tuple[Verdict, list[Comparison]], tuple[Verdict, list[Comparison]]]:
        """Return the verdicts of the published and of the corrected claim, each with its comparisons."""
        return _measured(self.printed, self.witness), _measured(self.corrected, self.witness)


def _measured(claim: Callable[..., Verdict], witness: Mapping[str, Any]) -> tuple[Verdict, list[Comparison]]:
    with recorded() as comparisons:
        verdict = claim(**witness)
    return verdict, comparisons


@dataclass(frozen=True)
class Statement:
    """A published claim: its source, its quantifiers, and its decision procedure.

    Calling it with values for the quantifiers returns a `Verdict`.
    """

    name: str
    source: Source
    items: tuple[ItemRow, ...]
    sentence: str
    quantifiers: Mapping[str, Domain]
    claim: Callable[..., Verdict | Proof]
    where: str
    errata: tuple[Erratum, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    cases: int = 40
    also: tuple[ItemRow, ...] = ()
    pins: tuple[Pin, ...] = ()

    def __call__(self, **values: Any) -> Verdict:
        """Decide the claim at one point of its domain.

        Raises
        ------
        UsageError
            If a quantifier is missing, unknown or outside its domain, or the claim returns something else than a
            verdict or a proof.
        """
        if set(values) != set(self.quantifiers):
            raise UsageError(
                f"{self.name} quantifies over {sorted(self.quantifiers)}, got values for {sorted(values)}"
            )
        for quantifier, domain in self.quantifiers.items():
            if not domain.contains(values[quantifier]):
                raise UsageError(f"{self.name}: {quantifier} must be {domain.sentence}, got {values[quantifier]!r}")
        try:
            claimed: object = self.claim(**values)
            found = claimed.decide() if isinstance(claimed, Proof) else claimed
        except UsageError as error:
            raise UsageError(f"{self.name}: {error}") from error
        if not isinstance(found, Verdict):
            raise UsageError(
                f"{self.name} must return a verdict, as at_most, at_most_exact or proof make it, got {shown(found)}"
            )
        note_outcome(self.name, found.outcome)
        return found

    def proof(self) -> Proof | None:
        """Return the steps of a statement without quantifiers that is a proof; None for all others.

        The steps are made, not checked; a claim without quantifiers that is decided otherwise is decided on the way.
        """
        if self.quantifiers:
            return None
        found = self.claim()
        return found if isinstance(found, Proof) else None

    @property
    def item(self) -> ItemRow:
        """The principal item of the statement."""
        return self.items[0]

    @property
    def covered_items(self) -> tuple[Item, ...]:
        """The keys of all items that the statement covers."""
        return tuple(row.key for row in (*self.items, *self.also))


_STATEMENTS: Registry[str, Statement] = Registry(
    "statement", "dpassay.spec.notions", "dpassay.spec.theorems", where=lambda statement: statement.where
)


def statement(
    source: Source,
    *names: str,
    errata: tuple[Erratum, ...] = (),
    examples: tuple[Mapping[str, Any], ...] = (),
    cases: int = 40,
    also: tuple[Item, ...] = (),
    pins: tuple[Pin, ...] = (),
    kind: str = "theorem",
) -> Callable[[Callable[..., Verdict | Proof]], Statement]:
    """Make a `Statement` of a function and register it.

    Parameters
    ----------
    source : Source
        The document that makes the claim.
    *names : str
        The items of that document that the statement covers, the main one first. A document whose items are not
        in the table (our own results, or literature that a statement cites) has labels here instead.
    errata : tuple of Erratum
        What the document says instead.
    examples : tuple of Mapping
        Points that are always tried: worst cases, corners, former counterexamples.
    cases : int
        How many further points the quick profile draws (the thorough one draws ten times as many). A finite domain of
        at most ten times as many points is decided at all of them.
    also : tuple of (source key, name)
        Items of other documents that say the same.
    pins : tuple of Pin
        Points at which the sides of the inequality are known from a second derivation. Every bound needs one.
    kind : str
        Kind of the statement, for labels; items of the table have their own.

    Raises
    ------
    ValueError
        If the name is taken (both places are named), an item does not exist, a quantifier has no domain or an empty
        one, or the code does not read a quantifier.
    """

    def register(claim: Callable[..., Verdict | Proof]) -> Statement:
        where = f"{claim.__module__}:{claim.__name__}"
        made = Statement(
            name=claim.__name__,
            source=source,
            items=tuple(_row(source, name, kind) for name in names),
            sentence=inspect.cleandoc(claim.__doc__ or ""),
            quantifiers=_quantifiers(claim, where),
            claim=claim,
            where=where,
            errata=errata,
            examples=examples,
            cases=cases,
            also=tuple(item_row(*key) for key in also),
            pins=pins,
        )
        if not made.sentence or not made.items:
            raise ValueError(f"{where} needs a docstring and at least one item: they are the statement")
        return _STATEMENTS.enter(made.name, made)

    return register


def _row(source: Source, name: str, kind: str) -> ItemRow:
    if items_of(source.key):
        return item_row(source.key, name)
    return ItemRow(source.key, name, name, kind)


def _quantifiers(claim: Callable[..., Verdict | Proof], where: str) -> dict[str, Domain]:
    hints = get_type_hints(claim, include_extras=True)
    quantifiers = {}
    for parameter in inspect.signature(claim).parameters:
        hint = hints.get(parameter)
        domains = [x for x in get_args(hint)[1:] if isinstance(x, Domain)] if get_origin(hint) is Annotated else []
        if len(domains) != 1:
            raise ValueError(f"{where}: the quantifier {parameter!r} needs exactly one domain, by Annotated")
        complaint = domains[0].complaint()
        if complaint:
            raise UsageError(
                f"{where}: the domain of the quantifier {parameter!r}, {domains[0].sentence}, {complaint}"
            )
        quantifiers[parameter] = domains[0]
    read = _names_read(claim)
    unread = [name for name in quantifiers if name not in read]
    if unread:
        raise UsageError(
            f"{where}: the code must read every quantifier, but does not read {', '.join(unread)}: it cannot decide a "
            "claim about all values without them"
        )
    return quantifiers


def _names_read(claim: Callable[..., Verdict | Proof]) -> set[str]:
    """Return the local variables that the code of a function reads, itself or in functions inside it."""
    code = inspect.unwrap(claim).__code__
    if "locals" in code.co_names:
        return set(code.co_varnames)
    names = set(code.co_cellvars)
    # not by `dis.get_instructions`, which takes a fifth of the time of `dpassay list`
    extension = 0
    for operation, argument in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        place = extension | argument
        extension = place << 8 if operation == dis.EXTENDED_ARG else 0
        if operation in _LOCALS:
            verbs = _LOCALS[operation]
            places = (place >> 4, place & 15) if len(verbs) == 2 else (place,)  # two of them share the argument
            read = [at for verb, at in zip(verbs, places, strict=True) if verb == "LOAD"]
            names.update(code.co_varnames[at] for at in read if at < len(code.co_varnames))
    return names


_LOCALS = {
    operation: tuple(word for word in name.split("_") if word in {"LOAD", "STORE", "DELETE"})
    for operation, name in enumerate(dis.opname)
    if "_FAST" in name and name.startswith(("LOAD", "STORE", "DELETE"))
}
"""The verbs of the operations on local variables: LOAD_FAST n; STORE_FAST_LOAD_FAST (m, n) has one for each name."""


def all_statements() -> tuple[Statement, ...]:
    """Return every statement, in order of registration; imports the modules that state them first."""
    return tuple(_STATEMENTS)


def load_statements(place: str) -> tuple[Statement, ...]:
    """Import the statements of others and return them.

    Parameters
    ----------
    place : str
        A module, a package (with everything below it), a ``.py`` file, or the name of an entry point of the group
        ``dpassay.statements``.

    Raises
    ------
    UsageError
        If the module cannot be imported, or states nothing.
    """
    named = {point.name: point.value for point in importlib.metadata.entry_points(group=ENTRY_POINTS)}
    module = load_module(
        named.get(place, place),
        f"statements of {place!r}",
        by_name=True,
        accepted=f"a module, a package, a file with the ending .py, or an entry point of the group {ENTRY_POINTS}",
    )
    if hasattr(module, "__path__"):
        import_all_below(module.__name__)
    found = tuple(one for one in _STATEMENTS.present if _is_below(one.claim.__module__, module.__name__))
    if not found:
        raise UsageError(f"{place!r} has no statements; a statement is a function with the decorator `statement`")
    return found


def _is_below(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def is_statement(name: str) -> bool:
    """Return whether there is a statement of a name."""
    return _STATEMENTS.get(name) is not None


def find_statement(name: str) -> Statement:
    """Return the statement of that name.

    Raises
    ------
    UsageError
        If there is none.
    """
    return _STATEMENTS.find(name)


@dataclass(frozen=True)
class Fault:
    """An erratum that is not a consequence of another one, with its consequences and their statements."""

    statement: Statement
    erratum: Erratum
    consequences: tuple[tuple[Statement, Erratum], ...]


def faults(statements: Iterable[Statement]) -> list[Fault]:
    """Return the faults of the statements without repetition, in order of the statements.

    The consequences are those of all statements, so that a fault is the same whichever statements are asked.

    Raises
    ------
    UsageError
        If an erratum is called the consequence of one that does not exist.
    """
    causes = [_cause(one, erratum) for one in statements for erratum in one.errata]
    consequences = [(one, erratum) for one in all_statements() for erratum in one.errata if erratum.consequence_of]
    return [
        Fault(one, erratum, tuple(pair for pair in consequences if _cause(*pair) == (one, erratum)))
        for one, erratum in _without_repeats(causes)
    ]


def _without_repeats(causes: list[tuple[Statement, Erratum]]) -> Iterable[tuple[Statement, Erratum]]:
    return {id(erratum): (one, erratum) for one, erratum in causes}.values()


def _cause(one: Statement, erratum: Erratum) -> tuple[Statement, Erratum]:
    if erratum.consequence_of is None:
        return one, erratum
    name, _, item = erratum.consequence_of.partition("/")
    cause = find_statement(name)
    for candidate in cause.errata:
        if candidate.consequence_of is None and item in {"", candidate.item or cause.item.name}:
            return cause, candidate
    raise UsageError(f"{one.name}: an erratum is called a consequence of {erratum.consequence_of!r}, which has none")
