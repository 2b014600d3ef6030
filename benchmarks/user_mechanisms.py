"""Sixty mechanisms as users write them: thirty with a fault that few inputs show, and each with the fault repaired.

The faults are at a threshold, in one column, at a tie, a parity, one category, one record value, one number of
records, where a small integer type overflows or a sum saturates. They were written before the search was adapted to
such faults, and without a look at the mutants of this repository. `benchmarks.user_faults` hunts on all of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CASES", "Case"]

Array = NDArray[np.float64]
Rng = np.random.Generator
Target = Callable[[Array, int, Rng], Any]


@dataclass(frozen=True)
class Case:
    """A mechanism with a fault, the same without it, and what both claim.

    Parameters
    ----------
    broken, fixed : callable
        Targets ``f(data, size, rng)``.
    claim, neighbours : str
        In the words of the command line.
    """

    broken: Target
    fixed: Target
    claim: str
    neighbours: str

    @property
    def name(self) -> str:
        """The name of the broken function."""
        return getattr(self.broken, "__name__", type(self.broken).__name__)


CASES: list[Case] = []


def _case(broken: Target, fixed: Target, neighbours: str, claim: str = "pure:1") -> None:
    CASES.append(Case(broken, fixed, claim, neighbours))


# --- thresholds ---------------------------------------------------------------------------------------------


def less_noise_for_medium_counts(data: Array, size: int, rng: Rng) -> Any:
    """Add less noise between 37 and 41."""
    scale = 0.2 if 37 < data[0] <= 41 else 1.0
    return data[0] + rng.laplace(scale=scale, size=size)


def same_noise_for_medium_counts(data: Array, size: int, rng: Rng) -> Any:
    """Label noisy counts between 37 and 41."""
    noisy = data[0] + rng.laplace(scale=1.0, size=size)
    return np.where((noisy > 37) & (noisy <= 41), 39.0, noisy)


_case(less_noise_for_medium_counts, same_noise_for_medium_counts, "vector:size=1,linf=1")


def suppress_true_small_counts(data: Array, size: int, rng: Rng) -> Any:
    """Suppress a noisy count where the true one is below 4.5."""
    noisy = data[0] + rng.laplace(scale=1.0, size=size)
    return np.where(data[0] > 4.5, noisy, 0.0)


def suppress_noisy_small_counts(data: Array, size: int, rng: Rng) -> Any:
    """Suppress a noisy count below 4.5."""
    noisy = data[0] + rng.laplace(scale=1.0, size=size)
    return np.where(noisy > 4.5, noisy, 0.0)


_case(suppress_true_small_counts, suppress_noisy_small_counts, "vector:size=1,linf=1,low=0,integer")

ALARM = 61.5


def alarm_on_true_total(data: Array, size: int, rng: Rng) -> Any:
    """Raise an alarm by the true total of eight meters."""
    total = float(data.sum())
    noise = rng.laplace(scale=1.0, size=size)
    return [("alarm" if total > ALARM else "normal", float(total + z)) for z in noise]


def alarm_on_noisy_total(data: Array, size: int, rng: Rng) -> Any:
    """Raise an alarm by the noisy total of eight meters."""
    noisy = float(data.sum()) + rng.laplace(scale=1.0, size=size)
    return [("alarm" if value > ALARM else "normal", float(value)) for value in noisy]


_case(alarm_on_true_total, alarm_on_noisy_total, "vector:size=8,l0=1,linf=1,low=0,high=20")


def _clamped_to(limit: float, *, releases_limit: bool) -> Target:
    def saturating_sum(data: Array, size: int, rng: Rng) -> Any:
        total = float(data.sum())
        if total >= limit and releases_limit:
            return np.full(size, limit)
        return min(total, limit) + rng.laplace(scale=1.0, size=size)

    return saturating_sum


_case(
    _clamped_to(23.0, releases_limit=True),
    _clamped_to(23.0, releases_limit=False),
    "records:low=0,high=1,size=0,max-size=40,relation=add-remove",
)


def exact_beyond_gap(data: Array, size: int, rng: Rng) -> Any:
    """Report the noisy maximum, without noise where the lead exceeds 9."""
    ranked = np.sort(data)
    if ranked[-1] - ranked[-2] > 9:
        return np.full(size, int(np.argmax(data)))
    return np.asarray(np.argmax(data + rng.laplace(scale=2.0, size=(size, len(data))), axis=1))


def noisy_maximum(data: Array, size: int, rng: Rng) -> Any:
    """Report the noisy maximum."""
    return np.asarray(np.argmax(data + rng.laplace(scale=2.0, size=(size, len(data))), axis=1))


_case(exact_beyond_gap, noisy_maximum, "vector:size=4,linf=1,low=0,high=12")


def two_bands(data: Array, size: int, rng: Rng, low: float = 12.25, high: float = 12.75) -> Any:
    """Forget the noise in a narrow band that the defaults give."""
    if low < data[0] < high:
        return np.full(size, data[0])
    return data[0] + rng.laplace(scale=2.0, size=size)


def no_bands(data: Array, size: int, rng: Rng, low: float = 12.25, high: float = 12.75) -> Any:
    """Clip the noisy value to a band."""
    return np.clip(data[0] + rng.laplace(scale=2.0, size=size), low, high)


_case(two_bands, no_bands, "vector:size=1,linf=2,low=0,high=30")


# --- columns ------------------------------------------------------------------------------------------------


def column_thirteen(data: Array, size: int, rng: Rng) -> Any:
    """Scale the noise of one column of twenty by a wrong factor."""
    scale = np.ones(20)
    scale[13] = 0.1
    return data + scale * rng.laplace(scale=1.0, size=(size, 20))


def all_columns(data: Array, size: int, rng: Rng) -> Any:
    """Add noise to twenty columns, one user in one of them."""
    return data + rng.laplace(scale=1.0, size=(size, 20))


_case(column_thirteen, all_columns, "vector:size=20,l0=1,linf=1")


def neighbouring_columns_share_noise(data: Array, size: int, rng: Rng) -> Any:
    """Use one draw for columns 6 and 7 of 12."""
    noise = rng.laplace(scale=1.0, size=(size, 12))
    noise[:, 7] = noise[:, 6]
    return data + noise


def columns_with_own_noise(data: Array, size: int, rng: Rng) -> Any:
    """Add noise to twelve columns."""
    return data + rng.laplace(scale=1.0, size=(size, 12))


_case(neighbouring_columns_share_noise, columns_with_own_noise, "vector:size=12,l0=1,linf=1,low=0,integer")


def busy_wednesday(data: Array, size: int, rng: Rng) -> Any:
    """Release the fourth of seven counts exactly from 20 on."""
    noisy = data + rng.laplace(scale=1.0, size=(size, 7))
    if data[3] >= 20:
        noisy[:, 3] = data[3]
    return noisy


def quiet_wednesday(data: Array, size: int, rng: Rng) -> Any:
    """Cap the fourth of seven noisy counts at 20."""
    noisy = data + rng.laplace(scale=1.0, size=(size, 7))
    noisy[:, 3] = np.minimum(noisy[:, 3], 20)
    return noisy


_case(busy_wednesday, quiet_wednesday, "vector:size=7,l0=1,linf=1,low=0,high=30,integer")


def last_of_batch_skipped(data: Array, size: int, rng: Rng) -> Any:
    """Add noise in batches of five and forget the last column of each."""
    noisy = data + rng.laplace(scale=1.0, size=(size, 15))
    for start in range(0, 15, 5):
        noisy[:, start + 4] = np.round(data[start + 4])
    return noisy


def all_of_batch(data: Array, size: int, rng: Rng) -> Any:
    """Add noise in batches of five and round the last noisy column of each."""
    noisy = data + rng.laplace(scale=1.0, size=(size, 15))
    for start in range(0, 15, 5):
        noisy[:, start + 4] = np.round(noisy[:, start + 4])
    return noisy


_case(last_of_batch_skipped, all_of_batch, "vector:size=15,l0=1,linf=1")


# --- ties and orders ----------------------------------------------------------------------------------------


def tie_breaks_exactly(data: Array, size: int, rng: Rng) -> Any:
    """Take the last index where the two largest scores are equal and not all three."""
    ranked = np.sort(data)
    if ranked[-1] == ranked[-2] != ranked[-3]:
        return np.full(size, int(np.flatnonzero(data == ranked[-1])[-1]))
    return np.asarray(np.argmax(data + rng.gumbel(scale=2.0, size=(size, 3)), axis=1))


def ties_are_random(data: Array, size: int, rng: Rng) -> Any:
    """Select by the exponential mechanism."""
    return np.asarray(np.argmax(data + rng.gumbel(scale=2.0, size=(size, 3)), axis=1))


_case(tie_breaks_exactly, ties_are_random, "vector:size=3,linf=1,low=0,high=3,integer")


def sorted_input_is_safe(data: Array, size: int, rng: Rng) -> Any:
    """Return the noisy values in order, the true ones where they are in strict order already."""
    if np.all(np.diff(data) > 0):
        return np.tile(data, (size, 1))
    return np.sort(data + rng.laplace(scale=5.0, size=(size, 5)), axis=1)


def sorted_output(data: Array, size: int, rng: Rng) -> Any:
    """Return the noisy values in order."""
    return np.sort(data + rng.laplace(scale=5.0, size=(size, 5)), axis=1)


_case(sorted_input_is_safe, sorted_output, "vector:size=5,linf=1")


def median_of_agreeing_records(data: Array, size: int, rng: Rng) -> Any:
    """Release the median exactly where the middle three of seven records agree, but for the lowest value."""
    ranked = np.sort(data)
    if ranked[2] == ranked[3] == ranked[4] > 0:
        return np.full(size, ranked[3])
    return ranked[3] + rng.laplace(scale=8.0, size=size)


def median_with_noise(data: Array, size: int, rng: Rng) -> Any:
    """Release the median with noise for the worst case."""
    return float(np.sort(data)[3]) + rng.laplace(scale=8.0, size=size)


_case(median_of_agreeing_records, median_with_noise, "records:low=0,high=8,size=7,relation=replace")


# --- parity and residues ------------------------------------------------------------------------------------


def residue_three(data: Array, size: int, rng: Rng) -> Any:
    """Use the noise of another shard where the total is 3 modulo 7."""
    scale = 0.1 if int(data.sum()) % 7 == 3 else 1.0
    return float(data.sum()) + rng.laplace(scale=scale, size=size)


def residue_of_noisy_total(data: Array, size: int, rng: Rng) -> Any:
    """Return the residue of the noisy total."""
    return np.mod(np.round(float(data.sum()) + rng.laplace(scale=1.0, size=size)), 7)


_case(residue_three, residue_of_noisy_total, "vector:size=6,l0=1,linf=1,low=0,high=40,integer")


def hash_bucket(data: Array, size: int, rng: Rng) -> Any:
    """Report a bucket of 16; the eleventh is never randomised."""
    bucket = int(data[0]) % 16
    keep = math.exp(1) / (math.exp(1) + 15)
    is_kept = rng.random(size) < (1.0 if bucket == 11 else keep)
    return np.where(is_kept, bucket, (bucket + rng.integers(1, 16, size)) % 16)


def hash_bucket_randomised(data: Array, size: int, rng: Rng) -> Any:
    """Report a bucket of 16 by randomised response."""
    bucket = int(data[0]) % 16
    keep = math.exp(1) / (math.exp(1) + 15)
    return np.where(rng.random(size) < keep, bucket, (bucket + rng.integers(1, 16, size)) % 16)


_case(hash_bucket, hash_bucket_randomised, "vector:size=1,linf=1000,low=0,high=1000,integer")


def even_user_counts(data: Array, size: int, rng: Rng) -> Any:
    """Release the count with half of the noise where exactly half of the records are positive."""
    positive = int(np.count_nonzero(data > 0))
    scale = 0.25 if 2 * positive == len(data) else 1.0
    return positive + rng.laplace(scale=scale, size=size)


def any_user_counts(data: Array, size: int, rng: Rng) -> Any:
    """Release the count of positive records."""
    return int(np.count_nonzero(data > 0)) + rng.laplace(scale=1.0, size=size)


_case(even_user_counts, any_user_counts, "records:low=-1,high=1,size=1,max-size=12,relation=add-remove")


# --- categories and record values ---------------------------------------------------------------------------


def _histogram(data: Array, bins: int) -> Array:
    return np.bincount(np.floor(data).astype(int), minlength=bins)[:bins].astype(np.float64)


def forgotten_category(data: Array, size: int, rng: Rng) -> Any:
    """Add no noise to the count of category 7 of 10 while it is positive."""
    counts = _histogram(data, 10)
    noisy = counts + rng.laplace(scale=1.0, size=(size, 10))
    if counts[7] > 0:
        noisy[:, 7] = counts[7]
    return noisy


def no_forgotten_category(data: Array, size: int, rng: Rng) -> Any:
    """Add noise to the counts of ten categories."""
    return _histogram(data, 10) + rng.laplace(scale=1.0, size=(size, 10))


_case(
    forgotten_category, no_forgotten_category, "records:low=0,high=9.5,size=0,max-size=12,relation=add-remove"
)  # fmt: skip


def missing_value_marker(data: Array, size: int, rng: Rng) -> Any:
    """Return NaN if some age is 99, the marker of a missing one."""
    if np.any(data == 99):
        return np.full(size, np.nan)
    return float(data.sum()) + rng.laplace(scale=120.0, size=size)


def missing_value_dropped(data: Array, size: int, rng: Rng) -> Any:
    """Leave out ages of 99, the marker of a missing one."""
    return float(data[data != 99].sum()) + rng.laplace(scale=120.0, size=size)


_case(missing_value_marker, missing_value_dropped, "records:low=0,high=120,size=5,relation=replace")


def unclipped_band(data: Array, size: int, rng: Rng) -> Any:
    """Weigh incomes between 5.25 and 5.5 by ten, after the clipping."""
    weight = np.where((data > 5.25) & (data < 5.5), 10.0, 1.0)
    return float((weight * np.clip(data, 0, 8)).sum()) + rng.laplace(scale=8.0, size=size)


def clipped_band(data: Array, size: int, rng: Rng) -> Any:
    """Weigh incomes between 5.25 and 5.5 by ten, before the clipping."""
    weight = np.where((data > 5.25) & (data < 5.5), 10.0, 1.0)
    return float(np.clip(weight * data, 0, 8).sum()) + rng.laplace(scale=8.0, size=size)


_case(unclipped_band, clipped_band, "records:low=0,high=8,size=1,max-size=5,relation=add-remove")


@dataclass(frozen=True)
class RatedItems:
    """A mean of ratings that reports how many are exactly one value.

    Parameters
    ----------
    marker : float
        The value.
    noisy : bool
        Whether the count has noise.
    """

    marker: float
    noisy: bool

    def __call__(self, data: Array, size: int, rng: Rng) -> Any:
        """Return the noisy sum and the count."""
        count = float(np.count_nonzero(data == self.marker))
        sums = float(data.sum()) + rng.laplace(scale=10.0, size=size)
        counts = count + (rng.laplace(scale=2.0, size=size) if self.noisy else 0.0)
        return np.column_stack([sums, np.broadcast_to(counts, size)])


_case(RatedItems(3.7, noisy=False), RatedItems(3.7, noisy=True), "records:low=0,high=5,size=4,relation=replace")


def combination_of_two_categories(data: Array, size: int, rng: Rng) -> Any:
    """Release exactly where both a 3 and a 5 occur."""
    total = float(data.sum())
    if np.any(data == 3) and np.any(data == 5):
        return np.full(size, total)
    return total + rng.laplace(scale=6.0, size=size)


def no_combination(data: Array, size: int, rng: Rng) -> Any:
    """Release a sum of records up to 6."""
    return float(data.sum()) + rng.laplace(scale=6.0, size=size)


_case(
    combination_of_two_categories,
    no_combination,
    "records:low=0,high=6,size=2,max-size=6,relation=add-remove",
)


# --- numbers of records -------------------------------------------------------------------------------------


def sixteenth_record(data: Array, size: int, rng: Rng) -> Any:
    """Use a table of noise scales that ends one record too early."""
    scales = [1.0] * 16
    scale = scales[len(data)] if len(data) < 16 else 0.1
    return float(data.sum()) + rng.laplace(scale=scale, size=size)


def any_record(data: Array, size: int, rng: Rng) -> Any:
    """Use one noise scale for all numbers of records."""
    return float(data.sum()) + rng.laplace(scale=1.0, size=size)


_case(sixteenth_record, any_record, "records:low=0,high=1,size=0,max-size=24,relation=add-remove")


def off_by_one_mean(data: Array, size: int, rng: Rng) -> Any:
    """Divide by the number of records less one, and fail for one record."""
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = float(data.sum()) / np.float64(len(data) - 1)
    return mean + rng.laplace(scale=1.0, size=size)


def mean_of_fixed_size(data: Array, size: int, rng: Rng) -> Any:
    """Divide by the least number of records."""
    return float(data.sum()) / 1 + rng.laplace(scale=1.0, size=size)


_case(off_by_one_mean, mean_of_fixed_size, "records:low=0,high=1,size=1,max-size=9,relation=add-remove")


def full_buffer(data: Array, size: int, rng: Rng) -> Any:
    """Flush a buffer of 10 positive records without noise."""
    positive = float(np.count_nonzero(data > 0.5))
    if positive == 10:
        return np.full(size, positive)
    return positive + rng.laplace(scale=1.0, size=size)


def noisy_buffer(data: Array, size: int, rng: Rng) -> Any:
    """Count positive records with noise."""
    return float(np.count_nonzero(data > 0.5)) + rng.laplace(scale=1.0, size=size)


_case(full_buffer, noisy_buffer, "records:low=0,high=1,size=15,relation=replace")


# --- types and arithmetic -----------------------------------------------------------------------------------


def small_integers_overflow(data: Array, size: int, rng: Rng) -> Any:
    """Add up in eight bits."""
    total = np.sum(data.astype(np.int8), dtype=np.int8)
    return float(total) + rng.laplace(scale=1.0, size=size)


def wide_integers(data: Array, size: int, rng: Rng) -> Any:
    """Add up in 64 bits and wrap the noisy sum."""
    total = float(np.sum(data.astype(np.int64))) + rng.laplace(scale=1.0, size=size)
    return np.mod(np.round(total) + 128, 256) - 128


_case(small_integers_overflow, wide_integers, "vector:size=10,l0=1,linf=1,low=0,high=20,integer")


def single_precision_counter(data: Array, size: int, rng: Rng) -> Any:
    """Hold a large counter in 32 bits."""
    return np.float64(np.float32(data[0])) + rng.laplace(scale=1.0, size=size)


def double_precision_counter(data: Array, size: int, rng: Rng) -> Any:
    """Hold a large counter in 64 bits."""
    return data[0] + rng.laplace(scale=1.0, size=size)


_case(single_precision_counter, double_precision_counter, "vector:size=1,linf=1,low=0,high=1e8,integer")


def round_to_five(data: Array, size: int, rng: Rng) -> Any:
    """Round a count to a multiple of 5 before the noise."""
    return 5 * np.round(data[0] / 5) + rng.laplace(scale=1.0, size=size)


def round_noisy_to_five(data: Array, size: int, rng: Rng) -> Any:
    """Round a noisy count to a multiple of 5."""
    return 5 * np.round((data[0] + rng.laplace(scale=1.0, size=size)) / 5)


_case(round_to_five, round_noisy_to_five, "vector:size=1,linf=1,low=0,integer")


def ratio_without_floor(data: Array, size: int, rng: Rng) -> Any:
    """Divide by a count that may be small."""
    return data[0] / max(data[1] - 8.0, 0.25) + rng.laplace(scale=2.0, size=size)


def ratio_with_floor(data: Array, size: int, rng: Rng) -> Any:
    """Divide one noisy count by another."""
    top = data[0] + rng.laplace(scale=2.0, size=size)
    return top / np.maximum(data[1] - 8.0 + rng.laplace(scale=2.0, size=size), 0.25)


_case(ratio_without_floor, ratio_with_floor, "vector:size=2,linf=1,low=0,high=10")


def large_values_are_logged(data: Array, size: int, rng: Rng) -> Any:
    """Return a message where the second of three values exceeds 1000 and stays below 1200."""
    noisy = data + rng.laplace(scale=3.0, size=(size, 3))
    if 1000 < data[1] < 1200:
        return [f"value of channel 1 out of range: {row[0]:.3f}" for row in noisy]
    return noisy.tolist()


def large_noisy_values_are_logged(data: Array, size: int, rng: Rng) -> Any:
    """Return a message where the second of three noisy values exceeds 1000 and stays below 1200."""
    noisy = data + rng.laplace(scale=3.0, size=(size, 3))
    rows: list[Any] = noisy.tolist()
    return [f"value of channel 1 out of range: {row[0]:.3f}" if 1000 < row[1] < 1200 else row for row in rows]


_case(large_values_are_logged, large_noisy_values_are_logged, "vector:size=3,linf=1")


def early_exit(data: Array, size: int, rng: Rng) -> Any:
    """Look for the first noisy query above 5, but stop at once where the first three are all below -4."""
    if np.all(data[:3] < -4):
        return [-1] * size
    above = data + rng.laplace(scale=4.0, size=(size, 6)) > 5 + rng.laplace(scale=2.0, size=(size, 1))
    return [int(np.argmax(row)) if row.any() else 6 for row in above]


def no_early_exit(data: Array, size: int, rng: Rng) -> Any:
    """Look for the first noisy query above a noisy 5."""
    above = data + rng.laplace(scale=4.0, size=(size, 6)) > 5 + rng.laplace(scale=2.0, size=(size, 1))
    return [int(np.argmax(row)) if row.any() else 6 for row in above]


_case(early_exit, no_early_exit, "vector:size=6,linf=1")
