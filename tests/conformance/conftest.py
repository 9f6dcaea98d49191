"""The referee, for all tests here; they are skipped where it is not."""

from __future__ import annotations

import pytest

from tests.conformance.referee import Tau2, find_tau2


@pytest.fixture(scope="session")
def tau2() -> Tau2:
    found = find_tau2()
    if found is None:
        pytest.skip("tau2-bench is not installed, and TAU2_PATH names no copy of it")
    return found
