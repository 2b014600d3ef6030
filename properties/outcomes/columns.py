"""Features of a batch of structured outcomes, by name, each computed when it is asked for."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpassay.properties.outcomes.flattening import MISSING, OUTCOME, Flat, code
from dpassay.properties.outcomes.type_names import TYPE

__all__ = ["CODE", "Columns"]

Array = NDArray[np.float64]

CODE = "code({})"
"""The feature that stands for a word: a number of its own for each, which says nothing by its size."""

_MANY = 16
"""With this many outcomes a feature must occur twice: names that occur once are often random."""


class Columns(Mapping[str, Array]):
    """Features by name: arrays of the batch, and the numbers and words of flattened outcomes.

    Parameters
    ----------
    arrays : dict
        Features that are known for the whole batch.
    flats : sequence of Flat
        The different structured outcomes.
    kinds : ndarray of int
        Which of `flats` each outcome is, -1 for none.
    types : ndarray of str, optional
        The type of each outcome, if it is to be looked at.
    """

    def __init__(
        self, arrays: dict[str, Array], flats: Sequence[Flat], kinds: NDArray[np.intp], *, types: Any = None
    ) -> None:
        self._arrays, self._flats, self._kinds = dict(arrays), flats, kinds
        if types is not None:
            self._arrays[CODE.format(TYPE)] = np.array([np.nan if t is MISSING else code(t) for t in types])
        self._types = types
        self._names: Counter[str] = Counter()
        self._names.update(list(self._arrays))
        self._mixed = {name for flat in flats for name in flat.numbers if name in self._arrays}
        for flat in flats:
            self._names.update(list(flat.numbers))
            self._names.update(CODE.format(word) for word in flat.words if word != OUTCOME)
        self._found: dict[str, Array] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> Array:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._found:
            self._found[name] = self._computed(name)
        return self._found[name]

    def _computed(self, name: str) -> Array:
        if name in self._arrays and name not in self._mixed:
            return self._arrays[name]
        values = self._arrays.get(name)
        if name.startswith("code("):
            word = name[len("code(") : -1]
            found = [code(flat.words[word]) if word in flat.words else np.nan for flat in self._flats]
        else:
            found = [flat.numbers.get(name, np.nan) for flat in self._flats]
        own = np.array([*found, np.nan])[self._kinds]  # the last one is that of the outcomes that are not flattened
        return own if values is None else np.where(self._kinds >= 0, own, values)

    def common(self, most: int) -> list[str]:
        """Return the names that most of the different outcomes have, at most `most`, in order of appearance.

        Names that one of many outcomes has are left out: random keys.
        """
        least = 1 if len(self._flats) < _MANY else 2
        chosen = {name for name, count in self._names.most_common(most) if count >= least}
        return [name for name in self._names if name in chosen or name in self._arrays]

    def worded(self, most: int = 32) -> list[str]:
        """Return the expressions that have words, at most `most`."""
        names = [name for name in self._names if name.startswith("code(")]
        return [name[len("code(") : -1] for name in sorted(names, key=lambda name: -self._names[name])[:most]]

    def words(self, expression: str) -> list[Hashable]:
        """Return the word of each outcome at an expression, `MISSING` where there is none."""
        found: list[Hashable] = [flat.words.get(expression, MISSING) for flat in self._flats]
        return [found[kind] if kind >= 0 else MISSING for kind in self._kinds.tolist()]
