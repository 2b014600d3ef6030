"""A library that composes noises of several kinds; adapters whose loss the law of traced privacy must certify."""

import random

from dpassay.adapter import Mechanism, NoisePrimitive

PEOPLE = "records:low=0,high=1,size=2,max-size=3,relation=add-remove"


class Noise:
    """Noise of a family with its parameters, of which the outputs are not of interest here."""

    def __init__(self, family, **parameters):
        self.family, self.parameters = family, parameters

    def add(self, value):
        return value + random.gauss(0.0, 1.0)


def laplace(scale, **more):
    return Noise("laplace", sensitivity=1.0, epsilon=1.0 / scale, **more)


def gaussian(scale):
    return Noise("gaussian", sensitivity=1.0, scale=scale)


def bounded(scale, epsilon):
    return Noise("bounded", sensitivity=1.0, epsilon=epsilon, scale=scale, low=0.0, high=3.0)


def geometric(scale):
    return laplace(scale, low=0.0, high=9.0, integer=True)


def folded(scale):
    return laplace(scale, low=0.0, high=3.0, folded=True)


def clamped_below(scale):
    """Return noise whose sums are clamped to a range below the values."""
    return laplace(scale, low=0.0, high=1.0)


def clamped_between(scale):
    """Return noise whose sums are clamped to a range between two and three records."""
    return laplace(scale, low=2.4, high=2.6)


def maker(*noises):
    """Return a function that releases the number of records once for each noise."""

    def released(data):
        return [noise.add(float(len(data))) for noise in noises]

    return released


def scale_of_data(data):
    return laplace(1.0 if len(data) > 2 else 4.0).add(0.0)


def adaptive(data):
    """Choose the second scale by the first outcome: the third sensitivity is another one."""
    first = laplace(4.0).add(float(len(data)))
    return [first, laplace(4.0 if first > 6 else 5.0).add(float(len(data)))]


def sometimes_unknown(data):
    """Draw once more if a record is large."""
    return [noise.add(float(len(data))) for noise in [laplace(4.0), *[laplace(4.0)] * (max(data) > 0.9)]]


def half_integers(data):
    return geometric(2.0).add(len(data) / 2)


def exact_count(data):
    return [laplace(4.0).add(float(len(data))), len(data)]


def raises_above(data):
    found = laplace(0.1).add(float(len(data)))
    if len(data) > 2:
        raise ValueError("too many")
    return found


def case(function, claim, **fields):
    given = {"noise": (PRIMITIVE,), "releases_noise": True, "floats": False} | fields
    return Mechanism(function.__name__, PEOPLE, claim, sample_one=function, **given)


PRIMITIVE = NoisePrimitive(
    Noise, "add", lambda noise, value: {"value": value, "family": noise.family, **noise.parameters}
)
