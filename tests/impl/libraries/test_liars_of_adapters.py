"""Relations that adapters state hold of an honest stand-in for the library, and each lie of a liar breaks its own.

The libraries need not be installed: a stand-in has the functions that the relations ask, written from the definitions.
"""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.optimize  # noqa: F401  # the relations import it, and a stand-in would have it loaded again
from tests.impl.libraries.stand_ins import adapter_module, broken

# --- flwr -------------------------------------------------------------------------------------------------------


def length_of(arrays: Any) -> float:
    return math.sqrt(sum(float((np.asarray(array) ** 2).sum()) for array in arrays))


def clip(arrays: Any, bound: float) -> bool:
    length = length_of(arrays)
    for array in arrays:
        array[...] = array * min(1.0, bound / length)
    return length > bound


def clipped_copies(arrays: Any, bound: float) -> tuple[Any, bool]:
    copies = [array.copy() for array in arrays]
    return copies, clip(copies, bound)


def clip_update(models: Any, origin: Any, bound: float) -> bool:
    updates = [model - start for model, start in zip(models, origin, strict=True)]
    is_clipped = clip(updates, bound)
    for model, start, update in zip(models, origin, updates, strict=True):
        model[...] = start + update
    return is_clipped


def silent(function: Callable[..., Any]) -> Callable[..., None]:
    """Return a function that does the same and returns nothing."""

    def call(*given: Any) -> None:
        function(*given)

    return call


def noisy(arrays: Any, scale: float) -> Any:
    return [array + np.random.normal(0, scale, array.shape) for array in arrays]  # noqa: NPY002  # as the library does


def split(z: float, clients: int, given: float | None) -> tuple[float, float]:
    count = clients / 20 if given is None else given
    return count, (z**-2 - (2 * count) ** -2) ** -0.5


def noisy_in_place(arrays: Any, scale: float) -> None:
    for array, with_noise in zip(arrays, noisy(arrays, scale), strict=True):
        array[...] = with_noise


class DPFedAvgNumPyClient:
    def __init__(self, client: Any) -> None:
        self.client = client

    def fit(self, parameters: Any, config: Any) -> tuple[Any, int, dict[str, Any]]:
        models, examples, metrics = self.client.fit([array.copy() for array in parameters], config)
        updates = [model - start for model, start in zip(models, parameters, strict=True)]
        updates, is_clipped = clipped_copies(updates, config["dpfedavg_clip_norm"])
        updates = noisy(updates, config["dpfedavg_noise_stddev"]) if "dpfedavg_noise_stddev" in config else updates
        sent = [start + update for start, update in zip(parameters, updates, strict=True)]
        return sent, examples, {**metrics, "dpfedavg_norm_bit": not is_clipped}


class DPFedAvgFixed:
    def __init__(self, strategy: Any, clients: int, bound: float, z: float, at_server: bool = True) -> None:
        self.strategy, self.clients, self.clip_norm, self.noise_multiplier = strategy, clients, bound, z
        self.at_server = at_server

    def scale(self) -> float:
        return self.noise_multiplier * self.clip_norm / math.sqrt(self.clients)

    def configure_fit(self, number: int, parameters: Any, manager: Any) -> Any:
        config = self.strategy.on_fit_config_fn(number)
        config |= {"dpfedavg_clip_norm": self.clip_norm}
        config |= {} if self.at_server else {"dpfedavg_noise_stddev": self.scale()}
        told = SimpleNamespace(parameters=parameters, config=config)
        return [(client, told) for client in manager.sample(num_clients=self.clients)]

    def aggregate_fit(self, _: int, results: Any, __: Any) -> Any:
        models = [noisy(result.parameters, self.scale()) for _, result in results]
        return [sum(arrays) / len(models) for arrays in zip(*models, strict=True)], {}


