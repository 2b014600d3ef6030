"""Reading plain values and expressions back from their words."""

import ast
from typing import Any

from dpassay.impl.libraries.plain import Record, Scalar, attribute, item

__all__ = ["is_expression", "parse_values"]


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
    """Return whether a text is an expression of an outcome: ``outcome['a'][0]``, ``len(outcome.b)``, a difference.

    >>> is_expression("numbers(outcome['a > b'])[0]"), is_expression("x"), is_expression("f()")
    (True, False, False)
    """
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError):
        return False
    return text == text.strip() and _is_path(tree)


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
