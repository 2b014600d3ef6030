"""Statements: published claims as values, and the registry that holds them.

A statement is made by the decorator `statement` from a typed function: its parameters are the quantifiers
(each annotated with a `Domain`), its docstring the statement in words, its name the identifier. The body is
always the *corrected* claim; what the print says instead is an `Erratum`, executable too.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from dpassay.claims import Item, UsageError
from dpassay.discovery import import_all_below
from dpassay.spec.domains import Domain
from dpassay.spec.sources import ItemRow, Source, item_row, item_table
from dpassay.spec.verdict import Verdict

__all__ = ["Erratum", "Statement", "all_statements", "find_statement", "statement"]

ErratumClass = Literal["false", "loose", "proof"]


@dataclass(frozen=True)
class Erratum:
    """What the print says instead, and where that fails.

    Parameters
    ----------
    kind : {"false", "loose", "proof"}
        ``false``: the printed claim is violated at the witness. ``loose``: it holds, and is certified weaker than
        the corrected one at the witness. ``proof``: a step of the printed proof is violated at the witness,
        while the statement survives.
    printed_text : str
        The printed claim and its fault, in our own words.
    witness : Mapping
        Parameters at which print and correction are evaluated.
    printed, corrected : callable
        Claims of the witness' parameters. For a ``loose`` erratum `printed` includes that the print is strictly
        weaker.
    item : str, optional
        The name of the item that has the erratum, if it is not the first item of the statement.
    """

    kind: ErratumClass
    printed_text: str
    witness: Mapping[str, Any]
    printed: Callable[..., Verdict]
    corrected: Callable[..., Verdict]
    item: str | None = None


@dataclass(frozen=True)
class Statement:
    """A published claim: who says it, over what it quantifies, and how it is decided.

    Calling it with values for the quantifiers returns a `Verdict`.
    """

    name: str
    source: Source
    items: tuple[ItemRow, ...]
    sentence: str
    quantifiers: Mapping[str, Domain]
    claim: Callable[..., Verdict]
    where: str
    errata: tuple[Erratum, ...] = ()
    examples: tuple[Mapping[str, Any], ...] = ()
    cases: int = 40
    also: tuple[ItemRow, ...] = ()

    def __call__(self, **values: Any) -> Verdict:
        """Decide the claim at one point of its domain.

        Raises
        ------
        UsageError
            If a quantifier is missing, unknown or outside its domain.
        """
        if set(values) != set(self.quantifiers):
            raise UsageError(
                f"{self.name} quantifies over {sorted(self.quantifiers)}, got values for {sorted(values)}"
            )
        for quantifier, domain in self.quantifiers.items():
            if not domain.contains(values[quantifier]):
                raise UsageError(f"{self.name}: {quantifier} must be {domain.sentence}, got {values[quantifier]!r}")
        return self.claim(**values)

    @property
    def item(self) -> ItemRow:
        """The item that the statement states first of all."""
        return self.items[0]

    @property
    def covered_items(self) -> tuple[Item, ...]:
        """The keys of all items that the statement covers."""
        return tuple(row.key for row in (*self.items, *self.also))


_REGISTRY: dict[str, Statement] = {}


def statement(
    source: Source,
    *names: str,
    errata: tuple[Erratum, ...] = (),
    examples: tuple[Mapping[str, Any], ...] = (),
    cases: int = 40,
    also: tuple[Item, ...] = (),
    kind: str = "theorem",
) -> Callable[[Callable[..., Verdict]], Statement]:
    """Make a `Statement` of a function and register it.

    Parameters
    ----------
    source : Source
        The document that makes the claim.
    *names : str
        The items of that document that the statement covers, the main one first. A document whose items are not
        in the table (our own results, or literature that a statement cites) has labels here instead.
    errata : tuple of Erratum
        What the print says instead.
    examples : tuple of Mapping
        Points that are always tried: worst cases, corners, former counterexamples.
    cases : int
        How many further points the quick profile draws (the thorough one draws ten times as many).
    also : tuple of (source key, name)
        Items of other documents that say the same.
    kind : str
        Kind of the statement, for labels; items of the table have their own.

    Raises
    ------
    ValueError
        If the name is taken (both places are named), an item does not exist, or a quantifier has no domain.
    """

    def register(claim: Callable[..., Verdict]) -> Statement:
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
        )
        if not made.sentence or not made.items:
            raise ValueError(f"{where} needs a docstring and at least one item: they are the statement")
        if made.name in _REGISTRY:
            raise ValueError(f"statement {made.name!r} stands in {_REGISTRY[made.name].where} and in {where}")
        _REGISTRY[made.name] = made
        return made

    return register


def _row(source: Source, name: str, kind: str) -> ItemRow:
    if any(row.source == source.key for row in item_table().values()):
        return item_row(source.key, name)
    return ItemRow(source.key, name, name, kind)


def _quantifiers(claim: Callable[..., Verdict], where: str) -> dict[str, Domain]:
    hints = get_type_hints(claim, include_extras=True)
    quantifiers = {}
    for parameter in inspect.signature(claim).parameters:
        hint = hints.get(parameter)
        domains = [x for x in get_args(hint)[1:] if isinstance(x, Domain)] if get_origin(hint) is Annotated else []
        if len(domains) != 1:
            raise ValueError(f"{where}: the quantifier {parameter!r} needs exactly one domain, by Annotated")
        quantifiers[parameter] = domains[0]
    return quantifiers


def all_statements() -> tuple[Statement, ...]:
    """Return every statement, in order of registration; imports the modules that state them first."""
    for package_name in ("dpassay.spec.notions", "dpassay.spec.theorems"):
        import_all_below(package_name)
    return tuple(_REGISTRY.values())


def find_statement(name: str) -> Statement:
    """Return the statement of that name.

    Raises
    ------
    UsageError
        If there is none.
    """
    for candidate in all_statements():
        if candidate.name == name:
            return candidate
    raise UsageError(f"there is no statement {name!r}; `dpassay list` shows what there is")
