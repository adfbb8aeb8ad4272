"""Trying again: when, how often, and after how long. tenacity drives it; the rules are here.

A request is tried again only where repeating it is harmless (`RetryPolicy.methods`), after an answer that says
"not now" or a connection that failed. The API's ``Retry-After`` is obeyed; else the wait grows and is drawn
at random ("full jitter"). A wait that would pass the deadline is not begun: the last answer is handed on.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

import anyio
import tenacity

from discern_server.upstream.answer import Answer
from discern_server.upstream.errors import ConnectFailed, ConnectionLost
from discern_server.upstream.limits import RetryPolicy

Sleep: TypeAlias = Callable[[float], Awaitable[None]]


async def with_retries(
    attempt: Callable[[], Awaitable[Answer]],
    method: str,
    policy: RetryPolicy,
    *,
    deadline: float,
    sleep: Sleep = anyio.sleep,
) -> Answer:
    """The answer of the first attempt that is not to be repeated, or of the last one.

    Args:
        attempt: Sends the request once.
        method: The request's method.
        policy: When and how often.
        deadline: The end of the call's time, by `anyio.current_time`.
        sleep: Waits so many seconds; cancelled with the call.

    Raises:
        UpstreamError: What the last attempt raised.
    """
    if method not in policy.methods or policy.max_attempts == 1:
        return await attempt()

    def is_passing(state: tenacity.RetryCallState) -> bool:
        answer = _answer(state)
        if answer is not None:
            return answer.status in policy.statuses
        return isinstance(_error(state), ConnectFailed | ConnectionLost)

    def wait_s(state: tenacity.RetryCallState) -> float:
        answer = _answer(state)
        asked = answer.retry_after_s() if answer is not None else None
        return jitter(state) if asked is None else asked

    def is_over(state: tenacity.RetryCallState) -> bool:
        return state.attempt_number >= policy.max_attempts or anyio.current_time() + state.upcoming_sleep >= deadline

    jitter = tenacity.wait_random_exponential(multiplier=policy.base_wait_s, max=policy.max_wait_s)
    retrying = tenacity.AsyncRetrying(
        retry=is_passing, wait=wait_s, stop=is_over, sleep=sleep, retry_error_callback=_last_outcome
    )
    answer: Answer = await retrying(attempt)
    return answer


def _answer(state: tenacity.RetryCallState) -> Answer | None:
    return None if state.outcome is None or state.outcome.failed else state.outcome.result()


def _error(state: tenacity.RetryCallState) -> BaseException | None:
    return None if state.outcome is None else state.outcome.exception()


def _last_outcome(state: tenacity.RetryCallState) -> Answer:
    assert state.outcome is not None, "tenacity stops after an attempt only"
    answer: Answer = state.outcome.result()
    return answer
