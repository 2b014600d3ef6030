from flint import arb

from dpassay.spec.ball import normal_cdf, precision
from dpassay.spec.numerics.adaptive_quadrature import complex_normal_cdf, normal_mean


def test_normal_means_with_closed_forms() -> None:
    with precision(128):
        second_moment = normal_mean(lambda z: z * z, centre=3, largest=10**9)
        crossing = normal_mean(lambda z: complex_normal_cdf(z + 2))
        assert abs(second_moment - 10) < arb(10) ** -20
        assert abs(crossing - normal_cdf(arb(2).sqrt())) < arb(10) ** -30


def test_what_lies_outside_is_allowed_for() -> None:
    assert normal_mean(lambda z: z * 0, largest=1).contains(0)
    assert not normal_mean(lambda z: z * 0, largest=1).is_zero()
