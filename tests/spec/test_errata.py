"""The errata as a whole: what each says about itself, and how they are counted."""

from collections import Counter

import pytest

from dpassay.spec.statement import Erratum, Severity, all_statements, faults

ERRATA = [(one.name, erratum) for one in all_statements() for erratum in one.errata]
FAULTS = faults(all_statements())


@pytest.mark.parametrize(("name", "erratum"), ERRATA)
def test_every_erratum_says_how_much_it_matters_where_it_stands_and_what_an_author_could_answer(
    name: str, erratum: Erratum
) -> None:
    assert isinstance(erratum.severity, Severity), name
    assert erratum.location.startswith(("Section ", "Appendix ")), name
    assert len(erratum.answer) >= len("none known"), name
    assert erratum.printed_text, name


@pytest.mark.parametrize(("name", "erratum"), ERRATA)
def test_class_and_severity_fit_each_other(name: str, erratum: Erratum) -> None:
    """A sharper bound refutes nothing, and a step of a proof whose statement survives is no error of the statement."""
    if erratum.severity is Severity.SHARPENING:
        assert erratum.kind == "loose", name
    if erratum.severity is Severity.ERROR:
        assert erratum.kind == "false", name


@pytest.mark.parametrize(("name", "erratum"), ERRATA)
def test_errata_speak_of_the_paper_and_not_of_its_print(name: str, erratum: Erratum) -> None:
    words = f"{erratum.location} {erratum.printed_text} {erratum.answer}".lower()
    assert "print" not in words, name


def test_every_erratum_is_a_fault_or_the_consequence_of_one_and_never_both() -> None:
    listed = [fault.erratum for fault in FAULTS]
    consequences = [erratum for fault in FAULTS for _, erratum in fault.consequences]
    assert Counter(map(id, listed + consequences)) == Counter(id(erratum) for _, erratum in ERRATA)
    assert all(erratum.consequence_of is None for erratum in listed)


def test_only_errors_and_minor_slips_count_as_errata() -> None:
    assert [severity.value for severity in Severity if severity.counts] == ["error", "minor"]
    assert [severity.value for severity in Severity] == ["error", "minor", "interpretation", "sharpening"]
