"""Operators: what a mutant puts in place of an expression.

Each yields replacements of one expression, as (name of the operator, new expression). Replacements that python itself
shows equal to the original (a swap in a commutative call) are not made.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from benchmarks.mutation.places import Place

__all__ = ["Replacement", "Signatures", "replacements"]

Replacement = tuple[str, ast.expr]

_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add, ast.Pow),
    ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
_OPPOSITES = {
    "lower": "upper", "floor": "ceil", "min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax",
    "left": "right", "abs_lower": "abs_upper", "lowest": "highest", "at_most": "at_least", "down": "up",
}  # fmt: skip
_OPPOSITES |= {value: key for key, value in _OPPOSITES.items()}
_SYMMETRIC = {
    "min",
    "max",
    "hypot",
    "minimum",
    "maximum",
    "gcd",
    "isclose",
    "logaddexp",
    "zip",
    "range",
}
_INDEX_NAMES = ("index", "position", "rank", "row", "column")


@dataclass
class Signatures:
    """The annotations of the positional parameters of every function of the sources, and all names they use."""

    parameters: dict[str, list[str] | None] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)

    def add(self, tree: ast.Module) -> None:
        """Read a module."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute):
                self.attributes.add(node.attr)
            elif isinstance(node, ast.FunctionDef):
                self._enter(node.name, [x.annotation for x in node.args.args if x.arg not in {"self", "cls"}])
                self.attributes.add(node.name)
            elif isinstance(node, ast.ClassDef):
                self._enter(node.name, [x.annotation for x in node.body if isinstance(x, ast.AnnAssign)])

    def _enter(self, name: str, annotations: list[ast.expr | None]) -> None:
        texts = [ast.unparse(each) if each is not None else "" for each in annotations]
        known = name in self.parameters and self.parameters[name] != texts
        self.parameters[name] = None if known else texts

    def same_type(self, name: str, k: int) -> bool:
        """Return whether the positional parameters k and k + 1 of the function have one annotation, if known."""
        texts = self.parameters.get(name)
        return not texts or k + 1 >= len(texts) or texts[k] == texts[k + 1]


def replacements(place: Place, names: set[str], signatures: Signatures) -> Iterator[Replacement]:
    """Yield every replacement of the expression at a place; `names` are bound in its module."""
    node = place.node
    if isinstance(place.parent, ast.If | ast.IfExp) and place.parent.test is node:
        yield "dropped guard", ast.Constant(value=False)
        yield "negated guard", ast.UnaryOp(ast.Not(), node)
    if isinstance(place.parent, ast.comprehension) and node in place.parent.ifs:
        yield "dropped condition", ast.Constant(value=True)
    if isinstance(place.parent, ast.Subscript) and place.parent.slice is node and _is_index(node):
        yield from (("index", ast.BinOp(node, sign(), ast.Constant(1))) for sign in (ast.Add, ast.Sub))
    if isinstance(node, ast.Name | ast.Attribute):
        yield from _opposite_name(node, names, signatures)
    elif isinstance(node, ast.Call):
        yield from _call(node, names, signatures)
    else:
        yield from _BY_TYPE.get(type(node), _nothing)(node)


def _nothing(_: ast.expr) -> Iterator[Replacement]:
    return iter(())


