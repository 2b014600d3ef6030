"""Registries: one entry for each key, both places named, similar keys suggested."""

import pytest

from dpassay.arguments import UsageError
from dpassay.claims import PureDP
from dpassay.impl.catalogue import catalogue, entries
from dpassay.properties.notions.base import all_audited
from dpassay.properties.notions.base import register as register_audited
from dpassay.registry import Registry, place_of
from dpassay.spec.notions.base import find_notion, register
from dpassay.spec.statement import find_statement


def first() -> None: ...


def second() -> None: ...


def test_a_key_is_taken_once_and_both_places_are_named() -> None:
    registry: Registry[str, object] = Registry("thing")
    registry.enter("a", first)
    with pytest.raises(ValueError, match=r"two entries for the thing a: .*test_registry:first and .*:second"):
        registry.enter("a", second)
    assert registry.find("a") is first
    assert list(registry) == [first]


def test_similar_keys_are_suggested() -> None:
    registry: Registry[object, object] = Registry("thing")
    registry.enter("laplace", first)
    registry.enter(PureDP, second)
    with pytest.raises(UsageError, match=r"there is no thing 'laplce'; did you mean laplace\?"):
        registry.find("laplce")
    with pytest.raises(UsageError, match=r"there is no thing 'unlike'$"):
        registry.find("unlike")
    assert registry.get("laplce") is None
    assert registry.find(PureDP) is second


def test_the_place_of_an_object_is_that_of_its_class() -> None:
    assert place_of(PureDP(1)) == place_of(PureDP) == "dpassay.claims:PureDP"


def test_the_registries_of_the_project_refuse_a_second_entry() -> None:
    with pytest.raises(ValueError, match=r"the notion of the claim PureDP: dpassay\.spec\.notions\.pure"):
        register(find_notion(PureDP(1)))
    with pytest.raises(ValueError, match="two entries for the notion of the claim"):
        register_audited(all_audited()[0])
    entry = entries()[0]
    with pytest.raises(ValueError, match="two entries for the mechanism"):
        catalogue(entry.module, entry.mechanism)


def test_a_misspelt_statement_is_suggested() -> None:
    with pytest.raises(UsageError, match=r"did you mean .*pure_dp_of_gaussian_noisy_max"):
        find_statement("pure_dp_of_gausian_noisy_max")
