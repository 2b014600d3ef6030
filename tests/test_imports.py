"""Importing a module does no work: no accounting is computed, no heavy library loaded, before somebody asks for it."""

import inspect
import subprocess
import sys

import pytest

from dpassay.discovery import import_all_below
from dpassay.impl.broken import composition as broken_composition
from dpassay.impl.mechanisms import generalized_randomized_response
from dpassay.properties.pairing import registry

HEAVY = ("sympy", "joblib", "scipy", "hypothesis", "mpmath", "asyncio")
EXACT = ("dpassay.spec.leaves", "dpassay.properties.tracing")
"""Parts that only an exact decision needs: a hunt that samples starts without them."""

NO_WORK = """
import importlib, pkgutil, sys
import dpassay.impl.accounting
names = []
for package_name in ("dpassay.spec", "dpassay.properties", "dpassay.impl.mechanisms", "dpassay.impl.broken"):
    package = importlib.import_module(package_name)
    names += [module.name for module in pkgutil.walk_packages(package.__path__, package_name + ".")]
calls = []
def watch(frame, event, argument):
    if event == "call":
        name = frame.f_globals.get("__name__", "")
        code = frame.f_code.co_name
        if name.startswith("dpassay.impl.accounting.") and code in {"delta", "epsilon", "claim"}:
            calls.append(f"{name}.{code}")
sys.setprofile(watch)
for name in names:
    importlib.import_module(name)
sys.setprofile(None)
print(calls)
sys.exit(bool(calls))
"""


def test_that_a_hunt_imports_no_heavy_library() -> None:
    program = (
        "import sys\nfrom dpassay.testing import assert_private\n"
        "def constant(data, size, rng):\n    return rng.integers(0, 2, size)\n"
        "options = {'calls': 100, 'allow_weak': True, 'isolate': False, 'trace': False}\n"
        "assert_private(constant, 'pure:1', 'vector:size=1,linf=1', **options)\n"
        f"print([name for name in {HEAVY + EXACT!r} if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.slow
def test_that_a_list_of_statements_and_mechanisms_imports_no_computer_algebra() -> None:
    program = (
        "import sys\nfrom dpassay.impl.catalogue import entries\nfrom dpassay.spec.statement import all_statements\n"
        "assert all_statements()\nassert entries()\n"
        "print([name for name in ('sympy', 'mpmath', 'scipy.special', 'hypothesis') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.slow
def test_that_no_accounting_is_computed_by_an_import() -> None:
    run = subprocess.run([sys.executable, "-c", NO_WORK], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_that_the_claims_of_composed_responses_are_computed_on_demand() -> None:
    for module in (generalized_randomized_response, broken_composition):
        for thing in vars(module).values():
            if isinstance(thing, generalized_randomized_response.ResponseSequence):
                assert callable(thing.claim)
                assert thing.claims == thing.claims == (thing.claim(),)


def test_that_modules_are_found_that_register_a_type() -> None:
    """The module that declares a distribution mentions the class: asking about a type imports that module."""
    import_all_below("dpassay.properties.pairing")
    for known in (registry._DISTRIBUTIONS, registry._PAIR_DISTRIBUTIONS, registry._WORST_CASES):
        for mechanism_type, entry in known._entries.items():
            if mechanism_type.__module__.startswith("dpassay."):
                assert mechanism_type.__name__ in inspect.getsource(sys.modules[entry.__module__])
