"""Lines of a planted fault: those near it, and the first statement for one in a signature."""

import pytest
from benchmarks.mutation.mutants import Mutant
from benchmarks.reached_lines import lines_of

IN_A_SIGNATURE = '''
def choose(
    scores,
    monotonic=True,
):
    """Return a choice.

    By an exponential mechanism.
    """
    factor = (
        1 if monotonic else 2
    )
    return factor * scores
'''


@pytest.mark.parametrize(("line", "lines"), [(4, range(2, 13)), (10, range(8, 13)), (13, range(11, 16))])
def test_a_fault_in_a_signature_is_reached_where_the_function_is_called(line: int, lines: range) -> None:
    """No line of a signature is traced in a call."""
    mutant = Mutant("key", "library/code.py", "choose", line, "default", None, (), IN_A_SIGNATURE)
    assert lines_of(mutant) == lines
