import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.arguments import UsageError
from dpassay.claims import ZCDP
from dpassay.impl.mechanisms.gaussian import GaussianMechanism


def test_the_sampler_follows_its_distribution(follows) -> None:  # type: ignore[no-untyped-def]
    draws = np.asarray(GaussianMechanism(2, 2.0).sample(np.array([1.0, -3.0]), 200_000, np.random.default_rng(6)))
    edges = np.linspace(-2, 2, 9)
    distribution = dict(enumerate(np.diff([0.0, *ndtr(edges), 1.0]).tolist()))
    for column, centre in ((0, 1.0), (1, -3.0)):
        follows(np.digitize((draws[:, column] - centre) / 2.0, edges).tolist(), distribution)
    summed = (draws[:, 0] + draws[:, 1] + 2.0) / np.sqrt(8)  # a shared noise would not have this variance
    follows(np.digitize(summed, edges).tolist(), distribution)


def test_the_claim() -> None:
    [claim] = GaussianMechanism(2, 2.0, 3.0).claims
    assert isinstance(claim, ZCDP)
    assert 9 / 8 <= claim.rho <= 9 / 8 * (1 + 1e-14)


@pytest.mark.parametrize("arguments", [(0, 1.0, 1.0), (1, 0.0, 1.0), (1, 1.0, -1.0)])
def test_bad_parameters(arguments: tuple[float, ...]) -> None:
    with pytest.raises(UsageError, match="must"):
        GaussianMechanism(*arguments)  # type: ignore[arg-type]