class DPFedAvgAdaptive(DPFedAvgFixed):
    def __init__(
        self,
        strategy: Any,
        clients: int,
        bound: float,
        z: float,
        at_server: bool = True,
        rate: float = 0.2,
        quantile: float = 0.5,
        clip_count_stddev: float | None = None,
    ) -> None:
        self.clip_count_stddev, multiplier = split(z, clients, clip_count_stddev)
        super().__init__(strategy, clients, bound, multiplier, at_server)
        self.rate, self.quantile = rate, quantile

    def aggregate_fit(self, number: int, results: Any, failures: Any) -> Any:
        released = super().aggregate_fit(number, results, failures)
        self.adapt(sum(result.metrics["dpfedavg_norm_bit"] for _, result in results) / len(results), len(results))
        return released

    def adapt(self, share: float, clients: int) -> None:
        noise = np.random.normal(share * clients, self.clip_count_stddev) / clients  # noqa: NPY002
        self.clip_norm *= math.exp(-self.rate * (noise - self.quantile))


def local_scale(bound: float, epsilon: float, delta: float) -> float:
    return bound * math.sqrt(2 * math.log(1.25 / delta)) / epsilon


FLWR: dict[str, Callable[..., Any]] = {
    "clip_inputs_inplace": silent(clip),
    "adaptive_clip_inputs_inplace": clip,
    "compute_clip_model_update": silent(clip_update),
    "compute_adaptive_clip_model_update": clip_update,
    "get_norm": length_of,
    "compute_stdv": lambda z, bound, clients: z * bound / clients,
    "ndarrays_to_parameters": lambda arrays: arrays,
    "parameters_to_ndarrays": lambda arrays: arrays,
    "add_gaussian_noise_to_params": lambda arrays, z, bound, clients: noisy(arrays, z * bound / clients),
    "add_localdp_gaussian_noise_to_params": lambda arrays, *given: noisy(arrays, local_scale(*given)),
    "add_gaussian_noise_inplace": noisy_in_place,
    "compute_adaptive_noise_params": split,
}


DEPRECATED: dict[str, Any] = {
    "DPFedAvgFixed": DPFedAvgFixed,
    "DPFedAvgAdaptive": DPFedAvgAdaptive,
    "DPFedAvgNumPyClient": DPFedAvgNumPyClient,
}


def fit_result(_: Any, parameters: Any, examples: int, metrics: Any) -> Any:
    return SimpleNamespace(parameters=parameters, num_examples=examples, metrics=metrics)


def flwr_modules(**lies: Any) -> dict[str, dict[str, Any]]:
    deprecated = {"clip_by_l2": clipped_copies, "add_gaussian_noise": noisy}
    of_parameters = {name: FLWR[name] for name in ("ndarrays_to_parameters", "parameters_to_ndarrays")}
    names = (
        "flwr flwr.app flwr.client flwr.compat flwr.compat.client flwr.compat.common flwr.server "
        "flwr.serverapp flwr.supercore flwr.supercore.task_identity"
    )
    return {name: {} for name in names.split()} | {
        "flwr.common": {**of_parameters, "FitRes": fit_result},
        "flwr.compat.client.dpfedavg_numpy_client": {**DEPRECATED, **lies},
        "flwr.compat.common.dp": deprecated | lies,
        "flwr.server.strategy": {**DEPRECATED, **lies},
        "flwr.supercore.differential_privacy": {**FLWR, **lies},
    }


def flwr_broken(**lies: Any) -> set[str]:
    with adapter_module("flwr", "flwr_clipping", flwr_modules(**lies)) as module:
        return broken(module.clipping_relations())


def each_by_itself(arrays: Any, bound: float) -> None:
    for array in arrays:
        clip([array], bound)


CLIPPED = "clipped updates have the norm and their direction"
SCALES, SPLIT = "standard deviations are those of the documentation", "the noise multiplier is split"
CLIENTS, ROUNDS = "clients clip and add noise", "rounds are means of clipped models with noise"


class Silent(DPFedAvgNumPyClient):
    """Draws noise and does not send it."""

    def fit(self, parameters: Any, config: Any) -> tuple[Any, int, dict[str, Any]]:
        super().fit(parameters, config)
        return super().fit(parameters, {"dpfedavg_clip_norm": config["dpfedavg_clip_norm"]})


