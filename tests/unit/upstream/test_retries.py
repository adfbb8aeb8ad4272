from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import anyio
import pytest

from discern_server.upstream.answer import Answer
from discern_server.upstream.errors import ConnectFailed, ConnectionLost, DeadlineExceeded, UpstreamError
from discern_server.upstream.limits import RetryPolicy
from discern_server.upstream.retries import with_retries

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def answer(status=200, **headers):
    return Answer(status=status, headers=tuple((name.replace("_", "-"), text) for name, text in headers.items()))


class Api:
    """Answers, or fails, as it is told, and notes how long it was waited for in between."""

    def __init__(self, *outcomes):
        self.outcomes = list(outcomes)
        self.tries = 0
        self.waits = []

    async def __call__(self):
        outcome = self.outcomes[min(self.tries, len(self.outcomes) - 1)]
        self.tries += 1
        if isinstance(outcome, UpstreamError):
            raise outcome
        return outcome

    async def sleep(self, seconds):
        self.waits.append(seconds)

    async def call(self, method="GET", *, time_left_s=100.0, **policy):
        deadline = anyio.current_time() + time_left_s
        return await with_retries(self, method, RetryPolicy(**policy), deadline=deadline, sleep=self.sleep)


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_not_now_is_asked_again(status):
    api = Api(answer(status), answer(status), answer(200))
    assert (await api.call()).status == 200
    assert api.tries == 3


@pytest.mark.parametrize("status", [200, 204, 304, 400, 401, 404, 409, 500, 501])
async def test_any_other_answer_is_final(status):
    api = Api(answer(status))
    assert (await api.call()).status == status
    assert api.tries == 1


@pytest.mark.parametrize("failure", [ConnectFailed(), ConnectionLost()])
async def test_a_failed_connection_is_tried_again(failure):
    api = Api(failure, answer())
    assert (await api.call()).status == 200


async def test_another_failure_is_final():
    api = Api(DeadlineExceeded(timeout_s=1))
    with pytest.raises(DeadlineExceeded):
        await api.call()
    assert api.tries == 1


@pytest.mark.parametrize("method", ["POST", "PATCH", "COPY"])
async def test_a_method_that_is_not_idempotent_is_sent_once(method):
    """RFC 9110, section 9.2.2."""
    api = Api(answer(503))
    await api.call(method)
    assert api.tries == 1
    allowed = Api(answer(503), answer(201))
    assert (await allowed.call(method, methods=frozenset({method}))).status == 201


async def test_the_last_outcome_is_handed_on():
    api = Api(answer(503), answer(502))
    assert (await api.call(max_attempts=2)).status == 502
    failing = Api(ConnectionLost(detail="first"), ConnectionLost(detail="second"))
    with pytest.raises(ConnectionLost, match="second"):
        await failing.call(max_attempts=2)


async def test_one_attempt_is_one_attempt():
    api = Api(answer(503))
    await api.call(max_attempts=1)
    assert api.tries == 1


async def test_retry_after_is_obeyed_in_seconds_and_as_a_date():
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=5000), usegmt=True)
    api = Api(answer(429, retry_after="7"), answer(503, retry_after=soon), answer())
    await api.call(time_left_s=10_000)
    assert api.waits[0] == 7
    assert 4000 < api.waits[1] <= 5000


async def test_a_wait_past_the_deadline_is_not_begun():
    api = Api(answer(429, retry_after="3600"), answer())
    assert (await api.call(time_left_s=100)).status == 429
    assert (api.tries, api.waits) == (1, [])


async def test_without_retry_after_waits_grow_and_are_bounded():
    api = Api(answer(503))
    await api.call(max_attempts=8, base_wait_s=1, max_wait_s=4)
    ceilings = [1, 2, 4, 4, 4, 4, 4]
    assert all(0 <= wait <= ceiling for wait, ceiling in zip(api.waits, ceilings, strict=True))


async def test_cancelling_the_wait_ends_the_call():
    api = Api(answer(503, retry_after="60"))
    policy = RetryPolicy()
    waiting = anyio.Event()

    async def wait_for_ever(_):
        waiting.set()
        await anyio.sleep_forever()

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            deadline = anyio.current_time() + 100

            async def call():
                await with_retries(api, "GET", policy, deadline=deadline, sleep=wait_for_ever)

            tasks.start_soon(call)
            await waiting.wait()
            tasks.cancel_scope.cancel()
    assert api.tries == 1


NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("120", 120),
        (" 0 ", 0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0),
        ("Monday, 30-Nov-26 12:00:30 GMT", 30),
        ("Mon Nov 30 12:00:30 2026", 30),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        ("١٢", None),
    ],
)
def test_retry_after_is_read(said, seconds):
    """RFC 9110, sections 10.2.3 and 5.6.7 with its obsolete forms of dates."""
    assert answer(retry_after=said).header("retry-after") == said
    assert answer(retry_after=said).retry_after_s(NOW) == seconds


@pytest.mark.parametrize("wrong", [{"max_attempts": 0}, {"base_wait_s": -1}, {"max_wait_s": -0.1}])
def test_a_policy_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        RetryPolicy(**wrong)
