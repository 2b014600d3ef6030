"""The public interface of adapters: mechanisms to sample, answers of accountants, auditors, and invalid calls.

An adapter is a file with the name of a distribution, ``LIBRARY``, and a list ``CASES`` (or a function ``cases()`` that
returns one; cases that this version of the library cannot build are left out there). ``dpassay assay ADAPTER.py``
checks its cases, and ``dpassay init adapter`` writes an example. It runs in a worker, in the interpreter of the
library, Python 3.9 or newer, which needs only the standard library and the library itself: of dpassay, only this
package can be imported there.

Cases
    `Mechanism`, a mechanism with its claim and neighbours; `Answer`, a function of an accountant or calibrator;
    `Family`, a mechanism for a whole domain of parameters; `Relations`, relations that must hold among the numbers of
    a library; `Auditor`, a lower bound on epsilon from the scores of an attack; `Nonsense`, invalid calls that must
    raise
Noise
    `NoisePrimitive`, a function of the library through which its noise passes; `Choice`, other randomness, which is
    fixed while runs are replayed
Helpers
    `protects`, `spends` and `understates`, which say of a comparison of `Relations` that its number costs privacy on
    one side; `present_cases`, which leaves out what a version lacks; `answer_in_time`, for calls that may hang;
    `Refused`, for answers that amount to a refusal; `Raised`, the outcome of a call that raised

Questions of an `Answer`, with the arguments of its function `compute` and the number that it returns. The sensitivity
is 1, and privacy parameters are in nats. `sigma` is the standard deviation of Gaussian noise, or the parameter of
discrete Gaussian noise; `scale` is the scale of Laplace noise; `epsilon0` and `delta0` are the parameters of each
mechanism, `epsilons` and `deltas` lists of them; `rate` is the probability with which a record is sampled; `order` is
the order of a Renyi divergence, and `renyi` its value:

    gaussian_delta(sigma, epsilon, count)
        delta at epsilon of `count` Gaussian mechanisms
    gaussian_epsilon(sigma, delta, count)
        epsilon at delta of `count` Gaussian mechanisms
    gaussian_sigma(epsilon, delta)
        the noise scale of a Gaussian mechanism that suffices
    laplace_delta(scale, epsilon, count)
        delta at epsilon of `count` Laplace mechanisms
    laplace_epsilon(scale, delta, count)
        epsilon at delta of `count` Laplace mechanisms
    randomised_response_delta(epsilon0, epsilon, count)
        delta at epsilon of `count` binary randomised responses
    randomised_response_epsilon(epsilon0, delta, count)
        epsilon at delta of `count` binary randomised responses
    pure_composition_epsilon(epsilon0, count, delta)
        epsilon at delta of `count` pure mechanisms
    pure_composition_delta(epsilon0, count, epsilon)
        delta at epsilon of `count` pure mechanisms
    approximate_composition_epsilon(epsilon0, delta0, count, delta)
        epsilon at delta of `count` mechanisms that are (epsilon0, delta0)-DP
    heterogeneous_composition_epsilon(epsilons, deltas, delta)
        epsilon at delta of mechanisms with different parameters
    subsampled_gaussian_epsilon(sigma, rate, count, delta)
        epsilon at delta of `count` Gaussian mechanisms on Poisson samples, one record added or removed
    subsampled_gaussian_delta(sigma, rate, count, epsilon)
        delta at epsilon of `count` Gaussian mechanisms on Poisson samples
    subsampled_gaussian_sigma(rate, count, epsilon, delta)
        the noise scale of `count` Gaussian mechanisms on Poisson samples that suffices
    gaussian_renyi(sigma, order)
        Renyi divergence of a Gaussian mechanism
    laplace_renyi(scale, order)
        Renyi divergence of a Laplace mechanism
    randomised_response_renyi(epsilon0, order)
        Renyi divergence of a randomised response
    subsampled_gaussian_renyi(sigma, rate, order)
        Renyi divergence of a Gaussian mechanism on a Poisson sample
    zcdp_epsilon(rho, delta)
        epsilon at delta that rho-zCDP implies
    zcdp_delta(rho, epsilon)
        delta at epsilon that rho-zCDP implies
    renyi_epsilon(order, renyi, delta)
        epsilon at delta that a Renyi divergence of one order implies
    zcdp_rho(epsilon, delta)
        a rho for which rho-zCDP suffices for (epsilon, delta)
    laplace_scale(epsilon)
        the scale of Laplace noise that suffices
    discrete_laplace_epsilon(scale, delta, count)
        epsilon at delta of `count` discrete Laplace mechanisms on integers
    discrete_gaussian_delta(sigma, epsilon, count)
        delta at epsilon of `count` discrete Gaussian mechanisms on integers
    discrete_gaussian_epsilon(sigma, delta, count)
        epsilon at delta of `count` discrete Gaussian mechanisms on integers

>>> def noisy(data):
...     return data[0] + 1
>>> case = Mechanism("plus one", neighbours="vector:size=1,linf=1", claim="pure:1.0", sample_one=noisy)
>>> case.draw([2.0], 2)
[3.0, 3.0]
"""

from dpassay.adapter.answers import Answer
from dpassay.adapter.auditors import SCORES, Auditor
from dpassay.adapter.mechanisms import Family, Mechanism, Raised
from dpassay.adapter.noise import Choice, NoisePrimitive
from dpassay.adapter.refusals import Nonsense, Refused, answer_in_time
from dpassay.adapter.relations import Relations, protects, spends, understates
from dpassay.adapter.versions import present_cases

__all__ = [
    "SCORES",
    "Answer",
    "Auditor",
    "Choice",
    "Family",
    "Mechanism",
    "NoisePrimitive",
    "Nonsense",
    "Raised",
    "Refused",
    "Relations",
    "answer_in_time",
    "present_cases",
    "protects",
    "spends",
    "understates",
]
