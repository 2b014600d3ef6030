"""The names of the common benchmark of testing tools, and the mechanisms of the catalogue that have them.

The rows from Laplace to PrefixSum are named as in Bichsel, Steffen, Bogunovic and Vechev, "DP-Sniper: Black-Box
Discovery of Differential Privacy Violations using Classifiers", S&P 2021; the last three, on which later tools are
compared, as in `benchmarks/RESULTS.md`.
"""

__all__ = ["BENCHMARK", "address_of", "all_names", "names_of"]

BENCHMARK = (
    "named as in Bichsel, Steffen, Bogunovic and Vechev, DP-Sniper: Black-Box Discovery of Differential Privacy "
    "Violations using Classifiers, S&P 2021, and in the comparisons after it"
)
"""Where the names come from."""

_PLACES = {
    "Laplace": "mechanisms.laplace:laplace_of_benchmark",
    "TruncatedGeometric": "mechanisms.truncated_geometric:truncated_geometric",
    "NoisyHist1": "mechanisms.laplace:noisy_histogram",
    "NoisyHist2": "broken.foundations:inverts_the_scale",
    "NoisyMax1": "mechanisms.noisy_max:noisy_max_of_benchmark",
    "NoisyMax2": "mechanisms.exponential_noisy_max:exponential_noisy_max",
    "NoisyMax3": "broken.noisy_max_values:laplace_value",
    "NoisyMax4": "broken.noisy_max_values:exponential_value",
    "SVT1": "mechanisms.laplace_sparse_vector:sparse_vector",
    "SVT2": "mechanisms.laplace_sparse_vector:restarted_sparse_vector",
    "SVT3": "broken.sparse_vector:releases_tested_answer",
    "SVT4": "broken.sparse_vector:quarter_split",
    "SVT5": "broken.sparse_vector:bare_queries",
    "SVT6": "broken.sparse_vector:never_halts",
    "NumericalSVT": "mechanisms.laplace_sparse_vector:numeric_sparse_vector",
    "RAPPOR": "mechanisms.rappor:rappor",
    "OneTimeRAPPOR": "mechanisms.rappor:one_time_rappor",
    "LaplaceParallel": "mechanisms.laplace_sums:laplace_parallel",
    "SVT34Parallel": "broken.sparse_vector:third_and_fourth",
    "PrefixSum": "broken.foundations:prefix_sum_of_all_answers",
    "NonDPLaplace1": "broken.means:laplace_mean_of_true_size",
    "NonDPGaussian1": "broken.means:gaussian_mean_of_true_size",
    "FloatLaplace": "broken.floats:inversion_laplace",
}
_ADDRESSES = {name: f"dpassay.impl.{place}" for name, place in _PLACES.items()}


def address_of(name: str) -> str | None:
    """Return the address of the mechanism with this name, upper or lower case, or None.

    >>> address_of("svt3")
    'dpassay.impl.broken.sparse_vector:releases_tested_answer'
    """
    return next((address for known, address in _ADDRESSES.items() if known.lower() == name.lower()), None)


def names_of(address: str) -> list[str]:
    """Return the names of the mechanism at an address."""
    return [name for name, known in _ADDRESSES.items() if known == address]


def all_names() -> tuple[str, ...]:
    """Return all names, in the order of the benchmark."""
    return tuple(_PLACES)
