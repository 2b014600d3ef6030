"""A library whose noise passes through one function; adapters with faults that the law of replay must find."""

import random
import sys

from dpassay.adapter import Choice, Family, Mechanism, NoisePrimitive

PEOPLE = "records:low=-9,high=12,size=2,max-size=3,relation=add-remove"


class Noise:
    """Laplace noise."""

    def __init__(self, epsilon, sensitivity):
        self.epsilon, self.sensitivity = epsilon, sensitivity

    def add(self, value):
        return value + random.expovariate(self.epsilon / self.sensitivity) * (-1) ** random.getrandbits(1)


class Gauss:
    """Gaussian noise."""

    def __init__(self, scale, sensitivity):
        self.scale, self.sensitivity = scale, sensitivity

    def add(self, value):
        return random.gauss(value, self.scale)


def shuffled(values):
    return random.sample(values, len(values))


PRIMITIVES = (
    NoisePrimitive(
        Noise,
        "add",
        lambda noise, value: {
            "value": value,
            "family": "laplace",
            "sensitivity": noise.sensitivity,
            "epsilon": noise.epsilon,
        },
    ),
    NoisePrimitive(
        Gauss,
        "add",
        lambda noise, value: {
            "value": value,
            "family": "gaussian",
            "sensitivity": noise.sensitivity,
            "scale": noise.scale,
        },
    ),
)


def clip(value, low, high):
    return min(max(value, low), high)


def honest_sum(data, epsilon=0.5, low=-3.0, high=2.0):
    return Noise(epsilon, max(-low, high)).add(sum(clip(x, low, high) for x in data))


def honest_mean(data):
    total = Noise(0.25, 3.0).add(sum(clip(x, -3.0, 2.0) for x in data))
    return total / max(1.0, Noise(0.25, 1.0).add(len(data)))


def unclipped(data):
    return Noise(0.5, 3.0).add(sum(data))


def wrong_bound(data):
    return Noise(0.5, 2.0).add(sum(clip(x, -3.0, 2.0) for x in data))


def unsplit(data):
    total = Noise(0.5, 3.0).add(sum(clip(x, -3.0, 2.0) for x in data))
    return [total, Noise(0.5, 1.0).add(len(data))]


def unsplit_by_sign(data):
    """Return two sums of which no record moves both, each with all of the budget."""
    return [Noise(0.5, 3.0).add(sum(clip(x, -3.0, 0.0) for x in data)), honest_sum([max(x, 0.0) for x in data])]


def exact_count(data):
    return [honest_sum(data), len(data)]


def noise_for_everybody(data):
    return [Noise(0.5, 3.0).add(clip(x, -3.0, 2.0)) for x in data]


def scale_of_data(data):
    return Noise(0.5, max(map(abs, data), default=1.0)).add(0.0)


def raises_above(data):
    if max(data, default=0) > 11:
        raise ValueError("too large")
    return honest_sum(data)


def honest_gauss(data):
    return Gauss(3.0 * 3.0, 3.0).add(sum(clip(x, -3.0, 2.0) for x in data))


def little_gauss(data):
    return Gauss(3.0, 3.0).add(sum(clip(x, -3.0, 2.0) for x in data))


def nothing(data):
    return 1.0


def in_random_order(data):
    return [honest_sum(data), *shuffled(range(30))]


def case(function, claim="pure:0.5", **fields):
    given = {"noise": PRIMITIVES, "releases_noise": True, "floats": False} | fields
    return Mechanism(function.__name__, PEOPLE, claim, sample_one=function, **given)


HONEST = [
    case(honest_sum),
    case(honest_mean, splits_budget=True),
    case(unsplit_by_sign),
    case(honest_gauss, "zcdp:0.0556"),
    case(honest_gauss, "approx:0.7,0.1"),
]
LIARS = [
    (case(unclipped), "changes by"),
    (case(wrong_bound), "changes by 3, the declared sensitivity is 2"),
    (case(unsplit), "claimed 0.5"),
    (case(unsplit_by_sign, splits_budget=True), "the budgets of the noise add up to an epsilon of 1, claimed 0.5"),
    (case(exact_count), "with equal noise the outcome changes"),
    (case(noise_for_everybody), "noise is drawn"),
    (case(scale_of_data), "the noise depends on the data"),
    (case(raises_above), "noise is drawn 1 times, and 0 times on the neighbour"),
    (case(little_gauss, "zcdp:0.0556"), "claimed 0.0556"),
    (case(little_gauss, "approx:0.7,0.1"), "claimed 0.1"),
    (case(honest_gauss), "loses inf"),
]


def select(utilities, names):
    return random.choice(names)  # noqa: S311  # no secret


def chosen(data):
    """Return the name of a count; an index would raise."""
    counts = [sum(x > 0 for x in data), sum(x <= 0 for x in data)]
    return sys.modules[__name__].select(counts, ["positive", "other"]).upper()


CHOICE = (
    NoisePrimitive(
        sys.modules[__name__],
        "select",
        lambda utilities, names: {
            "value": utilities,
            "family": "selection",
            "sensitivity": 1.0,
            "epsilon": 0.5,
            "outputs": names,
        },
    ),
)
SHUFFLED = case(in_random_order, choices=(Choice(sys.modules[__name__], "shuffled", list),))


def family(function):
    """Return a sum whose bounds are parameters; with the smallest bounds of the domain no fault shows."""

    def make(epsilon, low, width):
        return Mechanism(
            "",
            f"records:low={low - width},high={low + 2 * width},size=2,relation=replace",
            f"pure:{epsilon}",
            sample_one=lambda data: function(data, epsilon, low, low + width),
            noise=PRIMITIVES,
            releases_noise=True,
        )

    return Family(function.__name__, make, {"epsilon": (0.25, 2.0), "low": (-4.0, 9.0), "width": (0.5, 6.0)})


def replaced_sum(data, epsilon, low, high):
    return Noise(epsilon, high - low).add(sum(clip(x, low, high) for x in data))


def forgets_low(data, epsilon, low, high):
    return Noise(epsilon, abs(high)).add(sum(clip(x, low, high) for x in data))
