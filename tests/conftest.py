"""Options and fixtures of the whole suite."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regen", action="store_true", help="rewrite the golden files of tests/cases")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--regen") and os.environ.get("CI"):
        raise pytest.UsageError("--regen is for people who read what it rewrites, not for CI")


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a test compiles is forgotten after it."""
    monkeypatch.setenv("FORGEC_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def regen(request: pytest.FixtureRequest) -> bool:
    """Whether golden files are rewritten rather than compared."""
    return bool(request.config.getoption("--regen"))
