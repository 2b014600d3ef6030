"""Which cases execute the lines of a planted fault, as a run under a tracer tells."""

import ast
from dataclasses import dataclass, replace

from benchmarks.mutation.mutants import Mutant
from dpassay.properties.assay.suite import Plan

__all__ = ["Coverage", "lines_of"]


@dataclass(frozen=True)
class Coverage:
    """The names of the cases that execute each line, "" for a line that is executed before any of them.

    Parameters
    ----------
    cases : dict
        The names by path and line.
    untraced : frozenset of str
        Cases with a law that the tracer did not come to.
    """

    cases: dict[tuple[str, int], set[str]]
    untraced: frozenset[str]

    @property
    def is_unknown(self) -> bool:
        """True if nothing was traced."""
        return not self.cases

    def of(self, mutant: Mutant) -> set[str]:
        """Return the cases that execute the lines of a fault."""
        found = [self.cases.get((mutant.path, line), set()) for line in lines_of(mutant)]
        return set().union(*found)

    def relevant(self, plan: Plan, mutant: Mutant) -> Plan:
        """Return the checks of the cases that execute a fault, then those of cases that may."""
        names = self.of(mutant)
        if "" in names or self.is_unknown:
            return plan
        last = [check for check in plan.checks if check.mechanism in self.untraced - names]
        return replace(plan, checks=(*(check for check in plan.checks if check.mechanism in names), *last))


def lines_of(mutant: Mutant) -> range:
    """Return the lines near an expression: a statement of several lines is traced at some of them only.

    The signature of a function is not traced when it is called. A fault in it has the first statement, too.
    """
    first, last = mutant.line - 2, mutant.line + 2
    for node in ast.walk(ast.parse(mutant.changed)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        has_words = len(node.body) > 1 and ast.get_docstring(node) is not None
        begin = node.body[int(has_words)]
        if node.lineno <= mutant.line < begin.lineno:
            last = max(last, begin.end_lineno or begin.lineno)
    return range(first, last + 1)
