"""Faults that cost privacy: what a planted fault puts in place of one expression of a library.

The kinds are those of reported bugs: a factor or a count that is forgotten, a clip that is left out, a bound or a
comparison the wrong way round, a budget that is not split, noise that is too small, left out or used again.
"""

import ast
from collections.abc import Iterator

from benchmarks.mutation.places import Place

__all__ = ["faults"]

Fault = tuple[str, ast.expr]

_NOISE = {"randomise", "add_noise", "_add_random_noise", "apply_laplace_mechanism", "apply_gaussian_mechanism"}
_CLIPS = {"clip", "clip_to_bounds", "clip_to_norm", "_truncate", "_fold", "minimum", "maximum"}
_OPPOSITE = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "floor": "ceil", "ceil": "floor"}
_SCALES = ("sensitivity", "scale", "sigma", "std", "diameter", "norm")
_BUDGETS = ("epsilon", "eps", "delta")
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
}
_EDGES: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}


def faults(place: Place) -> Iterator[Fault]:
    """Yield the faults of the expression at a place: the kind, and the expression that replaces it."""
    node = place.node
    if isinstance(node, ast.BinOp):
        yield from _forgotten_factor(node)
    elif isinstance(node, ast.Compare):
        yield from _comparison(node)
    elif isinstance(node, ast.Call):
        yield from _call(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield "sign", node.operand
    if isinstance(place.parent, ast.keyword) and isinstance(node, ast.expr):
        yield from _parameter(place.parent.arg or "", node)
    if isinstance(place.parent, ast.If | ast.IfExp) and place.parent.test is node:
        yield "guard", ast.Constant(value=False)


def _forgotten_factor(node: ast.BinOp) -> Iterator[Fault]:
    if any(isinstance(side, ast.Constant) and isinstance(side.value, str) for side in (node.left, node.right)):
        return
    if isinstance(node.op, ast.Mult):
        yield "factor", node.left
        yield "factor", node.right
    elif isinstance(node.op, ast.Div):
        yield "split" if _speaks_of(node.left, _BUDGETS) else "factor", node.left
    elif isinstance(node.op, ast.Pow):
        yield "factor", node.left
    elif isinstance(node.op, ast.Sub | ast.Add):
        yield "bound", node.left
        yield "bound", ast.BinOp(node.left, ast.Add() if isinstance(node.op, ast.Sub) else ast.Sub(), node.right)


def _comparison(node: ast.Compare) -> Iterator[Fault]:
    if len(node.ops) != 1:
        return
    for table in (_COMPARISONS, _EDGES):
        other = table.get(type(node.ops[0]))
        if other is not None:
            yield "comparison", ast.Compare(node.left, [other()], node.comparators)


def _call(node: ast.Call) -> Iterator[Fault]:
    name = _name(node.func)
    if name in _NOISE and node.args and not isinstance(node.args[0], ast.Starred):
        yield "noise left out", node.args[0]
        if isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name | ast.Attribute):
            yield "noise used again", _used_again(node, node.func.value)
    if name in _CLIPS and node.args:
        yield "clip", node.args[0]
    if name in _OPPOSITE:
        other = _OPPOSITE[name]
        function = ast.Attribute(node.func.value, other) if isinstance(node.func, ast.Attribute) else ast.Name(other)
        yield "bound", ast.Call(function, node.args, node.keywords)
    if name == "len" or (name == "sqrt" and node.args):
        yield "count" if name == "len" else "factor", ast.Constant(1) if name == "len" else node.args[0]


def _used_again(node: ast.Call, mechanism: ast.expr) -> ast.expr:
    """Return the value with the first noise that this object has drawn."""
    value = node.args[0]
    fresh = ast.BinOp(node, ast.Sub(), value)
    kept = ast.Call(
        ast.Attribute(ast.Attribute(mechanism, "__dict__"), "setdefault"), [ast.Constant("_first_noise"), fresh], []
    )
    return ast.BinOp(value, ast.Add(), kept)


def _parameter(name: str, node: ast.expr) -> Iterator[Fault]:
    if isinstance(node, ast.Constant) and (not isinstance(node.value, int | float) or not node.value):
        return
    if any(word in name for word in _SCALES):
        yield "noise scale", ast.BinOp(node, ast.Div(), ast.Constant(2))
    elif name in _BUDGETS:
        yield "split", ast.BinOp(ast.Constant(2), ast.Mult(), node)


def _speaks_of(node: ast.expr, words: tuple[str, ...]) -> bool:
    names = {_name(part) for part in ast.walk(node) if isinstance(part, ast.Name | ast.Attribute)}
    return any(word in name for name in names for word in words)


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
