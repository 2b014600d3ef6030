from fractions import Fraction
from typing import Annotated

import pytest

from dpassay.arguments import UsageError
from dpassay.spec.domains.base import Choices, Integers, Reals
from dpassay.spec.sources import LEBENSOLD_2024, SOURCES, item_table
from dpassay.spec.statement import Statement, all_statements, find_statement, statement
from dpassay.spec.verdict import Evidence, Holds, Verdict


def test_a_second_statement_of_the_same_name_is_refused_with_both_places() -> None:
    def pure_dp_of_gaussian_noisy_max() -> Verdict:
        """A namesake."""
        return Holds(evidence=Evidence.EXACT)

    all_statements()
    with pytest.raises(ValueError, match=r"theorems\.gaussian_selection\.noisy_max.*test_statement"):
        statement(LEBENSOLD_2024, "rnm_pure_dp")(pure_dp_of_gaussian_noisy_max)


def test_a_quantifier_needs_a_domain() -> None:
    def without_domain(x: int) -> Verdict:
        """Says nothing of x."""
        return Holds(evidence=Evidence.EXACT)

    with pytest.raises(ValueError, match="'x' needs exactly one domain"):
        statement(LEBENSOLD_2024, "rnm_pure_dp")(without_domain)


def test_a_statement_needs_its_sentence_and_an_item() -> None:
    def says_nothing() -> Verdict:
        return Holds(evidence=Evidence.EXACT)

    def covers_nothing() -> Verdict:
        """A sentence."""
        return Holds(evidence=Evidence.EXACT)

    with pytest.raises(ValueError, match="says_nothing needs a docstring"):
        statement(LEBENSOLD_2024, "rnm_pure_dp")(says_nothing)
    with pytest.raises(ValueError, match="at least one item"):
        statement(LEBENSOLD_2024)(covers_nothing)


def test_an_unknown_item_is_refused() -> None:
    with pytest.raises(KeyError, match="no_such_item"):
        statement(LEBENSOLD_2024, "no_such_item")(lambda: None)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize("each", all_statements(), ids=lambda each: each.name)
def test_every_statement_is_documented_and_placed(each: Statement) -> None:
    assert each.source.key in SOURCES
    assert each.where.startswith("dpassay.spec.")
    tabled = {row.source for row in item_table().values()}
    assert all(key in item_table() for key in each.covered_items if key[0] in tabled)
    assert all(set(example) == set(each.quantifiers) for example in each.examples)


def test_points_outside_the_domain_are_refused_by_name() -> None:
    ascending = find_statement("mgf_ratio_monotone")
    with pytest.raises(UsageError, match="shift must be a positive shift"):
        ascending(atoms=((Fraction(0), Fraction(1)),), shift=0, s=0, step=1)
    with pytest.raises(UsageError, match="quantifies over"):
        ascending(s=0)


def test_domains_know_their_members() -> None:
    assert Reals("r", 0, 1).contains(Fraction(1, 2))
    assert not Reals("r", 0, 1).contains("1")
    assert Integers("n", 1, 3).contains(3)
    assert not Integers("n", 1, 3).contains(True)
    assert Choices("c", (None, 1)).contains(None)
    assert Annotated[int, Integers("n", 1, 2)] is not None


def test_keys_of_sources_end_in_their_years() -> None:
    dated = [source for source in SOURCES.values() if source is not SOURCES["dpassay"]]
    assert [source.key[-4:] for source in dated] == [str(source.year) for source in dated]
