"""Optional features: a constructor is refused where any one of the features that it needs is not enabled.

Everything that a call takes is built beforehand, with all features enabled. Then one feature is disabled, for the call
alone.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import opendp.prelude as dp
from opendp_building import Collector, atom, constructor, vector

from dpassay.adapter import Nonsense, Refused

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["feature_cases"]

_CONTRIB, _HONEST, _IDEALISED = "contrib", "honest-but-curious", "idealized-numerics"


def _without(feature: str, call: Callable[[], Any]) -> Callable[[], Any]:
    """Return an attempt: a call while one feature is disabled. A refusal for another reason is none."""

    def attempt() -> Any:
        dp.disable_features(feature)
        try:
            return call()
        except dp.OpenDPException as error:
            if "requires" in str(error) and f'"{feature}"' in str(error):
                raise Refused(f"it requires {feature}") from error
            return f"refused for another reason: {error}"
        except (TypeError, ValueError) as error:
            return f"refused for another reason: {error}"
        finally:
            dp.enable_features(feature)

    return attempt


def _each(features: tuple[str, ...], name: str, call: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    """Return the attempts of a call that needs some features: each of them disabled, the others enabled."""
    dp.enable_features(*features)
    call()  # raises where the call itself is wrong
    return {f"{name} without {feature}": _without(feature, call) for feature in features}


def constructors() -> Nonsense:
    """Return the attempts: every constructor of this release without contributed code, whatever it is given."""
    attempts: dict[str, Callable[[], Any]] = {}
    for home in (dp.t, dp.m, dp.c):
        for name, make in inspect.getmembers(home, callable):
            if not name.startswith("make_") or name not in home.__all__:
                continue
            needed = [each for each in inspect.signature(make).parameters.values() if each.default is each.empty]
            nothing = [None] * len(needed)
            attempts[name] = _without(_CONTRIB, lambda make=make, nothing=nothing: make(*nothing))
    return Nonsense("constructors without contrib", attempts)


def user_constructors() -> Nonsense:
    """Return the attempts: what is as private as the user says, without trust in the user."""
    number, numbers, space = (atom(float), dp.absolute_distance(T=float)), vector(float), dp.symmetric_distance()
    noise = constructor("laplace")(numbers, dp.l1_distance(T=float), scale=1.0)
    both = _CONTRIB, _HONEST
    calls = {
        "make_user_transformation": (both, lambda: dp.t.make_user_transformation(
            numbers, space, numbers, space, lambda x: x, lambda d_in: d_in)),
        "make_user_measurement": (both, lambda: dp.m.make_user_measurement(
            *number, dp.max_divergence(), lambda x: x, lambda d_in: d_in, TO=float)),
        "make_identity": (both, lambda: dp.t.make_identity(numbers, space)),
        "make_population_amplification": (both, lambda: dp.c.make_population_amplification(
            constructor("laplace")(vector(float, 3), dp.l1_distance(T=float), scale=1.0), 9)),
        "new_function": (both, lambda: dp.new_function(lambda x: x, TO=float)),
        "new_privacy_profile": (both, lambda: dp.new_privacy_profile(lambda _: 0.1)),
        "user_domain": ((_HONEST,), lambda: dp.user_domain("any", lambda _: True)),
        "user_distance": ((_HONEST,), lambda: dp.user_distance("any")),
        "user_divergence": ((_HONEST,), lambda: dp.user_divergence("any")),
        "a function behind a measurement": ((_CONTRIB,), lambda: noise >> (lambda x: x)),
    }  # fmt: skip
    attempts: dict[str, Callable[[], Any]] = {}
    for name, (features, call) in calls.items():
        attempts |= _each(features, name, call)
    return Nonsense("user constructors without a feature", attempts)


def frames() -> Nonsense:
    """Return the attempts: an expression of a frame, and a frame that may be evaluated again."""
    import polars as pl

    domain = dp.lazyframe_domain([dp.series_domain("whole", dp.atom_domain(T="i64"))])
    domain = dp.with_margin(domain, dp.polars.Margin(by=[], max_length=9, max_groups=1))
    plan = pl.LazyFrame(schema={"whole": pl.Int64}).select(pl.col("whole").dp.sum((0, 5)))
    make = constructor("private_lazyframe")
    measurement = make(domain, dp.symmetric_distance(), dp.max_divergence(), plan, global_scale=1.0)
    data = pl.LazyFrame({"whole": [1, 2]})
    return Nonsense(
        "frames without a feature",
        {
            **_each((_CONTRIB,), "make_private_lazyframe", lambda: make(
                domain, dp.symmetric_distance(), dp.max_divergence(), plan, global_scale=1.0)),
            **_each((_HONEST,), "OnceFrame.lazy", measurement(data).lazy),
        },
    )  # fmt: skip


def extras() -> Nonsense:
    """Return the attempts: what is private with real numbers in place of floats, without leave for that."""
    import numpy as np
    from opendp.extras.numpy import make_np_clamp
    from opendp.extras.numpy._make_np_count import make_np_count, make_private_np_count
    from opendp.extras.numpy._make_np_mean import make_private_np_mean
    from opendp.extras.numpy._make_np_sscp import make_np_sscp
    from opendp.extras.numpy._make_np_sum import make_np_sum, make_private_np_sum
    from opendp.extras.sklearn import _make_eigenvector as vectors
    from opendp.extras.sklearn._make_eigendecomposition import make_private_np_eigendecomposition
    from opendp.extras.sklearn._make_eigenvalues import make_eigenvalues, make_private_eigenvalues
    from opendp.extras.sklearn.decomposition import _make_center, make_private_pca

    dp.enable_features(_IDEALISED)
    metric, pure = dp.symmetric_distance(), dp.max_divergence()
    plain = dp.numpy.array2_domain(num_columns=3, size=9, T=float, nan=False), metric
    one = dp.numpy.array2_domain(num_columns=3, size=9, T=float, nan=False, norm=2.0, p=1), metric
    two = dp.numpy.array2_domain(num_columns=3, size=9, T=float, nan=False, norm=2.0, p=2), metric
    products = make_np_sscp(*two)
    squares = products.output_domain, products.output_metric
    model = {"epsilon": 1.0, "row_norm": 2.0, "n_samples": 9, "n_features": 3}
    both = _CONTRIB, _IDEALISED
    calls = {
        "make_np_clamp": ((_CONTRIB,), lambda: make_np_clamp(*plain, 2.0, 2)),
        "make_np_count": ((_CONTRIB,), lambda: make_np_count(*plain)),
        "make_private_np_count": ((_CONTRIB,), lambda: make_private_np_count(*plain, pure, 1.0)),
        "make_np_sum": (both, lambda: make_np_sum(*one)),
        "make_private_np_sum": (both, lambda: make_private_np_sum(*one, pure, 1.0)),
        "make_private_np_mean": (both, lambda: make_private_np_mean(*one, 1.0)),
        "make_private_np_mean, clamped": (both, lambda: make_private_np_mean(*plain, 1.0, norm=2.0, p=1)),
        "make_np_sscp": (both, lambda: make_np_sscp(*two)),
        "make_eigenvalues": (both, lambda: make_eigenvalues(*squares)),
        "make_private_eigenvalues": (both, lambda: make_private_eigenvalues(*squares, pure, 1.0)),
        "make_private_eigenvector": (both, lambda: vectors.make_private_eigenvector(*squares, 1.0)),
        "make_private_eigenvectors": (both, lambda: vectors.make_private_eigenvectors(*squares, [1.0])),
        "make_np_sscp_projection": (both, lambda: vectors.make_np_sscp_projection(*squares, np.eye(3))),
        "make_private_np_eigendecomposition": (both, lambda: make_private_np_eigendecomposition(*two, 1.0, [1.0])),
        "make_private_pca": (both, lambda: make_private_pca(*plain, 1.0, norm=2.0)),
        "make_private_pca, known mean": (both, lambda: make_private_pca(*two, 1.0)),
        "_make_center": (both, lambda: _make_center(*two)),
        "PCA": (both, lambda: dp.sklearn.decomposition.PCA(**model).measurement()),
        "LinearRegression": ((_CONTRIB, _HONEST), lambda: dp.sklearn.linear_model.LinearRegression(
            pure, x_bounds=[(0, 1)], y_bounds=(0, 1), scale=1.0)),
    }  # fmt: skip
    attempts: dict[str, Callable[[], Any]] = {}
    for name, (features, call) in calls.items():
        attempts |= _each(features, name, call)
    return Nonsense("extras without a feature", attempts)


def feature_cases(collect: Collector) -> None:
    """Add the calls that must be refused without a feature."""
    for build in (constructors, user_constructors, frames, extras):
        collect.add(build)
