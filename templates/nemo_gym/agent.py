"""The agent server of environments that forgec compiled: a model and a user take turns, and tools are called.

Made by `forgec export nemo-gym`; the same for all environments. The turns are in `forgec.serving.gym.loop`.
"""

from typing import Any

from fastapi import Request, Response
from nemo_gym.base_resources_server import BaseRunRequest, BaseVerifyResponse
from nemo_gym.base_responses_api_agent import BaseResponsesAPIAgentConfig, Body, SimpleResponsesAPIAgent
from nemo_gym.config_types import AggregateMetrics, AggregateMetricsRequest, ModelServerRef, ResourcesServerRef
from nemo_gym.openai_utils import NeMoGymResponse, NeMoGymResponseCreateParamsNonStreaming
from nemo_gym.server_utils import get_response_json, raise_for_status
from pydantic import ConfigDict

from forgec.serving.gym.loop import EMPTY, play

BROKEN_OFF = (409, 410, 500, 502, 503)
"""What the resources server answers when an episode has ended, is lost, or has failed."""


class Config(BaseResponsesAPIAgentConfig):
    resources_server: ResourcesServerRef
    model_server: ModelServerRef
    max_steps: int = 100


class RunRequest(BaseRunRequest):
    model_config = ConfigDict(extra="allow")


class VerifyResponse(BaseVerifyResponse):
    model_config = ConfigDict(extra="allow")


class BrokenOff(Exception):
    """The episode cannot go on, through no fault of the model: what came of it is said by /verify."""


class ForgecAgent(SimpleResponsesAPIAgent):
    config: Config

    async def run(self, request: Request, body: RunRequest) -> VerifyResponse:
        row = body.model_dump(mode="json", exclude_unset=True)
        cookies: dict[str, str] = {}
        path = self.url_path_for_run("/v1/responses", body) if hasattr(self, "url_path_for_run") else "/v1/responses"
        try:
            try:
                await self.post("/seed_session", row, cookies)
                response = await self.converse(row["responses_create_params"], path, cookies)
            except BrokenOff:
                response = EMPTY
            return VerifyResponse.model_validate(await self.post("/verify", {**row, "response": response}, cookies))
        finally:
            await self.post("/close_session", {}, cookies)

    async def responses(
        self, request: Request, response: Response, body: NeMoGymResponseCreateParamsNonStreaming = Body()
    ) -> NeMoGymResponse:
        path = "/v1/responses"
        if hasattr(self, "url_path_for_request"):
            path = self.url_path_for_request(path, request)
        cookies = dict(request.cookies)
        found = await self.converse(body.model_dump(mode="json", exclude_unset=True), path, cookies)
        for name, value in cookies.items():
            response.set_cookie(name, value)
        return NeMoGymResponse.model_validate(found)

    async def converse(self, params: dict[str, Any], path: str, cookies: dict[str, str]) -> dict[str, Any]:
        """The dialogue of a session that was seeded, which the cookies name."""
        of_model: dict[str, str] = {}

        async def ask(body: dict[str, Any]) -> Any:
            return await self._sent(self.config.model_server.name, path, body, of_model)

        async def post(path: str, body: dict[str, Any]) -> Any:
            return await self.post(path, body, cookies)

        return await play(params, ask, post, self.config.max_steps)

    async def post(self, path: str, body: dict[str, Any], cookies: dict[str, str]) -> Any:
        return await self._sent(self.config.resources_server.name, path, body, cookies)

    async def _sent(self, server: str, path: str, body: dict[str, Any], cookies: dict[str, str]) -> Any:
        response = await self.server_client.post(server_name=server, url_path=path, json=body, cookies=cookies)
        cookies.update({name: getattr(cookie, "value", cookie) for name, cookie in response.cookies.items()})
        if server == self.config.resources_server.name and path != "/verify" and response.status in BROKEN_OFF:
            raise BrokenOff
        await raise_for_status(response)
        return await get_response_json(response)

    async def aggregate_metrics(self, body: AggregateMetricsRequest = Body()) -> AggregateMetrics:
        found = await self.post("/aggregate_metrics", body.model_dump(mode="json"), {})
        return AggregateMetrics.model_validate(found)


if __name__ == "__main__":
    ForgecAgent.run_webserver()
