"""What the resources server of an environment does, request by request, whatever carries the requests."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from forgec.dialogue import AssistantMessage, Message, ToolCall, readable
from forgec.llm.errors import LLMError
from forgec.rollouts import players
from forgec.rollouts.limits import Limits
from forgec.rollouts.run import Job, Runner, Setup, Side
from forgec.serving.gym.responses import ResponsesModel, last_words
from forgec.serving.gym.rows import BadRequest, job_of
from forgec.serving.gym.verdict import failed, judged
from forgec.serving.session import Over, Seat, Session
from forgec.serving.sessions import IDLE, MOST, Full, Sessions
from forgec.users.prompted import PromptedUser
from forgec.users.user import Users
from forgec_runtime import AsyncEnvironment, CallTimeout, Environment, GoldError, TaskError, WorkerError, Workers
from forgec_runtime.front import MAX_CALLS

LOST = (
    "there is no such session: it was never seeded, was closed, or was abandoned, or the server has been started anew"
)
ENDED = "the episode has ended"
MAX_NAME = 200
"""Characters of a session's name."""
MAX_CLOSED = 100_000
"""How many sessions that were closed are remembered."""


class Problem(Exception):
    """A request that cannot be answered: an HTTP status, and why."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status, self.text = status, text


class Service:
    """All episodes of one environment that are played over a network."""

    def __init__(
        self,
        environment: Environment | Workers,
        *,
        user: str = "scripted",
        user_model: ResponsesModel | None = None,
        limits: Limits | None = None,
        most: int = MOST,
        idle: float = IDLE,
        timeout: float | None = 60.0,
    ) -> None:
        """`user` is scripted, briefed or model; the last is played by `user_model`. At `most` so many sessions may be
        open; one that is `idle` for so many seconds is dropped. A call may take `timeout` seconds. Raises `ValueError`.
        """
        self.environment = environment.environment if isinstance(environment, Workers) else environment
        self.front: AsyncEnvironment[Any] = AsyncEnvironment(environment, timeout=timeout)
        setup = Setup(Side("served"), *_user(user, user_model), limits=limits or Limits())
        self.sessions = Sessions(
            Runner(self.environment, self.front, setup, lambda trajectory: None, []), most=most, idle=idle
        )
        self._closed: OrderedDict[str, None] = OrderedDict()
        """Sessions that were closed by name, and may not be seeded any more."""

    async def close(self) -> None:
        """End all sessions, and the front."""
        await self.sessions.close()
        await self.front.close()

    # -- the requests ------------------------------------------------------------------------------------------

    async def seed(self, name: str, request: Any) -> tuple[str, dict[str, Any]]:
        """Begin the episode of a row in the session of this name; the name, and the answer.

        NeMo Gym's environment servers name sessions themselves: what they seed again is not begun again, and what they
        have closed is not begun at all. Raises `Problem`.
        """
        row = _object(request)
        given = row.get("resources_session_id")
        if given is not None:
            if not isinstance(given, str) or not 0 < len(given) <= MAX_NAME:
                raise Problem(422, f"resources_session_id must be a string of at most {MAX_NAME} characters")
            name, row = given, _object(row.get("task_data"))
        job = self._job(row)
        answer: dict[str, Any] = {"environment": self.environment.name, "task": job.task.name, "seed": job.seed}
        if given is not None:
            answer = {"resources_session_id": given}
        if given is not None and name in self._closed:
            raise Problem(409, "this session was closed")
        with self.sessions.asked(name) as known:
            if given is not None and known is not None and known.job == job:
                return name, answer
        try:
            await self.sessions.begin(name, job)
        except Full:
            raise Problem(503, f"{self.sessions.most:,} sessions are open; there may be no more") from None
        with self._session(name) as session, _played():
            await session.begun()
        return name, answer

    async def next_user_message(self, name: str, request: Any) -> dict[str, Any]:
        """Tell the user a message, and give its answer; without one, give what it opens with. Raises `Problem`."""
        body = _object(request)
        message, turn = body.get("message"), _turn(body)
        if not isinstance(message, str | None):
            raise Problem(422, "message must be a string")
        with self._session(name) as session, _played():
            if message is None:
                seen = await session.begun()
                texts = [one.content for one in seen if one.role == "user"][:1]
                return {"message": "".join(texts), "should_continue": not session.over}
            seen = await session.act(AssistantMessage(text=readable(message)), turn)
            texts = [one.content for one in seen if one.role == "user"]
            return {"message": "\n".join(texts), "should_continue": not session.over}

    async def execute(self, name: str, request: Any) -> dict[str, Any]:
        """Make the calls of one message, in order, and give their results. Raises `Problem`."""
        body = _object(request)
        calls, text, turn = body.get("calls"), body.get("message", ""), _turn(body)
        if not isinstance(calls, list) or not calls or not isinstance(text, str):
            raise Problem(422, "calls must be a list of calls, and message a string")
        if len(calls) > MAX_CALLS:
            raise Problem(422, f"a message may have {MAX_CALLS:,} calls, not {len(calls):,}")
        message = AssistantMessage(text=readable(text), calls=tuple(_call(one) for one in calls))
        with self._session(name) as session, _played():
            results = [one for one in await session.act(message, turn) if one.role == "tool"]
            return {"outputs": [one.content for one in results], "should_continue": not session.over}

    async def call(self, name: str, tool: str, arguments: str) -> Message:
        """Call one tool with the JSON text of its arguments; its result. Raises `Problem`."""
        call = ToolCall.of(readable(tool), readable(arguments))
        with self._session(name) as session, _played():
            seen = await session.act(AssistantMessage(calls=(call,)))
            return next(one for one in seen if one.role == "tool")

    async def verify(self, name: str, request: Any) -> dict[str, Any]:
        """What the episode was worth: the request, with the verdict in it. Asked again it is the same.

        An episode that cannot be judged, because its session is gone or something broke, is masked, and its failure is
        said to be one of the infrastructure. Raises `Problem`.
        """
        body = _object(request)
        for field in ("responses_create_params", "response"):
            if not isinstance(body.get(field), Mapping):
                raise Problem(422, f"{field} must be an object")
        server = self.environment.name
        with self.sessions.asked(name) as session:
            if session is None:
                return {**body, **failed(server, "session_lost", LOST)}
            try:
                if not session.spoken and not session.over:
                    words = last_words(body["response"].get("output"))
                    if words:  # of an agent that knows nothing of users
                        await session.act(AssistantMessage(text=words))
                return {**body, **judged(server, await session.end())}
            except Over:
                return {**body, **failed(server, "session_lost", LOST)}
            except LLMError as error:
                return {**body, **failed(server, "user_unavailable", str(error))}
            except (WorkerError, CallTimeout, GoldError, TaskError) as error:
                return {**body, **failed(server, "environment_failed", str(error))}

    async def drop(self, name: str, request: Any) -> dict[str, Any]:
        """End the session of this name, or the one that the request names; nothing where there is none."""
        given = request.get("resources_session_id") if isinstance(request, Mapping) else None
        if not isinstance(given, str):
            return {"closed": await self.sessions.drop(name)}
        self._closed[given[:MAX_NAME]] = None
        while len(self._closed) > MAX_CLOSED:
            self._closed.popitem(last=False)
        await self.sessions.drop(given)
        return {"resources_session_id": given}

    def counted(self) -> dict[str, Any]:
        """Which process this is, and how many sessions there are, and have been, of how many there may be."""
        told = {"environment": self.environment.name, "pid": os.getpid()}
        return {**told, **self.sessions.counted(), "most": self.sessions.most}

    def _job(self, row: Mapping[str, Any]) -> Job:
        try:
            return job_of(self.environment, row)
        except BadRequest as error:
            raise Problem(422, str(error)) from None

    @contextmanager
    def _session(self, name: str) -> Iterator[Session]:
        with self.sessions.asked(name) as session:
            if session is None:
                raise Problem(410, LOST)
            yield session


@contextmanager
def _played() -> Iterator[None]:
    """What may go wrong in an episode, as problems of a request."""
    try:
        yield
    except Over:
        raise Problem(409, ENDED) from None
    except LLMError as error:
        raise Problem(502, f"the user cannot answer: {error}") from None
    except (WorkerError, CallTimeout, GoldError, TaskError) as error:
        raise Problem(500, f"the environment failed: {error}") from None


def _user(name: str, model: ResponsesModel | None) -> tuple[Side, Any, Users]:
    """The side of the user, who sits in the agent's place, and who plays the user. Raises `ValueError`."""
    nobody = lambda part: Seat()  # noqa: E731
    if name == "model":
        if model is None:
            raise ValueError("a user that a model plays needs user_model_server")
        return Side(name), nobody, lambda part: PromptedUser(part, model)
    if name not in ("scripted", "briefed"):
        raise ValueError(f"there is no user {name!r}; there are scripted, briefed and model")
    made = players.user(name)
    return made.side, nobody, made.play


def _object(body: Any) -> Mapping[str, Any]:
    if not isinstance(body, Mapping):
        raise Problem(422, "the body must be a JSON object")
    return body


def _turn(body: Mapping[str, Any]) -> int | None:
    turn = body.get("turn")
    if turn is not None and type(turn) is not int:
        raise Problem(422, "turn must be an integer")
    return turn


def _call(given: Any) -> ToolCall:
    fields = [given.get(name, "") for name in ("name", "arguments", "id")] if isinstance(given, Mapping) else []
    texts = [readable(field) for field in fields if isinstance(field, str)]
    if len(texts) != 3:
        raise Problem(422, "a call must have a name, arguments and an id, all of them strings")
    return ToolCall.of(*texts)
