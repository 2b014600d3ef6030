"""The state of the code under test, kept over a trace: afterwards the target is as if it had never been traced.

A trace runs the target on symbols. A cache in a dictionary, a list, an attribute of a function or a class, a default
argument or a closure would still hold symbols, or decisions about them, when the target is sampled. Everything that
can be reached from the target and the modules next to it is noted before, each container with its elements, and what
differs afterwards is put back. Where that is not enough, :attr:`KeptState.is_clean` says so.
"""

import array
import collections
import functools
import gc
import itertools
import operator
import os
import random
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpassay.properties.drawing.global_generators import kept_global_generators
from dpassay.properties.tracing.exact_names import spaces_of
from dpassay.properties.tracing.run import has_living_run, runs_made

__all__ = ["KeptState", "kept_state"]

_MOST_NODES, _MOST_ELEMENTS = 1 << 17, 1 << 21
"""Containers, and elements of them, that are noted; beyond that the state counts as not known."""

_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None), types.CodeType, np.float64, np.int64, np.bool_})
"""Types without parts, of which large containers are full."""

_LIBRARIES = frozenset({"numpy", "scipy", "pandas", "matplotlib", "torch", "jax", "sklearn", "flint", "hypothesis",
                        "pytest", "_pytest", "dpassay"})  # fmt: skip
"""Packages whose objects are not looked into: they are large, and keep no state of the target."""

_OPENED = ("collections", "types", "weakref", "functools", "builtins", "__main__", "dpassay.impl",
           "dpassay.properties.drawing")  # fmt: skip
"""Modules of the standard library and of this package whose objects are looked into."""

_Restore = Callable[[], bool]
"""Puts a container back; returns whether that was possible."""


class KeptState:
    """The state that a target reaches, as it is when this is made.

    Parameters
    ----------
    target : object
        The target.
    """

    def __init__(self, target: Any) -> None:
        self._restores: list[_Restore] = []
        self._is_known = True
        self._elements = 0
        self._began = runs_made()
        spaces = spaces_of(target)
        self._spaces = {id(space) for space in spaces}
        self._restores.append(_of_environment())
        self._seen: dict[int, Any] = {}
        self._note_all([target, *spaces])

    def restore(self) -> None:
        """Put back what differs."""
        for restore in self._restores:
            self._is_known = restore() and self._is_known

    @property
    def is_clean(self) -> bool:
        """Return whether nothing of a trace is left: all was put back, and no run of the trace lives on."""
        if has_living_run(self._began):
            gc.collect()  # exceptions and their frames are cycles
        return self._is_known and not has_living_run(self._began)

    def _note_all(self, waiting: list[Any]) -> None:
        while waiting:
            value = waiting.pop()
            if type(value) in _ATOMS or id(value) in self._seen:
                continue
            if len(self._seen) >= _MOST_NODES or self._elements >= _MOST_ELEMENTS:
                self._is_known = False
                return
            self._seen[id(value)] = value  # while it lives, its id is its own
            parts = self._noted(value)
            self._elements += len(parts)
            waiting.extend(part for part in parts if type(part) not in _ATOMS)

    def _noted(self, value: Any) -> list[Any]:  # noqa: PLR0911 - a case for each kind of container
        """Note how a value is put back; return its parts."""
        if isinstance(value, dict):
            return self._noted_dict(value)
        if isinstance(value, list | collections.deque | set | bytearray):
            return self._noted_elements(value)
        if isinstance(value, tuple | frozenset):
            return [*value, *self._attributes(value)]
        if isinstance(value, np.ndarray):
            return self._noted_array(value)
        if isinstance(value, np.random.Generator | np.random.RandomState | random.Random):
            self._restores.append(_of_generator(value))
            return []
        if isinstance(value, array.array):
            return self._noted_numbers(value)
        if isinstance(value, itertools.count | types.GeneratorType) or _counts_down(value):
            before = _position(value)
            self._restores.append(lambda: _position(value) == before)
            return []
        if isinstance(value, type):
            return self._noted_class(value)
        if isinstance(value, types.CellType):
            return self._noted_cell(value)
        return self._noted_object(value)

    def _noted_dict(self, value: dict[Any, Any]) -> list[Any]:
        pairs = list(dict.items(value))
        is_space = id(value) in self._spaces

        def restore() -> bool:
            found = list(dict.items(value))
            if not _are_same(itertools.chain(*pairs), itertools.chain(*found)):
                known = dict(pairs) if is_space else {}
                new = [(k, v) for k, v in found if isinstance(v, types.ModuleType) and k not in known]
                clear = collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict
                clear.clear(value)
                for key, part in [*pairs, *(new if is_space else [])]:  # a module that was imported stays
                    clear.__setitem__(value, key, part)
            return True

        self._restores.append(restore)
        return [part for pair in pairs for part in pair] + self._attributes(value)

    def _noted_elements(self, value: Any) -> list[Any]:
        before = list(value)
        base: Any = next(kind for kind in (list, collections.deque, set, bytearray) if isinstance(value, kind))

        def restore() -> bool:
            found = list(value)
            is_same = set(before) == value if base is set else _are_same(before, found)
            if not is_same:
                base.clear(value)
                (base.update if base is set else base.extend)(value, before)
            return True

        self._restores.append(restore)
        return ([] if base is bytearray else before) + self._attributes(value)

    def _noted_numbers(self, value: "array.array[Any]") -> list[Any]:
        before = value[:]

        def restore() -> bool:
            if value.tobytes() != before.tobytes():
                value[:] = before
            return True

        self._elements += len(value)
        self._restores.append(restore)
        return []

    def _noted_array(self, value: Any) -> list[Any]:
        if value.dtype.hasobject:
            before = list(value.view(np.ndarray).flat)
        else:
            self._elements += value.size
            before = [] if self._elements >= _MOST_ELEMENTS else [value.tobytes()]
        copied = value.view(np.ndarray).copy() if before else None

        def restore() -> bool:
            plain = value.view(np.ndarray)
            found = list(plain.flat) if value.dtype.hasobject else [value.tobytes()]
            if copied is not None and not (_are_same(before, found) if value.dtype.hasobject else before == found):
                plain[...] = copied
            return True

        if copied is not None and value.flags.writeable:
            self._restores.append(restore)
        return before if value.dtype.hasobject else []

    def _noted_class(self, value: type) -> list[Any]:
        if self._is_closed(value):
            return []
        before = dict(vars(value))

        def restore() -> bool:
            found = dict(vars(value))
            for name in found.keys() - before.keys():
                type.__delattr__(value, name)
            for name, part in before.items():
                if name not in found or found[name] is not part:
                    type.__setattr__(value, name, part)
            return True

        self._restores.append(restore)
        return list(before.values())

    def _noted_cell(self, cell: types.CellType) -> list[Any]:
        before = _contents(cell)

        def restore() -> bool:
            if not _are_same(before, _contents(cell)):
                if before:
                    cell.cell_contents = before[0]
                else:
                    del cell.cell_contents
            return True

        self._restores.append(restore)
        return before

    def _noted_object(self, value: Any) -> list[Any]:  # noqa: PLR0911 - a case for each kind of object
        if isinstance(value, types.FunctionType):
            if self._is_closed(value):
                return []
            return [*(value.__closure__ or ()), value.__defaults__, value.__kwdefaults__, vars(value)]
        if isinstance(value, types.MethodType):
            return [value.__func__, value.__self__]
        if isinstance(value, functools.partial):
            return [value.func, value.args, value.keywords, vars(value)]
        if isinstance(value, staticmethod | classmethod):
            return [value.__func__]
        if isinstance(value, property):
            return [value.fget, value.fset]
        if isinstance(value, functools._lru_cache_wrapper):  # noqa: SLF001 - there is no public name
            self._restores.append(_of_cache(value))
            return [value.__wrapped__]
        return [] if isinstance(value, types.ModuleType) or self._is_closed(type(value)) else self._attributes(value)

    def _attributes(self, value: Any) -> list[Any]:
        """Return the dictionary of an object, and the values of its slots, which are noted."""
        parts = [vars(value)] if isinstance(getattr(value, "__dict__", None), dict) else []
        for cls in type(value).__mro__:
            slots = vars(cls).values() if "__slots__" in vars(cls) and not self._is_closed(cls) else ()
            for slot in slots:
                if isinstance(slot, types.MemberDescriptorType):
                    parts += self._noted_slot(slot, value)
        return parts

    def _noted_slot(self, slot: types.MemberDescriptorType, value: Any) -> list[Any]:
        before = _in_slot(slot, value)

        def restore() -> bool:
            if not _are_same(before, _in_slot(slot, value)):
                if before:
                    slot.__set__(value, before[0])
                else:
                    slot.__delete__(value)
            return True

        self._restores.append(restore)
        return before

    def _is_closed(self, thing: Any) -> bool:
        """Return whether a class or function belongs to a library or the standard library."""
        module = getattr(thing, "__module__", None) or ""
        is_foreign = module.partition(".")[0] in _LIBRARIES | sys.stdlib_module_names
        return is_foreign and not module.startswith(_OPENED)


