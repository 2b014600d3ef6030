"""Reading plain values and expressions back from their words."""

import ast
from typing import Any

from dpassay.impl.libraries.plain import Record, Scalar, attribute, item

__all__ = ["is_expression", "linear_parts", "parse_values"]


def parse_values(text: str) -> tuple[Any, ...] | None:
    """Return the plain values in a list with commas, None if the text is no such list.

    >>> parse_values("1, (None, 1e999), Point(x=2)")
    (1, (None, inf), Record(kind='Point', parts=(('.x', 2),)))
    """
    try:
        tree = ast.parse(f"[{text}]", mode="eval").body
        return tuple(map(_value, tree.elts)) if isinstance(tree, ast.List) else None
    except (SyntaxError, ValueError, RecursionError):
        return None


def _value(node: ast.expr) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.UnaryOp(ast.USub(), ast.Constant(int() | float() as number)):
            return -number
        case ast.Tuple(parts):
            return tuple(map(_value, parts))
        case ast.Dict():
            return Record("dict", _keyed(node))
        case ast.Call(ast.Name(kind), [ast.Constant(str() as text)], []) if not kind.startswith("__"):
            return Scalar(kind, text)
        case ast.Call(ast.Name(kind), parts, keywords) if not kind.startswith("__"):
            return Record(kind, (*_positional(parts), *((attribute(str(k.arg)), _value(k.value)) for k in keywords)))
    raise ValueError(ast.unparse(node))


def _keyed(node: ast.Dict) -> tuple[tuple[str, Any], ...]:
    pairs = zip(node.keys, node.values, strict=True)
    return tuple((item(_value(key)), _value(value)) for key, value in pairs if key is not None)


def _positional(parts: list[ast.expr]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for part in parts:
        found += _keyed(part) if isinstance(part, ast.Dict) else [("", _value(part))]
    return found


def is_expression(text: str) -> bool:
    """Return whether a text is an expression of an outcome: ``outcome['a'][0]``, ``len(outcome.b)``, a weighted sum.

    >>> is_expression("numbers(outcome['a > b'])[0]"), is_expression("x"), is_expression("f()")
    (True, False, False)
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return text == text.strip() and (_is_path(tree) or _weighted(tree) is not None)


def linear_parts(text: str) -> list[tuple[float, str]] | None:
    """Return weights and expressions of a weighted sum, None if the text is none.

    >>> linear_parts("outcome[0]-0.5*outcome['a']")
    [(1.0, 'outcome[0]'), (-0.5, "outcome['a']")]
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return None
    return _weighted(tree)


def _weighted(node: ast.expr, weight: float = 1.0) -> list[tuple[float, str]] | None:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub() as sign, right):
            parts = _weighted(left, weight), _weighted(right, weight if isinstance(sign, ast.Add) else -weight)
            return None if parts[0] is None or parts[1] is None else [*parts[0], *parts[1]]
        case ast.BinOp(ast.Constant(int() | float() as factor), ast.Mult(), part) if _is_path(part):
            return [(weight * factor, ast.unparse(part))]
    return [(weight, ast.unparse(node))] if _is_path(node) else None


def _is_path(node: ast.expr) -> bool:
    match node:
        case ast.Name("outcome"):
            return True
        case ast.Subscript(value) | ast.Attribute(value) | ast.Call(ast.Attribute(value, "has")):
            return _is_path(value)
        case ast.Call(ast.Name(), [value], []):
            return _is_path(value)
        case ast.BinOp(left, ast.Sub(), right):
            return _is_path(left) and _is_path(right)
    return False
