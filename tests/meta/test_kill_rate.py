from dpassay.spec.statement import all_statements


def test_every_statement_refutes_a_mutant(killing_statements: set[str]) -> None:
    assert {each.name for each in all_statements()} - killing_statements == set()


def test_every_mark_names_a_statement(killing_statements: set[str]) -> None:
    names = {each.name for each in all_statements()}
    assert {name for name in killing_statements if name not in names} == set()