class DPFedAvgWeighted(DPFedAvgFixed):
    def aggregate_fit(self, _: int, results: Any, __: Any) -> Any:
        total = sum(result.num_examples for _, result in results)
        models = [(noisy(result.parameters, self.scale()), result.num_examples / total) for _, result in results]
        return [sum(share * model[place] for model, share in models) for place in range(len(models[0][0]))], {}


class DPFedAvgForgetful(DPFedAvgFixed):
    """Draws noise and releases the mean of models without it."""

    def aggregate_fit(self, number: int, results: Any, failures: Any) -> Any:
        super().aggregate_fit(number, results, failures)
        models = [result.parameters for _, result in results]
        return [sum(arrays) / len(models) for arrays in zip(*models, strict=True)], {}


class DPFedAvgCounting(DPFedAvgAdaptive):
    """Draws the noise of the count and does not use it."""

    def adapt(self, share: float, clients: int) -> None:
        before = self.clip_norm
        super().adapt(share, clients)
        self.clip_norm = before * math.exp(-self.rate * (share - self.quantile))


class DPFedAvgStale(DPFedAvgAdaptive):
    """Tells clients the norm of the first round."""

    def configure_fit(self, number: int, parameters: Any, manager: Any) -> Any:
        first = self.strategy.on_fit_config_fn(number).get("dpfedavg_clip_norm", self.clip_norm)
        asked = super().configure_fit(number, parameters, manager)
        for _, told in asked:
            told.config["dpfedavg_clip_norm"] = first
        return asked


FLWR_LIES: dict[str, tuple[set[str], dict[str, Any]]] = {
    "arrays are clipped one by one": ({CLIPPED}, {"clip_inputs_inplace": each_by_itself}),
    "nothing is clipped": ({CLIPPED}, {"compute_clip_model_update": lambda *_: None}),
    "the bit is the other one": ({CLIPPED}, {"adaptive_clip_inputs_inplace": lambda *given: not clip(*given)}),
    "the largest entry as the norm": ({CLIPPED}, {"get_norm": lambda arrays: max(abs(a).max() for a in arrays)}),
    "the root of the clients": ({SCALES}, {"compute_stdv": lambda z, bound, clients: z * bound / clients**0.5}),
    "noise for one array": (
        {SCALES},
        {"add_gaussian_noise_inplace": lambda arrays, scale: noisy_in_place(arrays[:1], scale)},
    ),
    "noise is drawn and not added": ({SCALES}, {"add_gaussian_noise_inplace": silent(noisy)}),
    "the sign of noise is lost": (
        {SCALES},
        {
            "add_gaussian_noise": lambda arrays, scale: [
                array + abs(with_noise - array) for array, with_noise in zip(arrays, noisy(arrays, scale), strict=True)
            ]
        },
    ),
    "a delta of 1.25 delta": (
        {SCALES},
        {"add_localdp_gaussian_noise_to_params": lambda a, b, e, d: noisy(a, local_scale(b, e, 1.25 * d))},
    ),
    "numbers of examples as weights": ({ROUNDS}, {"DPFedAvgFixed": DPFedAvgWeighted}),
    "the server keeps its noise": ({ROUNDS}, {"DPFedAvgFixed": DPFedAvgForgetful}),
    "the noise of the count is not used": ({ROUNDS}, {"DPFedAvgAdaptive": DPFedAvgCounting}),
    "the norm of the first round": ({ROUNDS}, {"DPFedAvgAdaptive": DPFedAvgStale}),
    "the multiplier is not split": (
        {SPLIT},
        {"compute_adaptive_noise_params": lambda z, c, g: (split(z, c, g)[0], z)},
    ),
}


def test_the_relations_of_flwr_hold_of_an_honest_library() -> None:
    assert flwr_broken() == set()


@pytest.mark.parametrize("lie", FLWR_LIES)
def test_a_lie_of_flwr_breaks_its_relation(lie: str) -> None:
    relations, lies = FLWR_LIES[lie]
    assert flwr_broken(**lies) == relations


def test_a_client_of_flwr_that_keeps_its_noise_breaks_both_relations() -> None:
    assert flwr_broken(DPFedAvgNumPyClient=Silent) == {CLIENTS, ROUNDS}