def _is_index(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and (len(node.id) == 1 or node.id.endswith(_INDEX_NAMES))


def _binary(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.BinOp)
    if _is_text(node.left) or _is_text(node.right):
        return
    for other in _ARITHMETIC.get(type(node.op), ()):
        yield "operator", ast.BinOp(node.left, other(), node.right)
    if isinstance(node.op, ast.Add):
        yield from (("dropped term", side) for side in (node.left, node.right))
    elif isinstance(node.op, ast.Sub):
        yield "dropped term", node.left
        yield "dropped term", ast.UnaryOp(ast.USub(), node.right)
    elif isinstance(node.op, ast.Mult):
        yield from (("dropped factor", side) for side in (node.left, node.right))
    elif isinstance(node.op, ast.Div | ast.Pow):
        yield "dropped factor", node.left
        yield "swapped operands", ast.BinOp(node.right, node.op, node.left)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _unary(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.UnaryOp)
    if isinstance(node.op, ast.USub | ast.Not):
        yield "sign" if isinstance(node.op, ast.USub) else "negated boolean", node.operand


def _compare(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.Compare)
    for k, op in enumerate(node.ops):
        for other in _COMPARISONS[type(op)]:
            yield "comparison", ast.Compare(node.left, [*node.ops[:k], other(), *node.ops[k + 1 :]], node.comparators)


def _boolean(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.BoolOp)
    yield "and/or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for k in range(len(node.values)):
        rest = [*node.values[:k], *node.values[k + 1 :]]
        yield "dropped condition", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _constant(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.Constant)
    value = node.value
    if isinstance(value, bool):
        yield "negated boolean", ast.Constant(value=not value)
    elif isinstance(value, int | float):
        halves = [value // 2] if isinstance(value, int) and value % 2 == 0 else [value / 2] * isinstance(value, float)
        candidates = dict.fromkeys([value + 1, value - 1, value * 2, *halves, value * 0])
        yield from (("constant", _number(new)) for new in candidates if new != value)


def _number(value: float) -> ast.expr:
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def _slice(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.Slice)
    one = ast.Constant(1)
    for end in ("lower", "upper"):
        bound = getattr(node, end)
        if bound is not None and not isinstance(bound, ast.Constant):
            for sign in (ast.Add, ast.Sub):
                yield "slice", _with(node, end, ast.BinOp(bound, sign(), one))
        elif bound is None and node.step is None:
            yield "slice", _with(node, end, one if end == "lower" else ast.UnaryOp(ast.USub(), one))


def _with(node: ast.Slice, end: str, bound: ast.expr) -> ast.Slice:
    bounds = {"lower": node.lower, "upper": node.upper, end: bound}
    return ast.Slice(bounds["lower"], bounds["upper"], node.step)


def _conditional(node: ast.expr) -> Iterator[Replacement]:
    assert isinstance(node, ast.IfExp)
    yield "dropped guard", node.body


def _opposite_name(node: ast.Name | ast.Attribute, names: set[str], signatures: Signatures) -> Iterator[Replacement]:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if name == "inf":
        yield "sign", ast.UnaryOp(ast.USub(), node)
    known = signatures.attributes if isinstance(node, ast.Attribute) else names
    for other in _opposites(name):
        if other in known or (isinstance(node, ast.Name) and other in {"min", "max", "any", "all"}):
            changed = ast.Attribute(node.value, other) if isinstance(node, ast.Attribute) else ast.Name(other)
            yield "direction", changed


def _opposites(name: str) -> list[str]:
    if name in _OPPOSITES:
        return [_OPPOSITES[name]]
    pairs = [("_upper", "_lower"), ("_lower", "_upper"), ("upper_", "lower_"), ("lower_", "upper_")]
    return [name.replace(one, other, 1) for one, other in pairs if one in name][:1]


def _call(node: ast.Call, names: set[str], signatures: Signatures) -> Iterator[Replacement]:
    function = node.func
    name = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if isinstance(function, ast.Name | ast.Attribute):
        for operator, other in _opposite_name(function, names, signatures):
            yield operator, ast.Call(other, node.args, node.keywords)
    if name == "range":
        last = min(len(node.args) - 1, 1)
        for sign in (ast.Add, ast.Sub):
            changed = ast.BinOp(node.args[last], sign(), ast.Constant(1))
            yield "range", ast.Call(function, [*node.args[:last], changed, *node.args[last + 1 :]], node.keywords)
    if name not in _SYMMETRIC:
        yield from _swaps(node, name, signatures)


def _swaps(node: ast.Call, name: str, signatures: Signatures) -> Iterator[Replacement]:
    for k, (one, other) in enumerate(zip(node.args, node.args[1:], strict=False)):
        if _may_swap(one, other) and signatures.same_type(name, k):
            yield (
                "swapped arguments",
                ast.Call(node.func, [*node.args[:k], other, one, *node.args[k + 2 :]], node.keywords),
            )


def _may_swap(one: ast.expr, other: ast.expr) -> bool:
    kinds = (ast.Name, ast.Attribute, ast.BinOp, ast.Subscript, ast.Constant)
    numbers = [type(each.value) for each in (one, other) if isinstance(each, ast.Constant)]
    return (
        isinstance(one, kinds) and isinstance(other, kinds) and str not in numbers and ast.dump(one) != ast.dump(other)
    )


_BY_TYPE: dict[type[ast.expr], Callable[[ast.expr], Iterator[Replacement]]] = {
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.Constant: _constant,
    ast.Slice: _slice,
    ast.IfExp: _conditional,
}
