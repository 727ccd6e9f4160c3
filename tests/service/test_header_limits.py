"""Headers that are too many, too large or too slow, sent to a server in this process."""

import asyncio
import contextlib

import pytest
import uvicorn

from askwhen.service.process.header_limits import LARGEST_HEAD, MOST_HEADERS, LimitedHeaders
from tests.service.coordinators import run

GET = b"GET /fine HTTP/1.1\r\nhost: a\r\n"
POST = b"POST /fine HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n"


async def app(scope, receive, send):
    """Answers /early before the body is read, and everything else with the names of its headers after it."""
    if scope["type"] != "http":
        return
    more = scope["path"] != "/early"
    while more:
        more = (await receive()).get("more_body", False)
    body = b" ".join(name for name, _ in scope["headers"])
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


@contextlib.asynccontextmanager
async def served(seconds=120.0):
    """The port of a server whose connections have so many seconds for their headers."""

    class Hurried(LimitedHeaders):
        pass

    Hurried.seconds = seconds
    config = uvicorn.Config(app, port=0, http=Hurried, ws="none", lifespan="off", log_config=None, timeout_keep_alive=1)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await task


async def said(port, *parts):
    """What a server answers to these parts before it closes the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError):
        for part in parts:
            writer.write(part)
            await writer.drain()
    found = b""
    with contextlib.suppress(ConnectionError):
        async with asyncio.timeout(60.0):
            found = await reader.read()
    writer.close()
    return found


def many(count, size=10):
    return b"".join(b"h%d: %s\r\n" % (i, b"x" * size) for i in range(count))


@pytest.mark.parametrize(
    "parts",
    [
        [GET, many(MOST_HEADERS + 1), b"\r\n"],
        [GET, *[many(2_000)] * 20],
        [GET, many(50, 2_000), b"\r\n"],
        [GET, b"h: ", *[b"x" * LARGEST_HEAD] * 20],
        [b"GET /", *[b"x" * LARGEST_HEAD] * 20],
        [GET, b"a: b\r\n" * 50_000],
        [b"\r\n" * 100_000],
    ],
)
def test_headers_that_are_too_many_or_too_large_are_refused(parts):
    async def go():
        async with served() as port:
            found = await said(port, *parts)
            assert found.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400 ")) or not found
            assert b"200 OK" not in found
            assert b" 200 " in (await said(port, GET + many(MOST_HEADERS - 2) + b"connection: close\r\n\r\n"))

    run(go())


@pytest.mark.parametrize("end", [many(MOST_HEADERS), b"h: " + b"x" * 20 * LARGEST_HEAD, b""])
def test_headers_after_a_body_are_limited_too_and_nobody_sees_them(end):
    async def go():
        async with served() as port:
            found = await said(
                port,
                POST
                + b"0\r\n"
                + end
                + b"connection: close\r\nx-user: root\r\n\r\n"
                + GET
                + b"connection: close\r\n\r\n",
            )
            assert b"x-user" not in found
            assert (b" 200 " in found) == (not end)

    run(go())


@pytest.mark.parametrize(
    ("parts", "answer"),
    [
        ([b""], b""),
        ([GET], b"HTTP/1.1 408 "),
        ([b"\r\n"], b"HTTP/1.1 408 "),
        ([GET + b"\r\n" + GET], b"HTTP/1.1 200 "),
    ],
)
def test_headers_must_come_in_time(parts, answer):
    async def go():
        async with served(0.3) as port:
            found = await said(port, *parts)
            assert found.startswith(answer)
            assert found.count(b"HTTP/1.1") <= 2

    run(go())


async def drip(writer):
    for _ in range(1_000):
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


def test_a_body_that_goes_on_after_the_reply_ends_in_time():
    async def go():
        async with served(0.3) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(b"POST /early HTTP/1.1\r\nhost: a\r\ncontent-length: 99999\r\n\r\nabc")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
            with pytest.raises(ConnectionError):
                await drip(writer)

    run(go())


def test_connections_are_used_again_and_replies_may_take_longer_than_headers():
    async def go():
        async with served(0.7) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for _ in range(2):
                writer.write(b"POST /fine HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\nabc")
                await asyncio.sleep(1.0)
                writer.write(b"def")
                head = await reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"HTTP/1.1 200 ")
                await reader.readexactly(len(b"host content-length"))
            writer.close()

    run(go())