# --- dpmm -------------------------------------------------------------------------------------------------------


def delta_of(rho: float, epsilon: float) -> float:
    """Return the least bound over orders (Canonne, Kamath and Steinke 2020, Corollary 13)."""
    orders = 1 + np.exp(np.linspace(-7, 9, 3000))
    logs = (orders - 1) * (orders * rho - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
    return float(min(1.0, math.exp(min(logs.min(), 0.0))))


def rho_of(epsilon: float, delta: float) -> float:
    low, high = 0.0, epsilon + 1
    for _ in range(100):
        rho = (low + high) / 2
        low, high = (rho, high) if delta_of(rho, epsilon) <= delta else (low, rho)
    return low


DPMM: dict[str, Callable[..., Any]] = {
    "cdp_delta": delta_of,
    "cdp_delta_standard": lambda rho, epsilon: math.exp(-((epsilon - rho) ** 2) / (4 * rho)),
    "cdp_rho": rho_of,
}


def selecting(half: float, *, measured: bool) -> type:
    class Model:
        def __init__(self, prng: Any, **_: Any) -> None:
            self._prng = prng

        def exponential_mechanism(
            self,
            qualities: Any,
            epsilon: float,
            sensitivity: float = 1.0,
            base_measure: Any = None,
            *,
            monotonic: bool = False,
        ) -> Any:
            options = qualities if isinstance(qualities, dict) else dict(enumerate(qualities))
            measure = base_measure if measured and base_measure else dict.fromkeys(options, 1.0)
            factor = (2 * half if monotonic else half) * epsilon / sensitivity
            weights = {name: measure[name] * math.exp(factor * quality) for name, quality in options.items()}
            total = sum(weights.values())
            return list(options)[self._prng.choice(len(options), p=[weight / total for weight in weights.values()])]

    return Model


def dpmm_broken(model: type | None = None, **lies: Callable[..., Any]) -> set[str]:
    model = selecting(0.5, measured=True) if model is None else model
    modules: dict[str, dict[str, Any]] = {name: {} for name in ("dpmm", "dpmm.models", "dpmm.models.base")} | {
        "dpmm.models.aim": {"AIM": model},
        "dpmm.models.mst": {"MST": model},
        "dpmm.models.base.mechanisms": {},
        "dpmm.models.base.mechanisms.cdp2adp": {**DPMM, **lies},
        "dpmm.models.base.mechanisms.mechanism": {},
        "dpmm.models.base.utils": {},
    }
    with adapter_module("dpmm", "dpmm_noise", modules) as module:
        cases = [*module.noise_cases(), *module.conversion_cases()]
        return broken(case for case in cases if hasattr(case, "relations"))


CHOICE = {"probabilities are those of the scores"}
SOUND, TIGHT = {"bounds hold"}, {"bounds are those of their proofs"}


def test_the_relations_of_dpmm_hold_of_an_honest_library() -> None:
    assert dpmm_broken() == set()


@pytest.mark.parametrize(
    ("lies", "relations"),
    [
        ({"model": selecting(0.5, measured=False)}, CHOICE),
        ({"model": selecting(1.0, measured=True)}, CHOICE),
        ({"cdp_delta": lambda rho, epsilon: delta_of(rho / 2, epsilon)}, SOUND | TIGHT),
        ({"cdp_delta_standard": lambda rho, epsilon: math.exp(-((epsilon - rho) ** 2) / (8 * rho))}, TIGHT),
        ({"cdp_rho": lambda epsilon, delta: 1.1 * rho_of(epsilon, delta)}, SOUND),
        ({"cdp_rho": lambda epsilon, delta: 0.9 * rho_of(epsilon, delta)}, TIGHT),
    ],
    ids=["no measure", "twice epsilon", "half of rho", "twice the variance", "too large a rho", "too small a rho"],
)
def test_a_lie_of_dpmm_breaks_its_relation(lies: dict[str, Any], relations: set[str]) -> None:
    assert dpmm_broken(**lies) == relations