def _are_same(one: Iterable[Any], other: Iterable[Any]) -> bool:
    """Return whether two sequences hold the same objects."""
    missing = object()
    return all(a is b for a, b in itertools.zip_longest(one, other, fillvalue=missing))


def _contents(cell: types.CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:  # nothing is bound
        return []


def _in_slot(slot: types.MemberDescriptorType, value: Any) -> list[Any]:
    try:
        return [slot.__get__(value)]
    except AttributeError:  # it is empty
        return []


def _position(value: Any) -> Any:
    """Return what an iterator shows of its state; it cannot be put back."""
    if isinstance(value, itertools.count):
        return repr(value)
    if isinstance(value, types.GeneratorType):
        return value.gi_frame and value.gi_frame.f_lasti
    return operator.length_hint(value)


def _counts_down(value: Any) -> bool:
    """Return whether a value is an iterator that tells how many elements are left."""
    return isinstance(value, Iterator) and hasattr(type(value), "__length_hint__")


def _of_generator(value: Any) -> _Restore:
    if isinstance(value, random.SystemRandom):
        return lambda: True
    if isinstance(value, np.random.Generator):
        before = value.bit_generator.state

        def restore() -> bool:
            value.bit_generator.state = before
            return True

        return restore
    is_python = isinstance(value, random.Random)
    state = value.getstate() if is_python else value.get_state(legacy=False)

    def restore_state() -> bool:
        (value.setstate if is_python else value.set_state)(state)
        return True

    return restore_state


def _of_environment() -> _Restore:
    before = dict(os.environ)

    def restore() -> bool:
        if dict(os.environ) != before:
            os.environ.clear()
            os.environ.update(before)
        return True

    return restore


def _of_cache(value: Any) -> _Restore:
    """Empty a cache that was used; what it held before is lost then."""
    before = value.cache_info()

    def restore() -> bool:
        if value.cache_info() == before:
            return True
        value.cache_clear()
        return bool(before.currsize == 0)

    return restore


@contextmanager
def kept_state(target: Any) -> Iterator[KeptState]:
    """Keep the state of a target over a trace, and that of the global generators.

    Parameters
    ----------
    target : object
        The target.
    """
    state = KeptState(target)
    with kept_global_generators():
        try:
            yield state
        finally:
            state.restore()
