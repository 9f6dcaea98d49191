"""What the parts of an environment are called in a project for NeMo Gym."""

from __future__ import annotations

from dataclasses import dataclass

AGENT_TYPE = "forgec_agent"
"""The folder of the agent server, which all environments share."""


@dataclass(frozen=True)
class Names:
    """Names of folders and of servers, which stand beside those of others."""

    environment: str

    @property
    def folder(self) -> str:
        """Of the resources server, and of the environment's manifest: no server that NeMo Gym brings has this name."""
        return f"forgec_{self.environment}"

    @property
    def resources(self) -> str:
        return f"{self.environment}_resources_server"

    @property
    def agent(self) -> str:
        """The agent of this environment alone: what is pooled by environments goes by its name."""
        return f"{self.environment}_agent"

    @property
    def front(self) -> str:
        return f"{self.environment}_environment_server"

    @property
    def server_path(self) -> str:
        return f"resources_servers/{self.folder}"

    @property
    def manifest_path(self) -> str:
        return f"environments/{self.folder}"
