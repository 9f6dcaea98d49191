"""A configuration, and a checkout that is not there, for tests of what is made of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forgec.cluster.checkout import Checkout
from forgec.cluster.config import ClusterConfig

CHECKOUT = Checkout(Path("/opt/nemo-rl"), masks=True, differences=())
GENERATED = Path(__file__).parents[2] / "generated"


def config(**parts: Any) -> ClusterConfig:
    """The configuration of a run in library and phone."""
    packages = [{"package": str(GENERATED / name)} for name in ("library", "phone")]
    return ClusterConfig.model_validate(
        {"checkout": "/opt/nemo-rl", "rollouts": "native", "environments": packages, **parts}
    )
